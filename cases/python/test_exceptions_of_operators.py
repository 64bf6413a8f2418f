"""Exceptions that an operator raises and the program catches: the way taken is eager's."""

import pytest
import torch

from conformance import clause, expected


def double(x):
    """Is compiled by itself where the program cannot be."""
    return x * 2


def softmax_over_no_dimension(x):
    try:
        return torch.softmax(x, dim=5)
    except IndexError:
        return double(x)


def sizes_that_do_not_fit(x):
    try:
        return x + torch.ones(4, device=x.device)
    except RuntimeError:
        return double(x)


def index_out_of_range(x):
    try:
        return x[7]
    except IndexError:
        return double(x)


def unpack_wrong_number(x):
    try:
        a, b = x
    except ValueError:
        return double(x)
    return a + b


def unknown_argument(x):
    try:
        return torch.sum(x, wrong=1)
    except TypeError:
        return double(x)


def unknown_attribute(x):
    try:
        return x.no_such_method()
    except AttributeError:
        return double(x)


def item_of_many(x):
    try:
        return x * x.item()
    except RuntimeError:
        return double(x)


def second_handler(x):
    try:
        return torch.cat([x, x], dim=3)
    except KeyError:
        return x * 3
    except (ValueError, IndexError):
        return double(x)


def wrong_handler_around_right(x):
    try:
        try:
            return x.transpose(0, 5)
        except ValueError:
            return x * 3
    except IndexError:
        return double(x)


def write_before_it(x):
    y = x * 1
    try:
        y.mul_(2)
        torch.squeeze(y, 8)
        y.mul_(5)
    except IndexError:
        pass
    return y


ROWS = [
    pytest.param(softmax_over_no_dimension, expected("""mul"""), id="dimension"),
    pytest.param(sizes_that_do_not_fit, expected("""ones; mul"""), id="sizes"),
    pytest.param(index_out_of_range, expected("""mul"""), id="index"),
    pytest.param(unpack_wrong_number, expected("""mul"""), id="unpacked"),
    pytest.param(unknown_argument, expected("""mul"""), id="unknown_argument"),
    pytest.param(unknown_attribute, expected("""mul"""), id="attribute"),
    pytest.param(item_of_many, expected("""mul"""), id="item"),
    pytest.param(second_handler, expected("""mul"""), id="second_handler"),
    pytest.param(wrong_handler_around_right, expected("""mul"""), id="outer_handler"),
    pytest.param(write_before_it, expected("""mul; mul_"""), id="write_before"),
]


def three_numbers(device):
    return [(torch.arange(3.0, device=device),)]


@pytest.mark.parametrize(("program", "operators"), ROWS)
@clause("python.exceptions.of_operators_caught")
def test_caught(stack, device, program, operators):
    """The handler that eager takes for an operator's exception is taken, and what was done before it remains."""
    run = stack.run(program, three_numbers)

    run.assert_matches_eager()
    run.assert_compiled(graphs=None, recompiles=None, graph_breaks=None)
    run.dynamo[-1:].operators.expect(operators)
