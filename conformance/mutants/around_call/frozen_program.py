"""Mutants in how a frozen program is called: by name, again, with other weights, or with tensors that it has frozen."""

from __future__ import annotations

import functools
from typing import Any

import torch
import torch._dynamo
from torch import fx, nn

from conformance.mutants.base import Compiled, around, editing
from conformance.mutants.wrappers import on_outputs


@around("freezing.arguments.keywords")
def keyword_numbers_ignored(compiled: Compiled) -> Compiled:
    """A keyword argument that is a number has its default, whatever the caller gives."""

    @functools.wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        return compiled(*args, **{name: value for name, value in kwargs.items() if not isinstance(value, int)})

    return called


@around("freezing.weights.same_values_later")
def compiled_again_for_each_version(compiled: Compiled) -> Compiled:
    """A program is compiled again whenever its parameters were written to, whatever they hold now."""
    assert isinstance(compiled, nn.Module)
    seen: list[int] = []

    def called(*args: Any) -> Any:
        versions = [parameter._version for parameter in compiled.parameters()]
        if seen and versions != seen:
            torch._dynamo.reset()
        seen[:] = versions
        return compiled(*args)

    return called


@around("freezing.aliasing.returned_parameter")
def returned_parameters_copied(compiled: Compiled) -> Compiled:
    """What is returned of a parameter is a copy, as it would be of a constant."""
    assert isinstance(compiled, nn.Module)
    memory = {parameter.untyped_storage().data_ptr() for parameter in compiled.parameters()}
    return on_outputs(compiled, lambda one: one.clone() if one.untyped_storage().data_ptr() in memory else one)


@around("freezing.constants.also_an_argument")
def buffers_frozen_as_arguments(compiled: Compiled) -> Compiled:
    """An argument that is a buffer of the module in the first call is that buffer in every later one."""
    assert isinstance(compiled, nn.Module)
    frozen: dict[int, torch.Tensor] = {}

    def called(*args: Any) -> Any:
        if not frozen:
            frozen.update({i: one for i, arg in enumerate(args) for one in compiled.buffers() if one is arg})
        return compiled(*(frozen.get(i, arg) for i, arg in enumerate(args)))

    return called


@around("freezing.constants.also_an_argument")
def buffers_read_in_the_first_call(compiled: Compiled) -> Compiled:
    """An argument that is a buffer of the module holds in every later call what it held in the first one."""
    assert isinstance(compiled, nn.Module)
    held: list[torch.Tensor] = []

    def called(*args: Any) -> Any:
        if not held:
            held.extend(buffer.clone() for buffer in compiled.buffers())
            return compiled(*args)
        known = {id(buffer): value for buffer, value in zip(compiled.buffers(), held, strict=True)}
        return compiled(*(known.get(id(arg), arg) for arg in args))

    return called


@around("freezing.constants.new_results")
def equal_results_returned_again(compiled: Compiled) -> Compiled:
    """A result that holds what the first call's did is that call's tensor."""
    first: list[Any] = []

    def called(*args: Any) -> Any:
        outputs = compiled(*args)
        first.append(outputs)
        return tuple(kept if torch.equal(kept, new) else new for kept, new in zip(first[0], outputs, strict=True))

    return called


@around("freezing.cpp_wrapper.called_twice", base="inductor_cpp_wrapper")
def first_result_returned_again(compiled: Compiled) -> Compiled:
    """Every call returns what the first one computed."""
    first: list[torch.Tensor] = []

    def called(*args: Any) -> Any:
        output = compiled(*args)
        first.append(output.clone())
        return first[0]

    return called


@editing("freezing.constants.tied")
def later_uses_copied(module: fx.GraphModule) -> None:
    """Each use of a weight after its first is of a copy."""
    for node in module.graph.find_nodes(op="placeholder"):
        for user in list(node.users)[1:]:
            with module.graph.inserting_before(user):
                user.replace_input_with(node, module.graph.call_method("clone", (node,)))
