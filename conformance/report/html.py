"""The HTML view: one file without outside resources, with filters and a fold for each result."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources

import jinja2

from conformance.contract import clauses
from conformance.report.tables import GROUPS, differing, label, percent, rows
from conformance.results import OUTCOMES, Results


def html_report(columns: Sequence[Results]) -> str:
    """The text of report.html."""
    template = resources.files("conformance").joinpath("report/report.html.j2").read_text(encoding="utf-8")
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    results = [(label(column), result) for column in columns for result in column.results]
    return environment.from_string(template).render(
        columns=columns,
        labels=[label(column) for column in columns],
        rows=rows(columns),
        groups=[name for name, _ in GROUPS],
        differing=differing(columns) if len(columns) > 1 else {},
        results=sorted(results, key=lambda pair: (pair[1].as_expected, pair[1].case)),
        outcomes=[name for name in OUTCOMES if any(result.outcome == name for _, result in results)],
        areas=list(dict.fromkeys(result.area for _, result in results)),
        stacks=list(dict.fromkeys(result.stack for _, result in results)),
        devices=list(dict.fromkeys(result.device for _, result in results)),
        clauses=clauses(),
        percent=percent,
    )
