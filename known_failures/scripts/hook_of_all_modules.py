"""A hook of all modules that is registered after the first call does not run, even where hooks are guarded.

Expected: [1.0, 2.0]. Seen: [1.0, 1.0].
"""

import torch
import torch._dynamo
from torch.nn.modules.module import register_module_forward_hook

module, seen = torch.nn.Identity(), []
with torch._dynamo.config.patch(skip_nnmodule_hook_guards=False):
    compiled = torch.compile(lambda x: module(x) * 1, backend="eager")
    seen.append(compiled(torch.ones(1)).item())
    handle = register_module_forward_hook(lambda module, arguments, output: output * 2)
    seen.append(compiled(torch.ones(1)).item())
    handle.remove()
expected = [1.0, 2.0]
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
