"""The failing program as a script that a person could run: configuration, program, inputs, compiled calls."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.program.expressions import source_of
from conformance.program.sources import ScriptError

AFTER = ("dynamo", "aot", "aot_inductor")


@dataclass(frozen=True)
class Script:
    """What the first step runs."""

    program: Callable[..., Any]
    calls: Callable[[str], Any]
    device: str
    backend: str
    after: str = "dynamo"
    level: int = 2
    dynamic: bool | None = None
    keywords: Callable[[str], Mapping[str, Any]] | None = None
    config: Mapping[str, Any] = field(default_factory=dict)
    inference: bool = False
    backward: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)

    def text(self, debug_folder: Path) -> str:
        """The script, with its debug folder."""
        parts = [
            "import torch",
            "\n".join(self._configuration(debug_folder)),
            source_of(filter(None, [self.program, self.calls, self.keywords])),
            "\n".join(self._main()),
        ]
        return "\n\n".join(parts) + "\n"

    def _configuration(self, debug_folder: Path) -> list[str]:
        if self.after not in AFTER:
            raise ScriptError(f"after={self.after!r} is not one of {', '.join(AFTER)}")
        settings: dict[str, Any] = {"dynamo.debug_dir_root": str(debug_folder)}
        if self.after == "aot_inductor":
            settings |= {
                "inductor.aot_inductor.dump_aoti_minifier": True,
                "inductor.aot_inductor.repro_level": self.level,
            }
        else:
            settings |= {"dynamo.repro_after": self.after, "dynamo.repro_level": self.level}
        settings |= self.config
        sections = sorted({name.partition(".")[0] for name in settings})
        return [
            *(f"import torch._{section}.config" for section in sections),
            "",
            *(f"torch._{name.replace('.', '.config.', 1)} = {value!r}" for name, value in settings.items()),
        ]

    def _main(self) -> list[str]:
        program = self.program.__name__
        lines = [f"device = {self.device!r}", "torch.manual_seed(0)"]
        if isinstance(self.program, type):
            takes_device = "device" in inspect.signature(self.program).parameters
            lines.append(f"program = {program}(device)" if takes_device else f"program = {program}().to(device)")
            program = "program"
        keywords = f"{self.keywords.__name__}(device)" if self.keywords else "{}"
        if self.after == "aot_inductor":
            if not isinstance(self.program, type):
                raise ScriptError("only a module class can be exported")
            return [
                *lines,
                "with torch.no_grad():",
                f"    [arguments] = {self.calls.__name__}(device)",
                f"    exported = torch.export.export({program}.eval(), arguments, {keywords})",
                "    torch._inductor.aoti_compile_and_package(exported)",
            ]
        options = f", options={dict(self.options)!r}" if self.options else ""
        return [
            *lines,
            f"compiled = torch.compile({program}, backend={self.backend!r}, dynamic={self.dynamic!r}{options})",
            f"with torch.set_grad_enabled({not self.inference}):",
            f"    for arguments in {self.calls.__name__}(device):",
            f"        compiled(*arguments, **{keywords}){'.sum().backward()' if self.backward else ''}",
        ]


def module_source(script: str) -> str:
    """The class `Repro` of a generated script, also where the script has it as a comment."""
    lines = script.splitlines()
    starts = [index for index, line in enumerate(lines) if line.removeprefix("# ").startswith("class Repro(")]
    if not starts:
        return ""
    commented = lines[starts[0]].startswith("# ")
    body = [line.removeprefix("# ") if commented else line for line in lines[starts[0] :]]
    taken = [body[0]]
    for line in body[1:]:
        if line.strip() and not line.startswith(" "):
            break
        taken.append(line)
    return "\n".join(line.rstrip() for line in taken if line.strip())


def operations(script: str) -> int:
    """How many results `Repro.forward` computes."""
    source = module_source(script)
    if not source:
        return 0
    forwards = [node for node in ast.walk(ast.parse(source)) if getattr(node, "name", "") == "forward"]
    statements = [statement for node in forwards for statement in getattr(node, "body", [])]
    return sum(
        isinstance(statement, ast.Assign) and not isinstance(statement.value, (ast.Constant, ast.Attribute, ast.Name))
        for statement in statements
    )
