"""Attention decomposed as torch's core decompositions have it lays its result out otherwise than eager.

Expected: (30, 30, 6, 1). Seen: (6, 6, 12, 1).
"""

import torch
from torch._decomp import core_aten_decompositions
from torch._dynamo.backends.common import aot_autograd


def attend(x):
    return torch.nn.functional.scaled_dot_product_attention(x, x, x)


def nothing(graph, inputs):
    return graph


backend = aot_autograd(fw_compiler=nothing, decompositions=core_aten_decompositions())
image = torch.arange(60.0).reshape(2, 1, 5, 6).contiguous(memory_format=torch.channels_last)
expected = attend(image).stride()
seen = torch.compile(attend, backend=backend)(image).stride()
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
