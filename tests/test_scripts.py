"""Stand-alone scripts: every case has one that runs, shows what the oracle sees, and says so where it does not.

The cases of every twelfth file are written, and a few are run. All of them: ``CONFORMANCE_ALL_SCRIPTS=1 pytest
tests/test_scripts.py`` (an hour on two cores).
"""

from __future__ import annotations

import ast
import functools
import os
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from conformance import call, tensors
from conformance.contract.catalog import case_files
from conformance.contract.failure import Discrepancy
from conformance.program.expressions import Expressions
from conformance.program.programs import Program
from conformance.program.sources import ScriptError, bound
from conformance.stacks import resolve
from conformance.standalone import differing, looking, observing, running, stepping
from conformance.standalone.pasting import runtime
from conformance.standalone.script import Subject, script_of
from conformance.standalone.writing import tried, write
from conformance.suite.case_scripts.dry import DryStack, look_at
from conformance.suite.target import Target

ROOT = Path(__file__).parents[1]
ALL = bool(os.environ.get("CONFORMANCE_ALL_SCRIPTS"))
#: A program that is drawn when the case runs has no script but that of what is found.
DRAWN = "test_drawn_programs"
FILES = [file for file in case_files(ROOT / "cases")[:: 1 if ALL else 12] if file.stem != DRAWN]


def subjects(file: Path, stack: str) -> dict[str, Subject | BaseException | None]:
    """What the cases of a file run on a stack, by case; why not, where they run nothing."""
    found: dict[str, Subject | BaseException | None] = {}

    def seen(case: str, dry: DryStack, module: str, error: BaseException | None) -> None:
        found[case] = error if dry.taken is None else Subject(dry.stack, *dry.taken, dry.device, modules=(module,))

    look_at(file, stack, "cpu", None, seen)
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_script_of_every_case_has_its_names(file: Path, tmp_path: Path) -> None:
    """Each case that runs a program has a script, and no name in it is undefined."""
    for case, subject in subjects(file, "aot_eager").items():
        if isinstance(subject, Subject):
            write(subject, case, Target("aot_eager", "cpu"), tmp_path)
        else:
            assert isinstance(subject, ScriptError), f"{case}: {subject!r}"

    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F821,F811", "--quiet", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == ""


def scaled(x: torch.Tensor, by: float = 1.0) -> torch.Tensor:
    return x * by


def with_keyword(device: str, by: float) -> list[Any]:
    return [call(torch.ones(3, device=device), by=by)]


def test_a_script_that_conforms_says_so(tmp_path: Path) -> None:
    """What is no difference outside of the run is told in the script's first line."""
    subject = Subject(resolve("aot_eager"), Program.of(scaled), functools.partial(with_keyword, by=2.0), "cpu")
    outcome = tried(write(subject, "layout/test_a.py::test_b", Target("aot_eager", "cpu"), tmp_path))

    assert (outcome.shows, outcome.reason) == (False, "conforms")
    assert outcome.path is not None
    assert outcome.path.read_text(encoding="utf-8").startswith("# does not show the difference: conforms\n# layout/")


def test_a_script_of_a_stack_that_is_not_there_fails_with_its_reason(tmp_path: Path) -> None:
    """A script that cannot be run exits 2, so that nobody takes it for the difference."""
    text = script_of(Subject(resolve("aot_eager"), Program.of(scaled), tensors((2,), device="cpu"), "cpu"), title="x")
    file = tmp_path / "alone.py"
    file.write_text(text.replace("'aot_eager'", "'no_such_backend'"), encoding="utf-8")

    outcome = tried(file)
    assert not outcome.shows
    assert "no_such_backend" in outcome.reason or "Invalid backend" in outcome.reason


def first_of_threads(x: torch.Tensor) -> torch.Tensor:
    return x * (torch.get_num_threads() if torch.compiler.is_compiling() else 3)


def test_a_script_has_the_threads_of_its_case(tmp_path: Path) -> None:
    """A program that several threads make wrong is shown with as many; the run of the script has one."""
    program, calls = Program.of(first_of_threads, threads=3), tensors((2,), device="cpu")
    outcome = tried(
        write(Subject(resolve("aot_eager"), program, calls, "cpu"), "a/b.py::c", Target("aot_eager", "cpu"), tmp_path)
    )

    assert (outcome.shows, outcome.reason) == (False, "conforms")


def test_a_script_counts_compilations(tmp_path: Path) -> None:
    """What the case says about graphs is counted, and a line says what was."""
    promised = (Discrepancy("graphs", "", "2", "1"),)
    calls = tensors((2,), device="cpu")
    subject = Subject(resolve("aot_eager"), Program.of(scaled), calls, "cpu", promised)
    path = write(subject, "layout/test_a.py::test_b", Target("aot_eager", "cpu"), tmp_path)

    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "graphs: the case says 2, counted 1\n")


def twice(arguments: tuple[torch.Tensor, ...], output: torch.Tensor) -> Any:
    (gradient,) = torch.autograd.grad(output.sum(), arguments, create_graph=True)
    return torch.autograd.grad(gradient.sum(), arguments)


REFUSED = "RuntimeError: torch.compile with aot_autograd does not currently support double backward"


@pytest.mark.parametrize(
    ("says", "status", "first"),
    [
        (REFUSED, 0, "conforms"),
        ("ValueError: no", 1, f"error.expectation: the case says ValueError: no, stack {REFUSED}"),
        ("(nothing raised)", 1, f"error.expectation: the case says (nothing raised), stack {REFUSED}"),
    ],
    ids=["documented", "another", "none"],
)
def test_a_script_tells_the_text_of_an_error_that_the_case_states(
    tmp_path: Path, says: str, status: int, first: str
) -> None:
    """What differs is the text and not that the stack raises, which a case may allow."""
    stated = (Discrepancy("expectation", "error", says, "another one"),)
    calls = tensors((2,), requires_grad=True, device="cpu")
    subject = Subject(resolve("aot_eager"), Program.of(torch.sin, after=twice, backward=False), calls, "cpu", stated)
    path = write(subject, "layout/test_a.py::test_b", Target("aot_eager", "cpu"), tmp_path)

    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[0]) == (status, first), done.stderr


def test_a_crash_is_shown(tmp_path: Path) -> None:
    """The script of a stack that ends the process runs it in a child, and exits 1."""
    stack = resolve("tests.wrong_backends:crashes")
    subject = Subject(stack, Program.of(scaled), tensors((2,), device="cpu"), "cpu", in_child=60.0)
    path = write(subject, "layout/test_a.py::test_b", Target("crashes", "cpu"), tmp_path)

    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "stack ends the process: SIGSEGV" in done.stdout


def made(factor: int) -> Callable[[torch.Tensor], torch.Tensor]:
    def inner(x: torch.Tensor) -> torch.Tensor:
        return x * factor

    return inner


TABLE = {"double": lambda x: x * 2, "triple": lambda x: x * 3, "sum": lambda x: functools.reduce(torch.add, x)}


@pytest.mark.parametrize(
    "function",
    [functools.partial(scaled, by=3.0), made(3), TABLE["triple"], TABLE["sum"], torch.relu, torch.Tensor.abs],
    ids=["partial", "closure", "lambda", "lambda_of_a_module", "builtin", "method"],
)
def test_a_function_is_written_as_what_it_is(function: Callable[..., Any]) -> None:
    """Partials, closures, rows of tables and functions of torch are source that does the same."""
    write_it = Expressions()
    expression = write_it.of(function)
    names: dict[str, Any] = {"torch": torch}
    exec("\n".join([*write_it.sources.imports, write_it.text()]), names)

    x = torch.arange(-2.0, 3.0)
    assert torch.equal(eval(expression, names)(x), function(x))


def test_a_method_of_a_builtin_type_is_written_by_its_name() -> None:
    """As a case's step uses it that takes a container's last element."""
    assert Expressions().of(functools.partial(list.pop)) == "functools.partial(list.pop)"


def test_what_cannot_be_written_is_said() -> None:
    """A value that no source makes is named in one line."""
    with pytest.raises(ScriptError, match="no script can write it"):
        Expressions().of(object())


def test_a_name_of_the_program_is_no_name_of_the_runtime() -> None:
    """Where a program has a name that the runtime has as well, the runtime's gets an underscore everywhere."""
    _, text = runtime({"leaves", "Looker"})

    assert "def leaves_(" in text
    assert "class Looker_:" in text
    compile(text, "script", "exec")


def test_a_builtin_that_the_program_names_anew_stays_what_it_is() -> None:
    """A program may have functions called `set` and `types`; the runtime goes on with Python's."""
    _, text = runtime({"set", "types"})
    names: dict[str, Any] = {"set": None, "types": None}
    exec("\n".join(text.splitlines()[:2]), names)

    assert (names["set_"], names["types_"]) == (set, types)
    assert " set(" not in text
    assert "types_.FunctionType" in text


def test_a_comprehension_binds_no_name_of_its_module() -> None:
    """What it goes through has its names inside; a walrus is the module's."""
    (statement,) = ast.parse("ROWS = [(last := one, {key: two for key, two in one}) for one in PROGRAMS]").body

    assert bound(statement) == {"ROWS", "last"}


def test_the_runtime_is_whole() -> None:
    """What is pasted is every module of the runtime, one after the other, without this project's imports."""
    _, text = runtime(set())

    assert "conformance" not in text.replace("conforms", "")
    for module in (looking, stepping, observing, differing, running):
        functions = [name for name, one in vars(module).items() if getattr(one, "__module__", "") == module.__name__]
        assert all(f" {name}(" in text or f" {name}:" in text for name in functions)
