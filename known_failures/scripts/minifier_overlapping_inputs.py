"""After Dynamo, the checks clone each input by itself, so that a fault that needs inputs of one storage is hidden.

Expected: True, a launcher is written when the program fails. Seen: False; the check passes, and then the program fails.
"""

import pathlib
import tempfile

import torch
import torch._dynamo.config
from torch._dynamo.backends.registry import register_backend


@register_backend
def separate_inputs_only(graph_module, example_inputs):
    class Refusing(torch.nn.Module):
        def forward(self, x, y):
            if x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr():
                raise RuntimeError("inputs in one storage")
            return graph_module(x, y)

    return Refusing()


with tempfile.TemporaryDirectory() as folder:
    torch._dynamo.config.debug_dir_root = folder
    torch._dynamo.config.repro_after = "dynamo"
    x = torch.arange(4.0)
    try:
        torch.compile(lambda x, y: x + y, backend="separate_inputs_only")(x[:3], x[1:])
    except Exception as error:
        print(repr(error)[:100])
    seen = bool(list(pathlib.Path(folder).glob("*/minifier/minifier_launcher.py")))
print("expected: True seen:", seen)
raise SystemExit(not seen)
