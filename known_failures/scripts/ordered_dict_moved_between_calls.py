"""The order of an OrderedDict is guarded by the order of insertion, so that move_to_end between calls is not seen.

Expected: ['a', 'bb'], then ['bb', 'a']. Seen: ['a', 'bb'] twice.
"""

import collections

import torch


def keys(x, table):
    return x + 1, list(table)


table = collections.OrderedDict(a=1, bb=2)
compiled, seen = torch.compile(keys, backend="eager"), []
seen.append(compiled(torch.ones(1), table)[1])
table.move_to_end("a")
seen.append(compiled(torch.ones(1), table)[1])
expected = [["a", "bb"], ["bb", "a"]]
print("expected:", expected, "seen:", seen)
raise SystemExit(seen != expected)
