"""Run in a child on generated scripts: each script's module as a canonical graph, and the inputs that it carries."""

from __future__ import annotations

import json
import re
import runpy
import sys
import traceback
from pathlib import Path
from typing import Any

import torch
from torch import fx
from torch.overrides import TorchFunctionMode

from conformance.canonical.graphs import Graph


def describe(script: str) -> dict[str, str]:
    """The canonical text of the module, and one line an input."""
    found = runpy.run_path(script, run_name="generated")
    if (exported := found.get("exported_program")) is not None:
        arguments, keywords = exported.example_inputs
        leaves = torch.utils._pytree.tree_leaves((arguments, keywords))
        return {"graph": text_of(exported), "inputs": input_lines(leaves)}
    arguments = read_inputs(found["load_args"], Path(script).read_text(encoding="utf-8"))
    inputs = input_lines(arguments)
    traced = trace(found["mod"])
    with torch.no_grad():
        _Values(traced).run(*arguments)
    return {"graph": text_of(traced), "inputs": inputs}


def text_of(graph: Any) -> str:
    """The canonical text without devices, so that one literal holds on CPU and GPU."""
    text = re.sub(r"(?<=[\])]) (cpu|cuda:\d+)\b", "", Graph.of(graph).text)
    return re.sub(r"\b(cpu|cuda:\d+)\b", "device", re.sub(r", device=(cpu|cuda:\d+)\b", "", text))


def read_inputs(load_args: Any, text: str) -> list[Any]:
    """The inputs, read from the files that the script names."""
    from torch._dynamo.debug_utils import InputReader

    saved = re.search(r"save_dir='([^']*)'", text)
    reader = InputReader(save_dir=saved[1] if saved else None)
    load_args(reader)
    return reader.args


def trace(module: torch.nn.Module) -> fx.GraphModule:
    """The graph of a module, calls without tensors among the arguments included: seeds, new tensors, grad switches."""
    tracer = fx.Tracer()
    with _Factories(tracer):
        graph = tracer.trace(module)
    return fx.GraphModule(tracer.root, graph)


class _Factories(TorchFunctionMode):
    """Records the calls that symbolic tracing misses because none of their arguments is traced."""

    def __init__(self, tracer: fx.Tracer) -> None:
        self.tracer = tracer

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        leaves = torch.utils._pytree.tree_leaves((args, kwargs))
        if isinstance(func, type) or any(isinstance(leaf, (fx.Proxy, torch.Tensor)) for leaf in leaves):
            return func(*args, **(kwargs or {}))
        return self.tracer.create_proxy("call_function", func, args, kwargs or {})


class _Values(fx.Interpreter):
    """Runs a graph and leaves every node's value where the canonical text reads its type."""

    def run_node(self, n: fx.Node) -> Any:
        """Run one node and keep its value, as a view, since later nodes may change its metadata."""
        value = super().run_node(n)
        n.meta["val"] = value.detach() if isinstance(value, torch.Tensor) else value
        return value


def input_lines(values: list[Any]) -> str:
    """What each input is, apart from its device, which the run decides; integral values are the same everywhere."""
    lines = []
    for index, value in enumerate(values):
        words = _tensor(value) if isinstance(value, torch.Tensor) else [repr(value)]
        shared = [other for other in range(index) if _share(values[other], value)]
        lines.append(", ".join([*words, *(f"in the storage of {other}" for other in shared[:1])]))
    return "\n".join(lines)


def _tensor(tensor: torch.Tensor) -> list[str]:
    words = [f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)} strides {list(tensor.stride())}"]
    if tensor.storage_offset():
        words.append(f"offset {tensor.storage_offset()}")
    if tensor.requires_grad:
        words.append("requires grad" if tensor.is_leaf else "requires grad, not a leaf")
    values = tensor.detach().to("cpu", torch.float64)
    if bool((values == values.round()).all()):
        words.append(f"total {int(values.sum())}")
    return words


def _share(one: Any, other: Any) -> bool:
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        return False
    return one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()


def main(scripts: list[str], answer: str) -> None:
    """Describe each script; one that cannot be read says why in place of its graph."""
    found = []
    for script in scripts:
        try:
            found.append(describe(script))
        except Exception:
            found.append({"graph": f"cannot be read:\n{traceback.format_exc()}", "inputs": ""})
    Path(answer).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[2:], sys.argv[1])
