"""Exceptions that leave a program: their type, and what was done before."""

import pytest
import torch

from conformance import clause, expected, needs


def double(x):
    """Is compiled by itself where the program cannot be."""
    return x * 2


class Own(Exception):
    def __init__(self, code, **details):
        super().__init__(f"code {code}")
        self.code, self.details = code, details


class Derived(Own):
    pass


def write_and_raise(x, notes):
    x.mul_(2)
    notes.append(double(x))
    raise Own(7, size=x.dim())


def raise_from(x, notes):
    try:
        notes.append(double(x))
        raise KeyError("inner")
    except KeyError as error:
        raise Derived(8) from error


def raise_after_finally(x, notes):
    try:
        raise IndexError("out")
    finally:
        notes.append(double(x))


def raise_in_a_callee(x, notes):
    write_and_raise(x, notes)
    notes.append("never")


class Undoing:
    """Puts a list back when it is left."""

    def __init__(self, notes):
        self.notes = notes

    def __enter__(self):
        self.notes.append("entered")

    def __exit__(self, kind, error, trace):
        self.notes[:] = ["undone", kind.__name__ if kind else "none"]


def raise_in_a_context(x, notes):
    with Undoing(notes):
        notes.append(double(x))
        raise Own(9)


def raise_under_no_grad(x, notes):
    with torch.no_grad():
        notes.append(double(x))
        raise Own(10)


@torch.compiler.disable(recursive=False)
def caught_outside(x, notes, program):
    """Is not compiled, so that what was done before the exception left can be seen."""
    try:
        program(x, notes)
    except (Own, IndexError) as error:
        notes.append((type(error).__name__, error.args, getattr(error, "details", None), repr(error.__cause__)))
    return torch.is_grad_enabled()


def with_program(program):
    return lambda device: [(torch.arange(3.0, device=device), [], program)]


LEAVING = [
    pytest.param(write_and_raise, expected("""mul_; mul"""), id="write"),
    pytest.param(raise_from, expected("""mul"""), id="cause"),
    pytest.param(raise_after_finally, expected("""mul"""), id="finally"),
    pytest.param(raise_in_a_callee, expected("""mul_; mul"""), id="callee"),
    pytest.param(raise_in_a_context, expected("""mul"""), id="context"),
    pytest.param(raise_under_no_grad, expected("""set_grad_enabled; mul; set_grad_enabled"""), id="no_grad"),
]


@pytest.mark.parametrize(("program", "operators"), LEAVING)
@needs("graph_breaks", "python_objects")
@clause("python.exceptions.leaving")
def test_leaving(stack, device, program, operators):
    """An exception that leaves has eager's type, arguments and cause, after what eager did before it."""
    run = stack.run(caught_outside, with_program(program))

    run.assert_matches_eager()
    run.assert_compiled(graphs=None, recompiles=None, graph_breaks=None)
    run.dynamo[:1].operators.expect(operators)
