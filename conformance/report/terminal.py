"""The terminal view: a table of areas, then every result that is not as expected; and two files compared."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from conformance.report.tables import GROUPS, not_as_expected, percent, rows
from conformance.result_sets import Difference
from conformance.results import Results


def terminal_table(columns: Sequence[Results], console: Console | None = None) -> None:
    """Print areas by stack and device, and one line for each result that is not as expected."""
    console = console or Console(width=max(120, Console().width))
    table = Table(box=None, pad_edge=False, header_style="bold")
    several = len(columns) > 1
    for name in [*(["file"] if several else []), "area", "stack", "device"]:
        table.add_column(name, no_wrap=True)
    for name in [*(name for name, _ in GROUPS), "pass rate", "taken on"]:
        table.add_column(name.replace(" ", "\n"), justify="right")
    for row in rows(columns):
        count, numbers = row.count, row.numbers()
        where = [*([row.column] if several else []), count.area, count.stack, count.device]
        style = "red" if numbers[2] else None
        figures = [str(number) if number else "." for number in numbers]
        table.add_row(*where, *figures, percent(count.pass_rate), percent(count.taken_on), style=style)
    console.print(table)
    for column in columns:
        unexpected = not_as_expected(column)
        for result in unexpected:
            why = result.reason or "; ".join(str(found) for found in result.discrepancies[:2])
            line = f"{result.outcome}: {result.case} on {result.stack}, {result.device}"
            console.print(f"{line}: {why}" if why else line, markup=False, highlight=False, soft_wrap=True)
        total = len(column.results)
        console.print(f"{total} results, {len(unexpected)} not as expected", highlight=False)


def comparison(difference: Difference) -> str:
    """Four lists, the graphs that changed as diffs, and one line of counts."""
    lines: list[str] = []
    for name in ("regressed", "fixed", "new", "gone"):
        entries = getattr(difference, name)
        lines.append(f"{name}: {len(entries) or 'none'}")
        lines += [f"  {entry}" for entry in entries]
    for change in difference.graphs:
        case, stack, device = change.key
        lines.append(f"graph changed: {case} on {stack}, {device}, stage {change.stage}")
        lines += [f"  {line}" for line in change.diff.splitlines()]
    return "\n".join([*lines, difference.line])
