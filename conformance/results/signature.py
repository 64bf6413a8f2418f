"""What makes two failures the same: the root cause that several show, or the gravest of what differs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from conformance.contract.failure import UNTIL_LATER_CALL, Discrepancy

#: Observables by the words that they are told in, the gravest first.
GRAVEST_FIRST: Mapping[str, tuple[str, ...]] = {
    "types": ("type", "structure"),
    "shapes": ("shape",),
    "dtypes": ("dtype",),
    "values": ("value", "storage_contents"),
    "gradients": ("grad",),
    "writes": ("version",),
    "memory": ("storage_sharing", "identity", "storage_size", "storage_offset"),
    "autograd properties": ("requires_grad", "is_leaf", "has_history", "is_inference"),
    "side effects": ("side_effect",),
    "global state": ("global_state",),
    "strides": ("stride", "size_1_stride", "memory_format"),
}
LONGEST = 100


@dataclass(frozen=True)
class RootCause:
    """A fault that hides what else is wrong in a result: where it shows, the result counts under it."""

    signature: str
    sentence: str
    shows: Callable[[Discrepancy], bool]


def _lies_in_another_call(found: Discrepancy) -> bool:
    own = re.match(r"calls\[(\d+)\]\.outputs", found.where)
    if found.observable not in ("storage_sharing", "identity") or own is None:
        return False
    others = {call for call in re.findall(r"calls\[(\d+)\]\.outputs", found.actual)} - {own[1]}
    return bool(others - {*re.findall(r"calls\[(\d+)\]\.outputs", found.expected)})


ROOT_CAUSES = (
    RootCause(
        "outputs reused by a later call",
        "Outputs of one call lie in memory that a later call writes to, so that a result which was right changes.",
        lambda one: one.actual.endswith(f"({UNTIL_LATER_CALL})") or _lies_in_another_call(one),
    ),
    RootCause(
        "outputs without gradient",
        "Outputs do not require grad where eager's do, so that nothing flows back through them.",
        lambda one: (
            one.observable in ("requires_grad", "has_history")
            and "outputs" in one.where
            and (one.expected, one.actual) == ("True", "False")
        ),
    ),
    RootCause(
        "no write-back",
        "What the program writes to the caller's tensors does not reach them.",
        lambda one: (
            one.observable == "version"
            and one.where.partition(".")[0] not in ("outputs", "after")
            and (one.expected, one.actual) == ("moved", "not moved")
        ),
    ),
)


def signature_of(phase: str, discrepancies: Sequence[Discrepancy], message: str = "") -> tuple[str, str]:
    """The signature of a failure and its sentence; ``message`` is what it said, where nothing else is known."""
    for cause in ROOT_CAUSES:
        if any(cause.shows(one) for one in discrepancies):
            return cause.signature, cause.sentence
    raised = [one for one in discrepancies if one.observable in ("exception", "crash")]
    if raised:
        return _raised(raised[0])
    if not discrepancies:
        told = pattern(message) or phase or "fails, and says no more"
        return f"{phase}: {told}", f"{told[:1].upper()}{told[1:]}."
    if phase == "compile_behaviour":
        names = ", ".join(sorted({one.observable for one in discrepancies}))
        return f"compiles otherwise: {names}", f"Compiles otherwise than the case says: {names}."
    if phase == "expectation":
        where = discrepancies[0].where
        return f"text: {where}", f"The text of {where} is another one."
    gravest = min(discrepancies, key=lambda one: rank(one.name))
    told = rank(gravest.name)[1]
    return f"{told}{_when(discrepancies)}", f"Other {told} than eager's{_when(discrepancies)}: {gravest}."


def rank(name: str) -> tuple[int, str]:
    """How grave one thing that differs is, and in which words it is told: "values of outputs"."""
    place, *path = re.sub(r"\[[^\]]*\]", "", name).removeprefix("calls.").split(".")
    observable = "grad" if "grad" in path else path[-1] if path else place
    for number, (kind, observables) in enumerate(GRAVEST_FIRST.items()):
        if observable in observables:
            return number, f"{kind} of {place}"
    return len(GRAVEST_FIRST), f"{observable} of {place}"


def pattern(text: str) -> str:
    """A message without what differs from program to program: quoted names, paths, addresses, numbers."""
    text = re.sub(r"'[^']*'|\"[^\"]*\"|\S*/\S*", "_", text.partition("\n")[0])
    return re.sub(r"\((N(, )?|,)*\)", "(...)", re.sub(r"0x[0-9a-f]+|\d+", "N", text))[:LONGEST].strip()


def _raised(found: Discrepancy) -> tuple[str, str]:
    where = f"{found.where}: " if found.where else ""
    if found.actual == "raises nothing":
        kind = re.sub(r":.*", "", found.expected.removeprefix("raises "))
        return f"nothing raised for {kind}", f"Raises nothing where eager raises {kind}."
    text, _, frame = found.actual.removesuffix(")").partition(" (at ")
    signature = f"{where}{pattern(text)}" + (f" at {frame}" if frame else "")
    return signature, f"{where}{text[:1].upper()}{text[1:]}" + (f", at {frame}." if frame else ".")


def _when(discrepancies: Sequence[Discrepancy]) -> str:
    """Nothing for the first call; a later one may have been served by what was compiled for an earlier one."""
    calls = [re.match(r"calls\[(\d+)\]", found.name) for found in discrepancies]
    return " in a later call" if all(call is not None and int(call[1]) > 0 for call in calls) else ""
