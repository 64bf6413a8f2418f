"""Capabilities are found out by running short programs, in processes that may end."""

from __future__ import annotations

import dataclasses
import json
import textwrap
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from conformance.capability_search.probes import DECLARED_ONLY, PROBES, probe
from conformance.capability_search.search import FOUND, described, search
from conformance.cli import app
from conformance.contract.capabilities import CAPABILITIES
from conformance.run.in_child import Ended
from conformance.stacks import resolve

BACKENDS = """
    import os

    import torch


    def without_gradients(graph, inputs):
        def run(*arguments):
            with torch.no_grad():
                return graph(*arguments)

        return run


    def ends_the_process_in_training(graph, inputs):
        def run(*arguments):
            if any(one.requires_grad for one in arguments):
                os._exit(3)
            return graph(*arguments)

        return run
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module of backends that lies in the current folder, as a user's does."""
    (tmp_path / "backends_of_mine.py").write_text(textwrap.dedent(BACKENDS), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delenv(FOUND, raising=False)
    return "backends_of_mine"


def test_every_capability_is_probed_or_declared() -> None:
    """No capability is assumed: each has a program, or a reason why only a description can declare it."""
    assert set(PROBES) | set(DECLARED_ONLY) == set(CAPABILITIES)
    assert not set(PROBES) & set(DECLARED_ONLY)


@pytest.mark.parametrize("capability", ["compile", "training", "input_mutation", "recompiles", "dynamic_shapes"])
def test_what_aot_eager_declares_is_found(capability: str) -> None:
    """A shipped stack has what it declares."""
    assert probe(resolve("aot_eager"), "cpu", capability).holds


def test_what_is_not_there_is_told_in_words(own: str) -> None:
    """A backend that runs under no_grad cannot train, and the probe says what it saw."""
    stack = resolve(f"{own}:without_gradients")

    found = probe(stack, "cpu", "training")
    assert (found.holds, found.seen) == (False, "outputs do not require grad")
    assert probe(stack, "cpu", "input_mutation").holds


def test_buffers_that_are_used_again_are_no_lack() -> None:
    """A backend that keeps its outputs trains and reads parameters; that it overwrites them is for its cases to say."""
    stack = resolve("backends.faulty:cached_buffers")

    assert [probe(stack, "cpu", name).seen for name in ("training", "module_state", "input_mutation")] == ["", "", ""]


def test_a_process_that_ends_is_one_capability_that_is_lacking(own: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search goes on behind the probe in which the stack ended the process."""
    wanted = ("compile", "double_backward", "graph_breaks")
    monkeypatch.setattr(
        "conformance.capability_search.search.CAPABILITIES", {name: CAPABILITIES[name] for name in wanted}
    )
    found: dict[str, Any] = {one["capability"]: one for one in search(f"{own}:ends_the_process_in_training")}

    assert [found[name]["holds"] for name in wanted] == [True, False, True]
    assert found["double_backward"]["seen"] == "ended by exit status 3"


@pytest.mark.parametrize("answers_at_last", [True, False])
def test_a_probe_that_hangs_denies_nothing(answers_at_last: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked once more, alone and with more time; if it hangs again, the capability holds and the run says why."""
    asked: list[tuple[list[str], float]] = []

    def child(_stack: str, _device: str, names: list[str], seconds: float) -> tuple[list[dict[str, Any]], Ended]:
        asked.append((names, seconds))
        slow = "training" in names and not (answers_at_last and seconds > 120)
        told = names[: names.index("training")] if slow else names
        return [{"capability": name, "holds": True, "seen": ""} for name in told], Ended("hung", "busy.py:1", hung=slow)

    monkeypatch.setattr("conformance.capability_search.search._child", child)
    monkeypatch.delenv(FOUND, raising=False)
    found = described(dataclasses.replace(resolve("aot_eager"), described=False), "mine")

    assert (["training"], 240.0) in asked
    assert found.capabilities == set(CAPABILITIES)
    assert not found.denied
    assert found.unclear == ({} if answers_at_last else {"training": "not found out: hung in busy.py:1"})


def test_a_description_is_believed(own: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is run for a stack whose capabilities somebody states."""
    monkeypatch.setattr("conformance.capability_search.search.search", lambda *_: pytest.fail("searched"))

    assert described(resolve("inductor"), "inductor") is resolve("inductor")


def test_workers_know_what_was_found(own: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What one process found out about a stack, the others take from the environment."""
    spec = f"{own}:without_gradients"
    answers = [{"capability": "training", "holds": False, "seen": "outputs do not require grad"}]
    monkeypatch.setattr("conformance.capability_search.search.search", lambda *_: answers)
    described(resolve(spec), spec)
    monkeypatch.setattr("conformance.capability_search.search.search", lambda *_: pytest.fail("searched again"))

    found = described(resolve(spec), spec)
    assert found.capabilities == {"compile"}
    assert found.denied == {"training": "outputs do not require grad"}


def test_a_description_that_is_written_is_one_that_is_read(
    own: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`probe -o` writes a TOML file, and `stacks` shows it."""
    answers = [{"capability": name, "holds": name in ("compile", "training"), "seen": ""} for name in CAPABILITIES]
    monkeypatch.setattr("conformance.capability_search.search.search", lambda *_: answers)
    command = ["probe", "--stack", f"{own}:without_gradients", "-o", str(tmp_path / "mine.toml")]
    assert CliRunner().invoke(app, command).exit_code == 0

    shown = CliRunner().invoke(app, ["stacks", str(tmp_path / "mine.toml"), "--json"])
    assert json.loads(shown.stdout)["capabilities"] == ["compile", "training"]
