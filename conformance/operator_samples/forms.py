"""The forms in which a sample is called: plain, with gradients, in place, into ``out``, on other layouts and values."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch

from conformance.operator_samples.conditioning import has_certain_infinities
from conformance.operator_samples.sample import Sample, copies, mapped
from conformance.operator_samples.source import call, function
from conformance.operator_samples.spelling import OVERWRITING, takes_special_values
from conformance.program import devices

#: A form of a sample: none, one or several calls. The record is what the index says of the operator.
Form = Callable[[Sample, Mapping[str, Any]], Iterator[Sample]]

FLOATS = (float("nan"), float("inf"), 1.0, float("-inf"), -0.0, 1e-40, 0.0, -1.5, 3.4e38, -1e-45, 2.5, 0.5)
#: Without the largest number, whose squares and sums overflow on the way to a result that does not, and without the
#: subnormals, which a GPU may take for zeros.
MODERATE = tuple({3.4e38: 1e10, 1e-40: 1e-10, -1e-45: -1e-10}.get(number, number) for number in FLOATS)


def results(sample: Sample, record: Mapping[str, Any]) -> Iterator[Sample]:
    """The call, without gradients."""
    yield _plain(sample)


def _plain(sample: Sample) -> Sample:
    return sample.replaced(lambda tensor: tensor.detach())


def gradients(sample: Sample, record: Mapping[str, Any]) -> Iterator[Sample]:
    """The call on inputs that require gradients, where there are any."""
    if any(tensor.requires_grad for tensor in sample.tensors):
        yield sample


def in_place(sample: Sample, record: Mapping[str, Any]) -> Iterator[Sample]:
    """The method that writes its result over the first operand."""
    if record["in_place"]:
        plain = _plain(sample)
        yield dataclasses.replace(plain, spelled=record["in_place"])


def out(sample: Sample, record: Mapping[str, Any]) -> Iterator[Sample]:
    """The call into tensors that are given: of the right size, without elements, of the right size in another layout.

    Dynamo takes the first into its graph; it leaves the others to eager, and what is around them is compiled.
    """
    if not record["out"]:
        return
    plain = _plain(sample)
    result = call(plain) if runs(plain) else None
    if isinstance(result, torch.Tensor) or (isinstance(result, tuple) and result):
        for made in (_zeros, _nothing, _transposed_zeros):
            given: Any = mapped(result if isinstance(result, torch.Tensor) else tuple(result), made)
            yield dataclasses.replace(plain, kwargs={**plain.kwargs, "out": given})


def _zeros(result: torch.Tensor) -> torch.Tensor:
    return torch.zeros(result.shape, dtype=result.dtype)


def _transposed_zeros(result: torch.Tensor) -> torch.Tensor:
    return torch.zeros(tuple(reversed(result.shape)), dtype=result.dtype).permute(tuple(reversed(range(result.dim()))))


def _nothing(result: torch.Tensor) -> torch.Tensor:
    return torch.empty(0, dtype=result.dtype)


def transposed(sample: Sample, record: Mapping[str, Any]) -> Iterator[Sample]:
    """The call on operands whose dimensions lie in memory in the opposite order, images as channels_last."""
    plain = _plain(sample)
    if any(tensor.dim() > 1 for tensor in plain.tensors) and sample.operator not in OVERWRITING:
        yield plain.replaced(_transposed)


def _transposed(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.dim() == 4:
        return tensor.contiguous(memory_format=torch.channels_last)
    dims = tuple(reversed(range(tensor.dim())))
    return tensor.permute(dims).contiguous().permute(dims)


def gaps(sample: Sample, record: Mapping[str, Any]) -> Iterator[Sample]:
    """The call on operands that are every second column of a larger tensor."""
    plain = _plain(sample)
    if any(tensor.numel() > 1 for tensor in plain.tensors):
        yield plain.replaced(_every_second)


def _every_second(tensor: torch.Tensor) -> torch.Tensor:
    return torch.stack([tensor, tensor], -1)[..., 0] if tensor.dim() and tensor.numel() else tensor


def small_sizes(sample: Sample, record: Mapping[str, Any]) -> Iterator[Sample]:
    """The call where an operand has no dimensions, no elements or a dimension of size one."""
    plain = _plain(sample)
    if any(tensor.dim() == 0 or min(tensor.shape) < 2 for tensor in plain.tensors):
        yield plain


def special_values(sample: Sample, record: Mapping[str, Any], floats: Sequence[float] = FLOATS) -> Iterator[Sample]:
    """The call on NaN, infinities, zeros of both signs, subnormals and the limits of integers."""
    if not takes_special_values(sample.operator):
        return
    operands = [one for one in sample.args if isinstance(one, torch.Tensor)]
    plain = _plain(sample)
    shifts = {id(tensor): number for number, tensor in enumerate(plain.tensors)}
    if not operands:
        return
    made = plain.replaced(lambda tensor: _special(tensor, shifts[id(tensor)], floats))
    if has_certain_infinities(made):
        yield made


def _special(tensor: torch.Tensor, shift: int, floats: Sequence[float]) -> torch.Tensor:
    """Every tensor goes through the list at a speed of its own, so that pairs of operands meet all pairs of values."""
    if tensor.dtype is torch.bool:
        return tensor
    if tensor.is_floating_point():
        values = torch.tensor(floats, dtype=torch.float64).to(tensor.dtype)
    elif tensor.is_complex():
        return tensor
    else:
        limits = torch.iinfo(tensor.dtype)
        values = torch.tensor([limits.min, limits.max, 0, 1, limits.max - 1, limits.min + 1, 3, 7], dtype=tensor.dtype)
    steps = torch.arange(tensor.numel()) * (1 + 4 * shift) + shift
    return values[steps % len(values)].reshape(tensor.shape)


FORMS: Mapping[str, Form] = {
    form.__name__: form for form in (results, gradients, in_place, out, transposed, gaps, small_sizes, special_values)
}
#: The row of one operator: so many samples of each form, those that Dynamo leaves to eager last.
EVERY_FORM = "every_form"
MOST = {"results": 4, "small_sizes": 2, "transposed": 1, "gaps": 1, "special_values": 2, "in_place": 1, "out": 3}
#: Integers and booleans lie in memory as other numbers do.
MOST_EXACT = {"results": 2, "special_values": 1, "in_place": 1}


def in_every_form(samples: Sequence[Sample], record: Mapping[str, Any]) -> list[Sample]:
    """A few samples of an operator in each form but that with gradients; a form is part of a sample's name."""
    floats = any(tensor.is_floating_point() for sample in samples for tensor in sample.tensors)
    found: list[Sample] = []
    for form, most in (MOST if floats else MOST_EXACT).items():
        make = functools.partial(special_values, floats=MODERATE) if form == "special_values" else FORMS[form]
        formed = itertools.islice((one for sample in samples for one in make(sample, record)), most)
        found += (dataclasses.replace(one, form="" if form == "results" else form) for one in formed)
    return found


def runs(sample: Sample, device: str = "cpu") -> bool:
    """Whether eager does not refuse a sample."""
    called = functools.partial(function(sample, device), *copies(sample.tensors, device))
    try:
        called()
    except Exception:
        return False
    finally:
        if devices.is_lost(device):
            devices.LOST_BY_EAGER.append(sample.name)
    return True


def everywhere_runs(sample: Sample, device: str) -> bool:
    """Whether eager runs a sample on the device, and on the CPU before.

    What the CPU refuses, as a division by zero or an index that is too large, a GPU computes to anything, or finds by
    an assertion, after which its process cannot use it any more.
    """
    return runs(sample) and (device == "cpu" or runs(sample, device))


def is_refused(sample: Sample, device: str) -> bool:
    """Whether eager refuses a sample on the device; on a GPU, where it does so without a look at values."""
    return not runs(sample) if device == "cpu" else not (runs(sample, "meta") or runs(sample, device))
