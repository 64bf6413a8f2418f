"""The HTML view: one file without outside resources, with filters and a fold for each case."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from urllib.parse import urlencode

import jinja2

from conformance.contract.ladder import rungs
from conformance.contract.registry import clauses
from conformance.report.finding_blocks import commands, denied, differences, program, title
from conformance.report.tables import ALL_AREAS, GROUPS, labels, lines, numbers, percent, rows, short
from conformance.results.findings import findings
from conformance.results.result_file import OUTCOMES, Results

# Outcomes behind which there is a program that can be debugged alone.
ALONE = ("fail", "known_failure", "inherited", "unexpected_pass")
NOT_AS_EXPECTED = "not as expected"
#: Outcomes of which nobody asks more than that they were; their graphs would be most of the page.
QUIET = ("pass", "not_applicable", "unavailable")


def html_report(columns: Sequence[Results]) -> str:
    """The text of report.html."""
    page = jinja2.Environment(
        loader=jinja2.PackageLoader("conformance", "report"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    page.filters.update(percent=percent, numbers=numbers, short=short, rungs=rungs, quoted=shlex.quote, words=_words)
    results = [result for column in columns for result in column.results]
    present = {result.outcome for result in results}
    return page.get_template("report.html.j2").render(
        columns=columns,
        labels=labels(columns),
        unexpected=[sum(not result.as_expected for result in column.results) for column in columns],
        rows=rows(columns),
        groups=[name for name, _ in GROUPS],
        lines=lines(columns),
        all_areas=ALL_AREAS,
        alone=ALONE,
        findings=[
            (name, one)
            for name, column in zip(labels(columns), columns, strict=True)
            for one in findings(column.results)
        ],
        denied=[line for column in columns for line in denied(column.claim)],
        title=title,
        program=program,
        differences=differences,
        commands=commands,
        quiet=QUIET,
        filters={
            "outcome": [NOT_AS_EXPECTED, *(name for name in OUTCOMES if name in present)],
            "area": list(dict.fromkeys(result.area for result in results)),
            "stack": list(dict.fromkeys(result.stack for result in results)),
            "device": list(dict.fromkeys(result.device for result in results)),
        },
        clauses=clauses(),
        link=_link,
        zip=zip,
    )


def _words(outcome: str) -> str:
    return outcome.replace("_", " ")


def _link(area: str, stack: str, device: str, outcome: str = "") -> str:
    """The address of the list below with its filters set."""
    chosen = {"area": "" if area == ALL_AREAS else area, "stack": stack, "device": device, "outcome": outcome}
    return "#" + urlencode({name: value for name, value in chosen.items() if value})
