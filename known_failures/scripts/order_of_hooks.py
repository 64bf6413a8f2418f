"""The order of a module's hooks is not guarded, even where hooks are.

Expected: 3.0, then 4.0. Seen: 3.0 twice.
"""

import torch
import torch._dynamo


def double(module, arguments, output):
    return output * 2


def add(module, arguments, output):
    return output + 1


module, seen = torch.nn.Identity(), []
with torch._dynamo.config.patch(skip_nnmodule_hook_guards=False):
    compiled = torch.compile(lambda x: module(x) * 1, backend="eager")
    for first in (False, True):
        module._forward_hooks.clear()
        module.register_forward_hook(double)
        module.register_forward_hook(add, prepend=first)
        seen.append(compiled(torch.ones(1)).item())
expected = [3.0, 4.0]
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
