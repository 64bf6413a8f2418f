"""The module that the minifier writes down: submodules, parameters and buffers, each where it was."""

import torch

from conformance import clause, needs


class TwoPlaces(torch.nn.Module):
    def __init__(self, device):
        super().__init__()
        self.lin_here = torch.nn.Linear(20, 20)
        self.lin_there = torch.nn.Linear(20, 20, device=device)
        self.weight_here = torch.nn.Parameter(torch.randn(20, 20))
        self.weight_there = torch.nn.Parameter(torch.randn(20, 20, device=device))
        self.register_buffer("state_here", torch.randn(20, 20))
        self.register_buffer("state_there", torch.randn(20, 20, device=device))

    def forward(self, x, y):
        x = self.lin_here(x) @ self.weight_here + self.state_here
        y = self.lin_there(y) @ self.weight_there + self.state_there
        return torch.relu(x.to(y.device) + y)


def one_matrix_each(device):
    return [(torch.randn(20, 20), torch.randn(20, 20, device=device))]


@needs("minifier")
@clause("minifier.after_dynamo.generated_module")
def test_module_on_two_devices(stack, device):
    """A module with parts on the CPU and on the device is written down whole and minified."""
    run = stack.minify(TwoPlaces, one_matrix_each, device=device, backend="relu_compile_error_TESTING_ONLY")

    run.assert_minified()
    run.module.expect("""\
in0: f32[20, 20]
in1: f32[20]
in2: f32[20, 20]
in3: f32[20, 20]
in4: f32[20, 20]
in5: f32[20, 20]
in6: f32[20]
in7: f32[20, 20]
in8: f32[20, 20]
in9: f32[20, 20]
linear: f32[20, 20] = linear(in2, in0, in1)
matmul: f32[20, 20] = matmul(linear, in3)
add: f32[20, 20] = add(matmul, in4)
linear_1: f32[20, 20] = linear(in7, in5, in6)
matmul_1: f32[20, 20] = matmul(linear_1, in8)
add_1: f32[20, 20] = add(matmul_1, in9)
to: f32[20, 20] = add.to(device)
add_2: f32[20, 20] = add(to, add_1)
relu: f32[20, 20] = relu(add_2)
return (relu,)
""")
    run.repro.expect("""\
in0: f32[20, 20]
relu: f32[20, 20] = relu(in0)
return (relu,)
""")
