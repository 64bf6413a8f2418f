"""After Dynamo at level 2, the default, a right backend is reported: what AOTAutograd returns is called wrongly.

The check runs what the backend returned with one list instead of the arguments, since it carries `_boxed_call`.
Expected: [2.0]. Seen: an exception of an operator that got a list, and a launcher.
"""

import tempfile

import torch
import torch._dynamo.config

with tempfile.TemporaryDirectory() as folder:
    torch._dynamo.config.debug_dir_root = folder
    torch._dynamo.config.repro_after = "dynamo"
    x = torch.tensor([1.0])
    try:
        seen = torch.compile(lambda x: x + 1, backend="aot_eager")(x).tolist()
    except Exception as error:
        seen = type(getattr(error, "inner_exception", error)).__name__
print("expected: [2.0] seen:", seen)
raise SystemExit(seen != [2.0])
