"""Finds out the capabilities of a stack in child processes, so that a stack that ends the process ends one probe."""

from __future__ import annotations

import dataclasses
import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from conformance.contract.capabilities import CAPABILITIES
from conformance.run.in_child import Ended, call_in_child, next_step
from conformance.stacks import Stack

SECONDS = 120.0
#: How much longer a probe may take that hung, asked once more and alone: so does any stack on a machine that is busy.
LONGER = 2
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
    unclear = {one["capability"]: one["seen"] for one in answers if one["holds"] and one["seen"]}
    return dataclasses.replace(stack, capabilities=held, denied=denied, unclear=unclear)


def search(stack: str, device: str = "cpu", seconds: float = SECONDS) -> list[dict[str, Any]]:
    """``capability``, ``holds`` and ``seen`` for each capability of the stack with this name, in their order.

    Each probe may take ``seconds``. One that hangs, and again in `LONGER` times as many, has found nothing out: it says
    so in ``seen`` and denies nothing. What a child prints goes nowhere: the answers come through a file.
    """
    found: dict[str, dict[str, Any]] = {}
    while pending := [name for name in CAPABILITIES if name not in found]:
        answers, ending = _child(stack, device, pending, seconds)
        found |= {one["capability"]: one for one in answers}
        if len(answers) < len(pending):
            stopped = pending[len(answers)]
            if ending.hung:
                again, ending = _child(stack, device, [stopped], LONGER * seconds)
                found |= {one["capability"]: one for one in again}
            if stopped not in found:
                seen = f"not found out: {ending}" if ending.hung else str(ending)
                found[stopped] = {"capability": stopped, "holds": ending.hung, "seen": seen}
        if not found["compile"]["holds"]:  # nothing else can be found out
            why = {"holds": False, "seen": "does not compile the simplest program"}
            found |= {name: {"capability": name, **why} for name in CAPABILITIES if name != "compile"}
    return [found[name] for name in CAPABILITIES]


def _child(stack: str, device: str, names: list[str], seconds: float) -> tuple[list[dict[str, Any]], Ended]:
    """What one child found out before it ended, and how it ended."""
    with tempfile.TemporaryDirectory() as folder:
        answers = Path(folder) / "answers.jsonl"
        answers.touch()
        asked = {"stack": stack, "device": device, "answers": str(answers), "names": names}
        ended = call_in_child(f"{__name__}:probe_each", asked, seconds, steps=len(names), quiet=True)
        found = [json.loads(line) for line in answers.read_text(encoding="utf-8").splitlines()]
        return found, ended if isinstance(ended, Ended) else Ended("ended early")


def probe_each(stack: str, device: str, answers: str, names: Iterable[str]) -> None:
    """A child: probe one capability after another and write each answer down at once."""
    from conformance.capability_search.probes import probe
    from conformance.stacks import resolve

    resolved = resolve(stack)
    with Path(answers).open("a", encoding="utf-8") as file:
        for name in names:
            next_step()
            file.write(json.dumps(dataclasses.asdict(probe(resolved, device, name))) + "\n")
            file.flush()
