"""What a program reaches besides its arguments: seen wherever it lies, and as before when a side has ended."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable
from typing import Any

import pytest
import torch
from oracle_runs import calls_of, on, reported, wrapped

from conformance.oracle.state.reachable_state import Watched, is_users_module

LOG: list[int] = []


class Net(torch.nn.Module):
    seen: list[int] = []
    count = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        Net.seen.append(1)
        Net.count += 1
        return x * 2


class Tally:
    total = 0

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.count += 1
        Tally.total += 1
        return x * 2


def noted(log: list[int], x: torch.Tensor) -> torch.Tensor:
    log.append(1)
    return x * 2


def counter() -> Callable[[torch.Tensor], torch.Tensor]:
    count = 0

    def counted(x: torch.Tensor) -> torch.Tensor:
        nonlocal count
        count += 1
        return x * 2

    return counted


def counting(function: Callable[..., Any]) -> Callable[..., Any]:
    calls: list[int] = []

    @functools.wraps(function)
    def called(x: torch.Tensor) -> Any:
        calls.append(1)
        return function(x)

    return called


@functools.lru_cache
def factor(n: int) -> int:
    LOG.append(n)
    return n


TALLY = Tally()
METHOD = Tally().__call__
PARTIAL = functools.partial(noted, [])
COUNTED = counter()
HANDLERS = {"note": lambda x: noted(LOG, x)}
OTHER = types.ModuleType("somebodys_module")
exec("LOG = []\ndef note(x):\n    LOG.append(1)\n    return x * 2\n", OTHER.__dict__)


def calls_an_object(x):
    return TALLY(x)


def calls_a_method(x):
    return METHOD(x)


def calls_a_partial(x):
    return PARTIAL(x)


def calls_a_cached_function(x):
    return x * factor(3)


def calls_a_closure(x):
    return COUNTED(x)


def calls_what_a_container_holds(x):
    return HANDLERS["note"](x)


def calls_another_module(x):
    return OTHER.note(x)


@counting
def is_decorated(x):
    return x * 2


def has_an_attribute(x):
    has_an_attribute.count = getattr(has_an_attribute, "count", 0) + 1
    return x * 2


def has_a_default(x, log=[]):  # noqa: B006
    log.append(1)
    return x * 2


def makes_a_global(x):
    global MADE
    MADE = 3
    return x * 2


#: The program, and where it shows that a stack calls it once more than eager does.
REACHED: dict[str, tuple[Any, str]] = {
    "a list of a class": (Net, "globals['Net'].side_effect"),
    "an object that is called": (calls_an_object, "globals['TALLY'].count.value"),
    "a method": (calls_a_method, "globals['METHOD'].count.value"),
    "arguments of a partial function": (calls_a_partial, "globals['PARTIAL'].side_effect"),
    "a variable of a closure": (calls_a_closure, "globals['count'].value"),
    "a function in a container": (calls_what_a_container_holds, "globals['LOG'].side_effect"),
    "a global of another module": (calls_another_module, "globals['LOG'].side_effect"),
    "what a decorator closes over": (is_decorated, "globals['calls'].side_effect"),
    "an attribute of a function": (has_an_attribute, "globals['has_an_attribute'].count.value"),
    "a default argument": (has_a_default, "globals['has_a_default'].side_effect"),
}


def _twice(compiled: Callable[..., Any]) -> Callable[..., Any]:
    def called(*args: Any) -> Any:
        compiled(*args)
        return compiled(*args)

    return called


@pytest.fixture(autouse=True)
def other_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, OTHER.__name__, OTHER)


@pytest.mark.parametrize("name", REACHED)
def test_what_code_reaches_is_compared(name: str) -> None:
    """A change that only one side makes is reported, wherever the program keeps it; eager is silent."""
    program, expected = REACHED[name]
    calls = calls_of(lambda: (torch.ones(2),), lambda: (torch.ones(2),))

    assert reported(on("eager").run(program, calls)) == []
    assert expected in reported(wrapped(_twice).run(program, calls))
    assert reported(on("eager").run(program, calls)) == []


def _uncached(compiled: Callable[..., Any]) -> Callable[..., Any]:
    def called(*args: Any) -> Any:
        factor.cache_clear()
        return compiled(*args)

    return called


def test_a_cache_starts_empty_on_each_side() -> None:
    """How often a cached function runs is seen, and what one side has cached the other does not find."""
    calls = calls_of(lambda: (torch.ones(2),), lambda: (torch.ones(2),))

    assert reported(wrapped(_uncached).run(calls_a_cached_function, calls))[0] == "globals['LOG'].side_effect"
    factor(3)
    run = on("eager").run(calls_a_cached_function, calls)
    assert reported(run) == []
    assert run.eager.phases[-2].facts["globals['LOG']", "side_effect"] == "list([0]=*, [1]=*)"
    LOG.clear()


def test_everything_reached_is_put_back() -> None:
    """Values, attributes, code and names are after a side what they were before it."""
    code = has_a_default.__code__

    def changes(x: torch.Tensor) -> None:
        global TALLY
        TALLY = Tally()
        Net.seen.append(7)
        Net.extra = 1  # type: ignore[attr-defined]
        has_a_default.__code__ = has_an_attribute.__code__
        makes_a_global(x)
        COUNTED(x)

    before = TALLY
    watched = Watched(changes)
    changes(torch.ones(1))
    watched.restore()

    assert TALLY is before
    assert Net.seen == []
    assert not hasattr(Net, "extra")
    assert has_a_default.__code__ is code
    assert "MADE" not in globals()
    assert COUNTED.__closure__[0].cell_contents == 0  # type: ignore[attr-defined]


@pytest.mark.parametrize("module", ["torch.nn.functional", "functools", "numpy.linalg", "conformance.run.run"])
def test_packages_are_not_followed(module: str) -> None:
    """What torch, Python and installed packages keep for themselves is not the program's."""
    assert not is_users_module(module)
    assert is_users_module(__name__)
