"""Errors and what they wrap or were raised from; pasted into scripts as well."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def members_of(error: BaseException | None) -> Iterator[BaseException]:
    """The error, its causes and its contexts, each once."""
    pending: list[Any] = [error]
    seen = set()
    while pending:
        member = pending.pop()
        if not isinstance(member, BaseException) or id(member) in seen:
            continue
        seen.add(id(member))
        yield member
        pending += [getattr(member, "inner_exception", None), member.__cause__, member.__context__]


def raised_first(error: BaseException) -> BaseException:
    """The error that was raised in the first place, under those that wrap it or were raised from it."""
    first, seen = error, {id(error)}
    while (wrapped := getattr(first, "inner_exception", None) or first.__cause__) is not None:
        if id(wrapped) in seen:
            break
        first = wrapped
        seen.add(id(first))
    return first


def first_line(error: BaseException) -> str:
    """The first line of an exception's message that is not empty, or ''."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), "")
