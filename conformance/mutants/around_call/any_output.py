"""Plain mutants, wrong for every program: for clauses whose subtle ones some case has no program to notice by."""

from __future__ import annotations

import torch

from conformance.mutants.base import Compiled, around
from conformance.mutants.wrappers import cut_off, equal_ones_merged, on_outputs, swallowing


def _off_by_one(output: torch.Tensor) -> torch.Tensor:
    return ~output if output.dtype == torch.bool else output + 1


def _reversed_strides(output: torch.Tensor) -> torch.Tensor:
    """The same values, with the first dimension innermost."""
    last_first = tuple(range(output.dim()))[::-1]
    return output.permute(last_first).contiguous().permute(last_first)


@around(
    "generated.programs.as_eager",
    "aot_autograd.side_effects.state",
    "freezing.binary.otherwise",
    "freezing.folding.random",
    base="inductor",
)
def values_off(compiled: Compiled) -> Compiled:
    """Every element of every output is one too many."""
    return on_outputs(compiled, _off_by_one)


@around("aot_autograd.mutation.through_expanded_view")
def outputs_off_by_rounding(compiled: Compiled) -> Compiled:
    """Floating-point outputs go through half precision and back, one thousandth added."""

    def rounded(output: torch.Tensor) -> torch.Tensor:
        return (output * 1.001).half().to(output.dtype) if output.is_floating_point() else output

    return on_outputs(compiled, rounded)


@around("aot_autograd.parameters.built_in_program")
def values_off_beside_parameters(compiled: Compiled) -> Compiled:
    """Every element of every output that is no parameter is one too many."""
    return on_outputs(compiled, lambda one: one if isinstance(one, torch.nn.Parameter) else _off_by_one(one))


@around(
    "aot_autograd.donated_buffers.retained_graph",
    "aot_autograd.hooks.fire",
    "aot_autograd.double_backward.right_or_refused",
    "aot_autograd.grad_mode.change_outlives_call",
)
def outputs_cut_off(compiled: Compiled) -> Compiled:
    """Outputs are leaves: they have no history, and no backward goes beyond them."""
    return on_outputs(compiled, cut_off)


@around("aot_autograd.errors.same_type_and_phase")
def errors_swallowed(compiled: Compiled) -> Compiled:
    """A call that raises returns nothing instead, and what it returns raises in no backward."""
    return on_outputs(swallowing(compiled), torch.Tensor.detach)


@around("aot_autograd.aliasing.identity")
def equal_tensors_are_one(compiled: Compiled) -> Compiled:
    """An output that equals an argument, or an output before it, is that."""
    return equal_ones_merged(compiled, arguments=True, outputs=True)


@around("layout.outputs.eager_strides", "layout.outputs.strides_of_images", "layout.outputs.strides_of_reductions")
def dimensions_reversed(compiled: Compiled) -> Compiled:
    """Outputs lie in memory with their first dimension innermost."""
    return on_outputs(compiled, _reversed_strides)
