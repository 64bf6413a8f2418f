"""Saved tensors: what is written to between forward and backward is found out, as in eager, or does no harm."""

import pytest
import torch

from conformance import clause, expected, needs, tensors


def multiply(x, y):
    return x * y


def sine_and_sum(x, y):
    return x.sin() + y


def exponential(x, y):
    return (x + y).exp()


def multiply_matrices(x, y):
    return x @ y


def shift(x, y):
    return x.view(-1)[1:] * y.view(-1)[:-1]


def backward(arguments, outputs):
    return torch.autograd.grad(outputs, arguments, torch.ones_like(outputs))


def input_written(arguments, outputs):
    with torch.no_grad():
        arguments[0].add_(1)
    return backward(arguments, outputs)


def other_input_written(arguments, outputs):
    with torch.no_grad():
        arguments[1].copy_(arguments[0])
    return backward(arguments, outputs)


def row_written(arguments, outputs):
    with torch.no_grad():
        arguments[0][0].zero_()
    return backward(arguments, outputs)


def detached_written(arguments, outputs):
    arguments[0].detach().mul_(2)
    return backward(arguments, outputs)


def data_written(arguments, outputs):
    arguments[0].data.mul_(2)
    return backward(arguments, outputs)


def output_written(arguments, outputs):
    outputs.mul_(2)
    return backward(arguments, outputs)


def written_and_restored(arguments, outputs):
    with torch.no_grad():
        arguments[0].add_(1).sub_(1)
    return backward(arguments, outputs)


def double_in_place(x, product):
    x.mul_(2)
    return x + 1


def saved_outside(device):
    """A product of two tensors, made in eager, and one of the two, which it saved for its backward."""
    weight = torch.arange(3.0, device=device, requires_grad=True)
    x = torch.arange(3.0, device=device) + 1
    return [(x, weight * x)]


def backward_outside(arguments, outputs):
    arguments[1].sum().backward()


@pytest.mark.parametrize(
    ("program", "after", "message"),
    [
        pytest.param(multiply, input_written, expected("""\
RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation:
[torch.FloatTensor [3, 3]] is at version 1; expected version 0 instead. Hint: enable anomaly detection to find
the operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True).
"""), id="mul-input"),
        pytest.param(multiply, other_input_written, expected("""\
RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation:
[torch.FloatTensor [3, 3]] is at version 1; expected version 0 instead. Hint: enable anomaly detection to find
the operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True).
"""), id="mul-other-input"),
        pytest.param(multiply, row_written, expected("""\
RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation:
[torch.FloatTensor [3, 3]] is at version 1; expected version 0 instead. Hint: enable anomaly detection to find
the operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True).
"""), id="mul-row"),
        pytest.param(multiply, detached_written, expected("""\
RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation:
[torch.FloatTensor [3, 3]] is at version 1; expected version 0 instead. Hint: enable anomaly detection to find
the operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True).
"""), id="mul-detached"),
        pytest.param(multiply, data_written, expected("""(nothing raised)"""), id="mul-data"),
        pytest.param(multiply, written_and_restored, expected("""\
RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation:
[torch.FloatTensor [3, 3]] is at version 2; expected version 0 instead. Hint: enable anomaly detection to find
the operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True).
"""), id="mul-restored"),
        pytest.param(multiply, output_written, expected("""(nothing raised)"""), id="mul-output"),
        pytest.param(sine_and_sum, input_written, expected("""\
RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation:
[torch.FloatTensor [3, 3]] is at version 1; expected version 0 instead. Hint: enable anomaly detection to find
the operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True).
"""), id="sin-input"),
        pytest.param(sine_and_sum, other_input_written, expected("""(nothing raised)"""), id="sin-other-input"),
        pytest.param(exponential, input_written, expected("""(nothing raised)"""), id="exp-input"),
        pytest.param(exponential, output_written, expected("""\
RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation:
[torch.FloatTensor [3, 3]], which is output 0 of Exp, is at version 1; expected version 0 instead. Hint:
enable anomaly detection to find the operation that failed to compute its gradient, with
torch.autograd.set_detect_anomaly(True).
"""), id="exp-output"),
        pytest.param(multiply_matrices, row_written, expected("""\
RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation:
[torch.FloatTensor [3, 3]] is at version 1; expected version 0 instead. Hint: enable anomaly detection to find
the operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True).
"""), id="matmul-row"),
        pytest.param(shift, other_input_written, expected("""\
RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation:
[torch.FloatTensor [8]], which is output 0 of AsStrided, is at version 1; expected version 0 instead. Hint:
enable anomaly detection to find the operation that failed to compute its gradient, with
torch.autograd.set_detect_anomaly(True).
"""), id="views-other-input"),
    ],
)  # fmt: skip
@needs("training")
@clause("aot_autograd.saved_tensors.modified")
def test_write_before_backward(stack, device, program, after, message):
    """A write between forward and backward raises in backward exactly where it does in eager."""
    inputs = tensors((3, 3), (3, 3), device=device, requires_grad=True)
    run = stack.run(program, inputs, after=after, backward=False)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.eager_error.expect(message)


@needs("input_mutation")
@clause("aot_autograd.saved_tensors.version_counter")
def test_write_inside_is_seen_outside(stack, device):
    """A write inside the compiled program to a tensor that an eager graph saved raises in that graph's backward."""
    run = stack.run(double_in_place, saved_outside, after=backward_outside, backward=False)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect("""\
in0: f32[3]
mul: f32[3] = aten.mul(in0, 2)
add: f32[3] = aten.add(mul, 1)
copy_(in0, mul)
return (add,)
""")
    run.eager_error.expect("""\
RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation:
[torch.FloatTensor [3]] is at version 1; expected version 0 instead. Hint: enable anomaly detection to find
the operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True).
""")
