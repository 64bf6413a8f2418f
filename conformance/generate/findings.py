"""A distinct finding of a campaign: its shrunk program, where it goes wrong first, its script and its result."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from conformance.contract.failure import Discrepancy
from conformance.results.result_file import CaseResult
from conformance.run.check import load, program_of
from conformance.run.run import Run
from conformance.stacks import Stack
from conformance.standalone.script import Subject
from conformance.standalone.writing import tried, write
from conformance.suite.target import Target

#: Findings are told as cases of this file, which no one wrote.
CASE = "generated/explore::"


@dataclass
class Found:
    """One distinct finding: its signature, its shrunk program, how often and with what it showed."""

    signature: str
    program: str
    discrepancies: list[Discrepancy]
    first_divergence: str | None = None
    script: str = ""

    @property
    def name(self) -> str:
        return hashlib.sha256(self.signature.encode()).hexdigest()[:10]

    def explain(self, stack: Stack, device: str, folder: Path) -> None:
        """The first diverging rung and the stand-alone script, from one more run of the shrunk program."""
        programs, failures = folder / "programs", folder / "failures"
        for path in (programs, failures):
            path.mkdir(parents=True, exist_ok=True)
        file = programs / f"found_{self.name}.py"
        file.write_text(self.program, encoding="utf-8")
        module = load(str(file))
        run = Run(stack, program_of(module, str(file)), module.calls, device)
        self.first_divergence = run.first_divergence()
        title = f"{CASE}{self.name}"
        found = run.comparison.discrepancies
        subject = Subject(stack, run.program, run.calls, device, found, self.first_divergence)
        self.script = str(tried(write(subject, title, Target(stack.name, device), failures)))

    def result(self, target: Target) -> CaseResult:
        """What the results file keeps."""
        return CaseResult(
            f"{CASE}{self.name}",
            [],
            "generated",
            target.stack,
            target.device,
            "fail",
            reason=self.signature,
            discrepancies=self.discrepancies,
            first_divergence=self.first_divergence,
        )
