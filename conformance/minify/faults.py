"""Faults: a stack's own backend, made to fail on one operator, and the faults that inductor can inject into itself."""

from __future__ import annotations

import functools
import importlib
import json
import operator
import os
import re
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import torch

INJECTABLE = ("compile_error", "runtime_error", "accuracy")
KINDS = (
    *INJECTABLE,
    "segfault",
    "abort",
    "hang",
    "wrong_gradient",
    "lost_write",
    "overlap_compile_error",
    "overlap_runtime_error",
    "missing_error",
)
#: In place of an operator: whatever the graph holds, and if it is nothing.
EVERY = "every"
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

    @property
    def compared(self) -> bool:
        """Whether nothing raises, so that it only shows where results are compared."""
        return self.kind in EDITS

    def injected(self, device: str) -> dict[str, str]:
        """The inductor configuration that makes its own code generation fail so; none where `patches` do it."""
        if self.patches(device):
            return {}
        language = "cpp" if device == "cpu" else "triton"
        if (language, self.operator) not in INJECTED or self.kind not in INJECTABLE:
            raise UnknownFault(f"inductor cannot inject {self.operator}.{self.kind} into {language}")
        return {INJECTED[language, self.operator]: self.kind}

    def patches(self, device: str) -> list[str]:
        """The functions that make code generation fail so where inductor has no such injection for the device."""
        patched = device != "cpu" and (self.operator, self.kind) == ("log1p", "accuracy")
        return [f"{__name__}:wrong_log1p_in_triton"] if patched else []


#: What a backend has that is registered for its name alone.
NO_FAULT = Fault("", "")


@dataclass(frozen=True)
class FaultyBackend:
    """A backend that fails on one operator and hands everything else to a stack's own backend."""

    name: str
    fault: Fault
    backend: str
    imports: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    @staticmethod
    def around(backend: str, fault: Fault, imports: Sequence[str] = (), options: Any = None) -> FaultyBackend:
        """Name the wrapper after the fault, which the generated scripts show."""
        name = re.sub(r"\W+", "_", backend).strip("_")
        name += f"_with_{fault.operator}_{fault.kind}" if fault != NO_FAULT else "_with_options" if options else ""
        return FaultyBackend(name, fault, backend, tuple(imports), dict(options or {}))

    def __call__(self, graph_module: Any, example_inputs: list[Any], **options: Any) -> Callable[..., Any]:
        """Compile, or fail."""
        options = {**({"options": self.options} if self.options else {}), **options}
        compile: Callable[..., Callable[..., Any]] = functools.partial(self.own(), **options)
        at_fault = [node for node in graph_module.graph.nodes if self.fault.operator in (_operator(node), EVERY)]
        kind = self.fault.kind
        if kind == "missing_error":
            if not at_fault:
                raise InjectedCompileError(f"a graph without {self.fault.operator} does not compile")
        elif not at_fault:
            pass
        elif kind == "compile_error":
            raise InjectedCompileError(f"{self.fault.operator} does not compile")
        elif kind == "overlap_compile_error":
            _refuse_overlap(example_inputs, InjectedCompileError)
        elif kind == "overlap_runtime_error":
            return _SeparateInputs(compile(graph_module, example_inputs))
        elif self.fault.compared:
            _edit(graph_module, at_fault, kind)
        else:
            return _failing(self.fault)
        return compile(graph_module, example_inputs)

    def own(self) -> Callable[..., Any]:
        """The stack's own backend: a name that torch knows, or ``module:callable``."""
        from torch._dynamo.backends.registry import lookup_backend

        for module in self.imports:
            importlib.import_module(module)
        from conformance.stacks.external import load  # here: it imports what a fresh process does not have

        found = load(self.backend) if ":" in self.backend else lookup_backend(self.backend)
        assert callable(found)
        return found


def dumps(backends: Sequence[FaultyBackend], patches: Sequence[str] = ()) -> str:
    """The text that `install` reads in a child."""
    return json.dumps({"backends": [asdict(backend) for backend in backends], "patches": list(patches)})


def install(text: str) -> None:
    """Install the faults of this run in a child, before its script runs."""
    entry: Mapping[str, Any] = json.loads(text)
    for backend in entry["backends"]:
        fault, imports = Fault(**backend["fault"]), tuple(backend["imports"])
        register(FaultyBackend(**{**backend, "fault": fault, "imports": imports}))
    for patch in entry["patches"]:
        module, _, path = patch.partition(":")
        functools.reduce(getattr, path.split("."), importlib.import_module(module))()  # type: ignore[operator]


def graph_itself(graph_module: Any, example_inputs: list[Any]) -> Any:
    """A right backend that the checks of the minifier can run as they run the program, which few others are."""
    return graph_module


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


def _twice_the_gradient(value: Any) -> Any:
    return value + (value - value.detach())


#: What is called with the result of an operator, and with what besides; nothing where its argument is replaced.
EDITS: Mapping[str, tuple[Callable[..., Any], tuple[Any, ...]] | None] = {
    "accuracy": (operator.add, (1,)),  # as Dynamo writes it: a backend need not know functions of this project
    "wrong_gradient": (_twice_the_gradient, ()),
    "lost_write": None,
}


def _operator(node: Any) -> str | None:
    """The operator that a node applies, whether a function, a method or an overload."""
    if not node.op.startswith("call_"):
        return None
    packet = getattr(node.target, "overloadpacket", node.target)
    return str(getattr(packet, "__name__", packet))


def _edit(graph_module: Any, nodes: Sequence[Any], kind: str) -> None:
    """Make the nodes of a graph compute something else, where they are operators."""
    edit = EDITS[kind]
    for node in nodes:
        if not node.op.startswith("call_"):
            continue
        if edit is None:
            with graph_module.graph.inserting_before(node):
                node.args = (graph_module.graph.call_method("clone", (node.args[0],)), *node.args[1:])
            continue
        with graph_module.graph.inserting_after(node):
            wrong = graph_module.graph.call_function(edit[0], (node, *edit[1]))
        node.replace_all_uses_with(wrong, delete_user_cb=lambda user, wrong=wrong: user is not wrong)
        wrong.meta.update(node.meta)
    graph_module.recompile()


def _refuse_overlap(inputs: Sequence[Any], error: type[Exception]) -> None:
    storages = [value.untyped_storage().data_ptr() for value in inputs if isinstance(value, torch.Tensor)]
    if len(set(storages)) < len(storages):
        raise error("inputs in one storage are refused")


class _SeparateInputs(torch.nn.Module):
    """A compiled program that refuses inputs which lie in one storage."""

    def __init__(self, compiled: Callable[..., Any]) -> None:
        super().__init__()
        self.compiled = [compiled]

    def forward(self, *inputs: Any) -> Any:
        _refuse_overlap(inputs, InjectedRuntimeError)
        return self.compiled[0](*inputs)


def _failing(fault: Fault) -> Callable[..., Any]:
    """A compiled program that raises, crashes its process, or does not return."""

    def compiled(*arguments: Any) -> Any:
        if fault.kind == "runtime_error":
            raise InjectedRuntimeError(f"{fault.operator} does not run")
        if fault.kind == "hang":
            time.sleep(3600)
        os.kill(os.getpid(), signal.SIGSEGV if fault.kind == "segfault" else signal.SIGABRT)

    return compiled
