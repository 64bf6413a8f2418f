"""Which operators are one case: one or several families in the quick scope, each by itself in the longer ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from conformance.operator_samples.spelling import RANDOM
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
#: How many samples of an operator a case has, by scope.
SAMPLES = {"quick": 2, "full": 12, "nightly": 24}
FULL_DTYPES = ("float32", "int64", "bool")
NIGHTLY_DTYPES = (*FULL_DTYPES, "float64", "float16", "bfloat16", "uint8", "int8", "int16", "int32")


def is_family(name: str) -> bool:
    """Whether a row is about families, as ``sorting`` or ``sorting+scan``, and not about one operator."""
    return name.partition("+")[0] in FAMILIES


def members(name: str) -> list[str]:
    """The operators of families that are joined by ``+``, or the operator of that name."""
    return [one for family in name.split("+") for one in FAMILIES[family].split()] if is_family(name) else [name]


def everything() -> list[str]:
    """The operators of all families."""
    return [operator for name in FAMILIES for operator in members(name)]


def operators(
    quick: str, full: str = "", *, dtypes: Sequence[str] | None = None, form: str = "results"
) -> Callable[[str], list[str]]:
    """The rows of a case by scope, as ``add-float32``: families with their dtypes, from ``quick`` or ``full`` on.

    A stack compiles the families of a row at once, ``scan+sorting-float32``, which costs it less than one by one.

    In the scope ``full`` every operator of the running release, in ``nightly`` in every dtype; ``dtypes`` are those
    that the form is about, where it is not about all. The form ``random`` is that of operators that draw numbers.
    """

    def rows(scope: str) -> list[str]:
        if scope not in SAMPLES or scope == "quick":
            return quick.split()
        wanted = FULL_DTYPES if scope == "full" else NIGHTLY_DTYPES
        kinds = [name for name in wanted if dtypes is None or name in dtypes]
        make([ERRORS] if form == ERRORS else kinds, None)
        return [*quick.split(), *full.split()] + [
            f"{name}-{kind}"
            for name, record in index().items()
            if form != "random" or name in RANDOM
            for kind in kinds_of(record, form, kinds)
        ]

    return rows


def kinds_of(record: dict, form: str, wanted: Sequence[str]) -> list[str]:  # type: ignore[type-arg]
    """The dtypes in which an operator takes a form."""
    if form == ERRORS:
        return [ERRORS] if record["errors"] else []
    if form in ("in_place", "out") and not record[form]:
        return []
    return [kind for kind in wanted if kind in record["gradients" if form == "gradients" else "dtypes"]]


__all__ = ["FAMILIES", "SAMPLES", "everything", "members", "operators", "samples"]
