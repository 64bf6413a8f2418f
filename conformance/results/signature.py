"""What makes two failures the same: the root cause that several show, or the gravest of what differs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from conformance.contract.failure import UNTIL_LATER_CALL, Discrepancy, path_of

#: What can differ, in the order in which it harms a caller, each with the observables that say so.
GRAVEST_FIRST: Mapping[str, tuple[str, ...]] = {
    "values": ("value", "storage_contents", "shape", "dtype"),
    "gradients": ("grad",),
    "memory": ("storage_sharing", "storage_offset"),
    "identity": ("identity",),
    "history": ("requires_grad", "has_history", "is_leaf", "is_inference"),
    "versions": ("version",),
    "strides": ("stride", "size_1_stride"),
    "state": ("global_state",),
}
#: Values that cannot be compared are told apart from wrong ones where results are grouped by cause.
NOT_COMPARABLE = {"shape": "shapes", "dtype": "dtypes"}
#: Characters of a message that tell one from another.
LONGEST = 90


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
            and path_of(one.where)[0] not in ("outputs", "after")
            and (one.expected, one.actual) == ("moved", "not moved")
        ),
    ),
    RootCause(
        "copies of views",
        "Outputs that are views in eager come back as copies, so that a write to one is not seen through the other.",
        lambda one: (
            one.observable == "storage_sharing"
            and path_of(one.where)[0] == "outputs"
            and one.expected.startswith("shares memory with")
            and one.actual == "memory of its own"
        ),
    ),
)


#: What is looked for where nothing graver differs.
LEFT_ALIVE = RootCause(
    "memory kept alive",
    "Arguments or outputs of a call are kept alive after it, so that memory which eager frees is not freed.",
    lambda one: one.observable == "lifetime",
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
    if all(LEFT_ALIVE.shows(one) for one in discrepancies):
        return LEFT_ALIVE.signature, LEFT_ALIVE.sentence
    if phase == "compile_behaviour":
        names = ", ".join(sorted({one.observable for one in discrepancies}))
        return f"compiles otherwise: {names}", f"Compiles otherwise than the case says: {names}."
    if phase == "expectation":
        where = discrepancies[0].where
        return f"text: {where}", f"The text of {where} is another one."
    found, told = gravest(discrepancies)
    if found.observable in NOT_COMPARABLE:
        told = f"{NOT_COMPARABLE[found.observable]} of {told.partition(' of ')[2]}"
    when = " in a later call" if in_a_later_call(discrepancies) else ""
    return f"{told}{when}", f"Other {told} than eager's{when}: {found}."


def gravest(discrepancies: Sequence[Discrepancy]) -> tuple[Discrepancy, str]:
    """The discrepancy that harms a caller most, and its wording in a signature: "values of outputs"."""
    found = min(discrepancies, key=lambda one: _rank(one.name))
    return found, _rank(found.name)[1]


def _rank(name: str) -> tuple[int, str]:
    place, *path = path_of(name)
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
    seen = re.fullmatch(r"(.*?)(?: \(at (.*)\))?", found.actual, re.S)
    assert seen is not None
    text, frame = seen[1], seen[2]
    signature = f"{where}{pattern(text)}" + (f" at {frame}" if frame else "")
    sentence = f"{where}{text[:1].upper()}{text[1:]}".rstrip(".")
    return signature, sentence + (f", at {frame}." if frame else ".")


def in_a_later_call(discrepancies: Sequence[Discrepancy]) -> bool:
    """Whether the first call is right: a later one may have been served by what was compiled for it."""
    calls = [re.match(r"calls\[(\d+)\]", found.name) for found in discrepancies]
    return all(call is not None and int(call[1]) > 0 for call in calls)
