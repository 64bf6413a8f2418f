"""The registry of stacks: those that ship, and how a name, callable or file becomes one."""

from __future__ import annotations

from conformance.contract.registry import nearest
from conformance.stacks.base import Stack
from conformance.stacks.builtin import BUILTIN
from conformance.stacks.config import StackError
from conformance.stacks.external import from_backend_name, from_callable, from_toml, registered_backends

__all__ = ["Stack", "StackError", "all_stacks", "given", "resolve"]


def all_stacks() -> list[Stack]:
    """The shipped stacks, then a stack for every other backend that is registered with Dynamo."""
    shipped = {stack.name for stack in BUILTIN}
    others = [from_backend_name(name) for name in registered_backends() if name not in shipped]
    return [*BUILTIN, *others]


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
    if spec.endswith(".toml"):
        return from_toml(spec)
    if ":" in spec:
        return from_callable(spec)
    if spec in registered_backends():
        return from_backend_name(spec)
    names = [stack.name for stack in all_stacks()]
    raise StackError(
        f"unknown stack {spec!r}; {nearest(spec, names, limit=12)}; or package.module:callable, or a .toml file"
    )
