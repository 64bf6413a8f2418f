"""A stand-alone script of one run: torch and the stack only, to paste into a bug report."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from importlib import resources
from typing import Any

import jinja2
import torch

from conformance.probes import CutBefore, ExportedBy, Within
from conformance.program.programs import CallSequence, Program, TensorRecipe
from conformance.program.sources import ScriptError, name_of, source_of
from conformance.run.run import Run
from conformance.stacks.config import BASE_CONFIG

#: The script compares floats with eager itself, since a reference would need this project: units of last place.
ULPS = 256
#: How a script exports what eager runs as it is.
EXPORTS = {
    "torch.export.export": "torch.export.export(program, arguments).module()",
    "torch._dynamo.export": "torch._dynamo.export(program, assume_static_by_default=True)(*arguments)[0]",
}


def script(run: Run, *, title: str, first_divergence: str | None = None) -> str:
    """The text of a script that runs both sides, prints what differs and exits 1, or prints `conforms`."""
    program = run.program
    for probe in program.probes:
        if isinstance(probe, CutBefore):
            raise ScriptError(f"graphs are cut before {probe.operator}, and only this project does that")
    contexts = [probe.context for probe in program.probes if isinstance(probe, Within)]
    exporters = [probe.exporter for probe in program.probes if isinstance(probe, ExportedBy)]
    entry = program.function if program.function is not None else _made_by(program)
    calls = run.calls
    needed = [entry, *([] if isinstance(calls, CallSequence) else [calls])]
    needed += [step for step in (program.after, *contexts) if step is not None]
    source = source_of(needed)
    if isinstance(calls, CallSequence):
        source += "\n\n\n" + _calls_source(calls)
    template = resources.files("conformance.run").joinpath("standalone.py.j2").read_text(encoding="utf-8")
    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
    calls_name = "calls" if isinstance(calls, CallSequence) else name_of(calls)
    built = name_of(entry)
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
        behind=any(found.where.startswith("leaves[") for found in run.comparison.discrepancies),
        after=name_of(program.after) if program.after is not None else "",
        export=EXPORTS[exporters[0]] if exporters else "",
        within=name_of(contexts[0]) if contexts else "contextlib.nullcontext",
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
