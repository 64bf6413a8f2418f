"""Where the cases are and which clause each proves, without running or importing them."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.contract import catalog
from conformance.contract.registry import clauses

ROOT = Path(__file__).resolve().parents[1]

CASE_FILE = '''
"""Cases."""
import conformance
from conformance import clause
raise RuntimeError("a case file is read, not run")

@clause("layout.outputs.eager_strides")
def test_one(stack, device):
    """One."""

@conformance.clause("layout.outputs.eager_strides")
@needs("freezing")
@pytest.mark.parametrize("size", [1, 2])
def test_two(stack, device, size):
    """Two."""

@clause("freezing.conv_bn.folded")
@by_scope("row", rows)
def test_three(stack, device):
    """Three."""

def test_without_a_clause():
    pass
'''


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout with one case file as the current folder."""
    (tmp_path / "cases" / "layout").mkdir(parents=True)
    (tmp_path / "cases" / "layout" / "test_strides.py").write_text(CASE_FILE, encoding="utf-8")
    (tmp_path / "cases" / "layout" / "programs.py").write_text("not Python", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "cases"


def test_a_checkout_below_the_current_folder_comes_first(checkout):
    assert catalog.cases_root() == checkout


def test_a_folder_called_cases_without_an_area_is_not_a_checkout(tmp_path, monkeypatch):
    (tmp_path / "cases").mkdir()
    monkeypatch.chdir(tmp_path)
    assert catalog.cases_root() != tmp_path / "cases"


def test_cases_are_found_by_clause_without_their_parameters(checkout):
    assert catalog.cases_by_clause(checkout) == {
        "layout.outputs.eager_strides": [
            "layout/test_strides.py::test_one",
            "layout/test_strides.py::test_two",
        ],
        "freezing.conv_bn.folded": ["layout/test_strides.py::test_three"],
    }


def test_every_clause_has_a_record_with_its_cases(checkout):
    records = {one["id"]: one for one in catalog.clause_records(checkout)}
    assert records["freezing.conv_bn.folded"] == {
        "id": "freezing.conv_bn.folded",
        "level": "MUST",
        "sentence": clauses()["freezing.conv_bn.folded"].sentence,
        "source": "https://github.com/pytorch/pytorch/pull/100653",
        "area": "freezing",
        "rows": ["F9"],
        "cases": ["layout/test_strides.py::test_three"],
    }
    assert records["minifier.after_dynamo.reproduces"]["cases"] == []


def test_the_document_has_a_table_for_each_area(checkout):
    text = catalog.clauses_markdown(catalog.clause_records(checkout))
    assert "\n## `layout`\n\n| clause | level | promise | rows | cases |\n" in text
    assert "| `layout.outputs.eager_strides` | MUST | Outputs have eager's strides" in text
    assert "| L4 | 2 |" in text


def test_the_contract_in_the_documents_is_current():
    """docs/contract.md is what `conformance clauses --markdown` prints."""
    written = (ROOT / "docs" / "contract.md").read_text(encoding="utf-8")

    assert written == catalog.clauses_markdown(catalog.clause_records(ROOT / "cases")) + "\n", (
        "docs/contract.md is stale: conformance clauses --markdown > docs/contract.md"
    )


def test_cases_whose_rows_the_scope_decides(checkout):
    """They are told by their decorator."""
    assert catalog.cases_by_scope(checkout) == {"layout/test_strides.py::test_three"}
