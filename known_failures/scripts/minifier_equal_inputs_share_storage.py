"""Two inputs of a repro that hold equal values become one storage: inputs are saved by content and read with a cache.

Expected: False. Seen: True, so that a program that writes to one of them does something else in its repro.
"""

import tempfile

import torch
from torch._dynamo.debug_utils import InputReader, InputWriter

with tempfile.TemporaryDirectory() as folder:
    writer = InputWriter(folder, stable_hash=True)
    writer.tensor("a", torch.arange(4.0))
    writer.tensor("b", torch.arange(4.0))
    scope: dict = {}
    exec("\n".join(writer.lines()), scope)
    reader = InputReader(folder)
    scope["load_args"](reader)
    a, b = reader.args
    expected, seen = False, a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
