"""Forward mode: inductor refuses a product of dual numbers, but with its C++ wrapper loses the tangent without a word.

Expected: [2.0, 2.0]. Seen: None.
"""

import torch
import torch._inductor.config as config
import torch.autograd.forward_ad as forward_ad


def product(x, y):
    return x @ y


def tangent(function):
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(torch.ones(2, 2), torch.ones(2, 2))
        found = forward_ad.unpack_dual(function(dual, torch.ones(2, 2))).tangent
        return found if found is None else found[0].tolist()


with config.patch(cpp_wrapper=True):
    expected, seen = tangent(product), tangent(torch.compile(product))
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
