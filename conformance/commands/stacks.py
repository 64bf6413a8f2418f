"""Commands on stacks: list them, show a description, find out what one can do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer


def stacks(
    stack: Annotated[str | None, typer.Argument(metavar="[STACK]", help="Show this one alone: a name, a file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the rows as JSON.")] = False,
) -> None:
    """List the stacks, what each declares and how to install it, or show one of them."""
    from conformance.stacks import all_stacks, resolve
    from conformance.stacks.description import read, shipped

    if stack is None:
        shown = all_stacks()
    elif stack.endswith(".toml"):
        shown = [read(stack)]
    else:
        shown = [shipped().get(stack) or resolve(stack)]
    rows: list[dict[str, Any]] = [
        {
            "name": one.name,
            "backend": one.backend if isinstance(one.backend, str) or one.backend is None else one.spec,
            "capabilities": sorted(one.capabilities) if one.described else None,
            "denied": dict(one.denied),
            "config": dict(one.config),
            "options": dict(one.options),
            "install": one.install,
        }
        for one in shown
    ]
    if as_json:
        print(json.dumps(rows[0] if stack else rows, indent=2))
        return
    for row in rows:
        declared = row["capabilities"]
        told = "found out by probing" if declared is None else ", ".join(declared)
        print(f"{row['name']:32} {told}" + (f" [{row['install']}]" if row["install"] else ""))
    if stack:
        print(f"{'backend':32} {rows[0]['backend']}")
        for name, value in (*rows[0]["config"].items(), *rows[0]["options"].items()):
            print(f"{name:32} {value}")
        for name, value in rows[0]["denied"].items():
            print(f"{f'no {name}':32} {value}")


def probe(
    stack: Annotated[str, typer.Option(help="Stack by name, module:callable, or TOML file.")],
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    output: Annotated[str, typer.Option("-o", metavar="STACK.toml", help="Write a description of the stack.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print what was found as JSON.")] = False,
) -> None:
    """Find out what a stack can do, by a short program for each capability, and describe it."""
    from conformance.capability_search.search import search
    from conformance.program.devices import resolve as resolve_devices
    from conformance.stacks import resolve
    from conformance.stacks.description import description_text
    from conformance.stacks.external import package_of

    [one_device] = resolve_devices([device])
    found = resolve(stack)
    package, version = package_of(found)
    answers = search(stack, one_device)
    if as_json:
        record = {"stack": found.name, "package": package, "version": version, "device": one_device}
        print(json.dumps({**record, "capabilities": answers}, indent=2))
    else:
        print(f"{found.name} ({package} {version or 'of no known version'}) on {one_device}")
        for one in answers:
            answer = ("?" if one["seen"] else "yes") if one["holds"] else "no"
            print(f"  {answer:4} {one['capability']:22} {one['seen']}".rstrip())
    if output:
        Path(output).write_text(description_text(found, answers), encoding="utf-8")
