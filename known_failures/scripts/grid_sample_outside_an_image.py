"""A point outside of an image, which is zero in eager and the first pixel times zero when it is decomposed.

Expected: 0.0. Seen: nan, as the first pixel is infinite.
"""

import torch


def sample(image, points):
    return torch.nn.functional.grid_sample(image, points, align_corners=False)


image = torch.ones(1, 1, 2, 2)
image[0, 0, 0, 0] = float("inf")
points = torch.full((1, 1, 1, 2), 5.0)
expected = sample(image, points).item()
seen = torch.compile(sample, backend="aot_eager_decomp_partition")(image, points).item()
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
