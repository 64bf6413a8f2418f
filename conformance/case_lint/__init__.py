"""The lint of the cases: what a case file must look like, checked on its syntax tree without running it."""

from __future__ import annotations

from pathlib import Path

from conformance.case_lint.rules import RULES
from conformance.case_lint.syntax import CaseFile, Finding

__all__ = ["RULES", "Finding", "lint"]


def lint(path: Path, source: str) -> list[Finding]:
    """Every finding in one case file, in order of lines."""
    file = CaseFile.parse(path, source)
    found = [Finding(path, line, rule.__name__, advice) for rule in RULES for line, advice in rule(file)]
    return sorted(found, key=lambda finding: (finding.line, finding.rule))
