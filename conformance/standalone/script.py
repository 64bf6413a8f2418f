"""A stand-alone script of one run: torch and the stack only, to paste into a bug report."""

from __future__ import annotations

import ast
import math
import os
import platform
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch

from conformance.contract.failure import Discrepancy, of_part
from conformance.probes import BackwardMarks, CutBefore, ExportedBy, JointExport, Profiler, Within
from conformance.probes.joint_export import exporting
from conformance.probes.pieces import in_pieces
from conformance.program.expressions import Expressions
from conformance.program.programs import Calls, Program
from conformance.program.sources import ScriptError, bound
from conformance.stacks import Stack
from conformance.stacks.aot_inductor import AotInductorStack, export_program, load_program
from conformance.stacks.config import BASE_CONFIG, where_known
from conformance.standalone.pasting import order, renamed, runtime

#: What the case says about the compilation and a script can count.
COUNTED = ("graphs", "recompiles", "graph_breaks")
#: Observables that are compared by value.
VALUES = ("value", "storage_contents")


@dataclass(frozen=True)
class Subject:
    """What a script is written of: a program and its calls on a stack, and what was seen of them."""

    stack: Stack
    program: Program
    calls: Calls
    device: str
    discrepancies: Sequence[Discrepancy] = ()
    first_divergence: str | None = None
    #: Seconds that the stack may take, where it ended its process or hung.
    in_child: float = 0
    #: The modules whose top-level names may stand for values.
    modules: Sequence[str] = field(default=())
    #: Where several programs were tried, those to run, by what the places of their discrepancies begin with.
    parts: Mapping[str, tuple[Program, Calls]] = field(default_factory=dict)
    #: What the lines of this part begin with.
    name: str = ""

    def each(self) -> Iterator[Subject]:
        """What the script runs, each with its own discrepancies: one program and its calls, or every part."""
        if not self.parts:
            yield self
        for name, (program, calls) in self.parts.items():
            own = of_part(self.discrepancies, name)
            yield replace(self, program=program, calls=calls, discrepancies=[*own], parts={}, name=name)


def script_of(subject: Subject, *, title: str, folder: Path | None = None) -> str:
    """The text of a script that runs both sides: exit status 1 where they differ, 0 where they do not, 2 on a fault.

    ``folder`` is where it will lie: the folder of this run is then found from there.
    """
    expressions = Expressions(subject.modules)
    cases = [dict(_fields(one, expressions)) for one in subject.each()]
    compile_program = _compile(subject.stack, subject.program, expressions)
    program = expressions.text()
    taken = {name for node in ast.parse(program).body for name in bound(node)}
    imports, pasted = runtime(taken)
    imports |= {*expressions.sources.imports, "import torch"}
    future = "from __future__ import annotations\n\n" if expressions.sources.postponed else ""
    parts = [
        "\n".join(f"# {line}".rstrip() for line in _header(subject, title)),
        f"{future}import os\nimport sys",
        f"{_PREPARED.strip()}\nsys.path[:0] = [os.getcwd(){_folder(folder)}]",
        "\n".join(sorted(imports - {"import os", "import sys"}, key=order)),
        program,
        compile_program,
        f"CASES = [\n{''.join(map(_case, cases))}]",
        _THE_SAME,
        pasted,
        (
            f'if __name__ == "__main__":\n'
            f"    sys.exit({renamed('main', taken)}(*({renamed('Case', taken)}(**one) for one in CASES)))"
        ),
    ]
    return "\n\n\n".join(filter(None, parts)) + "\n"


_PREPARED = '''
def told_in_one_line(kind, error, where):
    """What ends the script before it has compared anything: exit status 2."""
    print(f"the script failed: {kind.__name__}: {next(iter(str(error).splitlines()), '')}")
    sys.stdout.flush()
    os._exit(2)


sys.excepthook = told_in_one_line
'''
_THE_SAME = "# What follows runs both sides and compares what a caller sees of them; it is the same in every script."


def _folder(folder: Path | None) -> str:
    if folder is None:
        return ""
    return f", os.path.join(os.path.dirname(os.path.abspath(__file__)), {os.path.relpath(Path.cwd(), folder)!r})"


def _case(fields: Mapping[str, str]) -> str:
    written = "".join(f"        {name!r}: {value},\n" for name, value in fields.items())
    return f"    {{\n{written}        'compile': compile_program,\n    }},\n"


def _header(subject: Subject, title: str) -> Iterable[str]:
    yield title
    yield f"stack {subject.stack.name}, device {subject.device}; first divergence: {subject.first_divergence or 'none'}"
    gpu = f", {torch.cuda.get_device_name()}" if subject.device.startswith("cuda") else ""
    machine = f"{platform.system()} {platform.machine()}{gpu}"
    yield f"torch {torch.__version__}, Python {platform.python_version()}, {machine}"
    for found in subject.discrepancies:
        yield " ".join(str(found).split())
    for probe in subject.program.probes:
        if isinstance(probe, (BackwardMarks, Profiler)):
            yield f"not in this script: what {type(probe).__name__} shows"


def _fields(subject: Subject, write: Expressions) -> Iterator[tuple[str, str]]:
    """The fields of the script's case that are not their defaults, as source."""
    program = subject.program
    if program.function is not None:
        yield "program", write.of(program.function)
    else:
        yield "make", write.of(program.make)
    yield "calls", write.of(subject.calls)
    yield "device", repr(subject.device)
    for name in ("after", "tangent"):
        if getattr(program, name) is not None:
            yield name, write.of(getattr(program, name))
    if program.inference:
        yield "inference", repr("inference_mode" if program.inference == "inference_mode" else "no_grad")
    if program.backward is not True:
        yield "backward", write.of(program.backward)
    if program.threads:
        yield "threads", repr(program.threads)
    contexts = [probe.context for probe in program.probes if isinstance(probe, Within)]
    if len(contexts) > 1:
        raise ScriptError("sides run inside several contexts")
    if contexts:
        yield "within", write.of(contexts[0])
    if not program.watched:
        yield "watched", "False"
    if subject.stack.compiles:
        yield "config", write.of({**where_known(), **BASE_CONFIG, **subject.stack.config, **program.config})
    if any(found.observable == "lifetime" for found in subject.discrepancies):
        yield "fates", "True"
    promised = {found.observable: found.expected for found in subject.discrepancies if found.observable in COUNTED}
    if promised:
        yield "promised", repr(promised)
    for found in subject.discrepancies:
        if found.name == "error.expectation":
            yield "says", repr(" ".join(found.expected.split()))
    off_by = {found.name: _distance(found) for found in subject.discrepancies if found.observable in VALUES}
    if told := {name: distance for name, distance in off_by.items() if 0 < distance < math.inf}:
        yield "off_by", repr(told)
    if subject.name:
        yield "name", repr(subject.name)
    if subject.in_child:
        yield "in_child", repr(subject.in_child)


def _distance(found: Discrepancy) -> float:
    """How far apart the two numbers are that a discrepancy tells; 0 where it tells none."""
    try:
        expected, actual = (float(re.split("[ ,]", told)[0]) for told in (found.expected, found.actual))
    except ValueError:
        return 0.0
    return abs(expected - actual)


def _compile(stack: Stack, program: Program, write: Expressions) -> str:
    """The function that makes of a program what is called on the stack's side."""
    lines = []
    write.sources.imports |= {f"import {name}": None for name in stack.imports}
    for probe in program.probes:
        if isinstance(probe, ExportedBy):
            if probe.exporter == "torch._dynamo.export":
                write.sources.imports["import torch._dynamo"] = None
                lines.append(
                    "program = torch._dynamo.export(program, assume_static_by_default=True)(*arguments, **keywords)[0]"
                )
            else:
                lines.append("program = torch.export.export(program, arguments, keywords).module()")
    if isinstance(stack, AotInductorStack):
        exported = f"{write.of(export_program)}(program, arguments, keywords, {program.dynamic})"
        lines.append(f"return {write.of(load_program)}({exported})")
    elif not stack.compiles:
        lines.append("return program")
    else:
        given = f"backend={_backend(stack, program, write)}"
        given += f", dynamic={program.dynamic}" if program.dynamic is not None else ""
        given += ", fullgraph=True" if program.fullgraph else ""
        given += f", options={write.of(dict(stack.options))}" if stack.options else ""
        lines.append(f"return torch.compile(program, {given})")
    return "def compile_program(program, arguments, keywords):\n" + "\n".join(f"    {line}" for line in lines)


def _backend(stack: Stack, program: Program, write: Expressions) -> str:
    backend = stack.backend
    if type(stack).compile is not Stack.compile or (not isinstance(backend, str) and not stack.spec):
        raise ScriptError(f"the stack {stack.name} compiles by code of its own, which a script cannot name")
    wrapping = [probe for probe in program.probes if isinstance(probe, (CutBefore, JointExport))]
    if isinstance(backend, str):
        told = repr(backend)
        if wrapping:
            write.sources.imports["import torch._dynamo.backends.registry"] = None
            told = f"torch._dynamo.backends.registry.lookup_backend({told})"
    else:
        module, _, attribute = stack.spec.partition(":")
        write.sources.imports["import importlib"] = None
        told = f"importlib.import_module({module!r}).{attribute}"
    for probe in wrapping:
        if isinstance(probe, CutBefore):
            told = f"{write.of(in_pieces)}({told}, {probe.operator!r})"
        else:
            told = f"{write.of(exporting)}({told}, lambda graph: None)"
    return told
