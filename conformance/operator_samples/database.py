"""Makes the samples of operators from torch's database; run in a process of its own.

Importing the database changes global flags of torch and sets ``TORCHINDUCTOR_CACHE_DIR``, and nothing of that may reach
a run. ``python -m conformance.operator_samples.database`` reads an order from standard input, in JSON: ``folder``,
``kinds`` (dtypes and ``errors``), ``operators`` (None for all) and ``share``, this process's number among how many.
What the release lacks has a file without samples.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import sys
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import torch

from conformance.operator_samples.conditioning import is_steady
from conformance.operator_samples.sample import Sample, mapped
from conformance.operator_samples.source import NoText, literal
from conformance.operator_samples.spelling import ORDER, RANDOM, full_name, left_out, spelled, unfit

#: What all samples are drawn from, in every release.
SEED = 15
#: How many samples of an operator and dtype are kept, of how many that are looked at, and the most elements of one.
KEPT, LOOKED_AT, MOST_ELEMENTS = 24, 300, 2048
ERRORS = "errors"
#: How often samples are drawn until one is steady.
DRAWS = 4


def entries() -> dict[str, Any]:
    """The database by full name, without what is left out."""
    from torch.testing._internal.common_methods_invocations import op_db

    named = {full_name(info): info for info in op_db}
    return {name: info for name, info in named.items() if not left_out(name) and spelled(info)}


def index(found: dict[str, Any]) -> dict[str, Any]:
    """What the release has: for each operator its dtypes, those with gradients, and its other forms."""
    return {
        name: {
            "dtypes": sorted(str(dtype).removeprefix("torch.") for dtype in info.supported_dtypes("cpu")),
            "gradients": sorted(str(dtype).removeprefix("torch.") for dtype in info.supported_backward_dtypes("cpu"))
            if info.supports_autograd
            else [],
            "errors": info.error_inputs_func is not None,
            "in_place": _in_place(info),
            "out": bool(info.supports_out),
        }
        for name, info in found.items()
    }


def _in_place(info: Any) -> str:
    variant = info.inplace_variant
    name = getattr(variant, "__name__", "")
    return f"torch.Tensor.{name}" if name and getattr(torch.Tensor, name, None) is variant else ""


def samples(info: Any, dtype: str) -> list[Sample]:
    """Samples that differ in how they call, those with a few elements first; on CPU, fit to be written down.

    Those whose last bits decide on the result are left out, and others are drawn where none is left. A function of one
    number is no sum: whatever that number is, its result is known; and what is random is not known at all.
    """
    asked = getattr(torch, dtype)
    first = kept = _in_turns(info, asked)
    if asked.is_floating_point and type(info).__name__ != "UnaryUfuncInfo" and full_name(info) not in RANDOM:
        for draw in range(DRAWS):
            drawn = _in_turns(info, asked, draw) if draw else first
            if kept := list(itertools.islice((one for one in drawn if is_steady(one, asked)), KEPT)):
                break
    kept = (kept or first)[:KEPT]
    return [Sample(one.operator, one.spelled, one.args, one.kwargs, number) for number, one in enumerate(kept)]


def _in_turns(info: Any, asked: torch.dtype, draw: int = 0) -> list[Sample]:
    """The samples of one draw, one of each way to call after the other."""
    gradients = info.supports_autograd and asked in info.supported_backward_dtypes("cpu")
    _seed(f"{full_name(info)} {str(asked).removeprefix('torch.')}{draw or ''}")
    drawn = info.sample_inputs("cpu", asked, requires_grad=gradients, set_seed=False)
    groups: dict[str, list[Sample]] = {}
    for sample in _usable(info, itertools.islice(drawn, LOOKED_AT)):
        groups.setdefault(_kind(sample), []).append(sample)
    for group in groups.values():
        group.sort(key=lambda sample: (sample.elements < 4, sample.elements))
    turns = itertools.chain.from_iterable(itertools.zip_longest(*groups.values()))
    return [one for one in turns if one is not None]


def errors(info: Any) -> list[Sample]:
    """The inputs that the operator must refuse."""
    _seed(f"{full_name(info)} errors")
    refused = info.error_inputs("cpu", set_seed=False)
    return [
        Sample(one.operator, one.spelled, one.args, one.kwargs, number)
        for number, one in enumerate(_usable(info, (error.sample_input for error in refused)))
    ]


def _usable(info: Any, drawn: Iterable[Any]) -> Iterator[Sample]:
    name = full_name(info)
    for one in drawn:
        args = (one.input, *one.args)
        order = ORDER.get(name, ())
        args = (*(args[place] for place in order), *args[len(order) :])
        sample = Sample(name, spelled(info), mapped(args, _leaf), mapped(dict(one.kwargs), _leaf))
        if not unfit(sample) and sample.is_dense and sample.elements <= MOST_ELEMENTS and _writable(sample):
            yield sample


def _leaf(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().requires_grad_(tensor.requires_grad)


def _writable(sample: Sample) -> bool:
    names = {id(tensor): "t" for tensor in sample.tensors}
    try:
        literal([list(sample.args), dict(sample.kwargs)], names, "cpu")
    except NoText:
        return False
    return True


def _kind(sample: Sample) -> str:
    """How a call is made: its arguments' types, names and options, but not its sizes and numbers."""
    names = {id(tensor): f"tensor{min(tensor.dim(), 2)}" for tensor in sample.tensors}
    options = sorted((name, _option(value)) for name, value in sample.kwargs.items())
    text: str = literal([_option(value) if id(value) not in names else value for value in sample.args], names, "cpu")
    return f"{text} {options}"


def _option(value: Any) -> Any:
    if isinstance(value, (bool, str, type(None))):
        return value
    return type(value).__name__


def _seed(name: str) -> None:
    seed = zlib.crc32(f"{SEED} {name}".encode())
    torch.manual_seed(seed)
    random.seed(seed)
    with contextlib.suppress(ImportError):
        import numpy

        numpy.random.seed(seed)


def main() -> None:
    """Write one file for each operator and dtype of this process's share, and the index."""
    warnings.simplefilter("ignore")
    order = json.loads(sys.stdin.read())
    folder = Path(order["folder"])
    found = entries()
    known = index(found)
    number, count = order["share"]
    wanted = list(found) if order["operators"] is None else order["operators"]
    for name in wanted[number::count]:
        for kind in order["kinds"]:
            file = folder / f"{name}-{kind}.pt"
            if file.is_file():
                continue
            record = known.get(name, {"errors": False, "dtypes": []})
            if kind == ERRORS:
                made = errors(found[name]) if record["errors"] else []
            else:
                made = samples(found[name], kind) if kind in record["dtypes"] else []
            _finished(file, lambda unfinished, made=made: torch.save(made, unfinished))  # type: ignore[misc]
    _finished(folder / "index.json", lambda unfinished: unfinished.write_text(json.dumps(known), encoding="utf-8"))


def _finished(file: Path, write: Callable[[Path], Any]) -> None:
    """Workers that start together may write the same file: each finds a whole one."""
    unfinished = file.with_suffix(f".{os.getpid()}")
    write(unfinished)
    unfinished.replace(file)


if __name__ == "__main__":
    main()
