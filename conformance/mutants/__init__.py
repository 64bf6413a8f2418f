"""Stacks made wrong on purpose, one defect each, to prove that a case can fail.

A mutant is a stack with exactly one defect, and names the clause that the defect breaks. Where the defect sits decides
how it is written (`conformance.mutants.base`):

- `around`: a function of the compiled callable returns what is called instead (a write-back undone, an output cloned);
- `editing`: a function of the Dynamo graph changes it before the stack's backend compiles it;
- `patching`: a generator, used as a context manager, is in force while the program is compiled and run (a guard left
  out, a pass of inductor that computes with the wrong epsilon);
- `in_stages`: a function patches torch in each process that the minifier's cases start, before its script is run.

The docstring is the defect in one sentence. Each module is a layer at which real bugs live. ``conformance run --stack
conformance.mutants.calls:outputs_cloned`` runs the suite on one; ``conformance mutants`` runs each on the cases of its
clause, and the rest of the area where those miss it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping

from conformance.mutants.base import MutantStack

__all__ = ["MutantStack", "all_mutants"]

#: The modules of this package that hold the machinery and no mutants.
MACHINERY = ("base", "wrappers", "trials", "marks")


def all_mutants() -> Mapping[str, MutantStack]:
    """Every mutant by name, in the order of the modules."""
    found: dict[str, MutantStack] = {}
    for module in pkgutil.iter_modules(__path__):
        if module.name in MACHINERY:
            continue
        for value in vars(importlib.import_module(f"{__name__}.{module.name}")).values():
            if isinstance(value, MutantStack):
                if value.name in found:
                    raise ValueError(f"two mutants are called {value.name!r}")
                found[value.name] = value
    return found
