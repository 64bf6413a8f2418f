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
#: In the order in which they may import: each from those before it and from itself.
PACKAGES = (
    "program",
    "contract",
    "canonical",
    "capture",
    "oracle",
    "forks",
    "stacks",
    "probes",
    "minify",
    "run",
    "operator_samples",
    "standalone",
    "capability_search",
    "results",
    "report",
    "suite",
    "generate",
    "mutants",
    "case_lint",
    "commands",
)
ON_TOP = ("plugin", "cli", "__main__")
PRIVATE_TORCH = ("torch._dynamo", "torch._inductor", "torch._functorch")
MAY_USE_PRIVATE_TORCH = {"canonical", "capture", "stacks", "probes", "minify", "mutants", "standalone"}
WITHOUT_TORCH = ("contract", "results", "report")
NOT_OUR_WORDS = re.compile(r"(?<![a-z])(utils?|helpers?|common|misc|flow)(?![a-z])")


def module_name(path: Path) -> str:
    """The dotted name under which a file of the library is imported."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(LIBRARY.rglob("*.py"))}


def imports(module: str) -> Iterator[str]:
    """The modules that a module imports, inside functions and for type checkers too."""
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                yield submodule if submodule in MODULES else str(node.module)


def imports_at_once(module: str) -> Iterator[str]:
    """The modules that a module imports when it is imported itself."""
    for node in ast.parse(MODULES[module].read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module)


def package_of(module: str) -> str:
    """The package, or the module on top, that a module of the library lies in; empty for the library itself."""
    return [*module.split("."), ""][1]


def within(module: str, package: str) -> bool:
    """Whether a module is that package or lies in it."""
    return module == package or module.startswith(f"{package}.")


def test_every_module_lies_in_a_package() -> None:
    """The list of packages is the whole library, and no package has ten modules or more."""
    modules: dict[str, list[str]] = {}
    for module in MODULES:
        modules.setdefault(package_of(module), []).append(module)

    assert set(modules) - {""} <= {*PACKAGES, *ON_TOP}
    folders = {path.parent for path in MODULES.values()}
    sizes = {folder: sum(path.name != "__init__.py" for path in folder.glob("*.py")) for folder in folders}
    assert {str(folder.relative_to(ROOT)): size for folder, size in sizes.items() if size > 9} == {}


def test_the_documentation_lists_the_packages() -> None:
    """The table of docs/architecture.md has each package, in the order of imports."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = text.partition("\n## Packages\n")[2].partition("\nOn top are ")[0]
    assert tuple(re.findall(r"^\| `(\w+)/` \|", table, re.M)) == PACKAGES


@pytest.mark.parametrize("module", MODULES)
def test_a_package_imports_from_those_before_it(module: str) -> None:
    """Imports point one way along the list, those for type checkers and inside functions included."""
    package = package_of(module)
    if package in ("", *ON_TOP):
        return
    allowed = {*PACKAGES[: PACKAGES.index(package) + 1]}
    own = {package_of(name) for name in imports(module) if within(name, "conformance")}
    # `import conformance` itself: what a case may import.
    assert own - {""} <= allowed


@pytest.mark.parametrize("module", MODULES)
def test_private_torch_has_few_places(module: str) -> None:
    """A torch upgrade breaks in the packages that are meant for it."""
    if package_of(module) not in MAY_USE_PRIVATE_TORCH:
        assert not {name for name in imports(module) if any(within(name, private) for private in PRIVATE_TORCH)}


@pytest.mark.parametrize("name", WITHOUT_TORCH)
def test_records_need_neither_torch_nor_pytest(name: str) -> None:
    """Results, ledgers and the contract can be read where torch is not, and so can all that they import."""
    seen: set[str] = set()
    pending = {module for module in MODULES if within(module, f"conformance.{name}")}
    while pending:
        module = pending.pop()
        seen.add(module)
        imported = set(imports(module))
        assert not {name for name in imported if within(name, "torch")}, module
        assert not {name for name in imports_at_once(module) if within(name, "pytest")}, module
        pending |= {name for name in imported if name in MODULES} - seen - {"conformance"}


def test_imports_make_no_cycle() -> None:
    """Every module can be read after those that it imports, whatever they are imported for."""
    graph = {module: {name for name in imports(module) if name in MODULES} for module in MODULES}
    # A package's __init__ may gather its own modules, and its modules import nothing from it but names it defines.
    graph = {module: {name for name in names if not within(module, name)} for module, names in graph.items()}
    assert list(TopologicalSorter(graph).static_order())


@pytest.mark.parametrize("module", MODULES)
def test_a_module_states_its_purpose(module: str) -> None:
    """The first line of a module says what it is for, and one purpose fits in about 250 lines."""
    source = MODULES[module].read_text(encoding="utf-8")

    assert ast.get_docstring(ast.parse(source)), "no docstring"
    assert len(source.splitlines()) <= 250, "a module of this length has two purposes"
    assert not NOT_OUR_WORDS.search(module), "not one of the project's words"
