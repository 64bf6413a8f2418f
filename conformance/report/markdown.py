"""The Markdown view: the table of areas, and the cases whose outcome differs between files."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.report.tables import GROUPS, differing, label, not_as_expected, percent, rows
from conformance.results import Results


def markdown_summary(columns: Sequence[Results]) -> str:
    """The text of summary.md."""
    parts = ["# Conformance"]
    for column in columns:
        gpus = ", ".join(column.environment.get("gpus") or []) or "no GPU"
        parts.append(f"{label(column)}: {len(column.results)} results in {column.seconds:.0f} s; {gpus}.")
    heads = ["file", "area", "stack", "device", *(name for name, _ in GROUPS), "pass rate", "taken on"]
    table = [_line(heads), _line(["---"] * 4 + ["---:"] * (len(heads) - 4))]
    for row in rows(columns):
        count = row.count
        figures = [str(number) for number in row.numbers()]
        shares = [percent(count.pass_rate), percent(count.taken_on)]
        table.append(_line([row.column, count.area, count.stack, count.device, *figures, *shares]))
    parts.append("\n".join(table))
    if len(columns) > 1:
        parts.append("## Outcomes that differ\n")
        table = [_line(["case", "stack", "device", *map(label, columns)]), _line(["---"] * (3 + len(columns)))]
        table += [_line([*key, *outcomes]) for key, outcomes in differing(columns).items()]
        parts.append("\n".join(table))
    for column in columns:
        unexpected = not_as_expected(column)
        if unexpected:
            parts.append(f"## Not as expected, {label(column)}")
            lines = []
            for result in unexpected:
                lines.append(f"- `{result.case}` on {result.stack}, {result.device}: {result.outcome}. {result.reason}")
                lines += [f"  - `{found}`" for found in result.discrepancies]
            parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
