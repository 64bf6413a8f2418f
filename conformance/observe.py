"""Run a call sequence on one side and record the observation: everything a caller can see, phase by phase."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch

from conformance.programs import SEED, Calls, Program, build_calls
from conformance.structure import leaves, outline, plain
from conformance.surroundings import (
    GLOBAL_STATE,
    Watched,
    generator_states,
    global_state_restored,
    module_attributes,
    seed_everything,
)

#: Observables whose fact is a tensor, compared by value.
TENSOR_VALUES = frozenset({"value", "storage_contents"})

Place = tuple[str, str]  # where, observable


@dataclass(frozen=True)
class Raised:
    """An exception, and the phase it came out of."""

    stage: str  # call, backward, follow_up
    phase: int
    error: BaseException


@dataclass
class Phase:
    """What was seen after one step: a call, the backward, the follow-up."""

    name: str
    stage: str
    facts: dict[Place, Any] = field(default_factory=dict)


@dataclass
class Observation:
    phases: list[Phase] = field(default_factory=list)
    raised: Raised | None = None
    timings: dict[str, float] = field(default_factory=dict)

    def tensor(self, phase: int, place: Place) -> torch.Tensor | None:
        facts = self.phases[phase].facts if phase < len(self.phases) else {}
        value = facts.get(place)
        return value if isinstance(value, torch.Tensor) else None


#: Written past the version counter, as batch_norm writes its statistics and ``.data`` writes do.
UNTRACKED = "written without moving"


@dataclass(frozen=True)
class Unreadable:
    """A property that raises when it is read, on this side."""

    error: str

    def __str__(self) -> str:
        return f"unreadable ({self.error})"


class Observer:
    """Keeps every tensor it ever saw alive, so that reused memory cannot look like an alias."""

    def __init__(self, program: Any, sequence: list[Any], device: str) -> None:
        self.program = program
        self.sequence = sequence
        self.device = device
        self.outputs: list[Any] = []
        self.follow_up: Any = None
        self.has_follow_up = False
        self.watched = Watched(program)
        self.kept: list[Any] = []
        inputs = {name: leaf for name, leaf, _ in self._roster() if isinstance(leaf, torch.Tensor)}
        self.hidden_leaves = _leaves_behind(list(inputs.values()))
        self.at_start = {name: _Start.of(tensor) for name, tensor in {**inputs, **self._hidden()}.items()}
        self.generators = generator_states(device)
        self._versions = {name: _version(t) for name, t in {**inputs, **self._hidden()}.items()}
        self._values = {name: _read(lambda t=t: _value(t)) for name, t in inputs.items()}  # type: ignore[misc]

    def _hidden(self) -> dict[str, torch.Tensor]:
        return {f"leaves[{index}]": leaf for index, leaf in enumerate(self.hidden_leaves)}

    def _prefix(self, index: int) -> str:
        return f"calls[{index}]." if len(self.sequence) > 1 else ""

    def _roster(self) -> Iterator[tuple[str, Any, bool]]:
        """(where, leaf, is an output) for everything a caller holds, inputs before outputs."""
        for index, call in enumerate(self.sequence):
            prefix = self._prefix(index)
            for name, leaf in leaves(tuple(call.args), f"{prefix}arguments"):
                yield name, leaf, False
            for name, leaf in leaves(dict(call.kwargs), f"{prefix}arguments"):
                yield name, leaf, False
        if isinstance(self.program, torch.nn.Module):
            for name, parameter in self.program.named_parameters(remove_duplicate=False):
                yield f"parameters[{name!r}]", parameter, False
            for name, buffer in self.program.named_buffers(remove_duplicate=False):
                yield f"buffers[{name!r}]", buffer, False
        for kind, held in (("attributes", module_attributes(self.program)), ("globals", self.watched.values())):
            for name, value in held.items():
                for path, leaf in leaves(value, f"{kind}[{name!r}]"):
                    yield path, leaf, False
        for index, output in enumerate(self.outputs):
            for name, leaf in leaves(_as_tuple(output), f"{self._prefix(index)}outputs"):
                yield name, leaf, True
        if self.has_follow_up:
            for name, leaf in leaves(_as_tuple(self.follow_up), "after"):
                yield name, leaf, True

    def snapshot(self, name: str, stage: str) -> Phase:
        phase = Phase(name, stage)
        facts = phase.facts
        self._structures(facts)
        roster = [*self._roster(), *((where, leaf, False) for where, leaf in self._hidden().items())]
        tensors: list[tuple[str, torch.Tensor]] = []
        for where, leaf, is_output in roster:
            if not isinstance(leaf, torch.Tensor):
                facts[where, "value"] = plain(leaf)
                continue
            self.kept.append(leaf)
            _describe(facts, where, leaf)
            self._relate(facts, where, leaf, tensors, is_output)
            tensors.append((where, leaf))
            gradient = _gradient(leaf)
            if isinstance(gradient, torch.Tensor):
                self.kept.append(gradient)
                facts[where, "grad"] = "a tensor"
                _describe(facts, f"{where}.grad", gradient)
                self._relate(facts, f"{where}.grad", gradient, tensors, True)
                tensors.append((f"{where}.grad", gradient))
            elif gradient is not _NO_GRADIENT:
                facts[where, "grad"] = gradient
        self._inputs_memory(facts, dict(tensors))
        for state, read in GLOBAL_STATE.items():
            facts[state, "global_state"] = _read(read)
        for generator, state_now in generator_states(self.device).items():
            moved = not torch.equal(state_now, self.generators[generator])
            facts[f"generator_{generator}", "global_state"] = "moved" if moved else "not moved"
        return phase

    def _unmoved(self, where: str, tensor: torch.Tensor) -> str:
        before, after = self._values.get(where), _read(lambda: _value(tensor))
        if isinstance(before, torch.Tensor) and isinstance(after, torch.Tensor) and not _identical(before, after):
            return UNTRACKED
        return "not moved"

    def _structures(self, facts: dict[Place, Any]) -> None:
        for index, output in enumerate(self.outputs):
            facts[f"{self._prefix(index)}outputs", "structure"] = outline(output)
        for index, call in enumerate(self.sequence):
            where = f"{self._prefix(index)}arguments"
            facts[where, "structure"] = outline((tuple(call.args), dict(call.kwargs)))
        if self.has_follow_up:
            facts["after", "structure"] = outline(self.follow_up)
        for kind, held in (("attributes", module_attributes(self.program)), ("globals", self.watched.values())):
            for name, value in held.items():
                facts[f"{kind}[{name!r}]", "side_effect"] = outline(value)

    def _relate(
        self,
        facts: dict[Place, Any],
        where: str,
        tensor: torch.Tensor,
        earlier: list[tuple[str, torch.Tensor]],
        is_output: bool,
    ) -> None:
        same = next((name for name, other in earlier if other is tensor), None)
        if is_output or same is not None:
            facts[where, "identity"] = f"is {same}" if same else "a tensor of its own"
        address = _address(tensor)
        if address is None:
            return
        sharing = [name for name, other in earlier if _address(other) == address]
        # An input may have been given other memory (set_, swap): what it held at the start is a partner too.
        sharing += [f"{name} at the start" for name, start in self.at_start.items() if start.address() == address]
        facts[where, "storage_sharing"] = f"shares memory with {', '.join(sharing)}" if sharing else "memory of its own"

    def _inputs_memory(self, facts: dict[Place, Any], now: dict[str, torch.Tensor]) -> None:
        seen: set[int] = set()
        for where, start in self.at_start.items():
            if where in now:
                version = _version(now[where])
                before = self._versions[where]
                moved = "moved" if version != before else self._unmoved(where, now[where])
                facts[where, "version"] = moved if isinstance(version, int) else version
            address = start.address()
            if start.storage is None or address is None or address in seen:
                continue
            seen.add(address)
            facts[where, "storage_size"] = start.storage.nbytes()
            if start.partial:
                facts[where, "storage_contents"] = _read(start.contents)


@dataclass(frozen=True)
class _Start:
    """An input's memory as it was before the first call."""

    storage: torch.UntypedStorage | None
    dtype: torch.dtype
    device: torch.device
    partial: bool

    @staticmethod
    def of(tensor: torch.Tensor) -> _Start:
        storage = _read(tensor.untyped_storage)
        if not isinstance(storage, torch.UntypedStorage):
            return _Start(None, tensor.dtype, tensor.device, False)
        covers = tensor.numel() * tensor.element_size() >= storage.nbytes()
        return _Start(storage, tensor.dtype, tensor.device, not covers)

    def address(self) -> int | None:
        return self.storage.data_ptr() or None if self.storage is not None else None

    def contents(self) -> torch.Tensor:
        assert self.storage is not None
        flat = torch.empty(0, dtype=self.dtype, device=self.device)
        return flat.set_(self.storage).clone()


_NO_GRADIENT = object()


def _as_tuple(value: Any) -> Any:
    return value if isinstance(value, (tuple, list, dict)) else (value,)


def _read(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except Exception as error:
        return Unreadable(type(error).__name__)


def _address(tensor: torch.Tensor) -> int | None:
    address = _read(lambda: tensor.untyped_storage().data_ptr() if tensor.untyped_storage().nbytes() else 0)
    return address if isinstance(address, int) and address else None


def _version(tensor: torch.Tensor) -> Any:
    return _read(lambda: tensor._version)


def _identical(first: torch.Tensor, second: torch.Tensor) -> bool:
    return first.shape == second.shape and bool(((first == second) | (first.isnan() & second.isnan())).all())


def _gradient(tensor: torch.Tensor) -> Any:
    def read() -> Any:
        if tensor.requires_grad and (tensor.is_leaf or tensor.retains_grad):
            return tensor.grad
        return _NO_GRADIENT

    return _read(read)


def _describe(facts: dict[Place, Any], where: str, tensor: torch.Tensor) -> None:
    facts[where, "type"] = f"{type(tensor).__module__}.{type(tensor).__qualname__}"
    for observable in ("dtype", "layout", "requires_grad", "is_leaf"):
        facts[where, observable] = _read(lambda name=observable: getattr(tensor, name))  # type: ignore[misc]
    facts[where, "shape"] = _read(lambda: tuple(tensor.shape))
    facts[where, "device"] = _read(lambda: str(tensor.device))
    facts[where, "has_history"] = _read(lambda: tensor.grad_fn is not None)
    facts[where, "is_inference"] = _read(tensor.is_inference)
    if tensor.layout is torch.strided and _read(tensor.numel):
        facts[where, "stride"] = _read(tensor.stride)
        facts[where, "storage_offset"] = _read(tensor.storage_offset)
    facts[where, "value"] = _read(lambda: _value(tensor))


def _value(tensor: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        plain_tensor = tensor.detach()
        if plain_tensor.is_quantized:
            plain_tensor = plain_tensor.int_repr()
        if plain_tensor.layout is not torch.strided:
            plain_tensor = plain_tensor.to_dense()
        return plain_tensor.resolve_conj().resolve_neg().clone()


def _leaves_behind(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    """Leaves of the autograd graph behind the inputs that are not inputs themselves, in a stable order."""
    inputs, found = {id(tensor) for tensor in tensors}, []
    stack = [t.grad_fn for t in tensors if isinstance(_read(lambda t=t: t.grad_fn), torch.autograd.graph.Node)]  # type: ignore[misc]
    seen: set[Any] = set()
    while stack:
        node = stack.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        variable = getattr(node, "variable", None)
        if isinstance(variable, torch.Tensor) and id(variable) not in inputs:
            found.append(variable)
        stack.extend(next_node for next_node, _ in reversed(node.next_functions))
    return found


def _inference(kind: bool | str) -> AbstractContextManager[Any]:
    if kind == "inference_mode":
        return torch.inference_mode()
    return torch.no_grad() if kind else nullcontext()


def tangent(output: torch.Tensor) -> torch.Tensor:
    """A real, uneven incoming gradient in the output's own layout: small integers, exact in every dtype."""
    steps = torch.arange(output.numel(), device=output.device) % 5 - 2
    values = (steps + (steps == 0).to(steps.dtype)).reshape(output.shape).to(output.dtype)
    return torch.empty_like(output.detach()).copy_(values)


def run_backward(outputs: list[Any]) -> None:
    """Backward through every distinct output that has a gradient, all calls' outputs at once."""
    roots: list[torch.Tensor] = []
    for output in outputs:
        for _, leaf in leaves(_as_tuple(output), ""):
            if isinstance(leaf, torch.Tensor) and leaf.requires_grad and not any(leaf is root for root in roots):
                roots.append(leaf)
    if roots:
        torch.autograd.backward(roots, [tangent(root) for root in roots])


@contextmanager
def _clock(timings: dict[str, float], key: str) -> Iterator[None]:
    started = time.perf_counter()
    try:
        yield
    finally:
        timings[key] = timings.get(key, 0.0) + time.perf_counter() - started


def observe(
    program: Program,
    calls: Calls,
    device: str,
    *,
    compile: Callable[[Callable[..., Any]], Callable[..., Any]] = lambda built: built,
    during_build: AbstractContextManager[Any] | None = None,
    ran: str = "eager",
) -> Observation:
    """Build the program and its arguments, run the sequence, and record what is seen after every step.

    ``compile`` turns the built program into what is called: the identity on the eager side. Exceptions of the
    calls, the backward and the follow-up are recorded; those of building are faults of the case and come out.
    ``timings`` has the seconds of ``build``, of the calls (key ``ran``) and of ``observe``.
    """
    result = Observation()
    timings = result.timings
    with global_state_restored():
        with _clock(timings, "build"), during_build or nullcontext():
            built = program.build(device)
            sequence = build_calls(calls, device)
        with _clock(timings, "observe"):
            observer = Observer(built, sequence, device)
        try:
            _run(program, built, compile, observer, result, ran)
        finally:
            observer.watched.restore()
    return result


def _run(
    program: Program,
    built: Callable[..., Any],
    compile: Callable[[Callable[..., Any]], Callable[..., Any]],
    observer: Observer,
    result: Observation,
    ran: str,
) -> None:
    timings, sequence = result.timings, observer.sequence
    compiled: list[Callable[..., Any]] = []

    def one_call(index: int) -> None:
        call = sequence[index]
        if not compiled:
            compiled.append(compile(built))
        if call.before is not None:
            call.before(built)
        seed_everything(SEED + index)
        with _inference(program.inference):
            observer.outputs.append(compiled[0](*call.args, **call.kwargs))

    def follow_up() -> None:
        assert program.after is not None
        last = sequence[-1]
        arguments = tuple(last.args) + tuple(last.kwargs.values())
        observer.follow_up = program.after(arguments, observer.outputs[-1])
        observer.has_follow_up = True

    steps: list[tuple[str, str, Callable[[], None]]] = []
    for index in range(len(sequence)):
        steps.append((f"call {index}", "call", lambda index=index: one_call(index)))  # type: ignore[misc]
    if program.backward and not program.inference:
        steps.append(("backward", "backward", lambda: run_backward(observer.outputs)))
    if program.after is not None:
        steps.append(("follow-up", "follow_up", follow_up))
    for number, (name, stage, step) in enumerate(steps):
        try:
            with _clock(timings, ran):
                step()
        except Exception as error:
            result.raised = Raised(stage, number, error)
            return
        with _clock(timings, "observe"):
            result.phases.append(observer.snapshot(name, stage))
