"""AOTInductor: the program is exported, compiled into a package, loaded from it and run; for inference only."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch.utils import _pytree as pytree

from conformance.canonical.graphs import Graph
from conformance.capture.recorder import Recorder
from conformance.program.probe import Probe
from conformance.stacks.base import Stack


class AotInductorStack(Stack):
    """A stack without Dynamo: it compiles the exported program once, and never again."""

    def compile(
        self,
        program: Callable[..., Any],
        recorder: Recorder,
        *,
        dynamic: bool | None = None,
        fullgraph: bool = False,
        probes: Sequence[Probe] = (),
    ) -> Callable[..., Any]:
        loaded: list[Callable[..., Any]] = []

        def run(*args: Any, **kwargs: Any) -> Any:
            if not loaded:
                started = time.perf_counter()
                exported = export_program(program, args, kwargs, dynamic)
                recorder.dynamo.append(Graph.of(exported))
                loaded.append(load_program(exported))
                recorder.compile_seconds += time.perf_counter() - started
            return loaded[0](*args, **kwargs)

        return run


class _Called(torch.nn.Module):
    """A function as the module that export wants."""

    def __init__(self, program: Callable[..., Any]) -> None:
        super().__init__()
        self.program = program

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.program(*args, **kwargs)


def export_program(program: Callable[..., Any], args: Any, kwargs: Any, dynamic: bool | None) -> Any:
    """The program, exported for arguments like these; every size is free where ``dynamic``."""
    module = program if isinstance(program, torch.nn.Module) else _Called(program)
    shapes: Any = None
    if dynamic:
        shapes = torch.export.ShapesCollection()  # type: ignore[no-untyped-call]
        for leaf in pytree.tree_leaves((args, kwargs)):
            if isinstance(leaf, torch.Tensor):
                shapes[leaf] = [torch.export.Dim.AUTO] * leaf.dim()
    return torch.export.export(module, args, kwargs, dynamic_shapes=shapes, strict=False)


def load_program(exported: Any) -> Callable[..., Any]:
    """What AOTInductor makes of an exported program, loaded from its package."""
    from torch._inductor import aoti_compile_and_package, aoti_load_package

    with tempfile.TemporaryDirectory() as folder:
        package = aoti_compile_and_package(exported, package_path=str(Path(folder) / "program.pt2"))
        found: Callable[..., Any] = aoti_load_package(package)
    return found
