"""What cases would run, without running it: programs and calls are taken as a stack is handed them."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from conformance.program.programs import Calls, Program
from conformance.program.sources import ScriptError
from conformance.run.bound_stack import BoundStack
from conformance.suite.items import CASE
from conformance.suite.plan import area_of
from conformance.suite.pytest_run import AllCases, run_cases


class Taken(Exception):
    """Ends a case once its first program is known."""


class DryStack(BoundStack):
    """A stack that keeps what it is to run, and runs nothing."""

    taken: tuple[Program, Calls] | None = None

    def run(self, program: Any, calls: Calls, **options: Any) -> Any:
        """Keep the program and its calls, and end the case."""
        self.taken = Program.of(program, **options), calls
        raise Taken

    def run_beside(self, program: Any, calls: Calls) -> Any:
        """One of many programs that a case tries stands for the case."""
        return self.run(program, calls)

    def trace(self, *_: Any, **__: Any) -> Any:
        raise ScriptError("the case traces a program and runs none")

    def minify(self, *_: Any, **__: Any) -> Any:
        raise ScriptError("the case minifies a program and runs none")


Seen = Callable[[str, DryStack, str, BaseException | None], None]


class _Dry(AllCases):
    """A pytest plugin that hands cases a dry stack and tells what each would run."""

    def __init__(self, cases: Collection[str] | None, seen: Seen) -> None:
        self.cases, self.seen = cases, seen

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        if self.cases is not None:
            items[:] = [item for item in items if item.stash.get(CASE, None) in self.cases]

    def pytest_pyfunc_call(self, pyfuncitem: Any) -> bool | None:
        bound = pyfuncitem.funcargs.get("stack")
        if not isinstance(bound, BoundStack):
            return None
        dry = pyfuncitem.funcargs["stack"] = DryStack(bound.stack, bound.device, area_of(pyfuncitem.stash[CASE]))
        error: BaseException | None = None
        arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
        try:
            pyfuncitem.obj(**arguments)
        except Exception as raised:
            error = raised
        self.seen(pyfuncitem.stash[CASE], dry, pyfuncitem.module.__name__, error)
        return True


def look_at(path: Path, stack: str, device: str, cases: Collection[str] | None, seen: Seen) -> None:
    """Tell ``seen`` of each case below ``path`` what it would run on a stack: case, stack, module, how it ended."""
    plugin = _Dry(cases, seen)
    plugin.pytest_pyfunc_call.__func__.pytest_impl = {"tryfirst": True}  # type: ignore[attr-defined]
    with contextlib.redirect_stdout(io.StringIO()):
        options = [f"--stack={stack}", f"--device={device}", "-p", "no:unraisableexception"]
        run_cases(path, options, [plugin])
