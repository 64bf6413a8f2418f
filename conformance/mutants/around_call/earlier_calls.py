"""Mutants in how calls follow each other: what an earlier call leaves behind, or should have left, is mistaken."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any
from unittest import mock

import torch
import torch._dynamo
from torch import fx

from conformance.mutants.base import Compiled, around, editing


@around("duplicate_arguments.guards.global_stops_being_argument", base="eager")
def global_taken_for_the_argument(compiled: Compiled) -> Compiled:
    """A global that was an argument of the first call is read as that argument in every later call."""
    places: dict[str, int] = {}

    @functools.wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        held: dict[str, Any] = getattr(compiled, "__globals__", {})
        if not places:
            places.update({name: i for name, value in held.items() for i, arg in enumerate(args) if arg is value})
        with mock.patch.dict(held, {name: args[place] for name, place in places.items()}):
            return compiled(*args, **kwargs)

    return called


@around("duplicate_arguments.overlap.appears", base="eager")
def overlapping_arguments_torn_apart(compiled: Compiled) -> Compiled:
    """All arguments but the first are read before the first is written."""
    return lambda first, *rest: compiled(first, *(one.clone() for one in rest))


@around("duplicate_arguments.parameters.updated", base="eager")
def arguments_read_before_the_update(compiled: Compiled) -> Compiled:
    """Arguments are read before the module updates its parameters."""
    return lambda *args: compiled(*(one.clone() for one in args))


@around("duplicate_arguments.overlap.view_of_argument", base="dynamo")
def views_at_the_start_of_the_buffer(compiled: Compiled) -> Compiled:
    """A view that is returned begins where the buffer behind it begins."""

    def called(*args: Any) -> Any:
        view = compiled(*args)
        return view.as_strided(view.shape, view.stride(), 0)

    return called


@editing("duplicate_arguments.parameters.tied")
def later_uses_detached(module: fx.GraphModule) -> None:
    """A tensor that is used twice has the gradient of its first use only."""
    for node in list(module.graph.nodes):
        if node.op == "placeholder":
            for user in list(node.users)[1:]:
                with module.graph.inserting_before(user):
                    user.replace_input_with(node, module.graph.call_method("detach", (node,)))


def _forgetting(compiled: Compiled, forget: Callable[[int], bool]) -> Compiled:
    """What was compiled is forgotten before each call, counted from 0, for which ``forget`` says so."""
    calls = 0

    @functools.wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        if forget(calls):
            torch._dynamo.reset_code_caches()
        calls += 1
        return compiled(*args, **kwargs)

    return called


@around("duplicate_arguments.overlap.same_overlap", "guards.shapes.declared")
def compiled_in_every_call(compiled: Compiled) -> Compiled:
    """Every call compiles, whatever was compiled before."""
    return _forgetting(compiled, lambda call: True)


@around("duplicate_arguments.recompiles.return_to_first_form")
def compiled_again_on_return(compiled: Compiled) -> Compiled:
    """The third call finds nothing that was compiled before."""
    return _forgetting(compiled, lambda call: call == 2)


@around("duplicate_arguments.overlap.not_guarded_without_mutation", "duplicate_arguments.parameters.shared_later")
def compiled_again_in_the_second_call(compiled: Compiled) -> Compiled:
    """The second call finds nothing that was compiled before."""
    return _forgetting(compiled, lambda call: call == 1)


@around("duplicate_arguments.recompiles.requires_grad")
def requires_grad_of_the_first_call(compiled: Compiled) -> Compiled:
    """Later arguments are taken to require grad as the first one does."""
    first: list[bool] = []

    def called(x: torch.Tensor) -> Any:
        first.append(x.requires_grad)
        return compiled(x if x.requires_grad == first[0] else x.detach().requires_grad_(first[0]))

    return called


@around("aot_autograd.lifetimes.let_go")
def last_call_kept(compiled: Compiled) -> Compiled:
    """The arguments and outputs of a call are kept until the next one."""
    last: list[Any] = []

    @functools.wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        last[:] = [args, kwargs, compiled(*args, **kwargs)]
        return last[2]

    return called


@around("aot_autograd.lifetimes.after_backward")
def memory_of_arguments_kept(compiled: Compiled) -> Compiled:
    """The memory of a call's arguments is kept until the next one, as if it were saved for a backward."""
    saved: list[torch.Tensor] = []

    @functools.wraps(compiled)
    def called(*args: Any) -> Any:
        saved[:] = [one.detach() for one in args if isinstance(one, torch.Tensor)]
        return compiled(*args)

    return called
