"""The simple export of AOTAutograd: a backend may call it on what Dynamo hands over."""

import torch

from conformance import clause, probes, tensors

EXPORT = probes.JointExport()


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(5, 7)

    def forward(self, x):
        return self.linear(x)


@clause("aot_autograd.joint_export.on_dynamo_graph")
def test_exported_without_joint_tracing(stack, device):
    """What the simple export makes of a captured linear layer compiles, and computes what the layer computes."""
    run = stack.run(Layer, tensors((3, 4, 5), device=device), probes=(EXPORT,))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.seen_by(EXPORT).expect(
        """\
in0: f32[7, 5]
in1: f32[7]
in2: f32[3, 4, 5]
view: f32[12, 5] = aten.view(in2, [12, 5])
t: f32[5, 7](1, 5) = aten.t(in0)
addmm: f32[12, 7] = aten.addmm(in1, view, t)
view_1: f32[3, 4, 7] = aten.view(addmm, [3, 4, 7])
return (view_1,)
""",
        until="2.15",
    )
    # Later releases fold the batch dimensions of a linear layer by another view.
    run.seen_by(EXPORT).expect(
        """\
in0: f32[7, 5]
in1: f32[7]
in2: f32[3, 4, 5]
view: f32[12, 5] = aten.view(in2, [12, 5])
t: f32[5, 7](1, 5) = aten.t(in0)
addmm: f32[12, 7] = aten.addmm(in1, view, t)
_unsafe_view: f32[3, 4, 7] = aten._unsafe_view(addmm, [3, 4, 7])
return (_unsafe_view,)
""",
        since="2.15",
    )
