"""What an exception says, in one wording for every release and device."""

from __future__ import annotations

import pytest

from conformance.canonical.exceptions import canonical_message

CHANGED = "one of the variables needed: [torch.{}FloatTensor [3]], which is output 0 of {}"


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        (CHANGED.format("cuda.", "MulBackward0"), CHANGED.format("", "Mul")),
        (CHANGED.format("", "Mul"), CHANGED.format("", "Mul")),
        ("The differentiated Tensor at index 2 appears unused", "One of the differentiated Tensors appears unused"),
        ("with set_detect_anomaly(True, check_nan=False).", "with set_detect_anomaly(True)."),
        ("a Backward pass of torch.nn.Module", "a Backward pass of torch.nn.Module"),
    ],
)
def test_message_is_canonical(text: str, canonical: str) -> None:
    """Neither the device of a tensor nor the number of a node is part of the text."""
    assert canonical_message(text) == canonical
