"""The padded inverse transform of real numbers that lie transposed is conjugated lazily in eager, and here not.

Expected: eager's numbers, and that they are conjugated lazily. Seen: a plain tensor, up to 2.14 with the numbers that
are to be conjugated.
"""

import torch


def program(x):
    return torch.fft.ifft(x, n=4, dim=1)


x = torch.arange(12.0).sin().as_strided((2, 3, 2), (1, 2, 6))
expected, seen = program(x), torch.compile(program, backend="inductor")(x)
told = seen.is_conj(), torch.allclose(seen, expected)
print("lazily conjugated, and eager's numbers:", told)
raise SystemExit(told != (expected.is_conj(), True))
