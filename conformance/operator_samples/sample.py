"""One call of an operator: its arguments as the database gives them, and copies of them for each side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch


@dataclass(frozen=True)
class Sample:
    """A call: ``operator`` is the database's name, ``spelled`` what a user writes; tensors may lie in lists.

    ``number`` tells samples of one operator apart in reports, and ``form`` says how it is called, where that is not as
    the database gives it.
    """

    operator: str
    spelled: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    number: int = 0
    form: str = ""

    @property
    def name(self) -> str:
        return f"{self.operator}{self.form and '.'}{self.form}[{self.number}]"

    @property
    def tensors(self) -> list[torch.Tensor]:
        """The tensors among the arguments, each once, in their order."""
        found: dict[int, torch.Tensor] = {}
        for value in _flat([self.args, self.kwargs]):
            if isinstance(value, torch.Tensor):
                found.setdefault(id(value), value)
        return list(found.values())

    @property
    def elements(self) -> int:
        return sum(tensor.numel() for tensor in self.tensors)

    @property
    def is_dense(self) -> bool:
        """Whether every tensor has numbers in memory, with strides."""
        plain = [one.layout is torch.strided and not one.is_quantized and not one.is_meta for one in self.tensors]
        return all(plain)

    def replaced(self, change: Callable[[torch.Tensor], torch.Tensor]) -> Sample:
        """The same call on changed tensors; a tensor that is there twice is changed once."""
        changed = {id(tensor): change(tensor) for tensor in self.tensors}
        args = mapped(self.args, lambda tensor: changed[id(tensor)])
        kwargs = mapped(dict(self.kwargs), lambda tensor: changed[id(tensor)])
        return replace(self, args=args, kwargs=kwargs)


class Spelled(str):
    """Stands for an object of torch's that cannot be kept in a file: its name."""


def mapped(value: Any, change: Callable[[torch.Tensor], Any]) -> Any:
    """Nested lists, tuples and dicts with every tensor changed."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if type(value) in (list, tuple):
        return type(value)(mapped(one, change) for one in value)
    if type(value) is dict:
        return {key: mapped(one, change) for key, one in value.items()}
    return Spelled(str(value)) if isinstance(value, torch.memory_format) else value


def _flat(value: Any) -> Iterator[Any]:
    if type(value) in (list, tuple):
        for one in value:
            yield from _flat(one)
    elif isinstance(value, Mapping):
        yield from _flat(list(value.values()))
    else:
        yield value


def copies(tensors: list[torch.Tensor], device: str) -> list[torch.Tensor]:
    """Tensors with the same values, strides and offsets; those that share memory share it again.

    Made by factories and copies only, so that they are float64 where the reference builds them.
    """
    memory: dict[int, torch.Tensor] = {}
    built = []
    for tensor in tensors:
        storage = tensor.untyped_storage()
        # Tensors without elements all have the address zero.
        others = (other.untyped_storage().data_ptr() for other in tensors if storage.nbytes())
        shared = sum(address == storage.data_ptr() for address in others) > 1
        if tensor.is_contiguous() and not shared and tensor.numel() * tensor.element_size() == storage.nbytes():
            copy = torch.empty(tensor.shape, dtype=tensor.dtype, device=device).copy_(tensor.detach())
        else:
            key = storage.data_ptr() if shared else id(tensor)
            if key not in memory:
                count = storage.nbytes() // tensor.element_size()
                whole = tensor.detach().as_strided((count,), (1,), 0)
                memory[key] = torch.empty(count, dtype=tensor.dtype, device=device).copy_(whole)
            copy = memory[key].as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())
            copy = copy.conj() if tensor.is_conj() else copy
        built.append(copy.requires_grad_() if tensor.requires_grad else copy)
    return built
