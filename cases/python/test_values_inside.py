"""What a program asks about values: type, isinstance, repr, len, bool, hash and comparisons."""

import collections
import enum
import math

import pytest
import torch

from conformance import clause, needs


def double(x):
    """Is compiled by itself where the program cannot be."""
    return x * 2


class Ordered:
    def __init__(self, rank):
        self.rank = rank

    def __eq__(self, other):
        return isinstance(other, Ordered) and self.rank == other.rank

    def __lt__(self, other):
        return self.rank < other.rank

    def __hash__(self):
        return hash(self.rank)

    def __bool__(self):
        return self.rank > 1

    def __len__(self):
        return self.rank

    def __repr__(self):
        return f"<{self.rank}>"

    def __contains__(self, value):
        return value == self.rank


class Kind(enum.Enum):
    ONE = 1
    TWO = 2


def types(x):
    return (
        double(x),
        type(x) is torch.Tensor,
        isinstance(x, (int, torch.Tensor)),
        issubclass(bool, int),
        int.__name__,
    )


def of_tensor(x):
    return double(x), x.dtype == torch.float32, x.dim(), len(x), x.is_floating_point(), x.shape == (3,)


def truth(x):
    return double(x), bool([]), bool([0]), not {}, bool(Ordered(1)), bool(Ordered(2)), bool("") or "fallback"


def text(x):
    return (
        double(x),
        repr([1, "a", None]),
        str((1.5, True)),
        f"{3:>5}|{2.5:.2f}",
        "{} {}".format(1, "a"),
        repr(Ordered(3)),
    )


def hashes(x):
    return double(x), hash((1, 2)) == hash((1, 2)), {Ordered(1): "a"}[Ordered(1)], len({Ordered(1), Ordered(1)})


def comparisons(x):
    a, b = Ordered(1), Ordered(2)
    return double(x), a == b, a != b, a < b, sorted([b, a])[0] is a, max(a, b).rank, a == Ordered(1), 2 in b


def chained_comparisons(x):
    return double(x), 1 < 2 < 3, 1 < 3 > 2, [1, 2] < [1, 3], (1, "a") == (1, "a"), {1} <= {1, 2}, "a" in "abc"


def identities(x):
    y = x
    return double(x), y is x, x is not None, [] == [], None is None, x in [x], [x].index(x)


def enums(x):
    return double(x), Kind.ONE.name, Kind(2) is Kind.TWO, Kind["ONE"].value, [kind.name for kind in Kind], len(Kind)


def numbers(x):
    return (
        double(x),
        7 // -2,
        -7 % 3,
        divmod(-7, 2),
        round(2.5),
        round(-1.25, 1),
        2**-1,
        int(-2.7),
        math.isnan(math.nan),
    )


def floats(x):
    return double(x), math.copysign(1, -0.0), 0.1 + 0.2, float("inf") > 1, math.sqrt(2), 1e308 * 10, -0.0 == 0.0


def strings(x):
    return double(x), "a,b".split(","), " a ".strip(), "ab".upper(), "-".join(["a", "b"]), "abc"[::-1], "a" * 3


def attributes(x):
    a = Ordered(3)
    return double(x), hasattr(a, "rank"), getattr(a, "none", 5), callable(double), sorted(vars(a)), double.__name__


def counts(x):
    return double(x), len({"a": 1}), sum([1, 2]), min(3, 1), any([0, 1]), all([]), collections.Counter("aab")["a"]


def size_arithmetic(x):
    return double(x), x.shape[0] + 1, x.shape + torch.Size([1]), x.numel() / 2, list(x.stride()), tuple(x.size())[::-1]


ALL = (
    types,
    pytest.param(of_tensor, id="of_tensor"),
    pytest.param(truth, id="truth"),
    pytest.param(text, id="text"),
    pytest.param(hashes, id="hashes"),
    pytest.param(comparisons, id="comparisons"),
    pytest.param(chained_comparisons, id="chained_comparisons"),
    identities,
    pytest.param(enums, id="enums"),
    pytest.param(numbers, id="numbers"),
    pytest.param(floats, id="floats"),
    pytest.param(strings, id="strings"),
    pytest.param(attributes, id="attributes"),
    counts,
    pytest.param(size_arithmetic, id="size_arithmetic"),
)


def three(device):
    return [(torch.arange(3.0, device=device),)]


@pytest.mark.parametrize("program", ALL)
@needs("graph_breaks", "python_objects")
@clause("python.values.types_and_comparisons")
def test_asked_inside(stack, device, program):
    """A program that asks for types, texts, lengths, truth and order gets eager's answers."""
    run = stack.run(program, three)

    run.assert_matches_eager()
    run.assert_compiled(graphs=None, recompiles=None, graph_breaks=None)
    run.dynamo[:1].operators.expect("""mul""")
