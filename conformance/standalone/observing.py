"""Pasted into scripts: a call sequence run on one side, and what its caller sees after every step."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from typing import Any

import torch

from conformance.canonical.wrapped import members_of
from conformance.standalone.looking import (
    Facts,
    Watched,
    generators,
    global_state,
    leaves,
    outline,
    plain,
    plain_attributes,
    read,
    value_of,
)
from conformance.standalone.outliving import fates
from conformance.standalone.stepping import (
    Absent,
    Case,
    Side,
    as_tuple,
    identical,
    made_by,
    one_call,
    run_backward,
    seed,
)


def leaves_behind(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    """The leaves that the history of the inputs ends in and that are no inputs themselves."""
    passed, found, seen = {id(tensor) for tensor in tensors}, [], set()
    pending: list[Any] = [read(lambda tensor=tensor: tensor.grad_fn) for tensor in tensors]  # type: ignore[misc]
    while pending:
        node = pending.pop()
        if isinstance(node, torch.autograd.graph.Node) and node not in seen:
            seen.add(node)
            variable = getattr(node, "variable", None)
            if isinstance(variable, torch.Tensor) and id(variable) not in passed:
                found.append(variable)
            pending += [following for following, _ in reversed(node.next_functions)]
    return found


class Looker:
    """Looks at everything the caller holds; keeps what it saw alive, so that reused memory is no alias."""

    def __init__(self, case: Case, program: Any, calls: list[Any], watched: Watched | None) -> None:
        self.case, self.program, self.calls, self.watched = case, program, calls, watched
        self.outputs: list[Any] = []
        self.followed: list[Any] = []
        self.kept: list[Any] = []
        inputs = {where: leaf for where, leaf in self.roster() if isinstance(leaf, torch.Tensor)}
        self.behind = {f"leaves[{index}]": leaf for index, leaf in enumerate(leaves_behind([*inputs.values()]))}
        self.inputs = {**inputs, **self.behind}
        self.before = {
            where: (one, read(lambda one=one: one._version), read(lambda one=one: value_of(one)))  # type: ignore[misc]
            for where, one in self.inputs.items()
        }
        self.memory = {where: memory_of(one) for where, one in self.inputs.items()}
        self.start = {where: address_of(one) for where, one in self.inputs.items()}
        self.mark_generators()

    def mark_generators(self) -> None:
        """From here on, a generator that moves was drawn from by the program."""
        self.drawn_from = generators(self.case.device)

    def prefix(self, index: int) -> str:
        return f"calls[{index}]." if len(self.calls) > 1 else ""

    def around(self) -> Iterator[tuple[str, Any]]:
        """Attributes of the program's modules, and what its code reaches by globals and closures."""
        for name, module in self.program.named_modules() if isinstance(self.program, torch.nn.Module) else ():
            for attribute, value in plain_attributes(module).items():
                path = f"{name}.{attribute}" if name else attribute
                yield f"attributes[{path!r}]", value
        for name, value in self.watched.values().items() if self.watched else ():
            yield f"globals[{name!r}]", value

    def roster(self) -> Iterator[tuple[str, Any]]:
        """(where, leaf), inputs before outputs."""
        for index, call in enumerate(self.calls):
            for held in one_call(call)[:2]:
                yield from leaves(held, f"{self.prefix(index)}arguments")
        if isinstance(self.program, torch.nn.Module):
            for name, parameter in self.program.named_parameters(remove_duplicate=False):
                yield f"parameters[{name!r}]", parameter
            for name, buffer in self.program.named_buffers(remove_duplicate=False):
                yield f"buffers[{name!r}]", buffer
        for place, value in self.around():
            yield from leaves(value, place)
        for index, output in enumerate(self.outputs):
            yield from leaves(as_tuple(output), f"{self.prefix(index)}outputs")
        for followed in self.followed:
            yield from leaves(as_tuple(followed), "after")

    def look(self) -> Facts:
        facts: Facts = {(f"{self.prefix(at)}outputs", "structure"): outline(one) for at, one in enumerate(self.outputs)}
        for at, call in enumerate(self.calls):
            facts[f"{self.prefix(at)}arguments", "structure"] = outline(one_call(call)[:2])
        for followed in self.followed:
            facts["after", "structure"] = outline(followed)
        facts |= {(place, "side_effect"): outline(value) for place, value in self.around()}
        seen: list[tuple[str, torch.Tensor, int]] = []
        for where, leaf in [*self.roster(), *self.behind.items()]:
            if isinstance(leaf, torch.Tensor):
                self.look_at(facts, where, leaf, seen)
                gradient = read(lambda leaf=leaf: leaf.grad if leaf.is_leaf or leaf.retains_grad else "none held")  # type: ignore[misc]
                if isinstance(gradient, torch.Tensor):
                    facts[where, "grad"] = "a tensor"
                    self.look_at(facts, f"{where}.grad", gradient, seen)
                elif gradient != "none held":
                    facts[where, "grad"] = gradient
            elif type(leaf).__qualname__ == "ndarray":
                facts[where, "value"] = read(lambda leaf=leaf: torch.from_numpy(leaf).clone())  # type: ignore[misc]
            else:
                facts[where, "value"] = plain(leaf)
        self.look_at_memory(facts, {where: one for where, one, _ in seen})
        for name, state in generators(self.case.device).items():
            moved = state != self.drawn_from.get(name, state)
            facts[f"generator_{name}", "global_state"] = "moved" if moved else "not moved"
        return {**facts, **global_state()}

    def look_at(self, facts: Facts, where: str, one: torch.Tensor, seen: list[tuple[str, torch.Tensor, int]]) -> None:
        self.kept.append(one)
        facts[where, "type"] = f"{type(one).__module__}.{type(one).__qualname__}"
        for name in ("dtype", "layout", "requires_grad", "is_leaf"):
            facts[where, name] = read(lambda name=name: getattr(one, name))  # type: ignore[misc]
        facts[where, "shape"] = read(lambda: tuple(one.shape))
        facts[where, "device"] = read(lambda: str(one.device))
        facts[where, "has_history"] = read(lambda: one.grad_fn is not None)
        facts[where, "is_inference"], facts[where, "is_conj"] = read(one.is_inference), read(one.is_conj)
        facts[where, "is_neg"] = read(one.is_neg)
        if one.layout is torch.strided and read(one.numel):
            facts[where, "stride"] = read(one.stride)
            facts[where, "storage_offset"] = read(one.storage_offset)
        facts[where, "value"] = read(lambda: value_of(one))
        earlier = next((name for name, other, _ in seen if other is one), None)
        facts[where, "identity"] = f"is {earlier}" if earlier else "a tensor of its own"
        address = address_of(one)
        if address:
            sharing = [name for name, _, other in seen if other == address]
            sharing += [f"{name} at the start" for name, start in self.start.items() if start == address]
            facts[where, "storage_sharing"] = (
                f"shares memory with {', '.join(sharing)}" if sharing else "memory of its own"
            )
        seen.append((where, one, address))

    def look_at_memory(self, facts: Facts, now: dict[str, torch.Tensor]) -> None:
        """Versions that moved since the last look, and the memory behind inputs that are views."""
        done = set()
        for where, (held, version, value) in self.before.items():
            if where in now:
                moved, new = read(lambda where=where: now[where]._version), facts[where, "value"]  # type: ignore[misc]
                if now[where] is not held:
                    facts[where, "version"] = "of another tensor"
                elif not isinstance(moved, int):
                    facts[where, "version"] = moved
                elif moved != version:
                    facts[where, "version"] = "moved"
                else:
                    rewritten = isinstance(value, torch.Tensor) and not identical(value, new)
                    facts[where, "version"] = "written without moving" if rewritten else "not moved"
                self.before[where] = (now[where], moved, new)
            storage, contents = self.memory[where]
            if storage is not None and self.start[where] and self.start[where] not in done:
                done.add(self.start[where])
                facts[where, "storage_size"] = storage.nbytes()
                if contents is not None:
                    facts[where, "storage_contents"] = read(contents)


def memory_of(tensor: torch.Tensor) -> tuple[torch.UntypedStorage | None, Callable[[], torch.Tensor] | None]:
    """The memory that a tensor lies in and, where the tensor is not all of it, how it is read as a whole."""
    storage, dtype, device = read(tensor.untyped_storage), tensor.dtype, tensor.device
    if not isinstance(storage, torch.UntypedStorage):
        return None, None
    if tensor.is_contiguous() and tensor.numel() * tensor.element_size() >= storage.nbytes():
        return storage, None
    return storage, lambda: torch.empty(0, dtype=dtype, device=device).set_(storage).clone()


def address_of(tensor: torch.Tensor) -> int:
    """Where a tensor's memory lies; 0 where it has none."""
    found = read(lambda: tensor.untyped_storage().data_ptr() if tensor.untyped_storage().nbytes() else 0)
    return found if isinstance(found, int) else 0


def observe(case: Case, compiled: bool) -> Side:
    """Build program and inputs, run the sequence, and note what is seen after every step."""
    side = Side()
    with case.within():
        torch.use_deterministic_algorithms(True, warn_only=True)  # memory that nobody writes is the same on both sides
        seed(0)
        program = case.program if case.make is None else case.make(case.device)
        seed(0)
        calls = list(case.calls(case.device))
        torch.use_deterministic_algorithms(False)
        watched = Watched(program, [*(one_call(call)[2] for call in calls), case.after]) if case.watched else None
        looker = Looker(case, program, calls, watched)
        run: list[Callable[..., Any]] = []

        def call_number(index: int) -> None:
            if not run:
                run.append(made_by(case, program, *one_call(calls[0])[:2]) if compiled else program)
            arguments, keywords, before = one_call(calls[index])
            if before is not None:
                before(program)
            seed(index)
            looker.mark_generators()
            with case.grad_mode():
                looker.outputs.append(run[0](*arguments, **keywords))

        def follow_up() -> None:
            arguments, keywords, _ = one_call(calls[-1])
            looker.followed.append(case.after((*arguments, *keywords.values()), looker.outputs[-1]))

        steps: list[tuple[str, Callable[[], None]]] = []
        for index in range(len(calls)):
            steps.append(("call", lambda index=index: call_number(index)))  # type: ignore[misc]
        if case.backward and not case.inference:
            steps.append(("backward", lambda: run_backward(case, looker.outputs)))
        if case.after is not None:
            steps.append(("follow_up", follow_up))
        for name, step in steps:
            side.step = name
            try:
                looker.mark_generators()
                step()
            except Absent:
                raise
            except Exception as error:
                side.raised, side.left = error, global_state()
                for member in members_of(error):
                    traceback.clear_frames(member.__traceback__)
                break
            side.phases.append(looker.look())
        if case.fates and side.raised is None:
            side.phases.append(fates(case, run[0]))
        if watched is not None:
            watched.restore()
    return side
