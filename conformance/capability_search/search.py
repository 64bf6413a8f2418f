"""Finds out the capabilities of a stack in child processes, so that a stack that ends the process ends one probe."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from conformance.contract.capabilities import CAPABILITIES
from conformance.stacks import Stack

SECONDS = 120.0
#: What was found out about stacks without a description, as JSON by stack, for the workers of a run.
FOUND = "CONFORMANCE_CAPABILITIES"
#: Stands there for every stack that is not named: whoever runs many stacks need not have each of them probed.
EVERY = "*"


def described(stack: Stack, spec: str, device: str = "cpu") -> Stack:
    """The stack itself where its capabilities are described; else with those that a search finds, once in a run.

    ``spec`` is how the user names the stack. What is found out is left in the environment, so that workers know it.
    """
    if stack.described:
        return stack
    known = json.loads(os.environ.get(FOUND, "{}"))
    if spec not in known and EVERY not in known:
        known[spec] = search(spec, device)
        os.environ[FOUND] = json.dumps(known)
    answers = known[spec if spec in known else EVERY]
    held = frozenset(one["capability"] for one in answers if one["holds"]) | {"compile"}
    denied = {one["capability"]: one["seen"] for one in answers if not one["holds"]}
    return dataclasses.replace(stack, capabilities=held, denied=denied)


def search(stack: str, device: str = "cpu", seconds: float = SECONDS) -> list[dict[str, Any]]:
    """``capability``, ``holds`` and ``seen`` for each capability of the stack with this name, in their order.

    Each probe may take ``seconds``. What a child prints goes nowhere: the answer comes through a file.
    """
    found: dict[str, dict[str, Any]] = {}
    while pending := [name for name in CAPABILITIES if name not in found]:
        answers, ending = _child(stack, device, pending, seconds)
        found |= {one["capability"]: one for one in answers}
        if len(answers) < len(pending):
            stopped = pending[len(answers)]
            found[stopped] = {"capability": stopped, "holds": False, "seen": ending}
        if not found["compile"]["holds"]:  # nothing else can be found out
            why = {"holds": False, "seen": "does not compile the simplest program"}
            found |= {name: {"capability": name, **why} for name in CAPABILITIES if name != "compile"}
    return [found[name] for name in CAPABILITIES]


def _child(stack: str, device: str, names: list[str], seconds: float) -> tuple[list[dict[str, Any]], str]:
    """What one child found out before it ended, and how it ended."""
    with tempfile.TemporaryDirectory() as folder:
        answers = Path(folder) / "answers.jsonl"
        answers.touch()
        command = [sys.executable, "-X", "faulthandler", "-m", __name__, stack, device, str(answers), *names]
        with (Path(folder) / "said").open("wb") as said:
            child = subprocess.Popen(command, stdout=said, stderr=said, start_new_session=True, env=_environment())
        known, ending = 0, ""
        try:
            while ending == "":
                try:
                    status = child.wait(seconds)
                    ending = (
                        f"the process was killed by {signal.Signals(-status).name}"
                        if status < 0
                        else f"the process ended with status {status}"
                    )
                except subprocess.TimeoutExpired:
                    now = len(answers.read_text(encoding="utf-8").splitlines())
                    ending = f"no answer within {seconds:g} s" if now == known else ""
                    known = now
        finally:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
        lines = answers.read_text(encoding="utf-8").splitlines()
        last = (Path(folder) / "said").read_text(errors="replace").strip().splitlines()[-1:]
        return [json.loads(line) for line in lines], ": ".join([ending, *(last if child.returncode == 1 else [])])


def _environment() -> dict[str, str]:
    """The environment with this project and the current folder, where backends may lie, to be imported from."""
    paths = [str(Path(__file__).parents[2]), str(Path.cwd()), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def main(stack_name: str, device: str, answers: str, names: Iterable[str]) -> None:
    """A child: probe one capability after another and write each answer down at once."""
    from conformance.capability_search.probes import probe
    from conformance.stacks import resolve

    stack = resolve(stack_name)
    with Path(answers).open("a", encoding="utf-8") as file:
        for name in names:
            file.write(json.dumps(dataclasses.asdict(probe(stack, device, name))) + "\n")
            file.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
