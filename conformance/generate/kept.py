"""Kept programs: drawn once and written down as files, so that every run of the suite sees the same ones.

``python -m conformance.generate.kept FOLDER --seed N`` draws programs and writes those that hold two statements which
none before them holds. A program that is kept stays what it is when the tables of `conformance.generate.statements`
grow.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

from conformance.contract.catalog import cases_root
from conformance.generate.sketch import Sketch, sketches, source
from conformance.program.programs import Program
from conformance.run.check import load, program_of

#: How many programs are drawn to keep a few.
DRAWN = 4000
#: What has fewer statements a person would write down as a case.
FEWEST_STATEMENTS = 4
#: What a program has to hold that no earlier one holds.
NEW_STATEMENTS = 2


def kept_programs() -> list[str]:
    """The names of the kept programs, in order."""
    return sorted(file.stem for file in _folder().glob("*.py"))


def kept(name: str) -> tuple[Program, Any]:
    """A kept program and the function that builds its calls, as a stack runs them."""
    file = _folder() / f"{name}.py"
    module = load(str(file))
    return program_of(module, str(file)), module.calls


def choose(drawn: int, seed: int) -> list[str]:
    """The texts of programs that together hold most statements."""
    import hypothesis

    texts: list[str] = []
    seen: set[str] = set()

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=drawn,
        deadline=None,
        database=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(sketches())
    def look(sketch: Sketch) -> None:
        text = source(sketch)
        held = _statements(text)
        if len(held) >= FEWEST_STATEMENTS and len(held - seen) >= NEW_STATEMENTS:
            seen.update(held)
            texts.append(text)

    look()
    return texts


def _statements(text: str) -> set[str]:
    """The lines of the program's body but its return, with every name the same."""
    body = text.partition("def program")[2].partition("\n\n\n")[0].splitlines()[1:-1]
    return {re.sub(r"\b[a-z]\b", "_", line.strip()) for line in body}


def _folder() -> Path:
    return cases_root() / "generated" / "programs"


def main() -> None:
    """Draw programs and write them down."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for number, text in enumerate(choose(DRAWN, options.seed), 1):
        (options.folder / f"p{number:02}.py").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
