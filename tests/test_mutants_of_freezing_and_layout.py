"""Wrong folding and wrong strides are caught: each by a case of the clause that it breaks, which its base passes."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
import torch

from conformance.mutants import all_mutants
from conformance.run.bound_stack import BoundStack
from conformance.run.texts import ConformanceFailure
from conformance.stacks import resolve

CASES = Path(__file__).parent.parent / "cases"
IN_FLOAT = {"bias": True, "dtype": torch.float32}
KILLS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "eps_times_fifty": (
        "freezing/test_kinds_of_batch_norm.py",
        "test_result_of_every_norm",
        {"norm": "variance_as_eps"},
    ),
    "norm_bias_dropped": ("freezing/test_conv_batch_norm.py", "test_result", IN_FLOAT),
    "conv_bias_dropped": (
        "freezing/test_kinds_of_convolution.py",
        "test_result_of_every_kind",
        {"kind": "2d", "dtype": torch.float32},
    ),
    "statistics_of_the_batch": (
        "freezing/test_training_norms.py",
        "test_evaluated_norm_keeps_statistics",
        {"momentum": "large"},
    ),
    "random_numbers_folded": ("freezing/test_not_constant.py", "test_random_numbers_follow_the_seed", {}),
    "mutated_tensors_folded": ("freezing/test_mutated_parameter.py", "test_mutated_buffer_keeps_its_state", {}),
    "factors_dropped": (
        "freezing/test_constants_after_convolution.py",
        "test_constant_with_a_factor_or_first",
        {},
    ),
    "gradients_restrided": (
        "layout/test_strides_of_gradients.py",
        "test_batched_product",
        {"left": "contiguous", "right": "contiguous"},
    ),
    "strides_of_first_size": ("layout/test_layout_decisions.py", "test_second_size", {"program": "Convolved"}),
    "operators_handed_contiguous_tensors": (
        "layout/test_custom_operators.py",
        "test_exact_strides",
        {"making": "channels_last"},
    ),
    "images_made_contiguous": (
        "layout/test_strides_of_images.py",
        "test_convolution",
        {"layout": "channels_last"},
    ),
}


def _case(file: str, name: str, parameters: dict[str, Any]) -> Any:
    spec = importlib.util.spec_from_file_location(f"mutants_{Path(file).stem}", CASES / file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function = getattr(module, name)
    parameters = {**parameters, **_text(function, list(parameters.values()))}
    if isinstance(parameters.get("program"), str):
        parameters["program"] = getattr(module, parameters["program"])
    return lambda stack: function(stack, "cpu", **parameters)


def _text(case: Any, chosen: list[Any]) -> dict[str, Any]:
    """The text in the row that is chosen of a case's table; nothing where the case has no such table."""
    tables = [mark.args[1] for mark in getattr(case, "pytestmark", ()) if mark.args and mark.args[0][-1] == "text"]
    texts = [row.values[-1] for rows in tables for row in rows if row.id in chosen]
    return {"text": texts[0]} if texts else {}


@pytest.mark.parametrize("name", KILLS)
def test_a_wrong_fold_or_stride_is_caught(name: str) -> None:
    """The case passes on the base and finds a discrepancy on the mutant."""
    mutant = all_mutants()[name]
    case = _case(*KILLS[name])

    area = KILLS[name][0].partition("/")[0]
    case(BoundStack(resolve(mutant.base), "cpu", area))
    with pytest.raises(ConformanceFailure) as failure:
        case(BoundStack(mutant, "cpu", area))

    assert failure.value.phase in ("call", "follow_up")
    assert failure.value.discrepancies
