"""Stacks made wrong on purpose, one defect each, to prove that a case can fail.

A mutant is a stack with exactly one defect, and names the clauses that the defect breaks. Where the defect sits decides
how it is written (`conformance.mutants.base`):

- `around`: a function of the compiled callable returns what is called instead (a write-back undone, an output cloned);
- `editing`: a function of the Dynamo graph changes it before the stack's backend compiles it;
- `patching`: a generator, used as a context manager, is in force while the program is compiled and run (a guard left
  out, a pass of inductor that computes with the wrong epsilon);
- `in_steps`: a function patches torch in each process that the minifier's cases start, before its script is run.

The docstring is the defect in one sentence. Each package is a layer at which real bugs live. One mutant is a stack like
any other: ``conformance run --stack conformance.mutants.around_call.arguments_and_outputs:outputs_cloned``.
``conformance mutants`` runs each on the cases of its clauses, and on the rest of a clause's area where those miss it: a
mutant is killed when it is killed for every clause. Mutants that are wrong for every program, in
`around_call/any_output.py`, prove little and are counted apart.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping

from conformance.mutants.base import MutantStack

__all__ = ["MutantStack", "all_mutants"]

#: The places where a defect can sit, each a package of its own, in the order in which data passes them.
PLACES = ("around_call", "in_python", "in_dynamo", "in_aot_autograd", "in_inductor", "in_minifier")


def all_mutants() -> Mapping[str, MutantStack]:
    """Every mutant by name, in the order of the modules."""
    found: dict[str, MutantStack] = {}
    places = [importlib.import_module(f"{__name__}.{place}") for place in PLACES]
    for module in (one for place in places for one in pkgutil.iter_modules(place.__path__, f"{place.__name__}.")):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, MutantStack):
                if value.name in found:
                    raise ValueError(f"two mutants are called {value.name!r}")
                found[value.name] = value
    return found
