"""After Dynamo: a backend that fails is minified to the operator at fault, and the repro fails alike."""

import pytest
import torch

from conformance import clause, needs


def sines_relu_cosines(x):
    for _ in range(10):
        x = torch.sin(x)
    x = torch.relu(x)
    for _ in range(10):
        x = torch.cos(x)
    return x


def sines_cosines(x):
    for _ in range(10):
        x = torch.sin(x)
    for _ in range(10):
        x = torch.cos(x)
    return x


def twenty_sines_relu_cosines(x):
    for _ in range(20):
        x = torch.sin(x)
    x = torch.relu(x)
    for _ in range(20):
        x = torch.cos(x)
    return x


def plus_one(x):
    return x + 1


def matrix(device):
    return [(torch.randn(20, 20, device=device),)]


def non_leaf_matrix(device):
    return [(torch.randn(20, 20, device=device, requires_grad=True).sin(),)]


# Level 2 dumps what raises, level 4 what computes something else.
FAULTY = pytest.mark.parametrize(
    ("kind", "level"),
    [("compile_error", 2), ("runtime_error", 2), ("accuracy_error", 4)],
    ids=["compile", "run", "accuracy"],
)


@FAULTY
@needs("minifier")
@clause("minifier.after_dynamo.reproduces")
def test_faulty_operator_is_found(stack, device, kind, level):
    """A graph of twenty-one operators, one of them at fault, is minified to that one."""
    run = stack.minify(sines_relu_cosines, matrix, device=device, backend=f"relu_{kind}_TESTING_ONLY", level=level)

    run.assert_minified()
    run.repro.expect("""\
in0: f32[20, 20]
relu: f32[20, 20] = relu(in0)
return (relu,)
""")


@FAULTY
@needs("minifier")
@clause("minifier.after_dynamo.silent_without_failure")
def test_no_failure_leaves_nothing(stack, device, kind, level):
    """The same backends without the operator they fail on dump nothing."""
    run = stack.minify(sines_cosines, matrix, device=device, backend=f"relu_{kind}_TESTING_ONLY", level=level)

    run.assert_no_repro()
    run.outcome.expect("""program: passed""")


@needs("minifier")
@clause("minifier.after_dynamo.non_leaf_inputs")
def test_non_leaf_input_stays_one(stack, device):
    """An input that requires grad and is no leaf is one in the repro as well."""
    run = stack.minify(plus_one, non_leaf_matrix, device=device, backend="non_leaf_compile_error_TESTING_ONLY")

    run.assert_minified()
    run.inputs.expect("""float32[20, 20] strides [20, 1], requires grad, not a leaf""")
    run.repro.expect("""\
in0: f32[20, 20]
add: f32[20, 20] = add(in0, 1)
return (add,)
""")


@needs("minifier")
@clause("minifier.after_dynamo.minimal")
def test_graph_is_minimal(stack, device):
    """Nothing is left of forty operators around the one at fault."""
    run = stack.minify(twenty_sines_relu_cosines, matrix, device=device, backend="relu_compile_error_TESTING_ONLY")

    run.assert_minified()
    run.repro.expect("""\
in0: f32[20, 20]
relu: f32[20, 20] = relu(in0)
return (relu,)
""")
