"""Exports a program and hands the exported graph to the stack as its program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from conformance.program.probe import Probe
from conformance.program.programs import Calls, Program, ProgramError, build_calls

#: What a program can be exported by, as users call it.
EXPORTERS = ("torch.export.export", "torch._dynamo.export")


@dataclass(frozen=True)
class ExportedBy(Probe):
    """The stack compiles what an exporter makes of the program, eager runs the program itself.

    ``exporter`` is one of `EXPORTERS`. The graph keeps the program's own parameters; it is exported for arguments like
    those of the first call, which are built for this alone.
    """

    exporter: str

    def __post_init__(self) -> None:
        if self.exporter not in EXPORTERS:
            raise ProgramError(f"a program is exported by {', '.join(EXPORTERS)}, not {self.exporter!r}")

    def wrap_program(
        self, built: Callable[..., Any], program: Program, calls: Calls, device: str
    ) -> Callable[..., Any]:
        first = build_calls(calls, device)[0]
        arguments, options = tuple(first.args), dict(first.kwargs)
        with program.grad_mode():
            if self.exporter == "torch._dynamo.export":
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
