"""Exceptions that Python raises and the program catches: the way taken is eager's."""

import importlib

import pytest
import torch

from conformance import clause, needs


def double(x):
    """Is compiled by itself where the program cannot be."""
    return x * 2


def index(x, notes):
    try:
        [1, 2][5]
    except IndexError as error:
        notes.append(str(error))
    return double(x)


def key(x, notes):
    try:
        {"a": 1}["b"]
    except KeyError as error:
        notes.append(error.args)
    return double(x)


def attribute(x, notes):
    try:
        notes.missing
    except AttributeError as error:
        notes.append(type(error).__name__)
    return double(x)


def next_of_a_list(x, notes):
    try:
        next([1, 2])
    except TypeError:
        notes.append("no iterator")
    return double(x)


def next_of_nothing(x, notes):
    try:
        next(iter([]))
    except StopIteration as error:
        notes.append(error.value)
    return double(x)


def assertion(x, notes):
    try:
        assert len(notes) == 5, "five are wanted"
    except AssertionError as error:
        notes.append(str(error))
    return double(x)


def division(x, notes):
    try:
        1 // len(notes)
    except ZeroDivisionError:
        notes.append("zero")
    return double(x)


def unpacking(x, notes):
    try:
        a, b = [1, 2, 3]  # noqa: F841
    except ValueError:
        notes.append("too many")
    return double(x)


def arguments(x, notes):
    try:
        index(x)
    except TypeError:
        notes.append("one is missing")
    return double(x)


def call_of_a_number(x, notes):
    try:
        (lambda: 5)()()
    except TypeError:
        notes.append("not callable")
    return double(x)


def operand(x, notes):
    try:
        "a" + 1
    except TypeError:
        notes.append("operand")
    return double(x)


def iteration(x, notes):
    try:
        for _ in 5:
            pass
    except TypeError:
        notes.append("not iterable")
    return double(x)


def unbound(x, notes):
    try:
        notes.append(missing)
    except NameError:
        notes.append("name")
    return double(x)


def unassigned(x, notes):
    try:
        notes.append(later)  # noqa: F821
    except UnboundLocalError:
        notes.append("local")
    later = double(x)
    return later


def removal(x, notes):
    try:
        notes.remove(3)
    except ValueError:
        notes.append("not there")
    return double(x)


def unhashable(x, notes):
    try:
        {[]: 1}
    except TypeError:
        notes.append("list")
    return double(x)


def module(x, notes):
    try:
        importlib.import_module("no_such_module")
    except ImportError:
        notes.append("import")
    return double(x)


ALL = (
    index,
    key,
    attribute,
    next_of_a_list,
    pytest.param(next_of_nothing, id="next_of_nothing"),
    pytest.param(assertion, id="assertion"),
    pytest.param(division, id="division"),
    pytest.param(unpacking, id="unpacking"),
    pytest.param(arguments, id="arguments"),
    pytest.param(call_of_a_number, id="call_of_a_number"),
    pytest.param(operand, id="operand"),
    pytest.param(iteration, id="iteration"),
    pytest.param(unbound, id="unbound"),
    pytest.param(unassigned, id="unassigned"),
    pytest.param(removal, id="removal"),
    pytest.param(unhashable, id="unhashable"),
    pytest.param(module, id="module"),
)


def with_notes(device):
    return [(torch.arange(3.0, device=device), [])]


@pytest.mark.parametrize("program", ALL)
@needs("python_objects")
@clause("python.exceptions.of_python_caught")
def test_caught(stack, device, program):
    """The handler that eager takes for an exception of Python's is taken, with eager's exception."""
    run = stack.run(program, with_notes)

    run.assert_matches_eager()
    run.assert_compiled(graphs=None, recompiles=None, graph_breaks=None)
    run.dynamo[:1].operators.expect("""mul""")
