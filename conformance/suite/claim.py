"""What the stacks of a run may claim, from their results, their capabilities and the contract."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from conformance.contract.catalog import records_with_needs
from conformance.results.claims import profile_claims
from conformance.results.result_file import Results
from conformance.stacks import Stack, given
from conformance.stacks.external import package_of


def claims(root: Path, stacks: Mapping[str, Stack], results: Results) -> list[dict[str, Any]]:
    """One record a stack, as it stands in results.json; ``stacks`` are by name, ``root`` holds the cases."""
    records = records_with_needs(root)
    found = []
    for name, stack in stacks.items():
        package, version = package_of(stack)
        profiles = profile_claims(records, [one for one in results.results if one.stack == name])
        found.append(
            {
                "stack": name,
                "package": package,
                "version": version,
                "capabilities": sorted(stack.capabilities),
                "denied": dict(stack.denied),
                "unclear": dict(stack.unclear),
                "profiles": {profile: claim.to_json() for profile, claim in profiles.items()},
                "command": _command(name, results.options),
            }
        )
    return found


def _command(stack: str, options: Mapping[str, Any]) -> str:
    """How the run is repeated for one stack: what narrows it is part of the claim."""
    command = ["conformance", "run", "--stack", given(stack)]
    for name, flag in (("device", "--device"), ("area", "--area"), ("case", "--case")):
        command += [part for value in options.get(name, ()) for part in (flag, value)]
    for name, flag, default in (("scope", "--scope", "quick"), ("keyword", "-k", ""), ("shard", "--shard", "")):
        value = options.get(name, default)
        command += [flag, value] if value != default else []
    return shlex.join(command)
