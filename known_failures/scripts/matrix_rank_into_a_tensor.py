"""The rank of a matrix into a tensor that the caller gives.

Expected: 3 in the tensor. Seen with `aot_eager`: what it held before.
"""

import torch


def rank(matrix, given):
    torch.linalg.matrix_rank(matrix, out=given)


def written(function):
    given = torch.zeros((), dtype=torch.int64)
    function(torch.eye(3), given)
    return int(given)


expected, seen = written(rank), written(torch.compile(rank, backend="aot_eager"))
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
