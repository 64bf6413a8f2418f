"""Pasted into scripts: what differs between the two sides, one line an observable."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import torch

from conformance.canonical.wrapped import first_line, members_of, raised_first
from conformance.standalone.looking import Facts
from conformance.standalone.outliving import LET_GO
from conformance.standalone.stepping import Side, identical

#: How far floats may differ from eager's: units in the last place of the tensor's largest magnitude, by their bytes.
ULPS = {2: 8, 4: 256, 8: 256}
#: Written past the version counter, as `.data` is.
UNTRACKED = "written without moving"
#: Facts that follow from another one at the same place.
FOLLOWS = {
    "value": ("shape", "dtype", "type", "layout"),
    "stride": ("shape", "type", "layout"),
    "storage_offset": ("shape", "type", "layout"),
    "is_conj": ("dtype", "type"),
    "is_neg": ("dtype", "type"),
    "has_history": ("requires_grad",),
    "is_leaf": ("requires_grad",),
    "storage_contents": ("value", "storage_size"),
    "storage_sharing": ("identity",),
}


def told(side: Side) -> str:
    if side.raised is None:
        return "raises nothing"
    first = raised_first(side.raised)
    wraps = f"{type(first).__name__}: " if first is not side.raised else ""
    return f"raises {type(side.raised).__name__} in {side.step}: {wraps}{first_line(first)}"


def same_exception(eager: Side, stack: Side) -> bool:
    """Whether who catches eager's exception is served: torch's own errors may wrap it, and it may come earlier."""
    if eager.raised is None or stack.raised is None:
        return eager.raised is stack.raised
    if len(stack.phases) > len(eager.phases):
        return False
    wanted = type(eager.raised)
    if not type(stack.raised).__module__.startswith("torch."):
        return isinstance(stack.raised, wanted)
    for member in members_of(stack.raised):
        wraps = type(member).__module__.startswith("torch.") and any(one is not member for one in members_of(member))
        if isinstance(member, wanted) and (not wraps or type(member) is wanted):
            return True
    return False


def difference(where: str, eager: Any, stack: Any, most_off: float = math.inf) -> tuple[Any, Any] | None:
    """The first two values that differ, or None: tensors by value, floats within `ULPS`, everything else exactly.

    No float may be further off than ``most_off``.
    """
    if not (isinstance(eager, torch.Tensor) and isinstance(stack, torch.Tensor)) or eager.shape != stack.shape:
        tensors = isinstance(eager, torch.Tensor) or isinstance(stack, torch.Tensor)
        return (shown(eager), shown(stack)) if tensors or eager != stack else None
    if eager.dtype != stack.dtype:
        return shown(eager), shown(stack)
    if eager.is_complex():
        eager, stack = torch.view_as_real(eager), torch.view_as_real(stack)
    if identical(eager, stack):
        if where.endswith(".grad") or not eager.is_floating_point():
            return None
        wrong = (eager == 0) & (torch.signbit(eager) != torch.signbit(stack))
    elif eager.is_floating_point():
        finite = torch.isfinite(eager)
        wrong = torch.where(finite, False, ~((eager == stack) | (eager.isnan() & stack.isnan())))
        most = torch.where(finite, eager.double().abs(), 0.0).max()
        off = (torch.where(finite, eager.double(), 0.0) - torch.where(finite, stack.double(), 0.0)).abs()
        unit = ULPS.get(eager.element_size(), 1) * torch.finfo(eager.dtype).eps
        wrong |= finite & ~(off <= (unit * most).clamp(max=most_off))
    else:
        wrong = eager != stack
    if not bool(wrong.any()):
        return None
    [*index] = wrong.nonzero()[0].tolist()
    at = f" at {index}" if index else ""
    count = f", {int(wrong.sum())} of {wrong.numel()} elements differ" if wrong.numel() > 1 else ""
    return f"{eager[tuple(index)].item()!r}{at}", f"{stack[tuple(index)].item()!r}{count}"


def shown(fact: Any) -> str:
    return f"{tuple(fact.shape)} {fact.dtype}" if isinstance(fact, torch.Tensor) else str(fact)


def differences(
    eager: Facts, stack: Facts, off_by: Mapping[str, float]
) -> Iterator[tuple[tuple[str, str], str, Any, Any]]:
    """(place, observable, eager's, the stack's) of what differs after one step."""
    for place in [*eager, *(place for place in stack if place not in eager)]:
        where, observable = place
        one = eager.get((where.removesuffix(".grad"), "identity"), "")
        if (
            observable != "identity"
            and one.startswith("is ")
            and one == stack.get((where.removesuffix(".grad"), "identity"))
        ):
            continue  # told where the very tensor was looked at before
        ours, theirs = eager.get(place, "nothing"), stack.get(place, "nothing")
        if place not in eager or place not in stack:
            causes = [(where, cause) for cause in ("requires_grad", "is_leaf")]
            says_itself = observable in ("structure", "side_effect")
            says_itself |= observable == "value" and not where.endswith(".grad")
            says_itself |= observable == "grad" and all(eager.get(one) == stack.get(one) for one in causes)
            if says_itself:
                yield place, observable, shown(ours), shown(theirs)
        elif observable == "lifetime" and ours != LET_GO:
            continue  # the program itself keeps it
        elif observable == "version" and (ours == UNTRACKED or (ours, theirs) == ("not moved", UNTRACKED)):
            continue  # eager itself wrote past the counter, or the value says it
        elif found := difference(where, ours, theirs, off_by.get(f"{where}.{observable}", math.inf) / 2):
            only_size_1 = observable == "stride" and eager[where, "shape"] == stack[where, "shape"]
            if only_size_1:
                sizes = zip(ours, theirs, eager[where, "shape"], strict=True)
                only_size_1 = all(size == 1 for one, other, size in sizes if one != other)
            yield place, "size_1_stride" if only_size_1 else observable, *found


def compare(eager: Side, stack: Side, off_by: Mapping[str, float]) -> list[str]:
    """One line an observable that differs, at the first step where it does."""
    found: dict[tuple[str, str], tuple[int, str]] = {}
    for number, (ours, theirs) in enumerate(zip(eager.phases, stack.phases, strict=False)):
        for place, observable, one, other in differences(ours, theirs, off_by):
            line = f"{place[0]}.{observable}: eager {one}, stack {other}"
            if observable == "value" and number and place in eager.phases[number - 1]:
                line += f" (after step {number + 1}; as in eager before)"
            found.setdefault(place, (number, line))
    lines = []
    for (where, observable), (number, line) in found.items():
        causes = [found[where, cause][0] for cause in FOLLOWS.get(observable, ()) if (where, cause) in found]
        if not any(cause <= number for cause in causes):
            lines.append(line)
    if not same_exception(eager, stack):
        lines.append(f"exception: eager {told(eager)}, stack {told(stack)}")
    elif eager.raised is not None:
        for place, observable, one, other in differences(eager.left, stack.left, off_by):
            if place not in found:
                lines.append(f"{place[0]}.{observable}: eager {one}, stack {other}")
    return lines
