"""A stand-alone script of one run: torch and the stack only, to paste into a bug report."""

from __future__ import annotations

import ast
import contextlib
import inspect
import platform
import sys
from collections.abc import Iterable
from importlib import resources
from pathlib import Path
from types import ModuleType
from typing import Any

import jinja2
import torch

from conformance.programs import CallSequence, Program, TensorRecipe
from conformance.runs import Run
from conformance.stacks.base import BASE_CONFIG

#: The script compares floats with eager itself, since a reference would need this project: units of last place.
ULPS = 256
#: How a script exports what eager runs as it is.
EXPORTS = {
    "torch.export.export": "torch.export.export(program, arguments).module()",
    "torch._dynamo.export": "torch._dynamo.export(program, assume_static_by_default=True)(*arguments)[0]",
}


class ScriptError(ValueError):
    """No script can be written; the message says why in one line."""


def script(run: Run, *, title: str, first_divergence: str | None = None) -> str:
    """The text of a script that runs both sides, prints what differs and exits 1, or prints `conforms`."""
    program = run.program
    if program.cut_before:
        raise ScriptError(f"graphs are cut before {program.cut_before}, and only this project does that")
    entry = program.function if program.function is not None else _made_by(program)
    calls = run.calls
    needed = [entry, *([] if isinstance(calls, CallSequence) else [calls])]
    needed += [step for step in (program.after, program.within) if step not in (None, contextlib.nullcontext)]
    source = _sources(needed)
    if isinstance(calls, CallSequence):
        source += "\n\n\n" + _calls_source(calls)
    template = resources.files("conformance").joinpath("standalone.py.j2").read_text(encoding="utf-8")
    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
    calls_name = "calls" if isinstance(calls, CallSequence) else _name(calls)
    built = _name(entry)
    if program.make is not None:
        built = f"{built}().to(DEVICE)" if isinstance(entry, type) else f"{built}(DEVICE)"
    return environment.from_string(template).render(
        header=_header(run, title, first_divergence),
        source=source,
        device=repr(run.device),
        config=repr({**BASE_CONFIG, **run.stack.config, **program.config}),
        compile=_compile_expression(run),
        program=built,
        calls=f"{calls_name}(DEVICE)",
        inference=_inference(program),
        backward=program.runs_backward,
        after=_name(program.after) if program.after is not None else "",
        export=EXPORTS[program.export] if program.export else "",
        within="contextlib.nullcontext" if program.within is contextlib.nullcontext else _name(program.within),
        ulps=ULPS,
    )


def _header(run: Run, title: str, first_divergence: str | None) -> Iterable[str]:
    yield title
    yield f"stack {run.stack.name}, device {run.device}; first divergence: {first_divergence or 'none'}"
    gpu = f", {torch.cuda.get_device_name()}" if run.device.startswith("cuda") else ""
    machine = f"{platform.system()} {platform.machine()}{gpu}"
    yield f"torch {torch.__version__}, Python {platform.python_version()}, {machine}"
    for found in run.comparison.discrepancies:
        yield " ".join(str(found).split())


def _compile_expression(run: Run) -> str:
    backend = run.stack.backend
    options = f", dynamic={run.program.dynamic}, fullgraph={run.program.fullgraph}"
    if backend is None:
        return "program"
    if isinstance(backend, str):
        return f"torch.compile(program, backend={backend!r}{options})"
    module, _, attribute = run.stack.spec.partition(":")
    return f"torch.compile(program, backend=__import__('importlib').import_module({module!r}).{attribute}{options})"


def _inference(program: Program) -> str:
    if program.inference == "inference_mode":
        return "torch.inference_mode()"
    return "torch.no_grad()" if program.inference else "contextlib.nullcontext()"


def _made_by(program: Program) -> Any:
    return getattr(program.make, "module_class", program.make)


def _name(value: Any) -> str:
    name: str = getattr(value, "__name__", "")
    if not name.isidentifier() or "<locals>" in getattr(value, "__qualname__", ""):
        raise ScriptError(f"{value!r} is not a function or class of its module's top level: no script can name it")
    return name


def _sources(needed: list[Any]) -> str:
    """The top-level statements that the needed names reach, module by module, in their order."""
    by_module: dict[str, set[str]] = {}
    for one in needed:
        by_module.setdefault(one.__module__, set()).add(_name(one))
    return "\n\n\n".join(_reachable(sys.modules[module], names) for module, names in by_module.items())


def _reachable(module: ModuleType, wanted: set[str]) -> str:
    file = inspect.getsourcefile(module)
    if file is None:
        raise ScriptError(f"the source of {module.__name__} is not to be had")
    text = Path(file).read_text(encoding="utf-8")
    lines = text.splitlines()
    statements = [(node, _bound(node), _used(node)) for node in ast.parse(text).body]
    # Statements that only act (a library that defines an operator) are reached by no name.
    taken = {index for index, (node, _, _) in enumerate(statements) if _acts(node)}
    pending = set(wanted).union(*(statements[index][2] for index in taken))
    while pending:
        name = pending.pop()
        for index, (_, bound, used) in enumerate(statements):
            if name in bound and index not in taken:
                taken.add(index)
                pending |= used
    parts = []
    for index in sorted(taken):
        node = statements[index][0]
        first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
        parts.append("\n".join(lines[first - 1 : node.end_lineno]))
    return "\n\n".join(part for part in parts if part != "import torch" and not part.startswith("from conformance"))


def _acts(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)


def _bound(node: ast.stmt) -> set[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        # `@op.register_fake` is about `op`: whoever needs the operator needs the function
        return {node.name}.union(*(_used(one) for one in node.decorator_list)) - {"torch", "pytest"}
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}


def _used(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}


def _calls_source(calls: CallSequence) -> str:
    rows = []
    for one_call in calls.recipes:
        rows.append(f"({', '.join(_recipe_source(recipe) for recipe in one_call)},)")
    return "def calls(device):\n    return [\n" + "".join(f"        {row},\n" for row in rows) + "    ]"


def _recipe_source(recipe: TensorRecipe) -> str:
    values = recipe.build("cpu").detach()
    text = f"torch.tensor({values.tolist()}, dtype={values.dtype}, device=device)"
    if values.numel() > 64:
        text = f"((torch.arange({values.numel()}) * 5 + {recipe.seed * 3 + 1}) % 7 - 3)"
        text += f".reshape({recipe.shape}).to(device=device, dtype={values.dtype})"
    elif 0 in recipe.shape:
        text = f"torch.empty({recipe.shape}, dtype={values.dtype}, device=device)"
    return f"{text}.requires_grad_()" if recipe.requires_grad else text
