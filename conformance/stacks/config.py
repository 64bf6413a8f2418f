"""Config patches: those of every run, and how "dynamo.x", "inductor.x" and "functorch.x" are set and put back."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import torch

#: Patched in every run: random numbers are eager's, and no measurement on a busy device decides what is compiled.
BASE_CONFIG: Mapping[str, Any] = {"inductor.fallback_random": True, "inductor.shape_padding": False}
#: Patched in every run on releases that have them: torch makes the first true where the environment has ``CI``, and the
#: second has the C++ compiler write line numbers for profilers.
WHERE_KNOWN: Mapping[str, Any] = {
    "functorch.error_on_custom_op_aliasing": False,
    "inductor.aot_inductor.enable_line_tables": False,
}
#: The above, as results say it.
SENTENCES = (
    "Inductor takes its random numbers from eager's operators.",
    "Inductor does not measure whether padding pays.",
    "AOTAutograd warns of custom operators that alias, and does not raise.",
    "AOTInductor's kernels have no line numbers.",
)
CONFIG_MODULES = {
    "dynamo": "torch._dynamo.config",
    "inductor": "torch._inductor.config",
    "functorch": "torch._functorch.config",
}


class StackError(ValueError):
    """A stack or configuration that does not exist; the message is one line that says what does."""


@contextmanager
def patched(config: Mapping[str, Any]) -> Iterator[None]:
    """Patch "dynamo.x", "inductor.x", "functorch.x" and put them back; an unknown name is a `StackError`."""
    with ExitStack() as stack:
        for name, value in config.items():
            module, key = _config(name)
            if not _has(module, key):
                raise StackError(f"torch {torch.__version__} has no config {name!r}")
            stack.enter_context(module.patch({key: value}))
        yield


def where_known() -> dict[str, Any]:
    """`WHERE_KNOWN` as far as this release has it."""
    return {name: value for name, value in WHERE_KNOWN.items() if _has(*_config(name))}


def _config(name: str) -> tuple[Any, str]:
    """The module of a config and its name there."""
    prefix, _, key = name.partition(".")
    if prefix not in CONFIG_MODULES or not key:
        raise StackError(f"unknown config {name!r}: names start with {', '.join(CONFIG_MODULES)} and a dot")
    return importlib.import_module(CONFIG_MODULES[prefix]), key


def _has(module: Any, key: str) -> bool:
    try:
        value = module
        for part in key.split("."):
            value = getattr(value, part)
    except AttributeError:
        return False
    return True
