"""The after-Dynamo minifier runs the backward of a compiled graph while Dynamo still compiles, which torch 2.9 refuses.

Expected: the launcher ends. Seen on 2.9: RuntimeError: Metric(s) {'is_forward'} have already been set.
"""

import torch
from torch._dynamo.backends.registry import lookup_backend


def backend(graph_module, example_inputs):
    compiled = lookup_backend("aot_eager")(graph_module, example_inputs)
    for _ in range(2):
        compiled(*example_inputs)[0].sum().backward()
    return compiled


try:
    torch.compile(lambda x: torch.sin(x), backend=backend)(torch.ones(3, requires_grad=True))
    print("no error")
except Exception as error:
    print(type(error).__name__, [line for line in str(error).splitlines() if "Metric" in line][:1])
