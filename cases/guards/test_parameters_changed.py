"""Parameters and buffers of a module: replaced, frozen and tied between calls."""

import pytest
import torch

from conformance import call, clause, expected, needs


class Net(torch.nn.Module):
    """Two scalings, of which the second may be tied to the first, and what drops everything in training."""

    def __init__(self):
        super().__init__()
        self.first, self.second = Scale(2.0), Scale(3.0)
        self.drop = Drop()
        self.register_buffer("shift", torch.ones(3))

    def forward(self, x):
        return self.drop(self.second(self.first(x)) + self.shift)


class Drop(torch.nn.Module):
    def forward(self, x):
        return x * 0 if self.training else x


class Scale(torch.nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.full((3,), factor))

    def forward(self, x):
        return x * self.weight


def like(net, *shape):
    return torch.full(shape, 5.0, device=net.shift.device)


def usual_weight(net):
    net.eval()
    net.first.weight = torch.nn.Parameter(like(net, 3))


def other_shape(net):
    net.first.weight = torch.nn.Parameter(like(net, 2, 1))


def other_dtype(net):
    net.first.weight = torch.nn.Parameter(like(net, 3).double())


def usual_buffer(net):
    net.eval()
    net.shift = like(net, 3)


def other_buffer(net):
    net.shift = like(net, 2, 1)


def whole_to_double(net):
    net.double()


def whole_to_float(net):
    net.eval().float()


def all_require_grad(net):
    net.eval().requires_grad_(True)


def none_requires_grad(net):
    net.requires_grad_(False)


def first_requires_none(net):
    net.first.weight.requires_grad_(False)


def untied(net):
    net.eval()
    net.second.weight = torch.nn.Parameter(like(net, 3))


def tied(net):
    net.eval()
    net.second.weight = net.first.weight


def alternating(first, second):
    def calls(device):
        x = torch.arange(3.0, device=device, requires_grad=True)
        return [call(x, before=step) for step in (first, second, first)]

    return calls


def changes(*rows):
    return pytest.mark.parametrize(("module", "first", "second", "reason"), rows)


TENSORS = changes(
    pytest.param(
        Net,
        usual_weight,
        other_shape,
        expected(
            """\
rank of self.first.weight: expected 1, actual 2. Guard failed on a parameter, consider using
torch._dynamo.config.force_parameter_static_shapes = False to allow dynamism on parameters
"""
        ),
        id="shape_of_parameter",
    ),
    pytest.param(
        Net,
        usual_weight,
        other_dtype,
        expected(
            """\
dtype of self.first.weight: expected f32, actual Double. Guard failed on a parameter, consider using
torch._dynamo.config.force_parameter_static_shapes = False to allow dynamism on parameters
"""
        ),
        id="dtype_of_parameter",
    ),
    pytest.param(
        Net, usual_buffer, other_buffer, expected("""rank of self.shift: expected 1, actual 2"""), id="shape_of_buffer"
    ),
    pytest.param(
        Net,
        whole_to_float,
        whole_to_double,
        expected("""dtype of self.shift: expected f32, actual f64"""),
        id="dtype_of_module",
    ),
)
GRADIENTS = changes(
    pytest.param(
        Net,
        all_require_grad,
        none_requires_grad,
        expected("""requires_grad of self.first.weight: expected True, actual False"""),
        id="module",
    ),
    pytest.param(
        Net,
        all_require_grad,
        first_requires_none,
        expected("""requires_grad of self.first.weight: expected True, actual False"""),
        id="parameter",
    ),
)
TIES = pytest.mark.parametrize(
    ("first", "second", "recompiles"),
    [pytest.param(untied, tied, 0, id="tied"), pytest.param(tied, untied, 1, id="untied")],
)


@TENSORS
@needs("recompiles", "module_state")
@clause("guards.modules.tensors_replaced")
def test_replaced_tensor(stack, device, module, first, second, reason):
    """A call after a parameter or buffer was replaced compiles once more and computes with the new one."""
    run = stack.run(module, alternating(first, second))

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect(reason)


@GRADIENTS
@needs("recompiles", "module_state", "training")
@clause("guards.modules.gradients")
def test_requires_grad(stack, device, module, first, second, reason):
    """A call after requires_grad_ compiles once more and gives gradients to those that require one."""
    run = stack.run(module, alternating(first, second))

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect(reason)


@TIES
@needs("recompiles", "module_state", "training")
@clause("guards.modules.tied")
def test_tied_weights(stack, device, first, second, recompiles):
    """A call after weights were tied or untied is right, and so is its backward; what serves two serves one as well."""
    run = stack.run(Net, alternating(first, second))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1 + recompiles, recompiles=recompiles)
    run.dynamo[:1].operators.expect("""\
mul
mul
add
""")
