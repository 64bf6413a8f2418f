"""`torch.Generator` objects of the caller and of the program: they give eager's numbers and end where eager's do."""

import pytest
import torch

from conformance import Program, clause, expected, needs, tensors


def uniform(x, generator):
    return x * torch.rand(4, generator=generator, device=x.device)


def coin(x, generator):
    return x * torch.full_like(x, 0.5).bernoulli_(generator=generator)


def both_generators(x, generator):
    """The default generator moves for its numbers alone."""
    return x * torch.rand(4, generator=generator, device=x.device) + torch.rand(4, device=x.device)


def seeded_anew(x, generator):
    generator.manual_seed(7)
    return x * torch.rand(4, generator=generator, device=x.device)


def not_drawn_from(x, generator):
    return x * 2


def two_generators(x, generator, other):
    y = x * torch.rand(4, generator=generator, device=x.device)
    return y + torch.rand(4, generator=other, device=x.device)


def made_in_the_program(x):
    generator = torch.Generator(x.device).manual_seed(3)
    return x * torch.rand(4, generator=generator, device=x.device)


def default_seeded_anew(x):
    torch.manual_seed(5)
    return x * torch.rand(4, device=x.device)


def make_with_generator(device):
    generator = torch.Generator(device).manual_seed(10)

    def program(x):
        return x * torch.rand(4, generator=generator, device=x.device)

    return program


def with_generators(device, number):
    """Two calls with the same generators."""
    generators = [torch.Generator(device).manual_seed(10 + each) for each in range(number)]
    return [(torch.arange(4.0, device=device).requires_grad_(), *generators) for _ in range(2)]


def one_generator(device):
    return with_generators(device, 1)


def a_generator_each(device):
    return with_generators(device, 2)


def next_numbers(arguments, output):
    return [torch.rand(3, generator=generator, device=output.device) for generator in arguments[1:]]


PASSED = [
    pytest.param(uniform, 1, 1, expected("""mul"""), id="rand"),
    pytest.param(coin, 2, 1, expected("""full_like; mul"""), id="bernoulli_"),
    pytest.param(both_generators, 1, 1, expected("""mul; rand; add"""), id="beside_the_default"),
    pytest.param(seeded_anew, 1, 2, expected("""mul"""), id="seeded_anew"),
]


@pytest.mark.parametrize(("program", "graphs", "graph_breaks", "operators"), PASSED)
@clause("aot_autograd.random.same_numbers")
def test_generator_is_passed(stack, device, program, graphs, graph_breaks, operators):
    """A generator that is passed gives the program eager's numbers, and the caller eager's next ones."""
    run = stack.run(Program.of(program, after=next_numbers), one_generator)

    run.assert_matches_eager()
    run.assert_compiled(graphs=graphs, recompiles=0, graph_breaks=graph_breaks)
    run.dynamo.operators.expect(operators)


@clause("aot_autograd.random.same_numbers")
def test_generator_is_not_drawn_from(stack, device):
    """A generator that is passed and not used stays where it is."""
    run = stack.run(Program.of(not_drawn_from, after=next_numbers), one_generator)

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.dynamo.operators.expect("""mul""")


@needs("graph_breaks")
@clause("aot_autograd.random.same_numbers")
def test_two_generators_are_passed(stack, device):
    """Each of two generators gives its own numbers and moves for these alone."""
    run = stack.run(Program.of(two_generators, after=next_numbers), a_generator_each)

    run.assert_matches_eager()
    run.assert_compiled(graphs=2, recompiles=0, graph_breaks=2)
    run.dynamo.operators.expect("""\
mul
add
""")


@pytest.mark.parametrize(
    ("program", "graph_breaks", "operators"),
    [
        pytest.param(made_in_the_program, 3, expected("""mul"""), id="made_in_the_program"),
        pytest.param(default_seeded_anew, 1, expected("""rand; mul"""), id="default_seeded_anew"),
        pytest.param(Program(make=make_with_generator), 1, expected("""mul"""), id="captured"),
    ],
)
@clause("aot_autograd.random.same_numbers")
def test_generator_of_the_program(stack, device, program, graph_breaks, operators):
    """A generator that the program makes, seeds or closes over gives eager's numbers in each of two calls."""
    one = tensors((4,), device=device, requires_grad=True)
    run = stack.run(program, one.then(one))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0, graph_breaks=graph_breaks)
    run.dynamo.operators.expect(operators)
