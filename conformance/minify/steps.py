"""The minifier as a user meets it: the failing program, its launcher, its repro, each in a process of its own."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from conformance.minify import child, describe
from conformance.minify.client import Ended, StepRunner, step_runner
from conformance.minify.faults import NO_FAULT, Fault, FaultyBackend, dumps
from conformance.minify.minifier_run import MinifierRun, Reason, Step
from conformance.minify.scripts import Script

SECONDS = 180.0
# Queries in one process, and no query whether the program fails, which its own step has just shown.
QUICK_FLAGS = {
    "dynamo": ["--no-isolate"],
    "aot": ["--no-isolate", "--skip-sanity"],
    "aot_inductor": ["--skip-sanity"],
}


class MinifiableStack(Protocol):
    """What the minifier needs of a stack."""

    @property
    def backend(self) -> str:
        """The name that ``torch.compile`` takes, or ``module:callable``."""

    @property
    def config(self) -> Mapping[str, Any]:
        """Configuration patches, as ``{"inductor.freezing": True}``."""

    @property
    def imports(self) -> Sequence[str]:
        """Modules to import before the backend exists."""

    @property
    def options(self) -> Mapping[str, Any]:
        """The options that the backend is given in every call."""

    @property
    def patches(self) -> Sequence[str]:
        """Functions, as ``module:function``, to call in each process before its script is run."""


def minify(
    stack: MinifiableStack,
    program: Callable[..., Any],
    calls: Callable[[str], Any],
    *,
    device: str,
    fault: str | Sequence[str] = (),
    backend: str | None = None,
    after: str = "dynamo",
    level: int | None = None,
    keywords: Callable[[str], Mapping[str, Any]] | None = None,
    dynamic: bool | None = None,
    config: Mapping[str, Any] | None = None,
    inference: bool = False,
    backward: bool = False,
    checkpoints: bool = False,
    launcher: Sequence[str] = (),
    isolate: bool = False,
    seconds: float = SECONDS,
) -> MinifierRun:
    """Run a program that fails under the minifier, then the launcher, then the repro.

    ``fault`` is ``operator.kind``: after Dynamo in a wrapper around the stack's own backend, later in inductor's code
    generation. ``backend`` names another backend instead, which may have a fault of its own. ``level`` is torch's
    ``repro_level``: by default 2, which dumps what raises, or 4, which compares, for a fault that has to be compared.
    ``launcher`` holds flags of the launcher, beside those that make it quick; ``isolate`` leaves it its own defaults.
    Under ``inference`` the program is called without gradients, with ``backward`` its results are differentiated, and
    with ``checkpoints`` what the launcher wrote on its way is run as well.
    """
    faults = [Fault.of(text) for text in ([fault] if isinstance(fault, str) else fault)]
    settings = {**stack.config, **(config or {})}
    options = {} if backend else dict(stack.options)
    backend = backend or stack.backend
    faulty: list[FaultyBackend] = []
    patches = list(stack.patches)
    if after == "dynamo" and not faults and (":" in backend or options):
        faults = [NO_FAULT]  # the scripts need a name, and those that torch writes know of no options
    for one in faults:
        if after == "dynamo":
            faulty.append(FaultyBackend.around(backend, one, stack.imports, options))
            backend, options = faulty[-1].name, {}
        else:
            settings |= one.injected(device)
            patches += one.patches(device)
    if level is None:
        level = 4 if any(one.compared for one in faults) else 2
    how = (after, level, dynamic, keywords, settings, inference, backward)
    script = Script(program, calls, device, backend, *how, options)
    flags = [] if isolate else QUICK_FLAGS[after]
    environment = {child.FAULT: dumps(faulty, patches)} if faulty or patches else {}
    return Steps(step_runner(), environment, seconds).run(script, [*launcher, *flags], checkpoints=checkpoints)


class Steps:
    """Runs the three steps in a folder that is gone afterwards."""

    def __init__(self, server: StepRunner, environment: Mapping[str, str], seconds: float) -> None:
        self.server = server
        self.environment = dict(environment)
        self.seconds = seconds
        self.steps: dict[str, Step] = {}
        self.scripts: dict[str, str] = {}
        self.checkpoints: dict[str, Step] = {}

    def run(self, script: Script, flags: Sequence[str], *, checkpoints: bool = False) -> MinifierRun:
        """All steps that are reached; each needs the file that the one before writes."""
        with self.server.folder() as folder:
            debug = folder / "debug"
            program = self.place(folder, "program")
            (program / "program.py").write_text(text := script.text(debug), encoding="utf-8")
            self.scripts["program"] = text
            self.steps["program"] = self.step("program", ["program.py"], program)
            launcher = next(debug.glob("*/minifier/minifier_launcher.py"), None)
            if launcher is None:
                return self.record()
            shutil.rmtree(program)
            self.scripts["launcher"] = launcher.read_text(encoding="utf-8")
            place = self.place(folder, "launcher")
            self.steps["launcher"] = self.step("launcher", [str(launcher), "minify", *flags], place)
            if checkpoints:
                for written in sorted((place / "checkpoints").glob("*.py")):
                    elsewhere = self.place(folder, written.stem)
                    self.checkpoints[written.name] = self.step(written.name, [str(written)], elsewhere)
            if not (place / "repro.py").exists():
                return self.record()
            # The repro has to stand alone: elsewhere, as somebody else, without what it came from but the saved inputs.
            repro = self.place(folder, "repro")
            shutil.move(place / "repro.py", repro)
            launcher.unlink()
            self.scripts["repro"] = (repro / "repro.py").read_text(encoding="utf-8")
            somebody = {"USER": "somebody", "LOGNAME": "somebody"}
            self.steps["repro"] = self.step("repro", ["repro.py"], repro, somebody)
            return self.record(**self.described(repro))

    def place(self, folder: Path, name: str) -> Path:
        """A folder for one step, with one for its temporary files beside it."""
        for path in (folder / name, folder / f"{name}.tmp"):
            path.mkdir()
        return folder / name

    def child(self, argv: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> Ended:
        """Run one script of this run; the steps share a cold cache, as one person's do."""
        return self.server.run(
            [str(folder / argv[0]), *argv[1:]],
            folder=folder,
            environment={
                **self.environment,
                "TMPDIR": f"{folder}.tmp",
                "TORCHINDUCTOR_CACHE_DIR": str(folder.parent / "cache"),
                **(environment or {}),
            },
            seconds=self.seconds,
        )

    def step(self, name: str, argv: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> Step:
        """Run one step and return what it did."""
        record = Path(f"{folder}.tmp") / "reason.json"
        before = set(folder.rglob("*"))
        ended = self.child(argv, folder, {child.RECORD: str(record), **(environment or {})})
        return Step(
            name=name,
            status=ended.status,
            timed_out=ended.timed_out,
            seconds=ended.seconds,
            cpu_seconds=ended.cpu_seconds,
            output=re.sub(re.escape(str(folder.parent)), "", ended.output),
            reason=Reason(*json.loads(record.read_text(encoding="utf-8"))) if record.exists() else None,
            files=tuple(sorted(str(path.relative_to(folder)) for path in set(folder.rglob("*")) - before)),
            limit=self.seconds,
        )

    def described(self, folder: Path) -> dict[str, str]:
        """The modules as canonical graphs and the repro's inputs as lines, by a child that does not run them."""
        answer, before = folder / "described.json", folder / "before.py"
        before.write_text(self.scripts["launcher"], encoding="utf-8")
        scripts = [str(folder / "repro.py"), str(before)]
        ended = self.child([str(Path(describe.__file__)), str(answer), *scripts], folder)
        if not answer.exists():
            return {"graph": f"cannot be read:\n{ended.output.strip()}"}
        repro, launcher = json.loads(answer.read_text(encoding="utf-8"))
        return {"graph": repro["graph"], "input_lines": repro["inputs"], "launcher_graph": launcher["graph"]}

    def record(self, **described: str) -> MinifierRun:
        """What there is to assert."""
        return MinifierRun(self.steps, self.scripts, self.checkpoints, **described)
