"""A tensor is needed for backward and written to before it: eager refuses the backward, the stack computes one.

Expected: an error about a modified tensor. Seen: no error.
"""

import torch


def count(x, weight, counter):
    counter += 1
    return x * weight * counter


def backward_of_two_calls(run):
    torch._dynamo.reset()
    weight, counter = torch.arange(3.0, requires_grad=True), torch.zeros((), dtype=torch.int64)
    outputs = [run(torch.ones(4, 3, requires_grad=True), weight, counter) for _ in range(2)]
    try:
        sum(output.sum() for output in outputs).backward()
    except RuntimeError as error:
        return str(error)[:70]
    return "no error"


expected = backward_of_two_calls(count)
seen = backward_of_two_calls(torch.compile(count, backend="aot_eager_decomp_partition"))
print("expected:", expected, "seen:", seen)
raise SystemExit(seen == "no error")
