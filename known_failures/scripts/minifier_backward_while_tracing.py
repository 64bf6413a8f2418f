"""The minifier runs a candidate's backward while Dynamo traces: a metric is set twice, and the launcher ends.

Expected: ok. Seen on torch 2.9.1: RuntimeError: Metric(s) {'is_forward'} have already been set in the current context.
Where the candidate is called in a way that it refuses, it never comes to its backward.
"""

import torch
from torch._dynamo.backends.registry import lookup_backend, register_backend
from torch._dynamo.repro.after_dynamo import backend_fails


@register_backend
def asks_as_the_launcher(graph_module, example_inputs):
    backend_fails(graph_module, example_inputs, lookup_backend("aot_eager"), "another message")
    return graph_module.forward


x = torch.ones(2, 3, requires_grad=True)
try:
    torch.compile(lambda x: x * 2, backend="asks_as_the_launcher")(x)
    seen = "ok"
except Exception as error:
    seen = str(getattr(error, "inner_exception", error)).strip().rpartition("\n")[2]
print("expected: ok seen:", seen)
raise SystemExit("already been set" in seen)
