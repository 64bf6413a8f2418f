"""Two observations to discrepancies; the tolerances live here and nowhere else."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from conformance.exceptions import compare_exceptions
from conformance.facts import identical
from conformance.observation import TENSOR_VALUES, UNTRACKED, Observation, Place
from conformance.results import Discrepancy

#: Facts that follow from another one at the same place and are not reported beside it.
IMPLIED = {
    "value": ("shape", "dtype", "type", "layout"),
    "stride": ("shape", "type", "layout"),
    "storage_offset": ("shape", "type", "layout"),
    "has_history": ("requires_grad",),
    "is_leaf": ("requires_grad",),
    "storage_contents": ("value", "storage_size"),
    "storage_sharing": ("identity",),
}
#: Eager's own error, relative to the largest number in sight, that can still be rounding.
PLAUSIBLE = 0.01


@dataclass(frozen=True)
class Tolerance:
    """How far a float result may be from the float64 reference.

    At most ``factor`` times eager's own largest error in that tensor, plus ``floor`` units in the last place
    of the tensor's largest magnitude.
    """

    factor: float = 4.0
    floor: float = 8.0


@dataclass(frozen=True)
class Comparison:
    """What differs, and the stage (call, backward, follow_up) of the first difference."""

    discrepancies: tuple[Discrepancy, ...] = ()
    stage: str = ""
    exception: str | None = None


def compare(
    eager: Observation,
    stack: Observation,
    reference: Callable[[], Observation] | None = None,
    tolerance: Tolerance = Tolerance(),
) -> Comparison:
    """Report every observable on which the two differ, each once, at the first phase where it does.

    ``reference`` makes the float64 observation; it is asked for only when a float differs in its last bits.
    """
    exception = compare_exceptions(eager.raised, stack.raised)
    judge = _Judge(eager, reference, tolerance)
    found: dict[Place, tuple[int, Discrepancy]] = {}
    stage = ""
    for number, (ours, theirs) in enumerate(zip(eager.phases, stack.phases, strict=False)):
        for place, discrepancy in _phase(number, ours.facts, theirs.facts, judge):
            if place not in found:
                found[place] = number, discrepancy
                stage = stage or ours.stage
    kept = [discrepancy for place, (_, discrepancy) in found.items() if not _implied(place, found)]
    if exception is None and eager.raised is not None and stack.raised is not None:
        # Mutations are half done on both sides; what a `finally` puts back is not.
        left = list(_phase(eager.raised.phase, eager.raised.left, stack.raised.left, judge))
        kept += [discrepancy for place, discrepancy in left if place not in found]
        stage = stage or (stack.raised.stage if left else "")
    if exception is not None:
        # One side raising alone is the discrepancy; what it left half done follows from it.
        raised = stack.raised or eager.raised
        assert raised is not None
        name = type(stack.raised.error).__name__ if stack.raised else None
        return Comparison((*kept, exception), stage or raised.stage, name)
    return Comparison(tuple(kept), stage)


def _implied(place: Place, found: dict[Place, tuple[int, Discrepancy]]) -> bool:
    """Whether another fact at the place already differed in that phase or before."""
    where, observable = place
    causes = [found[where, cause][0] for cause in IMPLIED.get(observable, ()) if (where, cause) in found]
    return any(cause <= found[place][0] for cause in causes)


def _phase(
    number: int, eager: dict[Place, Any], stack: dict[Place, Any], judge: _Judge
) -> Iterator[tuple[Place, Discrepancy]]:
    for place in [*eager, *(place for place in stack if place not in eager)]:
        where, observable = place
        if observable != "identity" and _told_elsewhere(eager, stack, where.removesuffix(".grad")):
            continue
        if place not in eager or place not in stack:
            if _says_itself(place, eager, stack):
                ours = _show(eager[place]) if place in eager else "nothing"
                theirs = _show(stack[place]) if place in stack else "nothing"
                yield place, Discrepancy(observable, where, ours, theirs)
            continue
        ours, theirs = eager[place], stack[place]
        if observable in TENSOR_VALUES:
            difference = judge.difference(number, place, ours, theirs)
            if difference is not None:
                yield place, Discrepancy(observable, where, *difference)
        elif observable == "version" and ours == UNTRACKED:
            continue  # eager itself wrote past the counter; a stack that counts the write errs on the safe side
        elif observable == "version" and (ours, theirs) == ("not moved", UNTRACKED):
            continue  # said by the value
        elif ours != theirs:
            if observable == "stride" and _only_size_1(ours, theirs, eager.get((where, "shape"))):
                observable = "size_1_stride"
            yield place, Discrepancy(observable, where, _show(ours), _show(theirs))


def _says_itself(place: Place, eager: dict[Place, Any], stack: dict[Place, Any]) -> bool:
    """Whether a fact that only one side has is worth a line: most follow from a structure, a shape or a history."""
    where, observable = place
    if observable == "grad":
        return all(eager.get((where, cause)) == stack.get((where, cause)) for cause in ("requires_grad", "is_leaf"))
    return observable in ("structure", "side_effect") or (observable == "value" and not where.endswith(".grad"))


def _told_elsewhere(eager: dict[Place, Any], stack: dict[Place, Any], where: str) -> bool:
    """Whether both sides have at this place the very object that was looked at under an earlier name."""
    ours = eager.get((where, "identity"))
    return isinstance(ours, str) and ours.startswith("is ") and ours == stack.get((where, "identity"))


def _only_size_1(eager: Any, stack: Any, shape: Any) -> bool:
    if not (isinstance(eager, tuple) and isinstance(stack, tuple) and isinstance(shape, tuple)):
        return False
    if not len(eager) == len(stack) == len(shape):
        return False
    return all(size == 1 for ours, theirs, size in zip(eager, stack, shape, strict=True) if ours != theirs)


def _show(fact: Any) -> str:
    if isinstance(fact, torch.Tensor):
        return f"{tuple(fact.shape)} {fact.dtype}"
    if isinstance(fact, tuple) and len(fact) == 2 and isinstance(fact[0], str):
        return fact[1] or fact[0]
    return str(fact)


class _Judge:
    """Decides whether two tensors hold the same values."""

    def __init__(self, eager: Observation, reference: Callable[[], Observation] | None, tolerance: Tolerance) -> None:
        self._eager, self._make, self._tolerance = eager, reference, tolerance
        self._scales: dict[int, float] = {}
        self._reference: Observation | None = None

    def difference(self, phase: int, place: Place, eager: Any, stack: Any) -> tuple[str, str] | None:
        if not (isinstance(eager, torch.Tensor) and isinstance(stack, torch.Tensor)):
            if isinstance(eager, torch.Tensor) or isinstance(stack, torch.Tensor):
                return _show(eager), _show(stack)
            return None if eager == stack else (_show(eager), _show(stack))
        if eager.shape != stack.shape or eager.dtype != stack.dtype:
            return _show(eager), _show(stack)  # said by shape or dtype too
        if identical(eager, stack):
            # A gradient is a sum that may start from zero, which has the sign of nothing.
            return None if place[0].endswith(".grad") else self._signed_zeros(_real(eager), _real(stack))
        if not (eager.is_floating_point() or eager.is_complex()):
            return _first_difference(eager, stack, eager != stack)
        eager, stack = _real(eager), _real(stack)
        wrong_specials = _special(eager) != _special(stack)
        if bool(wrong_specials.any()):
            return _first_difference(eager, stack, wrong_specials)
        finite = torch.isfinite(eager)
        allowed, reference = self._allowed(phase, place, eager, finite)
        # Positions of NaN and inf agree by now; only finite elements are measured.
        error = torch.where(finite, (stack.double() - reference).abs(), 0.0)
        return _first_difference(eager, stack, error > allowed) if bool((error > allowed).any()) else None

    @staticmethod
    def _signed_zeros(eager: torch.Tensor, stack: torch.Tensor) -> tuple[str, str] | None:
        if not eager.is_floating_point():
            return None
        wrong = (eager == 0) & (torch.signbit(eager) != torch.signbit(stack))
        return _first_difference(eager, stack, wrong) if bool(wrong.any()) else None

    def _allowed(
        self, phase: int, place: Place, eager: torch.Tensor, finite: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The largest error that is accepted at each element, and what it is measured from."""
        wide = eager.double()
        magnitude = torch.where(finite, wide.abs(), 0.0)
        unit = self._tolerance.floor * torch.finfo(eager.dtype).eps
        found = self._reference_tensor(phase, place, eager)
        if found is None:
            return unit * magnitude.max().expand_as(wide), wide
        known = finite & torch.isfinite(found)
        own_error = float(torch.where(known, (wide - found).abs(), 0.0).max())
        reference = torch.where(known, found, wide)
        if own_error == 0.0 and eager.dtype is not torch.float64:
            # Eager does not round here, so no large element excuses an error in a small one.
            return unit * magnitude, reference
        # A program may ask for its dtype and take another way in float64: that is no measure of rounding.
        most = max(PLAUSIBLE, unit) * self._scale(phase, magnitude)
        return self._tolerance.factor * min(own_error, most) + unit * magnitude.max().expand_as(wide), reference

    def _scale(self, phase: int, magnitude: torch.Tensor) -> float:
        """The largest finite number that the program took or gave, up to this phase."""
        if phase not in self._scales:
            facts = self._eager.phases[phase].facts.values() if phase < len(self._eager.phases) else ()
            floats = [fact for fact in facts if isinstance(fact, torch.Tensor) and fact.is_floating_point()]
            sizes = [float(torch.nan_to_num(fact.abs(), nan=0.0, posinf=0.0).max()) for fact in floats if fact.numel()]
            self._scales[phase] = max(sizes, default=0.0)
        return max(self._scales[phase], float(magnitude.max()))

    def _reference_tensor(self, phase: int, place: Place, eager: torch.Tensor) -> torch.Tensor | None:
        if self._reference is None and self._make is not None:
            self._reference = self._make()
        if self._reference is None:
            return None
        found = self._reference.tensor(phase, place)
        if found is None or not (found.is_floating_point() or found.is_complex()):
            return None
        found = _real(found).double()
        return found if found.shape == eager.shape else None


def _real(tensor: torch.Tensor) -> torch.Tensor:
    return torch.view_as_real(tensor) if tensor.is_complex() else tensor


def _special(tensor: torch.Tensor) -> torch.Tensor:
    """0 for finite, 1 for NaN, 2 and 3 for the infinities."""
    return torch.isnan(tensor) * 1 + torch.isposinf(tensor) * 2 + torch.isneginf(tensor) * 3


def _first_difference(eager: torch.Tensor, stack: torch.Tensor, wrong: torch.Tensor) -> tuple[str, str]:
    """Both values at the element where they are furthest apart, with its index and how many differ."""
    wrong = wrong.cpu()
    distance = (eager.cpu().to(torch.complex128) - stack.cpu().to(torch.complex128)).abs()
    distance = torch.where(wrong, torch.nan_to_num(distance, nan=math.inf), -1.0)
    flat = int(distance.argmax()) if distance.numel() else 0
    index = tuple(int(i) for i in torch.unravel_index(torch.tensor(flat), eager.shape)) if eager.dim() else ()
    count = f", {int(wrong.sum())} of {wrong.numel()} elements differ" if wrong.numel() > 1 else ""
    at = f" at {list(index)}" if index else ""
    return f"{eager.cpu()[index].item()!r}{at}", f"{stack.cpu()[index].item()!r}{count}"
