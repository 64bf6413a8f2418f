"""Whether two tensors hold the same values; the tolerances live here and nowhere else."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from conformance.oracle.observation import Observation, Place
from conformance.oracle.tensor_facts import identical, real_parts

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


DEFAULT_TOLERANCE = Tolerance()


def show(fact: Any) -> str:
    if isinstance(fact, torch.Tensor):
        return f"{tuple(fact.shape)} {fact.dtype}"
    if isinstance(fact, tuple) and len(fact) == 2 and isinstance(fact[0], str):
        return fact[1] or fact[0]
    return str(fact)


class Judge:
    """Decides whether two tensors hold the same values."""

    def __init__(self, eager: Observation, reference: Callable[[], Observation] | None, tolerance: Tolerance) -> None:
        self._eager, self._make, self._tolerance = eager, reference, tolerance
        self._scales: dict[int, float] = {}
        self._reference: Observation | None = None

    def difference(self, phase: int, place: Place, eager: Any, stack: Any) -> tuple[str, str] | None:
        if not (isinstance(eager, torch.Tensor) and isinstance(stack, torch.Tensor)):
            if isinstance(eager, torch.Tensor) or isinstance(stack, torch.Tensor):
                return show(eager), show(stack)
            return None if eager == stack else (show(eager), show(stack))
        if eager.shape != stack.shape or eager.dtype != stack.dtype:
            return show(eager), show(stack)  # said by shape or dtype too
        if identical(eager, stack):
            # A gradient is a sum that may start from zero, which has the sign of nothing.
            if place[0].endswith(".grad"):
                return None
            return self._signs(phase, place, real_parts(eager), real_parts(stack))
        if not (eager.is_floating_point() or eager.is_complex()):
            return _first_difference(eager, stack, eager != stack)
        eager, stack = real_parts(eager), real_parts(stack)
        wrong_specials = _special(eager) != _special(stack)
        if bool(wrong_specials.any()):
            return _first_difference(eager, stack, wrong_specials)
        finite = torch.isfinite(eager)
        allowed, reference = self._allowed(phase, place, eager, finite)
        # Positions of NaN and inf agree by now; only finite elements are measured.
        error = torch.where(finite, (stack.double() - reference).abs(), 0.0)
        wrong = error > allowed
        if bool(wrong.any()):
            # Vectors that are known up to a sign may have another one in float64: there eager is what it is held to.
            floor = self._tolerance.floor * torch.finfo(eager.dtype).eps * torch.where(finite, eager.abs(), 0.0).max()
            as_eager = (stack - eager).abs() <= floor
            wrong &= ~(((eager.double() - reference).abs() > allowed) & as_eager)
        if bool(wrong.any()):
            return _first_difference(eager, stack, wrong)
        if place[0].endswith(".grad") or self._reference_tensor(phase, place, eager) is None:
            return None
        # A sum may be taken in another order: the sign of a zero is known where it is the same in the wider dtype.
        sure = (reference == 0) & (torch.signbit(reference) == torch.signbit(eager))
        return self._signed_zeros(eager, stack, sure)

    def _signs(self, phase: int, place: Place, eager: torch.Tensor, stack: torch.Tensor) -> tuple[str, str] | None:
        """A zero of the other sign than eager's, where eager's is that of the wider dtype: a kernel may lose it."""
        wrong = self._signed_zeros(eager, stack)
        reference = self._reference_tensor(phase, place, eager) if wrong else None
        if reference is None:
            return wrong
        return self._signed_zeros(eager, stack, torch.signbit(reference) == torch.signbit(eager))

    @staticmethod
    def _signed_zeros(
        eager: torch.Tensor, stack: torch.Tensor, sure: torch.Tensor | None = None
    ) -> tuple[str, str] | None:
        if not eager.is_floating_point():
            return None
        wrong = (eager == 0) & (stack == 0) & (torch.signbit(eager) != torch.signbit(stack))
        if sure is not None:
            wrong &= sure
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
        phases = self._reference.phases
        found = phases[phase].facts.get(place) if phase < len(phases) else None
        if not isinstance(found, torch.Tensor) or not (found.is_floating_point() or found.is_complex()):
            return None
        found = real_parts(found).double()
        return found if found.shape == eager.shape else None


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
