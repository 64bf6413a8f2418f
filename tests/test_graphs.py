"""Canonical graph text: what it shows, what it leaves out, and the structural queries."""

from __future__ import annotations

import operator
from typing import Any

import pytest
import torch
from torch import fx
from torch._functorch.partitioners import default_partition
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

from conformance.canonical.expect import ExpectationMismatch
from conformance.canonical.graphs import Graph, Graphs


def traced(program: Any, *inputs: torch.Tensor, symbolic: bool = False) -> str:
    """The canonical text of a program's aten graph."""
    return Graph.of(make_fx(program, tracing_mode="symbolic" if symbolic else "fake")(*inputs)).text


def dynamo(program: Any, *inputs: Any) -> Graph:
    """The graph that Dynamo hands over."""
    torch._dynamo.reset()
    seen = []

    def backend(module: fx.GraphModule, _: Any) -> Any:
        seen.append(Graph.of(module))
        return module

    torch.compile(program, backend=backend)(*inputs)
    return seen[0]


def graph_of(*nodes: tuple[Any, ...], device: str = "cpu", output_device: str | None = None) -> Graph:
    """A graph of one input, a call for each (target, args, kwargs) on the node before, and a tuple output."""
    graph = fx.Graph()
    with FakeTensorMode():
        node = graph.placeholder("arg0_1")
        node.meta["val"] = torch.ones(2, 3, device=device)
        for target, args, kwargs in nodes:
            node = graph.call_function(target, (node, *args), kwargs)
            node.meta["val"] = torch.ones(2, 3, device=output_device or device)
    graph.output((node,))
    return Graph.of(fx.GraphModule({}, graph))


def test_one_node_a_line() -> None:
    """Names are numbered from the operator, dtype and shape follow them, overloads are left out."""

    def program(x: torch.Tensor, y: torch.Tensor) -> Any:
        return x * y + (x * 2).to(torch.float64), x.sum(0)

    assert (
        traced(program, torch.ones(3, 4), torch.ones(3, 4))
        == """\
in0: f32[3, 4]
in1: f32[3, 4]
mul: f32[3, 4] = aten.mul(in0, in1)
mul_1: f32[3, 4] = aten.mul(in0, 2)
_to_copy: f64[3, 4] = aten._to_copy(mul_1, dtype=f64)
add: f64[3, 4] = aten.add(mul, _to_copy)
sum: f32[4] = aten.sum(in0, [0])
return (add, sum)"""
    )


def test_strides_only_when_not_contiguous() -> None:
    """A transposed tensor shows its strides, dimensions of size one do not count."""
    assert (
        traced(lambda x: x.t(), torch.ones(3, 4))
        == """\
in0: f32[3, 4]
t: f32[4, 3](1, 4) = aten.t(in0)
return t"""
    )
    assert "(" not in traced(lambda x: x.t(), torch.ones(1, 4)).splitlines()[1].split(" = ")[0]


def test_symbolic_sizes_are_renamed_in_order_of_appearance() -> None:
    """Whatever torch calls its symbols, the text has s0, s1, and strides of a symbolic shape count as contiguous."""
    text = traced(lambda x, y: (x @ y, x.t(), torch.cat([x, x])), torch.ones(3, 4), torch.ones(4, 5), symbolic=True)
    assert text.splitlines()[:2] == ["in0: f32[s0, s1]", "in1: f32[s1, s2]"]
    assert "t: f32[s1, s0](1, s1) = aten.t(in0)" in text
    assert "cat: f32[2*s0, s1] = aten.cat([in0, in0])" in text


def test_rendering_adds_no_guard() -> None:
    """Asking whether a symbolic tensor is contiguous must not specialize it."""
    inputs = (torch.ones(5, 7, 9), torch.ones(7, 5, 9))
    module = make_fx(lambda x, y: x.transpose(0, 1) + y, tracing_mode="symbolic")(*inputs)
    environment = next(iter(module.graph.nodes)).meta["val"].shape[0].node.shape_env

    before = len(environment.guards)
    assert Graph.of(module).text.startswith("in0: f32[s0, s1, s2]\nin1: f32[s1, s0, s2]\n")
    assert len(environment.guards) == before


def test_write_back_is_a_bare_line() -> None:
    """What functionalization writes into an input is visible, without a name for the unused result."""
    graph = fx.Graph()
    source, twice = graph.placeholder("primals_1"), None
    with FakeTensorMode():
        source.meta["val"] = torch.ones(3)
        twice = graph.call_function(torch.ops.aten.mul.Tensor, (source, 2))
        twice.meta["val"] = torch.ones(3)
        copy = graph.call_function(torch.ops.aten.copy_.default, (source, twice))
        copy.meta["val"] = torch.ones(3)
    graph.output(())
    assert (
        Graph.of(fx.GraphModule({}, graph)).text
        == """\
in0: f32[3]
mul: f32[3] = aten.mul(in0, 2)
copy_(in0, mul)
return ()"""
    )


def test_detaches_left_over_from_saving_are_dropped() -> None:
    """Chains of detach differ by release; one of an input that is handed out says that the output is an alias."""
    detach = torch.ops.aten.detach.default
    sin = torch.ops.aten.sin.default
    one, three = graph_of((sin, (), {}), (detach, (), {})), graph_of((sin, (), {}), *[(detach, (), {})] * 3)
    assert one.text == three.text == "in0: f32[2, 3]\nsin: f32[2, 3] = aten.sin(in0)\nreturn (sin,)"
    assert one.ops == ["aten.sin"]

    alias = "in0: f32[2, 3]\ndetach: f32[2, 3] = aten.detach(in0)\nreturn (detach,)"
    assert graph_of((detach, (), {})).text == graph_of(*[(detach, (), {})] * 2).text == alias


def test_default_keywords_and_the_only_device_are_left_out() -> None:
    """One literal serves every device."""
    full = (
        torch.ops.aten.full_like.default,
        (1,),
        {"pin_memory": False, "layout": torch.strided, "dtype": torch.int64, "device": torch.device("meta")},
    )
    assert (
        graph_of(full, device="meta").text.splitlines()[1] == "full_like: f32[2, 3] = aten.full_like(in0, 1, dtype=i64)"
    )
    assert (
        graph_of((torch.ops.aten.sin.default, (), {}), device="cuda").text
        == graph_of((torch.ops.aten.sin.default, (), {}), device="cpu").text
    )


def test_devices_are_shown_when_there_are_two() -> None:
    """A graph over two devices says where every tensor is."""
    copy = (torch.ops.aten._to_copy.default, (), {"device": torch.device("meta")})
    assert (
        graph_of(copy, output_device="meta").text
        == """\
in0: f32[2, 3] cpu
_to_copy: f32[2, 3] meta = aten._to_copy(in0, device=meta)
return (_to_copy,)"""
    )


def test_dynamo_graphs() -> None:
    """Functions, methods, operators and grad mode read as in the program."""

    def program(x: torch.Tensor, y: torch.Tensor) -> Any:
        with torch.no_grad():
            y.add_(1)
        return torch.nn.functional.relu(torch.sin(x)) + y[1:, None], x.cos() < 3

    assert (
        dynamo(program, torch.ones(3), torch.ones(4)).text
        == """\
in0: f32[4]
in1: f32[3]
set_grad_enabled(False)
add_: f32[4] = in0.add_(1)
set_grad_enabled(True)
sin: f32[3] = sin(in1)
relu: f32[3] = relu(sin)
getitem: f32[3, 1] = in0[1:, None]
add: f32[3, 3] = add(relu, getitem)
cos: f32[3] = in1.cos()
lt: b8[3] = cos < 3
return (add, lt)"""
    )


def test_nested_graphs_are_indented() -> None:
    """A higher-order operator's graphs are part of the text and of the queries."""
    graph = dynamo(lambda x: torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), (x,)), torch.ones(3))
    assert "graph0:\n    in0: f32[3]\n    sin: f32[3] = in0.sin()\n    return (sin,)" in graph.text
    assert (graph.count("sin"), graph.count("cos"), graph.count("cond")) == (1, 1, 1)


def test_constants_show_layout_and_scalars_their_value() -> None:
    """A frozen parameter has dtype, shape and strides; a scalar constant is part of the program."""
    module = torch.nn.Module()
    module._frozen_param0 = torch.nn.Parameter(torch.ones(4, 3, 2, 2).to(memory_format=torch.channels_last))
    module._tensor_constant0 = torch.tensor(2)
    graph = fx.Graph()
    graph.output((graph.get_attr("_frozen_param0"), graph.get_attr("_tensor_constant0")))
    assert (
        Graph.of(fx.GraphModule(module, graph)).text
        == """\
const0: f32[4, 3, 2, 2](12, 1, 6, 3)
const1: i64[] = 2
return (const0, const1)"""
    )


def test_odd_nodes_do_not_hide_the_graph() -> None:
    """Values without metadata, unknown targets and unreadable tensors still give a line each."""

    class Unreadable(torch.Tensor):
        @property
        def shape(self) -> Any:
            raise RuntimeError

    graph = fx.Graph()
    node = graph.placeholder("x")
    node.meta["val"] = torch.Tensor._make_subclass(Unreadable, torch.ones(2))
    call = graph.call_function(lambda *_: None, (node, object()))
    graph.output((graph.call_function(operator.getitem, (call, 0)), graph.call_module("layer", (node,))))
    text = Graph.of(graph).text
    assert text.splitlines()[0] == "in0: Unreadable"
    assert text.splitlines()[-1] == "return (getitem, layer)"


def test_a_graph_keeps_the_text_that_it_had() -> None:
    """Passes that run after the recording do not change what was recorded."""
    module = make_fx(torch.sin)(torch.ones(2))
    graph = Graph.of(module)
    text = graph.text
    for node in list(module.graph.nodes):
        if node.op == "call_function":
            node.target = torch.ops.aten.cos.default
    module.recompile()
    assert graph.text == text != Graph.of(module).text


def test_exported_programs() -> None:
    """An exported program is rendered like any graph."""
    exported = torch.export.export(torch.nn.Linear(2, 3), (torch.ones(4, 2),))
    assert (
        Graph.of(exported).text
        == """\
in0: f32[3, 2]
in1: f32[3]
in2: f32[4, 2]
linear: f32[4, 3] = aten.linear(in2, in0, in1)
return (linear,)"""
    )


@pytest.mark.parametrize(
    ("op", "found"),
    [("mm", 1), ("convolution", 1), ("convolution_backward", 1), ("batch_norm", 1), ("add", 0), ("aten.addmm", 1)],
)
def test_count_takes_whole_words(op: str, found: int) -> None:
    """An operator is found under its library's prefix, and not inside the name of another."""
    ops = ["aten.addmm", "aten.mm", "mkldnn._convolution_pointwise", "aten.convolution_backward"]
    assert Graph("", [*ops, "aten._native_batch_norm_legit"]).count(op) == found


def test_absent_takes_any_fragment() -> None:
    """No trace of an operator under any name."""
    graphs = Graphs("lowered", [Graph("", ["aten.mm"]), Graph("", ["aten._native_batch_norm_legit"])])
    assert graphs.absent("convolution")
    assert not graphs.absent("batch_norm")
    assert (graphs.count("mm"), len(graphs), graphs[0].count("mm")) == (1, 2, 1)


def test_graphs_of_a_stage_are_one_text() -> None:
    """Several graphs are expected as one literal, or one by one; no graph at all has a text too."""
    graphs = Graphs("dynamo", [Graph("return a", []), Graph("return b", [])], note="tracing ended with TypeError")
    assert graphs.text == "return a\n\nreturn b"
    graphs[1].expect("return b")
    graphs[1:].expect("return b")
    assert graphs[1:] is graphs[1:]
    with pytest.raises(ExpectationMismatch, match=r"dynamo graphs \(tracing ended with TypeError\) is not as expected"):
        graphs.expect("return a")
    with pytest.raises(ExpectationMismatch, match="dynamo graph 1 is not as expected"):
        graphs[1].expect("return a")
    assert Graphs("backward").text == "(no graph)"


def test_the_default_partition_is_unharmed() -> None:
    """Rendering a joint graph leaves it as it was, so that it can be partitioned afterwards."""
    from torch._functorch.aot_autograd import aot_module_simplified, make_boxed_func

    seen: list[Graph] = []

    def partition(joint: fx.GraphModule, *args: Any, **kwargs: Any) -> Any:
        seen.append(Graph.of(joint))
        return default_partition(joint, *args, **kwargs)

    x = torch.ones(3, requires_grad=True)

    def keep(module: fx.GraphModule, _: Any) -> Any:
        seen.append(Graph.of(module))
        return make_boxed_func(module.forward)

    def backend(module: fx.GraphModule, inputs: Any) -> Any:
        return aot_module_simplified(module, inputs, fw_compiler=keep, bw_compiler=keep, partition_fn=partition)

    torch._dynamo.reset()
    torch.compile(lambda x: x.sin(), backend=backend)(x).sum().backward()
    assert torch.equal(x.grad, torch.ones(3).cos())
    assert [graph.ops for graph in seen] == [
        ["aten.sin", "aten.cos", "aten.mul"],
        ["aten.sin"],
        ["aten.cos", "aten.mul"],
    ]
