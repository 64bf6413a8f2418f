"""Which operators are one case: families of a few in the quick scope, each by itself in the longer ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from conformance.operator_samples.store import ERRORS, index, make, samples

#: A lowering family and some of its operators: the quick scope.
FAMILIES = {
    "pointwise": "add sub mul div.no_rounding_mode exp sigmoid tanh clamp where pow lerp nn.functional.gelu",
    "rounding": "round floor_divide remainder fmod div.floor_rounding copysign sign abs",
    "comparison": "eq lt isnan logical_and maximum minimum",
    "bits": "bitwise_and bitwise_xor bitwise_left_shift bitwise_right_shift bitwise_not",
    "reduction": "sum mean prod amax argmin any all var logsumexp linalg.vector_norm",
    "scan": "cumsum cumprod cummax logcumsumexp diff",
    "sorting": "sort topk kthvalue searchsorted",
    "indexing": "gather index_select take_along_dim masked_fill __getitem__ flip roll tril",
    "scattering": "scatter scatter_add index_add index_put scatter_reduce.amax",
    "views": "cat stack transpose squeeze expand unfold repeat_interleave nn.functional.pad",
    "products": "mm bmm matmul addmm baddbmm nn.functional.linear",
    "convolution": "nn.functional.conv1d nn.functional.conv2d nn.functional.conv_transpose2d",
    "pooling": "nn.functional.max_pool2d nn.functional.avg_pool2d nn.functional.adaptive_avg_pool2d",
    "resampling": "nn.functional.interpolate.nearest nn.functional.interpolate.bilinear nn.functional.grid_sample",
    "normalization": "nn.functional.layer_norm nn.functional.group_norm nn.functional.batch_norm softmax log_softmax",
    "loss": "nn.functional.cross_entropy nn.functional.mse_loss nn.functional.binary_cross_entropy",
    "fft": "fft.fft fft.rfft fft.irfft",
    "linear_algebra": "linalg.inv linalg.solve linalg.qr linalg.cholesky linalg.det",
    "random": "bernoulli nn.functional.dropout normal rand_like randint uniform",
    "conversion": "to float int bool",
}
#: What the families are tried in.
QUICK_KINDS = ("float32", "int64", "bool", "uint8", "int8", ERRORS)
#: How many samples of an operator a case has, by scope.
SAMPLES = {"quick": 3, "full": 12, "nightly": 24}
FULL_DTYPES = ("float32", "int64", "bool")
NIGHTLY_DTYPES = (*FULL_DTYPES, "float64", "float16", "bfloat16", "uint8", "int8", "int16", "int32")


def members(name: str) -> list[str]:
    """The operators of a family, or the operator of that name."""
    return FAMILIES[name].split() if name in FAMILIES else [name]


def everything() -> list[str]:
    """The operators of all families."""
    return [operator for name in FAMILIES for operator in members(name)]


def operators(quick: str, *, dtypes: Sequence[str] | None = None, form: str = "results") -> Callable[[str], list[str]]:
    """The rows of a case by scope, as ``add-float32``: the quick ones are families, named with their dtypes.

    In the scope ``full`` every operator of the running release, in ``nightly`` in every dtype; ``dtypes`` are those
    that the form is about, where it is not about all.
    """

    def rows(scope: str) -> list[str]:
        if scope not in SAMPLES or scope == "quick":
            return quick.split()
        wanted = FULL_DTYPES if scope == "full" else NIGHTLY_DTYPES
        kinds = [name for name in wanted if dtypes is None or name in dtypes]
        make([ERRORS] if form == ERRORS else kinds, None)
        return quick.split() + [
            f"{name}-{kind}" for name, record in index().items() for kind in kinds_of(record, form, kinds)
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
