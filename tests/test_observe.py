"""Observations: no false alarm on tricky programs, and each thing that a caller can see is reported in its place."""

from __future__ import annotations

import collections
import dataclasses
import enum
import random
import types
from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch
from oracle_runs import calls_of, leaf, on, reported, wrapped
from torch._subclasses import FakeTensorMode

from conformance.oracle.reference import reference
from conformance.oracle.side import observe
from conformance.program.programs import Program, call

SEEN: dict[str, Any] = {"calls": [], "nested": {"last": None}}
WEIGHT = torch.ones(3, requires_grad=True)
NET = torch.nn.BatchNorm1d(3)
STATE = types.SimpleNamespace(count=0, history=collections.deque(maxlen=3))
TOTAL = 0


class Colour(enum.Enum):
    RED = 1


@dataclasses.dataclass
class Pair:
    first: Any
    second: Any


class Counter:
    """Somebody's own object."""

    def __init__(self) -> None:
        self.count = 0
        self.last: Any = None

    def step(self, x: torch.Tensor) -> torch.Tensor:
        self.count += 1
        self.last = x * 2
        return self.last + self.count


COUNTER = Counter()


class Remembers(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 2)
        self.register_buffer("steps", torch.zeros(()))
        self._hidden: list[int] = []
        self.note = "none"

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.steps += 1
        self._hidden.append(len(self._hidden))
        self.note = f"seen {len(self._hidden)}"
        return self.linear(x).relu()


def grows(x, box):
    box["new"] = x + 1
    box["list"].append(x)
    return len(box)


def view_in_place(x):
    x[1:].mul_(2)
    x.t_()
    return x[0], x


def uses_globals(x):
    global TOTAL
    TOTAL += 1
    SEEN["calls"].append(x.shape)
    SEEN["nested"]["last"] = x
    STATE.count += 1
    STATE.history.append(STATE.count)
    WEIGHT.data.add_(1)
    return NET(x) * WEIGHT + TOTAL


def draws(x):
    dropped = torch.nn.functional.dropout(x, 0.5)
    return dropped, torch.randn(3), random.random(), numpy.random.rand()


def raises_in_finally(x):
    x.add_(1)
    try:
        raise KeyError("gone")
    finally:
        x.add_(1)


class BackwardRaises(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        raise ArithmeticError("no gradient")


def leaves_grad_off(x):
    torch.set_grad_enabled(False)
    return x * 2


def sets_hooks(x):
    x.register_hook(lambda grad: grad * 2)
    y = x * 3
    y.retain_grad()
    return y.sum(), y


def resized(x):
    x.resize_(2, 2)
    return x.numel()


def swapped_memory(x, y):
    x.set_(y)
    return x + 1


def quantized(x):
    return torch.quantize_per_tensor(x, 0.5, 3, torch.quint8)


def specials(x):
    return x / 0.0, x.sqrt(), -x * 0.0


def records(x):
    return Pair(x, [Colour.RED, {1, 2}]), collections.OrderedDict(a=x.t()), x.numpy(), float("nan")


def doubled(x):
    return x * 2


def partly_written() -> tuple[torch.Tensor]:
    return (torch.empty(4, 4)[1:3, 1:].copy_(torch.ones(2, 3)),)


TRICKY: dict[str, tuple[Any, Callable[[], tuple[Any, ...]], dict[str, Any]]] = {
    "in-place on a view": (view_in_place, lambda: (torch.ones(2, 3),), {}),
    "a container that grows": (grows, lambda: (torch.ones(2), {"list": []}), {}),
    "globals, objects and modules": (uses_globals, lambda: (torch.randn(4, 3),), {}),
    "a method of an object": (COUNTER.step, lambda: (torch.ones(2),), {}),
    "module state": (Remembers, lambda: (torch.ones(2, 3, requires_grad=True),), {}),
    "random draws": (draws, lambda: (torch.ones(8),), {}),
    "an exception in a call": (raises_in_finally, lambda: (torch.ones(2),), {}),
    "an exception in backward": (BackwardRaises.apply, lambda: (leaf(2),), {}),
    "an exception in the follow-up": (doubled, lambda: (leaf(2),), {"after": lambda arguments, outputs: outputs[7]}),
    "grad mode left off": (leaves_grad_off, lambda: (leaf(2),), {}),
    "hooks and a retained gradient": (sets_hooks, lambda: (leaf(2),), {}),
    "inference mode": (doubled, lambda: (torch.ones(2),), {"inference": "inference_mode"}),
    "no elements": (doubled, lambda: (torch.ones(0, 3, requires_grad=True),), {}),
    "bf16": (torch.softmax, lambda: (torch.randn(4, 5, dtype=torch.bfloat16), -1), {}),
    "complex and conjugate": (torch.conj, lambda: (torch.randn(3, dtype=torch.complex64, requires_grad=True),), {}),
    "sparse": (torch.Tensor.to_sparse, lambda: (torch.eye(3, requires_grad=True),), {}),
    "quantized": (quantized, lambda: (torch.randn(3),), {}),
    "nested": (doubled, lambda: (torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]),), {}),
    "NaN and infinities": (specials, lambda: (torch.tensor([-1.0, 0.0, 2.0]),), {}),
    "records, enums and arrays": (records, lambda: (torch.ones(2, 3),), {}),
    "memory resized": (resized, lambda: (torch.ones(4),), {}),
    "memory swapped": (swapped_memory, lambda: (torch.ones(4), torch.zeros(2, 3)), {}),
    "memory never written": (doubled, partly_written, {}),
    "a non-leaf input": (doubled, lambda: (leaf(3) * 2,), {}),
    "float64": (torch.exp, lambda: (torch.randn(3, dtype=torch.float64),), {}),
    "bool": (torch.logical_not, lambda: (torch.tensor([True, False]),), {}),
}


@pytest.mark.parametrize("name", TRICKY)
def test_eager_against_itself_differs_in_nothing(name: str) -> None:
    """A program, run on both sides from the same recipes, raises no alarm: what one side left behind is put back."""
    program, build, options = TRICKY[name]

    for _ in range(2):
        run = on("eager").run(program, calls_of(build, build), **options)
        assert reported(run) == []


def test_globals_are_as_before_after_a_run() -> None:
    """A run leaves nothing behind in the objects that a program reaches, down to nested ones and tensors."""
    nested, weight, mean = SEEN["nested"], WEIGHT.detach().clone(), NET.running_mean.clone()

    on("eager").run(uses_globals, calls_of(lambda: (torch.ones(4, 3),)))

    assert SEEN == {"calls": [], "nested": {"last": None}}
    assert SEEN["nested"] is nested
    assert (STATE.count, len(STATE.history), TOTAL) == (0, 0, 0)
    assert torch.equal(WEIGHT, weight)
    assert torch.equal(NET.running_mean, mean)
    assert WEIGHT.grad is None
    assert torch.is_grad_enabled()


def program(x, y):
    x.mul_(2)
    return x + y, y


def after_call(change: Callable[..., Any]) -> Any:
    """A wrapper that gives a change the arguments and the output of each call; what it returns is the output."""
    return lambda compiled: lambda *args: change(args, compiled(*args))


def in_place(change: Callable[..., Any]) -> Any:
    def then(args: Any, out: Any) -> Any:
        change(args, out)
        return out

    return after_call(then)


def global_step(args: Any, out: Any) -> None:
    SEEN["calls"].append(1)


def as_inference(tensor: torch.Tensor) -> torch.Tensor:
    with torch.inference_mode():
        return tensor.clone()


#: how the stack is wrong, and all that must be reported of it
WRONG: dict[str, tuple[Any, list[str]]] = {
    "another type of output": (after_call(lambda args, out: list(out)), ["outputs.structure"]),
    "one output less": (
        after_call(lambda args, out: (out[0],)),
        ["outputs.structure", "outputs[1].value", "arguments[1].grad.value"],
    ),
    "a wrong value": (after_call(lambda args, out: (out[0] + 1, out[1])), ["outputs[0].value"]),
    "another dtype": (after_call(lambda args, out: (out[0].double(), out[1])), ["outputs[0].dtype"]),
    "another shape": (after_call(lambda args, out: (out[0][None], out[1])), ["outputs[0].shape"]),
    "another stride": (after_call(lambda args, out: (out[0].t().contiguous().t(), out[1])), ["outputs[0].stride"]),
    "another layout": (
        after_call(lambda args, out: (out[0].to_sparse(), out[1])),
        ["outputs[0].type", "outputs[0].layout", "arguments[1].grad.value"],
    ),
    "an output detached": (
        after_call(lambda args, out: (out[0].detach(), out[1])),
        ["outputs[0].requires_grad", "arguments[1].grad.value"],
    ),
    "an inference tensor": (
        after_call(lambda args, out: (as_inference(out[0].detach()), out[1])),
        ["outputs[0].requires_grad", "outputs[0].is_inference", "arguments[1].grad.value"],
    ),
    "an input cloned": (
        after_call(lambda args, out: (out[0], out[1] * 1)),
        ["outputs[1].is_leaf", "outputs[1].has_history", "outputs[1].identity"],
    ),
    "another offset": (
        after_call(lambda args, out: (torch.cat([out[0].new_zeros(1, 3), out[0]])[1:], out[1])),
        ["outputs[0].storage_offset"],
    ),
    "an input written": (in_place(lambda args, out: args[0].add_(1)), ["arguments[0].value"]),
    "grad mode": (in_place(lambda args, out: torch.set_grad_enabled(False)), ["grad_mode.global_state"]),
    "default dtype": (
        in_place(lambda args, out: torch.set_default_dtype(torch.float64)),
        ["default_dtype.global_state"],
    ),
    "autocast": (in_place(lambda args, out: torch.set_autocast_enabled("cpu", True)), ["autocast_cpu.global_state"]),
    "a draw": (in_place(lambda args, out: torch.rand(1)), ["generator_cpu.global_state"]),
    "a draw of Python's": (in_place(lambda args, out: random.random()), ["generator_python.global_state"]),
    "determinism": (
        in_place(lambda args, out: torch.use_deterministic_algorithms(True)),
        ["deterministic.global_state"],
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_a_stack_changes_is_reported_once_by_name(name: str) -> None:
    """One thing done wrong is one line, or one for each place where a caller sees it."""
    wrap, expected = WRONG[name]

    run = wrapped(wrap).run(program, calls_of(lambda: (torch.ones(2, 3), leaf(2, 3))))

    assert reported(run) == expected


def test_a_mode_that_is_never_left_ends_with_the_run() -> None:
    """Inference mode, which an exception can leave on, is reported, and off again for the next program."""
    entered: list[Any] = []

    def enter(args: Any, out: Any) -> None:
        entered.append(torch.inference_mode())
        entered[-1].__enter__()

    run = wrapped(in_place(enter)).run(doubled, calls_of(lambda: (torch.ones(2),)))

    assert "inference_mode.global_state" in reported(run)
    assert not torch.is_inference_mode_enabled()
    wrapped(lambda compiled: compiled).run(
        program, calls_of(lambda: (torch.ones(2, 3), leaf(2, 3)))
    ).assert_matches_eager()


def test_a_mode_that_an_exception_keeps_ends_with_the_run() -> None:
    """What was entered on the way to an exception is gone before the next program, and not when the error is."""

    def raising(compiled: Any) -> Any:
        def call(x: torch.Tensor) -> Any:
            with torch._C._ForceDispatchKeyGuard(*keys()):
                entered = torch.inference_mode()
                entered.__enter__()
                raise RuntimeError("between entering and leaving")

        return call

    def keys() -> Any:
        return torch._C._dispatch_tls_local_include_set(), torch._C._dispatch_tls_local_exclude_set()

    before = [key_set.raw_repr() for key_set in keys()]
    run = wrapped(raising).run(doubled, calls_of(lambda: (torch.ones(2),)))

    assert reported(run) == ["exception"]
    assert not torch.is_inference_mode_enabled()
    assert [key_set.raw_repr() for key_set in keys()] == before
    del run
    assert [key_set.raw_repr() for key_set in keys()] == before


def test_the_second_of_two_calls_is_named() -> None:
    """Places in a sequence of calls carry the call."""
    first: list[Any] = []

    def stale(compiled: Any) -> Any:
        def call(*args: Any) -> Any:
            first.append(compiled(*args))
            return first[0]

        return call

    run = wrapped(stale).run(doubled, calls_of(lambda: (torch.ones(2),), lambda: (torch.zeros(2),)))

    assert reported(run) == ["calls[1].outputs[0].value", "calls[1].outputs[0].identity", "outputs[0].lifetime"]


def test_a_draw_is_seen_where_the_inputs_were_drawn_too() -> None:
    """Generators are compared with the moment before the call, not with the moment before the inputs were built."""
    run = wrapped(in_place(lambda args, out: torch.rand(1))).run(doubled, calls_of(lambda: (torch.randn(2),)))

    assert reported(run) == ["generator_cpu.global_state"]


def test_a_side_effect_that_is_lost_is_reported() -> None:
    """Containers, objects and attributes that the program writes hold the same on both sides."""

    def undone(compiled: Any) -> Any:
        def call(x: torch.Tensor) -> Any:
            out = compiled(x)
            SEEN["calls"].clear()
            STATE.count -= 1
            return out

        return call

    run = wrapped(undone).run(uses_globals, calls_of(lambda: (torch.ones(4, 3),)))

    assert reported(run) == [
        "globals['SEEN'].side_effect",
        "globals['SEEN']['calls'][0][0].value",
        "globals['SEEN']['calls'][0][1].value",
        "globals['STATE'].count.value",
    ]


def test_memory_behind_a_view_is_looked_at() -> None:
    """A write beside the elements of an input shows only in its storage."""

    def spills(args: Any, out: Any) -> None:
        args[0].as_strided((6,), (1,), 0).fill_(9)
        args[0].fill_(1)

    run = wrapped(in_place(spills)).run(doubled, calls_of(lambda: (torch.zeros(6)[1:3].fill_(1),)))

    assert reported(run) == ["arguments[0].version", "arguments[0].storage_contents"]


def test_a_write_that_hides_from_the_version_counter_is_reported() -> None:
    """Eager counts the write in every call, so must the stack, also when an earlier call was counted."""
    shared = torch.zeros(2)

    def add(x):
        return x.add_(1)

    def hidden(compiled: Any) -> Any:
        def call(x: torch.Tensor) -> Any:
            if x[0] == 1:
                x.data.add_(1)
                return x
            return compiled(x)

        return call

    def twice(device: str) -> list[tuple[torch.Tensor]]:
        x = shared.clone()
        return [(x,), (x,)]

    assert reported(wrapped(hidden).run(add, twice)) == ["calls[0].arguments[0].version"]


def test_a_tensor_that_took_the_place_of_another_has_no_version_to_compare() -> None:
    """A step that puts another tensor in an attribute is no write to it, however often the first one was written."""

    class Held(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("state", torch.zeros(2))

        def forward(self, x):
            self.state.add_(x)
            self.state.mul_(2)
            return self.state * x

    def replaced(device: str) -> list[Any]:
        other = torch.ones(2)

        def put(module: Any) -> None:
            module.state = other

        return [(torch.ones(2),), call(torch.ones(2), before=put)]

    assert reported(on("aot_eager").run(Held, replaced)) == []


def test_gradients_of_leaves_that_are_no_arguments_are_compared() -> None:
    """The leaf behind a non-leaf input has a gradient too."""

    def scaled(compiled: Any) -> Any:
        return lambda x: compiled(x * 2) / 2

    run = wrapped(scaled).run(torch.square, calls_of(lambda: (leaf(2) * 1,)))

    assert reported(run) == ["outputs[0].value", "leaves[0].grad.value"]


def test_an_observation_counts_its_own_seconds() -> None:
    """Building, running and looking are told apart."""
    observation = observe(Program(function=doubled), calls_of(lambda: (torch.ones(2),)), "cpu")

    assert set(observation.timings) == {"build", "observe", "eager"}
    assert [phase.name for phase in observation.phases] == ["call 0", "backward", "another call"]


def test_a_reference_leaves_control_flow_as_it_was() -> None:
    """The float64 reference of a program with a branch changes nothing for the eager run of the next one."""

    def branch(x: torch.Tensor, y: torch.Tensor) -> Any:
        return torch.cond(x.sum() > 0, lambda one: one * y, lambda one: one - y, (x,))

    program, calls = Program.of(branch), calls_of(lambda: (leaf(3), leaf(3)))
    reference(program, calls, "cpu")

    assert observe(program, calls, "cpu").raised is None


def test_integers_are_promoted_to_float64_in_the_reference() -> None:
    """What eager's kernel for float32 gets wrong of them is its rounding, and no measure for another's."""
    numbers = torch.arange(1, 8)
    program = Program.of(lambda x: torch.special.bessel_y1(x))

    exact = reference(program, calls_of(lambda: (numbers.clone(),)), "cpu").phases[0].facts["outputs[0]", "value"]

    assert torch.equal(exact, torch.special.bessel_y1(numbers.double()))
    assert torch.get_default_dtype() is torch.float32


def test_containers_that_contain_each_other_are_looked_at() -> None:
    """Lists that contain themselves and each other are seen in full and soon, as argument, output and global alike."""
    held: list[Any] = []

    def extended(x: torch.Tensor, lists: list[Any]) -> Any:
        held.append(lists[0])
        lists[3].append(x * 2)
        lists.append(lists)
        return lists

    def lists() -> tuple[Any, ...]:
        made: list[Any] = [[] for _ in range(30)]
        for one in made:
            one.extend(made)
        return leaf(3), made

    def loses_the_append(compiled: Callable[..., Any]) -> Callable[..., Any]:
        def called(x: torch.Tensor, lists: list[Any]) -> Any:
            result = compiled(x, lists)
            lists[3].pop()
            return result

        return called

    assert reported(on("eager").run(extended, calls_of(lists))) == []
    assert reported(wrapped(loses_the_append).run(extended, calls_of(lists)))


def test_an_attribute_that_a_function_counts_in_is_its_own_on_each_side() -> None:
    """What a program writes to itself as an attribute starts anew on each side, and is an observable."""

    def counted(x: torch.Tensor) -> torch.Tensor:
        counted.n = getattr(counted, "n", 0) + 1  # type: ignore[attr-defined]
        return x * counted.n  # type: ignore[attr-defined]

    def uncounted(compiled: Callable[..., Any]) -> Callable[..., Any]:
        def called(x: torch.Tensor) -> Any:
            result = compiled(x)
            del counted.n  # type: ignore[attr-defined]
            return result

        return called

    calls = calls_of(lambda: (leaf(3),), lambda: (leaf(3),))
    assert reported(on("eager").run(counted, calls)) == []
    assert "globals['counted'].n.value" in reported(wrapped(uncounted).run(counted, calls))
    assert not hasattr(counted, "n")


def test_memory_of_a_gradient_without_elements_is_not_looked_at() -> None:
    """What joins nothing and something gives nothing a part of the other's gradient, or a gradient of its own."""
    nothing, something = torch.empty(0, 2, requires_grad=True), torch.ones(2, 2, requires_grad=True)
    facts = observe(Program(function=lambda *both: torch.cat(both)), lambda device: [(nothing, something)], "cpu")

    told = {place for phase in facts.phases for place, kind in phase.facts if kind == "storage_sharing"}
    assert "arguments[1].grad" in told
    assert "arguments[0].grad" not in told


def test_a_fake_tensor_that_is_left_behind_is_told_by_its_type():
    """A stack that traces the program for its effects may leave there what holds no values."""
    kept: list[torch.Tensor] = []

    def keeps(x):
        kept.append(x * 2)
        return x + 1

    def left_fake(compiled):
        def called(x):
            found = compiled(x)
            kept[-1] = FakeTensorMode().from_tensor(x)
            return found

        return called

    run = wrapped(left_fake).run(keeps, calls_of(lambda: (torch.ones(3),)))

    (found,) = run.comparison.discrepancies
    assert (found.observable, found.actual) == ("type", "torch._subclasses.fake_tensor.FakeTensor")


class Holds(torch.Tensor):
    """Wraps a tensor, and is written to and copied as it is."""

    held: torch.Tensor

    @staticmethod
    def __new__(cls, held):
        return torch.Tensor._make_wrapper_subclass(cls, held.shape, dtype=held.dtype, device=held.device)

    def __init__(self, held):
        self.held = held

    def __tensor_flatten__(self):
        return ["held"], None

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        out = func(*(one.held if isinstance(one, Holds) else one for one in args), **(kwargs or {}))
        return Holds(out) if isinstance(out, torch.Tensor) else out


def test_a_fake_tensor_inside_of_an_output_has_no_values():
    """A stack that traces the program may return what it traced, wrapped as eager's output is."""

    def holds_fake(compiled):
        return lambda x: Holds(FakeTensorMode().from_tensor(compiled(x).held))

    run = wrapped(holds_fake).run(Holds, calls_of(lambda: (torch.ones(3),)))

    assert [(found.name, found.actual) for found in run.comparison.discrepancies] == [
        ("outputs[0].value", "unreadable (TypeError)")
    ]
