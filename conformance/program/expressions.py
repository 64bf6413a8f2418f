"""From values to source: what a program and its calls are made of, as a script can write it."""

from __future__ import annotations

import builtins
import enum
import functools
import math
import operator
import re
import sys
import textwrap
import types
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import torch

from conformance.program.programs import CallSequence, TensorRecipe, _ModuleFactory
from conformance.program.sources import ScriptError, Sources, module_of, source_within

#: Where functions written in C are looked for by their name.
NAMESPACES = {
    "torch": torch,
    "torch.nn.functional": torch.nn.functional,
    "torch.Tensor": torch.Tensor,
    "torch.special": torch.special,
    "torch.linalg": torch.linalg,
    "operator": operator,
    "math": math,
    "builtins": builtins,
}
#: Elements of a tensor that a script writes out.
LARGEST = 4096
AS_THEY_PRINT = (
    bool,
    int,
    str,
    bytes,
    type(None),
    type(Ellipsis),
    range,
    torch.dtype,
    torch.layout,
    torch.memory_format,
)


class WrittenCalls(ABC):
    """Calls that write themselves into scripts: a function of the device, as `Calls` are, with its own text."""

    @abstractmethod
    def __call__(self, device: str) -> list[Any]:
        """The argument tuples of the calls."""

    @abstractmethod
    def text(self, name: str) -> str:
        """The source of the function under a name, which needs nothing but ``torch``, ``base64`` and ``zlib``."""


class Expressions:
    """Writes values as expressions, and keeps the source that these need."""

    def __init__(self, modules: Iterable[str] = ()) -> None:
        self.sources = Sources(self.assigned)
        #: What top-level names of the script hold that its own values were written for.
        self._assigned: dict[int, Any] = {}
        self._modules = set(modules)
        #: Functions made for this script, by name.
        self._made: dict[str, str] = {}
        self._names: dict[int, tuple[Any, str]] = {}

    def text(self) -> str:
        """Everything that the expressions need, imports apart; first what was made for them, as names may hold it."""
        return "\n\n\n".join(filter(None, [*self._made.values(), self.sources.text()]))

    def of(self, value: Any) -> str:
        """The expression for a value; a `ScriptError` where there is none."""
        if isinstance(value, AS_THEY_PRINT) and not isinstance(value, enum.Enum):
            return f"b{value!r}"[1:] if not isinstance(value, str) else repr(str(value))
        if isinstance(value, (float, complex)):
            finite = math.isfinite(abs(value))
            return repr(value) if finite else f"{type(value).__name__}({str(value)!r})"
        if isinstance(value, torch.device):
            return f"torch.device({str(value)!r})"
        if isinstance(value, slice):
            return f"slice({self.of(value.start)}, {self.of(value.stop)}, {self.of(value.step)})"
        if isinstance(value, enum.Enum):
            return f"{self.of(type(value))}({self.of(value.value)})"
        if isinstance(value, types.ModuleType):
            self.sources.imports[f"import {value.__name__}"] = None
            return value.__name__
        if isinstance(value, types.GenericAlias):
            modules = re.findall(r"([a-z_.]+)\.[A-Z]", repr(value))
            self.sources.imports |= {f"import {module}": None for module in modules}
            return repr(value)
        named = self._global_name(value) if id(value) not in self._assigned else None
        return named or self._container(value) or self._callable(value) or self._global(value)

    def assigned(self, value: Any) -> str:
        """The expression for what a top-level name holds: not that name."""
        self._assigned[id(value)] = value
        return self.of(value)

    def _container(self, value: Any) -> str | None:
        if type(value) in (list, tuple, torch.Size):
            inside = ", ".join(map(self.of, value))
            if isinstance(value, list):
                return f"[{inside}]"
            return f"({inside},)" if len(value) == 1 else f"({inside})"
        if type(value) is dict:
            return "{" + ", ".join(f"{self.of(key)}: {self.of(one)}" for key, one in value.items()) + "}"
        if type(value) in (torch.Tensor, torch.nn.Parameter) and value.is_leaf and value.numel() <= LARGEST:
            flag = ", requires_grad=True" if value.requires_grad else ""
            values = value.detach()
            told = f"torch.tensor({self.of(values.tolist())}, dtype={value.dtype}, device={str(value.device)!r}{flag})"
            if (
                values.is_contiguous()
                and value.layout is torch.strided
                and values.untyped_storage().nbytes() == values.nbytes
            ):
                return told if type(value) is torch.Tensor else f"torch.nn.Parameter({told})"
        if type(value) in (set, frozenset):
            return f"{type(value).__name__}([{', '.join(sorted(map(self.of, value)))}])"
        return None

    def _callable(self, value: Any) -> str | None:
        if isinstance(value, functools.partial):
            self.sources.imports["import functools"] = None
            # The function first: its module's names may stand for what is bound.
            parts = [self.of(value.func), *map(self.of, value.args)]
            parts += [f"{name}={self.of(one)}" for name, one in value.keywords.items()]
            return f"functools.partial({', '.join(parts)})"
        if isinstance(value, _ModuleFactory):
            return f"lambda device: {self.of(value.module_class)}().to(device)"
        if isinstance(value, CallSequence):
            return self._calls(value)
        if isinstance(value, WrittenCalls):
            self.sources.imports |= {"import base64": None, "import torch": None, "import zlib": None}
            self._made["inputs_of_the_calls"] = value.text("inputs_of_the_calls")
            return "inputs_of_the_calls"
        if isinstance(value, types.MethodDescriptorType) and value.__objclass__.__module__ == "builtins":
            return f"{value.__objclass__.__name__}.{value.__name__}"
        if isinstance(value, types.MethodType):
            return f"{self.of(value.__self__)}.{value.__name__}"
        if isinstance(value, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
            return f"torch.ops.{value}"
        if isinstance(value, types.FunctionType) and ("<locals>" in value.__qualname__ or "<lambda>" in value.__name__):
            return self._function_within(value)
        return None

    def _global_name(self, value: Any) -> str | None:
        """The top-level name that a case's module has for a value."""
        if isinstance(value, (type, types.FunctionType)):
            return None
        for name in list(sys.modules):
            module = sys.modules[name]
            if name in self._modules or name in self.sources.modules:
                for label, held in vars(module).items():
                    if held is value and not isinstance(value, AS_THEY_PRINT):
                        self.sources.need(module, label)
                        return label
        return None

    def _global(self, value: Any) -> str:
        qualname = getattr(value, "__qualname__", getattr(value, "__name__", ""))
        module = module_of(value)
        held: Any = module
        for part in qualname.split("."):
            held = getattr(held, part, None)
        if module is not None and held is value:
            origin = module.__name__.partition(".")[0]
            if origin in sys.stdlib_module_names or origin in ("torch", "numpy"):
                if origin == "builtins":
                    return str(qualname)
                self.sources.imports[f"import {module.__name__}"] = None
                return f"{module.__name__}.{qualname}"
            self.sources.need(module, qualname.partition(".")[0])
            return str(qualname)
        name = getattr(value, "__name__", "")
        for path, namespace in NAMESPACES.items():
            if (name and getattr(namespace, name, None) is value) or getattr(namespace, name, self) == value:
                if path != "builtins":
                    self.sources.imports[f"import {path.removesuffix('.Tensor')}"] = None
                return name if path == "builtins" else f"{path}.{name}"
        raise ScriptError(f"{type(value).__name__} {str(value)[:60]!r}: no script can write it")

    def _function_within(self, function: types.FunctionType) -> str:
        if id(function) in self._names:
            return self._names[id(function)][1]
        text, is_lambda = source_within(function)
        module = module_of(function)
        assert module is not None
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        for name in self.sources.names_in(text):
            if name in vars(module) and name not in cells:
                self.sources.need(module, name)
        held = {name: self.of(cell.cell_contents) for name, cell in cells.items() if cell.cell_contents is not function}
        if is_lambda:
            told = f"(lambda {', '.join(held)}: {text})({', '.join(held.values())})" if held else f"({text})"
            self._names[id(function)] = function, told
            return told
        name, made = function.__name__, f"make_{function.__name__}"
        number = 2
        while made in self._made or name in self._made:
            name, made, number = f"{function.__name__}", f"make_{function.__name__}_{number}", number + 1
        body = f"def {made}({', '.join(held)}):\n{textwrap.indent(text, '    ')}\n\n    return {name}"
        self._made[made] = body
        told = f"{made}({', '.join(held.values())})"
        self._names[id(function)] = function, told
        return told

    def _calls(self, calls: CallSequence) -> str:
        rows = [f"({', '.join(map(_recipe, one_call))},)" for one_call in calls.recipes]
        listed = "".join(f"        {row},\n" for row in rows)
        name = "inputs" if "inputs" not in self.sources.bound_names() else "inputs_of_the_calls"
        self._made[name] = f"def {name}(device):\n    return [\n{listed}    ]"
        return name


def _recipe(recipe: TensorRecipe) -> str:
    """A tensor that a case asks for by its shape: written out, or by its formula where it is large."""
    values = recipe.build("cpu").detach()
    of_dtype = f"dtype={values.dtype}, device=device"
    steps = (torch.arange(values.numel()) * 5 + recipe.seed * 3 + 1) % 7 - 3
    if 0 in recipe.shape:
        text = f"torch.empty({tuple(recipe.shape)}, {of_dtype})"
    elif values.numel() > 64 and torch.equal(values, steps.reshape(values.shape).to(values.dtype)):
        formula = f"((torch.arange({values.numel()}) * 5 + {recipe.seed * 3 + 1}) % 7 - 3)"
        text = f"{formula}.reshape({tuple(recipe.shape)}).to({of_dtype})"
    else:
        text = f"torch.tensor({Expressions().of(values.tolist())}, {of_dtype})"
    return f"{text}.requires_grad_()" if recipe.requires_grad else text


def source_of(needed: Iterable[Any]) -> str:
    """The source that functions and classes of a module's top level need, as one text with its imports."""
    write = Expressions()
    for one in needed:
        if write.of(one) != getattr(one, "__name__", ""):
            raise ScriptError(f"{one!r} is not a function or class of its module's top level: no script can name it")
    return "\n\n\n".join(["\n".join(sorted(write.sources.imports)), write.text()])
