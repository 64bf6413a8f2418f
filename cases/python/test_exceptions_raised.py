"""Exceptions that a program raises and catches itself, with else, finally and chains."""

import pytest
import torch

from conformance import clause, needs


def double(x):
    """Is compiled by itself where the program cannot be."""
    return x * 2


class Own(Exception):
    def __init__(self, code, **details):
        super().__init__(f"code {code}")
        self.code, self.details = code, details


class Derived(Own):
    pass


def own_attributes(x, notes):
    try:
        raise Own(3, place="here")
    except Own as error:
        notes.extend([error.code, error.details, error.args])
    return double(x)


def derived(x, notes):
    try:
        raise Derived(4)
    except Own as error:
        notes.append(type(error).__name__)
    return double(x)


def other_branch(x, notes):
    try:
        notes.append("tried")
    except ValueError:
        notes.append("caught")
    else:
        notes.append("else")
    finally:
        notes.append("finally")
    return double(x)


def chained(x, notes):
    try:
        try:
            raise KeyError("first")
        except KeyError as error:
            raise ValueError("second") from error
    except ValueError as error:
        notes.append(repr(error.__cause__))
    return double(x)


def context(x, notes):
    try:
        try:
            raise KeyError("first")
        finally:
            raise ValueError("second")
    except ValueError as error:
        notes.append(type(error.__context__).__name__)
    return double(x)


def raised_again(x, notes):
    try:
        try:
            raise KeyError("first")
        except KeyError:
            notes.append("noted")
            raise
    except LookupError as error:
        notes.append(error.args)
    return double(x)


def return_in_finally(x, notes):
    def inner():
        try:
            return 1
        finally:
            notes.append("finally")

    def outer():
        try:
            raise ValueError("lost")
        finally:
            return 5

    return x * (inner() * outer())


def break_in_finally(x, notes):
    for number in range(3):
        try:
            if number == 1:
                continue
            notes.append(number)
        finally:
            notes.append("next")
    return x * len(notes)


def name_is_gone(x, notes):
    error = "outer"
    try:
        raise ValueError
    except ValueError as caught:
        error = caught
    notes.append(str(error))
    return double(x)


def group_by_tuple(x, notes):
    kinds = (KeyError, IndexError)
    try:
        raise IndexError("one of two")
    except kinds as error:
        notes.append(isinstance(error, kinds))
    return double(x)


def notes_of_an_exception(x, notes):
    error = ValueError("first", 2)
    error.extra = 5
    try:
        raise error
    except ValueError as caught:
        notes.append((caught is error, caught.extra, caught.args))
    return double(x)


def with_notes(device):
    return [(torch.arange(3.0, device=device), [])]


CAUGHT = (
    own_attributes,
    derived,
    other_branch,
    pytest.param(chained, id="chained"),
    pytest.param(context, id="context"),
    pytest.param(raised_again, id="raised_again"),
    pytest.param(return_in_finally, id="return_in_finally"),
    pytest.param(break_in_finally, id="break_in_finally"),
    pytest.param(name_is_gone, id="name_is_gone"),
    pytest.param(group_by_tuple, id="group_by_tuple"),
    pytest.param(notes_of_an_exception, id="notes_of_an_exception"),
)


@pytest.mark.parametrize("program", CAUGHT)
@needs("python_objects")
@clause("python.exceptions.raised_and_caught")
def test_caught_inside(stack, device, program):
    """An exception of the program's own is caught with eager's attributes, causes and order."""
    run = stack.run(program, with_notes)

    run.assert_matches_eager()
    run.assert_compiled(graphs=None, recompiles=None, graph_breaks=None)
    run.dynamo[-1:].operators.expect("""mul""")
