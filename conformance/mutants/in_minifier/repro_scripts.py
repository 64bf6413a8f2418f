"""Mutants of what the minifier's scripts carry: the backend, the configuration, the module, its inputs."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any

import torch
from torch import fx
from torch._dynamo import debug_utils
from torch._dynamo.repro import after_aot, after_dynamo

from conformance.mutants.base import in_steps, replacing


def _name_in_repro(backend: str) -> None:
    """Let a repro name this backend; a launcher names the right one."""

    @replacing(after_dynamo, "generate_dynamo_fx_repro_string")
    def text(own: Any, graph: Any, inputs: Any, named: Any, *args: Any, **options: Any) -> str:
        chosen = named if options.get("command") == "minify" else backend
        return str(own(graph, inputs, chosen, *args, **options))


@in_steps("minifier.after_dynamo.reproduces")
def repro_that_passes() -> None:
    """The repro names a backend that compiles nothing, so that it passes."""
    _name_in_repro("eager")


@in_steps("minifier.own_backend.reproduces")
def repro_fails_for_another_reason() -> None:
    """The repro names a backend that does not exist, so that it fails for that reason."""
    _name_in_repro("no_such_backend")


@in_steps("minifier.after_aot.reproduces", base="inductor")
def configuration_lost() -> None:
    """The scripts are written without the configuration under which the program failed."""

    @replacing(after_aot, "generate_config_string")
    def text(own: Any, **options: Any) -> str:
        return ""


def _write_module(change: Callable[[str], str]) -> None:
    """Change the text of every module that is written down."""

    @replacing(debug_utils.NNModuleToString, "convert")
    def convert(own: Any, graph: fx.GraphModule, **options: Any) -> str:
        return change(own(graph, **options))


@in_steps("minifier.after_aot.constants", base="inductor")
def constants_lost() -> None:
    """Constant tensors are not written into the module that uses them."""
    _write_module(lambda text: "\n".join(line for line in text.splitlines() if "register_buffer(" not in line))


@in_steps("minifier.repro.mutated_buffers")
def mutation_lost() -> None:
    """An operator that mutates its argument is written down as the one that does not."""
    _write_module(lambda text: text.replace(".add_(", ".add("))


@in_steps("minifier.repro.random_numbers", base="inductor")
def seeds_lost() -> None:
    """Seeds are written down as zeros."""
    seeds = re.compile(r"torch\.ops\.prims\.inductor_seeds\.default\(1, (device\([^)]*\))\)")
    _write_module(lambda text: seeds.sub(r"torch.zeros([1], dtype=torch.int64, device=\1)", text))


@in_steps("minifier.after_dynamo.generated_module")
def conversions_lost() -> None:
    """Conversions between devices are left out of the module."""

    @replacing(debug_utils.NNModuleToString, "convert")
    def convert(own: Any, module: fx.GraphModule, **options: Any) -> str:
        graph = copy.deepcopy(module.graph)
        for node in graph.find_nodes(op="call_method", target="to"):
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)
        return str(own(fx.GraphModule(module, graph), **options))


def _write_tensor(change: Callable[[torch.Tensor], torch.Tensor]) -> None:
    """Write down what a function makes of each input."""
    kept: list[torch.Tensor] = []  # alive, so that no two are taken for one by their address

    @replacing(debug_utils.InputWriter, "tensor")
    def tensor(own: Any, self: Any, name: str, value: torch.Tensor) -> None:
        kept.append(changed := change(value))
        own(self, name, changed)


@in_steps("minifier.repro.inputs")
def strides_lost() -> None:
    """Inputs are written down contiguous."""
    _write_tensor(lambda value: value.contiguous() if value.is_leaf else value)


@in_steps("minifier.repro.inputs")
def dtypes_lost() -> None:
    """Inputs are written down in single precision."""
    _write_tensor(lambda value: value if value.dtype == torch.float32 else value.float())


@in_steps("minifier.repro.inputs")
def grad_lost() -> None:
    """Inputs are written down as requiring no grad."""
    _write_tensor(torch.Tensor.detach)


@in_steps("minifier.repro.inputs")
def values_lost() -> None:
    """Inputs are read back with random values."""

    @replacing(debug_utils.InputReader, "storage")
    def storage(own: Any, self: Any, storage_hash: str | None, *args: Any, **options: Any) -> Any:
        return own(self, None, *args, **options)


@in_steps("minifier.repro.shared_storage", "minifier.after_dynamo.overlapping_inputs")
def sharing_lost() -> None:
    """Each input is read back into a storage of its own."""

    @replacing(debug_utils.InputReader, "tensor")
    def tensor(own: Any, self: Any, storage: torch.UntypedStorage, *args: Any, **options: Any) -> Any:
        return own(self, storage.clone(), *args, **options)  # type: ignore[no-untyped-call]


@in_steps("minifier.after_dynamo.non_leaf_inputs")
def every_input_a_leaf() -> None:
    """An input that is not a leaf is read back as one."""

    @replacing(debug_utils.InputReader, "tensor")
    def tensor(own: Any, *args: Any, **options: Any) -> Any:
        return own(*args, **{**options, "is_leaf": True})


@in_steps("minifier.repro.dynamic_shapes")
def sizes_lost() -> None:
    """Every symbolic size is written down as one."""

    @replacing(debug_utils.InputWriter, "symint")
    def symint(own: Any, self: Any, name: str, value: Any) -> None:
        own(self, name, 1)


@in_steps("minifier.own_backend.accuracy")
def every_result_taken_for_wrong() -> None:
    """The accuracy check takes the result of every graph for wrong, so that what is left of one says nothing."""

    @replacing(after_dynamo, "backend_accuracy_fails")
    def fails(own: Any, *args: Any, **options: Any) -> bool:
        return True
