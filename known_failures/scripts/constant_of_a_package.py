"""A number that is computed of constants alone is computed again in each call of a frozen package.

Expected: ["mul"], as torch.compile leaves it. Seen: ["full", "mul"].
"""

import torch
import torch._inductor.config as config


class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("factor", torch.tensor(3.0))

    def forward(self, x):
        return x * (self.factor + 1)


def lowered(compile):
    """The operators that are left for inductor."""
    found = []

    def look(graph):
        found[:] = [node.target.__name__.partition(".")[0] for node in graph.nodes if node.op == "call_function"]

    with torch.no_grad(), config.patch(freezing=True, post_grad_custom_post_pass=look):
        compile(Scale().eval(), torch.ones(4))
    return found


expected = lowered(lambda module, x: torch.compile(module)(x))
seen = lowered(lambda module, x: torch._inductor.aoti_compile_and_package(torch.export.export(module, (x,))))
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
