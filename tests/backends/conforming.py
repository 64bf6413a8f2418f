"""Backends that keep every promise, written as an author of one would: the suite may blame none of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import fx
from torch._decomp import core_aten_decompositions
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.aot_autograd import make_boxed_func
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch._guards import TracingContext
from torch._ops import HigherOrderOperator
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx.experimental.proxy_tensor import make_fx

Inputs = Sequence[Any]


def dynamo_graph(module: fx.GraphModule, inputs: Inputs) -> Callable[..., Any]:
    """Run Dynamo's graph as it is."""
    return module.forward


def _nothing(module: fx.GraphModule, inputs: Inputs) -> Callable[..., Any]:
    boxed: Callable[..., Any] = make_boxed_func(module.forward)
    return boxed


#: AOTAutograd as it comes, with nothing behind it: its own partitioner, no decompositions.
aot_nothing = aot_autograd(fw_compiler=_nothing)

#: AOTAutograd as a backend with a small set of operators uses it.
aot_core = aot_autograd(
    fw_compiler=_nothing,
    decompositions=core_aten_decompositions(),
    partition_fn=min_cut_rematerialization_partition,
)


def retraced(module: fx.GraphModule, inputs: Inputs) -> Callable[..., Any]:
    """Trace Dynamo's graph anew, operator by operator and before autograd, and run what comes out.

    A graph that does something besides calling operators, or cannot be traced, runs as it is.
    """
    if not all(map(_is_of_operators, module.graph.nodes)):
        return module.forward
    context = TracingContext.get()
    mode = context.fake_mode
    assert mode is not None

    def fake(one: Any) -> Any:
        if not isinstance(one, torch.Tensor) or isinstance(one, FakeTensor):
            return one
        shapes = context.tensor_to_context.get(one)
        source = shapes.tensor_source if shapes is not None else None
        return mode.from_tensor(one, static_shapes=shapes is None, symbolic_context=shapes, source=source)

    fakes = [fake(one) for one in inputs]
    try:
        with mode:
            traced = make_fx(module, pre_dispatch=True)(*fakes)
    except Exception:
        return module.forward
    # Constants of the trace hold no values: they were made of fake tensors.
    return module.forward if traced.graph.find_nodes(op="get_attr") else traced


def _is_of_operators(node: fx.Node) -> bool:
    """Whether a trace keeps a node: no higher-order operator, hook, parameter, dual, inference mode or constant."""
    if node.op == "get_attr" or isinstance(node.target, HigherOrderOperator):
        return False
    return not any(word in str(node.target) for word in ("hook", "create_parameter", "dual", "inference_mode"))
