"""After Dynamo at level 4, no accuracy error of a backend built on AOTAutograd is noticed.

`aot_module_simplified` returns a function that takes its arguments one by one, with `_boxed_call` set on it; the
accuracy check believes the attribute, calls it with one list, and takes the exception that follows for a pass.
Expected: AccuracyError. Seen: [0.0, 3.0], the wrong result.
"""

import tempfile

import torch
import torch._dynamo.config
from torch._dynamo.backends.registry import lookup_backend, register_backend


@register_backend
def relu_plus_one(graph_module, example_inputs):
    for node in graph_module.graph.nodes:
        if node.target is torch.relu:
            node.target, node.args = torch.add, (node.args[0], 1)
    graph_module.recompile()
    return lookup_backend("aot_eager")(graph_module, example_inputs)


with tempfile.TemporaryDirectory() as folder:
    torch._dynamo.config.debug_dir_root = folder
    torch._dynamo.config.repro_after = "dynamo"
    torch._dynamo.config.repro_level = 4
    x = torch.tensor([-1.0, 2.0])
    try:
        seen = torch.compile(lambda x: torch.relu(x), backend="relu_plus_one")(x).tolist()
    except Exception as error:
        seen = type(getattr(error, "inner_exception", error)).__name__
print("expected: AccuracyError seen:", seen)
raise SystemExit(seen == [0.0, 3.0])
