"""A class gets another `__call__` and then one that is equal to its first: the first graph is thrown away.

Expected: 2 graphs. Seen on torch 2.9.1: 3 graphs.
"""

import torch
import torch._dynamo.testing

CHOICES = {"double": lambda x: x * 2, "triple": lambda x: x * 3}


class Tool:
    pass


def program(x):
    return tool(x)


tool, counter = Tool(), torch._dynamo.testing.CompileCounter()
compiled = torch.compile(program, backend=counter)
for name in ("double", "triple", "double"):
    Tool.__call__ = lambda self, x, run=CHOICES[name]: run(x)
    compiled(torch.ones(1))
expected, seen = 2, counter.frame_count
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
