"""What was compiled for two overlapping slices is used for two that overlap elsewhere: offsets are not guarded.

Expected: [6.0, 6.0, 9.0, 12.0] from the second call. Seen: [4.0, 8.0, 8.0, 11.0], from the slice of the first call.
"""

import torch


def program(x, y):
    x.mul_(2)
    return x + y


compiled = torch.compile(program, backend="aot_eager", dynamic=False)
for start in (2, 3):
    buffer = torch.arange(8.0)
    again = buffer.clone()
    expected = program(again[:4], again[start : start + 4]).tolist()
    seen = compiled(buffer[:4], buffer[start : start + 4]).tolist()
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
