"""The shape of the library: which way imports point, what each module is for and how long it is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LIBRARY = ROOT / "conformance"
PRIVATE_TORCH = ("torch._dynamo", "torch._inductor", "torch._functorch")
MAY_USE_PRIVATE_TORCH = re.compile(r"conformance\.(stacks(\..*)?|capture|graphs|minify.*|mutants(\..*)?)$")
WITHOUT_TORCH = ("catalog", "contract", "ledger", "report", "result_sets", "results")
ON_TOP = {"conformance.plugin", "conformance.cli"}
NOT_OUR_WORDS = re.compile(r"(?<![a-z])(utils?|helpers?|common|misc|flow)(?![a-z])")


def module_name(path: Path) -> str:
    """The dotted name under which a file of the library is imported."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(LIBRARY.rglob("*.py"))}


def imports(module: str, *, at_import_only: bool = False) -> Iterator[str]:
    """The modules that a module imports; those for type checkers only are left out.

    ``at_import_only`` leaves out what is imported inside functions, which cannot make a cycle.
    """
    pending: list[ast.AST] = [ast.parse(MODULES[module].read_text(encoding="utf-8"))]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            pending.extend(node.orelse)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                yield submodule if submodule in MODULES else str(node.module)
        elif not (at_import_only and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))):
            pending.extend(ast.iter_child_nodes(node))


def within(module: str, package: str) -> bool:
    """Whether a module is that package or lies in it."""
    return module == package or module.startswith(f"{package}.")


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_one_way(module: str) -> None:
    """The architecture's directions hold for every module of the library."""
    imported = set(imports(module))
    own = {name for name in imported if within(name, "conformance")}

    if module not in ON_TOP | {"conformance.__main__"}:
        assert not own & ON_TOP
    if within(module, "conformance.report"):
        assert {name for name in own if not within(name, "conformance.report")} <= {
            "conformance.contract",
            "conformance.result_sets",
            "conformance.results",
        }
    if module == "conformance.graphs":
        assert not {name for name in own if within(name, "conformance.capture") or within(name, "conformance.stacks")}
    if module == "conformance.capture":
        assert not {name for name in own if within(name, "conformance.stacks")}
    if not MAY_USE_PRIVATE_TORCH.match(module):
        assert not {name for name in imported if any(within(name, private) for private in PRIVATE_TORCH)}


@pytest.mark.parametrize("name", WITHOUT_TORCH)
def test_records_need_neither_torch_nor_pytest(name: str) -> None:
    """Results, ledgers and the contract can be read where torch is not, and so can all that they import."""
    seen, pending = set(), {f"conformance.{name}"}
    while pending:
        module = pending.pop()
        seen.add(module)
        imported = set(imports(module))
        assert not {name for name in imported if within(name, "torch") or within(name, "pytest")}, module
        pending |= {name for name in imported if name in MODULES} - seen - {"conformance"}


def test_imports_make_no_cycle() -> None:
    """Every module can be read after those that it imports."""
    graph = {module: {name for name in imports(module, at_import_only=True) if name in MODULES} for module in MODULES}
    # A package's __init__ may gather its own modules, and its modules import nothing from it but names it defines.
    graph = {module: {name for name in names if not within(module, name)} for module, names in graph.items()}
    assert list(TopologicalSorter(graph).static_order())


@pytest.mark.parametrize("module", MODULES)
def test_a_module_states_its_purpose(module: str) -> None:
    """The first line of a module says what it is for, and one purpose fits in about 250 lines."""
    source = MODULES[module].read_text(encoding="utf-8")

    assert ast.get_docstring(ast.parse(source)), "no docstring"
    assert len(source.splitlines()) <= 275, "a module of this length has two purposes"
    assert not NOT_OUR_WORDS.search(module), "not one of the project's words"
