"""After Dynamo, the minifier takes a failure for the one that it follows if half of the two messages are alike.

Expected: False, another operator fails. Seen: True, so that the graph without the first fault is kept as the repro.
"""

import torch
from torch._dynamo.repro.after_dynamo import backend_fails


def without_cosine(graph_module, example_inputs):
    raise NotImplementedError("a graph without cos does not compile")


graph = torch.fx.symbolic_trace(torch.nn.Identity())
expected, seen = False, backend_fails(graph, [torch.ones(2)], without_cosine, "relu does not compile")
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
