"""Pasted into scripts: one more call, on arguments that nothing else keeps, and what is alive after it."""

from __future__ import annotations

import dataclasses
import gc
import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from conformance.standalone.looking import Facts, leaves
from conformance.standalone.stepping import Case, as_tuple, one_call, run_backward, seed

LET_GO = "let go"


@dataclasses.dataclass
class Mortal:
    """A tensor that is not kept alive here, and its memory."""

    where: str
    tensor: Any
    memory: Any

    def fate(self) -> str:
        if self.tensor() is not None:
            return "kept alive"
        return LET_GO if self.memory.expired() else "its memory is kept alive"


def one_more_call(case: Case, run: Callable[..., Any]) -> list[Mortal]:
    """Make the last call once more; no name of this frame, which ends here, holds what is watched."""
    arguments, keywords, _ = one_call(list(case.calls(case.device))[-1])
    seed(0)
    with case.grad_mode():
        output = run(*arguments, **keywords)
    if case.backward is True and not case.inference:
        run_backward(case, [output])
    held = [("arguments", arguments), ("arguments", keywords), ("outputs", as_tuple(output))]
    return [
        Mortal(where, weakref.ref(one), StorageWeakRef(one.untyped_storage()))  # type: ignore[no-untyped-call]
        for name, values in held
        for where, one in leaves(values, name)
        if isinstance(one, torch.Tensor) and one.layout is torch.strided
    ]


def fates(case: Case, run: Callable[..., Any]) -> Facts:
    """Whether arguments and outputs of one more call outlive it; on a GPU whether memory grows with every call."""
    try:
        with torch.compiler.set_stance("eager_on_recompile"):
            made = one_more_call(case, run)
            gc.collect()
            facts: Facts = {(one.where, "lifetime"): one.fate() for one in made}
            if case.device.startswith("cuda"):
                before = torch.cuda.memory_allocated(case.device)
                one_more_call(case, run)
                gc.collect()
                grown = torch.cuda.memory_allocated(case.device) > before
                facts["memory", "lifetime"] = "grows with every call" if grown else LET_GO
            return facts
    except Exception:  # a call that raises tells nothing
        return {}
