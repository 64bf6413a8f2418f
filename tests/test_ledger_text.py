"""Ledgers that somebody has worked on: what is added, removed and rewritten, and that the rest stays as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.results import ledger
from conformance.results.bugs import LedgerError
from conformance.results.ledger_text import Failure, LedgerText

WRITTEN = """\
# My stack's.
stack = "mine"

# Reported by me.
[bugs.strides]
title = "Strides are not kept."
link = "https://example.org/1"  # open

# Both of them.
[[failure]]
bug = "strides"
cases = ["layout/a.py::c", "layout/a.py::d"]  # two
torch = ">=2.9"
phase = "call"
observables = ["outputs[0].stride"]
"""


def text_of(text: str = WRITTEN, version: str = "2.13.0") -> LedgerText:
    return LedgerText(text, "own.toml", "mine", version, {})


def failure(case: str, *observables: str, exception: str | None = None, device: str = "cpu") -> Failure:
    return Failure(case, device, "call", frozenset(observables), exception, f"conformance script '{case}'")


def test_a_ledger_that_nothing_changes_stays_as_it_is() -> None:
    """What fails as listed is not added again, and is not touched by an update."""
    text = text_of()
    listed = failure("layout/a.py::c", "outputs[0].stride")

    assert text.add([listed]) == text.update({("layout/a.py::c", "cpu"): listed}) == []
    assert text.text == WRITTEN


def test_what_fails_is_added_below_what_is_there() -> None:
    """One bug for a signature of observables, and one entry for the cases that fail in exactly the same way."""
    text = text_of()
    said = text.add(
        [
            failure("layout/a.py::e[1]", "outputs[0].value"),
            failure("layout/a.py::e[2]", "outputs[0].value"),
            failure("layout/a.py::f", "outputs[1].value"),
            failure("layout/a.py::g", exception='E"\x7f'),
        ],
    )
    found = ledger.parse(text.text, "own.toml")

    assert said[0] == "added: layout/a.py::e[1] on cpu: call: outputs.value"
    assert text.text.startswith(WRITTEN)
    assert len(found.entries) == 2 + 4
    assert list(found.bugs) == ["strides", "mine-call-outputs-value", "mine-call-e"]
    assert found.bugs["mine-call-outputs-value"].title == "To be written: what is broken. Seen: call: outputs.value"
    assert text.text.count("[[failure]]") == 1 + 3
    assert found.entries[-1].applies("layout/a.py::g", "cpu", "2.13.1")
    assert not found.entries[-1].applies("layout/a.py::g", "cpu", "2.14.0")
    assert found.entries[-1].explains("call", (), 'E"\x7f')
    assert text_of(text.text).add([failure("layout/a.py::h", "outputs[0].value")])
    assert len(ledger.parse(text.text, "own.toml").bugs) == 3


def test_a_case_that_fails_otherwise_is_not_added_beside_its_entry() -> None:
    """Two entries about one failure would be a mistake; the line says so."""
    text = text_of()

    assert text.add([failure("layout/a.py::c", "outputs[0].value")]) == [
        "kept: layout/a.py::c on cpu: fails otherwise than listed"
    ]
    assert text.text == WRITTEN


def test_what_passes_is_removed() -> None:
    """The case from its entry, the entry with its last case, the bug with its last entry; comments stay."""
    text = text_of()
    assert text.update({("layout/a.py::c", "cpu"): None}) == [
        "removed: layout/a.py::c on cpu: passes, call: outputs[0].stride was listed"
    ]
    assert text.text == WRITTEN.replace('"layout/a.py::c", ', "")

    said = text.update({("layout/a.py::d", "cpu"): None})
    assert said[1:] == ["removed: the bug strides, which no entry refers to any more"]
    assert text.text == '# My stack\'s.\nstack = "mine"\n'


def test_what_fails_otherwise_is_rewritten() -> None:
    """It keeps its bug, its torch range and the comment above it."""
    text = text_of()
    said = text.update(
        {(f"layout/a.py::{name}", "cpu"): failure(f"layout/a.py::{name}", exception="E") for name in "cd"}
    )
    found = ledger.parse(text.text, "own.toml")

    assert said[0] == "rewritten: layout/a.py::c on cpu: call: outputs[0].stride was listed, call: E is seen"
    assert [(one.case, one.exception, one.torch, one.bug.id) for one in found.entries] == [
        (f"layout/a.py::{name}", "E", ">=2.9", "strides") for name in "cd"
    ]


def test_a_device_on_which_an_entry_holds_keeps_it() -> None:
    """An entry about every device is narrowed to that one where it holds on one and not on the other."""
    text = text_of()
    ran = {("layout/a.py::c", "cpu"): None, ("layout/a.py::c", "cuda"): failure("layout/a.py::c", "outputs[0].stride")}
    text.update(ran)

    assert [(one.case, one.device) for one in ledger.parse(text.text, "own.toml").entries] == [
        ("layout/a.py::d", "*"),
        ("layout/a.py::c", "cuda"),
    ]


def test_entries_for_other_releases_stay() -> None:
    """A run says nothing about a release that it did not run on."""
    text = text_of(WRITTEN.replace(">=2.9", "<2.13"))

    assert text.update({("layout/a.py::c", "cpu"): None}) == []


def test_signatures_are_added_once() -> None:
    """What `explore` finds is drafted like what a run finds."""
    text = text_of()
    found = {"values of outputs": "a.py", 'exception E in call: "x"': "b.py"}

    assert len(text.add_signatures(found, "cpu")) == 2
    assert text.add_signatures(found, "cpu") == []
    assert {one.signature for one in ledger.parse(text.text, "own.toml").signatures} == set(found)


def test_a_ledger_of_another_stack_is_not_edited() -> None:
    """Its entries would be about something else."""
    with pytest.raises(LedgerError, match=r"^own.toml: the ledger of mine, and this run is about yours$"):
        LedgerText(WRITTEN, "own.toml", "yours", "2.13.0", {})


def test_a_new_ledger_begins_with_its_stack(tmp_path: Path) -> None:
    """There is no file yet: it names its stack, and holds what fails."""
    text = LedgerText.read(tmp_path / "new" / "own.toml", "mine", "2.13.0", {})
    text.add([failure("layout/a.py::c", "outputs[0].value")])
    text.write(tmp_path / "new" / "own.toml")

    assert ledger.load(tmp_path / "new" / "own.toml").stack == "mine"
    assert text.text.startswith('stack = "mine"\n\n[bugs.mine-call-outputs-value]\n')
