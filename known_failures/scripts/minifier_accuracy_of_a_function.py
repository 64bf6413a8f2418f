"""After Dynamo at level 4, no accuracy error of a backend that returns a plain function is noticed.

The accuracy check asks what the backend returned for `named_parameters`, which a function does not have, and takes the
exception that follows for a pass. Expected: AccuracyError. Seen: [1.0, 3.0], the wrong result.
"""

import tempfile

import torch
import torch._dynamo.config
from torch._dynamo.backends.registry import register_backend


@register_backend
def relu_plus_one_by_hand(graph_module, example_inputs):
    return lambda x: (torch.relu(x) + 1,)


with tempfile.TemporaryDirectory() as folder:
    torch._dynamo.config.debug_dir_root = folder
    torch._dynamo.config.repro_after = "dynamo"
    torch._dynamo.config.repro_level = 4
    x = torch.tensor([-1.0, 2.0])
    try:
        seen = torch.compile(lambda x: torch.relu(x), backend="relu_plus_one_by_hand")(x).tolist()
    except Exception as error:
        seen = type(getattr(error, "inner_exception", error)).__name__
print("expected: AccuracyError seen:", seen)
raise SystemExit(seen == [1.0, 3.0])
