"""Whether the last bits of a sample's inputs decide on its result, so that no algorithm is nearer than another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from conformance.operator_samples.sample import Sample

#: How many units in the last place of its largest number a result may move by, where inputs move by one.
MOST_UNITS = 24.0


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
    from conformance.operator_samples.forms import call  # here: forms are made of samples that were looked at

    turns = {id(tensor): (-1) ** number for number, tensor in enumerate(sample.tensors)}
    moved: Any = call(sample.replaced(lambda tensor: _moved(tensor, move, unit * turns[id(tensor)])))
    return [leaf for leaf in tree_leaves(moved) if isinstance(leaf, torch.Tensor)]


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
