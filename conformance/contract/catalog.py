"""Where the cases are, and which case proves which clause, read from their syntax trees without torch."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path, PurePath
from typing import Any

from conformance.contract.registry import AREAS, clauses

MANIFEST = "manifest.txt"
#: The ids of the cases that no scope below `full` runs.
FULL_ONLY = "full.txt"


class CatalogError(ValueError):
    """There are no cases where they were looked for."""


def cases_root() -> Path:
    """The checkout's ``cases`` folder below the current one, else the cases installed with the package."""
    checkout = Path("cases").resolve()
    if is_root(checkout):
        return checkout
    package = Path(__file__).resolve().parents[1]
    for installed in (package / "cases", package.parent / "cases"):
        if installed.is_dir():
            return installed
    raise CatalogError("no cases: run in a checkout, or install the wheel, which carries them")


def without_root(case: str) -> str:
    """A case's id, as it is or with the path to the cases before it."""
    path, mark, name = case.partition("::")
    parts = PurePath(path).parts
    start = max((number for number, part in enumerate(parts[:-1]) if part in AREAS), default=0)
    return f"{'/'.join(parts[start:])}{mark}{name}"


def function_of(case: str) -> str:
    """A case's id without its parameters: that of its function."""
    return case.partition("[")[0]


def is_root(folder: Path) -> bool:
    """Whether a folder holds cases, one folder for each area."""
    return any((folder / area).is_dir() for area in AREAS)


def case_files(root: Path) -> list[Path]:
    """The files of all areas that hold cases."""
    return sorted(root.glob("*/test_*.py"))


def cases_by_clause(root: Path) -> dict[str, list[str]]:
    """Clause id to the ids of its cases, parameters left out."""
    found: dict[str, list[str]] = {}
    for clause_id, case, _ in _declared_cases(root):
        found.setdefault(clause_id, []).append(case)
    return found


def full_only(root: Path) -> frozenset[str]:
    """The ids of cases that the scope quick leaves out: by the kill matrix they add nothing to what others catch."""
    file = root / FULL_ONLY
    return frozenset(file.read_text(encoding="utf-8").splitlines() if file.is_file() else ())


def cases_by_scope(root: Path) -> frozenset[str]:
    """The ids, parameters left out, of cases that have more rows in longer scopes than the manifest lists."""
    return frozenset(case for case, marks in _marked_cases(root, "by_scope") if "by_scope" in marks)


def clause_records(root: Path) -> list[dict[str, Any]]:
    """Every clause with its cases, as `clauses --json` prints it."""
    proved = cases_by_clause(root)
    return [{**asdict(one), "rows": list(one.rows), "cases": proved.get(one.id, [])} for one in clauses().values()]


def records_with_needs(root: Path) -> list[dict[str, Any]]:
    """The records of `clause_records`, each with the capabilities that any of its cases needs."""
    needs: dict[str, set[str]] = {}
    for clause_id, _, needed in _declared_cases(root):
        needs.setdefault(clause_id, set()).update(needed)
    return [{**record, "needs": sorted(needs.get(record["id"], ()))} for record in clause_records(root)]


def clauses_markdown(records: Sequence[Mapping[str, Any]]) -> str:
    """The contract as a document, a section for each area."""
    parts = ["# The contract", "Written by `conformance clauses --markdown`."]
    for area in AREAS:
        of_area = [one for one in records if one["area"] == area]
        if not of_area:
            continue
        lines = ["| clause | level | promise | rows | cases |", "| --- | --- | --- | --- | ---: |"]
        for one in of_area:
            promise = f"{one['sentence']} [source]({one['source']})"
            lines.append(
                f"| `{one['id']}` | {one['level']} | {promise} | {', '.join(one['rows'])} | {len(one['cases'])} |"
            )
        parts += [f"## `{area}`", "\n".join(lines)]
    return "\n\n".join(parts)


def _declared_cases(root: Path) -> Iterator[tuple[str, str, set[str]]]:
    """Clause id, case id and needed capabilities of every case."""
    for case, marks in _marked_cases(root):
        for clause_id in marks.get("clause", ())[:1]:
            yield clause_id, case, set(marks.get("needs", ()))


def _marked_cases(root: Path, word: str = "") -> Iterator[tuple[str, dict[str, list[str]]]]:
    """The id of every function of the case files that have a word, parameters left out, with its marks."""
    for file in case_files(root):
        text = file.read_text(encoding="utf-8")
        for node in ast.parse(text, str(file)).body if word in text else ():
            if isinstance(node, ast.FunctionDef):
                yield f"{file.relative_to(root).as_posix()}::{node.name}", dict(_marks(node))


def _marks(function: ast.FunctionDef) -> Iterator[tuple[str, list[str]]]:
    """The decorators that are called, by name, with the literal texts that they are given."""
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call):
            called = decorator.func
            name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
            yield (
                name,
                [one.value for one in decorator.args if isinstance(one, ast.Constant) and isinstance(one.value, str)],
            )
