"""Guards: counted from torch's listing by what they check, and from real compilations on every release."""

from __future__ import annotations

import torch
from oracle_runs import on

from conformance.capture.guard_counts import Guards, count_guards

LISTING = """
TREE_GUARD_MANAGER:
+- RootGuardManager
| +- DEFAULT_DEVICE: utils_device.CURRENT_DEVICE == None    # +- TENSOR_MATCH: not one
| +- GuardManager: source=L['x'], accessed_by=FrameLocalsGuardAccessor(key='x')
| | +- TENSOR_MATCH: check_tensor(L['x'], size=[3])
| | +- NO_TENSOR_ALIASING: check_no_aliasing(L['x'], L['y'])
| +- GuardManager: source=L['y'], accessed_by=FrameLocalsGuardAccessor(key='y')
| | +- TENSOR_MATCH: check_tensor(L['y'], size=[3])
| | +- NO_TENSOR_ALIASING
Guard latency = 1 us
"""


def add(x, y):
    return x + y


def test_guards_are_counted_by_kind() -> None:
    """Each line that checks something counts; the lines that say how a value is reached do not."""
    counts = count_guards(LISTING)

    assert counts == {"DEFAULT_DEVICE": 1, "TENSOR_MATCH": 2, "NO_TENSOR_ALIASING": 2}
    guards = Guards([counts, count_guards("")])
    assert str(guards) == "properties of a tensor: 2\ndistinct from other tensors: 2\n\n(none of these)"
    assert (guards.total(0), guards.total(1)) == (5, 0)


def test_guards_of_a_run() -> None:
    """Every compilation of a run has a block, and none where nothing is compiled."""

    def calls(device: str) -> list[tuple[torch.Tensor, torch.Tensor]]:
        x = torch.ones(3, device=device)
        return [(x, x), (x, x + 1)]

    run = on("aot_eager").run(add, calls)

    assert str(run.guards) == ("properties of a tensor: 1\n\nproperties of a tensor: 2\ndistinct from other tensors: 2")
    assert run.guards.total(1) > 4
    on("eager").run(add, calls).guards.expect("anything")
