"""The terminal view: findings, a line for each result that is not as expected, and the table."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from conformance.report.finding_blocks import (
    LONGEST_STACK,
    block,
    denied,
    failure_line,
    not_applicable,
    shortened,
)
from conformance.report.tables import ALL_AREAS, GROUPS, labels, numbers, percent, rows
from conformance.results.findings import by_origin, findings
from conformance.results.result_file import Count, Results

# A narrower terminal breaks the lines of the table; cells that are cut off would hide what they say.
WIDTH = 140
#: Findings that are shown whole.
MOST = 25


def terminal_table(columns: Sequence[Results], console: Console | None = None, notes: Sequence[str] = ()) -> None:
    """Print the findings, a line for each result that is not as expected, notes, and areas by stack and device."""
    console = console or Console(soft_wrap=True)
    console.width = max(console.width, WIDTH)
    names = labels(columns)
    for name, column in zip(names, columns, strict=True):
        for text in _findings(column, f"{name}: " if len(columns) > 1 else ""):
            console.print(text, markup=False, highlight=False)
    for note in [*notes, *[""] * bool(notes)]:
        console.print(note, markup=False, highlight=False)
    console.print(_one_file(columns[0]) if len(columns) == 1 else _several_files(columns, names))
    console.print()
    for name, column in zip(names, columns, strict=True):
        unexpected = sum(not result.as_expected for result in column.results)
        prefix = f"{name}: " if len(columns) > 1 else ""
        console.print(f"{prefix}{len(column.results)} results, {unexpected} not as expected", highlight=False)
        if column.incomplete:
            said = f"{prefix}incomplete: the run did not come to its end; --resume and its results folder go on with it"
            console.print(said, markup=False, highlight=False)


def _findings(results: Results, prefix: str) -> list[str]:
    """The capabilities that a stack lacks, a block for each of the largest findings, and a line for each result."""
    found = findings(results.results)
    said = [f"{prefix}{line}" for line in [*denied(results.claim), *not_applicable(results)]]
    said += [f"{prefix}{block(one)}\n" for one in found[:MOST]]
    if more := found[MOST:]:
        said.append(
            f"{prefix}{len(more)} findings more, of {sum(len(one.results) for one in more)} results: see report.html\n"
        )
    said += [failure_line(result, one.id) for one in found for result in one.results] + [""] * bool(found)
    counts = ", ".join(f"{name} {number}" for name, number in by_origin(results.results).items())
    return said + ([f"{prefix}whose fault: {counts}\n"] if counts else [])


def _table() -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("area", "stack", "device"):
        table.add_column(name, no_wrap=True)
    return table


def _one_file(results: Results) -> Table:
    table = _table()
    for name in [*(name for name, _ in GROUPS), "pass rate", "taken on"]:
        table.add_column("\n".join(name.rsplit(" ", 1)), justify="right", no_wrap=True)
    for row in rows([results]):
        [count] = row.counts
        assert count is not None
        figures = numbers(count)
        shown = [str(number) if number else "." for number in figures]
        style = " ".join([*(["red"] if figures[2] else []), *(["bold"] if row.area == ALL_AREAS else [])])
        shares = [percent(count.pass_rate), percent(count.taken_on)]
        table.add_row(row.area, shortened(row.stack, LONGEST_STACK), row.device, *shown, *shares, style=style)
    return table


def _several_files(columns: Sequence[Results], names: Sequence[str]) -> Table:
    table = _table()
    table.caption = "each file: pass, known failure, not as expected; pass rate"
    table.caption_justify = "left"
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows(columns):
        table.add_row(row.area, shortened(row.stack, LONGEST_STACK), row.device, *map(_cell, row.counts))
    return table


def _cell(count: Count | None) -> str:
    if count is None or count.pass_rate is None:
        return "-"
    passed, known, unexpected = numbers(count)[:3]
    marked = f"[red]{unexpected:3}[/red]" if unexpected else f"{unexpected:3}"
    return f"{passed:4} {known:3} {marked} {percent(count.pass_rate):>5}"
