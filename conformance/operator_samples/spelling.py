"""How a user writes an operator of the database, and which of its entries nobody can write, or nobody could judge."""

from __future__ import annotations

from typing import Any

from conformance.operator_samples.sample import Sample

_METHODS = """
    T H mT mH bfloat16 bool byte char chalf contiguous double expand expand_as float half int item long new_full
    new_ones new_zeros repeat reshape_as short sum_to_size to unfold view view_as zero_
"""
_FUNCTIONS = """
    bernoulli multinomial nn.functional.alpha_dropout nn.functional.dropout nn.functional.dropout2d
    nn.functional.dropout3d nn.functional.fractional_max_pool2d nn.functional.fractional_max_pool3d
    nn.functional.multi_head_attention_forward nn.functional.rrelu nn.functional.scaled_dot_product_attention normal
    rand_like randint randint_like randn randn_like
"""
#: What stands behind lambdas of the database. Its arguments are in the order of the call, but for `ORDER`.
SPELLED = {
    **{name: f"torch.Tensor.{name}" for name in _METHODS.split()},
    **{name: f"torch.{name}" for name in _FUNCTIONS.split()},
    **{name: f"torch.Tensor.{name}_" for name in ("cauchy", "exponential", "geometric", "log_normal", "uniform")},
    "normal.in_place": "torch.Tensor.normal_",
    "normal.number_mean": "torch.normal",
    "nn.functional.feature_alpha_dropout.with_train": "torch.nn.functional.feature_alpha_dropout",
    "nn.functional.feature_alpha_dropout.without_train": "torch.nn.functional.feature_alpha_dropout",
    "einsum": "torch.einsum",
    "nn.functional.embedding": "torch.nn.functional.embedding",
    "nn.functional.embedding_bag": "torch.nn.functional.embedding_bag",
    "where": "torch.where",
    **{f"polygamma.polygamma_n_{n}": "torch.polygamma" for n in range(5)},
    "special.polygamma.special_polygamma_n_0": "torch.special.polygamma",
}
#: Where the database's arguments go in the call: the second comes first.
ORDER = dict.fromkeys(
    [
        "einsum",
        "nn.functional.embedding",
        "nn.functional.embedding_bag",
        "special.polygamma.special_polygamma_n_0",
        "where",
        *(f"polygamma.polygamma_n_{n}" for n in range(5)),
    ],
    (1, 0),
)

_UNWRITTEN = "what memory holds that nobody wrote is not promised"
_GPU_SOURCE = "compiles CUDA source of its own"
_WRAPPED = "a function of the database and not of torch: it makes its operands, or takes a part of its results"
LEFT_OUT = {
    **dict.fromkeys(
        ("empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"), _UNWRITTEN
    ),
    **dict.fromkeys(("resize_", "resize_as_"), _UNWRITTEN),
    **{
        f"jiterator_{name}": _GPU_SOURCE
        for name in ("2inputs_2outputs", "4inputs_with_extra_args", "binary", "binary_return_by_ref", "unary")
    },
    "linalg.lstsq.grad_oriented": _WRAPPED,
    "linalg.pinv.singular": _WRAPPED,
    "max_pool2d_with_indices_backward": _WRAPPED,
    "pca_lowrank": _WRAPPED,
    "svd_lowrank": _WRAPPED,
    "to_sparse": "results without strides: the database's samples are dense everywhere else",
}
PRIVATE = "private to torch: users call what is built on it"
_RANDOM = """
    bernoulli cauchy exponential geometric log_normal multinomial nn.functional.alpha_dropout nn.functional.dropout
    nn.functional.dropout2d nn.functional.dropout3d nn.functional.feature_alpha_dropout.with_train
    nn.functional.fractional_max_pool2d nn.functional.fractional_max_pool3d nn.functional.rrelu normal normal.in_place
    normal.number_mean rand_like randint randint_like randn randn_like uniform
"""
#: Operators that draw random numbers: they have cases of their own.
RANDOM = frozenset(_RANDOM.split())
#: Operators that are given no special values: eager itself ends the process on some of them, which of equal numbers
#: comes first is not promised, and what is searched has to be sorted. Which algorithm a library of convolutions or
#: Fourier transforms takes, by layout and alignment, decides whether an infinity meets a zero.
ORDINARY_VALUES = frozenset(
    [
        *("cholesky_inverse", "cholesky_solve", "geqrf", "lu_solve", "lu_unpack", "ormqr", "svd", "triangular_solve"),
        "lcm",
        *("argsort", "msort", "sort", "topk"),
        *("bucketize", "searchsorted"),
        *(f"nn.functional.conv{kind}{dims}d" for kind in ("", "_transpose") for dims in (1, 2, 3)),
        *("istft", "stft"),
    ]
)
#: Operators of which eager on CUDA takes a matrix in columns for its workspace, and overwrites the caller's.
OVERWRITING = frozenset({"linalg.eig", "linalg.eigvals"})
#: Operators whose results are known up to a factor of modulus one alone, to which eager refuses a gradient.
UP_TO_A_PHASE = frozenset({"linalg.eig"})


def takes_special_values(name: str) -> bool:
    """Whether an operator is given NaN and the limits of integers.

    LAPACK's routines and its pivots are not, and a polynomial of degree 2**63 is not computed in a lifetime.
    """
    return not name.startswith("linalg.") and "_polynomial_" not in name and name not in ORDINARY_VALUES


def full_name(info: Any) -> str:
    """An entry's name with its variant, as ``div.floor_rounding``."""
    return f"{info.name}.{info.variant_test_name}" if info.variant_test_name else str(info.name)


def left_out(name: str) -> str:
    """Why an entry has no cases; empty where it has."""
    last = name.removeprefix("ops.aten.").removeprefix("nn.functional.")
    private = (last.startswith("_") and not last.startswith("__")) or name.startswith(("ops.", "native_", "torch.ops."))
    return LEFT_OUT.get(name, PRIVATE if private else "")


def unfit(sample: Sample) -> bool:
    """Whether a sample shows what no promise is about.

    Batch norm writes its statistics past the version counter in eager; with a momentum of zero to the same values.
    """
    return "batch_norm" in sample.operator and sample.kwargs.get("momentum") == 0


def is_difference(sample: Sample) -> bool:
    """Whether a sample is a triplet loss with next to no margin: what is left of two distances has few digits."""
    return "triplet_margin" in sample.operator and 0 <= sample.kwargs.get("margin", 1.0) < 1e-3


def orders_equals(sample: Sample) -> bool:
    """Whether a sample asks for the order in which a sort has equal numbers: only a stable one promises it."""
    if sample.operator not in ("argsort", "sort") or sample.kwargs.get("stable"):
        return False
    numbers, *rest = sample.args
    dims = [one for one in rest if isinstance(one, int) and not isinstance(one, bool)]
    dim = sample.kwargs.get("dim", dims[0] if dims else -1)
    return numbers.dim() > 0 and bool((numbers.sort(dim).values.diff(dim=dim) == 0).any())


def spelled(info: Any) -> str:
    """The dotted name under which a user calls an entry's operator; empty where none is known."""
    import torch

    name = full_name(info)
    if name in SPELLED:
        return SPELLED[name]
    for dotted in (info.name, f"Tensor.{info.name}", f"nn.functional.{info.name}"):
        found: Any = torch
        for part in dotted.split("."):
            found = getattr(found, part, None)
        if found is not None and (found is info.op or found == info.op):
            return f"torch.{dotted}"
    return ""
