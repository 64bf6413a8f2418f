"""What the pullback of a custom autograd function gives requires no grad, though the gradient pulled back does.

Expected: True, and a gradient of y. Seen on torch 2.15.0 with `aot_eager` and with the graph of Dynamo alone: False.
"""

import torch


class Square(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 9


def program(x, y):
    _, pull = torch.func.vjp(Square.apply, x)
    return pull(y)[0]


x, y = torch.ones(3), torch.ones(3, requires_grad=True)
expected = program(x, y).requires_grad
seen = torch.compile(program, backend="aot_eager")(x, y).requires_grad
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
