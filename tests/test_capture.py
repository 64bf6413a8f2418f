"""Capture: graphs handed over, recompiles, graph breaks, lowered and front-end graphs, and nothing left behind."""

from __future__ import annotations

import gc
import logging
import weakref
from collections.abc import Iterator, Sequence
from typing import Any
from unittest import mock

import pytest
import torch
from torch._dynamo.backends.common import aot_autograd
from torch._dynamo.callback import callback_handler
from torch._functorch.compilers import nop
from torch._inductor import compile_fx

from conformance.capture.aot_graphs import front_end_graphs
from conformance.capture.backend import RecordingBackend
from conformance.capture.lowered_graphs import CaptureUnavailable, graph_caches_off
from conformance.capture.recompile_reasons import canonical_reason
from conformance.capture.recorder import Recorder, recording
from conformance.capture.structured_trace import check_capture
from conformance.stacks.skipped_logging import logs_left_out


@pytest.fixture(autouse=True)
def fresh_dynamo() -> Iterator[None]:
    """Every test compiles anew and leaves no compiled code."""
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def run(program: Any, *calls: Sequence[Any], backend: Any = "eager", dynamic: bool | None = None) -> Recorder:
    """What is recorded while a compiled program is called."""
    recorder = Recorder()
    with recording(recorder):
        compiled = torch.compile(program, backend=RecordingBackend(backend, recorder), dynamic=dynamic)
        for arguments in calls:
            compiled(*arguments)
    return recorder


def global_state() -> list[Any]:
    """Everything outside that recording touches."""
    return [
        torch._logging.trace_structured,
        list(callback_handler.start_callbacks),
        list(callback_handler.end_callbacks),
        compile_fx._recursive_post_grad_passes,
        torch._inductor.config.fx_graph_cache,
        torch._functorch.config.enable_autograd_cache,
    ]


def trace_log() -> list[Any]:
    """The log of torch's structured trace, which is listened to record by record."""
    log = logging.getLogger("torch.__trace")
    return [list(log.handlers), log.level, log.propagate, log.disabled]


def ones(*size: int, **options: Any) -> torch.Tensor:
    return torch.ones(*size, **options)


def truncate_both(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    x.trunc_()
    y.trunc_()
    return x + y


def double_first(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    a.mul_(2)
    return a + b


def add(x: torch.Tensor, y: Any) -> torch.Tensor:
    return x + y


def test_the_graph_that_the_backend_is_handed() -> None:
    """One graph for one compile, none for a call that fits; the results are the wrapped backend's."""
    recorder = run(add, (ones(3), ones(3)), (ones(3), ones(3)))
    assert [graph.text for graph in recorder.dynamo] == [
        "in0: f32[3]\nin1: f32[3]\nadd: f32[3] = add(in0, in1)\nreturn (add,)"
    ]
    assert (recorder.compiles, recorder.recompiles, recorder.graph_breaks) == (1, [], [])
    assert recorder.compile_seconds > 0


X, Y, Z = ones(3), ones(3), ones(3)
BUFFER = torch.arange(20.0)


@pytest.mark.parametrize(
    ("program", "calls", "dynamic", "reasons"),
    [
        pytest.param(truncate_both, [(X, X), (X, Y)], None, ["x is y"], id="distinct after duplicate"),
        pytest.param(truncate_both, [(X, Y), (X, X)], None, ["x is not y"], id="duplicate after distinct"),
        pytest.param(truncate_both, [(X, X), (X, Y), (X, X)], None, ["x is y"], id="back to the first"),
        pytest.param(
            add,
            [(X, ones(3, requires_grad=True)), (X, Y)],
            None,
            ["requires_grad of y: expected True, actual False"],
            id="requires_grad",
        ),
        pytest.param(
            add,
            [(ones(3), 1.5), (ones(4), 1.5), (ones(2, 2), 1.5)],
            None,
            ["size of x at 0: expected 3, actual 4", "rank of x: expected 1, actual 2"],
            id="size, rank",
        ),
        pytest.param(add, [(X, 1), (X, 2), (X, 2.5)], None, ["y == 1", "y == 1; type of y"], id="number, type"),
        pytest.param(
            double_first,
            [(BUFFER[0:8], BUFFER[4:12]), (BUFFER[0:8], BUFFER[9:17])],
            True,
            ["storage overlap of a, b"],
            id="overlap",
        ),
    ],
)
def test_recompile_reasons(
    program: Any, calls: list[tuple[Any, ...]], dynamic: bool | None, reasons: list[str]
) -> None:
    """One canonical text for each recompile, from the running release."""
    recorder = run(program, *calls, backend="aot_eager", dynamic=dynamic)
    assert recorder.recompiles == reasons
    assert recorder.compiles == len(reasons) + 1


def branch(x: torch.Tensor) -> torch.Tensor:
    x = x + 1
    if x.sum() < 3:
        x = x * 2
    return x - 1


def break_twice(x: torch.Tensor) -> torch.Tensor:
    x = x + 1
    torch._dynamo.graph_break()
    x = x * 2
    torch._dynamo.graph_break()
    return x - 1


@pytest.mark.parametrize(
    ("program", "breaks", "graphs"),
    [
        (branch, ["Data-dependent branching"], 2),
        (break_twice, ["Call to `torch._dynamo.graph_break()`"] * 2, 3),
    ],
)
def test_graph_breaks(program: Any, breaks: list[str], graphs: int) -> None:
    """One text for each break."""
    recorder = run(program, (ones(3),))
    assert (recorder.graph_breaks, recorder.compiles) == (breaks, graphs)


def test_recorders_do_not_mix() -> None:
    """What happens after a recording is not added to it."""
    first = run(branch, (ones(3),))
    before = (list(first.graph_breaks), first.compile_seconds)
    torch._dynamo.reset()
    run(branch, (ones(3),))
    assert (first.graph_breaks, first.compile_seconds) == before


@pytest.mark.parametrize("end", ["returns", "raises", "resets"])
def test_nothing_is_left_behind(end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Handlers, levels, callbacks, patches and configuration are as before, however the recording ends."""
    # Not what recording sets, so that putting back is seen.
    for name, value in (("level", logging.WARNING), ("propagate", True), ("disabled", True)):
        monkeypatch.setattr(logging.getLogger("torch.__trace"), name, value)
    before, log = global_state(), trace_log()

    def record() -> None:
        recorder = Recorder()
        with recording(recorder, lowered=True):
            assert all(inside != outside for inside, outside in zip(global_state(), before, strict=True))
            torch.compile(branch, backend="eager")(ones(3))
            assert recorder.graph_breaks
            assert trace_log() == log
            if end == "resets":
                torch._dynamo.reset()
            if end == "raises":
                raise KeyError

    if end == "raises":
        with pytest.raises(KeyError):
            record()
    else:
        record()
    assert global_state() == before
    assert trace_log() == log


def test_other_listeners_of_the_trace_stay() -> None:
    """A handler that was there before is there afterwards, and hears what it heard."""
    handler = logging.NullHandler()
    log = logging.getLogger("torch.__trace")
    log.addHandler(handler)
    try:
        run(add, (X, Y))
        assert handler in log.handlers
    finally:
        log.removeHandler(handler)


def test_options_reach_the_backend() -> None:
    """`torch.compile(options=...)` passes through to a callable."""
    seen = {}

    def backend(module: Any, inputs: Any, **options: Any) -> Any:
        seen.update(options)
        return module

    wrapped = RecordingBackend(backend, Recorder())
    torch.compile(add, backend=wrapped, options={"level": 2})(X, Y)
    assert seen == {"options": {"level": 2}}
    assert wrapped.compiler_name == "backend"


def test_every_run_has_a_backend_of_aot_autograd_as_it_is_at_first() -> None:
    """Else torch 2.9 wraps its backward compiler once more for each graph, until Python's stack is full."""
    backend = aot_autograd(fw_compiler=nop)
    for _ in range(3):
        torch._dynamo.reset()
        x = torch.ones(3, requires_grad=True)
        torch.compile(lambda x: x * 2, backend=RecordingBackend(backend, Recorder()))(x).sum().backward()
        assert torch.equal(x.grad, torch.full((3,), 2.0))
    assert backend.kwargs == {"fw_compiler": nop}


def test_options_reach_inductor_as_patches() -> None:
    """Inductor by name takes mode and options as torch.compile would give them."""
    wrapped, seen = RecordingBackend("inductor", Recorder()), {}
    wrapped.backend = lambda module, inputs, **options: seen.update(options) or module
    torch.compile(add, backend=wrapped, options={"max-autotune": False, "epilogue_fusion": True})(X, Y)
    assert seen == {"config_patches": {"max_autotune": False, "epilogue_fusion": True}}


def test_an_unknown_backend_is_told_at_once() -> None:
    """Before anything is compiled."""
    with pytest.raises(Exception, match="nosuch"):
        RecordingBackend("nosuch", Recorder())


class Scale(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.full((2, 2), 3.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ (self.weight + 1)


class Stop(Exception):
    """Raised when everything that a test wants to see was seen."""


def lower(program: Any, inputs: Sequence[Any], **patches: Any) -> Recorder:
    """Compile with inductor up to its last graph; generating code would cost seconds and shows nothing more."""
    recorder = Recorder()
    with torch._inductor.config.patch(**patches), recording(recorder, lowered=True):
        passes = compile_fx._recursive_post_grad_passes

        def passes_then_stop(*args: Any, **kwargs: Any) -> None:
            passes(*args, **kwargs)
            raise Stop

        compiled = torch.compile(program, backend=RecordingBackend("inductor", recorder))
        stopping = mock.patch.object(compile_fx, "_recursive_post_grad_passes", passes_then_stop)
        with stopping, pytest.raises(Exception, match="Stop"):
            compiled(*inputs)
    return recorder


def test_lowered_graphs_are_seen_after_freezing() -> None:
    """A frozen parameter is a constant, and what can be computed from constants is gone."""
    with torch.no_grad():
        plain = lower(Scale().eval(), (ones(2, 2),), freezing=False)
        torch._dynamo.reset()
        frozen = lower(Scale().eval(), (ones(2, 2),), freezing=True)
    assert (plain.lowered[0].count("add"), frozen.lowered[0].count("add")) == (1, 0)
    assert "const0: f32[2, 2]" in frozen.lowered[0].text
    assert "const0" not in plain.lowered[0].text
    assert len(frozen.lowered) == 1


def test_a_release_without_the_passes_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """No silent absence of lowered graphs."""
    monkeypatch.delattr(compile_fx, "_recursive_post_grad_passes")
    with pytest.raises(CaptureUnavailable, match=torch.__version__.replace("+", r"\+")):  # noqa: SIM117
        with recording(Recorder(), lowered=True):
            pass


def test_graph_caches_are_off_inside() -> None:
    """A graph from a cache is lowered nowhere, so nothing could be recorded."""
    before = torch._inductor.config.fx_graph_cache
    with graph_caches_off():
        assert not torch._inductor.config.fx_graph_cache
        assert not torch._functorch.config.enable_autograd_cache
    assert torch._inductor.config.fx_graph_cache == before


def test_guards_are_not_timed_but_still_checked() -> None:
    """Timing them is what Dynamo's log asks for; a guard that a later call breaks still compiles anew."""
    compiled = torch.compile(lambda x: x + 1, backend="eager", dynamic=False)
    counter = torch._dynamo.utils.counters["stats"]
    torch._dynamo.reset()
    with logs_left_out():
        compiled(ones(2))
        first = counter["unique_graphs"]
        compiled(ones(2))
        assert counter["unique_graphs"] == first
        compiled(ones(3))
    assert counter["unique_graphs"] == first + 1


def test_configurations_are_not_written_out() -> None:
    """What torch counts of a compile goes on; of its configurations, which no run reads there, nothing is told."""
    with logs_left_out():
        torch.compile(lambda x: x + 1, backend="eager")(ones(2))
    compiled = torch._dynamo.utils.get_compilation_metrics()[-1]
    assert compiled.guard_count
    assert compiled.dynamo_config is compiled.inductor_config is None


def test_what_guards_are_made_for_is_not_kept() -> None:
    """An argument is gone as soon as its caller drops it, although the run that compiled goes on."""
    compiled = torch.compile(lambda x: x + 1, backend="eager")
    torch._dynamo.reset()
    with logs_left_out():
        x = ones(2)
        compiled(x)
        held = weakref.ref(x)
        del x
        gc.collect()
        assert held() is None


def expand_and_write(x: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    y = x.expand(3, *x.shape)
    y[1].mul_(5)
    return y * z


def test_front_end_graphs() -> None:
    """Joint, forward with its write-back, and the lazily compiled backward, whatever the stack does later."""
    inputs = (ones(2), ones(3, 2, requires_grad=True))
    graphs = front_end_graphs(expand_and_write, [inputs], backward=lambda _, output: output.sum().backward())
    assert {stage: len(seen) for stage, seen in graphs.items()} == {"joint": 1, "forward": 1, "backward": 1}
    assert graphs["forward"].text.splitlines()[-2:] == ["copy_(in0, add)", "return (mul_1, expand_2)"]
    graphs["backward"].expect("""\
in0: f32[3, 2](0, 1)
in1: f32[3, 2]
mul: f32[3, 2] = aten.mul(in1, in0)
return (None, mul)
""")
    assert graphs["joint"].count("mul") == 3
    assert torch.equal(inputs[0], torch.full((2,), 5.0))


def test_front_end_graphs_without_grad_are_forward() -> None:
    """An inference graph has no joint and no backward."""
    with torch.no_grad():
        graphs = front_end_graphs(torch.nn.functional.gelu, [(ones(3, requires_grad=True),)])
    graphs["forward"].expect("""\
in0: f32[3]
gelu: f32[3] = aten.gelu(in0)
return (gelu,)
""")
    assert (graphs["joint"].text, graphs["backward"].text) == ("(no graph)", "(no graph)")


def test_front_end_graphs_of_a_sequence() -> None:
    """Every compile of the sequence is seen; the second is for any size."""
    graphs = front_end_graphs(torch.sin, [(ones(3),), (ones(4),), (ones(5),)])
    assert [graph.text.splitlines()[-2] for graph in graphs["forward"]] == [
        "sin: f32[3] = aten.sin(in0)",
        "sin: f32[s0] = aten.sin(in1)",
    ]


def test_front_end_graphs_are_the_same_again() -> None:
    """Neither caches nor what earlier programs taught Dynamo about sizes reach the graphs."""
    first = front_end_graphs(torch.sin, [(ones(3),), (ones(4),)])
    assert front_end_graphs(torch.sin, [(ones(3),), (ones(4),)])["forward"].text == first["forward"].text


def test_a_program_that_raises_ends_the_tracing() -> None:
    """What was traced before is kept, and the graphs tell why there are no more."""

    def program(x: torch.Tensor) -> torch.Tensor:
        y = x.sin()
        torch._dynamo.graph_break()
        if len(x.shape) == 1:
            raise ValueError
        return y

    graphs = front_end_graphs(program, [(ones(3),)])
    assert graphs["forward"].count("sin") == 1
    assert graphs["forward"].subject == "forward graph (tracing ended with ValueError)"


def test_one_reason_alone() -> None:
    """The canonical text of a single guard failure, as a backend's own log may show it."""
    assert canonical_reason("L['x'] is L['y']") == "x is y"


def test_without_its_record_no_recompile_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a release that writes no record of recompiles, a run says so instead of counting none."""
    check_capture.cache_clear()
    check_capture()
    monkeypatch.setattr("conformance.capture.structured_trace.ARTIFACTS", ("dynamo_graph_break_reason",))
    check_capture.cache_clear()
    with pytest.raises(CaptureUnavailable, match=r"^capture unavailable: torch \d.* records no recompiles$"):
        check_capture()
    check_capture.cache_clear()
