"""The backward of a branch on a transposed input overwrites the input.

Expected: the input's own values. Seen: other values.
"""

import torch


def branch(x, y):
    return torch.cond(x.sum() > -100, lambda one: one * y, lambda one: one + y, (x.t(),))


def input_afterwards(program):
    x = torch.arange(9.0).reshape(3, 3).requires_grad_()
    y = torch.full((3, 3), 2.0, requires_grad=True)
    result = program(x, y)
    result = result[0] if isinstance(result, tuple) else result
    result.backward(torch.arange(9.0).reshape(3, 3) - 4)
    return x.detach().tolist()


expected = input_afterwards(branch)
torch._dynamo.reset()
seen = input_afterwards(torch.compile(branch))
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
