"""Faults: a stack's own backend, made to fail on one operator, and the faults that inductor can inject into itself."""

from __future__ import annotations

import functools
import importlib
import json
import os
import re
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from conformance.stacks.external import load

KINDS = ("compile_error", "runtime_error", "accuracy", "segfault", "abort", "hang")
INJECTED = {
    ("cpp", "relu"): "inductor.cpp.inject_relu_bug_TESTING_ONLY",
    ("cpp", "log1p"): "inductor.cpp.inject_log1p_bug_TESTING_ONLY",
    ("triton", "relu"): "inductor.triton.inject_relu_bug_TESTING_ONLY",
}


class UnknownFault(ValueError):
    """A fault that cannot be injected there; the message is one line."""


class InjectedCompileError(Exception):
    """What a backend with a compile error raises."""


class InjectedRuntimeError(Exception):
    """What a program raises when its backend injects a runtime error."""


@dataclass(frozen=True)
class Fault:
    """One way to fail when one operator is seen, written ``relu.compile_error``."""

    operator: str
    kind: str

    @staticmethod
    def of(text: str) -> Fault:
        """Read a fault; what it can be is in the message when it is none."""
        operator, _, kind = text.partition(".")
        if not operator or kind not in KINDS:
            raise UnknownFault(f"unknown fault {text!r}; write operator.kind, kind one of {', '.join(KINDS)}")
        return Fault(operator, kind)

    def injected(self, device: str) -> dict[str, str]:
        """The inductor configuration that makes its own code generation fail so; none where `patches` do it."""
        if self.patches(device):
            return {}
        language = "cpp" if device == "cpu" else "triton"
        if (language, self.operator) not in INJECTED or self.kind not in KINDS[:3]:
            raise UnknownFault(f"inductor cannot inject {self.operator}.{self.kind} into {language}")
        return {INJECTED[language, self.operator]: self.kind}

    def patches(self, device: str) -> list[str]:
        """The functions that make code generation fail so where inductor has no such injection for the device."""
        patched = device != "cpu" and (self.operator, self.kind) == ("log1p", "accuracy")
        return [f"{__name__}:wrong_log1p_in_triton"] if patched else []


@dataclass(frozen=True)
class FaultyBackend:
    """A backend that fails on one operator and hands everything else to a stack's own backend."""

    name: str
    fault: Fault
    backend: str
    imports: tuple[str, ...] = ()

    @staticmethod
    def around(backend: str, fault: Fault, imports: Sequence[str] = ()) -> FaultyBackend:
        """Name the wrapper after the fault, which the generated scripts show."""
        own = re.sub(r"\W+", "_", backend).strip("_")
        return FaultyBackend(f"{own}_with_{fault.operator}_{fault.kind}", fault, backend, tuple(imports))

    def __call__(self, graph_module: Any, example_inputs: list[Any], **options: Any) -> Callable[..., Any]:
        """Compile, or fail."""
        compile: Callable[..., Callable[..., Any]] = functools.partial(self.own(), **options)
        at_fault = [node for node in graph_module.graph.nodes if _operator(node) == self.fault.operator]
        if not at_fault:
            return compile(graph_module, example_inputs)
        if self.fault.kind == "compile_error":
            raise InjectedCompileError(f"{self.fault.operator} does not compile")
        if self.fault.kind == "accuracy":
            for node in at_fault:
                with graph_module.graph.inserting_after(node):
                    wrong = graph_module.graph.call_function(_plus_one, (node,))
                node.replace_all_uses_with(wrong, delete_user_cb=lambda user, wrong=wrong: user is not wrong)
                wrong.meta.update(node.meta)
            graph_module.recompile()
            return compile(graph_module, example_inputs)
        return _failing(self.fault)

    def own(self) -> Callable[..., Any]:
        """The stack's own backend: a name that torch knows, or ``module:callable``."""
        from torch._dynamo.backends.registry import lookup_backend

        for module in self.imports:
            importlib.import_module(module)
        found = load(self.backend) if ":" in self.backend else lookup_backend(self.backend)
        assert callable(found)
        return found


def dumps(backend: FaultyBackend | None, patches: Sequence[str] = ()) -> str:
    """The text that `install` reads in a child."""
    return json.dumps({"backend": backend and asdict(backend), "patches": list(patches)})


def install(text: str) -> None:
    """Install the faults of this run in a child, before its script runs."""
    entry: Mapping[str, Any] = json.loads(text)
    if (backend := entry["backend"]) is not None:
        fault, imports = Fault(**backend["fault"]), tuple(backend["imports"])
        register(FaultyBackend(**{**backend, "fault": fault, "imports": imports}))
    for patch in entry["patches"]:
        module, _, path = patch.partition(":")
        functools.reduce(getattr, path.split("."), importlib.import_module(module))()  # type: ignore[operator]


def wrong_log1p_in_triton() -> None:
    """Make the Triton code of log1p compute something else."""
    from torch._inductor.codegen.triton import TritonOverrides

    own: Callable[[str], str] = TritonOverrides.log1p
    setattr(TritonOverrides, "log1p", staticmethod(lambda x: f"({own(x)} + 1)"))  # noqa: B010


def register(backend: FaultyBackend) -> None:
    """Register a faulty backend by its name."""
    from torch._dynamo.backends.registry import register_backend

    def compiler(graph_module: Any, example_inputs: list[Any], **options: Any) -> Callable[..., Any]:
        return backend(graph_module, example_inputs, **options)

    register_backend(compiler, name=backend.name)


def _operator(node: Any) -> str | None:
    """The operator that a node applies, whether a function, a method or an overload."""
    if not node.op.startswith("call_"):
        return None
    packet = getattr(node.target, "overloadpacket", node.target)
    return str(getattr(packet, "__name__", packet))


def _plus_one(value: Any) -> Any:
    return value + 1


def _failing(fault: Fault) -> Callable[..., Any]:
    """A compiled program that raises, crashes its process, or does not return."""

    def compiled(*arguments: Any) -> Any:
        if fault.kind == "runtime_error":
            raise InjectedRuntimeError(f"{fault.operator} does not run")
        if fault.kind == "hang":
            time.sleep(3600)
        os.kill(os.getpid(), signal.SIGSEGV if fault.kind == "segfault" else signal.SIGABRT)

    return compiled
