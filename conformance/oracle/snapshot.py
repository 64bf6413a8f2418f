"""Look at everything that a caller can see, after every step of a call sequence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from conformance.oracle.observation import UNTRACKED, Phase, Place
from conformance.oracle.state.global_state import GLOBAL_STATE, generator_states
from conformance.oracle.state.reachable_state import Watched, module_attributes
from conformance.oracle.tensor_facts import (
    NO_GRADIENT,
    address_of,
    as_tuple,
    describe,
    gradient_of,
    identical,
    leaves_behind,
    read,
    value_of,
    version_of,
)
from conformance.program.nested_values import leaves, outline, plain


class Observer:
    """Keeps every tensor it ever saw alive, so that reused memory cannot look like an alias."""

    def __init__(self, program: Any, sequence: list[Any], device: str, watched: Watched) -> None:
        self.program = program
        self.sequence = sequence
        self.device = device
        self.outputs: list[Any] = []
        self.follow_up: Any = None
        self.has_follow_up = False
        self.watched = watched
        self.kept: list[Any] = []
        inputs = {name: leaf for name, leaf in self._roster() if isinstance(leaf, torch.Tensor)}
        self.hidden_leaves = leaves_behind(list(inputs.values()))
        inputs |= self._hidden()
        self.at_start = {name: _Start.of(tensor) for name, tensor in inputs.items()}
        self._held = dict(inputs)
        self._versions = {name: version_of(tensor) for name, tensor in inputs.items()}
        self._values = {name: read(lambda tensor=tensor: value_of(tensor)) for name, tensor in inputs.items()}  # type: ignore[misc]
        self.mark_generators()

    def mark_generators(self) -> None:
        """From here on, a generator that moves was drawn from by the program."""
        self._generators = generator_states(self.device)

    def _hidden(self) -> dict[str, torch.Tensor]:
        return {f"leaves[{index}]": leaf for index, leaf in enumerate(self.hidden_leaves)}

    def _prefix(self, index: int) -> str:
        return f"calls[{index}]." if len(self.sequence) > 1 else ""

    def _surroundings(self) -> Iterator[tuple[str, Any]]:
        for kind, held in (("attributes", module_attributes(self.program)), ("globals", self.watched.values())):
            for name, value in held.items():
                yield f"{kind}[{name!r}]", value

    def _roster(self) -> Iterator[tuple[str, Any]]:
        """(where, leaf) for everything a caller holds, inputs before outputs."""
        for index, call in enumerate(self.sequence):
            for held in (tuple(call.args), dict(call.kwargs)):
                for name, leaf in leaves(held, f"{self._prefix(index)}arguments"):
                    yield name, leaf
        if isinstance(self.program, torch.nn.Module):
            for name, parameter in self.program.named_parameters(remove_duplicate=False):
                yield f"parameters[{name!r}]", parameter
            for name, buffer in self.program.named_buffers(remove_duplicate=False):
                yield f"buffers[{name!r}]", buffer
        for place, value in self._surroundings():
            for name, leaf in leaves(value, place):
                yield name, leaf
        for index, output in enumerate(self.outputs):
            for name, leaf in leaves(as_tuple(output), f"{self._prefix(index)}outputs"):
                yield name, leaf
        if self.has_follow_up:
            for name, leaf in leaves(as_tuple(self.follow_up), "after"):
                yield name, leaf

    def snapshot(self, name: str, kind: str) -> Phase:
        phase = Phase(name, kind)
        facts = phase.facts
        self._structures(facts)
        tensors: list[tuple[str, torch.Tensor, int | None]] = []
        for where, leaf in [*self._roster(), *self._hidden().items()]:
            if type(leaf).__module__ == "numpy" and type(leaf).__name__ == "ndarray":
                leaf = read(lambda array=leaf: torch.from_numpy(array))  # type: ignore[misc]
                facts[where, "value"] = leaf.clone() if isinstance(leaf, torch.Tensor) else leaf
            elif isinstance(leaf, torch.Tensor):
                self._look_at(facts, where, leaf, tensors)
            else:
                facts[where, "value"] = plain(leaf)
        self._inputs_memory(facts, {where: tensor for where, tensor, _ in tensors})
        facts |= self.global_state()
        for generator, now in generator_states(self.device).items():
            drawn = generator in self._generators and now != self._generators[generator]
            facts[f"generator_{generator}", "global_state"] = "moved" if drawn else "not moved"
        return phase

    def global_state(self) -> dict[Place, Any]:
        return {(state, "global_state"): read(property_of) for state, property_of in GLOBAL_STATE.items()}

    def _structures(self, facts: dict[Place, Any]) -> None:
        for index, output in enumerate(self.outputs):
            facts[f"{self._prefix(index)}outputs", "structure"] = outline(output)
        for index, call in enumerate(self.sequence):
            where = f"{self._prefix(index)}arguments"
            facts[where, "structure"] = outline((tuple(call.args), dict(call.kwargs)))
        if self.has_follow_up:
            facts["after", "structure"] = outline(self.follow_up)
        for place, value in self._surroundings():
            facts[place, "side_effect"] = outline(value)

    def _look_at(
        self, facts: dict[Place, Any], where: str, leaf: torch.Tensor, seen: list[tuple[str, torch.Tensor, int | None]]
    ) -> None:
        """All facts of a tensor, and those of its gradient."""
        self.kept.append(leaf)
        describe(facts, where, leaf)
        self._relate(facts, where, leaf, seen)
        gradient = gradient_of(leaf)
        if isinstance(gradient, torch.Tensor):
            self.kept.append(gradient)
            facts[where, "grad"] = "a tensor"
            describe(facts, f"{where}.grad", gradient)
            self._relate(facts, f"{where}.grad", gradient, seen)
        elif gradient is not NO_GRADIENT:
            facts[where, "grad"] = gradient

    def _relate(
        self,
        facts: dict[Place, Any],
        where: str,
        tensor: torch.Tensor,
        earlier: list[tuple[str, torch.Tensor, int | None]],
    ) -> None:
        """Which tensor seen before this one is the same object, and which share its memory."""
        same = next((name for name, other, _ in earlier if other is tensor), None)
        facts[where, "identity"] = f"is {same}" if same else "a tensor of its own"
        # Nobody sees in which memory a gradient without elements lies: autograd makes it or takes it as it comes.
        address = None if where.endswith(".grad") and not tensor.numel() else address_of(tensor)
        if address is not None:
            sharing = [name for name, _, other in earlier if other == address]
            # An input may have been given other memory (set_, swap): what it held at the start is a partner too.
            sharing += [f"{name} at the start" for name, start in self.at_start.items() if start.address == address]
            told = f"shares memory with {', '.join(sharing)}" if sharing else "memory of its own"
            facts[where, "storage_sharing"] = told
        earlier.append((where, tensor, address))

    def _inputs_memory(self, facts: dict[Place, Any], now: dict[str, torch.Tensor]) -> None:
        """Versions moved since the last look, and the whole storages behind inputs that are views."""
        seen: set[int] = set()
        for where, start in self.at_start.items():
            if where in now:
                version, value = version_of(now[where]), facts[where, "value"]
                if now[where] is not self._held[where]:
                    facts[where, "version"] = "of another tensor"  # there is no earlier look to compare with
                elif not isinstance(version, int):
                    facts[where, "version"] = version
                elif version != self._versions[where]:
                    facts[where, "version"] = "moved"
                else:
                    facts[where, "version"] = UNTRACKED if self._rewritten(where, value) else "not moved"
                self._held[where], self._versions[where], self._values[where] = now[where], version, value
            if start.storage is None or start.address is None or start.address in seen:
                continue
            seen.add(start.address)
            facts[where, "storage_size"] = start.storage.nbytes()
            if start.partial:
                facts[where, "storage_contents"] = read(start.contents)

    def _rewritten(self, where: str, value: Any) -> bool:
        before = self._values[where]
        if not (isinstance(before, torch.Tensor) and isinstance(value, torch.Tensor)):
            return False
        return not identical(before, value)


@dataclass(frozen=True)
class _Start:
    """An input's memory as it was before the first call."""

    storage: torch.UntypedStorage | None
    address: int | None
    dtype: torch.dtype
    device: torch.device
    partial: bool

    @staticmethod
    def of(tensor: torch.Tensor) -> _Start:
        storage = read(tensor.untyped_storage)
        if not isinstance(storage, torch.UntypedStorage):
            return _Start(None, None, tensor.dtype, tensor.device, False)
        whole = tensor.is_contiguous() and tensor.numel() * tensor.element_size() >= storage.nbytes()
        return _Start(storage, address_of(tensor), tensor.dtype, tensor.device, not whole)

    def contents(self) -> torch.Tensor:
        assert self.storage is not None
        flat = torch.empty(0, dtype=self.dtype, device=self.device)
        return flat.set_(self.storage).clone()
