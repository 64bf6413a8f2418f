"""From two observations to discrepancies: which facts are compared exactly, which by value, which are implied."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from conformance.canonical.exceptions import told
from conformance.canonical.wrapped import members_of
from conformance.contract.failure import UNTIL_LATER_CALL, Discrepancy
from conformance.oracle.compare_values import DEFAULT_TOLERANCE, Judge, Tolerance, show
from conformance.oracle.observation import LET_GO, TENSOR_VALUES, UNTRACKED, Observation, Place, Raised, Warned

#: Facts that follow from another one at the same place and are not reported beside it.
IMPLIED = {
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


@dataclass(frozen=True)
class Comparison:
    """What differs, and the phase (call, backward, follow_up) of the first difference."""

    discrepancies: tuple[Discrepancy, ...] = ()
    phase: str = ""
    exception: str | None = None
    #: The phase in which each discrepancy, by name, shows first.
    phases: Mapping[str, str] = field(default_factory=dict)


def compare(
    eager: Observation,
    stack: Observation,
    reference: Callable[[], Observation] | None = None,
    tolerance: Tolerance = DEFAULT_TOLERANCE,
) -> Comparison:
    """Report every observable on which the two differ, each once, at the first phase where it does.

    ``reference`` makes the float64 observation; it is asked for only when a float differs in its last bits.
    """
    exception = compare_exceptions(eager.raised, stack.raised)
    judge = Judge(eager, reference, tolerance)
    found: dict[Place, tuple[int, Discrepancy]] = {}
    phase, phases = "", dict[str, str]()
    for number, (ours, theirs) in enumerate(zip(eager.phases, stack.phases, strict=False)):
        for place, discrepancy in _phase(number, ours.facts, theirs.facts, judge):
            if place not in found:
                found[place] = number, _with_history(discrepancy, number)
                phase = phase or ours.kind
                phases[discrepancy.name] = ours.kind
    kept = [discrepancy for place, (_, discrepancy) in found.items() if not _implied(place, found)]
    if exception is None and eager.raised is not None and stack.raised is not None:
        # Mutations are half done on both sides; what a `finally` puts back is not.
        left = list(_phase(eager.raised.number, eager.raised.left, stack.raised.left, judge))
        kept += [discrepancy for place, discrepancy in left if place not in found]
        phase = phase or (stack.raised.kind if left else "")
    if exception is not None:
        # One side raising alone is the discrepancy; what it left half done follows from it.
        raised = stack.raised or eager.raised
        assert raised is not None
        name = type(stack.raised.error).__name__ if stack.raised else None
        phases[exception.name] = raised.kind
        return Comparison((*kept, exception), phase or raised.kind, name, phases)
    if eager.raised is None:
        warned = _warnings(eager.warned, stack.warned)
        phases |= {one.name: "call" for one in warned}
        kept += warned
        phase = phase or ("call" if kept else "")
    return Comparison(tuple(kept), phase, phases=phases)


def _with_history(found: Discrepancy, number: int) -> Discrepancy:
    """Says of a value that was right when its call returned that a later call changed it."""
    call = re.match(r"calls\[(\d+)\]\.outputs", found.where)
    if call is None or found.observable != "value" or int(call[1]) >= number:
        return found
    return replace(found, actual=f"{found.actual} ({UNTIL_LATER_CALL})")


def _implied(place: Place, found: dict[Place, tuple[int, Discrepancy]]) -> bool:
    """Whether another fact at the place already differed in that phase or before."""
    where, observable = place
    causes = [found[where, cause][0] for cause in IMPLIED.get(observable, ()) if (where, cause) in found]
    return any(cause <= found[place][0] for cause in causes)


def _phase(
    number: int, eager: dict[Place, Any], stack: dict[Place, Any], judge: Judge
) -> Iterator[tuple[Place, Discrepancy]]:
    for place in [*eager, *(place for place in stack if place not in eager)]:
        where, observable = place
        if observable != "identity" and _told_elsewhere(eager, stack, where.removesuffix(".grad")):
            continue
        if place not in eager or place not in stack:
            if _says_itself(place, eager, stack):
                ours = show(eager[place]) if place in eager else "nothing"
                theirs = show(stack[place]) if place in stack else "nothing"
                yield place, Discrepancy(observable, where, ours, theirs)
            continue
        ours, theirs = eager[place], stack[place]
        if observable in TENSOR_VALUES:
            difference = judge.difference(number, place, ours, theirs)
            if difference is not None:
                yield place, Discrepancy(observable, where, *difference)
        elif observable == "lifetime" and ours != LET_GO:
            continue  # the program itself keeps it
        elif observable == "version" and ours == UNTRACKED:
            continue  # eager itself wrote past the counter; a stack that counts the write errs on the safe side
        elif observable == "version" and (ours, theirs) == ("not moved", UNTRACKED):
            continue  # said by the value
        elif ours != theirs:
            if observable == "stride" and _only_size_1(ours, theirs, eager.get((where, "shape"))):
                observable = "size_1_stride"
            yield place, Discrepancy(observable, where, show(ours), show(theirs))


def _warnings(eager: Warned, stack: Warned) -> list[Discrepancy]:
    """What the program raises on one side and nothing raises on the other; how often is left open."""
    lost = [Discrepancy("warnings", "", told, "nothing") for told in eager.by_program if told not in stack.all]
    return lost + [Discrepancy("warnings", "", "nothing", told) for told in stack.by_program if told not in eager.all]


def _says_itself(place: Place, eager: dict[Place, Any], stack: dict[Place, Any]) -> bool:
    """Whether a fact that only one side has is reported: most follow from a structure, a shape or a history."""
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


def compare_exceptions(eager: Raised | None, stack: Raised | None) -> Discrepancy | None:
    if eager is None and stack is None:
        return None
    # A tracing error may come earlier than eager's, never later.
    if eager and stack and _is_error(stack.error, type(eager.error)) and stack.number <= eager.number:
        return None
    return Discrepancy("exception", "", _raised(eager), _raised(stack, by_a_stack=True))


def _is_error(error: BaseException, wanted: type[BaseException]) -> bool:
    """Whether a caller who catches eager's exception is served: torch's own errors may wrap it, others may not.

    A wrapper is a RuntimeError itself: that alone does not make it the RuntimeError which eager raises.
    """
    if type(error).__module__.startswith("torch."):
        return any(
            isinstance(member, wanted) and (not _is_wrapper(member) or type(member) is wanted)
            for member in members_of(error)
        )
    return isinstance(error, wanted)


def _is_wrapper(error: BaseException) -> bool:
    return type(error).__module__.startswith("torch.") and any(member is not error for member in members_of(error))


def _raised(raised: Raised | None, *, by_a_stack: bool = False) -> str:
    if raised is None:
        return "raises nothing"
    return f"raises {type(raised.error).__name__} in {raised.kind}: {told(raised.error, by_a_stack=by_a_stack)}"
