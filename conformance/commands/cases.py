"""Commands on the cases: run them, list them, hold mutants against them."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from conformance.contract.catalog import MANIFEST, cases_root, without_root
from conformance.contract.registry import AREAS, nearest
from conformance.suite.pytest_run import UsageError, case_ids, check_run, run_cases


def run(
    stack: Annotated[list[str] | None, typer.Option(help="Stack by name, module:callable, or TOML file.")] = None,
    device: Annotated[list[str] | None, typer.Option(help="Device; default: every one found.")] = None,
    area: Annotated[list[str] | None, typer.Option(help="Area of the contract.")] = None,
    case: Annotated[list[str] | None, typer.Option(help="A case by its exact id.")] = None,
    keyword: Annotated[str, typer.Option("-k", help="Only cases whose names match, as pytest's -k.")] = "",
    workers: Annotated[str, typer.Option("-n", help="Worker processes: a number, or auto.")] = "1",
    profile: Annotated[str, typer.Option(help="quick, full or nightly.")] = "quick",
    known_failures: Annotated[list[str] | None, typer.Option(help="A ledger of your own, beside the shipped.")] = None,
    write_known_failures: Annotated[str, typer.Option(help="Draft a ledger of what failed.")] = "",
    require_device: Annotated[list[str] | None, typer.Option(help="Fail when this device is absent.")] = None,
    shard: Annotated[str, typer.Option(help="I/N: the I-th of N equal parts.")] = "",
    results: Annotated[str, typer.Option(help="Folder for the results.")] = "results",
    resume: Annotated[str, typer.Option(help="Folder of an interrupted run: what passed there is kept.")] = "",
    pytest_arguments: Annotated[list[str] | None, typer.Argument(metavar="[-- PYTEST ARGS...]")] = None,
) -> None:
    """Run the cases on stacks and devices; write results.json, junit.xml, report.html, summary.md."""
    root = cases_root()
    check_run(keyword=keyword, workers=workers, profile=profile, ledgers=known_failures or [], resume=resume)
    arguments = [f"--results={results}", f"--profile={profile}", f"--junitxml={Path(results) / 'junit.xml'}"]
    repeated = {"stack": stack, "device": device, "area": area, "case": case, "require-device": require_device}
    repeated["known-failures"] = known_failures
    for option, values in repeated.items():
        arguments += [f"--{option}={value}" for value in values or ()]
    single = {"shard": shard, "resume": resume, "write-known-failures": write_known_failures}
    arguments += [f"--{option}={value}" for option, value in single.items() if value]
    if keyword:
        arguments += ["-k", keyword]
    files = {root / without_root(one).partition("::")[0] for one in case or ()}
    for one in files:
        if not one.is_file():
            raise UsageError(f"no case in {one.name}: cases/{MANIFEST} lists the ids")
    # A worker process even for one: a crash of the stack is then one case's failure, not the end of the run.
    if not os.environ.get("EXPECTTEST_ACCEPT") or workers != "1":
        arguments += ["-n", workers]
    raise typer.Exit(run_cases(files.pop() if len(files) == 1 else root, [*arguments, *(pytest_arguments or ())]))


def manifest(check: Annotated[bool, typer.Option("--check", help="Fail when the file is stale.")] = False) -> None:
    """Write cases/manifest.txt, one case id a line."""
    root = cases_root()
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
    workers: Annotated[str, typer.Option("-n", help="Worker processes: a number, or auto.")] = "1",
    as_json: Annotated[bool, typer.Option("--json", help="Print the kill matrix as JSON.")] = False,
) -> None:
    """Hold stacks made wrong on purpose against the cases; exit status 1 when one survives."""
    check_run(workers=workers)
    areas = area or []
    for name in areas:
        if name not in AREAS:
            raise UsageError(f"unknown area {name!r}; {nearest(name, AREAS)}")
    from conformance.mutants.kill_trials import chosen, try_all, without_mutant
    from conformance.report.mutants import kill_matrix

    verdicts = try_all(chosen(mutant or [], areas), workers)
    if as_json:
        print(json.dumps(verdicts.to_json(), indent=2))
    else:
        rows = [(one.name, one.breaks, verdicts.killed_by.get(one.name, [])) for one in verdicts.mutants]
        print(kill_matrix(rows, verdicts.unclean, verdicts.idle, [] if mutant else without_mutant(areas)))
    raise typer.Exit(1 if verdicts.survivors or verdicts.unclean else 0)
