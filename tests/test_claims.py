"""What a stack may claim: clauses kept, broken and left out, by profile."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import pytest

from conformance.contract.catalog import cases_root, records_with_needs
from conformance.contract.profiles import PROFILES, profiles_of
from conformance.results.claims import ClaimError, merged_claims, profile_claims
from conformance.results.result_file import CaseResult
from conformance.run import environment

RECORDS: list[dict[str, Any]] = [
    {"id": f"layout.{name}.kept", "level": "MUST", "needs": [need], "cases": [f"layout/test_{name}.py::test_it"]}
    for name, need in (
        ("inference", "compile"),
        ("training", "training"),
        ("mutation", "input_mutation"),
        ("dynamic_shapes", "dynamic_shapes"),
        ("freezing", "freezing"),
        ("debugging", "minifier"),
    )
]


def outcome(name: str, outcome: str, parameter: str = "", device: str = "cpu") -> CaseResult:
    return CaseResult(f"layout/test_{name}.py::test_it{parameter}", [], "layout", "mine", device, outcome)


def status(name: str, *results: CaseResult) -> tuple[str, dict[str, int]]:
    claim = profile_claims(RECORDS, results)[name]
    return claim.status, claim.must.to_json()


def test_a_clause_is_kept_when_all_of_its_cases_are() -> None:
    """One parameter that fails breaks the clause."""
    kept = outcome("training", "pass", "[a]")
    assert status("training", kept, outcome("training", "inherited", "[b]"))[0] == "conforms"
    assert status("training", kept, outcome("training", "fail", "[b]")) == (
        "fails",
        {"kept": 0, "broken": 1, "not_run": 0},
    )


@pytest.mark.parametrize("did_not_run", ["not_applicable", "missing", "error"])
def test_what_did_not_run_stays_in_the_denominator(did_not_run: str) -> None:
    """A clause without a verdict is no clause that is kept."""
    assert status("mutation", outcome("mutation", did_not_run)) == ("partial", {"kept": 0, "broken": 0, "not_run": 1})
    assert status("mutation")[0] == "partial"


def test_a_known_failure_is_a_broken_promise() -> None:
    """A ledger makes a run green, and no promise kept."""
    assert status("freezing", outcome("freezing", "known_failure"))[0] == "fails"


def test_an_absent_device_says_nothing() -> None:
    """A machine without a GPU may claim what it keeps on the CPU."""
    there, absent = outcome("inference", "pass"), outcome("inference", "unavailable", device="cuda")
    assert status("inference", there, absent)[0] == "conforms"


def test_a_profile_without_clauses_is_an_error() -> None:
    """Nothing can be claimed by a profile that no clause belongs to."""
    with pytest.raises(ClaimError, match="no clause belongs to the profile 'debugging'"):
        profile_claims(RECORDS[:-1], [])


def test_every_clause_belongs_to_a_profile() -> None:
    """The contract's clauses fill all profiles."""
    records = records_with_needs(cases_root())
    assert {name for record in records for name in profiles_of(record["needs"])} == set(PROFILES)


def test_parts_of_a_run_have_one_claim() -> None:
    """Its profiles are by the results of all parts, its command is that of the whole run."""
    command = "conformance run --stack mine --device cpu"
    parts = [
        {"stack": "mine", "package": "mine", "command": f"{command} --shard {number}/2", "profiles": {}}
        for number in (1, 2)
    ]
    results = [outcome("training", "pass", "[a]"), outcome("training", "fail", "[b]")]

    (claim,) = merged_claims(parts, RECORDS, results)
    assert (claim["package"], claim["command"]) == ("mine", command)
    assert claim["profiles"]["training"] == profile_claims(RECORDS, results)["training"].to_json()
    assert claim["profiles"]["training"]["status"] == "fails"


def test_parts_on_several_devices_are_repeated_one_after_the_other() -> None:
    """Each part has its own command where they differ in more than the part."""
    commands = [f"conformance run --device {device}" for device in ("cpu", "cuda")]
    parts = [{"stack": "mine", "command": one} for one in (*commands, commands[0])]

    assert [one["command"] for one in merged_claims(parts, RECORDS, [])] == ["; ".join(commands)]


def test_the_suite_knows_its_version_without_being_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkout that is only on the path says in its results what an installed one says."""
    installed = environment.suite()

    def none(package: str) -> str:
        raise metadata.PackageNotFoundError(package)

    monkeypatch.setattr(metadata, "version", none)
    assert environment.suite() == installed
