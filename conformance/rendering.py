"""The lines of a graph's canonical text (`graphs.py` says what canonical means)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import fx

_DTYPES = {
    torch.float64: "f64",
    torch.float32: "f32",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.complex64: "c64",
    torch.complex128: "c128",
    torch.int64: "i64",
    torch.int32: "i32",
    torch.int16: "i16",
    torch.int8: "i8",
    torch.uint8: "u8",
    torch.bool: "b8",
}
# The open end of a slice.
_LAST = 2**63 - 1
_INFIX = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}


class Symbols:
    """Symbolic sizes, renamed in order of appearance."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}

    def text(self, value: Any) -> str:
        expression = _expression(value)
        symbols = sorted(getattr(expression, "free_symbols", ()), key=str)
        if not symbols:
            return str(expression)
        # Substituted, not replaced in the text: the order of the terms follows the names.
        return str(expression.xreplace({symbol: self._renamed(symbol) for symbol in symbols}))

    def _renamed(self, symbol: Any) -> Any:
        name = self.names.setdefault(str(symbol), f"s{len(self.names)}")
        return type(symbol)(name, **symbol.assumptions0)


class Rendering:
    """The lines of one graph, nested graphs included."""

    def __init__(self, graph: fx.Graph, owner: Any, symbols: Symbols) -> None:
        self.graph = graph
        self.owner = owner
        self.symbols = symbols
        self.ops: list[str] = []
        self.names: dict[fx.Node, str] = {}
        self.taken: set[str] = set()
        self.inputs = self.constants = 0
        self.nested: list[str] = []
        devices = {device for node in graph.nodes for device in _devices(self._value(node))}
        self.show_devices = len(devices) > 1

    def lines(self) -> list[str]:
        dropped = _no_op_detaches(self.graph)
        lines: list[str] = []
        for node in self.graph.nodes:
            if node in dropped:
                self.names[node] = self.names[dropped[node]]
                continue
            try:
                lines.extend(self._node(node))
            except Exception:  # an odd node must not hide the graph
                name = self.names.get(node) or self._name(node, _word(_target_name(node.target)))
                lines.append(f"{name} = {_target_name(node.target)}(...)")
        return lines

    def _node(self, node: fx.Node) -> list[str]:
        value = self._value(node)
        if node.op == "placeholder":
            name = self._name(node, f"in{self.inputs}")
            self.inputs += 1
            return [self._typed(name, value)]
        if node.op == "get_attr":
            return self._attribute(node)
        if node.op == "output":
            return [f"return {self._text(node.args[0])}"]
        op = self._op(node)
        call = self._call(node, op)
        if node.op != "call_function" or getattr(node.target, "__name__", "") != "getitem":
            self.ops.append(op)
        if not node.users and (value is None or _writes_input(node)):
            return [call.removeprefix("aten.") if _writes_input(node) else call]
        name = self._name(node, _word(op))
        return [f"{self._typed(name, value)} = {call}"]

    def _attribute(self, node: fx.Node) -> list[str]:
        value = self._value(node)
        if isinstance(value, fx.GraphModule):
            name = self._name(node, f"graph{len(self.nested)}")
            self.nested.append(name)
            inner = Rendering(value.graph, value, self.symbols)
            body = inner.lines()
            self.ops.extend(inner.ops)
            return [f"{name}:", *(f"    {line}" for line in body)]
        name = self._name(node, f"const{self.constants}")
        self.constants += 1
        return [self._typed(name, value) + _scalar_suffix(value)]

    def _value(self, node: fx.Node) -> Any:
        """What the node stands for: a fake tensor, a symbolic number, a constant, a module."""
        if node.op == "get_attr":
            value = self.owner
            for part in str(node.target).split("."):
                value = getattr(value, part, None)
            # What inductor froze has its layout in the tensor; others may have it in the metadata alone.
            if value is not None:
                return value
        return node.meta.get("val", node.meta.get("example_value"))

    def _op(self, node: fx.Node) -> str:
        if node.op == "call_method":
            return str(node.target)
        return _target_name(node.target)

    def _call(self, node: fx.Node, op: str) -> str:
        if node.op == "call_function" and not node.kwargs:
            if op == "getitem" and len(node.args) == 2:
                return f"{self._text(node.args[0])}[{self._index(node.args[1])}]"
            if op in _INFIX and len(node.args) == 2 and not isinstance(node.target, torch._ops.OpOverload):
                return f"{self._text(node.args[0])} {_INFIX[op]} {self._text(node.args[1])}"
        arguments = [self._text(argument) for argument in node.args]
        if node.op == "call_method":
            op, arguments = f"{arguments[0]}.{op}", arguments[1:]
        arguments.extend(
            f"{name}={self._text(value)}" for name, value in sorted(node.kwargs.items()) if self._says(name, value)
        )
        return f"{op}({', '.join(arguments)})"

    def _says(self, name: str, value: Any) -> bool:
        """Whether a keyword argument says more than its default and the one device do."""
        if value is None or (name == "layout" and value == torch.strided):
            return False
        if name == "pin_memory":
            return bool(value)
        return self.show_devices or not (name == "device" and _is_device(value))

    def _typed(self, name: str, value: Any) -> str:
        described = self._type(value)
        return f"{name}: {described}" if described else name

    def _type(self, value: Any) -> str:
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            return self.symbols.text(value)
        if isinstance(value, (list, tuple)):
            types = [self._type(item) or "None" for item in value]
            return f"({types[0]},)" if len(types) == 1 else f"({', '.join(types)})"
        if value is None or isinstance(value, (bool, int, float)):
            return "" if value is None else type(value).__name__
        return ""

    def _tensor(self, tensor: torch.Tensor) -> str:
        sizes = [self.symbols.text(size) for size in tensor.shape]
        text = f"{_dtype(tensor.dtype)}[{', '.join(sizes)}]"
        if tensor.layout != torch.strided:
            text += f" {str(tensor.layout).removeprefix('torch.')}"
        elif not _contiguous(tensor):
            text += f"({', '.join(self.symbols.text(stride) for stride in tensor.stride())})"
        return f"{text} {tensor.device}" if self.show_devices else text

    def _text(self, value: Any) -> str:
        if isinstance(value, fx.Node):
            return self.names.get(value, value.name)
        if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            return self.symbols.text(value)
        if isinstance(value, torch.dtype):
            return _dtype(value)
        if isinstance(value, torch.device):
            return str(value) if self.show_devices else "device"
        if isinstance(value, (torch.layout, torch.memory_format)):
            return str(value).removeprefix("torch.")
        if isinstance(value, slice):
            return f"slice({self._text(value.start)}, {self._text(value.stop)}, {self._text(value.step)})"
        if isinstance(value, dict):
            return "{" + ", ".join(f"{key!r}: {self._text(item)}" for key, item in value.items()) + "}"
        if isinstance(value, tuple):
            return f"({self._text(value[0])},)" if len(value) == 1 else f"({', '.join(map(self._text, value))})"
        if isinstance(value, (list, torch.Size)):
            return f"[{', '.join(map(self._text, value))}]"
        if value is Ellipsis:
            return "..."
        if value is None or isinstance(value, (bool, int, float, complex, str)):
            return "max" if value == _LAST and type(value) is int else repr(value)
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        return _target_name(value) if callable(value) else type(value).__name__

    def _index(self, index: Any) -> str:
        if isinstance(index, tuple) and index:
            return ", ".join(self._index(item) for item in index)
        if isinstance(index, slice):
            start, stop = ("" if end is None else self._text(end) for end in (index.start, index.stop))
            return f"{start}:{stop}" if index.step is None else f"{start}:{stop}:{self._text(index.step)}"
        return self._text(index)

    def _name(self, node: fx.Node, base: str) -> str:
        name, number = base, 0
        while name in self.taken:
            number += 1
            name = f"{base}_{number}"
        self.taken.add(name)
        self.names[node] = name
        return name


def _target_name(target: Any) -> str:
    """The operator as a reader knows it: `aten.expand`, `sin`, `set_grad_enabled`; overloads are left out."""
    if isinstance(target, str):
        return target
    if isinstance(target, torch._ops.OpOverload):
        return str(target._schema.name).replace("::", ".")
    if isinstance(target, torch._ops.OpOverloadPacket):
        return str(target._qualified_op_name).replace("::", ".")
    if fused := _fused(target):
        return fused
    name = getattr(target, "__name__", None) or getattr(target, "_name", None) or type(target).__name__
    return "set_grad_enabled" if name == "_set_grad_enabled" else str(name)


def _fused(target: Any) -> str | None:
    """Inductor's fusions are functions made for one match: named after the operators that they replaced."""
    match = next(iter(getattr(target, "args", ())), None) if isinstance(target, partial) else None
    match = match or getattr(getattr(target, "__wrapped__", None), "match", None)
    nodes = getattr(match, "nodes", None)
    if not nodes:
        return None
    return "fused[" + " + ".join(_target_name(node.target) for node in nodes if callable(node.target)) + "]"


def _word(op: str) -> str:
    if op.startswith("fused["):
        return "fused"
    return re.sub(r"\W", "_", op.rsplit(".", 1)[-1]) or "node"


def _dtype(dtype: torch.dtype) -> str:
    return _DTYPES.get(dtype, str(dtype).removeprefix("torch."))


def _is_device(value: Any) -> bool:
    return isinstance(value, (torch.device, str))


def _devices(value: Any) -> Iterator[torch.device]:
    if isinstance(value, torch.Tensor):
        yield value.device
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _devices(item)


def _expression(value: Any) -> Any:
    return getattr(getattr(value, "node", None), "expr", value)


def _contiguous(tensor: torch.Tensor) -> bool:
    """Whether the strides are those of a contiguous tensor, decided without adding a guard on a symbolic size."""
    sizes, strides = [_expression(size) for size in tensor.shape], [_expression(step) for step in tensor.stride()]
    if any(size == 0 for size in sizes):
        return True
    expected: Any = 1
    for size, stride in zip(reversed(sizes), reversed(strides), strict=True):
        if size == 1:
            continue
        if str(_without_max(stride)) != str(_without_max(expected)):
            return False
        expected = expected * size
    return True


def _without_max(expression: Any) -> Any:
    """The expression with `Max(1, s0)`, which the contiguous strides of a symbolic shape carry, read as `s0`."""
    if not hasattr(expression, "replace") or isinstance(expression, str):
        return expression
    is_max: Callable[[Any], bool] = lambda part: type(part).__name__ == "Max" and len(part.args) == 2  # noqa: E731
    return expression.replace(is_max, lambda part: part.args[1] if part.args[0] == 1 else part.args[0])


def _writes_input(node: fx.Node) -> bool:
    """Whether the node is functionalization's write-back of a mutated input."""
    return node.target is torch.ops.aten.copy_.default and getattr(node.args[0], "op", "") == "placeholder"


def _no_op_detaches(graph: fx.Graph) -> dict[fx.Node, fx.Node]:
    """Detaches of an AOT graph that say nothing, each with what it detaches.

    Autograd is over in such a graph. A detach of an input that is handed out still says that the output is an alias,
    not the input itself; every other one is left over from saving tensors, in numbers that differ by release.
    """
    dropped: dict[fx.Node, fx.Node] = {}
    for node in graph.nodes:
        if node.target is torch.ops.aten.detach.default and isinstance(node.args[0], fx.Node):
            root = dropped.get(node.args[0], node.args[0])
            if root.op != "placeholder" or not any(user.op == "output" for user in node.users):
                dropped[node] = root
    return dropped


def _scalar_suffix(value: Any) -> str:
    """` = 2` for a constant without dimensions, whose value is part of the program."""
    from torch._subclasses.fake_tensor import FakeTensor
    from torch.utils._python_dispatch import _disable_current_modes

    if not isinstance(value, torch.Tensor) or isinstance(value, FakeTensor) or value.dim() or value.is_meta:
        return ""
    with _disable_current_modes():
        return f" = {value.item()!r}"
