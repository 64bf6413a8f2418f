"""The weight of a float64 convolution is packed for oneDNN, which has no float64, when the module is frozen.

Expected: (2, 128, 5, 5). Seen: RuntimeError or InductorError, itensor_view_from_dense expects other dtypes.
"""

import torch
import torch._inductor.config as config

conv = torch.nn.Conv2d(3, 128, 3, padding=1, bias=False).double().eval()
x = torch.randn(2, 3, 5, 5).double()
with torch.no_grad(), config.patch(freezing=True):
    expected = tuple(conv(x).shape)
    try:
        seen = tuple(torch.compile(conv)(x).shape)
    except Exception as error:
        seen = f"{type(error).__name__}: {error}".splitlines()[0]
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
