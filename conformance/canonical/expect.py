"""Inline expectations: one literal per statement, compared with the canonical text, accepted by one variable.

`subject.expect(literal)` compares; with `EXPECTTEST_ACCEPT=1` it rewrites that literal in the case's file. Where a
torch release changed the meaning of a text, two statements with `since=`/`until=` hold one literal each, and exactly
one of them must apply to the running torch: `open_case` checks that when the case ends. A text of one
device only (a lowered graph) is expected with `device=`; on other devices that statement is ignored.
"""

from __future__ import annotations

import ast
import difflib
import os
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from types import FrameType

import torch
from packaging.version import InvalidVersion, Version

from conformance.contract.failure import CaseFailure, Discrepancy

ACCEPT_VARIABLE = "EXPECTTEST_ACCEPT"
#: Characters on one line: a longer message is wrapped, and a row with a longer text has a line for each of its lines.
LONGEST_LINE = 160


class ExpectationMismatch(CaseFailure):
    """A text differs from the literal that the case expects."""

    def __init__(self, message: str, *, subject: str, expected: str, actual: str) -> None:
        found = Discrepancy("expectation", subject, expected, actual)
        super().__init__(message, phase="expectation", discrepancies=[found])


class ExpectationUsage(Exception):
    """An expectation is written wrongly: a fault of the case, never of the stack."""


@dataclass
class _Group:
    """The expectations that one case states about one subject."""

    subject: str
    versioned: list[str] = field(default_factory=list)
    applied: int = 0


@dataclass
class _Case:
    case_id: str
    accept_allowed: bool
    command: str
    # Keyed by identity; the subject is kept so that its id is not used again.
    groups: dict[int, tuple[Expectable, _Group]] = field(default_factory=dict)


_open_cases: list[_Case] = []
# What was accepted in this process and how many lines that added, by the line of the statement as it was imported.
_accepted: dict[tuple[str, int], tuple[str, int]] = {}


def accepting() -> bool:
    """Whether literals are to be rewritten instead of compared."""
    return bool(os.environ.get(ACCEPT_VARIABLE))


def torch_release() -> tuple[int, ...]:
    """Major and minor version of the running torch; a nightly counts as the release that follows it."""
    return Version(torch.__version__).release[:2]


def applies(since: str | None, until: str | None, release: tuple[int, ...] | None = None) -> bool:
    """Whether `since <= torch < until`."""
    first, end = _release(since), _release(until)
    if first is not None and end is not None and first >= end:
        raise ExpectationUsage(f"since={since!r} is not before until={until!r}: no torch release can satisfy both")
    running = torch_release() if release is None else release
    return (first is None or first <= running) and (end is None or running < end)


def _release(version: str | None) -> tuple[int, ...] | None:
    if version is None:
        return None
    try:
        return Version(version).release[:2]
    except InvalidVersion:
        raise ExpectationUsage(f"not a torch release: {version!r}; write it as '2.13'") from None


class Expected(str):
    """The text that one row of a table of parameters expects, and where it stands, so that accepting finds it."""

    place: tuple[str, int] | None = None


def expected(literal: str) -> Expected:
    """A row's own text, as one triple-quoted literal: the lines of a short one may be joined by `; `."""
    row = Expected(literal)
    row.place = _place(sys._getframe(1))
    return row


def _place(frame: FrameType) -> tuple[str, int]:
    return frame.f_code.co_filename, frame.f_lineno


class Expectable:
    """A text that a case may expect inline."""

    def __init__(self, subject: str, text: str, *, device: str | None = None) -> None:
        self.subject = subject
        #: The type of the device whose text it is, where it is one device's own.
        self.device = device.partition(":")[0] if device else None
        # expecttest writes printable ASCII only.
        text = text.rstrip("\n").encode("ascii", "backslashreplace").decode("ascii")
        if "\n" not in text and len(text) > LONGEST_LINE:
            text = textwrap.fill(text, 110, break_long_words=False, break_on_hyphens=False)
        self.text = text

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<{self.subject}: {self.text!r}>"

    def expect(
        self, literal: str, *, since: str | None = None, until: str | None = None, device: str | None = None
    ) -> None:
        """Compare with `literal`, where release and device are those named. A bare statement: accepting rewrites it."""
        if not isinstance(literal, str):
            raise ExpectationUsage(f"{self.subject}: expect() takes one string literal, not {type(literal).__name__}")
        if device is not None and self.device is None:
            raise ExpectationUsage(f"{self.subject} is the same on every device: expect it without device={device!r}")
        if device not in (None, self.device):
            return
        case = _open_cases[-1] if _open_cases else None
        applied = applies(since, until)
        row = literal if isinstance(literal, Expected) else None
        text = self.text
        if row is not None and "\n" not in row and len(joined := "; ".join(text.splitlines())) <= LONGEST_LINE:
            text = joined
        if case is not None:
            _, group = case.groups.setdefault(id(self), (self, _Group(self.subject)))
            group.applied += applied
            if since is not None or until is not None:
                group.versioned.append(_range(since, until))
        if not applied or literal.rstrip("\n") == text:
            return
        if accepting() and (case is None or case.accept_allowed):
            _accept(self.subject, text, row.place if row is not None and row.place else _place(sys._getframe(1)))
            return
        raise ExpectationMismatch(
            _mismatch(self, literal, text, case), subject=self.subject, expected=literal, actual=text
        )


def _range(since: str | None, until: str | None) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in (("since", since), ("until", until)) if value is not None)


def _mismatch(subject: Expectable, literal: str, text: str, case: _Case | None) -> str:
    difference = difflib.unified_diff(
        literal.rstrip("\n").splitlines(), text.splitlines(), "expected", "got", lineterm="", n=3
    )
    lines = [f"{subject.subject} is not as expected (torch {torch.__version__})", *difference]
    if case is None:
        lines.append(f"to accept: run this case again with {ACCEPT_VARIABLE}=1")
    elif case.accept_allowed:
        lines.append(f"to accept: {ACCEPT_VARIABLE}=1 {case.command}")
    else:
        lines.append("a known failure: accepting leaves it alone")
    return "\n".join(lines)


@contextmanager
def open_case(case_id: str, accept_allowed: bool, command: str | None = None) -> Iterator[None]:
    """Collect a case's expectations; of those with a range of releases, exactly one must have applied when it ends.

    `command` is what the reader is told to run, with the accept variable before it, to accept a difference.
    """
    case = _Case(case_id, accept_allowed, command or f'pytest "{case_id}"')
    _open_cases.append(case)
    try:
        yield
    finally:
        _open_cases.remove(case)
    for _, group in case.groups.values():
        if group.versioned and group.applied != 1:
            stated = "; ".join(group.versioned)
            count = "none" if group.applied == 0 else str(group.applied)
            raise ExpectationUsage(
                f"{group.subject}: exactly one expectation must apply to torch {torch.__version__}, "
                f"{count} did (stated: {stated})"
            )


def _accept(subject: str, actual: str, place: tuple[str, int]) -> None:
    """Rewrite the literal of the statement, or of the table's row, at `place`."""
    import expecttest

    file, line = place
    if (earlier := _accepted.get(place)) is not None:
        if earlier[0] == actual:
            return
        raise ExpectationUsage(
            f"{subject}: different texts for the one literal at {file}:{line}; "
            "parameters that render different text need a statement, or an expected(...) in their row, each"
        )
    source = Path(file).read_bytes()
    moved = line + sum(added for (other, above), (_, added) in _accepted.items() if other == file and above < line)
    start, end = _literal_at(source, moved)
    literal = source[start:end].decode()
    if '"""' not in literal[:4]:
        raise ExpectationUsage(f"{subject}: no triple-quoted literal to rewrite at {file}:{line}")
    text = actual + "\n" if "\n" in actual else actual
    literal, added = expecttest.replace_string_literal(literal, 1, literal.count("\n") + 1, text)
    Path(file).write_bytes(source[:start] + literal.encode() + source[end:])
    _accepted[place] = actual, added


def _literal_at(source: bytes, line: int) -> tuple[int, int]:
    """Start and end, in bytes, of the literal of the expectation that begins in a line; (0, 0) if there is none."""
    begins = [0, *accumulate(map(len, source.splitlines(keepends=True)))]
    for call in ast.walk(ast.parse(source)):
        if isinstance(call, ast.Call) and call.lineno == line and call.args:
            one, name = call.args[0], ast.unparse(call.func).rpartition(".")[2]
            if isinstance(one, ast.Constant) and name in ("expect", "expected"):
                end = begins[(one.end_lineno or line) - 1] + (one.end_col_offset or 0)
                return begins[one.lineno - 1] + one.col_offset, end
    return 0, 0
