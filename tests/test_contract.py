"""The clause registry: its files are sound, and its mistakes are named."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from conformance.contract import capabilities, declarations, registry, scopes

VALID = """
[[clause]]
id = "layout.topic.promise"
level = "MUST"
sentence = "It holds."
source = "https://example.org"
rows = ["L1"]
"""


def test_every_clause_is_complete():
    for entry in registry.clauses().values():
        assert re.fullmatch(r"[a-z_0-9]+(\.[a-z_0-9]+){2,}", entry.id)
        assert entry.area in registry.AREAS
        assert entry.sentence[0].isupper()
        assert "\n" not in entry.sentence
        assert all(re.fullmatch(r"[ADFGLMOP]\d+", row) for row in entry.rows)


def test_sentences_are_distinct():
    sentences = [entry.sentence for entry in registry.clauses().values()]
    assert len(set(sentences)) == len(sentences)


def markers(case):
    """The markers that pytest sees on a case: name and values."""
    return {mark.name: mark.kwargs for mark in case.pytestmark}


def test_clause_marks_a_case_and_leaves_it_callable():
    def case():
        return 1

    marked = declarations.clause("aot_autograd.mutation.writeback")(case)

    assert marked is case
    assert markers(marked) == {"clause": {"id": "aot_autograd.mutation.writeback"}}
    assert marked() == 1


def test_unknown_clause_names_close_ones():
    with pytest.raises(registry.UnknownClause) as caught:
        declarations.clause("aot_autograd.mutation.write_back")
    assert str(caught.value).startswith(
        "unknown clause 'aot_autograd.mutation.write_back'; close: aot_autograd.mutation.writeback"
    )
    assert "\n" not in str(caught.value)


def test_clause_unlike_any_names_what_exists():
    with pytest.raises(registry.UnknownClause, match=r"unknown clause 'zzz'; known: aot_autograd\..* and \d+ more"):
        declarations.clause("zzz")


def test_needs_marks_a_case():
    @declarations.needs("training", "freezing")
    def case():
        pass

    assert markers(case) == {"needs": {"training": True, "freezing": True}}


def test_unknown_capability_is_an_error():
    with pytest.raises(capabilities.UnknownCapability, match="unknown capability 'trainings'; close: training"):
        declarations.needs("trainings")


def test_unknown_scope_is_an_error():
    with pytest.raises(scopes.UnknownScope, match="unknown scope 'weekly'; known: core, quick, full, nightly"):
        declarations.in_scopes("weekly")


def test_core_is_sixty_three_rows():
    """The rows marked core, and no later ones; every one of them is a row of some clause."""
    assert len(scopes.CORE_ROWS) == 63
    assert {row for entry in registry.clauses().values() for row in entry.rows} >= scopes.CORE_ROWS
    assert scopes.in_scope("core", ["A99", "D6"])
    assert not scopes.in_scope("core", ["A25"])
    assert scopes.in_scope("quick", ["A25"])


def test_a_sound_file_is_read():
    (entry,) = registry.parse_clauses(VALID, "layout")
    assert entry == registry.Clause(
        "layout.topic.promise", "MUST", "It holds.", "https://example.org", "layout", ("L1",)
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('level = "MUST"', "", " (layout.topic.promise): missing level"),
        (
            'level = "MUST"',
            'level = "MUST"\nextra = 1',
            " (layout.topic.promise): unknown extra",
        ),
        (
            'level = "MUST"',
            'level = "MAY"',
            ": the level 'MAY' is not one of MUST, SHOULD",
        ),
        (
            "layout.topic.promise",
            "freezing.a.b",
            ": the id 'freezing.a.b' is not of the form layout.<topic>.<promise>",
        ),
        (
            "https://example.org",
            "a book",
            ": the source 'a book' is not a public https address",
        ),
        (
            "It holds.",
            "It holds",
            ": the sentence does not end with a full stop",
        ),
    ],
    ids=["missing", "unknown", "level", "id", "source", "sentence"],
)
def test_a_mistake_in_a_file_is_one_line(old, new, message):
    with pytest.raises(registry.ContractError) as caught:
        registry.parse_clauses(VALID.replace(old, new), "layout")
    assert str(caught.value) == f"conformance/contract/clauses/layout.toml: clause 1{message}"


def test_a_file_that_is_not_toml_is_named():
    with pytest.raises(registry.ContractError, match=r"^conformance/contract/clauses/layout\.toml: not TOML: "):
        registry.parse_clauses("[[clause", "layout")


def test_contract_results_and_ledger_import_neither_torch_nor_pytest():
    program = (
        "import sys, conformance.contract.catalog, conformance.results.result_sets, conformance.results.ledger\n"
        "print(sorted({'torch', 'pytest', '_pytest'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
