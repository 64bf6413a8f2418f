"""Runs of the minifier's cases: alike however often and by however many workers, with nothing left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import fx

from conformance.minify import minify
from conformance.stacks.base import Minifiable

ROOT = Path(__file__).resolve().parents[1]
CASES = ("cases/minifier/test_crash.py", "cases/minifier/test_after_dynamo.py")
CHOSEN = "test_hang or test_segmentation_fault or test_non_leaf or (test_faulty_operator_is_found and (run or compile))"


def outcomes(temporary: Path, *arguments: str) -> dict[str, str]:
    """What a run of a few cases, with a temporary folder of its own, says of each."""
    temporary.mkdir()
    results = temporary.parent / f"{temporary.name}-results"
    command = [sys.executable, "-m", "pytest", *CASES, "-k", CHOSEN, "--stack=aot_eager", "--device=cpu", "-q"]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", f"--results={results}", f"--basetemp={results}-pytest", *arguments],
        cwd=ROOT,
        env=os.environ | {"TMPDIR": str(temporary), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    found = json.loads((results / "results.json").read_text(encoding="utf-8"))["results"]
    return {result["case"]: result["outcome"] for result in found}


def processes_with(temporary: Path) -> list[str]:
    """The command lines of processes that were started with this temporary folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if str(temporary).encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are looked up in /proc")
def test_two_runs_agree_and_leave_nothing(tmp_path: Path) -> None:
    """Crashes, hangs and minified programs come out alike with two workers and with none; nothing remains."""
    first = outcomes(tmp_path / "workers", "-n2")
    second = outcomes(tmp_path / "alone", "-n0")
    assert first == second
    assert sorted(first.values()) == ["inherited", *["pass"] * 4]
    assert [path for folder in ("workers", "alone") for path in (tmp_path / folder).iterdir()] == []
    assert processes_with(tmp_path) == []


def fails_where_it_is_told_to(module: fx.GraphModule, inputs: Any, *, options: dict[str, str]) -> Callable[..., Any]:
    """A backend that needs its options, and fails on the operator that they name."""
    if any(options["fails_on"] == node.target for node in module.graph.nodes if node.op == "call_method"):
        raise NotImplementedError(f"no {options['fails_on']} here")
    return module.forward


def sine_relu_cosine(x: torch.Tensor) -> torch.Tensor:
    return x.sin().relu().cos()


def row(device: str) -> list[tuple[torch.Tensor, ...]]:
    return [(torch.ones(4, device=device),)]


def test_the_options_of_a_stack_reach_every_step() -> None:
    """The launcher and the repro, which torch writes without them, fail as the program does with its options."""
    stack = Minifiable(f"tests.{Path(__file__).stem}:fails_where_it_is_told_to", {}, (), {"fails_on": "relu"})

    run = minify(stack, sine_relu_cosine, row, device="cpu")

    run.assert_minified()
    assert all(run.steps[name].reason.message == "no relu here" for name in ("program", "repro"))
