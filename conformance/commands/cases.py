"""Commands on the cases: run them, list them, hold mutants against them."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from conformance.contract.catalog import MANIFEST, cases_root, without_root
from conformance.contract.registry import AREAS, nearest
from conformance.results.case_seconds import FILE, merge_seconds, read_seconds, write_seconds
from conformance.results.result_file import Results
from conformance.suite.options import RunOptions, UsageError, check_workers, default_of, flag_of
from conformance.suite.pytest_run import case_ids, run_cases
from conformance.suite.terminal.progress import Progress

#: The captured output of cases that fail stands in junit.xml.
LOGS = ("-o", "junit_logging=all", "-o", "junit_log_passing_tests=false")
#: Without pytest's head and letters: `Progress` says how far the run is.
QUIET = ("-q", "-o", "console_output_style=classic")


def run(options: RunOptions, pytest_arguments: Sequence[str] = ()) -> None:
    """Run the cases on stacks and devices; write results.json, junit.xml, report.html, summary.md."""
    root = cases_root()
    options.check()
    if pytest_arguments and not pytest_arguments[0].startswith("-"):
        raise UsageError(f"{pytest_arguments[0]!r} is no option: --case takes a case's id, --area an area")
    results = options.results or "results"
    arguments = [*replace(options, results=results).arguments(), f"--junitxml={Path(results) / 'junit.xml'}", *LOGS]
    files = {root / without_root(one).partition("::")[0] for one in options.case}
    for one in files:
        if not one.is_file():
            raise UsageError(f"no case in {one.name}: cases/{MANIFEST} lists the ids")
    # A worker process even for one: a crash of the stack is then one case's failure, not the end of the run.
    if not os.environ.get("EXPECTTEST_ACCEPT") or options.workers != "1":
        arguments += ["-n", options.workers]
    progress: list[object] = []
    if not any(one.startswith("-v") or one == "--verbose" for one in pytest_arguments):
        progress.append(Progress())
        arguments += QUIET
    where = files.pop() if len(files) == 1 else root
    raise typer.Exit(run_cases(where, [*arguments, *pytest_arguments], progress))


def run_command() -> Callable[..., None]:
    """`run` as typer takes it: a parameter for each of the options of a run, and what is handed on to pytest."""

    def command(pytest_arguments: list[str] | None = None, **stated: Any) -> None:
        given = {name: value for name, value in stated.items() if value is not None}
        run(RunOptions(**given), pytest_arguments or ())

    hints: dict[str, Any] = get_type_hints(RunOptions)
    parameters = []
    for one in fields(RunOptions):
        repeats = isinstance(default_of(one), list)
        option = typer.Option(flag_of(one), help=one.metadata["help"])
        kind: Any = Annotated[hints[one.name] | None if repeats else hints[one.name], option]
        default = None if repeats else default_of(one)
        parameters.append(Parameter(one.name, Parameter.KEYWORD_ONLY, default=default, annotation=kind))
    rest = Annotated[list[str] | None, typer.Argument(metavar="[-- PYTEST ARGS...]")]
    parameters.append(Parameter("pytest_arguments", Parameter.KEYWORD_ONLY, default=None, annotation=rest))
    command.__name__, command.__doc__ = run.__name__, run.__doc__
    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    return command


def manifest(
    check: Annotated[bool, typer.Option("--check", help="Fail when the file is stale.")] = False,
    seconds: Annotated[list[str] | None, typer.Option(metavar="RESULTS.json", help="Keep how long cases took.")] = None,
) -> None:
    """Write cases/manifest.txt, one case id a line; with --seconds, cases/seconds.tsv from the results of a run."""
    root = cases_root()
    if seconds:
        found = [one for path in seconds for one in Results.read(path).results]
        known = merge_seconds(read_seconds(root), found, case_ids(root))
        write_seconds(root, known)
        print(f"{FILE}: {len(known)} cases on stacks")
        return
    file = root / MANIFEST
    text = "".join(f"{case}\n" for case in case_ids(root))
    if not check:
        file.write_text(text, encoding="utf-8")
        print(f"{file.name}: {text.count(chr(10))} cases")
        return
    if not file.is_file() or file.read_text(encoding="utf-8") != text:
        print("cases/manifest.txt is stale: run `conformance manifest` and commit it", file=sys.stderr)
        raise typer.Exit(1)


def clauses(
    as_json: Annotated[bool, typer.Option("--json")] = False,
    as_markdown: Annotated[bool, typer.Option("--markdown")] = False,
) -> None:
    """List the clauses of the contract and the cases that prove each."""
    from conformance.contract.catalog import clause_records, clauses_markdown

    if as_json and as_markdown:
        raise UsageError("--json or --markdown, one of the two")
    records = clause_records(cases_root())
    if as_json:
        print(json.dumps(records, indent=2))
    elif as_markdown:
        print(clauses_markdown(records))
    else:
        for one in records:
            print(f"{one['id']:60} {one['level']:6} {len(one['cases']):3} cases  {one['sentence']}")


def mutants(
    area: Annotated[list[str] | None, typer.Option(help="Only mutants that break a clause of this area.")] = None,
    mutant: Annotated[list[str] | None, typer.Option(help="Only this mutant.")] = None,
    changed: Annotated[str, typer.Option(metavar="COMMIT", help="Only mutants whose modules changed since.")] = "",
    matrix: Annotated[
        bool, typer.Option("--matrix", help="Run every case of their clauses, for the whole matrix.")
    ] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Write what killed to cases/kills.tsv.")] = False,
    workers: Annotated[str, typer.Option("-n", help="Worker processes: a number, or auto.")] = "1",
    as_json: Annotated[bool, typer.Option("--json", help="Print the kill matrix as JSON.")] = False,
) -> None:
    """Hold stacks made wrong on purpose against the cases; exit status 1 when one survives.

    What killed a mutant before, by cases/kills.tsv, is tried first; then all cases of its clauses.
    """
    check_workers(workers)
    areas = area or []
    for name in areas:
        if name not in AREAS:
            raise UsageError(f"unknown area {name!r}; {nearest(name, AREAS)}")
    from conformance.mutants.kill_trials import Verdicts, changed_since, chosen, try_all, without_mutant
    from conformance.mutants.kills import FILE as KILLS
    from conformance.mutants.kills import read_kills, write_kills
    from conformance.report.mutants import kill_matrix
    from conformance.stacks.cache_folder import cache_folder

    found = chosen(mutant or [], areas)
    if changed:
        differing = changed_since(changed)
        found = [one for one in found if one.name in differing]
        if not found:
            print(f"no mutant's module changed since {changed}", file=sys.stderr)
            if as_json:
                print(json.dumps(Verdicts([]).to_json(), indent=2))
            return
    with cache_folder():
        verdicts = try_all(found, workers, exhaustive=matrix)
    if keep:
        root = cases_root()
        write_kills(root, verdicts.kept(read_kills(root), exhaustive=matrix))
        print(f"wrote cases/{KILLS}", file=sys.stderr)
    if as_json:
        print(json.dumps(verdicts.to_json(), indent=2))
    else:
        charges = [(one.name, clause) for one in verdicts.mutants for clause in one.breaks]
        rows = [(*charge, verdicts.killed_by.get(charge, [])) for charge in charges]
        unbroken = [] if mutant else without_mutant(areas)
        print(kill_matrix(rows, verdicts.rates(), verdicts.unclean, verdicts.idle, unbroken))
    raise typer.Exit(1 if verdicts.survivors or verdicts.unclean else 0)
