"""What a mutant is, and where a defect can sit: around the callable, in the graph, in torch, in the minifier."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, fields, replace
from typing import Any

from torch import fx

from conformance.capture.recorder import Recorder
from conformance.contract.registry import UnknownClause, clauses, nearest
from conformance.stacks import Stack, resolve
from conformance.stacks.base import Minifiable

Compiled = Callable[..., Any]
Defect = Callable[..., Any]


@dataclass(frozen=True)
class MutantStack(Stack):
    """A stack with one defect; ``breaks`` are the clauses and ``defect`` the sentence. Its base is named ``base``."""

    base: str = ""
    breaks: tuple[str, ...] = ()
    defect: str = ""
    around: Callable[[Compiled], Compiled] | None = None
    patch: Callable[[], Any] | None = None
    in_steps: Callable[[], None] | None = None

    @property
    def areas(self) -> set[str]:
        """The areas of the clauses that it breaks."""
        return {clauses()[clause].area for clause in self.breaks}

    @property
    def plain(self) -> bool:
        """Whether every program shows the defect, in whatever it returns: such mutants have a module of their own."""
        return self.spec.partition(":")[0].endswith(".any_output")

    @property
    def ladder(self) -> tuple[str, ...]:
        """Nothing: that the mutant itself is at fault is known."""
        return ()

    @property
    def always_traced(self) -> bool:
        """The texts of a mutant are its own: it may spoil what traces them."""
        return True

    def compile(self, program: Compiled, recorder: Recorder, **options: Any) -> Compiled:
        compiled = super().compile(program, recorder, **options)
        return self.around(compiled) if self.around is not None else compiled

    def while_tracing(self) -> AbstractContextManager[Any] | None:
        return self.patch() if self.patch is not None else None

    def minifiable(self) -> Minifiable:
        patches = [f"{self.spec}.in_steps"] if self.in_steps is not None else []
        return replace(super().minifiable(), patches=tuple(patches))

    @contextmanager
    def running(self, config: Mapping[str, Any], recorder: Recorder) -> Iterator[None]:
        with super().running(config, recorder):
            if self.patch is None:
                yield
            else:
                with self.patch():
                    yield


def around(*breaks: str, base: str = "aot_eager") -> Callable[[Callable[[Compiled], Compiled]], MutantStack]:
    """A mutant from a function of the compiled callable that returns what is called instead."""
    return lambda defect: _mutant(defect, breaks, base, around=defect)


def patching(
    *breaks: str, base: str = "aot_eager", config: Mapping[str, Any] | None = None
) -> Callable[[Callable[[], Iterator[None]]], MutantStack]:
    """A mutant from a generator that patches torch, yields, and puts back what it patched."""
    return lambda defect: _mutant(defect, breaks, base, patch=contextmanager(defect), config=config)


def editing(*breaks: str, base: str = "aot_eager") -> Callable[[Callable[[fx.GraphModule], None]], MutantStack]:
    """A mutant from a function that changes the Dynamo graph before the backend of the base compiles it."""

    def mutant(defect: Callable[[fx.GraphModule], None]) -> MutantStack:
        compiles = resolve(base).backend

        def backend(module: fx.GraphModule, inputs: Any, **options: Any) -> Any:
            from torch._dynamo.backends.registry import lookup_backend

            defect(module)
            module.graph.lint()
            module.recompile()
            compiler = lookup_backend(compiles) if isinstance(compiles, str) else compiles
            assert compiler is not None
            return compiler(module, inputs, **options)

        backend.compiler_name = defect.__name__  # type: ignore[attr-defined]
        return _mutant(defect, breaks, base, backend=backend)

    return mutant


def in_steps(*breaks: str, base: str = "aot_eager") -> Callable[[Callable[[], None]], MutantStack]:
    """A mutant from a function that patches torch in each process of the minifier, where nothing is put back."""
    return lambda defect: _mutant(defect, breaks, base, in_steps=defect)


def replacing(owner: Any, name: str) -> Callable[[Callable[..., Any]], None]:
    """Put a function, which gets what it replaces as its first argument, in the place of ``owner.name``."""

    def put(function: Callable[..., Any]) -> None:
        own = getattr(owner, name)
        setattr(owner, name, lambda *args, **options: function(own, *args, **options))

    return put


def _mutant(defect: Defect, breaks: tuple[str, ...], base: str, **more: Any) -> MutantStack:
    for clause in breaks:
        if clause not in clauses():
            raise UnknownClause(f"{defect.__name__} breaks the unknown clause {clause!r}; {nearest(clause, clauses())}")
    stack = resolve(base)
    sentence = inspect.getdoc(defect)
    if not sentence:
        raise ValueError(f"the mutant {defect.__name__} has no sentence that says its defect")
    inherited = {field.name: getattr(stack, field.name) for field in fields(Stack)}
    config = {**inherited.pop("config"), **(more.pop("config", None) or {})}
    name = defect.__name__
    mutant = MutantStack(**inherited, config=config, base=base, breaks=breaks, defect=sentence)
    return replace(mutant, name=name, spec=f"{defect.__module__}:{name}", **more)
