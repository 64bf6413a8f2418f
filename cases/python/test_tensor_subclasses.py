"""Tensor subclasses: their type, rules and attributes, as arguments, inside and as results."""

import pytest
import torch
from torch.utils import _pytree as pytree

from conformance import clause, expected, needs


class Lifted(torch.Tensor):
    """Adds one to every product."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        out = super().__torch_function__(func, types, args, kwargs or {})
        return out + 1 if func in (torch.Tensor.mul, torch.mul) else out


class Plain(torch.Tensor):
    """Has a method and a class attribute, and no rule of its own."""

    factor = 3

    def scaled(self):
        return self * self.factor


class Demoting(torch.Tensor):
    """Every result is a plain tensor."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        with torch._C.DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))


class Scaled(torch.Tensor):
    """Wraps a tensor that stands for itself times a factor."""

    @staticmethod
    def __new__(cls, held, factor):
        return torch.Tensor._make_wrapper_subclass(cls, held.shape, dtype=held.dtype, device=held.device)

    def __init__(self, held, factor):
        self.held, self.factor = held, factor

    def __tensor_flatten__(self):
        return ["held"], self.factor

    @staticmethod
    def __tensor_unflatten__(tensors, factor, size, stride):
        return Scaled(tensors["held"], factor)

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        factor = max(leaf.factor for leaf in pytree.tree_leaves(args) if isinstance(leaf, Scaled))
        args = pytree.tree_map_only(Scaled, lambda one: one.held * one.factor, args)
        out = func(*args, **(kwargs or {}))
        return pytree.tree_map_only(
            torch.Tensor, lambda one: Scaled(one, factor) if one.is_floating_point() else one, out
        )


def product(x, y):
    return x * y


def sum_of_all(x, y):
    return x.sum(), x + y


def product_both_ways(x, y):
    return y * x, torch.mul(x, y)


def method(x, y):
    return x.scaled() + y


def is_instance(x, y):
    return y * 2 if isinstance(x, Plain) and type(x) is Plain else y * 3


def inside_only(x, y):
    return y * 2 + y.as_subclass(Plain).scaled().as_subclass(torch.Tensor)


def comes_out(x, y):
    return (y * 2).as_subclass(Plain)


def view_of_it(x, y):
    return x[1:], x.reshape(-1)


def written(x, y):
    x.mul_(2)
    return x + y


def attribute(x, y):
    x.note = "noted"
    return x + y, x.note


def parts_of_it(x, y):
    return x.held * 2 + y


def make_one(x, y):
    return Scaled(y * 2, 5)


def on(wrap):
    def calls(device):
        return [(wrap(torch.arange(3.0, device=device)), torch.full((3,), 5.0, device=device))]

    return calls


def lifted(x):
    return x.as_subclass(Lifted)


def plain(x):
    return x.as_subclass(Plain)


def demoting(x):
    return x.as_subclass(Demoting)


def scaled(x):
    return Scaled(x, 2)


def held_and_factor(arguments, outputs):
    """What is inside of each wrapper."""
    wrappers = [leaf for leaf in pytree.tree_leaves((arguments, outputs)) if isinstance(leaf, Scaled)]
    return [(one.held, one.factor) for one in wrappers], [type(leaf).__name__ for leaf in pytree.tree_leaves(outputs)]


def names_of_types(arguments, outputs):
    return [type(leaf).__name__ for leaf in pytree.tree_leaves((arguments, outputs))]


FUNCTION = [
    pytest.param(product, lifted, expected("""mul; add"""), id="rule"),
    pytest.param(product_both_ways, lifted, expected("""mul; add; mul; add"""), id="rule_both_ways"),
    pytest.param(sum_of_all, lifted, expected("""sum; add"""), id="other_operator"),
    pytest.param(method, plain, expected("""mul; add"""), id="method"),
    pytest.param(is_instance, plain, expected("""mul"""), id="isinstance"),
    pytest.param(inside_only, plain, expected("""mul"""), id="inside"),
    pytest.param(comes_out, plain, expected("""mul"""), id="made"),
    pytest.param(view_of_it, plain, expected("""reshape"""), id="view"),
    pytest.param(written, plain, expected("""mul_; add"""), id="written"),
    pytest.param(attribute, plain, expected("""add"""), id="attribute"),
    pytest.param(product, demoting, expected("""mul"""), id="to_plain"),
]
DISPATCH = [
    pytest.param(product, scaled, expected("""mul"""), id="rule"),
    pytest.param(sum_of_all, scaled, expected("""sum; add"""), id="two_results"),
    pytest.param(parts_of_it, scaled, expected("""mul; add"""), id="parts"),
    pytest.param(make_one, scaled, expected("""mul; Scaled"""), id="made"),
]


@pytest.mark.parametrize(("program", "wrap", "operators"), FUNCTION)
@needs("python_objects")
@clause("python.subclasses.torch_function")
def test_torch_function(stack, device, program, wrap, operators):
    """A subclass by torch functions keeps its type, rules, methods and attributes."""
    run = stack.run(program, on(wrap), after=names_of_types)

    run.assert_matches_eager()
    run.assert_compiled(graphs=None, recompiles=None, graph_breaks=None)
    run.dynamo.operators.expect(operators)


@pytest.mark.parametrize(("program", "wrap", "operators"), DISPATCH)
@needs("python_objects")
@clause("python.subclasses.torch_dispatch")
def test_torch_dispatch(stack, device, program, wrap, operators):
    """A subclass by torch dispatch keeps its type, its rules and what it wraps."""
    run = stack.run(program, on(wrap), after=held_and_factor)

    run.assert_matches_eager()
    run.assert_compiled(graphs=None, recompiles=None, graph_breaks=None)
    run.dynamo.operators.expect(operators)
