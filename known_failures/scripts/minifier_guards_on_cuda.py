"""On CUDA, a program that is compiled under `repro_after = "dynamo"` at level 4 ends with an IndexError in its guards.

The accuracy check runs inductor's compiled program while Dynamo still traces. Expected: a sum. Seen:
InternalTorchDynamoError: IndexError: list index out of range, since a guard is on a symbol without a source.
"""

import tempfile

import torch
import torch._dynamo.config

if not torch.cuda.is_available():
    print("needs a CUDA device")
    raise SystemExit(2)
with tempfile.TemporaryDirectory() as folder:
    torch._dynamo.config.debug_dir_root = folder
    torch._dynamo.config.repro_after = "dynamo"
    torch._dynamo.config.repro_level = 4
    x = torch.randn(20, 20, device="cuda")
    try:
        seen = torch.compile(lambda x: torch.cos(torch.relu(torch.sin(x))), backend="inductor")(x).sum().item()
    except RuntimeError as error:
        if "IndexError" not in str(error):
            raise
        seen = repr(error)[:100]
print("expected: a sum seen:", seen)
raise SystemExit("IndexError" in str(seen))
