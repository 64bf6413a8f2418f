"""One run of the minifier: what each step did, and the assertions that say which step failed its purpose."""

from __future__ import annotations

import difflib
import re
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field

from conformance.canonical.expect import Expectable
from conformance.contract.failure import CaseFailure, Discrepancy
from conformance.minify.scripts import operations

STEPS = ("program", "launcher", "repro")
LONGEST_OUTPUT = 6000


@dataclass(frozen=True)
class Reason:
    """Why a script failed: the exception under those that the stack wrapped around it."""

    type: str
    message: str

    def is_like(self, other: Reason) -> bool:
        """Whether two failures have one cause; messages carry names and paths, so they need not be equal.

        An accuracy error names who noticed it, not what is wrong.
        """
        if self.type != other.type:
            return False
        if self.type == "AccuracyError":
            return True
        mine, theirs = (_bare(reason.message) for reason in (self, other))
        return difflib.SequenceMatcher(None, mine, theirs).ratio() > 0.8 if mine and theirs else mine == theirs

    def __str__(self) -> str:
        paragraph = _bare(self.message).partition("\n\n")[0].splitlines()
        return ": ".join([self.type, *paragraph[:2]])


def _bare(message: str) -> str:
    """The first lines of a message, without the paths, files, addresses and numbers that differ from run to run."""
    text = "\n".join(message.strip().splitlines()[:4])
    text = re.sub(r"\b\w+\.(py|cpp|h|so)\b", "FILE", re.sub(r"[^\s'\"(]*/[^\s'\",:)]*", "PATH", text))
    return re.sub(r"0x[0-9a-f]+|\d+", "N", text)


def _crash_site(output: str) -> str:
    """The function that was running when a signal ended the process, innermost first, as Python saw it."""
    dump = re.search(r'most recent call first\):\n  File "([^"]*)", line \d+ in (\S+)', output)
    return f" in {dump[2]} ({'/'.join(dump[1].split('/')[-2:])})" if dump else ""


@dataclass(frozen=True)
class Step:
    """What one step did."""

    name: str
    status: int
    timed_out: bool
    seconds: float
    cpu_seconds: float
    output: str
    reason: Reason | None = None
    files: tuple[str, ...] = ()
    limit: float = 0.0

    @property
    def crashed(self) -> bool:
        """Whether the process was ended by a signal: a crash, or our own when its time was over."""
        return self.status < 0 or self.timed_out

    @property
    def ending(self) -> str:
        """How it ended, in words that do not depend on the machine."""
        if self.timed_out:
            return f"still running after {self.limit:g} s"
        if self.status < 0:
            return f"killed by {signal.Signals(-self.status).name}"
        if self.status == 0:
            return "passed"
        return f"failed with {self.reason.type}" if self.reason else f"failed with status {self.status}"


class MinifierFailure(CaseFailure):
    """A step of the minifier failed its purpose: the discrepancy says how, whatever exception the script raised."""

    def __init__(self, step: str, observable: str, expected: str, actual: str, output: str = "") -> None:
        tail = output.strip()[-LONGEST_OUTPUT:]
        super().__init__(
            f"{step}: expected {expected}, got {actual}" + (f"\n\noutput of {step}:\n{tail}" if tail else ""),
            phase=step,
            discrepancies=[Discrepancy(observable, step, expected, actual)],
        )


@dataclass(frozen=True)
class MinifierRun:
    """Program, launcher and repro, each run in a process of its own."""

    steps: Mapping[str, Step]
    scripts: Mapping[str, str] = field(default_factory=dict)
    checkpoints: Mapping[str, Step] = field(default_factory=dict)
    graph: str = ""
    input_lines: str = ""
    launcher_graph: str = ""

    def step(self, name: str) -> Step:
        """A step that was reached."""
        if name not in self.steps:
            last = self.steps[max(self.steps, key=STEPS.index)]
            missing = "minifier_launcher.py" if last.name == "program" else "repro.py"
            expected = f"the {last.name} step to write {missing}"
            raise MinifierFailure(last.name, "side_effect", expected, f"nothing ({_ending(last)})", last.output)
        return self.steps[name]

    @property
    def cpu_seconds(self) -> float:
        """What all steps cost."""
        return sum(step.cpu_seconds for step in self.steps.values())

    @property
    def outcome(self) -> Expectable:
        """One line a step: how it ended."""
        return Expectable("outcome", "\n".join(f"{name}: {step.ending}" for name, step in self.steps.items()))

    @property
    def repro(self) -> Expectable:
        """The minified module as a canonical graph."""
        return Expectable("minified graph", self.graph)

    @property
    def inputs(self) -> Expectable:
        """What the repro carries of each input."""
        return Expectable("inputs of the repro", self.input_lines)

    @property
    def module(self) -> Expectable:
        """The module that the launcher starts from, as a canonical graph."""
        return Expectable("module of the launcher", self.launcher_graph)

    def assert_minified(self) -> None:
        """The program failed, the launcher made its graph smaller, and the repro fails for the same reason."""
        self._failed("program")
        launcher = self._passed("launcher")
        self.step("repro")
        before, after = (operations(self.scripts[name]) for name in ("launcher", "repro"))
        if after > before or (after == before and before > 1):
            expected = f"fewer operators than the {before} of the program"
            raise MinifierFailure("launcher", "graphs", expected, str(after), launcher.output)
        self._alike(self._failed("repro"))

    def assert_checkpoints_fail(self) -> None:
        """Everything that the launcher wrote on its way fails by itself, for the reason of the program."""
        launcher = self._passed("launcher")
        if not self.checkpoints:
            raise MinifierFailure("launcher", "side_effect", "checkpoints", "none", launcher.output)
        for step in self.checkpoints.values():
            self._alike(step)

    def assert_no_repro(self) -> None:
        """The program passed and nothing was dumped."""
        program = self._passed("program")
        if "launcher" in self.steps or program.files:
            written = ", ".join(program.files) or "minifier_launcher.py"
            raise MinifierFailure("program", "side_effect", "nothing dumped", written, program.output)

    def _alike(self, step: Step) -> None:
        """A script fails for the reason of the program."""
        program = self._failed("program")
        if step.crashed or step.reason is None or program.reason is None or not step.reason.is_like(program.reason):
            actual = _ending(step) if step.crashed or step.reason is None else str(step.reason)
            raise MinifierFailure(step.name, "exception", str(program.reason), actual, step.output)

    def _passed(self, name: str) -> Step:
        step = self.step(name)
        if step.crashed or step.status != 0:
            raise MinifierFailure(name, "exception", "to pass", _ending(step), step.output)
        return step

    def _failed(self, name: str) -> Step:
        """A step whose script has to fail, and to fail by an exception."""
        step = self.step(name)
        if step.crashed or step.reason is None:
            raise MinifierFailure(name, "exception", "an exception", _ending(step), step.output)
        return step


def _ending(step: Step) -> str:
    if step.reason and not step.crashed:
        return f"failed with {step.reason}"
    return step.ending + (_crash_site(step.output) if step.status < 0 else "")
