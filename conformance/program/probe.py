"""A probe: what one case asks of a run besides calling the program, and what it shows for it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

Backend = Callable[..., Any]


class Probe:
    """Wraps parts of a run; each method does nothing unless a probe overrides it.

    One probe may serve many runs, so it keeps nothing itself: what it sees in a run goes into ``seen``, a list of that
    run's own, from which `show` makes the text of ``run.seen_by(probe)``. Probes are hashable: the AOT graphs of a
    program are traced once for equal probes.
    """

    #: False where looking at what a function reaches by its globals and closure would change what is measured.
    watches_reachable_state = True

    #: False where the probe would show a call that is made after the sequence, to see what a call lets go of.
    may_be_called_again = True

    #: Whether there is nothing to show where nothing is compiled.
    of_compilation = False

    def around_side(self) -> AbstractContextManager[Any]:
        """A context in which each side is built and run, and in which the AOT graphs are traced."""
        return nullcontext()

    def around_stack_side(self, seen: list[Any]) -> AbstractContextManager[Any]:
        """A context around the stack's side alone, compilation included."""
        return nullcontext()

    def wrap_program(self, built: Callable[..., Any], program: Any, calls: Any, device: str) -> Callable[..., Any]:
        """What the stack compiles in place of the built program; eager runs the program itself."""
        return built

    def wrap_backend(self, backend: Backend) -> Backend:
        """What is given to `torch.compile` in place of the backend that records."""
        return backend

    def wrap_compiler(self, backend: Backend, seen: list[Any]) -> Backend:
        """What the recording backend hands its graphs to, in place of the stack's own backend."""
        return backend

    def wrap_backward(self, backward: Callable[[list[Any]], None], seen: list[Any]) -> Callable[[list[Any]], None]:
        """What is run in place of the backward, on the stack's side."""
        return backward

    def show(self, seen: list[Any]) -> Any:
        """What the probe saw in one run, as a text that a case may expect."""
        raise TypeError(f"the probe {self!r} shows nothing that a case could expect")
