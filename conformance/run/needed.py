"""The capabilities that a program itself needs, as its eager side shows them."""

from __future__ import annotations

import re

from conformance.contract.failure import path_of
from conformance.oracle.observation import UNTRACKED, Observation

#: Where what a program writes to lies, by the capability that the write needs.
_WRITTEN = {
    "arguments": "input_mutation",
    "globals": "input_mutation",
    "parameters": "module_state",
    "buffers": "module_state",
}


def needed(eager: Observation) -> dict[str, str]:
    """The capabilities without which no stack can do what eager did, each with what eager did.

    A case names what its clause is about (`needs`); a program of its tables may need more: a row with inputs that
    require grad, with a write, or with calls that one compilation cannot serve.
    """
    found: dict[str, str] = {}
    dtypes: dict[str, object] = {}
    for phase in eager.phases:
        for (where, observable), fact in phase.facts.items():
            kind = path_of(where)[0]
            if observable == "requires_grad" and fact is True and kind == "outputs":
                found.setdefault("training", f"{where} requires grad")
            if phase.kind == "call" and kind == "arguments" and observable == "dtype":
                argument = re.sub(r"^calls\[\d+\]\.", "", where)
                if dtypes.setdefault(argument, fact) != fact:
                    found.setdefault("recompiles", f"{argument} is of another dtype in a later call")
            written = phase.kind == "call" and observable == "version" and fact in ("moved", UNTRACKED)
            if written and kind in _WRITTEN:
                found.setdefault(_WRITTEN[kind], f"{where} is written to")
    return found
