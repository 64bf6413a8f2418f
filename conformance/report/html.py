"""The HTML view: one file without outside resources, with filters and a fold for each case."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from urllib.parse import urlencode

import jinja2

from conformance.contract.ladder import rungs
from conformance.contract.registry import clauses
from conformance.report.finding_blocks import commands, denied, diff, differences, program, title
from conformance.report.tables import ALL_AREAS, GROUPS, Line, labels, lines, numbers, percent, rows, short
from conformance.results.findings import Finding, by_origin, findings
from conformance.results.result_file import OUTCOMES, CaseResult, Key, Results

# Outcomes behind which there is a program that can be debugged alone.
ALONE = ("fail", "known_failure", "inherited", "unexpected_pass")
NOT_AS_EXPECTED = "not as expected"
#: Results of a finding that are shown whole, and discrepancies of one result: the rest is in results.json.
MOST_WHOLE, MOST_DISCREPANCIES = 10, 10


def templates() -> jinja2.Environment:
    """The templates of the HTML pages."""
    return jinja2.Environment(
        loader=jinja2.PackageLoader("conformance", "report"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )


def html_report(columns: Sequence[Results]) -> str:
    """The text of report.html: what is as expected is counted, everything else has a fold."""
    page = templates()
    page.filters.update(percent=percent, numbers=numbers, short=short, rungs=rungs, quoted=shlex.quote, words=_words)
    names = labels(columns)
    found = [(name, one) for name, column in zip(names, columns, strict=True) for one in findings(column.results)]
    shown = [line for line in lines(columns) if line.changes or not line.as_expected]
    results = [result for line in shown for result in line.found]
    first: dict[str, str] = {}
    return page.get_template("report.html.j2").render(
        columns=columns,
        labels=names,
        unexpected=[sum(not result.as_expected for result in column.results) for column in columns],
        rows=rows(columns),
        groups=[name for name, _ in GROUPS],
        lines=shown,
        all_areas=ALL_AREAS,
        alone=ALONE,
        findings=found,
        origins=[(name, by_origin(column.results)) for name, column in zip(names, columns, strict=True)],
        denied=[line for column in columns for line in denied(column.claim)],
        title=title,
        program=program,
        differences=differences,
        diff=diff,
        commands=commands,
        members=_members([one for _, one in found]),
        whole=_whole([one for _, one in found], shown),
        shown_first=first.setdefault,
        most_whole=MOST_WHOLE,
        most_discrepancies=MOST_DISCREPANCIES,
        explained=_explained(columns),
        filters=_filters(results, [one for _, one in found]),
        clauses=clauses(),
        broken=[name for name in dict.fromkeys(name for one in results for name in one.clauses) if name in clauses()],
        link=_link,
        zip=zip,
    )


def _members(found: Sequence[Finding]) -> dict[Key, list[str]]:
    """The findings that a result counts under; in several files it may be under several."""
    members: dict[Key, list[str]] = {}
    for finding in found:
        for result in finding.results:
            members.setdefault(result.key, []).append(finding.id)
    return {key: list(dict.fromkeys(ids)) for key, ids in members.items()}


def _whole(found: Sequence[Finding], shown: Sequence[Line]) -> set[Key]:
    """The results that are shown with graphs and commands: the shortest of each finding, and those of no finding."""
    folded = {result.key for finding in found for result in finding.by_length[MOST_WHOLE:]}
    whole = {result.key for finding in found for result in finding.by_length[:MOST_WHOLE]}
    return {line.key for line in shown} - (folded - whole)


def _explained(columns: Sequence[Results]) -> dict[tuple[str, str], list[str]]:
    """The cases that break a promise as expected, by outcome and reason: each reason stands once."""
    explained: dict[tuple[str, str], list[str]] = {}
    for result in (result for column in columns for result in column.results):
        if result.outcome in ("known_failure", "inherited"):
            cases = explained.setdefault((result.outcome, result.reason), [])
            cases.append(f"{result.case}   {result.stack}, {result.device}")
    return {key: list(dict.fromkeys(cases)) for key, cases in explained.items()}


def _filters(results: Sequence[CaseResult], found: Sequence[Finding]) -> dict[str, list[str]]:
    """What the list can be narrowed to, by the name of the field."""
    present = {result.outcome for result in results}
    return {
        "outcome": [NOT_AS_EXPECTED, *(name for name in OUTCOMES if name in present)],
        "area": list(dict.fromkeys(result.area for result in results)),
        "stack": list(dict.fromkeys(result.stack for result in results)),
        "device": list(dict.fromkeys(result.device for result in results)),
        "finding": list(dict.fromkeys(one.id for one in found)),
    }


def _words(outcome: str) -> str:
    return outcome.replace("_", " ")


def _link(area: str, stack: str, device: str, outcome: str = "") -> str:
    """The address of the list below with its filters set."""
    chosen = {"area": "" if area == ALL_AREAS else area, "stack": stack, "device": device, "outcome": outcome}
    return "#" + urlencode({name: value for name, value in chosen.items() if value})
