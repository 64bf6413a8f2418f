"""Commands on single programs: check, script, explore."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from conformance.suite.pytest_run import check_run, run_of


def check(
    file: Annotated[str, typer.Argument(metavar="FILE")],
    stack: Annotated[list[str] | None, typer.Option(help="Stack; default: inductor.")] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    as_json: Annotated[bool, typer.Option("--json", help="Print the record as JSON.")] = False,
) -> None:
    """Compare anyone's program with eager: `conforms`, or one line a discrepancy and exit status 1."""
    from conformance.contract.failure import Discrepancy
    from conformance.program.devices import resolve as resolve_devices
    from conformance.run.check import check_file
    from conformance.stacks import resolve

    [one_device] = resolve_devices([device])
    stacks = [resolve(name) for name in stack or ["inductor"]]
    records = [check_file(file, one, one_device) for one in stacks]
    if as_json:
        print(json.dumps(records[0] if len(records) == 1 else records, indent=2))
    for record in [] if as_json else records:
        prefix = f"{record['stack']}: " if len(records) > 1 else ""
        lines = [str(Discrepancy(**found)) for found in record["discrepancies"]]
        for line in lines or ["conforms"]:
            print(prefix + line)
    raise typer.Exit(0 if all(record["conforms"] for record in records) else 1)


def script(
    case: Annotated[str, typer.Argument(metavar="CASE-ID")],
    stack: Annotated[str, typer.Option(help="Stack; default: inductor.")] = "inductor",
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    output: Annotated[str, typer.Option("-o", metavar="FILE", help="Where to write; default: standard output.")] = "",
) -> None:
    """Write a stand-alone script of a case: torch and the stack only, exit status 1 where they differ."""
    from conformance.run.script import script as script_of

    run = run_of(case, stack, device)
    text = script_of(run, title=case, first_divergence=run.first_divergence())
    if output:
        Path(output).write_text(text, encoding="utf-8")
    else:
        print(text, end="")


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
    from conformance.generate.campaign import explore as search
    from conformance.program.devices import resolve as resolve_devices

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
