"""What wraps something else: errors, with what they say, and tensors; pasted into scripts as well."""

from __future__ import annotations

import re
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


def innermost(error: BaseException) -> BaseException:
    """The error that Dynamo, or a compiler behind it, wrapped in errors of its own."""
    while isinstance(inner := getattr(error, "inner_exception", None), BaseException):
        error = inner
    return error


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


def canonical_words(text: str) -> str:
    """A message without what differs by release, device or run: no addresses, numbers of nodes, devices."""
    text = re.sub(r"\b0x[0-9a-fA-F]+", "0x...", text)
    text = re.sub(r"\b(\w+)Backward\d+\b", r"\1", text)
    text = text.replace("set_detect_anomaly(True, check_nan=False)", "set_detect_anomaly(True)")
    text = re.sub(
        r"\bThe differentiated Tensor at index \d+ appears", "One of the differentiated Tensors appears", text
    )
    return re.sub(r"\btorch\.\w+\.(\w+Tensor)\b", r"torch.\1", text)


def error_text(error: BaseException | None) -> str:
    """What was raised: its type and the first line of its innermost message, in canonical words."""
    if error is None:
        return "(nothing raised)"
    error = innermost(error)
    return f"{type(error).__name__}: {canonical_words(first_line(error))}"


def is_fake(tensor: Any) -> bool:
    """Whether a tensor, or one that it wraps, is a compiler's stand-in for one."""
    from torch._subclasses import FakeTensor

    flatten = getattr(type(tensor), "__tensor_flatten__", None)
    wrapped = [getattr(tensor, name) for name in flatten(tensor)[0]] if flatten is not None else []
    return isinstance(tensor, FakeTensor) or any(map(is_fake, wrapped))
