"""Warnings that a program raises: they arrive, with their category and text."""

import warnings

import pytest
import torch

from conformance import clause, needs


def double(x):
    """Is compiled by itself where the program cannot be."""
    return x * 2


class Own(UserWarning):
    pass


def plain(x):
    warnings.warn("of the program")
    return double(x)


def own(x):
    warnings.warn("of its own kind", Own, stacklevel=2)
    return double(x)


def instance(x):
    warnings.warn(DeprecationWarning("an instance"))
    return double(x)


def between(x):
    y = double(x)
    warnings.warn(f"between {y.dim()} and more")
    return y


@torch.compiler.disable(recursive=False)
def heard(x, program):
    """Is not compiled, and returns the warnings that arrived, each once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        y = program(x)
    own = [one for one in caught if "torch" not in one.filename]
    return y, sorted({(one.category.__name__, str(one.message)) for one in own})


def with_program(program):
    return lambda device: [(torch.arange(3.0, device=device), program)]


@pytest.mark.parametrize(
    "program",
    [plain, own, pytest.param(instance, id="instance"), pytest.param(between, id="between")],
)
@needs("graph_breaks", "python_objects")
@clause("python.warnings.arrive")
def test_warning_arrives(stack, device, program):
    """A warning of the program's is heard by its caller, with the program's category and text."""
    run = stack.run(heard, with_program(program))

    run.assert_matches_eager()
    run.assert_compiled(graphs=None, recompiles=None, graph_breaks=None)
    run.dynamo[:1].operators.expect("""mul""")
