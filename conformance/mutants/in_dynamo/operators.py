"""Mutants in how operators are computed: factors, dtypes, forms, layouts and refusals that are lost."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import fx

from conformance.canonical.operators import target_name
from conformance.mutants.base import around, editing
from conformance.mutants.wrappers import on_outputs


def _named(module: fx.GraphModule, *names: str) -> list[fx.Node]:
    called = ("call_function", "call_method")
    return [node for node in module.graph.nodes if node.op in called and target_name(node.target) in names]


def _replace(module: fx.GraphModule, names: tuple[str, ...], function: Callable[..., Any]) -> None:
    """Every call of one of these operators becomes a call of the function, which gets the operator first."""
    for node in _named(module, *names):
        original: Any = getattr(torch.Tensor, str(node.target)) if node.op == "call_method" else node.target
        node.op, node.target, node.args = "call_function", functools.partial(function, original), node.args


def _drop_alpha(node: fx.Node) -> None:
    node.kwargs = {name: value for name, value in node.kwargs.items() if name != "alpha"}


@editing("operators.chains.as_eager")
def multiply_and_add_without_alpha(module: fx.GraphModule) -> None:
    """A product and a sum are fused, and the factor of the sum is lost."""
    for node in _named(module, "add", "add_", "sub"):
        if any(isinstance(one, fx.Node) and target_name(one.target) == "mul" for one in node.args):
            _drop_alpha(node)


@editing("operators.chains.as_eager")
def factor_of_an_added_product_lost(module: fx.GraphModule) -> None:
    """A product that is added to another operand is fused with the sum, whose factor scales the product: it is lost."""
    for node in _named(module, "add", "sub"):
        second = node.args[1] if len(node.args) > 1 else None
        if isinstance(second, fx.Node) and target_name(second.target) in ("mul", "matmul"):
            _drop_alpha(node)


def _in_dtype_of_first(original: Any, x: Any, y: Any) -> Any:
    if isinstance(x, torch.Tensor) and isinstance(y, torch.Tensor) and y.dim():
        return original(x, y.to(x.dtype))
    return original(x, y)


@editing("operators.results.promotion")
def first_operand_decides_dtype(module: fx.GraphModule) -> None:
    """Sums and products are computed in the dtype of their first operand."""
    _replace(module, ("add", "mul"), _in_dtype_of_first)


def _wide(original: Any, x: Any, y: Any) -> Any:
    wide = isinstance(x, torch.Tensor) and x.dtype is torch.uint8
    return original(x.to(torch.int32), y) if wide else original(x, y)


@editing("operators.results.exact_integers")
def bytes_do_not_wrap(module: fx.GraphModule) -> None:
    """Differences of bytes are computed in 32 bits and stay there."""
    _replace(module, ("sub",), _wide)


def _bits_lost(original: Any, x: torch.Tensor, *args: Any, **options: Any) -> Any:
    return original(x.to(torch.bfloat16), *args, **options).to(x.dtype)


@editing("operators.results.as_eager")
def exponentials_in_half_the_bits(module: fx.GraphModule) -> None:
    """Exponentials are computed with the precision of bfloat16."""
    _replace(module, ("exp",), _bits_lost)


def _without_gradient(original: Any, x: torch.Tensor, *args: Any, **options: Any) -> Any:
    result = original(x, *args, **options)
    return result.detach() + x.detach() * 0 + (x - x.detach()) if x.shape == result.shape else result


@editing("operators.gradients.as_eager")
def straight_through_hyperbolic_tangents(module: fx.GraphModule) -> None:
    """The gradient of a hyperbolic tangent is passed on as it comes."""
    _replace(module, ("tanh",), _without_gradient)


def _of_a_copy(original: Any, x: torch.Tensor, *args: Any, **options: Any) -> Any:
    return original(x.clone(), *args, **options)


@editing("operators.forms.in_place")
def exponentials_beside_their_operand(module: fx.GraphModule) -> None:
    """An exponential in place is written to a copy."""
    _replace(module, ("exp_",), _of_a_copy)


def _into_memory_of_its_own(original: Any, *args: Any, **options: Any) -> Any:
    options.pop("out", None)
    return original(*args, **options)


@editing("operators.forms.out")
def results_not_written_out(module: fx.GraphModule) -> None:
    """An exponential or a maximum that is given a tensor for its result makes one of its own."""
    _replace(module, ("exp", "amax", "cumsum"), _into_memory_of_its_own)


def _contiguous(original: Any, *args: Any, **options: Any) -> Any:
    return original(*args, **options).contiguous()


@editing("operators.inputs.layouts")
def sums_of_contiguous_copies(module: fx.GraphModule) -> None:
    """The result of a sum is contiguous, whatever its operands are."""
    _replace(module, ("add",), _contiguous)


def _as_it_lies(original: Any, x: torch.Tensor, *args: Any, **options: Any) -> Any:
    return original(x.as_strided(x.shape, x.new_empty(x.shape).stride()), *args, **options)


@editing("operators.inputs.layouts")
def gaps_read_as_elements(module: fx.GraphModule) -> None:
    """A cumulative sum goes through memory from its first element on, whatever lies between the elements."""
    _replace(module, ("cumsum",), _as_it_lies)


def _with_a_dimension(original: Any, x: torch.Tensor, *args: Any, **options: Any) -> Any:
    result = original(x, *args, **options)
    return result.reshape(1) if x.dim() == 0 else result


@editing("operators.inputs.small_sizes")
def a_number_is_a_row(module: fx.GraphModule) -> None:
    """The exponential of a tensor without dimensions has one."""
    _replace(module, ("exp",), _with_a_dimension)


def _finite(original: Any, x: torch.Tensor, *args: Any, **options: Any) -> Any:
    result = original(x, *args, **options)
    return torch.nan_to_num(result, posinf=float("inf"), neginf=float("-inf")) if x.is_floating_point() else result


@editing("operators.inputs.special_values")
def not_a_number_is_zero(module: fx.GraphModule) -> None:
    """The exponential of what is not a number is zero."""
    _replace(module, ("exp",), _finite)


def _wrapped_around(original: Any, x: torch.Tensor, dim: int, where: torch.Tensor, **options: Any) -> Any:
    return original(x, dim, where.remainder(x.shape[dim]), **options)


@editing("operators.errors.values")
def rows_wrapped_around(module: fx.GraphModule) -> None:
    """A row past the end is counted from the beginning."""
    _replace(module, ("index_select",), _wrapped_around)


@around("operators.calls.repeated")
def results_of_the_first_call(compiled: Callable[..., Any]) -> Callable[..., Any]:
    """The second call returns the tensors that the first one returned."""
    first: list[Any] = []

    def called(*args: Any) -> Any:
        if not first:
            first.append(compiled(*args))
        return first[0]

    return called


@around("operators.calls.threads")
def second_thread_forgotten(compiled: Callable[..., Any]) -> Callable[..., Any]:
    """With several threads the last element of an output is not computed, and what is refused is not refused."""

    def lost(output: torch.Tensor) -> torch.Tensor:
        if output.dim():
            output.view(-1)[-1] = 0
        return output

    def called(*args: Any) -> Any:
        if torch.get_num_threads() == 1:
            return compiled(*args)
        try:
            return on_outputs(compiled, lost)(*args)
        except RuntimeError:
            return args[0]

    return called


@around("operators.errors.refused")
def refused_in_other_words(compiled: Callable[..., Any]) -> Callable[..., Any]:
    """Whatever is refused is refused as an arithmetic error."""

    def called(*args: Any) -> Any:
        try:
            return compiled(*args)
        except Exception:
            raise ArithmeticError("refused") from None

    return called


def _drawn_twice(original: Any, *args: Any, **options: Any) -> Any:
    original(*args, **options)
    return original(*args, **options)


@editing("operators.random.as_eager")
def drawn_twice(module: fx.GraphModule) -> None:
    """The second of two draws is what a program gets."""
    _replace(module, ("rand_like", "bernoulli", "dropout", "normal"), _drawn_twice)
