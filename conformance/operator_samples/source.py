"""Samples as the text of a program, in the form that `conformance check` reads, and what eager makes of them."""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import torch

from conformance.operator_samples.sample import Sample, Spelled, copies
from conformance.program.expressions import WrittenCalls
from conformance.program.sources import ScriptError

#: Tensors with more elements are no text that anyone reads; of many more nobody wants a script.
LONGEST, LONGEST_PACKED = 512, 100_000


class NoText(ValueError):
    """An argument that cannot be written down."""


def program_text(samples: Sequence[Sample], device: str, ending: str = "") -> str:
    """A function ``program`` of all tensors of the samples that returns their results in a list.

    ``ending`` is added to its name, where several stand in one file.
    """
    names: list[str] = []
    lines = []
    for sample in samples:
        own = {id(tensor): f"a{len(names) + index}" for index, tensor in enumerate(sample.tensors)}
        names += own.values()
        lines.append(f"        {_call(sample, own, device)},\n")
    body = f"    return [\n{''.join(lines)}    ]\n"
    return f"import torch\n\n\ndef program{ending}({', '.join(names)}):\n{body}"


def _call(sample: Sample, names: dict[int, str], device: str) -> str:
    arguments = [literal(value, names, device) for value in sample.args]
    options = [f"{name}={literal(value, names, device)}" for name, value in sample.kwargs.items()]
    # A number has not a tensor's methods: what the database asks is what they say when they are called with one.
    if not sample.spelled.startswith("torch.Tensor.") or not isinstance(sample.args[0], torch.Tensor):
        return f"{sample.spelled}({', '.join([*arguments, *options])})"
    name = sample.spelled.removeprefix("torch.Tensor.")
    called = f"({', '.join([*arguments[1:], *options])})" if callable(getattr(torch.Tensor, name)) else ""
    return f"{arguments[0]}.{name}{called}"


def whole_text(sample: Sample, device: str, ending: str = "", *, packed: bool = False) -> str:
    """A program of one sample with its inputs; raises `NoText` where these are too large.

    Large inputs are ``packed``, for a script, or too large, for a reader.
    """
    rows = "".join(f"        {tensor_text(tensor, packed=packed)},\n" for tensor in sample.tensors)
    unpacked = "import base64\nimport zlib\n\n" if "base64." in rows else ""
    program = program_text([sample], device, ending)
    return f"{unpacked}{program}\n\ndef calls{ending}(device):\n    return [(\n{rows}    )]\n"


class SampleCalls(WrittenCalls):
    """The tensors of samples as the arguments of a call, fresh in each of ``count`` calls.

    What the forms of one sample share in memory, its copies do not.
    """

    def __init__(self, samples: Sequence[Sample], count: int = 1) -> None:
        self.samples, self.count = samples, count

    def __call__(self, device: str) -> list[Any]:
        return [
            tuple(tensor for sample in self.samples for tensor in copies(sample.tensors, device))
            for _ in range(self.count)
        ]

    def text(self, name: str) -> str:
        try:
            rows = [tensor_text(tensor, packed=True) for sample in self.samples for tensor in sample.tensors]
        except NoText as error:
            raise ScriptError(f"the inputs cannot be written down: {error}") from error
        tensors = "".join(f"            {row},\n" for row in rows)
        one_call = f"        (\n{tensors}        )\n        for _ in range({self.count})\n"
        return f"def {name}(device):\n    return [\n{one_call}    ]"


def call(sample: Sample, device: str = "cpu") -> Any:
    """What eager makes of a sample, on copies of its tensors."""
    return function(sample, device)(*copies(sample.tensors, device))[0]


def function(sample: Sample, device: str = "cpu") -> Callable[..., Any]:
    """What calls a sample's operator on tensors in the order of the sample's; its results are in a list."""
    names: dict[str, Any] = {}
    exec(program_text([sample], device), names)
    program: Callable[..., Any] = names["program"]
    return program


def tensor_text(tensor: torch.Tensor, *, packed: bool = False) -> str:
    """An expression that makes the tensor on ``device``; strides and gaps are kept, shared memory is not."""
    plain = tensor.detach()
    if plain.is_conj():
        text = f"{tensor_text(plain.conj(), packed=packed)}.conj()"
    elif plain.is_neg():
        text = f"torch._neg_view({tensor_text(torch._neg_view(plain), packed=packed)})"
    elif plain.numel() == 0:
        text = f"torch.empty({tuple(plain.shape)}, dtype={plain.dtype}, device=device)"
    elif plain.is_contiguous() and plain.storage_offset() == 0:
        text = _filled(plain, packed)
    else:
        last = sum((size - 1) * step for size, step in zip(plain.shape, plain.stride(), strict=True))
        whole = plain.as_strided((plain.storage_offset() + last + 1,), (1,), 0)
        text = f"{_filled(whole, packed)}.as_strided({tuple(plain.shape)}, {plain.stride()}, {plain.storage_offset()})"
    return f"{text}.requires_grad_()" if tensor.requires_grad else text


def _filled(tensor: torch.Tensor, packed: bool) -> str:
    """A contiguous tensor, its elements as numbers or, where it is large, packed."""
    if not packed or tensor.numel() <= LONGEST or tensor.numel() > LONGEST_PACKED:
        return f"torch.tensor({values_text(tensor)}, dtype={tensor.dtype}, device=device)"
    bits = base64.b85encode(zlib.compress(tensor.cpu().flatten().view(torch.uint8).numpy().tobytes())).decode()
    flat = f"torch.frombuffer(bytearray(zlib.decompress(base64.b85decode({bits!r}))), dtype={tensor.dtype})"
    return f"{flat}.to(device).reshape({tuple(tensor.shape)})"


def values_text(tensor: torch.Tensor) -> str:
    if tensor.numel() > LONGEST:
        raise NoText(f"a tensor of {tensor.numel()} elements")
    return literal(tensor.tolist(), {}, "")


def literal(value: Any, names: dict[int, str], device: str) -> str:
    """An argument as text: tensors by their names, numbers and torch's own objects as users write them."""
    if isinstance(value, torch.Tensor):
        return names[id(value)]
    if isinstance(value, torch.Size):
        return f"torch.Size({list(value)})"
    if type(value) in (list, tuple):
        inner = ", ".join(literal(one, names, device) for one in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' if len(value) == 1 else ''})"
    if type(value) is dict:
        return "{" + ", ".join(f"{key!r}: {literal(one, names, device)}" for key, one in value.items()) + "}"
    if isinstance(value, torch.device):
        return repr(device)
    if type(value) is str and value in ("cpu", "cpu:0"):
        return repr(device)
    if type(value) is float and not math.isfinite(value):
        return f'float("{value}")'
    if type(value) is complex and not (math.isfinite(value.real) and math.isfinite(value.imag)):
        return f"complex({literal(value.real, {}, '')}, {literal(value.imag, {}, '')})"
    if type(value) is slice:
        return f"slice({', '.join(literal(one, names, device) for one in (value.start, value.stop, value.step))})"
    if isinstance(value, (torch.dtype, torch.layout, Spelled)):
        return str(value)
    if value is Ellipsis:
        return "..."
    if value is None or type(value) in (bool, int, float, complex, str):
        return repr(value)
    raise NoText(f"an argument that is {type(value).__name__}")
