"""One finding as a block of lines: what is wrong in words, the shortest program, both values, where, and a script."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from conformance.contract.failure import Discrepancy
from conformance.results.findings import Finding
from conformance.results.result_file import CaseResult

#: Lines of a program that are shown, and columns of a line.
LONGEST_PROGRAM, WIDTH = 12, 120


def title(finding: Finding) -> str:
    """How many results of which stack, and where the fault lies."""
    count = f"{len(finding.results)} result" + ("s" if len(finding.results) > 1 else "")
    rung = f", first on {finding.rung}" if finding.rung else ""
    return f"{count} of {finding.stack}, the fault of {finding.origin}{rung}"


def program(finding: Finding) -> list[str]:
    """The shortest program that shows it, as the graph that Dynamo made of it; empty where nothing was captured."""
    found = finding.shortest.graphs.get("dynamo", "").splitlines()
    more = len(found) - LONGEST_PROGRAM
    return [*found[:LONGEST_PROGRAM], *([f"... and {more} lines more"] if more > 0 else [])]


def differences(finding: Finding, most: int = 3) -> list[Discrepancy]:
    """What differs in the shortest program, a value before what follows from it."""
    found = finding.shortest.discrepancies
    return sorted(found, key=lambda one: one.observable != "value")[:most]


def commands(finding: Finding) -> list[str]:
    """The script that shows it and the command that runs the case alone."""
    script = finding.shortest.script
    return [*([f"script: {script}"] if script else []), f"alone: {finding.shortest.rerun}"]


def block(finding: Finding) -> str:
    """The finding as plain text; only commands and values are longer than a line."""
    lines = [f"[{finding.id}] {title(finding)}"]
    lines += textwrap.wrap(finding.sentence, WIDTH - 2, initial_indent="  ", subsequent_indent="  ")
    lines.append(f"  shortest: {finding.shortest.case} on {finding.shortest.device}")
    lines += [f"      {line}" for line in program(finding)]
    lines += [f"    {' '.join(str(one).split())}" for one in differences(finding)]
    lines += [f"  {line}" for line in commands(finding)]
    return "\n".join(lines)


def denied(claims: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the stacks of a run were found not to be capable of, a line each."""
    return [f"{one['stack']} lacks {name}: {seen}" for one in claims for name, seen in one["denied"].items()]


def failure_line(result: CaseResult, finding_id: str) -> str:
    """One result that is not as expected, in one line of at most `WIDTH` columns."""
    text = f"{finding_id}  {result.outcome:15} {result.stack}, {result.device}  {result.case}"
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 3]}..."
