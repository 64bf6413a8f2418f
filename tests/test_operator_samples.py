"""Samples of torch's operator database: chosen, written down, copied, and told when they differ."""

from __future__ import annotations

import base64
import dataclasses
import json
import subprocess
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch

from conformance.contract.declarations import by_scope
from conformance.operator_samples import rows, store
from conformance.operator_samples.conditioning import has_steady_gradients, is_steady
from conformance.operator_samples.forms import FORMS, everywhere_runs, in_every_form, is_refused, runs
from conformance.operator_samples.rows import FAMILIES, kinds_of, members, operators
from conformance.operator_samples.sample import Sample, copies
from conformance.operator_samples.source import NoText, SampleCalls, call, program_text, tensor_text, whole_text
from conformance.operator_samples.spelling import is_difference, left_out, orders_equals
from conformance.program.expressions import Expressions
from conformance.program.sources import ScriptError

RECORD = {"dtypes": ["float32", "int64"], "gradients": ["float32"], "errors": True, "in_place": "", "out": True}
ADD = Sample("add", "torch.add", (torch.ones(2, 3), torch.ones(3)), {"alpha": 2})


def formed(sample: Sample, form: str, **record: object) -> list[Sample]:
    """The sample in a form."""
    return list(FORMS[form](sample, {**RECORD, **record}))


def test_program_of_two_samples() -> None:
    """A program calls its samples one after another, each on tensors of its own."""
    method = Sample("expand", "torch.Tensor.expand", (torch.ones(1), 3))
    attribute = Sample("T", "torch.Tensor.T", (torch.ones(1, 2),))

    assert program_text([ADD, method, attribute], "cpu") == (
        "import torch\n\n\n"
        "def program(a0, a1, a2, a3):\n"
        "    return [\n"
        "        torch.add(a0, a1, alpha=2),\n"
        "        a2.expand(3),\n"
        "        a3.T,\n"
        "    ]\n"
    )


def test_text_makes_the_same_tensor() -> None:
    """What is written down has the values, strides and flags of the tensor, NaN and infinities included."""
    values = torch.tensor([[1.5, float("nan"), -0.0], [float("-inf"), 1e-40, 7.0]]).t()[1:].requires_grad_()
    made = eval(tensor_text(values), {"torch": torch, "device": "cpu"})

    assert torch.equal(made.isnan(), values.isnan())
    assert torch.equal(made.nan_to_num(), values.nan_to_num())
    assert (made.stride(), made.requires_grad) == (values.stride(), True)


@pytest.mark.parametrize(
    "values",
    [
        pytest.param(torch.arange(600.0), id="contiguous"),
        pytest.param(torch.arange(1200, dtype=torch.bfloat16).reshape(2, 600).t()[3:], id="strided"),
        pytest.param(torch.arange(600).expand(2, 600) > 7, id="booleans"),
        pytest.param(torch.arange(600).expand(2, 600), id="expanded"),
        pytest.param(torch.arange(600).to(torch.complex64).mul(1j).conj(), id="conjugated"),
        pytest.param(torch.ones(2, dtype=torch.complex64).mul(1j).conj().imag, id="negated"),
        pytest.param(torch.ones(()), id="number"),
    ],
)
def test_packed_text_makes_the_same_tensor(values: torch.Tensor) -> None:
    """Of a large tensor too, which then only a script reads."""
    names = {"torch": torch, "device": "cpu", "base64": base64, "zlib": zlib}
    made = eval(tensor_text(values, packed=True), names)

    assert torch.equal(made, values)
    assert (made.dtype, made.stride(), made.is_conj(), made.is_neg()) == (
        values.dtype,
        values.stride(),
        values.is_conj(),
        values.is_neg(),
    )


def test_a_large_sample_has_a_script() -> None:
    """Its text brings what unpacks it."""
    text = whole_text(Sample("abs", "torch.abs", (torch.arange(4000),)), "cpu", packed=True)
    module: dict[str, Any] = {}
    exec(text, module)
    ((made,),) = module["calls"]("cpu")

    assert torch.equal(made, torch.arange(4000))


def test_the_inputs_of_a_whole_row_have_a_script() -> None:
    """Fresh for each call, large ones packed; tensors that nobody wants in a script are no text."""
    calls = SampleCalls([Sample("add", "torch.add", (torch.ones(2), torch.arange(4000))), ADD], 2)
    write = Expressions()
    names: dict[str, Any] = {}
    told = write.of(calls)
    exec("\n".join([*write.sources.imports, write.text()]), names)
    first, second = names[told]("cpu")

    for made in (first, second):
        assert all(map(torch.equal, made, calls("cpu")[0]))
        assert len(made) == len(calls("cpu")[0])
    assert first[0] is not second[0]
    with pytest.raises(ScriptError, match="cannot be written down: a tensor of 200000 elements"):
        Expressions().of(SampleCalls([Sample("abs", "torch.abs", (torch.ones(200_000),))]))


def test_long_tensors_are_not_written_down() -> None:
    """A tensor of thousands of elements is no text for a reader."""
    with pytest.raises(NoText, match="4000 elements"):
        whole_text(Sample("abs", "torch.abs", (torch.arange(4000),)), "cpu")


def test_copies_share_memory_as_the_originals_do() -> None:
    """Two views of one tensor are copied to two views of another one."""
    whole = torch.arange(6.0)
    first, second = copies([whole[1:4], whole[::2]], "cpu")
    first.zero_()

    assert second.tolist() == [0.0, 0.0, 4.0]
    assert (first.storage_offset(), second.stride()) == (1, (2,))
    assert whole.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


def test_gradients_need_an_operand_that_requires_them() -> None:
    """A sample without such an operand has no gradients to look at."""
    differentiable = ADD.replaced(lambda tensor: tensor.clone().requires_grad_())

    assert formed(ADD, "gradients") == []
    assert [one.name for one in formed(differentiable, "gradients")] == ["add[0]"]
    assert not any(tensor.requires_grad for tensor in formed(differentiable, "results")[0].tensors)


def test_out_is_given_in_three_forms() -> None:
    """The tensor for the result is as eager's own, has no elements, or has another layout."""
    given = [one.kwargs["out"] for one in formed(ADD, "out")]

    assert [(tuple(one.shape), one.stride()) for one in given] == [
        ((2, 3), (3, 1)),
        ((0,), (1,)),
        ((2, 3), (1, 2)),
    ]
    assert formed(ADD, "out", out=False) == []


def test_operands_in_other_layouts() -> None:
    """Transposed operands and those with gaps hold the values of the plain ones."""
    (transposed,), (gaps,) = formed(ADD, "transposed"), formed(ADD, "gaps")

    assert transposed.tensors[0].stride() == (1, 2)
    assert gaps.tensors[0].stride() == (6, 2)
    assert torch.equal(call(transposed), call(gaps))


def test_special_values_of_each_dtype() -> None:
    """Floats meet NaN and infinities, integers the limits of their dtype."""
    floats = formed(Sample("exp", "torch.exp", (torch.ones(12),)), "special_values")[0].tensors[0]
    limits = formed(Sample("abs", "torch.abs", (torch.ones(8, dtype=torch.int8),)), "special_values")[0].tensors[0]

    assert (int(floats.isnan().sum()), int(floats.isinf().sum())) == (1, 2)
    assert {-128, 127, 0} <= set(limits.tolist())


def test_forms_of_one_sample_share_no_memory() -> None:
    """In the program of a row what one form writes in place is not what another one reads."""
    [given] = SampleCalls([ADD, formed(ADD, "in_place", in_place="torch.Tensor.add_")[0]], 1)("cpu")

    assert len({tensor.untyped_storage().data_ptr() for tensor in given}) == len(given) == 4


def test_samples_that_hang_on_the_last_bit_are_left_out() -> None:
    """A sum that cancels, a remainder that begins anew and what is near a step are no measure of anybody's rounding."""
    near_one = torch.tensor([1.0, 1e-4, -1.0])
    steady = [Sample("sum", "torch.sum", (torch.tensor([1.0, 2.0, -1.0]),)), ADD]
    hanging = [
        Sample("sum", "torch.sum", (near_one,)),
        Sample("remainder", "torch.remainder", (torch.tensor([6.0]), torch.tensor([3.0]))),
        Sample("floor", "torch.floor", (torch.tensor([2.0]),)),
    ]

    assert [is_steady(sample, torch.float32) for sample in steady] == [True, True]
    assert [is_steady(sample, torch.float32) for sample in hanging] == [False, False, False]


def test_the_order_of_equal_numbers_is_asked_of_stable_sorts_only() -> None:
    """Which of them comes first is promised nowhere else."""
    equal, different = torch.tensor([[1, 2], [1, 3]]), torch.tensor([[True, False]])
    promised = [((equal, 1), {}), ((equal, 0), {"stable": True}), ((different,), {"descending": True})]
    assert not any(orders_equals(Sample("sort", "torch.sort", args, kwargs)) for args, kwargs in promised)
    assert orders_equals(Sample("sort", "torch.sort", (equal, 0, True)))
    assert orders_equals(Sample("argsort", "torch.argsort", (equal,), {"dim": 0, "stable": False}))


def test_gradients_that_cancel_are_left_out() -> None:
    """A number divided by its own norm has no gradient but rounding; one that passes through keeps its digits."""
    number = torch.tensor([0.43], requires_grad=True)
    steady = [("torch.exp", (number,)), ("torch.maximum", (number, torch.tensor([0.43]))), ("torch.floor", (number,))]
    normalized = Sample("normalize", "torch.nn.functional.normalize", (number,), {"dim": 0})

    assert all(has_steady_gradients(Sample("any", spelled, operands)) for spelled, operands in steady)
    assert not has_steady_gradients(normalized)


def test_eager_is_spared_what_ends_its_process() -> None:
    """LAPACK gets no NaN and no pivots out of range; a division of the smallest integer by -1 is no sample either."""
    numbers = (torch.ones(2, 2),)

    assert formed(Sample("abs", "torch.abs", numbers), "special_values")
    for name in ("linalg.eigvals", "lcm"):
        assert not formed(Sample(name, f"torch.{name}", numbers), "special_values")


def test_samples_that_eager_or_its_library_decides_by_accident() -> None:
    """Convolutions meet no infinities, eig on CUDA overwrites a matrix in columns, and no margin leaves few digits."""
    numbers = (torch.ones(2, 2),)

    assert not formed(Sample("nn.functional.conv_transpose2d", "torch.abs", numbers), "special_values")
    assert not formed(Sample("linalg.eigvals", "torch.linalg.eigvals", numbers), "transposed")
    assert formed(Sample("linalg.eigvalsh", "torch.linalg.eigvalsh", numbers), "transposed")
    for margin, few_digits in ((1e-6, True), (1.0, False), (-1.0, False)):
        loss = Sample("nn.functional.triplet_margin_loss", "torch.abs", numbers, {"margin": margin})
        assert is_difference(loss) is few_digits


def test_tensors_without_elements_share_no_memory() -> None:
    """They all have the address zero, and each keeps its own dtype."""
    given = [torch.ones(0), torch.ones(0, dtype=torch.int64)]

    assert [one.dtype for one in copies(given, "cpu")] == [torch.float32, torch.int64]


def test_what_eager_refuses() -> None:
    """A sample that eager refuses is told from one that it runs."""
    assert runs(ADD)
    assert not runs(Sample("add", "torch.add", (torch.ones(2), torch.ones(3))))


def test_what_a_gpu_finds_by_an_assertion_is_not_tried_on_it() -> None:
    """There an index that is too large is no error input, and no input of a program; a wrong shape stays one."""
    too_far = Sample("take", "torch.take", (torch.ones(3), torch.tensor([7])))
    wrong_shapes = Sample("mm", "torch.mm", (torch.ones(2, 3), torch.ones(2, 3)))

    assert (is_refused(too_far, "cpu"), is_refused(too_far, "cuda")) == (True, False)
    assert not everywhere_runs(too_far, "cuda")
    assert not runs(wrong_shapes, "meta")


def test_quick_rows_need_no_database() -> None:
    """In the quick scope the rows are what the case says."""
    assert operators("pointwise-float32 bits-int64")("quick") == ["pointwise-float32", "bits-int64"]


@pytest.mark.parametrize(
    ("each", "kinds"),
    [("every_form", ["float32", "int64"]), ("gradients", ["float32"]), ("errors", ["errors"])],
)
def test_kinds_of_a_row(each: str, kinds: list[str]) -> None:
    """An operator is tried in those dtypes of a group in which it has what the row is about."""
    assert kinds_of(RECORD, each, ["float32", "int64", "bool"]) == kinds


def test_every_form_of_an_operator() -> None:
    """The row of one operator has few samples of each form, named by it; other layouts only where there are floats."""
    exact = dataclasses.replace(ADD, args=tuple(one.int() for one in ADD.args))
    record = {"in_place": "torch.Tensor.add_", "out": True}
    floats, integers = in_every_form([ADD] * 9, record), in_every_form([exact] * 9, record)

    count = Counter(sample.form for sample in floats)
    assert count == {"": 4, "transposed": 1, "gaps": 1, "special_values": 2, "in_place": 1, "out": 3}
    assert floats[-1].name == "add.out[0]"
    assert Counter(sample.form for sample in integers) == {"": 2, "special_values": 1, "in_place": 1}


def test_families_that_are_joined() -> None:
    """A row has the operators of all its families, in their order; what is no family is an operator."""
    assert members("fft+scan") == [*members("fft"), *members("scan")]
    assert members("index_add") == ["index_add"]


def test_families_hold_nothing_that_is_left_out() -> None:
    """What the quick scope tries is what users call."""
    tried = [operator for family in FAMILIES for operator in members(family)]

    assert 60 <= len(set(tried)) == len(tried) <= 80
    assert not set(FAMILIES) & set(tried)
    assert [name for name in tried if left_out(name)] == []
    assert [bool(left_out(name)) for name in ("empty_like", "_segment_reduce.lengths", "__radd__")] == [
        True,
        True,
        False,
    ]


def test_rows_are_declared() -> None:
    """A case carries the function that says its rows for each scope."""

    @by_scope("row", lambda scope: [scope])
    def case(row: str) -> None: ...

    [marker] = case.pytestmark  # type: ignore[attr-defined]
    assert (marker.kwargs["argument"], marker.kwargs["of"]("full")) == ("row", ["full"])


def test_samples_of_all_operators_are_made_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """To read the database takes seconds, and a run asks for them with every case."""
    orders: list[str] = []

    def read(*_: object, input: str, **__: object) -> subprocess.CompletedProcess[str]:
        orders.append(input)
        return subprocess.CompletedProcess([], 0)

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("conformance.operator_samples.store.subprocess.run", read)
    monkeypatch.setattr(store, "processes", lambda: 2)
    for kinds in (["float32", "int64"], ["int64"], ["float32", "bool"]):
        store.make(kinds, None)

    made = sorted((order["kinds"], order["share"]) for order in map(json.loads, orders))
    assert made == [(["float32", kind], [share, 2]) for kind in ("bool", "int64") for share in (0, 1)]


def test_rows_of_random_operators(monkeypatch: pytest.MonkeyPatch) -> None:
    """The case of random numbers has no row for an operator that draws none."""
    monkeypatch.setattr(rows, "make", lambda kinds, operators: None)
    monkeypatch.setattr(rows, "index", lambda: {"add": RECORD, "uniform": RECORD})

    assert operators("random-float32", each="random")("full") == ["random-float32", "uniform-float32+int64"]
    assert operators("", each="every_form")("full") == ["add-float32+int64"]
    assert operators("bits-int64", "scan-int64")("full") == ["bits-int64", "scan-int64"]


def test_a_worker_that_waited_finds_what_it_misses(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What another process has made meanwhile is not made again."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("conformance.operator_samples.store.subprocess.run", lambda *_, **__: pytest.fail("read again"))
    missing = tmp_path / "add-float32.pt"
    missing.touch()

    store.make(["float32"], ["add"], missing)


def test_a_sample_on_which_eager_is_at_odds_with_itself_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where its float32 has NaN for an infinity of float64, some other CPU has the infinity."""
    sample = Sample("gelu", "torch.nn.functional.gelu", (torch.tensor([float("inf"), 1.0]),))
    kernel = torch.nn.functional.gelu

    def at_odds(x: torch.Tensor) -> torch.Tensor:
        return torch.where(x.isinf(), torch.nan, x) if x.dtype is torch.float32 else kernel(x)

    for function, kept in ((at_odds, 0), (lambda x: kernel(x).nan_to_num(), 1)):
        monkeypatch.setattr(torch.nn.functional, "gelu", function)
        assert len(formed(sample, "special_values")) == kept
