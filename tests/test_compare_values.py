"""Values are judged against the wider dtype, the signs of zeros too."""

from __future__ import annotations

import pytest
import torch

from conformance.oracle.compare_values import DEFAULT_TOLERANCE, Judge
from conformance.oracle.observation import Observation, Phase

PLACE = ("outputs[0]", "value")


@pytest.mark.parametrize(
    ("eager", "stack", "wider", "differs"),
    [
        (-0.0, 0.0, -0.0, True),
        (0.0, -0.0, 0.0, True),
        (0.0, -0.0, -0.0, False),
        (0.0, -0.0, -1e-50, False),
        (0.0, -0.0, None, True),
    ],
)
def test_sign_of_a_zero(eager: float, stack: float, wider: float | None, differs: bool) -> None:
    """Eager's sign counts where the wider dtype has it, and where there is none: kernels of eager lose it."""
    numbers = [torch.tensor([1.0, number]) for number in (eager, stack)]
    facts = {} if wider is None else {PLACE: torch.tensor([1.0, wider], dtype=torch.float64)}
    judge = Judge(Observation(), lambda: Observation([Phase("call", "call", facts)]), DEFAULT_TOLERANCE)

    assert (judge.difference(0, PLACE, *numbers) is not None) is differs


@pytest.mark.parametrize(("stack", "differs"), [(1.0 + 2e-7, False), (-1.0, False), (1.01, True), (0.5, True)])
def test_a_result_that_has_another_sign_in_float64(stack: float, differs: bool) -> None:
    """Where eager is no rounding away from the wider dtype, a stack may be where either is, and nowhere else."""
    facts = {PLACE: torch.tensor([3.0, -1.0], dtype=torch.float64)}
    judge = Judge(Observation(), lambda: Observation([Phase("call", "call", facts)]), DEFAULT_TOLERANCE)

    numbers = [torch.tensor([3.0, number]) for number in (1.0, stack)]
    assert (judge.difference(0, PLACE, *numbers) is not None) is differs
