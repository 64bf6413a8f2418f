"""Which operators are one case: one or several families in the quick scope, each by itself in the longer ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from conformance.operator_samples.spelling import RANDOM, UP_TO_A_PHASE
from conformance.operator_samples.store import ERRORS, index, make, samples

#: A lowering family and some of its operators: the quick scope.
FAMILIES = {
    "pointwise": "add mul div.no_rounding_mode exp tanh where pow nn.functional.gelu",
    "rounding": "round floor_divide div.floor_rounding abs",
    "remainders": "remainder fmod",
    "comparison": "eq isnan logical_and maximum",
    "bits": "bitwise_and bitwise_left_shift bitwise_not",
    "reduction": "sum mean prod amax argmin any var logsumexp",
    "scan": "cumsum cumprod cummax",
    "sorting": "sort topk searchsorted",
    "indexing": "gather index_select masked_fill __getitem__",
    "scattering": "scatter scatter_add index_put scatter_reduce.amax",
    "views": "cat stack transpose expand nn.functional.pad.constant",
    "products": "mm bmm addmm nn.functional.linear",
    "convolution": "nn.functional.conv2d nn.functional.conv_transpose2d",
    "pooling": "nn.functional.max_pool1d nn.functional.avg_pool2d",
    "resampling": "nn.functional.grid_sample",
    "normalization": "nn.functional.layer_norm nn.functional.batch_norm softmax",
    "loss": "nn.functional.cross_entropy",
    "fft": "fft.fft fft.rfft",
    "linear_algebra": "linalg.inv linalg.qr",
    "random": "bernoulli normal rand_like randint uniform",
    "dropout": "nn.functional.dropout",
    "conversion": "to bool",
}
#: What the families are tried in.
QUICK_KINDS = ("float32", "int64", "bool", "uint8", "int8", ERRORS)
#: How many samples of an operator the row of a family has, and the row of one operator alone.
OF_FAMILY, ALONE = 2, 6
#: The dtypes that an operator is tried in, by scope: those of a group are one row.
GROUPS: Mapping[str, Sequence[Sequence[str]]] = {"full": (("float32", "int64", "bool"),)}
GROUPS = {
    **GROUPS,
    "nightly": (*GROUPS["full"], ("float64", "float16", "bfloat16"), ("uint8", "int8", "int16", "int32")),
}


def is_family(name: str) -> bool:
    """Whether a row is about families, as ``sorting`` or ``sorting+scan``, and not about one operator."""
    return name.partition("+")[0] in FAMILIES


def members(name: str) -> list[str]:
    """The operators of families that are joined by ``+``, or the operator of that name."""
    return [one for family in name.split("+") for one in FAMILIES[family].split()] if is_family(name) else [name]


def everything() -> list[str]:
    """The operators of all families."""
    return [operator for name in FAMILIES for operator in members(name)]


def operators(quick: str, full: str = "", *, each: str = "") -> Callable[[str], list[str]]:
    """The rows of a case by scope, as ``sorting-float32``: families with their dtypes, from ``quick`` or ``full`` on.

    A stack compiles the families of a row at once, ``scan+sorting-float32``, which costs it less than one by one.

    With ``each`` the scopes ``full`` and ``nightly`` have rows for every operator of the running release as well, as
    ``add-float32+int64+bool``: one for each group of dtypes in which it takes ``every_form``, has ``gradients``,
    refuses inputs (``errors``) or draws numbers (``random``).
    """

    def rows(scope: str) -> list[str]:
        if scope not in GROUPS:
            return quick.split()
        families = [*quick.split(), *full.split()]
        if not each:
            return families
        groups = [[ERRORS]] if each == ERRORS else GROUPS[scope]
        make([kind for group in groups for kind in group], None)
        return families + [
            f"{name}-{'+'.join(kinds)}"
            for name, record in index().items()
            if each == ERRORS or (each == "random") == (name in RANDOM)
            if each != "gradients" or name not in UP_TO_A_PHASE
            for group in groups
            if (kinds := kinds_of(record, each, group))
        ]

    return rows


def kinds_of(record: Mapping[str, Any], each: str, group: Sequence[str]) -> list[str]:
    """Those dtypes of a group in which an operator has what a row of it is about."""
    if each == ERRORS:
        return [ERRORS] if record["errors"] else []
    return [kind for kind in group if kind in record["gradients" if each == "gradients" else "dtypes"]]


__all__ = ["ALONE", "FAMILIES", "OF_FAMILY", "everything", "members", "operators", "samples"]
