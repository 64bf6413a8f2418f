"""What was compiled for two overlapping slices is used for two that overlap elsewhere: offsets are not guarded.

Expected: the last two lines alike, [6, 6, 9, 12]. Seen: [4, 8, 8, 11], from the slice of the first call.
"""

import torch


def program(x, y):
    x.mul_(2)
    return x + y


compiled = torch.compile(program, backend="aot_eager", dynamic=False)
for start in (2, 3):
    buffer = torch.arange(8.0)
    again = buffer.clone()
    print(compiled(buffer[:4], buffer[start : start + 4]).tolist())
    print(program(again[:4], again[start : start + 4]).tolist())
