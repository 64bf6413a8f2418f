"""Context managers of the user's: entered and left as in eager."""

import contextlib

import pytest
import torch

from conformance import clause, needs


class Noting:
    """Notes when it is entered and left, and swallows the exceptions that it is told to."""

    def __init__(self, notes, name="it", swallows=()):
        self.notes, self.name, self.swallows = notes, name, swallows

    def __enter__(self):
        self.notes.append(f"enter {self.name}")
        return len(self.notes)

    def __exit__(self, kind, error, trace):
        self.notes.append((f"exit {self.name}", kind.__name__ if kind else None, error.args if error else None))
        return kind is not None and issubclass(kind, self.swallows)


class FailsToEnter(Noting):
    def __enter__(self):
        raise KeyError("entering")


@contextlib.contextmanager
def noted(notes, name):
    notes.append(f"enter {name}")
    try:
        yield name
    except ValueError:
        notes.append(f"caught {name}")
    finally:
        notes.append(f"exit {name}")


def plain(x, notes):
    with Noting(notes) as count:
        y = x * count
    notes.append("after")
    return y


def nested(x, notes):
    with Noting(notes, "outer"), Noting(notes, "inner") as count:
        return x * count


def swallowed(x, notes):
    with Noting(notes, swallows=ValueError):
        raise ValueError("inside")
    return x * 2


def passes(x, notes):
    try:
        with Noting(notes, "outer"), Noting(notes, "inner", swallows=IndexError):
            raise KeyError("inside")
    except KeyError:
        notes.append("caught")
    return x * 2


def entered_again(x, notes):
    one = Noting(notes)
    for _ in range(2):
        with one:
            notes.append(2)
    return x * 2


def decorated(x, notes):
    with noted(notes, "generator") as name:
        notes.append(name)
    return x * 2


def decorated_swallows(x, notes):
    with noted(notes, "generator"):
        raise ValueError("inside")
    return x * 2


def fails_to_enter(x, notes):
    try:
        with Noting(notes, "outer"), FailsToEnter(notes):
            notes.append("never")
    except KeyError:
        notes.append("caught")
    return x * 2


def return_inside(x, notes):
    def inner():
        with Noting(notes):
            return len(notes)

    return x * inner()


def stack_of_exits(x, notes):
    with contextlib.ExitStack() as exits:
        exits.enter_context(Noting(notes, "first"))
        exits.callback(notes.append, "called")
        exits.enter_context(Noting(notes, "second"))
    return x * 2


def suppressed(x, notes):
    with contextlib.suppress(KeyError):
        notes.append("before")
        raise KeyError("inside")
    return x * 2


def redirected(x, notes):
    with contextlib.nullcontext(5) as value:
        y = x * value
    return y


def grad_mode_within(x, notes):
    with Noting(notes), torch.no_grad():
        notes.append(torch.is_grad_enabled())
    notes.append(torch.is_grad_enabled())
    return x * 2


def with_notes(device):
    return [(torch.arange(3.0, device=device), [])]


PROGRAMS = (
    plain,
    nested,
    swallowed,
    pytest.param(passes, id="passes"),
    pytest.param(entered_again, id="entered_again"),
    pytest.param(decorated, id="decorated"),
    pytest.param(decorated_swallows, id="decorated_swallows"),
    pytest.param(fails_to_enter, id="fails_to_enter"),
    pytest.param(return_inside, id="return_inside"),
    pytest.param(stack_of_exits, id="stack_of_exits"),
    pytest.param(suppressed, id="suppressed"),
    pytest.param(redirected, id="redirected"),
    pytest.param(grad_mode_within, id="grad_mode_within"),
)


@pytest.mark.parametrize("program", PROGRAMS)
@needs("graph_breaks", "python_objects")
@clause("python.contexts.entered_and_left")
def test_entered_and_left(stack, device, program):
    """A context manager notes the same, in the same order and with the same exceptions, as in eager."""
    run = stack.run(program, with_notes)

    run.assert_matches_eager()
    run.assert_compiled(graphs=None, recompiles=None, graph_breaks=None)
    run.dynamo[-1:].operators.expect("""mul""")
