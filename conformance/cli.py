"""The command line, thin over the rest: every mistake in its use is one line and exit status 2."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from conformance.catalog import MANIFEST, cases_root
from conformance.contract import AREAS, nearest
from conformance.invoke import UsageError, case_ids, check_run, run_cases, run_of
from conformance.usage import run_command

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.command(context_settings={"ignore_unknown_options": False})
def run(
    stack: Annotated[list[str] | None, typer.Option(help="Stack by name, module:callable, or TOML file.")] = None,
    device: Annotated[list[str] | None, typer.Option(help="Device; default: every one found.")] = None,
    area: Annotated[list[str] | None, typer.Option(help="Area of the contract.")] = None,
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
    repeated = {"stack": stack, "device": device, "area": area, "require-device": require_device}
    repeated["known-failures"] = known_failures
    for option, values in repeated.items():
        arguments += [f"--{option}={value}" for value in values or ()]
    single = {"shard": shard, "resume": resume, "write-known-failures": write_known_failures}
    arguments += [f"--{option}={value}" for option, value in single.items() if value]
    if keyword:
        arguments += ["-k", keyword]
    # A worker process even for one: a crash of the stack is then one case's failure, not the end of the run.
    if not os.environ.get("EXPECTTEST_ACCEPT") or workers != "1":
        arguments += ["-n", workers]
    raise typer.Exit(run_cases(root, [*arguments, *(pytest_arguments or ())]))


@app.command()
def check(
    file: Annotated[str, typer.Argument(metavar="FILE")],
    stack: Annotated[list[str] | None, typer.Option(help="Stack; default: inductor.")] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    as_json: Annotated[bool, typer.Option("--json", help="Print the record as JSON.")] = False,
) -> None:
    """Compare anyone's program with eager: `conforms`, or one line a discrepancy and exit status 1."""
    from conformance.check import check_file
    from conformance.devices import resolve as resolve_devices
    from conformance.stacks import resolve

    [one_device] = resolve_devices([device])
    stacks = [resolve(name) for name in stack or ["inductor"]]
    records = [check_file(file, one, one_device) for one in stacks]
    if as_json:
        print(json.dumps(records[0] if len(records) == 1 else records, indent=2))
    for record in [] if as_json else records:
        prefix = f"{record['stack']}: " if len(records) > 1 else ""
        lines = [_discrepancy_line(found) for found in record["discrepancies"]]
        for line in lines or ["conforms"]:
            print(prefix + line)
    raise typer.Exit(0 if all(record["conforms"] for record in records) else 1)


@app.command()
def script(
    case: Annotated[str, typer.Argument(metavar="CASE-ID")],
    stack: Annotated[str, typer.Option(help="Stack; default: inductor.")] = "inductor",
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    output: Annotated[str, typer.Option("-o", metavar="FILE", help="Where to write; default: standard output.")] = "",
) -> None:
    """Write a stand-alone script of a case: torch and the stack only, exit status 1 where they differ."""
    from conformance.script import script as script_of

    run = run_of(case, stack, device)
    text = script_of(run, title=case, first_divergence=run.first_divergence())
    if output:
        Path(output).write_text(text, encoding="utf-8")
    else:
        print(text, end="")


@app.command()
def stacks(as_json: Annotated[bool, typer.Option("--json")] = False) -> None:
    """List the stacks that exist here and what each declares."""
    from conformance.stacks import all_stacks

    rows: list[dict[str, Any]] = [
        {
            "name": one.name,
            "backend": one.backend if isinstance(one.backend, str) or one.backend is None else one.spec,
            "capabilities": sorted(one.capabilities),
            "config": dict(one.config),
        }
        for one in all_stacks()
    ]
    if as_json:
        print(json.dumps(rows, indent=2))
        return
    for row in rows:
        print(f"{row['name']:32} {', '.join(row['capabilities'])}")


@app.command()
def clauses(
    as_json: Annotated[bool, typer.Option("--json")] = False,
    as_markdown: Annotated[bool, typer.Option("--markdown")] = False,
) -> None:
    """List the clauses of the contract and the cases that prove each."""
    from conformance.catalog import clause_records, clauses_markdown

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


@app.command()
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


@app.command()
def explore(
    stack: Annotated[list[str] | None, typer.Option(help="Stack; default: aot_eager.")] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    minutes: Annotated[float | None, typer.Option(help="How long to search.")] = None,
    examples: Annotated[int | None, typer.Option(min=1, help="How many programs to try; default: 1000.")] = None,
    seed: Annotated[int, typer.Option(help="Another seed draws other programs.")] = 0,
    results: Annotated[str, typer.Option(help="Folder for the results.")] = "results",
    database: Annotated[str, typer.Option(help="Folder, or redis://host/n, where failing examples are kept.")] = "",
    workers: Annotated[str, typer.Option("-n", help="Worker processes: a number, or auto.")] = "auto",
    known_failures: Annotated[list[str] | None, typer.Option(help="A ledger of your own, beside the shipped.")] = None,
) -> None:
    """Search generated programs for what differs from eager; exit status 1 when something does that no ledger knows."""
    check_run(workers=workers, ledgers=known_failures or [])
    from conformance.devices import resolve as resolve_devices
    from conformance.generate.campaign import explore as search

    [one_device] = resolve_devices([device])
    found = 0
    for name in stack or ["aot_eager"]:
        found += search(
            name,
            one_device,
            Path(results) / name.replace(":", ".") if len(stack or []) > 1 else Path(results),
            examples=examples or (None if minutes else 1000),
            minutes=minutes,
            seed=seed,
            database=database,
            workers=0 if not workers.isdecimal() else int(workers),
            ledgers=[Path(file) for file in known_failures or []],
        )
    raise typer.Exit(1 if found else 0)


@app.command()
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
    from conformance.mutants.trials import chosen, try_all, without_mutant
    from conformance.report.mutants import kill_matrix

    verdicts = try_all(chosen(mutant or [], areas), workers)
    if as_json:
        print(json.dumps(verdicts.to_json(), indent=2))
    else:
        rows = [(one.name, one.breaks, verdicts.killed_by.get(one.name, [])) for one in verdicts.mutants]
        print(kill_matrix(rows, verdicts.unclean, verdicts.idle, [] if mutant else without_mutant(areas)))
    raise typer.Exit(1 if verdicts.survivors or verdicts.unclean else 0)


@app.command()
def compare(
    old: Annotated[str, typer.Argument(metavar="OLD.json")],
    new: Annotated[str, typer.Argument(metavar="NEW.json")],
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """What regressed, got fixed, is new or gone between two result files, and the graphs that changed."""
    from conformance.report.terminal import comparison
    from conformance.result_sets import diff
    from conformance.results import Results

    difference = diff(Results.read(Path(old)), Results.read(Path(new)))
    print(json.dumps(difference.to_json(), indent=2) if as_json else comparison(difference))
    raise typer.Exit(1 if difference.regressed else 0)


@app.command()
def report(
    files: Annotated[list[str], typer.Argument(metavar="RESULTS.json...")],
    html: Annotated[str, typer.Option(help="Write a single-file HTML report.")] = "",
    markdown: Annotated[str, typer.Option(help="Write a Markdown summary.")] = "",
) -> None:
    """Show result files, several side by side as columns."""
    from conformance.report import html_report, markdown_summary, terminal_table
    from conformance.results import Results

    columns = [Results.read(Path(file)) for file in files]
    if html:
        Path(html).write_text(html_report(columns), encoding="utf-8")
    if markdown:
        Path(markdown).write_text(markdown_summary(columns), encoding="utf-8")
    if not html and not markdown:
        terminal_table(columns)


@app.command()
def merge(
    files: Annotated[list[str], typer.Argument(metavar="RESULTS.json...")],
    output: Annotated[str, typer.Option("-o", metavar="FILE", help="The merged file.")],
) -> None:
    """Merge the result files of shards, stacks or devices into one."""
    from conformance.result_sets import merge as merge_runs
    from conformance.results import Results

    merge_runs([Results.read(Path(file)) for file in files]).write(Path(output))


def _discrepancy_line(found: dict[str, str]) -> str:
    from conformance.results import Discrepancy

    return str(Discrepancy(**found))


def main() -> None:
    """Run a command and exit with its status."""
    sys.exit(run_command(app))
