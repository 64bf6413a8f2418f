"""Warnings of a run: kept with the case that they were given in, and none while a run is prepared."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import pytest

from conformance.oracle.observation import Warned
from conformance.oracle.raised_warnings import heard
from conformance.suite.controller import Controller
from conformance.suite.terminal.captured_log import warnings_with


class Noisy:
    """A stack whose preparation warns, as inductor's does."""

    name = "noisy"

    def prepare(self, devices: object) -> dict[str, str]:
        """Prepares."""
        warnings.warn("old", DeprecationWarning, stacklevel=1)
        return {"PREPARED": "1"}


def test_preparing_the_workers_warns_nobody(recwarn: pytest.WarningsRecorder) -> None:
    """What a stack makes before the workers start is kept, and its warnings are not."""
    controller = Controller.__new__(Controller)
    controller.config = SimpleNamespace(get_terminal_writer=lambda: None)
    controller.plan = SimpleNamespace(stacks={"noisy": Noisy()}, devices=())
    controller.shared, controller.lines = {}, []
    controller.prepare_stacks()

    assert controller.lines == []
    assert controller.shared == {"PREPARED": "1"}
    assert list(recwarn) == []


def test_warnings_of_a_case_stand_in_its_log(recwarn: pytest.WarningsRecorder) -> None:
    """Each once, with how often it came; the oracle has heard the program's all the same."""
    said: list[tuple[str, str, str]] = []
    item = SimpleNamespace(add_report_section=lambda *section: said.append(section))
    warned = Warned()
    with warnings_with(item), heard(warned):
        for _ in range(3):
            warnings.warn("of the program", UserWarning, stacklevel=1)

    assert list(recwarn) == []
    assert warned.all == {"UserWarning: of the program"}
    [(when, kind, text)] = said
    assert (when, kind) == ("call", "log")
    assert text.startswith("3 x UserWarning: of the program (")


def test_filters_stay_as_they_are() -> None:
    """Where warnings are errors, they are in a case as well."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning), warnings_with(SimpleNamespace(add_report_section=lambda *_: None)):
            warnings.warn("stop", UserWarning, stacklevel=1)
