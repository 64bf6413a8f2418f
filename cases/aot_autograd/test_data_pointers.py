"""Data pointers: a tensor without memory is copied without asking for one, and asking for one while tracing raises."""

import copy

import pytest
import torch

from conformance import clause, needs, tensors


class CopyReadingPointer(torch.autograd.Function):
    """A copy whose backward reads the data pointer of the incoming gradient."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        grad.data_ptr()
        return grad.clone()


def copy_reading_pointer(x):
    x.data_ptr()
    return x.clone()


@pytest.fixture
def operators():
    """Two operators of several others, as far as autograd knows: one reads a pointer, the other in its backward."""
    with torch.library._scoped_library("conformance_pointers", "FRAGMENT") as library:
        for name, kernel in (("forward", copy_reading_pointer), ("backward", CopyReadingPointer.apply)):
            library.define(f"{name}(Tensor x) -> Tensor")
            library.impl(name, kernel, "CompositeImplicitAutograd")
        yield


def of_input(x):
    return torch.ops.conformance_pointers.forward(x)


def of_intermediate(x):
    return torch.ops.conformance_pointers.forward(x.clone())


def in_backward(x):
    return torch.ops.conformance_pointers.backward(x)


def shallow_copy(x):
    return copy.copy(x)


@clause("aot_autograd.data_pointers.copy")
def test_copy_of_a_fake_tensor(stack, device):
    """A fake tensor is copied without access to a data pointer, and the copy is a fake tensor like it."""
    traced = stack.trace(shallow_copy, tensors((3,), device=device), by="fake_mode")

    traced.expect("""FakeTensor f32[3]""")


@pytest.mark.parametrize("program", [of_input, of_intermediate])
@pytest.mark.parametrize("by", ["fake_mode", "make_fx[fake]", "make_fx[symbolic]"])
@clause("aot_autograd.data_pointers.read_while_tracing")
def test_pointer_read_in_forward(stack, device, operators, program, by):
    """An operator that reads a data pointer cannot be traced on tensors without memory."""
    traced = stack.trace(program, tensors((3,), device=device), by=by)

    traced.expect("""\
RuntimeError: Cannot access data pointer of Tensor (e.g. FakeTensor, FunctionalTensor). If you're using
torch.compile/export/fx, it is likely that we are erroneously tracing into a custom kernel. To fix this,
please wrap the custom kernel into an opaque custom op. Please see the following for details:
https://pytorch.org/tutorials/advanced/custom_ops_landing_page.html
""")


@needs("compile")
@pytest.mark.parametrize("program", [of_input, of_intermediate])
@clause("aot_autograd.data_pointers.read_while_tracing")
def test_pointer_read_in_compiled_forward(stack, device, operators, program):
    """An operator that reads a data pointer cannot be compiled into one graph."""
    traced = stack.trace(program, tensors((3,), device=device), by="stack")

    traced.expect("""\
RuntimeError: Cannot access data pointer of Tensor (e.g. FakeTensor, FunctionalTensor). If you're using
torch.compile/export/fx, it is likely that we are erroneously tracing into a custom kernel. To fix this,
please wrap the custom kernel into an opaque custom op. Please see the following for details:
https://pytorch.org/tutorials/advanced/custom_ops_landing_page.html
""")


@needs("profiler")
@clause("aot_autograd.data_pointers.read_while_tracing")
def test_pointer_read_in_backward(stack, device, operators):
    """An operator whose backward reads a data pointer cannot be compiled where the backward is traced."""
    traced = stack.trace(in_backward, tensors((3,), device=device, requires_grad=True), by="stack")

    traced.expect("""\
RuntimeError: Cannot access data pointer of Tensor (e.g. FakeTensor, FunctionalTensor). If you're using
torch.compile/export/fx, it is likely that we are erroneously tracing into a custom kernel. To fix this,
please wrap the custom kernel into an opaque custom op. Please see the following for details:
https://pytorch.org/tutorials/advanced/custom_ops_landing_page.html
""")
