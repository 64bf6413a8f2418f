"""A conformance suite for compiler stacks behind `torch.compile`: what a case imports.

The names below are all that a case may use; each comes from the module that defines it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from conformance.contract import run_environment  # noqa: F401 - has to see the environment before torch changes it
from conformance.contract.declarations import by_scope, clause, in_scopes, needs, on_devices

if TYPE_CHECKING:
    from conformance.canonical.expect import expected
    from conformance.generate import assert_as_eager, kept, kept_programs, sketches
    from conformance.operator_samples import assert_refused_as_eager, assert_samples_as_eager, operators
    from conformance.program.programs import Call, CallSequence, Program, call, tensors

__all__ = [
    "Call",
    "CallSequence",
    "Program",
    "assert_as_eager",
    "assert_refused_as_eager",
    "assert_samples_as_eager",
    "by_scope",
    "call",
    "clause",
    "expected",
    "in_scopes",
    "kept",
    "kept_programs",
    "needs",
    "on_devices",
    "operators",
    "probes",
    "sketches",
    "tensors",
]


def __getattr__(name: str) -> Any:
    # Loaded when asked for: reports and clause lists must not wait for torch.
    if name in __all__:
        generate = dict.fromkeys(("assert_as_eager", "kept", "kept_programs", "sketches"), "generate")
        operator = dict.fromkeys(
            ("assert_refused_as_eager", "assert_samples_as_eager", "operators"), "operator_samples"
        )
        module = {"expected": "canonical.expect", **generate, **operator}.get(name, "program.programs")
        return getattr(importlib.import_module(f"conformance.{module}"), name)
    raise AttributeError(f"module 'conformance' has no attribute {name!r}; it has {', '.join(__all__)}")
