"""The rules that every case file keeps; each is a generator of (line, what to do) and goes by its own name."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator

import conformance
from conformance.case_lint.syntax import CaseFile, calls, dotted, imported_modules

HAND_WRITTEN = frozenset({"aot_autograd", "duplicate_arguments", "freezing", "layout", "minifier", "guards", "python"})
PRIVATE_TORCH = ("torch._dynamo", "torch._inductor", "torch._functorch")
LONGEST_FILE = 200
TRIPLE_QUOTED = re.compile(r"[rR]?(\"\"\"|''')")

Rule = Callable[[CaseFile], Iterator[tuple[int, str]]]


def module_docstring(file: CaseFile) -> Iterator[tuple[int, str]]:
    """The file says in its first line which behaviour its cases are about."""
    if not ast.get_docstring(file.tree):
        yield 1, "begin the file with a docstring that names the one behaviour it is about"


def file_length(file: CaseFile) -> Iterator[tuple[int, str]]:
    """A case file can be read in one sitting."""
    lines = len(file.source.splitlines())
    if lines > LONGEST_FILE:
        yield lines, f"{lines} lines, at most {LONGEST_FILE}: split the file by behaviour"


def one_clause(file: CaseFile) -> Iterator[tuple[int, str]]:
    """A case proves exactly one clause, named by a literal so that it can be found by searching."""
    for test in file.tests:
        marks = [mark for mark in test.decorator_list if isinstance(mark, ast.Call) and dotted(mark.func) == "clause"]
        if len(marks) != 1:
            yield test.lineno, f'{test.name} has {len(marks)} clauses: give it exactly one @clause("...")'
        elif len(marks[0].args) != 1 or not isinstance(marks[0].args[0], ast.Constant):
            yield marks[0].lineno, "name the clause by one literal string"


def one_sentence(file: CaseFile) -> Iterator[tuple[int, str]]:
    """The docstring of a case is the behaviour, in one sentence."""
    for test in file.tests:
        text = " ".join((ast.get_docstring(test) or "").split())
        if not text:
            yield test.lineno, f"{test.name} has no docstring: say in one sentence what must hold"
        elif not text.endswith(".") or re.search(r"[.!?]\s+[A-Z]", text):
            yield test.lineno, f"the docstring of {test.name} must be one sentence with a full stop"


def straight_line(file: CaseFile) -> Iterator[tuple[int, str]]:
    """A loop or a branch hides which variant ran: variants are parameters."""
    banned = (ast.For, ast.AsyncFor, ast.While, ast.If, ast.IfExp, ast.Try, ast.Match, ast.Continue)
    for test in file.tests:
        for node in ast.walk(test):
            if isinstance(node, banned):
                yield node.lineno, f"`{type(node).__name__.lower()}` in {test.name}: parametrize the case instead"


def module_level_program(file: CaseFile) -> Iterator[tuple[int, str]]:
    """A stand-alone script can only be written from a program that stands at module level."""
    for test in file.tests:
        for node in ast.walk(test):
            if node is not test and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
                name = getattr(node, "name", "lambda")
                yield node.lineno, f"move `{name}` out of {test.name} to module level"


def proof_of_compilation(file: CaseFile) -> Iterator[tuple[int, str]]:
    """A case that runs a program compares the whole observation and proves that it was compiled."""
    for test in file.tests:
        if calls(test, "run"):
            for method in ("assert_matches_eager", "assert_compiled"):
                if not calls(test, method):
                    yield test.lineno, f"{test.name} runs a program but never calls {method}"


def inline_expectation(file: CaseFile) -> Iterator[tuple[int, str]]:
    """A hand-written case shows inline what the stack made of the program, or counts exactly what it compiled."""
    if file.area in HAND_WRITTEN:
        for test in file.tests:
            counted = {keyword.arg for call in calls(test, "assert_compiled") for keyword in call.keywords}
            if not calls(test, "expect") and not counted >= {"graphs", "recompiles"}:
                yield (
                    test.lineno,
                    f'{test.name} has neither .expect("""...""") nor assert_compiled(graphs=, recompiles=)',
                )


def needed_capability(file: CaseFile) -> Iterator[tuple[int, str]]:
    """A case that counts recompiles or graph breaks is for stacks that have them."""
    for test in file.tests:
        marks = [mark for mark in test.decorator_list if isinstance(mark, ast.Call) and dotted(mark.func) == "needs"]
        declared = {ast.literal_eval(one) for mark in marks for one in mark.args if isinstance(one, ast.Constant)}
        counted = [keyword for call in calls(test, "assert_compiled") for keyword in call.keywords]
        for keyword in counted:
            some = isinstance(keyword.value, ast.Constant) and bool(keyword.value.value)
            if some and keyword.arg in ("recompiles", "graph_breaks") and keyword.arg not in declared:
                yield keyword.value.lineno, f'{test.name} counts {keyword.arg}: declare @needs("{keyword.arg}")'


def _triple_quoted(file: CaseFile, literal: ast.expr | None) -> bool:
    segment = (ast.get_source_segment(file.source, literal) or "") if isinstance(literal, ast.Constant) else ""
    return TRIPLE_QUOTED.match(segment) is not None and len(TRIPLE_QUOTED.findall(segment)) == 2


def bare_expectation(file: CaseFile) -> Iterator[tuple[int, str]]:
    """Accepting rewrites the one triple-quoted literal of a bare statement, and corrupts anything else."""
    bare = {node.value for node in ast.walk(file.tree) if isinstance(node, ast.Expr)}
    parameters = {argument.arg for test in file.tests for argument in test.args.args}
    for call in calls(file.tree, "expect"):
        if call not in bare:
            yield call.lineno, "make .expect(...) a statement of its own"
            continue
        literal = call.args[0] if len(call.args) == 1 else None
        if isinstance(literal, ast.Name) and literal.id in parameters:
            continue  # its row of the table holds the literal
        if not _triple_quoted(file, literal):
            yield call.lineno, "give .expect(...) exactly one triple-quoted literal"
        if any(not isinstance(keyword.value, ast.Constant) for keyword in call.keywords):
            yield call.lineno, "write since= and until= as literals"


def row_expectation(file: CaseFile) -> Iterator[tuple[int, str]]:
    """Accepting rewrites the one triple-quoted literal of the one `expected(...)` that begins in a line."""
    lines: set[int] = set()
    for call in ast.walk(file.tree):
        if isinstance(call, ast.Call) and dotted(call.func) == "expected":
            if call.lineno in lines or len(call.args) != 1 or not _triple_quoted(file, call.args[0]):
                yield call.lineno, "give each expected(...) a line of its own and exactly one triple-quoted literal"
            lines.add(call.lineno)


def public_imports(file: CaseFile) -> Iterator[tuple[int, str]]:
    """A case needs nothing but the library's public names, torch, pytest and the standard library."""
    allowed = {"conformance", "torch", "pytest"} | ({"hypothesis"} if file.area == "generated" else set())
    allowed |= sys.stdlib_module_names - {"unittest"}
    for line, module in imported_modules(file.tree):
        top, _, rest = module.partition(".")
        if top not in allowed:
            yield line, f"do not import {module.rpartition('.')[0] or module}: a case uses conformance, torch, pytest"
        elif top == "conformance" and rest not in conformance.__all__:
            yield line, f"{module} is not a public name: import what conformance/__init__.py lists in __all__"


def private_torch(file: CaseFile) -> Iterator[tuple[int, str]]:
    """What a case needs of private torch belongs in the library, so that an upgrade is fixed in one place."""
    used = {(line, ".".join(module.split(".")[:2])) for line, module in imported_modules(file.tree)}
    used |= {(node.lineno, dotted(node)) for node in ast.walk(file.tree) if isinstance(node, ast.Attribute)}
    for line, name in sorted(used):
        if name in PRIVATE_TORCH:
            yield line, f"{name} is private: let a stack or conformance/capture/ do it"


def reasoned_skip(file: CaseFile) -> Iterator[tuple[int, str]]:
    """A skip says why; a failure that is expected belongs in a ledger."""
    skips = {"pytest.skip", "pytest.mark.skip", "pytest.mark.skipif", "pytest.importorskip"}
    called = {node.func: node for node in ast.walk(file.tree) if isinstance(node, ast.Call)}
    for node in ast.walk(file.tree):
        name = dotted(node)
        if name in {"pytest.xfail", "pytest.mark.xfail"}:
            yield getattr(node, "lineno", 1), "expected failures belong in known_failures/<stack>.toml"
        elif name in skips:
            call = called.get(node) if isinstance(node, ast.expr) else None
            reasons = [keyword.value for keyword in call.keywords if keyword.arg == "reason"] if call else []
            reasons += call.args[:1] if call and name in {"pytest.skip", "pytest.mark.skip"} else []
            if not reasons or (isinstance(reasons[0], ast.Constant) and not reasons[0].value):
                yield getattr(node, "lineno", 1), f"give {name} a reason"


def plain_functions(file: CaseFile) -> Iterator[tuple[int, str]]:
    """Cases are functions that assert; they are not classes and print nothing."""
    for node in ast.walk(file.tree):
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            yield node.lineno, f"{node.name}: write cases as functions, not in a class"
        elif isinstance(node, ast.Call) and dotted(node.func) == "print":
            yield node.lineno, "print nothing: assert it or leave it out"


RULES: tuple[Rule, ...] = (
    module_docstring,
    file_length,
    one_clause,
    one_sentence,
    straight_line,
    module_level_program,
    proof_of_compilation,
    inline_expectation,
    needed_capability,
    bare_expectation,
    row_expectation,
    public_imports,
    private_torch,
    reasoned_skip,
    plain_functions,
)
