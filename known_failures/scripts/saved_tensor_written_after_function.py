"""What an autograd.Function saved for its backward is written to after it, which eager's backward refuses.

Expected: an error about a modified tensor twice. Seen: the error, then [1.0, 2.0, 3.0], which is wrong: the
gradient for what was saved is [0.0, 1.0, 2.0].
"""

import torch


class HalfSquare(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x / 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.saved_tensors[0]


def backward_of(compiled):
    x = torch.arange(3.0, requires_grad=True)
    try:
        compiled(x * 1).sum().backward()
    except RuntimeError as error:
        return str(error)[:70]
    return x.grad.tolist()


def apply_then_write(x):
    y = HalfSquare.apply(x)
    x.add_(1)
    return y


expected = backward_of(apply_then_write)
seen = backward_of(torch.compile(apply_then_write, backend="eager"))
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
