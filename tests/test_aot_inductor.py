"""The stack `aot_inductor`: the exported program is captured, its package is observed, and a wrong result is caught."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import pytest
import torch

from conformance import Program, tensors
from conformance.run.bound_stack import BoundStack
from conformance.run.texts import ConformanceFailure
from conformance.stacks import aot_inductor, resolve

ROWS = tensors((2, 3), device="cpu").then(tensors((2, 3), device="cpu"))


class Affine(torch.nn.Module):
    """A constant to fold and two outputs that a package has to keep apart."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.arange(3.0))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = x * (self.weight + 1)
        return y, y + x


def run(loaded: Callable[..., Any]) -> Any:
    """The program on the stack, whose package is what `loaded` makes of the exported program."""
    with mock.patch.object(aot_inductor, "load_program", loaded):
        return BoundStack(resolve("aot_inductor"), "cpu", "freezing").run(Program.of(Affine, inference=True), ROWS)


@pytest.fixture(scope="module")
def packaged() -> tuple[Any, Callable[..., Any]]:
    """One run, and the package that it compiled, which the other tests call again."""
    packages: list[Callable[..., Any]] = []
    own = aot_inductor.load_program

    def kept(exported: Any) -> Callable[..., Any]:
        packages.append(own(exported))
        return packages[-1]

    found = run(kept)
    assert len(packages) == 1
    return found, packages[0]


def with_defect(package: Callable[..., Any], defect: Callable[..., Any]) -> ConformanceFailure:
    """How the run fails whose package's outputs go through `defect`."""
    found = run(lambda exported: lambda *args: defect(*package(*args)))
    with pytest.raises(ConformanceFailure) as failure:
        found.assert_matches_eager()
    return failure.value


def test_the_exported_program_is_captured(packaged: Any) -> None:
    """One compile serves both calls; what it was handed and what it lowered are there to be asserted."""
    found, _ = packaged

    found.assert_compiled(graphs=1, recompiles=0)
    assert [graph.ops for graph in found.recorder.dynamo] == [["aten.add", "aten.mul", "aten.add"]]
    assert found.lowered.count("mul") == 1
    assert "const0" in found.lowered.text
    assert found.recorder.compile_seconds > 0


def test_the_package_is_observed(packaged: Any) -> None:
    """Both calls of the package are compared with eager's, and agree."""
    found, _ = packaged

    found.assert_matches_eager()
    assert found.compiled.raised is None
    assert not found.comparison.discrepancies


def test_a_wrong_value_is_caught(packaged: Any) -> None:
    """A package that computes something else differs in the value of that output, in both calls."""
    failure = with_defect(packaged[1], lambda first, second: (first + 1, second))

    assert [found.name for found in failure.discrepancies] == ["calls[0].outputs[0].value", "calls[1].outputs[0].value"]


def test_an_alias_that_eager_has_not_is_caught(packaged: Any) -> None:
    """A package that returns one tensor twice differs in more than a value."""
    failure = with_defect(packaged[1], lambda first, second: (first, first))

    assert {"value", "identity"} <= {found.observable for found in failure.discrepancies}


def test_a_package_that_cannot_be_called_is_caught(packaged: Any) -> None:
    """An error of the package is a discrepancy by its type."""

    def broken(first: torch.Tensor, second: torch.Tensor) -> Any:
        raise RuntimeError("the package is broken")

    failure = with_defect(packaged[1], broken)

    assert [found.observable for found in failure.discrepancies] == ["exception"]
