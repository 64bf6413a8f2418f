"""Programs that raise, or catch an exception: what they did until then remains, and no more."""

import pytest
import torch

from conformance import Program, clause, expected, needs, tensors

LOG = []


def double_and_log(x):
    y = x * 2
    LOG.append(y)
    return y


def add_in_place(x):
    x.add_(1)
    return x


def raise_between(x):
    LOG.append("before")
    y = double_and_log(x)
    if y.dim() == 1:
        raise KeyError("in between")
    LOG.append("after")
    return y


def raise_after_write(x):
    add_in_place(x)
    raise ValueError(f"after the write to {x.dim()}")


@torch.compiler.disable(recursive=False)
def catch_in_between(x):
    """What the program did remains to be seen, since this catches what it raises, and is not compiled itself."""
    try:
        raise_between(x)
    except KeyError:
        LOG.append("raised")
    return x


@torch.compiler.disable(recursive=False)
def catch_after_write(x):
    try:
        raise_after_write(x)
    except ValueError:
        LOG.append("raised")
    return x


def raise_and_catch(x):
    try:
        LOG.append("tried")
        raise ValueError("caught")
    except ValueError as error:
        LOG.append(str(error))
    finally:
        LOG.append("finally")
    return x + len(LOG)


def raise_and_catch_a_key(x):
    """The text of a KeyError is the repr of its key."""
    try:
        raise KeyError("caught")
    except KeyError as error:
        LOG.append(str(error))
    return x + len(LOG)


def log_of(arguments, output):
    return list(LOG)


@pytest.mark.parametrize(
    ("program", "operators"),
    [
        pytest.param(catch_in_between, expected("""mul"""), id="in_between"),
        pytest.param(catch_after_write, expected("""add_"""), id="after_write"),
    ],
)
@needs("python_objects")
@clause("aot_autograd.side_effects.until_it_raises")
def test_exceptions(stack, device, program, operators):
    """A program that raises raises, and what it did before remains."""
    run = stack.run(Program.of(program, after=log_of), tensors((2,), device=device))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect(operators)


@pytest.mark.parametrize("program", [raise_and_catch, raise_and_catch_a_key])
@needs("python_objects")
@clause("aot_autograd.side_effects.until_it_raises")
def test_caught_exception(stack, device, program):
    """An exception that the program catches leaves what each part of the statement did."""
    run = stack.run(Program.of(program, after=log_of), tensors((2,), device=device))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect("""add""")
