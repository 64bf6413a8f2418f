"""Retained gradients and hooks of modules: what the caller finds after backward."""

import pytest
import torch

from conformance import clause, expected, tensors

SEEN = []


def record_output(module, arguments, output):
    SEEN.append(output.detach().clone())


def add_one(module, arguments):
    return (arguments[0] + 1,)


def double_output(module, arguments, output):
    return output * 2


def record_gradients(module, incoming, outgoing):
    SEEN.append(outgoing[0].clone())


def record_accumulated(parameter):
    SEEN.append(parameter.grad.clone())


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.arange(3.0))

    def forward(self, x):
        return x * self.weight


class Hooked(torch.nn.Module):
    """The hooks are on the layer inside, since those of the module that is compiled run outside of the graph."""

    def __init__(self):
        super().__init__()
        self.layer = Layer()

    def forward(self, x):
        return self.layer(x) + 1


class RecordsOutput(Hooked):
    def __init__(self):
        super().__init__()
        self.layer.register_forward_hook(record_output)


class ChangesArguments(Hooked):
    def __init__(self):
        super().__init__()
        self.layer.register_forward_pre_hook(add_one)


class ChangesOutput(Hooked):
    def __init__(self):
        super().__init__()
        self.layer.register_forward_hook(double_output)


class RecordsAccumulated(Hooked):
    def __init__(self):
        super().__init__()
        self.layer.weight.register_post_accumulate_grad_hook(record_accumulated)


def scale(x):
    return x * 3


def with_retained_grad(device):
    x = torch.arange(6.0, device=device).reshape(2, 3).requires_grad_().clone()
    x.retain_grad()
    return [(x,)]


def seen(arguments, output):
    return list(SEEN)


def retain_output(arguments, output):
    """What the caller computes of the output decides its gradient."""
    output.retain_grad()
    (output * output).sum().backward()
    return output.grad


MODULES = [
    pytest.param(RecordsOutput, expected("""aten.mul; aten.clone; aten.add"""), id="records_output"),
    pytest.param(ChangesArguments, expected("""aten.add; aten.mul; aten.add"""), id="changes_arguments"),
    pytest.param(ChangesOutput, expected("""aten.mul; aten.mul; aten.add"""), id="changes_output"),
    pytest.param(RecordsAccumulated, expected("""aten.mul; aten.add"""), id="records_accumulated"),
]


@pytest.mark.parametrize(("module", "operators"), MODULES)
@clause("aot_autograd.hooks.fire")
def test_hooks_of_modules(stack, device, module, operators):
    """Hooks of a module inside the program, and of its parameter, run once in the call and once in its backward."""
    run = stack.run(module, tensors((2, 3), device=device, requires_grad=True), after=seen)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect(operators)


@clause("aot_autograd.hooks.retain_grad")
def test_input_retains_its_gradient(stack, device):
    """An input that is no leaf and retains its gradient has it after backward."""
    run = stack.run(scale, with_retained_grad)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.backward.operators.expect("""aten.mul""")


@clause("aot_autograd.hooks.retain_grad")
def test_output_retains_its_gradient(stack, device):
    """An output that the caller makes retain its gradient has it after backward."""
    inputs = tensors((2, 3), device=device, requires_grad=True)
    run = stack.run(scale, inputs, backward=False, after=retain_output)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect("""aten.mul""")
