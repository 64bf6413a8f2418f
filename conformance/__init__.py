"""A conformance suite for compiler stacks behind `torch.compile`: what a case imports.

The names below are all that a case may use; each comes from the module that defines it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.contract import clause, needs

if TYPE_CHECKING:
    from conformance.expect import expected
    from conformance.programs import Call, CallSequence, Program, call, tensors

__all__ = ["Call", "CallSequence", "Program", "call", "clause", "expected", "needs", "tensors"]


def __getattr__(name: str) -> Any:
    # Loaded when asked for: reports and clause lists must not wait for torch.
    if name in __all__:
        import conformance.expect
        import conformance.programs

        owner = conformance.expect if name == "expected" else conformance.programs
        return getattr(owner, name)
    raise AttributeError(f"module 'conformance' has no attribute {name!r}; it has {', '.join(__all__)}")
