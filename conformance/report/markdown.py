"""The Markdown view: the table of areas, the cases on which files disagree, and what is not as expected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from conformance.contract.registry import LEVELS
from conformance.report.finding_blocks import commands, denied, diff, differences, program, title
from conformance.report.tables import ALL_AREAS, GROUPS, Line, labels, lines, numbers, percent, rows, short
from conformance.results.findings import by_origin, findings
from conformance.results.result_file import Results


def markdown_summary(columns: Sequence[Results]) -> str:
    """The text of summary.md."""
    names = labels(columns)
    parts = ["# Conformance", *(_facts(name, column) for name, column in zip(names, columns, strict=True))]
    for name, column in zip(names, columns, strict=True):
        if found := _findings(column):
            parts += [f"## Findings{f' of {name}' if len(columns) > 1 else ''}", found]
    parts += [_claims(column) for column in columns if column.claim]
    parts.append(_one_file(columns[0]) if len(columns) == 1 else _several_files(columns, names))
    every = lines(columns)
    if changed := [line for line in every if line.changes]:
        parts += ["## Outcomes that differ", _differing(changed, names)]
    if unexpected := [line for line in every if not line.as_expected]:
        parts += ["## Not as expected", "\n".join(item for line in unexpected for item in _items(line, names))]
    parts += _unlike_a_user(columns, names)
    return "\n\n".join(parts) + "\n"


def _facts(name: str, column: Results) -> str:
    unexpected = sum(not result.as_expected for result in column.results)
    verdict = f"**{unexpected} not as expected**" if unexpected else "all as expected"
    gpus = ", ".join(column.environment.get("gpus") or []) or "no GPU"
    if column.incomplete:
        verdict += ", **incomplete**: the run did not come to its end"
    return (
        f"{name}: {len(column.results)} results, {verdict}, in {column.seconds:.0f} s "
        f"({column.started[:10] or 'undated'}, Python {column.environment.get('python', '?')}, {gpus})."
    )


def _unlike_a_user(columns: Sequence[Results], names: Sequence[str]) -> Iterator[str]:
    """What the runs do otherwise than a user would, last: nobody has to read it to know what failed."""
    for name, column in zip(names, columns, strict=True):
        if left_out := " ".join(column.options.get("left_out", [])):
            yield f"The run does otherwise than a user{f' ({name})' if len(columns) > 1 else ''}: {left_out}"


def _findings(column: Results) -> str:
    """Capabilities that a stack lacks, then each root cause as an item of a list with the shortest program."""
    items = [f"- {escaped(line)}" for line in denied(column.claim)]
    for one in findings(column.results):
        items.append(f"- **{title(one)}** (`{one.id}`): {escaped(one.sentence)} Shortest: `{one.shortest.case}`.")
        if shown := [*program(one), *diff(one)]:
            items += [f"  {line}".rstrip() for line in ("", "```", *shown, "```", "")]
        items += [f"  - {code(str(found))}" for found in differences(one)]
        items += [f"  - {code(line)}" for line in commands(one)]
    counts = ", ".join(f"{name} {number}" for name, number in by_origin(column.results).items())
    return "\n".join([*items, f"\nWhose fault: {counts}."] if counts else items)


def _claims(column: Results) -> str:
    """Which profiles each stack conforms to, with its clauses kept, broken and not run."""
    body = [
        [
            f"{claim['stack']} ({claim['package']} {claim['version'] or '?'})",
            name,
            profile["status"],
            *(str(profile[level][what]) for level in ("must", "should") for what in ("kept", "broken", "not_run")),
        ]
        for claim in column.claim
        for name, profile in claim["profiles"].items()
    ]
    heads = [
        "stack",
        "profile",
        "status",
        *(f"{level} {what}" for level in LEVELS for what in ("kept", "broken", "not run")),
    ]
    return table(heads, body, left=3)


def _one_file(results: Results) -> str:
    heads = ["area", "stack", "device", *(name for name, _ in GROUPS), "pass rate", "taken on"]
    body = []
    for row in rows([results]):
        [count] = row.counts
        assert count is not None
        figures = [str(number) for number in numbers(count)]
        cells = [row.area, row.stack, row.device, *figures, percent(count.pass_rate), percent(count.taken_on)]
        body.append([f"**{cell}**" for cell in cells] if row.area == ALL_AREAS else cells)
    return table(heads, body, left=3)


def _several_files(columns: Sequence[Results], names: Sequence[str]) -> str:
    body = [[row.area, row.stack, row.device, *map(short, row.counts)] for row in rows(columns)]
    return table(["area", "stack", "device", *names], body, left=3 + len(names))


def _differing(changed: Sequence[Line], names: Sequence[str]) -> str:
    body = [
        [f"`{line.key[0]}`", *line.key[1:], *(result.outcome if result else "-" for result in line.results)]
        for line in changed
    ]
    return table(["case", "stack", "device", *names], body, left=3 + len(names))


def _items(line: Line, names: Sequence[str]) -> Iterable[str]:
    for name, result in zip(names, line.results, strict=True):
        if result is not None and not result.as_expected:
            where = f"{result.stack}, {result.device}" + (f", {name}" if len(names) > 1 else "")
            yield f"- `{result.case}` on {where}: {result.outcome}. {escaped(result.reason)}".rstrip()
            yield from (f"  - {code(str(found))}" for found in result.discrepancies)
            if result.first_divergence:
                yield f"  - first divergence: {result.first_divergence}"


def table(heads: Sequence[str], body: Iterable[Sequence[str]], left: int) -> str:
    """A table whose first ``left`` columns hold text and whose others hold numbers."""
    rule = ["---"] * left + ["---:"] * (len(heads) - left)
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |" for cells in [heads, rule, *body]
    )


def code(text: str) -> str:
    """Text as code on one line, whatever backticks it holds."""
    text = " ".join(text.split())
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def escaped(text: str) -> str:
    """Text on one line in which nothing is taken for Markdown or HTML."""
    return " ".join(text.split()).replace("<", "\\<").replace("*", "\\*")
