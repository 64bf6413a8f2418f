"""A page for each unreported bug, ready for an issue: what is wrong, the script and what each release makes of it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from conformance.report.markdown import code, escaped, table
from conformance.report.state.faults import Fault, faults
from conformance.report.state.measured import FAILS, NOT_RUN, SCRIPTS, UNCLEAR, WORKS, Outcome, measured, releases
from conformance.results.bugs import UNREPORTED, Bug
from conformance.results.ledger import Ledger

#: The list of the pages, beside them.
INDEX = "README.md"
WRITTEN = (
    "Written by `conformance state --bugs` from `known_failures/`: each page is an issue that can be filed as it is. "
    "A script fails where it exits with 1 and works where it exits with 0; `benchmarks/scripts_measured.py` runs them."
)
#: The second sentence of a page, by how the fault shows.
SHOWS = {
    "silent": "Nothing is raised.",
    "crash": "The process ends where eager has a result.",
    "loud": "An exception is raised where eager has a result.",
    "exception": "Eager raises as well, and another exception: what handles eager's does not catch this one.",
    "other": "No result of a program is wrong: it is about what is compiled, how often, or what the minifier does.",
}


def bug_pages(bugs: Mapping[str, Bug], ledgers: Iterable[Ledger], folder: Path) -> dict[str, str]:
    """The text of each page by its file name, from the bugs, ledgers, scripts and outcomes of a folder."""
    outcomes = measured(folder)
    found = [one for one in faults(bugs, ledgers, []) if one.bug.link == UNREPORTED]
    pages, rows = {}, []
    for fault in sorted(found, key=lambda one: one.bug.id):
        script = folder / SCRIPTS / Path(str(fault.bug.script)).name
        own = outcomes.get(script.name, [])
        pages[f"{fault.bug.id}.md"] = _page(fault, script.read_text(encoding="utf-8"), own)
        rows.append(_row(fault, own))
    return {INDEX: _index(rows), **pages}


def _index(rows: Sequence[Sequence[str]]) -> str:
    parts = [
        "# Unreported bugs of torch",
        WRITTEN,
        table(["fault", "kind", "first on", "fails with torch", "works with torch"], rows, left=5),
        f"{len(rows)} bugs.",
    ]
    return "\n\n".join(parts) + "\n"


def _row(fault: Fault, outcomes: Sequence[Outcome]) -> list[str]:
    link = f"[{escaped(fault.bug.title)}]({fault.bug.id}.md)"
    lists = [", ".join(releases(outcomes, verdict)) or "-" for verdict in (FAILS, WORKS)]
    return [link, fault.kind, fault.first, *lists]


def _page(fault: Fault, script: str, outcomes: Sequence[Outcome]) -> str:
    title = fault.bug.title
    parts = [
        f"# {title[0].upper()}{title[1:]}",
        f"{summary(script)} {SHOWS[fault.kind]}",
        "## Script",
        f"```python\n{script.rstrip()}\n```",
        "It exits with 1 if the fault shows and with 0 if it does not.",
        "## Expected and actual",
        _shown(outcomes),
        "## Releases",
        _releases(outcomes),
    ]
    if fault.bug.cause:
        parts += ["## Likely cause", code(fault.bug.cause)]
    return "\n\n".join(parts) + "\n"


def summary(script: str) -> str:
    """The first words of a script's docstring, up to what is expected, on one line."""
    docstring = ast.get_docstring(ast.parse(script)) or ""
    return escaped(docstring.partition("Expected: ")[0])


def _shown(outcomes: Sequence[Outcome]) -> str:
    """What the script prints on the latest release on which it shows the fault."""
    failing = [one for one in outcomes if one.verdict == FAILS]
    if not failing:
        return "On no release and machine that was measured does the script show the fault."
    last = failing[-1]
    where = f"torch {last.torch}, Python {last.python}, {last.platform}, {last.machine}"
    return f"With {where}:\n\n```\n{last.printed}\n```"


def _releases(outcomes: Sequence[Outcome]) -> str:
    if not outcomes:
        return "Not measured."
    said = [
        f"{verb} {', '.join(found)}"
        for verb, verdict in (
            ("Fails with", FAILS),
            ("works with", WORKS),
            ("needs CUDA, and was run without on", NOT_RUN),
            ("ends otherwise with", UNCLEAR),
        )
        if (found := releases(outcomes, verdict))
    ]
    line = "; ".join(said)
    heads = ["torch", "machine", "Python", "script", "output"]
    body = [[one.torch, one.machine, one.python, one.verdict, _said(one)] for one in outcomes]
    return f"{line[0].upper()}{line[1:]}.\n\n{table(heads, body, left=5)}"


def _said(one: Outcome) -> str:
    return code(one.said.splitlines()[-1]) if one.said else "-"
