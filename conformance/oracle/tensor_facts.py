"""The facts of one tensor: each read guarded, values copied without going through autograd."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from conformance.canonical.wrapped import is_fake
from conformance.oracle.observation import Place, Unreadable

NO_GRADIENT = object()


def as_tuple(value: Any) -> Any:
    return value if isinstance(value, (tuple, list, dict)) else (value,)


def read(property_of: Callable[[], Any]) -> Any:
    """The value of a property, or `Unreadable` where reading it raises, as some do in eager too."""
    try:
        return property_of()
    except Exception as error:
        return Unreadable(type(error).__name__)


def address_of(tensor: torch.Tensor) -> int | None:
    found = read(lambda: tensor.untyped_storage().data_ptr() if tensor.untyped_storage().nbytes() else 0)
    return found if isinstance(found, int) and found else None


def version_of(tensor: torch.Tensor) -> Any:
    return read(lambda: tensor._version)


def identical(first: torch.Tensor, second: torch.Tensor) -> bool:
    """Whether two tensors are equal bit for bit, any NaN being equal to any other."""
    if first.shape != second.shape or first.dtype != second.dtype:
        return False
    first, second = real_parts(first), real_parts(second)
    return torch.equal(first, second) or bool(((first == second) | (first.isnan() & second.isnan())).all())


def real_parts(tensor: torch.Tensor) -> torch.Tensor:
    """A complex tensor as the real numbers that it holds."""
    return torch.view_as_real(tensor) if tensor.is_complex() else tensor


def gradient_of(tensor: torch.Tensor) -> Any:
    """The gradient, None, or NO_GRADIENT where a tensor holds none for its caller."""

    def accumulated() -> Any:
        if tensor.is_leaf or tensor.retains_grad:  # a leaf that requires none may be handed one all the same
            return tensor.grad
        return NO_GRADIENT

    return read(accumulated)


def describe(facts: dict[Place, Any], where: str, tensor: torch.Tensor) -> None:
    """Add the facts of one tensor that need no other tensor."""
    facts[where, "type"] = _type(tensor)
    for observable in ("dtype", "layout", "requires_grad", "is_leaf"):
        facts[where, observable] = read(lambda name=observable: getattr(tensor, name))  # type: ignore[misc]
    facts[where, "shape"] = read(lambda: tuple(tensor.shape))
    facts[where, "device"] = read(lambda: str(tensor.device))
    facts[where, "has_history"] = read(lambda: tensor.grad_fn is not None)
    facts[where, "is_inference"] = read(tensor.is_inference)
    facts[where, "is_conj"], facts[where, "is_neg"] = read(tensor.is_conj), read(tensor.is_neg)
    if tensor.layout is torch.strided and read(tensor.numel):
        facts[where, "stride"] = read(tensor.stride)
        facts[where, "storage_offset"] = read(tensor.storage_offset)
    facts[where, "value"] = read(lambda: value_of(tensor))


def _type(tensor: torch.Tensor) -> str:
    """The class, and how the numbers inside are encoded where that is not plain."""
    name = f"{type(tensor).__module__}.{type(tensor).__qualname__}"
    if tensor.is_quantized:
        return f"{name}, {read(lambda: _quantization(tensor))}"
    if tensor.layout is torch.sparse_coo:
        return f"{name}, {read(tensor._nnz)} entries{', coalesced' if tensor.is_coalesced() else ''}"
    return name


def _quantization(tensor: torch.Tensor) -> str:
    if tensor.qscheme() in (torch.per_tensor_affine, torch.per_tensor_symmetric):
        return f"scale {tensor.q_scale()}, zero point {tensor.q_zero_point()}"
    scales, zeros = tensor.q_per_channel_scales().tolist(), tensor.q_per_channel_zero_points().tolist()
    return f"scales {scales}, zero points {zeros}, axis {tensor.q_per_channel_axis()}"


def value_of(tensor: torch.Tensor) -> torch.Tensor:
    """A dense copy of the values, made without autograd; raises a TypeError where a stack left a fake tensor."""
    if is_fake(tensor):
        raise TypeError("a fake tensor has no values")
    with torch.no_grad():
        plain_tensor = tensor.detach()
        if plain_tensor.is_nested:
            return torch.cat([part.reshape(-1) for part in plain_tensor.unbind()]).clone()
        if plain_tensor.is_quantized:
            plain_tensor = plain_tensor.int_repr()
        if plain_tensor.layout is not torch.strided:
            plain_tensor = plain_tensor.to_dense()
        return plain_tensor.resolve_conj().resolve_neg().clone()


def leaves_behind(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    """Leaves of the autograd graph behind the inputs that are not inputs themselves, in a stable order."""
    inputs, found = {id(tensor) for tensor in tensors}, []
    nodes = [read(lambda tensor=tensor: tensor.grad_fn) for tensor in tensors]  # type: ignore[misc]
    pending: list[Any] = [node for node in nodes if isinstance(node, torch.autograd.graph.Node)]
    seen: set[Any] = set()
    while pending:
        node = pending.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        variable = getattr(node, "variable", None)
        if isinstance(variable, torch.Tensor) and id(variable) not in inputs:
            found.append(variable)
        pending.extend(next_node for next_node, _ in reversed(node.next_functions))
    return found
