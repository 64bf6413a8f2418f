"""How much of a case's time is the suite's own work: for each area, its seconds against those inside the stack.

``python benchmarks/own_work.py --stack inductor`` runs the cases in this process, one after the other. The suite's own
work is all but the compiled calls: building inputs, running and observing eager and the reference, comparing, tracing
the front end and printing canonical text. Exit status 1 says that some area's share is above the limit.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Generator
from typing import Any

import pytest

INSIDE = "compiled"


class RecordingStack:
    """The stack that a case is given, keeping the runs that the case makes on it."""

    def __init__(self, stack: Any, runs: list[Any]) -> None:
        self._stack = stack
        self._runs = runs

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stack, name)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        run = self._stack.run(*args, **kwargs)
        self._runs.append(run)
        return run


class OwnWork:
    """A pytest plugin that sums the timings of every run by area."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.cases: Counter[str] = Counter()

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Generator[None, object, object]:
        runs: list[Any] = []
        if "stack" in pyfuncitem.funcargs:
            pyfuncitem.funcargs["stack"] = RecordingStack(pyfuncitem.funcargs["stack"], runs)
        outcome = yield
        if runs:
            area = pyfuncitem.path.parent.name
            self.cases[area] += 1
            for run in runs:
                self.seconds[area].update(run.timings)
        return outcome

    def share(self, area: str) -> float:
        """The suite's own seconds for each second inside the stack."""
        inside = self.seconds[area][INSIDE]
        return (sum(self.seconds[area].values()) - inside) / inside if inside else float("inf")

    def table(self) -> str:
        """One line an area: cases, seconds of each kind, share."""
        kinds = sorted({kind for seconds in self.seconds.values() for kind in seconds} - {INSIDE})
        lines = [f"{'area':22}{'cases':>6}{INSIDE:>10}" + "".join(f"{kind:>10}" for kind in kinds) + f"{'share':>8}"]
        for area, seconds in sorted(self.seconds.items()):
            row = f"{area:22}{self.cases[area]:>6}{seconds[INSIDE]:>10.2f}"
            lines.append(row + "".join(f"{seconds[kind]:>10.2f}" for kind in kinds) + f"{self.share(area):>8.1%}")
        return "\n".join(lines)


def main() -> int:
    """Run the cases that are named, print the table, and hold every area to the limit."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("cases", nargs="*", default=["cases"])
    parser.add_argument("--stack", default="inductor")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--limit", type=float, default=0.15, help="the largest share that is accepted (default: 0.15)")
    options = parser.parse_args()

    work = OwnWork()
    pytest.main([*options.cases, "-q", "--stack", options.stack, "--device", options.device], plugins=[work])
    print(f"\nthe suite's own seconds against those inside {options.stack} on {options.device}\n{work.table()}")
    if not work.seconds:
        print("no case ran a program", file=sys.stderr)
        return 2
    return 1 if any(work.share(area) > options.limit for area in work.seconds) else 0


if __name__ == "__main__":
    sys.exit(main())
