"""Functions that share their code and differ in what is behind it, passed in turn."""

import functools

import pytest
import torch

from conformance import clause, expected, needs


def scaler(factor):
    return lambda x: x * factor


def run_function(x, function):
    return function(x)


def lambdas():
    return scaler(2), scaler(3)


def partials():
    return functools.partial(torch.mul, other=2), functools.partial(torch.mul, other=3)


def bound_methods():
    class Factor:
        def __init__(self, value):
            self.value = value

        def times(self, x):
            return x * self.value

    return Factor(2).times, Factor(3).times


def defaults():
    return tuple(type(_by_default)(_by_default.__code__, globals(), "f", (value,)) for value in (2, 3))


def _by_default(x, factor):
    return x * factor


def operators():
    return torch.sin, torch.cos


def passing(make):
    def calls(device):
        (first, second), x = make(), torch.arange(3.0, device=device)
        return [(x, function) for function in (first, second, first)]

    return calls


CLOSURES = [
    pytest.param(lambdas, expected("""function.__closure__[0].cell_contents == 2"""), id="lambdas"),
    pytest.param(partials, expected("""function.keywords['other'] == 2"""), id="partials"),
    pytest.param(bound_methods, expected("""function.__self__.value == 2"""), id="bound_methods"),
    pytest.param(defaults, expected("""function.__defaults__[0] == 2"""), id="defaults"),
    pytest.param(operators, expected("""identity of function"""), id="operators"),
]


@pytest.mark.parametrize(("make", "reason"), CLOSURES)
@needs("recompiles")
@clause("guards.code.closure_replaced")
def test_functions_of_one_code(stack, device, make, reason):
    """Functions with one code and other values behind it, passed in turn, compile once each and run as in eager."""
    run = stack.run(run_function, passing(make))

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect(reason)
