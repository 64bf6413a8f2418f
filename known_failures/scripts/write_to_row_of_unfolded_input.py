"""A write to one row of an input that requires grad and whose rows share elements is not seen in the other row.

Expected: [[3.0, 4.0, 5.0], [4.0, 5.0, 3.0]]. Seen: [[3.0, 4.0, 5.0], [1.0, 2.0, 3.0]].
"""

import torch


def write_to_row(x):
    x[0].add_(3)
    return x + 0


def result(program):
    buffer = torch.arange(4.0).requires_grad_() * 1
    return program(buffer.unfold(0, 3, 1)).tolist()


expected, seen = result(write_to_row), result(torch.compile(write_to_row, backend="aot_eager"))
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
