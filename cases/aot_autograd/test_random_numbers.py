"""Random numbers: the same seed gives eager's numbers and leaves the generator where eager leaves it."""

import pytest
import torch
from torch.nn import functional

from conformance import Program, clause, expected, tensors


def dropout(x):
    return functional.dropout(x, 0.5)


def dropout_twice(x):
    return functional.dropout(functional.dropout(x, 0.5) * 2, 0.25)


def channel_dropout(x):
    return functional.dropout1d(x, 0.5)


def alpha_dropout(x):
    return functional.alpha_dropout(x, 0.5)


def no_dropout(x):
    return functional.dropout(x, 0.0) * 2


def uniform(x):
    return x * torch.rand_like(x)


def normal(x):
    return x * torch.randn(4, 6, device=x.device)


def whole_numbers(x):
    return x * torch.randint(0, 5, (4, 6), device=x.device)


def permutation(x):
    return x[torch.randperm(4, device=x.device)]


def coin(x):
    return x * torch.bernoulli(torch.full_like(x, 0.5))


def coin_in_place(x):
    y = x * 1.5
    return y * torch.empty_like(y).bernoulli_(0.5)


def filled(x):
    return x * torch.empty(4, 6, device=x.device).uniform_(-1, 1)


def drawn_indices(x):
    return x[:, torch.multinomial(torch.ones(6, device=x.device), 3)]


def exponential(x):
    return x * torch.empty_like(x).exponential_()


def one_of_many(x):
    """Whether the number is used or not, the generator moves."""
    torch.rand(3, device=x.device)
    return x * torch.rand(4, 6, device=x.device)


def noise_in_place(x):
    x.normal_()
    return x + 1


PROGRAMS = [
    pytest.param(dropout, expected("""dropout"""), id="dropout"),
    pytest.param(dropout_twice, expected("""dropout; mul; dropout"""), id="dropout_twice"),
    pytest.param(channel_dropout, expected("""dropout1d"""), id="channel_dropout"),
    pytest.param(alpha_dropout, expected("""alpha_dropout"""), id="alpha_dropout"),
    pytest.param(no_dropout, expected("""dropout; mul"""), id="no_dropout"),
    pytest.param(uniform, expected("""rand_like; mul"""), id="rand_like"),
    pytest.param(normal, expected("""randn; mul"""), id="randn"),
    pytest.param(whole_numbers, expected("""randint; mul"""), id="randint"),
    pytest.param(permutation, expected("""randperm"""), id="randperm"),
    pytest.param(coin, expected("""full_like; bernoulli; mul"""), id="bernoulli"),
    pytest.param(coin_in_place, expected("""mul; empty_like; bernoulli_; mul"""), id="bernoulli_"),
    pytest.param(filled, expected("""empty; uniform_; mul"""), id="uniform_"),
    pytest.param(drawn_indices, expected("""ones; multinomial"""), id="multinomial"),
    pytest.param(exponential, expected("""empty_like; exponential_; mul"""), id="exponential_"),
    pytest.param(one_of_many, expected("""rand; rand; mul"""), id="unused_rand"),
]


@pytest.mark.parametrize(("program", "operators"), PROGRAMS)
@clause("aot_autograd.random.same_numbers")
def test_numbers_and_gradients(stack, device, program, operators):
    """The same seed gives eager's numbers, the backward uses those of the forward, and the generator moves alike."""
    one = tensors((4, 6), device=device, requires_grad=True)
    run = stack.run(program, one.then(one))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect(operators)


@pytest.mark.parametrize("inference", ["no_grad", "inference_mode"])
@clause("aot_autograd.random.same_numbers")
def test_numbers_with_gradients_off(stack, device, inference):
    """With gradients off the same seed gives eager's numbers, too."""
    run = stack.run(Program.of(dropout, inference=inference), tensors((4, 6), device=device))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect("""dropout""")


@clause("aot_autograd.random.input_filled")
def test_input_is_filled(stack, device):
    """An input that the program fills with random numbers holds eager's afterwards."""
    run = stack.run(noise_in_place, tensors((4, 6), device=device))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.operators.expect("""\
aten.normal_functional
aten.add
aten.copy_
""")
