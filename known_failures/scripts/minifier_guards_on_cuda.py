"""On CUDA, a program that is compiled under `repro_after = "dynamo"` at level 4 ends with an IndexError in its guards.

The accuracy check runs inductor's compiled program while Dynamo still traces. Expected: the sum. Seen:
InternalTorchDynamoError: IndexError: list index out of range, since a guard is on a symbol without a source.
"""

import tempfile

import torch
import torch._dynamo.config

with tempfile.TemporaryDirectory() as folder:
    torch._dynamo.config.debug_dir_root = folder
    torch._dynamo.config.repro_after = "dynamo"
    torch._dynamo.config.repro_level = 4
    x = torch.randn(20, 20, device="cuda")
    print(torch.compile(lambda x: torch.cos(torch.relu(torch.sin(x))), backend="inductor")(x).sum())
