"""Types of tensors and sizes as text: dtype, shape, strides unless contiguous, renamed symbols."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

_DTYPES = {
    torch.float64: "f64",
    torch.float32: "f32",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.complex64: "c64",
    torch.complex128: "c128",
    torch.int64: "i64",
    torch.int32: "i32",
    torch.int16: "i16",
    torch.int8: "i8",
    torch.uint8: "u8",
    torch.bool: "b8",
}


class Symbols:
    """Symbols, renamed in order of appearance."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}

    def text(self, value: Any) -> str:
        expression = _expression(value)
        symbols = sorted(getattr(expression, "free_symbols", ()), key=str)
        if not symbols:
            return str(expression)
        # Substituted, not replaced in the text: the order of the terms follows the names.
        return str(expression.xreplace({symbol: self._renamed(symbol) for symbol in symbols}))

    def _renamed(self, symbol: Any) -> Any:
        name = self.names.setdefault(str(symbol), f"s{len(self.names)}")
        return type(symbol)(name, **symbol.assumptions0)


def dtype_name(dtype: torch.dtype) -> str:
    return _DTYPES.get(dtype, str(dtype).removeprefix("torch."))


def devices(value: Any) -> Iterator[torch.device]:
    if isinstance(value, torch.Tensor):
        yield value.device
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from devices(item)


def _expression(value: Any) -> Any:
    return getattr(getattr(value, "node", None), "expr", value)


def contiguous(tensor: torch.Tensor) -> bool:
    """Whether the strides are those of a contiguous tensor, decided without adding a guard on a symbolic size."""
    sizes, strides = [_expression(size) for size in tensor.shape], [_expression(step) for step in tensor.stride()]
    if any(size == 0 for size in sizes):
        return True
    expected: Any = 1
    for size, stride in zip(reversed(sizes), reversed(strides), strict=True):
        if size == 1:
            continue
        if str(_without_max(stride)) != str(_without_max(expected)):
            return False
        expected = expected * size
    return True


def _without_max(expression: Any) -> Any:
    """The expression with `Max(1, s0)`, which the contiguous strides of a symbolic shape carry, read as `s0`."""
    if not hasattr(expression, "replace") or isinstance(expression, str):
        return expression
    is_max: Callable[[Any], bool] = lambda part: type(part).__name__ == "Max" and len(part.args) == 2  # noqa: E731
    return expression.replace(is_max, lambda part: part.args[1] if part.args[0] == 1 else part.args[0])


def scalar_suffix(value: Any) -> str:
    """` = 2` for a constant of zero dimensions, whose value is part of the program."""
    from torch._subclasses.fake_tensor import FakeTensor
    from torch.utils._python_dispatch import _disable_current_modes

    if not isinstance(value, torch.Tensor) or isinstance(value, FakeTensor) or value.dim() or value.is_meta:
        return ""
    with _disable_current_modes():
        return f" = {value.item()!r}"
