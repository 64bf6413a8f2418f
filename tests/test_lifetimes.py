"""Lifetimes and warnings: what a stack keeps that eager lets go, and what it says or does not say."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from oracle_runs import calls_of, leaf, on, reported, wrapped

KEPT: list[Any] = []


def affine(x, y):
    return x * 2 + y, y.t()


def keeps_its_input(x):
    KEPT.append(x)
    return x * 2


def warns(x):
    warnings.warn("careful", stacklevel=1)
    return x * 2


def torch_warns(x):
    return torch.nn.functional.l1_loss(x, x[:1])


def _keeping(what: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def wrap(compiled: Callable[..., Any]) -> Callable[..., Any]:
        last: list[Any] = []

        def called(*args: Any) -> Any:
            output = compiled(*args)
            last[:] = [what(args, output)]
            return output

        return called

    return wrap


#: What a stack keeps until the next call, and all that must be reported of it.
LEAKS: dict[str, tuple[Callable[[Any, Any], Any], list[str]]] = {
    "an argument": (lambda args, output: args[0], ["arguments[0].lifetime"]),
    "an output": (lambda args, output: output[1], ["arguments[1].lifetime", "outputs[1].lifetime"]),
    "an alias": (lambda args, output: args[0].detach(), ["arguments[0].lifetime"]),
}


@pytest.mark.parametrize("name", LEAKS)
def test_what_is_kept_is_reported(name: str) -> None:
    """A tensor that a stack keeps, or the memory of one, is one line for each place that has it."""
    what, expected = LEAKS[name]

    run = wrapped(_keeping(what)).run(affine, calls_of(lambda: (leaf(2, 2), torch.ones(2, 2))))

    assert reported(run) == expected


def test_what_the_program_keeps_is_no_leak() -> None:
    """Where eager does not let go, nothing is asked of the stack."""
    assert reported(on("eager").run(keeps_its_input, calls_of(lambda: (leaf(2),)))) == []
    assert KEPT == []


@pytest.mark.parametrize("stack", ["eager", "aot_eager"])
def test_a_warning_of_the_program_arrives(stack: str) -> None:
    """What the program says once at least on each side is not reported, nor is what torch says."""
    with pytest.warns(UserWarning, match="careful"):
        assert reported(on(stack).run(warns, calls_of(lambda: (leaf(2),)))) == []
    with pytest.warns(UserWarning, match="broadcasting"):
        run = on(stack).run(torch_warns, calls_of(lambda: (leaf(2),)))
    assert reported(run) == []
    assert not run.eager.warned.by_program


def _silent(compiled: Callable[..., Any]) -> Callable[..., Any]:
    def called(*args: Any) -> Any:
        with warnings.catch_warnings(record=True):
            return compiled(*args)

    return called


@pytest.mark.filterwarnings("ignore:careful")
def test_a_warning_that_is_lost_is_reported() -> None:
    """A stack that swallows what the program says differs from eager."""
    run = wrapped(_silent).run(warns, calls_of(lambda: (leaf(2),)))

    assert [str(one) for one in run.comparison.discrepancies] == ["warnings: eager UserWarning: careful, stack nothing"]
