"""What a program needs of a stack, and that a stack is not charged with what it does not declare."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from conformance.contract.failure import NothingToTry
from conformance.operator_samples.trial import assert_samples_as_eager
from conformance.oracle.side import observe
from conformance.program.programs import Program
from conformance.run.bound_stack import BoundStack
from conformance.run.needed import needed
from conformance.run.texts import ConformanceFailure
from conformance.stacks import Stack, resolve

WEIGHT = torch.ones(3)


class Counts(torch.nn.Module):
    calls: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls.add_(1)
        return x * 2


def writes(x: torch.Tensor) -> torch.Tensor:
    return x.add_(1)


def writes_to_a_global(x: torch.Tensor) -> torch.Tensor:
    WEIGHT.add_(1)
    return x + WEIGHT


def add_to_output(arguments: Any, output: torch.Tensor) -> None:
    arguments[0].add_(output)


def row(device: str) -> list[tuple[torch.Tensor]]:
    return [(torch.arange(3.0, device=device),)]


def row_with_gradient(device: str) -> list[tuple[torch.Tensor]]:
    return [(torch.arange(3.0, device=device).requires_grad_(),)]


def two_rows(device: str) -> list[tuple[torch.Tensor]]:
    return row(device) + row(device)


def two_dtypes(device: str) -> list[tuple[torch.Tensor]]:
    return [*row(device), *((x.int(),) for (x,) in row(device))]


def inference_only(**more: Any) -> Stack:
    """A stack that runs under no_grad and says that it cannot train."""
    stack = resolve("backends.faulty:without_gradients")
    return replace(stack, capabilities=resolve("aot_eager").capabilities - {"training"}, **more)


@pytest.mark.parametrize(
    ("program", "calls", "capabilities"),
    [
        (torch.sin, row, {}),
        (torch.sin, row_with_gradient, {"training": "outputs[0] requires grad"}),
        (Program(torch.sin, inference=True), row_with_gradient, {}),
        (writes, row, {"input_mutation": "arguments[0] is written to"}),
        (writes_to_a_global, row, {"input_mutation": "globals['WEIGHT'] is written to"}),
        (Counts, row, {"module_state": "buffers['calls'] is written to"}),
        (torch.sin, two_rows, {}),
        (torch.sin, two_dtypes, {"recompiles": "arguments[0] is of another dtype in a later call"}),
        (Program(torch.sin, after=add_to_output), row, {}),
    ],
)
def test_what_a_program_needs(program: Any, calls: Any, capabilities: dict[str, str]) -> None:
    """It shows in what eager did in the calls; what the caller writes afterwards is no need of the program's."""
    assert needed(observe(Program.of(program), calls, "cpu")) == capabilities


def test_a_stack_is_not_charged_with_what_it_does_not_declare() -> None:
    """A program whose outputs require grad is nothing to try on a stack that says that it cannot train."""
    run = BoundStack(inference_only(), "cpu").run(torch.sin, row_with_gradient)

    with pytest.raises(NothingToTry, match=r"does not declare training, and in eager outputs\[0\] requires grad"):
        run.assert_matches_eager()


def test_what_it_declares_is_charged() -> None:
    """That it declares training makes the same difference a failure."""
    stack = replace(inference_only(), capabilities=resolve("aot_eager").capabilities)

    with pytest.raises(ConformanceFailure):
        BoundStack(stack, "cpu").run(torch.sin, row_with_gradient).assert_matches_eager()


def test_another_fault_is_charged() -> None:
    """A program that needs nothing more is held against eager, whatever the stack does not declare."""
    stack = replace(resolve("backends.faulty:one_more"), capabilities=frozenset({"compile"}))

    with pytest.raises(ConformanceFailure, match="value"):
        BoundStack(stack, "cpu").run(torch.sin, two_rows).assert_matches_eager()


def test_samples_of_operators_need_what_they_need() -> None:
    """Neither is a stack without gradients charged with those of operators, and one that declares them is."""
    with pytest.raises(NothingToTry, match="does not declare training"):
        assert_samples_as_eager(BoundStack(inference_only(), "cpu"), "loss-float32", "gradients")

    stack = replace(inference_only(), capabilities=resolve("aot_eager").capabilities)
    with pytest.raises(ConformanceFailure):
        assert_samples_as_eager(BoundStack(stack, "cpu"), "loss-float32", "gradients")
