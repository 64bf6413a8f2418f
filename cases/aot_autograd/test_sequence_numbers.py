"""Sequence numbers: they tie what runs in the backward to the forward operations that it comes from."""

import torch
import torch.nn.functional as F

from conformance import clause, needs, probes, tensors

MARKS, PROFILER = probes.BackwardMarks(), probes.Profiler()


class Block(torch.nn.Module):
    """A convolution with its normalization, a residual, a linear layer and a loss."""

    def __init__(self):
        super().__init__()
        self.convolution = torch.nn.Conv2d(16, 16, 1, padding="same")
        self.norm = torch.nn.BatchNorm2d(16)
        self.linear = torch.nn.Linear(16, 2)

    def forward(self, x, target):
        convolution, norm, linear = self.convolution, self.norm, self.linear
        y = F.conv2d(x, convolution.weight, convolution.bias, padding="same")
        y = F.batch_norm(y, norm.running_mean, norm.running_var, norm.weight, norm.bias, training=True)
        y = torch.flatten(F.relu(y) + x, 2)
        return F.l1_loss(F.linear(y, linear.weight, linear.bias), target)


class Network(torch.nn.Module):
    """One block; torch 2.9 ties a node to its forward only where that lies in a submodule."""

    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x, target):
        return self.block(x, target)


def differentiable(outputs):
    """A backward that is itself recorded, to be differentiated again."""
    outputs[0].backward(create_graph=True)


def split_in_three(x):
    return torch.split_with_sizes(x.sin(), [7, 16, 9])


@needs("training")
@clause("aot_autograd.sequence_numbers.joint_graph")
def test_backward_nodes_name_their_forward(stack, device):
    """Each backward node has the sequence number and the source of the forward operation it comes from."""
    run = stack.run(Network, tensors((2, 16, 4, 4), (2, 16, 2), device=device))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.joint.origins.expect(
        """\
number | operator | source | source of the forward
0 | aten.convolution | conv2d |
1 | aten._native_batch_norm_legit_functional | batch_norm |
2 | aten.relu | relu |
3 | aten.add | add |
4 | aten.view | flatten |
5 | aten.view | linear |
6 | aten.t | linear |
7 | aten.addmm | linear |
8 | aten.view | linear |
9 | aten.sub | l1_loss |
10 | aten.abs | l1_loss |
11 | aten.mean | l1_loss |
11 | aten.expand |  | l1_loss
11 | aten.div |  | l1_loss
10 | aten.sgn |  | l1_loss
10 | aten.mul |  | l1_loss
8 | aten.view |  | linear
7 | aten.t |  | linear
7 | aten.mm |  | linear
7 | aten.t |  | linear
7 | aten.mm |  | linear
7 | aten.t |  | linear
7 | aten.sum |  | linear
7 | aten.view |  | linear
6 | aten.t |  | linear
5 | aten.view |  | linear
4 | aten.view |  | flatten
2 | aten.threshold_backward |  | relu
1 | aten.native_batch_norm_backward |  | batch_norm
0 | aten.convolution_backward |  | conv2d
""",
        until="2.15",
    )
    # Later releases fold the batch dimensions of a linear layer by another view.
    run.joint.origins.expect(
        """\
number | operator | source | source of the forward
0 | aten.convolution | conv2d |
1 | aten._native_batch_norm_legit_functional | batch_norm |
2 | aten.relu | relu |
3 | aten.add | add |
4 | aten.view | flatten |
5 | aten.view | linear |
6 | aten.t | linear |
7 | aten.addmm | linear |
8 | aten._unsafe_view | linear |
9 | aten.sub | l1_loss |
10 | aten.abs | l1_loss |
11 | aten.mean | l1_loss |
11 | aten.expand |  | l1_loss
11 | aten.div |  | l1_loss
10 | aten.sgn |  | l1_loss
10 | aten.mul |  | l1_loss
8 | aten.view |  | linear
7 | aten.t |  | linear
7 | aten.mm |  | linear
7 | aten.t |  | linear
7 | aten.mm |  | linear
7 | aten.t |  | linear
7 | aten.sum |  | linear
7 | aten.view |  | linear
6 | aten.t |  | linear
5 | aten.view |  | linear
4 | aten.view |  | flatten
2 | aten.threshold_backward |  | relu
1 | aten.native_batch_norm_backward |  | batch_norm
0 | aten.convolution_backward |  | conv2d
""",
        since="2.15",
    )


@needs("training")
@clause("aot_autograd.sequence_numbers.marks_removed")
def test_backward_leaves_no_marks(stack, device):
    """The marks by which tracing knows the backward function that runs are gone when a backward is over."""
    run = stack.run(split_in_three, tensors((32,), device=device, requires_grad=True), probes=(MARKS,))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.seen_by(MARKS).expect("""\
in the backward: grad_fn_seq_nr, in_grad_fn
after it: (no mark)
""")


@needs("training", "profiler")
@clause("aot_autograd.sequence_numbers.profile")
def test_profile_of_a_differentiable_backward(stack, device):
    """Under the profiler a backward with create_graph shows thirteen numbers: twelve operations and the whole."""
    inputs = tensors((2, 16, 4, 4), (2, 16, 2), device=device)
    run = stack.run(Network, inputs, backward=differentiable, probes=(PROFILER,))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.seen_by(PROFILER).expect(
        """\
0 | Convolution
1 | NativeBatchNormLegit
2 | Relu
3 | Add
4 | View
5 | View
6 | T
7 | Addmm
8 | View
9 | Sub
10 | Abs
11 | Mean
12 | CompiledFunction
""",
        until="2.15",
    )
    # Later releases fold the batch dimensions of a linear layer by another view.
    run.seen_by(PROFILER).expect(
        """\
0 | Convolution
1 | NativeBatchNormLegit
2 | Relu
3 | Add
4 | View
5 | View
6 | T
7 | Addmm
8 | UnsafeView
9 | Sub
10 | Abs
11 | Mean
12 | CompiledFunction
""",
        since="2.15",
    )
