"""What an exporter makes of a program: a graph that a stack is handed as any other program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from conformance.programs import Calls, Program, ProgramError, build_calls


def exported(program: Program, calls: Calls, device: str, built: Callable[..., Any]) -> Callable[..., Any]:
    """The graph that ``program.export`` makes of the built program; it keeps the program's own parameters.

    It is exported for arguments like those of the first call, which are built for this alone.
    """
    first = build_calls(calls, device)[0]
    arguments, options = tuple(first.args), dict(first.kwargs)
    with program.grad_mode():
        if program.export == "torch._dynamo.export":
            return _by_dynamo(built, arguments, options)
        if not isinstance(built, torch.nn.Module):
            raise ProgramError(f"torch.export exports a module, not {type(built).__name__}")
        module: Callable[..., Any] = torch.export.export(built, arguments, options).module()
        return module


def _by_dynamo(built: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]) -> Callable[..., Any]:
    import torch._dynamo

    # Shapes are those of the arguments: symbolic ones would only make it log what it cannot print.
    graph: Callable[..., Any]
    graph, _ = torch._dynamo.export(built, assume_static_by_default=True)(*arguments, **options)
    return graph
