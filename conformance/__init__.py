"""A conformance suite for compiler stacks behind `torch.compile`: what a case imports.

The names below are all that a case may use; each comes from the module that defines it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from conformance.contract import clause, needs

if TYPE_CHECKING:
    from conformance.expect import expected
    from conformance.generate import assert_as_eager, sketches
    from conformance.programs import Call, CallSequence, Program, call, tensors

__all__ = [
    "Call",
    "CallSequence",
    "Program",
    "assert_as_eager",
    "call",
    "clause",
    "expected",
    "needs",
    "sketches",
    "tensors",
]


def __getattr__(name: str) -> Any:
    # Loaded when asked for: reports and clause lists must not wait for torch.
    if name in __all__:
        module = {"expected": "expect", "assert_as_eager": "generate", "sketches": "generate"}.get(name, "programs")
        return getattr(importlib.import_module(f"conformance.{module}"), name)
    raise AttributeError(f"module 'conformance' has no attribute {name!r}; it has {', '.join(__all__)}")
