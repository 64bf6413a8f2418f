"""Whether last bits decide on a sample's result or gradient, so that no algorithm is nearer than another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from conformance.operator_samples.sample import Sample
from conformance.operator_samples.source import call, function
from conformance.oracle.side import tangent

#: How many units in the last place of its largest number a result may move by, where inputs move by one.
MOST_UNITS = 24.0
UNIT = torch.finfo(torch.float32).eps
#: And a gradient, where each operator on the way to it is off by one: three of its seven digits.
LOST_DIGITS = 1000.0


def is_steady(sample: Sample, dtype: torch.dtype) -> bool:
    """Whether the result in float64 stays what it is where every input moves by a unit in the last place of ``dtype``.

    Where sums cancel, or a remainder begins anew, it does not: eager's own error is then an accident. A sample that
    float64 cannot tell about, as one that asks for another dtype, counts as steady.
    """
    unit = torch.finfo(dtype).eps
    try:
        exact, *others = (_called(sample, move, unit * units) for move, units in MOVES)
    except Exception:
        return True
    return all(_near(one, moved, unit) for other in others for one, moved in zip(exact, other, strict=True))


def _apart(tensor: torch.Tensor) -> torch.Tensor:
    """Neighbours by different shares of a unit, so that a common factor does not hide what they are."""
    shares = torch.linspace(-1.0, 1.0, max(tensor.numel(), 1), dtype=torch.float64)[: tensor.numel()]
    return tensor * shares.reshape(tensor.shape)


def _upwards(tensor: torch.Tensor) -> torch.Tensor:
    """All of a tensor into one direction, which is the worst for a sum, and the next tensor into the other."""
    return tensor.abs()


#: How inputs are moved, by shares of how many units in the last place; not at all comes first.
MOVES = ((torch.zeros_like, 1.0), (_apart, 1.0), (_apart, -1.0), (_upwards, 1.0))


def _called(sample: Sample, move: Callable[[torch.Tensor], torch.Tensor], unit: float) -> list[torch.Tensor]:
    turns = {id(tensor): (-1) ** number for number, tensor in enumerate(sample.tensors)}
    return _results(sample.replaced(lambda tensor: _moved(tensor, move, unit * turns[id(tensor)])))


def _results(sample: Sample) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(call(sample)) if isinstance(leaf, torch.Tensor)]


def _moved(tensor: torch.Tensor, move: Callable[[torch.Tensor], torch.Tensor], unit: float) -> torch.Tensor:
    if not tensor.is_floating_point():
        return tensor
    wide = tensor.detach().double()
    return wide + unit * move(wide)


def _near(exact: torch.Tensor, moved: torch.Tensor, unit: float) -> bool:
    if exact.shape != moved.shape or not exact.numel():
        return exact.shape == moved.shape
    if not (exact.is_floating_point() or exact.is_complex()):
        return torch.equal(exact, moved)
    finite = torch.isfinite(exact)
    if not torch.equal(finite, torch.isfinite(moved)):
        return False
    largest = torch.where(finite, exact.abs(), 0.0).max()
    change = torch.where(finite, (exact - moved).abs(), 0.0).max()
    return bool(change <= MOST_UNITS * unit * largest)


def has_certain_infinities(sample: Sample) -> bool:
    """Whether eager's NaN are none of float64's infinities, nor its infinities float64's NaN.

    The kernel of gelu gives NaN for infinity on CPUs with the widest vectors, and infinity on others. Of a sample that
    float64 cannot tell about, as one that asks for another dtype, it counts as certain.
    """
    try:
        results, exact = _results(sample), _called(sample, torch.zeros_like, 0.0)
    except Exception:
        return True
    pairs = [(one, wide) for one, wide in zip(results, exact, strict=True) if _has_digits(one)]
    return not any(bool((one.isnan() & wide.isinf() | one.isinf() & wide.isnan()).any()) for one, wide in pairs)


def has_steady_gradients(sample: Sample) -> bool:
    """Whether the gradients in float64 stay what they are where every operator's result is off by a unit of float32.

    Where they cancel, as that of a number which is divided by its own norm, they do not: eager's own error is then an
    accident of its algorithm. A sample without gradients in float64 counts as steady.
    """
    try:
        exact = _gradients(sample)
        with _Rounding():  # type: ignore[no-untyped-call]
            rounded = _gradients(sample)
    except Exception:
        return True
    most = LOST_DIGITS * UNIT / MOST_UNITS
    return all(_near(one, other, most) for one, other in zip(exact, rounded, strict=True))


def _gradients(sample: Sample) -> list[torch.Tensor]:
    """What the tensors of a sample get in float64 from the gradients that the oracle hands to the results."""
    given = [
        (one.detach().double() if one.is_floating_point() else one.detach()).requires_grad_(one.requires_grad)
        for one in sample.tensors
    ]
    leaves = [one for one in tree_leaves(function(sample)(*given)) if isinstance(one, torch.Tensor)]
    results = [one for one in leaves if one.requires_grad]
    torch.autograd.backward(results, [tangent(one) for one in results])
    return [one.grad for one in given if one.grad is not None]


class _Rounding(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Multiplies what each operator computes by one and a unit of float32, more or less by turns.

    What is a number of float32 is not rounded, nor what an operator chooses among its operands, as a maximum does.
    """

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        results = func(*args, **(kwargs or {}))
        given = [one.detach().flatten() for one in tree_leaves((args, kwargs)) if _has_digits(one)]
        if all(one.alias_info is None for one in func._schema.returns):
            for result in tree_leaves(results):
                if _has_digits(result) and not (given and torch.isin(result, torch.cat(given)).all()):
                    turns = torch.tensor([-1.0, 0.5, 1.0]).repeat(result.numel() // 3 + 1)[: result.numel()]
                    rounds = (result != result.float()) * turns.reshape(result.shape)
                    result.mul_(1.0 + UNIT * rounds)
        return results


def _has_digits(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point() and not value._is_zerotensor()
