"""The float64 reference: the same call sequence run eagerly in double precision, to judge rounding by.

Inputs and parameters keep the values they have in the program's own precision; what is computed from them is
computed in float64, by a dispatch mode under the program. Random draws are made in the program's precision, so
that the masks are the same.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from conformance.oracle.observation import Observation
from conformance.oracle.side import observe
from conformance.program.programs import Calls, Program

NARROW = (torch.float32, torch.float16, torch.bfloat16)


class Widened(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Every floating tensor is float64; with ``rounding``, explicit casts round first (for building inputs)."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.rounding = False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if torch.Tag.nondeterministic_seeded in func.tags:
            return self._drawn(func, args, kwargs)
        tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        takes_tensors = bool(tensors)
        asked = kwargs.get("dtype")
        if asked in NARROW and takes_tensors:
            kwargs["dtype"] = torch.float64
            result = func(*args, **kwargs)
            return result.to(asked).to(torch.float64) if self.rounding else result
        floats = any(one.is_floating_point() or one.is_complex() for one in tensors)
        if takes_tensors and not floats and not self.rounding:
            with _default_dtype(torch.float64):  # what integers are promoted to
                return func(*args, **kwargs)
        return tree_map(_widen, func(*args, **kwargs)) if _makes_new(func, takes_tensors) else func(*args, **kwargs)

    @staticmethod
    def _drawn(func: Any, args: Any, kwargs: Any) -> Any:
        """Draw in float32 (the same numbers as the program's), then widen; in-place draws are written back."""
        narrowed_args, narrowed_kwargs = tree_map(_narrow, args), tree_map(_narrow, kwargs)
        if kwargs.get("dtype") is torch.float64:
            narrowed_kwargs["dtype"] = torch.float32
        drawn = func(*narrowed_args, **narrowed_kwargs)
        if func._schema.is_mutable and args and isinstance(args[0], torch.Tensor):
            return args[0].copy_(narrowed_args[0])
        return tree_map(_widen, drawn)


def _makes_new(func: Any, takes_tensors: bool) -> bool:
    return not takes_tensors or func is torch.ops.aten.lift_fresh.default or not func._schema.is_mutable


@contextlib.contextmanager
def _default_dtype(dtype: torch.dtype) -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def _widen(value: Any) -> Any:
    return value.to(torch.float64) if isinstance(value, torch.Tensor) and value.dtype in NARROW else value


def _narrow(value: Any) -> Any:
    return value.to(torch.float32) if isinstance(value, torch.Tensor) and value.dtype is torch.float64 else value


class _Rounding:
    def __init__(self, mode: Widened) -> None:
        self.mode = mode

    def __enter__(self) -> None:
        self.mode.rounding = True

    def __exit__(self, *_: Any) -> None:
        self.mode.rounding = False


def reference(program: Program, calls: Calls, device: str) -> Observation:
    """The observation of the float64 run; a program that cannot be run so has fewer phases than eager's, or none."""
    mode = Widened()
    try:
        with mode:
            return observe(program, calls, device, during_build=_Rounding(mode), ran="reference", last_look=False)
    except Exception:  # building went well on both sides: what fails is the wider dtype
        return Observation()
    finally:
        # Eager's control flow operators compile themselves. Dynamo skips code that it meets under a mode, and goes on
        # skipping it in later programs, where the operators then meet tensors that they do not expect.
        torch.compiler.reset()
