"""``python -m conformance.case_lint cases``: one line a finding, exit status 1 if there was one."""

from __future__ import annotations

import sys
from pathlib import Path

from conformance.case_lint import lint


def case_files(places: list[Path]) -> list[Path]:
    """The case files below the folders, and the files that are named themselves."""
    return [file for place in places for file in (sorted(place.rglob("test_*.py")) if place.is_dir() else [place])]


def main(arguments: list[str]) -> int:
    """Lint what is named, or ``cases``."""
    places = [Path(argument) for argument in arguments] or [Path("cases")]
    files = case_files([place for place in places if place.exists()])
    if not files:
        print(f"no case files under {' '.join(arguments) or 'cases'}", file=sys.stderr)
        return 2
    findings = [finding for file in files for finding in lint(file, file.read_text(encoding="utf-8"))]
    for finding in findings:
        print(finding)
    print(f"{len(files)} case files, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
