"""The constructor of a wrapper subclass is compiled by itself, and its tensor flattened before it has its attributes.

Expected: 2.0. Seen: InternalTorchDynamoError.
"""

import torch
from torch.utils import _pytree as pytree


class Scaled(torch.Tensor):
    @staticmethod
    def __new__(cls, held, factor):
        return torch.Tensor._make_wrapper_subclass(cls, held.shape, dtype=held.dtype, device=held.device)

    def __init__(self, held, factor):
        self.held, self.factor = held, factor

    def __tensor_flatten__(self):
        return ["held"], self.factor

    @staticmethod
    def __tensor_unflatten__(tensors, factor, size, stride):
        return Scaled(tensors["held"], factor)

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        factor = max(leaf.factor for leaf in pytree.tree_leaves(args) if isinstance(leaf, Scaled))
        out = func(*pytree.tree_map_only(Scaled, lambda one: one.held, args), **(kwargs or {}))
        return pytree.tree_map_only(torch.Tensor, lambda one: Scaled(one, factor), out)


def double(x):
    return x * 2


expected = 2.0
try:
    seen = torch.compile(double, backend="aot_eager")(Scaled(torch.ones(1), 2)).held.item()
except torch._dynamo.exc.InternalTorchDynamoError as error:
    seen = type(error).__name__
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
