"""A custom operator tagged needs_fixed_stride_order gets a frozen convolution's output in channels_last order.

Expected: [0, 1, 2, 3]. Seen: [0, 2, 3, 1].
"""

import torch
import torch._inductor.config


def order_of(x: torch.Tensor) -> torch.Tensor:
    return torch.tensor(sorted(range(x.dim()), key=lambda dim: -x.stride(dim)))


order = torch.library.custom_op("report::order", order_of, mutates_args=(), tags=(torch.Tag.needs_fixed_stride_order,))
order.register_fake(lambda x: torch.empty(x.dim(), dtype=torch.int64))
conv = torch.nn.Conv2d(4, 8, 3, padding=1).eval()


def program(x):
    return order(conv(x))


with torch.no_grad(), torch._inductor.config.patch(freezing=True):
    x = torch.randn(2, 4, 5, 6)
    expected, seen = program(x).tolist(), torch.compile(program)(x).tolist()
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
