"""A step that crashes or hangs: it is named, ends within its time, and what was written before it remains."""

import torch

from conformance import clause, needs


def relu_of_sine(x):
    return torch.relu(torch.sin(x))


def relu_cos(x):
    return torch.cos(torch.relu(x))


def matrix(device):
    return [(torch.randn(20, 20, device=device),)]


@needs("minifier")
@clause("minifier.crash.launcher_remains")
def test_segmentation_fault(stack, device):
    """A program that crashes leaves a launcher, which crashes as well, for it runs its queries in its own process."""
    run = stack.minify(relu_of_sine, matrix, device=device, fault="relu.segfault", level=3)

    run.outcome.expect("""\
program: killed by SIGSEGV
launcher: killed by SIGSEGV
""")


@needs("minifier")
@clause("minifier.crash.launcher_remains")
def test_abort(stack, device):
    """A program that is aborted leaves a launcher."""
    run = stack.minify(relu_of_sine, matrix, device=device, fault="relu.abort", level=3)

    run.outcome.expect("""\
program: killed by SIGABRT
launcher: killed by SIGABRT
""")


@needs("minifier")
@clause("minifier.crash.launcher_remains")
def test_hang(stack, device):
    """A program that hangs leaves a launcher, and is ended when its time is over."""
    run = stack.minify(relu_of_sine, matrix, device=device, fault="relu.hang", level=3, seconds=5)

    run.outcome.expect("""\
program: still running after 5 s
launcher: still running after 5 s
""")


@needs("minifier_after_aot")
@clause("minifier.crash.isolated_crash")
def test_crash_in_isolated_queries(stack, device):
    """A crash of generated code is minified when each query has a process of its own."""
    run = stack.minify(relu_cos, matrix, device=device, after="aot", fault="relu.runtime_error", level=3, isolate=True)

    run.assert_minified()
    run.repro.expect("""\
in0: f32[20, 20]
relu: f32[20, 20] = aten.relu(in0)
return (relu,)
""")
