"""What makes two failures the same: the root cause that several show, or the gravest of what differs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

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
#: What was raised, what it said, and in which frame, as a discrepancy tells it.
RAISED = re.compile(r"((?:raises \w+ in \w+)?(?:: \w+(?=: ))?)(?:: )?(.*?)(?: \(at (.*)\))?", re.S)
#: A place in one of the samples of an operator that a program calls: "add[4].outputs[0]", or "add[4]" as a whole.
_PLACE = r"(?:calls|outputs|arguments|after)\["
SAMPLE = re.compile(rf"^(?!{_PLACE})[a-zA-Z_][\w.]*\[\d+\](?:\.(?={_PLACE})|$)")
#: Characters of a message that tell one from another.
LONGEST = 90
#: Messages of one place in the stack's code that are told.
MOST_MESSAGES = 3


@dataclass(frozen=True)
class RootCause:
    """A fault that hides what else is wrong in a result: where it shows, the result counts under it."""

    signature: str
    sentence: str
    shows: Callable[[Discrepancy], bool]


def _lies_in_another_call(found: Discrepancy) -> bool:
    """What the program puts into a container of the caller's is a result as well.

    What lies in the memory of an argument of its own call lies in that of every call which is given that argument.
    """
    results = r"calls\[(\d+)\]\.(?:outputs|arguments)"
    own = re.match(results, found.where)
    if found.observable not in ("storage_sharing", "identity") or own is None:
        return False
    others = {*re.findall(results, found.actual)} - {own[1]}
    given = re.search(rf"calls\[{own[1]}\]\.arguments\S* at the start", found.actual)
    return given is None and bool(others - {*re.findall(results, found.expected)})


REUSED = "outputs reused by a later call"
ROOT_CAUSES = (
    RootCause(
        REUSED,
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
    RootCause(
        "results that share memory",
        "Results lie in the memory of an input, or of each other, where eager's have memory of their own, so that a "
        "write to one changes the other.",
        lambda one: (
            one.observable == "storage_sharing"
            and path_of(one.where)[0] in ("outputs", "after", "globals")
            and one.expected == "memory of its own"
            and one.actual.startswith("shares memory with")
        ),
    ),
)

#: What is looked for where nothing graver differs.
LEFT_ALIVE = tuple(
    RootCause(
        f"{place} kept alive",
        f"{place.capitalize()} of a call are kept alive after it, so that memory which eager frees is not freed.",
        lambda one, place=place: one.observable == "lifetime" and path_of(one.where)[0] in (place, "memory"),  # type: ignore[misc]
    )
    for place in ("outputs", "arguments")
)

#: What follows from a root cause, though it shows alone where that does not: memory that is used again is not freed.
CONSEQUENCES = {LEFT_ALIVE[0].signature: REUSED}


def signature_of(phase: str, discrepancies: Sequence[Discrepancy], message: str = "") -> tuple[str, str]:
    """The signature of a failure and its sentence; ``message`` is what it said, where nothing else is known.

    In which of an operator's samples it shows does not matter.
    """
    discrepancies = [_in_a_program(one) for one in discrepancies]
    for cause in ROOT_CAUSES:
        if any(cause.shows(one) for one in discrepancies):
            return cause.signature, cause.sentence
    if (seen := _raised(discrepancies)) is not None:
        return seen.signature, seen.sentence()
    if missing := [one for one in discrepancies if one.observable == "exception"]:
        kind = re.sub(r":.*", "", missing[0].expected.removeprefix("raises "))
        return "nothing raised where eager raises", f"Raises nothing where eager raises {kind}."
    if not discrepancies:
        said = pattern(message) or phase or "fails, and says no more"
        told = _cut(message.partition("\n")[0].strip().rstrip("."), LONGEST) or said
        return f"{phase}: {said}", f"{_capital(told)}."
    if all(one.observable == "lifetime" for one in discrepancies):
        for cause in LEFT_ALIVE:
            if any(cause.shows(one) for one in discrepancies):
                return cause.signature, cause.sentence
    if phase == "compile_behaviour":
        names = ", ".join(sorted({one.observable for one in discrepancies}))
        return f"compiles otherwise: {names}", f"Compiles otherwise than the case says: {names}."
    if phase == "expectation":
        where = discrepancies[0].where
        return f"text: {where}", f"The text of {where} is another one than the case expects."
    found, told = gravest(discrepancies)
    if found.observable in NOT_COMPARABLE:
        told = f"{NOT_COMPARABLE[found.observable]} of {told.partition(' of ')[2]}"
    # A value may have been right for an earlier call; how it lies in memory does not depend on that.
    later = _rank(found.name)[0] == 0 and in_a_later_call(discrepancies)
    when = " in a later call" if later else ""
    return f"{told}{when}", f"Other {told} than eager's{when}: {found}."


def _in_a_program(found: Discrepancy) -> Discrepancy:
    return replace(found, where=SAMPLE.sub("", found.where))


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


@dataclass(frozen=True)
class Raised:
    """What a stack raised alone: as what it reached the caller, what it said, and in which frame."""

    kind: str
    message: str
    frame: str

    @staticmethod
    def of(found: Discrepancy) -> Raised:
        where = f"{found.where}: " if found.where else ""
        seen = RAISED.fullmatch(found.actual)
        assert seen is not None
        return Raised(where + seen[1], seen[2], seen[3] or "")

    @property
    def refused(self) -> bool:
        """Whether code of the stack itself raised: then the place is the cause, whatever it said of each program."""
        return bool(self.frame) and not self.frame.startswith("torch/")

    @property
    def signature(self) -> str:
        told = self.kind if self.refused else ": ".join(filter(None, (self.kind, pattern(self.message))))
        return told + (f" at {self.frame}" if self.frame else "")

    def sentence(self, others: Sequence[str] = ()) -> str:
        """The exception in words, with the messages of ``others`` that were raised there, the most frequent first."""
        at = f", at {self.frame}" if self.frame else ""
        kind = _capital(self.kind)
        said = Counter(others or [self.message])
        if len(said) == 1:
            return _cut(": ".join(filter(None, (kind, self.message.rstrip(".: ")))), 3 * LONGEST) + f"{at}."
        told = [f"{_cut(one, LONGEST) or 'no message'} ({times})" for one, times in said.most_common(MOST_MESSAGES)]
        more = len(said) - MOST_MESSAGES
        return f"{kind}{at}: " + "; ".join([*told, *([f"{more} messages more"] if more > 0 else [])]) + "."


def raised(discrepancies: Sequence[Discrepancy]) -> Raised | None:
    """What the stack raised where eager did not, if no graver cause hides it."""
    return _raised([_in_a_program(one) for one in discrepancies])


def _raised(discrepancies: Sequence[Discrepancy]) -> Raised | None:
    if any(cause.shows(one) for cause in ROOT_CAUSES for one in discrepancies):
        return None
    found = [one for one in discrepancies if one.observable in ("exception", "crash")]
    return Raised.of(found[0]) if found and found[0].actual != "raises nothing" else None


def shows(signature: str, found: Discrepancy) -> bool:
    """Whether a discrepancy is one by which the root cause with this signature is known."""
    causes = (one for one in (*ROOT_CAUSES, *LEFT_ALIVE) if one.signature == signature)
    return any(cause.shows(_in_a_program(found)) for cause in causes)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _cut(text: str, most: int) -> str:
    """The beginning of a text that is longer, marked as such."""
    return text if len(text) <= most else f"{text[:most].rstrip()}..."


def in_a_later_call(discrepancies: Sequence[Discrepancy]) -> bool:
    """Whether the first call is right: a later one may have been served by what was compiled for it."""
    calls = [re.match(r"calls\[(\d+)\]", found.name) for found in discrepancies]
    return all(call is not None and int(call[1]) > 0 for call in calls)
