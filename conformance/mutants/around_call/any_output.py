"""Plain mutants, wrong for every program: for clauses whose subtle ones some case has no program to notice by."""

from __future__ import annotations

import functools
from collections import OrderedDict
from typing import Any
from unittest import mock

import torch

from conformance.mutants.base import Compiled, around
from conformance.mutants.wrappers import (
    cut_off,
    equal_ones_merged,
    on_arguments,
    on_outputs,
    swallowing,
    twice,
    with_buffers_put_back,
)

HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


def _off_by_one(output: torch.Tensor) -> torch.Tensor:
    return ~output if output.dtype == torch.bool else output + 1


def _reversed_strides(output: torch.Tensor) -> torch.Tensor:
    """The same values, with the first dimension innermost."""
    last_first = tuple(range(output.dim()))[::-1]
    return output.permute(last_first).contiguous().permute(last_first)


@around("generated.programs.as_eager")
def values_off(compiled: Compiled) -> Compiled:
    """Every element of every output is one too many."""
    return on_outputs(compiled, _off_by_one)


@around("aot_autograd.parameters.built_in_program")
def values_off_beside_parameters(compiled: Compiled) -> Compiled:
    """Every element of every output that is no parameter is one too many."""
    return on_outputs(compiled, lambda one: one if isinstance(one, torch.nn.Parameter) else _off_by_one(one))


@around("aot_autograd.metadata.requires_grad")
def copies_changed(compiled: Compiled) -> Compiled:
    """What a program changes of its arguments it changes of copies."""
    return on_arguments(compiled, lambda one: one * 1)


@around("aot_autograd.donated_buffers.retained_graph")
def outputs_cut_off(compiled: Compiled) -> Compiled:
    """Outputs are leaves, which no backward leaves."""
    return on_outputs(compiled, cut_off)


@around("aot_autograd.hooks.fire")
def outputs_cut_off_from_hooks(compiled: Compiled) -> Compiled:
    """Outputs are leaves, so that no hook sees a gradient."""
    return on_outputs(compiled, cut_off)


@around("aot_autograd.hooks.fire")
def hooks_of_modules_skipped(compiled: Compiled) -> Compiled:
    """Modules run as if they had no hooks."""

    def called(*args: Any, **kwargs: Any) -> Any:
        without = [
            mock.patch.dict(module.__dict__, {name: OrderedDict() for name in HOOKS})
            for module in getattr(compiled, "modules", list)()
        ]
        for patch in without:
            patch.start()
        try:
            return compiled(*args, **kwargs)
        finally:
            for patch in without:
                patch.stop()

    return functools.wraps(compiled)(called)


@around("aot_autograd.double_backward.right_or_refused")
def gradients_cut_off(compiled: Compiled) -> Compiled:
    """Outputs are leaves: they have no gradient, and none of that."""
    return on_outputs(compiled, cut_off)


@around("aot_autograd.errors.same_type_and_phase")
def errors_swallowed(compiled: Compiled) -> Compiled:
    """A call that raises returns nothing instead, and what it returns raises in no backward."""
    return on_outputs(swallowing(compiled), torch.Tensor.detach)


@around("aot_autograd.side_effects.state")
def state_changed_twice(compiled: Compiled) -> Compiled:
    """Each call is made twice, so that whatever it counts or draws is one further."""
    return twice(compiled)


@around("aot_autograd.side_effects.state")
def values_off_beside_state(compiled: Compiled) -> Compiled:
    """Every element of what is computed beside a change of state is one too many."""
    return on_outputs(compiled, _off_by_one)


@around("aot_autograd.aliasing.identity")
def equal_tensors_are_one(compiled: Compiled) -> Compiled:
    """An output that equals an argument, or an output before it, is that."""
    return equal_ones_merged(compiled, arguments=True, outputs=True)


@around("freezing.binary.otherwise")
def values_off_beside_constants(compiled: Compiled) -> Compiled:
    """Every element of what a constant is combined with is one too many."""
    return on_outputs(compiled, _off_by_one)


@around("freezing.folding.random", base="inductor")
def draws_off(compiled: Compiled) -> Compiled:
    """Every number that is drawn is one too many."""
    return on_outputs(compiled, _off_by_one)


@around("freezing.conv_bn.training")
def statistics_put_back(compiled: Compiled) -> Compiled:
    """Running statistics are after a call what they were before it."""
    return with_buffers_put_back(compiled)


@around("layout.outputs.eager_strides")
def dimensions_reversed(compiled: Compiled) -> Compiled:
    """Outputs lie in memory with their first dimension innermost."""
    return on_outputs(compiled, _reversed_strides)


@around("layout.outputs.strides_of_images")
def dimensions_of_images_reversed(compiled: Compiled) -> Compiled:
    """Images lie in memory with their first dimension innermost."""
    return on_outputs(compiled, _reversed_strides)


@around("layout.outputs.strides_of_reductions")
def dimensions_of_reductions_reversed(compiled: Compiled) -> Compiled:
    """What is reduced lies in memory with its first dimension innermost."""
    return on_outputs(compiled, _reversed_strides)
