"""The gradient of an input that is written through a negated view comes out lazily negated: numpy refuses it.

Expected: False. Seen: True.
"""

import torch


def add_to_imaginary_part(x):
    x.conj().imag.add_(5)
    return x * 3


def gradient_is_negated(program):
    leaf = torch.tensor([1 + 2j, 3 - 4j], requires_grad=True)
    program(leaf.clone()).abs().sum().backward()
    return leaf.grad.is_neg()


expected = gradient_is_negated(add_to_imaginary_part)
seen = gradient_is_negated(torch.compile(add_to_imaginary_part, backend="aot_eager"))
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
