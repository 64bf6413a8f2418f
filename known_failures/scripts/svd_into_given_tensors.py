"""Needs CUDA: whether a matrix is what its singular vectors and values in the tensors that were given make.

Expected: True. Seen with `aot_eager`: False, as the third tensor holds the left singular vectors too.
"""

import torch

if not torch.cuda.is_available():
    print("needs a CUDA device")
    raise SystemExit(2)


def decomposed(matrix, left, values, right):
    return torch.svd(matrix, out=(left, values, right))


def is_matrix(program):
    matrix = torch.tensor([[-0.83, -0.08, 0.52], [0.4, -0.84, -0.85], [-0.74, 0.22, -1.05]], device="cuda")
    given = [torch.zeros(shape, device="cuda") for shape in ((3, 3), (3,), (3, 3))]
    program(matrix, *given)
    return torch.allclose(given[0] @ torch.diag(given[1]) @ given[2].T, matrix, atol=1e-4)


expected, seen = is_matrix(decomposed), is_matrix(torch.compile(decomposed, backend="aot_eager"))
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
