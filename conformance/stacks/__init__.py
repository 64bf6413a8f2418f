"""The registry of stacks: those that ship, and how a name, callable or file becomes one."""

from __future__ import annotations

from conformance.contract.registry import nearest
from conformance.stacks.base import Stack
from conformance.stacks.builtin import BUILTIN
from conformance.stacks.config import StackError
from conformance.stacks.description import read, ready, shipped
from conformance.stacks.external import from_backend_name, from_callable, registered_backends

__all__ = ["Stack", "StackError", "all_stacks", "given", "resolve"]


def all_stacks() -> list[Stack]:
    """Torch's own stacks, those that are described here, then one for every other backend that Dynamo knows.

    To be listed: what is described need not be installed.
    """
    known = {**{stack.name: stack for stack in BUILTIN}, **shipped()}
    others = [from_backend_name(name) for name in registered_backends() if name not in known]
    return [*known.values(), *others]


#: What each stack was asked for by, where that is not its name.
_GIVEN: dict[str, str] = {}


def given(name: str) -> str:
    """What a stack was asked for by in this process: a TOML file, say; its name where nobody asked."""
    return _GIVEN.get(name, name)


def resolve(spec: str) -> Stack:
    """The stack a name, a ``package.module:callable`` or a TOML file stands for, or a one-line `StackError`."""
    stack = _resolved(spec)
    _GIVEN[stack.name] = spec
    return stack


def _resolved(spec: str) -> Stack:
    for stack in BUILTIN:
        if stack.name == spec:
            return stack
    described = shipped()
    if spec in described:
        return ready(described[spec], spec)
    if spec.endswith(".toml"):
        return ready(read(spec), spec)
    if ":" in spec:
        return from_callable(spec)
    if spec in registered_backends():
        return from_backend_name(spec)
    names = [stack.name for stack in all_stacks()]
    raise StackError(
        f"unknown stack {spec!r}; {nearest(spec, names, limit=16)}; or package.module:callable, or a .toml file"
    )
