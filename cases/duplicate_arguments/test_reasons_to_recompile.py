"""One call that fails a guard between two that do not: it compiles again, for that reason, and the return does not."""

import torch

from conformance import Program, call, clause, needs

factor = 2.0


def triple(x):
    return x * 3


def scale(x):
    return x * factor


def make_scaler(device):
    cell = 2.0

    def scale_by_cell(x):
        return x * cell

    def set_to(value):
        nonlocal cell
        cell = value

    scale_by_cell.set_to = set_to
    return scale_by_cell


def whole(device, **options):
    return torch.arange(6.0, device=device, **options)


def dtypes(device):
    return [(whole(device, dtype=dtype),) for dtype in (torch.float32, torch.float64, torch.float32)]


def sizes(device):
    return [(whole(device)[:size],) for size in (6, 4, 6)]


def strides(device):
    rows = whole(device).reshape(2, 3)
    return [(rows,), (whole(device).reshape(3, 2).t(),), (rows + 1,)]


def gradients(device):
    return [(whole(device, requires_grad=flag),) for flag in (True, False, True)]


def set_global(value):
    def before(_):
        global factor
        factor = value

    return before


def set_cell(value):
    def before(program):
        program.set_to(value)

    return before


def global_values(device):
    return [call(whole(device), before=set_global(value)) for value in (2.0, 5.0, 2.0)]


def cell_values(device):
    return [call(whole(device), before=set_cell(value)) for value in (2.0, 5.0, 2.0)]


@needs("recompiles")
@clause("duplicate_arguments.recompiles.dtype")
def test_other_dtype(stack, device):
    """An argument of another dtype, between two of the first, compiles once more."""
    run = stack.run(triple, dtypes)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""dtype of x: expected f32, actual f64""")


@needs("recompiles")
@clause("duplicate_arguments.recompiles.size")
def test_other_size(stack, device):
    """With static shapes, an argument of another size, between two of the first, compiles once more."""
    run = stack.run(triple, sizes, dynamic=False)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""size of x at 0: expected 6, actual 4""")


@needs("recompiles")
@clause("duplicate_arguments.recompiles.stride")
def test_other_stride(stack, device):
    """An argument of other strides, between two of the first, compiles once more and has the strides of its own call."""
    run = stack.run(triple, strides)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""stride of x at 0: expected 3, actual 1""")


@needs("recompiles", "training")
@clause("duplicate_arguments.recompiles.requires_grad")
def test_other_requires_grad(stack, device):
    """An argument without gradient, between two that require one, compiles once more."""
    run = stack.run(triple, gradients)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""requires_grad of x: expected True, actual False""")


@needs("recompiles")
@clause("duplicate_arguments.recompiles.global_value")
def test_other_value_of_a_global(stack, device):
    """Another value of a global number, between two calls with the first, compiles once more."""
    run = stack.run(scale, global_values)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""global factor == 2.0""")


@needs("recompiles")
@clause("duplicate_arguments.recompiles.closure_value")
def test_other_value_of_a_closure(stack, device):
    """Another value of a number in a closure, between two calls with the first, compiles once more."""
    run = stack.run(Program(make=make_scaler), cell_values)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=1)
    run.recompiles.expect("""cell == 2.0""")
