"""A matrix product and what is added to it become one addmm, which loses the factor of the sum.

Expected: 3 times the second operand is added. Seen: it is added once.
"""

import torch


def program(x, y, z):
    return torch.add(x @ y, z, alpha=3)


x, y, z = torch.eye(2), torch.eye(2), torch.ones(2, 2)
expected, seen = program(x, y, z), torch.compile(program, backend="inductor")(x, y, z)
print("expected:", expected.tolist(), "seen:", seen.tolist())
raise SystemExit(not torch.equal(seen, expected))
