"""Commands on single programs: check, script, explore."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from conformance.contract.run_environment import THREADS
from conformance.suite.options import UsageError, check_ledgers, check_workers


def check(
    file: Annotated[str, typer.Argument(metavar="FILE")],
    stack: Annotated[list[str] | None, typer.Option(help="Stack; default: inductor.")] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    threads: Annotated[int, typer.Option(min=1, help="Threads of an operator on the CPU.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print the record as JSON.")] = False,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds that a stack may take; default: 300.")] = 300,
) -> None:
    """Compare anyone's program with eager: `conforms`, or one line a discrepancy and exit status 1."""
    from conformance.contract.failure import Discrepancy
    from conformance.program.devices import resolve as resolve_devices
    from conformance.run.check import check_in_child
    from conformance.stacks import resolve
    from conformance.stacks.cache_folder import cache_folder

    [one_device] = resolve_devices([device])
    for name in stack or []:
        resolve(name)
    os.environ[THREADS] = str(threads)
    with cache_folder():
        records = [check_in_child(file, name, one_device, timeout) for name in stack or ["inductor"]]
    if as_json:
        print(json.dumps(records[0] if len(records) == 1 else records, indent=2))
    for record in [] if as_json else records:
        prefix = f"{record['stack']}: " if len(records) > 1 else ""
        lines = [str(Discrepancy(**found)) for found in record["discrepancies"]]
        for line in lines or ["conforms"]:
            print(prefix + line)
        if record["eager_raises"]:
            print(f"{prefix}note: eager raises as well: {record['eager_raises']}")
    raise typer.Exit(0 if all(record["conforms"] for record in records) else 1)


def script(
    case: Annotated[str, typer.Argument(metavar="CASE-ID")],
    stack: Annotated[str, typer.Option(help="Stack; default: inductor.")] = "inductor",
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    output: Annotated[str, typer.Option("-o", metavar="FILE", help="Where to write; default: standard output.")] = "",
    timeout: Annotated[float, typer.Option(min=1, help="Seconds that the stack may take; default: 300.")] = 300,
) -> None:
    """Write a stand-alone script of a case and run it: it exits 1 where the stack differs from eager."""
    from conformance.stacks.cache_folder import cache_folder
    from conformance.suite.case_scripts.scripts import script_of_case

    with tempfile.TemporaryDirectory() as folder, cache_folder():
        outcome = script_of_case(case, stack, device, Path(output).parent if output else Path(folder), timeout)
        if outcome.path is None:
            raise UsageError(f"no script of {case}: {outcome.reason}")
        text = outcome.path.read_text(encoding="utf-8")
        if output:
            outcome.path.replace(output)
        else:
            print(text, end="")
    said = "shows the difference" if outcome.shows else f"does not show the difference: {outcome.reason}"
    print(f"the script {said}", file=sys.stderr)


def explore(
    stack: Annotated[list[str] | None, typer.Option(help="Stack; default: aot_eager.")] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    minutes: Annotated[float | None, typer.Option(help="How long to search.")] = None,
    examples: Annotated[int | None, typer.Option(min=1, help="How many programs to try; default: 1000.")] = None,
    seed: Annotated[int, typer.Option(help="Another seed draws other programs.")] = 0,
    results: Annotated[str, typer.Option(help="Folder for the results.")] = "results/explore",
    database: Annotated[str, typer.Option(help="Folder, or redis://host/n, where failing examples are kept.")] = "",
    workers: Annotated[str, typer.Option("-n", help="Worker processes: a number, or auto.")] = "auto",
    known_failures: Annotated[list[str] | None, typer.Option(help="A ledger of your own, beside the shipped.")] = None,
    write_known_failures: Annotated[str, typer.Option(help="Add what is found to this ledger.")] = "",
) -> None:
    """Search generated programs for what differs from eager; exit status 1 when something does that no ledger knows."""
    check_workers(workers)
    check_ledgers(known_failures or [])
    from conformance.generate.explore import explore as search
    from conformance.program.devices import resolve as resolve_devices
    from conformance.stacks.cache_folder import cache_folder

    [one_device] = resolve_devices([device])
    if write_known_failures and len(stack or []) > 1:
        raise UsageError("--write-known-failures edits the ledger of one stack: name one --stack")
    found = 0
    with cache_folder():
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
                ledgers=known_failures or [],
                draft=Path(write_known_failures) if write_known_failures else None,
            )
    raise typer.Exit(1 if found else 0)
