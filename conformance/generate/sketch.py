"""A generated program as a few small numbers, and its source text, in which every statement fits."""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from hypothesis import strategies as st

from conformance.generate.statements import DTYPES, FOLLOW_UPS, LAYOUTS, REGIONS, SCALED, STATEMENTS, VALUES

LARGEST = 200
BUFFER = 16
#: Where an input of a call lies: in memory of its own, in the buffer that the call's inputs share at one of four
#: offsets, or it is the first input itself.
OWN, SAME = 0, 5
NAMES = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Input:
    """One argument: a layout, a dtype, and whether it requires grad (0 no, 1 a leaf, 2 not a leaf)."""

    layout: int
    dtype: int
    grad: int


@dataclass(frozen=True)
class OneCall:
    """One call: where each input lies, whether gradients are wanted, whether first dimensions are longer."""

    places: tuple[int, ...]
    no_grad: bool
    longer: bool


@dataclass(frozen=True)
class Statement:
    """A row of the table of statements, two operands counted back from the latest value, and a region."""

    form: int
    x: int
    y: int
    region: int


@dataclass(frozen=True)
class Sketch:
    """Everything that Hypothesis draws for one program; `source` turns it into text."""

    inputs: tuple[Input, ...]
    calls: tuple[OneCall, ...]
    statements: tuple[Statement, ...]
    returned: tuple[int, ...]
    follow_up: tuple[int, int]
    dynamic: bool
    inference: int

    def __repr__(self) -> str:
        """The program's text, which Hypothesis prints as the falsifying example."""
        return "\n" + source(self)


def _numbers(largest: int) -> st.SearchStrategy[int]:
    return st.integers(0, largest)


def _rarely(largest: int) -> st.SearchStrategy[int]:
    """0 in five draws of six."""
    return st.integers(0, 5).flatmap(lambda drawn: st.integers(1, largest) if drawn == 5 else st.just(0))


def sketches() -> st.SearchStrategy[Sketch]:
    """Sketches of one to three inputs, one to three calls and up to eight statements."""
    one_input = st.builds(Input, _numbers(len(LAYOUTS) - 1), _rarely(len(DTYPES) - 1), _numbers(2))
    one_call = st.builds(
        OneCall,
        st.tuples(*[_numbers(SAME)] * 3),
        _rarely(1).map(bool),
        _rarely(1).map(bool),
    )
    statement = st.builds(Statement, _numbers(len(STATEMENTS) - 1), _numbers(3), _numbers(3), _rarely(3))
    return st.builds(
        Sketch,
        st.lists(one_input, min_size=1, max_size=3).map(tuple),
        st.lists(one_call, min_size=1, max_size=3).map(tuple),
        st.lists(statement, min_size=1, max_size=8).map(tuple),
        st.lists(_numbers(3), max_size=2).map(tuple),
        st.tuples(_rarely(len(FOLLOW_UPS) - 1), _numbers(2)),
        _rarely(1).map(bool),
        _rarely(2),
    )


def source(sketch: Sketch) -> str:
    """The text of the program in the format of ``conformance check``; always the same for one sketch."""
    calls = _calls(sketch)
    names = list(NAMES[: len(sketch.inputs)])
    lines, values = _body(sketch, [dict(zip(names, arguments, strict=True)) for arguments in _built(calls)])
    returned = list(dict.fromkeys(_operand(values, number) for number in (0, *sketch.returned)))
    body = [*lines, f"return {', '.join(returned)}{',' if len(returned) == 1 else ''}"]
    program = _function("program", ", ".join(names), body)
    parts = ["import torch", *([SCALED.rstrip()] if "Scaled" in program else []), program, VALUES.rstrip(), calls]
    if steps := _follow_up(sketch, len(returned)):
        parts.append(_function("after", "arguments, outputs", steps))
    settings = []
    if sketch.inference:
        settings.append("INFERENCE = True" if sketch.inference == 1 else 'INFERENCE = "inference_mode"')
    if sketch.dynamic:
        settings.append("DYNAMIC = True")
    if settings:
        parts.append("\n".join(settings))
    return "\n\n\n".join(parts) + "\n"


def _function(name: str, parameters: str, lines: list[str]) -> str:
    return f"def {name}({parameters}):\n" + textwrap.indent("\n".join(lines), "    ")


def _calls(sketch: Sketch) -> str:
    lines: list[str] = []
    tuples: list[str] = []
    for number, one in enumerate(sketch.calls):
        names = [f"{NAMES[index]}{number}" for index in range(len(sketch.inputs))]
        lines += _arguments(sketch, one, number, names)
        tuples.append(f"({', '.join(names)}{',' if len(names) == 1 else ''})")
    return _function("calls", "device", [*lines, f"return [{', '.join(tuples)}]"])


def _arguments(sketch: Sketch, call: OneCall, number: int, names: list[str]) -> Iterator[str]:
    """The lines that build the arguments of one call: `a0`, `b0`, ... in memory of their own or in `shared0`."""
    places = [call.places[index] if index else call.places[0] % SAME for index in range(len(names))]
    shared = [index for index, place in enumerate(places) if place not in (OWN, SAME)]
    if shared:
        dtype = DTYPES[sketch.inputs[shared[0]].dtype]
        wanted = not call.no_grad and dtype != "torch.int64" and any(sketch.inputs[index].grad for index in shared)
        yield f"shared{number} = {_values(dtype, '.requires_grad_() * 1' if wanted else '')}"
    for index, (name, place) in enumerate(zip(names, places, strict=True)):
        given = sketch.inputs[index]
        dtype = DTYPES[given.dtype]
        layout = LAYOUTS[given.layout]
        rows = 3 if call.longer else 2
        if place == SAME:
            yield f"{name} = {names[0]}"
        elif place == OWN:
            grad = {1: ".requires_grad_()", 2: ".requires_grad_() * 1"}.get(given.grad, "")
            if call.no_grad or dtype == "torch.int64":
                grad = ""
            yield f"{name} = {layout.format(b=_values(dtype), o=0, r=rows)}{grad}"
        else:
            yield f"{name} = {layout.format(b=f'shared{number}', o=place - 1, r=rows)}"


def _values(dtype: str, more: str = "") -> str:
    return f"values({BUFFER}, {dtype}, device){more}"


def _built(calls: str) -> Any:
    """The arguments of every call, built on the CPU to try statements on."""
    namespace: dict[str, Any] = {"torch": torch}
    exec(f"{VALUES}\n{calls}", namespace)
    return namespace["calls"]("cpu")


def _body(sketch: Sketch, calls: list[dict[str, Any]]) -> tuple[list[str], list[str]]:
    """The statements that fit in every call, tried one after the other on its tensors, and the names of all values."""
    lines: list[str] = []
    names = list(calls[0])
    namespaces: list[dict[str, Any]] = [{"torch": torch, **values} for values in calls]
    for namespace in namespaces:
        exec(SCALED, namespace)
    mode = {0: torch.enable_grad, 1: torch.no_grad, 2: torch.inference_mode}[sketch.inference]
    for one in sketch.statements:
        new = NAMES[len(names)]
        text: str = STATEMENTS[one.form].format(x=_operand(names, one.x), y=_operand(names, one.y), new=new)
        made = f"{new} = " in text
        if region := REGIONS[one.region]:
            text = f"{region}\n{textwrap.indent(text, '    ')}"
        with warnings.catch_warnings(), mode():
            warnings.simplefilter("ignore")
            if not all(_fits(text, namespace) for namespace in namespaces):
                continue
        if made and not all(_is_small(namespace[new]) for namespace in namespaces):
            continue
        lines += text.splitlines()
        names += [new] if made else []
    return lines, names


def _fits(text: str, namespace: dict[str, Any]) -> bool:
    try:
        exec(text, namespace)
    except Exception:  # it does not fit its operands
        return False
    return True


def _operand(names: list[str], number: int) -> str:
    return names[-1 - number % len(names)]


def _is_small(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.numel() <= LARGEST


def _follow_up(sketch: Sketch, outputs: int) -> list[str]:
    form, number = sketch.follow_up
    return FOLLOW_UPS[form].format(k=number % outputs, i=number % len(sketch.inputs)).splitlines()
