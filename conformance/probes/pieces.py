"""Compiles a captured graph in two pieces, as a backend that partitions graphs does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx
from torch.fx.passes.split_module import split_module

from conformance.canonical.operators import target_name
from conformance.program.probe import Backend, Probe


@dataclass(frozen=True)
class CutBefore(Probe):
    """The stack compiles each captured graph as two, cut before the first node of ``operator``."""

    operator: str

    def wrap_backend(self, backend: Backend) -> Backend:
        return in_pieces(backend, self.operator)


def in_pieces(backend: Callable[..., Any], operator: str) -> Callable[..., Any]:
    """A backend that cuts a graph before the first node of ``operator`` and lets ``backend`` compile both pieces.

    The second piece is compiled for what the first one really returns: outputs that are one tensor are one input.
    """

    def compile_in_pieces(module: fx.GraphModule, inputs: Sequence[Any], **options: Any) -> Any:
        return compile_pieces(module, inputs, operator, lambda *piece: backend(*piece, **options))

    return compile_in_pieces


def compile_pieces(
    module: fx.GraphModule, inputs: Sequence[Any], operator: str, compile_piece: Callable[..., Any]
) -> fx.GraphModule:
    """The graph, cut and with compiled pieces."""
    passed = False

    def piece_of(node: fx.Node) -> int:
        nonlocal passed
        passed = passed or target_name(node.target) == operator
        return int(passed)

    # Writes order nodes as well as data does: the pieces stay in the order of the graph.
    cut = split_module(module, None, piece_of, keep_original_order=True)  # type: ignore[arg-type]
    # What runs here is for its outputs alone: nothing of the caller's may be written to.
    copies = [value.clone() if isinstance(value, torch.Tensor) else value for value in inputs]
    _CompilesPieces(cut, compile_piece).run(*copies)
    return cut


class _CompilesPieces(fx.Interpreter):
    """Runs a cut graph and compiles each piece for the arguments that reach it."""

    def __init__(self, module: fx.GraphModule, compile_piece: Callable[..., Any]) -> None:
        super().__init__(module)
        self.compile_piece = compile_piece

    def call_module(self, target: Any, args: Any, kwargs: Any) -> Any:
        piece = self.fetch_attr(target)
        result = super().call_module(target, args, kwargs)
        setattr(self.module, target, _Compiled(piece, list(args), self.compile_piece))
        return result


class _Compiled(torch.nn.Module):
    """A compiled piece; a backend takes graphs that return a tuple, a piece may return a tensor."""

    def __init__(self, piece: fx.GraphModule, inputs: list[Any], compile_piece: Callable[..., Any]) -> None:
        super().__init__()
        output = piece.graph.output_node()
        self.single = not isinstance(output.args[0], (tuple, list))
        if self.single:
            output.args = ((output.args[0],),)
            piece.recompile()
        self.compiled = compile_piece(piece, inputs)

    def forward(self, *inputs: Any) -> Any:
        outputs = self.compiled(*inputs)
        return outputs[0] if self.single else outputs
