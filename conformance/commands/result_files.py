"""Commands on result files: compare, report, state, merge."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Annotated

import typer


def compare(
    old: Annotated[str, typer.Argument(metavar="OLD.json")],
    new: Annotated[str, typer.Argument(metavar="NEW.json")],
    as_json: Annotated[bool, typer.Option("--json")] = False,
    html: Annotated[str, typer.Option(metavar="FILE", help="Write it as a single-file HTML page as well.")] = "",
    markdown: Annotated[str, typer.Option(metavar="FILE", help="Write it as a Markdown page as well.")] = "",
) -> None:
    """What regressed, got fixed, is new, gone or fails differently in the new file by bug, and the changed graphs."""
    from conformance.report import comparison, comparison_html, comparison_markdown
    from conformance.results.result_file import Results
    from conformance.results.result_sets import diff

    before, after = Results.read(Path(old)), Results.read(Path(new))
    difference = diff(before, after)
    for file, written in ((html, comparison_html), (markdown, comparison_markdown)):
        if file:
            Path(file).write_text(written(difference, before, after), encoding="utf-8")
    print(json.dumps(difference.to_json(), indent=2) if as_json else comparison(difference))
    raise typer.Exit(1 if difference.regressed else 0)


def report(
    files: Annotated[list[str], typer.Argument(metavar="RESULTS.json...")],
    html: Annotated[str, typer.Option(help="Write a single-file HTML report.")] = "",
    markdown: Annotated[str, typer.Option(help="Write a Markdown summary.")] = "",
) -> None:
    """Show result files, several side by side as columns."""
    from conformance.report import html_report, markdown_summary, terminal_table
    from conformance.results.result_file import Results

    columns = [Results.read(Path(file)) for file in files]
    if html:
        Path(html).write_text(html_report(columns), encoding="utf-8")
    if markdown:
        Path(markdown).write_text(markdown_summary(columns), encoding="utf-8")
    if not html and not markdown:
        terminal_table(columns)


def state(
    files: Annotated[list[str] | None, typer.Argument(metavar="RESULTS.json...")] = None,
    output: Annotated[str, typer.Option("-o", metavar="FILE", help="Where to write; default: standard output.")] = "",
    bugs: Annotated[str, typer.Option(metavar="DIR", help="Write a page for each unreported bug of torch.")] = "",
) -> None:
    """Write the state of the stacks in result files, and of torch by the bugs that ship, as Markdown pages."""
    from conformance.contract.catalog import cases_root, records_with_needs
    from conformance.report.state.bug_pages import bug_pages
    from conformance.report.state.measured import failing
    from conformance.report.state.page import state_page
    from conformance.results.ledger import FOLDER, load_bugs, load_folder
    from conformance.results.result_file import Results

    if not files and not bugs:
        raise typer.BadParameter("name RESULTS.json... for the page of stacks, --bugs DIR for those of bugs, or both")
    folder = cases_root().parent / FOLDER
    known, ledgers = load_bugs(folder), load_folder(folder).values()
    if files:
        runs = [Results.read(Path(file)) for file in files]
        page = state_page(runs, known, ledgers, records_with_needs(cases_root()), failing(folder))
        if output:
            Path(output).write_text(page, encoding="utf-8")
        else:
            print(page, end="")
    if bugs:
        Path(bugs).mkdir(parents=True, exist_ok=True)
        for name, text in bug_pages(known, ledgers, folder).items():
            (Path(bugs) / name).write_text(text, encoding="utf-8")


def merge(
    files: Annotated[list[str], typer.Argument(metavar="RESULTS.json...")],
    output: Annotated[str, typer.Option("-o", metavar="FILE", help="The merged file.")],
) -> None:
    """Merge the result files of shards, stacks or devices into one."""
    from conformance.contract.catalog import cases_root, records_with_needs
    from conformance.results.claims import ClaimError, merged_claims
    from conformance.results.result_file import Results
    from conformance.results.result_sets import merge as merge_runs

    runs = [Results.read(Path(file)) for file in files]
    merged = merge_runs(runs)
    with contextlib.suppress(ClaimError):  # cases of somebody's own, which are not the contract's
        claims = [one for run in runs for one in run.claim]
        merged.claim = merged_claims(claims, records_with_needs(cases_root()), merged.results)
    merged.write(Path(output))
