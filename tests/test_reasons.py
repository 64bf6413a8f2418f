"""Canonical reasons: what torch 2.9 to 2.15, and older releases, word differently is one text."""

from __future__ import annotations

import pytest

from conformance.capture.recompile_reasons import canonical_break, canonical_recompile

SOURCE = "                  # def f(x, y): return x + y  # ork/case.py:7 in f"
BREAK = "Call to `torch._dynamo.graph_break()`"
TRACING = """Graph break in user code at /some/case.py:39
Graph Break Reason: Encountered graph break when attempting to trace CALL: a function call, e.g. f(x, y):

"""
FALLING_BACK = """Graph break in user code at /some/case.py:42
Graph Break Reason: Failed to handle graph break gracefully. Skipping the function and falling back to eager.

"""
STACK = '\nUser stack trace:\n  File "/some/case.py", line 7, in f\n    def f(x, y): return x + y'


@pytest.mark.parametrize(
    ("texts", "canonical"),
    [
        (["0/0: x is y" + SOURCE], "x is y"),
        (["0/0: x is y" + SOURCE + STACK], "x is y"),
        (["0/0: L['x'] is L['y']"], "x is y"),
        (["0/0: L['x'] is G['z']"], "x is global z"),
        (["0/0: l[0] is l[1]"], "l[0] is l[1]"),
        (['0/0: Duplicate tensors found: ["x", "y"]'], "x is not y"),
        (['0/0: Duplicate tensors found: ["a", "G[\'z\']"]'], "a is not global z"),
        (["0/0: Duplicate tensors found: ['x', 'y'], ['a', 'b']"], "x is not y; a is not b"),
        (["0/0: Duplicate tensors found: ['a', 'b', 'c']"], "a, b, c are distinct"),
        (
            ["0/0: tensor 'y' requires_grad mismatch. expected requires_grad=1"],
            "requires_grad of y: expected True, actual False",
        ),
        (
            ["0/0: tensor 'L['y']' requires_grad mismatch. expected requires_grad=0"],
            "requires_grad of y: expected False, actual True",
        ),
        (
            ["0/0: tensor 'x' size mismatch at index 0. expected 3, actual 4"],
            "size of x at 0: expected 3, actual 4",
        ),
        (
            ["0/0: tensor 'x' stride mismatch at index 1. expected 4, actual 1"],
            "stride of x at 1: expected 4, actual 1",
        ),
        (["0/0: tensor 'x' rank mismatch. expected 1, actual 2"], "rank of x: expected 1, actual 2"),
        (["0/0: tensor 'x' dtype mismatch. expected Float, actual Double"], "dtype of x: expected f32, actual f64"),
        (
            ["0/0: tensor 'x' dispatch key set mismatch. expected DispatchKeySet(CPU), actual DispatchKeySet(CUDA)"],
            "dispatch keys of x",
        ),
        (["0/0: ___check_type_id(y, 139819982617824)" + SOURCE], "type of y"),
        (["0/0: ___check_type_id(y, 140561720114400), type=<class 'int'>  # def f(x, y)" + STACK], "type of y"),
        (["0/0: ___check_obj_id(L['self'].act, 140561720114400)"], "identity of self.act"),
        (["0/0: len(l) == 2" + SOURCE], "len(l) == 2"),
        (["0/0: n == 1.5" + SOURCE + STACK], "n == 1.5"),
        (["0/0: self._modules['layer']._parameters['weight'] is x"], "self.layer.weight is x"),
        (["0/0: check_overlapping(overlapping=[a, b], non_overlapping=[])"], "storage overlap of a, b"),
        (["0/0: check_overlapping(overlapping=[], non_overlapping=[a, b])"], "no storage overlap of a, b"),
        (
            ["0/0: check_overlapping(overlapping=[a, b], non_overlapping=[c])"],
            "storage overlap of a, b; no storage overlap of c",
        ),
        (["0/0: 2 <= x.size()[0]  # def f(x) (user code shown is first use)"], "2 <= size of x at 0"),
        (["0/0: 2 <= x.size()[0] <= 2147483647"], "2 <= size of x at 0"),
        (["0/0: x.size()[0] > 2"], "3 <= size of x at 0"),
        (
            ["0/0: b.storage_offset() == a.size()[0]  # duck sizing added this equality"],
            "storage offset of b == size of a at 0",
        ),
        (["0/0: GLOBAL_STATE changed: grad_mode "], "global state changed: grad_mode"),
        (["0/0: hook at 0x7f00deadbeef in /srv/case.py:12 changed"], "hook 0x... in ...py changed"),
        ([], "unknown"),
    ],
)
def test_recompile_reasons(texts: list[str], canonical: str) -> None:
    """A guard failure reads the same whatever release words it."""
    assert canonical_recompile(texts) == canonical


def test_reasons_of_one_recompile_are_in_the_order_of_the_compilations() -> None:
    """Torch lists the latest used entry first; compilation ten comes after two, and a repeated reason is said once."""
    texts = ["0/10: n == 3", "0/2: n == 2", "0/1: n == 1", "0/0: n == 1"]
    assert canonical_recompile(texts) == "n == 1; n == 2; n == 3"


@pytest.mark.parametrize(
    ("payload", "canonical"),
    [
        (
            "Graph break in user code at /a.py:34\nGraph Break Reason: Data-dependent branching\n  Explanation: ...\n",
            "Data-dependent branching",
        ),
        (TRACING + BREAK + "\n  Explanation: User-inserted graph break.", BREAK),
        (FALLING_BACK + BREAK + "\n\n*** While handling this graph break, another occurred ***", BREAK),
        ("", "unknown"),
    ],
)
def test_graph_breaks(payload: str, canonical: str) -> None:
    """Only the kind of a break is kept, which 2.13 puts behind a sentence about the bytecode."""
    assert canonical_break(payload) == canonical
