"""AOTInductor: an exported program whose compiled form fails is minified to an exported repro."""

import pytest
import torch

from conformance import clause, needs

# Frozen, the product and relu are one call of oneDNN, and no code of relu's own is there to be at fault.
NOT_FROZEN = {"inductor.freezing": False}


class LinearReluSigmoid(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = torch.nn.Linear(10, 16)

    def forward(self, x):
        return torch.sigmoid(torch.relu(self.fc1(x)))


class BiasByKeyword(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(16, 10))

    def forward(self, inputs, *, bias):
        return torch.sigmoid(torch.relu(torch.nn.functional.linear(inputs["x"], self.weight, bias)))


def rows(device):
    return [(torch.randn(8, 10, device=device),)]


def rows_in_a_dict(device):
    return [({"x": torch.randn(8, 10, device=device)},)]


def bias(device):
    return {"bias": torch.randn(16, device=device)}


@pytest.mark.parametrize("fault", ["compile_error", "accuracy"])
@needs("minifier_aot_inductor")
@clause("minifier.aot_inductor.reproduces")
def test_exported_program(stack, device, fault):
    """The repro is an exported program of the operator at fault alone."""
    run = stack.minify(
        LinearReluSigmoid, rows, device=device, after="aot_inductor", fault=f"relu.{fault}", config=NOT_FROZEN
    )

    run.assert_minified()
    run.repro.expect("""\
in0: f32[8, 16]
relu: f32[8, 16] = aten.relu(in0)
return (relu,)
""")


@needs("minifier_aot_inductor")
@clause("minifier.aot_inductor.nested_inputs")
def test_nested_and_keyword_inputs(stack, device):
    """Inputs in a dict and by keyword do not keep the exported program from being minified."""
    run = stack.minify(
        BiasByKeyword,
        rows_in_a_dict,
        keywords=bias,
        device=device,
        after="aot_inductor",
        fault="relu.accuracy",
        config=NOT_FROZEN,
    )

    run.assert_minified()
    run.repro.expect("""\
in0: f32[8, 16]
relu: f32[8, 16] = aten.relu(in0)
return (relu,)
""")
