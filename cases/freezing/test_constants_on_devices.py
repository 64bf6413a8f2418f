"""Constants that stay on the CPU when the inputs are elsewhere: as a factor, moved to the inputs, returned."""

import torch
from torch import nn

from conformance import Program, clause, needs


class StaysOnCpu(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("factor", torch.tensor(3.0))
        self.register_buffer("table", torch.arange(4))
        self.eval()

    def forward(self, x):
        moved = self.table.to(x.device, x.dtype)
        return x * (self.factor + 1), moved + 1, self.table * 2


def stays_on_cpu(device):
    """The module as it is built, on the CPU, whatever the device of its inputs."""
    return StaysOnCpu()


def two_rows(device):
    return [(torch.arange(4.0, device=device) - number,) for number in range(2)]


STAYS_ON_CPU = Program(make=stays_on_cpu, inference=True)


@clause("freezing.constants.other_device")
def test_constants_on_the_cpu(stack, device):
    """A number, a table that is moved and converted, and a table that is returned have eager's values and devices."""
    run = stack.run(STAYS_ON_CPU, two_rows)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)


@needs("freezing", "lowered_graph")
@clause("freezing.constants.other_device")
def test_constants_on_the_cpu_are_folded(stack, device):
    """What is computed of constants alone is computed once, on whichever device, and one multiplication is left to run."""
    run = stack.run(STAYS_ON_CPU, two_rows)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    assert run.lowered.count("mul") == 1
    assert run.lowered.absent("add")
    run.lowered.expect(
        """\
in0: f32[4]
const0: f32[] = 4.0
const1: f32[4]
const2: i64[4]
mul: f32[4] = aten.mul(in0, const0)
return (mul, const1, const2)
""",
        device="cpu",
    )
