"""One finding as a block of lines: what is wrong in words, the shortest program, both values, where, and a script."""

from __future__ import annotations

import difflib
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from conformance.contract.capabilities import CAPABILITIES, NOT_DECLARED
from conformance.contract.failure import Discrepancy
from conformance.contract.registry import clauses
from conformance.results.findings import Finding
from conformance.results.result_file import CaseResult, Results
from conformance.results.signature import shows

#: Lines of a program that are shown, and columns of a line.
LONGEST_PROGRAM, WIDTH = 12, 120
#: Lines of a diff of texts, and columns of a stack's name.
LONGEST_DIFF, LONGEST_STACK = 40, 30
#: Discrepancies that are shown of one program.
MOST_DIFFERENCES = 3


def title(finding: Finding) -> str:
    """How many results of which stack, whose fault, and where it shows first if that is another rung."""
    count = f"{len(finding.results)} result" + ("s" if len(finding.results) > 1 else "")
    rung = f", first on {finding.rung}" if finding.rung not in ("", finding.stack) else ""
    return f"{count} of {finding.stack}, the fault of {finding.origin}{rung}"


def program(finding: Finding) -> list[str]:
    """The shortest program that shows it, as the graph that Dynamo made of it; empty where nothing was captured."""
    found = finding.shortest.graphs.get("dynamo", "").splitlines()
    more = len(found) - LONGEST_PROGRAM
    return [*found[:LONGEST_PROGRAM], *([f"... and {more} lines more"] if more > 0 else [])]


def differences(finding: Finding, most: int = MOST_DIFFERENCES) -> list[Discrepancy]:
    """What differs in the shortest program, one of each observable first: what names the cause, then a value."""
    found = [one for one in finding.shortest.discrepancies if one.observable != "expectation"]
    found.sort(key=lambda one: (not shows(finding.signature, one), one.observable != "value"))
    each: dict[str, Discrepancy] = {}
    for one in found:
        each.setdefault(one.observable, one)
    return [*each.values(), *(one for one in found if one is not each[one.observable])][:most]


def diff(finding: Finding) -> list[str]:
    """Where a text is another one than the case expects: the two, compared by line."""
    texts = [one for one in finding.shortest.discrepancies if one.observable == "expectation"]
    if not texts:
        return []
    sides = (texts[0].expected.splitlines(), texts[0].actual.splitlines())
    found = list(difflib.unified_diff(*sides, "expected", "seen", lineterm=""))
    more = len(found) - LONGEST_DIFF
    return [*found[:LONGEST_DIFF], *([f"... and {more} lines more"] if more > 0 else [])]


def commands(finding: Finding) -> list[str]:
    """The script that shows it, or why none does, and the command that runs the case alone."""
    one = finding.shortest
    reason = f": {one.script_reason}" if one.script_reason else ""
    script = f"none{reason}" if reason else ""
    if one.script:
        kept = "not run" if one.script_shows is None else "does not show the difference"
        script = one.script if one.script_shows else f"{one.script} ({kept}{reason})"
    return [*([f"script: {script}"] if script else []), f"alone: {one.rerun}"]


def block(finding: Finding) -> str:
    """The finding as plain text; only commands and values are longer than a line."""
    lines = [f"[{finding.id}] {title(finding)}"]
    lines += textwrap.wrap(finding.sentence, WIDTH - 2, initial_indent="  ", subsequent_indent="  ")
    shortest = finding.shortest
    lines.append(f"  shortest: {shortest.case} on {shortest.device}")
    lines += [line for name in shortest.clauses for line in _clause(name)]
    lines += [f"      {line}" for line in [*program(finding), *diff(finding)]]
    lines += [f"    {' '.join(str(one).split())}" for one in differences(finding)]
    if (more := len(shortest.discrepancies) - MOST_DIFFERENCES) > 0:
        lines.append(f"    and {more} more")
    if besides := shortest.reason.partition("; besides, ")[2]:
        told = f"not this stack's: {besides}"
        lines += textwrap.wrap(told, WIDTH, initial_indent="    ", subsequent_indent="      ")
    lines += [f"  {line}" for line in commands(finding)]
    return "\n".join(lines)


def denied(claims: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the stacks of a run were found not to be capable of, a line a reason, and what nobody says of them."""
    lines = []
    for one in claims:
        lines += [f"{one['stack']} lacks {names}: {seen}" for names, seen in lacking(one)]
        if silent := undeclared(one):
            lines.append(
                f"{one['stack']} does not declare {', '.join(silent)}: cases that need one of them did not run"
            )
    unclear = [(one["stack"], name, why) for one in claims for name, why in one.get("unclear", {}).items()]
    return lines + [f"whether {stack} has {name} was {why}; its cases ran" for stack, name, why in unclear]


def not_applicable(results: Results) -> list[str]:
    """How many cases each stack that was found to lack something has not run, a line a stack."""
    lines = []
    for stack in [one["stack"] for one in results.claim if one["denied"]]:
        own = [one for one in results.results if one.stack == stack]
        if count := sum(one.outcome == "not_applicable" for one in own):
            lines.append(f"so that {count} of {len(own)} results of {stack} are not applicable, and count for nothing")
    return lines


def lacking(claim: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The capabilities that a stack was found not to have, those with one reason together, and the reason."""
    by_reason: dict[str, list[str]] = {}
    for name, seen in claim["denied"].items():
        if not seen.startswith(NOT_DECLARED):
            by_reason.setdefault(seen, []).append(name)
    return [(", ".join(names), seen) for seen, names in by_reason.items()]


def undeclared(claim: Mapping[str, Any]) -> list[str]:
    """The capabilities of which neither a description nor a probe says anything, of a stack that was probed."""
    if not claim["denied"] and not claim.get("unclear"):
        return []
    found = {name for name, seen in claim["denied"].items() if not seen.startswith(NOT_DECLARED)}
    said = {*claim["capabilities"], *found, *claim.get("unclear", {})}
    return [name for name in CAPABILITIES if name not in said]


def _clause(name: str) -> list[str]:
    """The promise that is broken, with its sentence."""
    sentence = f": {clauses()[name].sentence}" if name in clauses() else ""
    return textwrap.wrap(f"clause {name}{sentence}", WIDTH, initial_indent="  ", subsequent_indent="    ")


def shortened(text: str, width: int) -> str:
    """A text of at most that many columns, both ends of it: what tells two cases apart is often last."""
    if len(text) <= width:
        return text
    tail = (width - 3) // 2
    return f"{text[: width - 3 - tail]}...{text[len(text) - tail :]}"


def failure_line(result: CaseResult, finding_id: str) -> str:
    """One result that is not as expected, in one line of at most `WIDTH` columns."""
    text = f"{finding_id}  {result.outcome:15} {shortened(result.stack, LONGEST_STACK)}, {result.device}  "
    return text + shortened(result.case, WIDTH - len(text))
