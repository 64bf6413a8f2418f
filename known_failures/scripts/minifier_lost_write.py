"""After Dynamo at level 4, a backend that does not write to an input is not reported where its outputs are right.

Expected: AccuracyError. Seen: [0.0], the input as it was.
"""

import tempfile

import torch
import torch._dynamo.config
from torch._dynamo.backends.registry import register_backend


@register_backend
def write_lost(graph_module, example_inputs):
    class OfACopy(torch.nn.Module):
        def forward(self, x):
            return graph_module(x.clone())

    return OfACopy()


with tempfile.TemporaryDirectory() as folder:
    torch._dynamo.config.debug_dir_root = folder
    torch._dynamo.config.repro_after = "dynamo"
    torch._dynamo.config.repro_level = 4
    x = torch.tensor([0.0])
    try:
        torch.compile(lambda x: x.add_(1) * 2, backend="write_lost")(x)
        seen = x.tolist()
    except Exception as error:
        seen = type(getattr(error, "inner_exception", error)).__name__
print("expected: AccuracyError seen:", seen)
raise SystemExit(seen == [0.0])
