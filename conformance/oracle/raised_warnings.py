"""The warnings that a program raises while it runs, told from those of torch and of other packages."""

from __future__ import annotations

import contextlib
import sys
import types
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from conformance.oracle.observation import Warned
from conformance.oracle.state.reachable_state import is_users_module

#: What torch adds to a warning from C++, which seems to come from the line of Python that called it.
FROM_CPP = "Triggered internally at"

#: Modules that raise a warning for whoever calls them: ``@deprecated`` is theirs, on a function of torch's as well.
FOR_THEIR_CALLER = frozenset({"warnings", "_py_warnings", "typing_extensions"})


@contextmanager
def heard(warned: Warned) -> Iterator[None]:
    """Add to ``warned`` what is raised inside, whatever filters say; whoever listened before hears it afterwards."""
    passed_on: list[tuple[Any, ...]] = []

    def hear(message: Any, category: type[Warning], filename: str, lineno: int, *_: Any) -> None:
        passed_on.append((message, category, filename, lineno))
        told = f"{category.__name__}: {message}"
        warned.all.add(told)
        if FROM_CPP not in told and is_users_module(_raised_in(sys._getframe(1))):
            warned.by_program[told] = None

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = hear  # type: ignore[assignment]
            yield
    finally:
        for one in passed_on:
            with contextlib.suppress(Warning):  # a filter may make it an error, for which it is too late
                warnings.warn_explicit(*one)


def _raised_in(frame: types.FrameType | None) -> str:
    """The module whose code raised the warning; the file that a warning names may be a caller's."""
    while frame is not None and frame.f_globals.get("__name__") in FOR_THEIR_CALLER:
        frame = frame.f_back
    return str(frame.f_globals.get("__name__")) if frame is not None else ""
