"""The lines of a graph's canonical text (`graphs.py` says what canonical means)."""

from __future__ import annotations

from typing import Any

import torch
from torch import fx

from conformance.canonical.operators import no_op_detaches, target_name, word, writes_input
from conformance.canonical.tensor_types import Symbols, contiguous, devices, dtype_name, scalar_suffix

# The open end of a slice.
_LAST = 2**63 - 1
_INFIX = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}


class Rendering:
    """The lines of one graph, nested graphs included."""

    def __init__(self, graph: fx.Graph, owner: Any, symbols: Symbols, outer_devices: set[str] | None = None) -> None:
        self.graph = graph
        self.owner = owner
        self.symbols = symbols
        self.ops: list[str] = []
        self.names: dict[fx.Node, str] = {}
        self.taken: set[str] = set()
        self.inputs = self.constants = 0
        self.nested: list[str] = []
        self.devices = {str(device) for node in graph.nodes for device in devices(self._value(node))}
        self.devices |= outer_devices or set()
        self.show_devices = len(self.devices) > 1

    def lines(self) -> list[str]:
        dropped = no_op_detaches(self.graph)
        lines: list[str] = []
        for node in self.graph.nodes:
            if node in dropped:
                self.names[node] = self.names[dropped[node]]
                continue
            try:
                lines.extend(self._node(node))
            except Exception:  # an odd node must not hide the graph
                name = self.names.get(node) or self._name(node, word(target_name(node.target)))
                what = type(self._value(node)).__name__ if node.op == "placeholder" else target_name(node.target)
                lines.append(f"{name}: {what}" if node.op == "placeholder" else f"{name} = {what}(...)")
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
        if op != "getitem":
            self.ops.append(op)
        call = self._call(node, op)
        if not node.users and (value is None or writes_input(node)):
            return [call.removeprefix("aten.") if writes_input(node) else call]
        name = self._name(node, word(op))
        return [f"{self._typed(name, value)} = {call}"]

    def _attribute(self, node: fx.Node) -> list[str]:
        value = self._value(node)
        if isinstance(value, fx.GraphModule):
            name = self._name(node, f"graph{len(self.nested)}")
            self.nested.append(name)
            inner = Rendering(value.graph, value, self.symbols, self.devices)
            body = inner.lines()
            self.ops.extend(inner.ops)
            return [f"{name}:", *(f"    {line}" for line in body)]
        name = self._name(node, f"const{self.constants}")
        self.constants += 1
        return [self._typed(name, value) + scalar_suffix(value)]

    def _value(self, node: fx.Node) -> Any:
        """The node's value: a fake tensor, a symbolic number, a constant, a module."""
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
        return target_name(node.target)

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
        """Whether a keyword argument is neither its default nor the graph's only device."""
        if value is None or (name == "layout" and value == torch.strided):
            return False
        if name == "pin_memory":
            return bool(value)
        return self.show_devices or name != "device"

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
        text = f"{dtype_name(tensor.dtype)}[{', '.join(sizes)}]"
        if tensor.layout != torch.strided:
            text += f" {str(tensor.layout).removeprefix('torch.')}"
        elif not contiguous(tensor):
            text += f"({', '.join(self.symbols.text(stride) for stride in tensor.stride())})"
        return f"{text} {tensor.device}" if self.show_devices else text

    def _text(self, value: Any) -> str:
        if isinstance(value, fx.Node):
            return self.names.get(value, value.name)
        if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            return self.symbols.text(value)
        if isinstance(value, torch.dtype):
            return dtype_name(value)
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
        if isinstance(value, str) and not self.show_devices and self._is_the_device(value):
            return "device"
        if value is None or isinstance(value, (bool, int, float, complex, str)):
            return "max" if value == _LAST and type(value) is int else repr(value)
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        return target_name(value) if callable(value) else type(value).__name__

    def _is_the_device(self, text: str) -> bool:
        return any(text in (device, device.split(":")[0]) for device in self.devices)

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
