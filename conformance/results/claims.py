"""What a run lets each stack claim: per profile, which clauses it keeps, breaks or leaves out."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.contract.catalog import function_of
from conformance.contract.profiles import PROFILES, profiles_of
from conformance.results.result_file import CaseResult

#: Outcomes of a case that keep its clause: what an earlier rung of torch's ladder breaks is not the stack's doing.
KEEPS = frozenset({"pass", "inherited"})
#: Outcomes that say nothing: the case did not run, or not to an end.
DID_NOT_RUN = frozenset({"not_applicable", "unavailable", "missing", "error"})


class ClaimError(ValueError):
    """A profile that no clause belongs to: nothing could be claimed by it."""


@dataclass
class Clauses:
    """How many clauses of one level a stack keeps, breaks, and has not been seen to do either with."""

    kept: int = 0
    broken: int = 0
    not_run: int = 0

    def to_json(self) -> dict[str, int]:
        return {"kept": self.kept, "broken": self.broken, "not_run": self.not_run}


@dataclass
class ProfileClaim:
    """One profile: ``conforms`` when every MUST clause ran and is kept, else ``fails`` or ``partial``."""

    must: Clauses = field(default_factory=Clauses)
    should: Clauses = field(default_factory=Clauses)

    @property
    def status(self) -> str:
        if self.must.broken:
            return "fails"
        return "partial" if self.must.not_run or not self.must.kept else "conforms"

    def to_json(self) -> dict[str, Any]:
        return {"status": self.status, "must": self.must.to_json(), "should": self.should.to_json()}


def profile_claims(records: Sequence[Mapping[str, Any]], results: Iterable[CaseResult]) -> dict[str, ProfileClaim]:
    """The claim of one stack by profile.

    ``records`` are the clauses as the catalog lists them, with the ids of their cases and what those need; ``results``
    the stack's, on any number of devices. A clause is kept when every case of it was kept on every device there is; a
    clause with a case that has no result, or that did not run, is in the denominator as not run.
    """
    outcomes: dict[str, set[str]] = {}
    for one in results:
        outcomes.setdefault(function_of(one.case), set()).add(one.outcome)
    claims = {name: ProfileClaim() for name in PROFILES}
    members = dict.fromkeys(PROFILES, 0)
    for record in records:
        seen = [outcomes.get(case, {"missing"}) - {"unavailable"} or {"unavailable"} for case in record["cases"]]
        for name in profiles_of(record["needs"]):
            members[name] += 1
            level = claims[name].must if record["level"] == "MUST" else claims[name].should
            if any(one - KEEPS - DID_NOT_RUN for one in seen):
                level.broken += 1
            elif not seen or any(one & DID_NOT_RUN for one in seen):
                level.not_run += 1
            else:
                level.kept += 1
    if empty := [name for name, number in members.items() if not number]:
        raise ClaimError(f"no clause belongs to the profile {empty[0]!r}: a claim by it would say nothing")
    return claims


def merged_claims(
    claims: Iterable[Mapping[str, Any]], records: Sequence[Mapping[str, Any]], results: Sequence[CaseResult]
) -> list[dict[str, Any]]:
    """The claims of a run of several parts, which have ``claims``: one a stack, its profiles by all of the results.

    Its command is what the parts have in common, or their commands one after the other; which part it was is left out.
    """
    found: dict[str, dict[str, Any]] = {}
    for one in claims:
        claim, command = found.setdefault(one["stack"], {**one, "command": ""}), _whole(one["command"])
        if command not in claim["command"].split("; "):
            claim["command"] = "; ".join(filter(None, (claim["command"], command)))
    for stack, claim in found.items():
        profiles = profile_claims(records, [one for one in results if one.stack == stack])
        claim["profiles"] = {name: profile.to_json() for name, profile in profiles.items()}
    return list(found.values())


def _whole(command: str) -> str:
    """A command without the option that makes it one part of several."""
    words = shlex.split(command)
    at = words.index("--shard") if "--shard" in words else len(words)
    return shlex.join(words[:at] + words[at + 2 :])
