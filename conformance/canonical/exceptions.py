"""The exception that a caller can catch, found in the errors that torch wraps it in, and its canonical message."""

from __future__ import annotations

import traceback

from conformance.canonical.frames import first_to_read, shown, without_machine_paths
from conformance.canonical.wrapped import canonical_words, first_line, members_of, raised_first


def innermost_message(error: BaseException) -> str:
    """Type and first line of the error that torch's own errors wrap, in canonical words."""
    members = [member for member in members_of(error) if not type(member).__module__.startswith("torch.")]
    inner = members[-1] if members else error
    return f"{type(inner).__name__}: {canonical_message(first_line(inner))}"


def canonical_message(text: str) -> str:
    """The message in canonical words, with no folders of this machine."""
    return canonical_words(without_machine_paths(text))


def told(error: BaseException, *, by_a_stack: bool = False) -> str:
    """What an exception says in one line: its own words, or those of the error that it wraps.

    Of what a stack raised, the last frame of its own package is told as well.
    """
    inner = raised_first(error)
    says = first_line(inner) if inner is error else f"{type(inner).__name__}: {first_line(inner)}"
    frame = _frame(inner) if by_a_stack or inner is not error else ""
    return without_machine_paths(says) + (f" (at {frame})" if frame else "")


def _frame(error: BaseException) -> str:
    """The last frame in the stack's own package; else the last one in torch."""
    frames = traceback.extract_tb(error.__traceback__)[::-1]
    number = first_to_read([frame.filename for frame in frames])
    return "" if number is None else f"{shown(frames[number].filename)} in {frames[number].name}"
