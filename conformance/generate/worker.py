"""One worker of a campaign: draws programs, shrinks those that differ, and reports to its parent in lines of JSON.

It runs in a process of its own, because the stack may crash or hang. The program being tried is kept in a file, so that
the parent can read it even then.
"""

from __future__ import annotations

import json
import logging
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from conformance.generate.one_program import Trial, try_program
from conformance.generate.sketch import Sketch, sketches, source

#: Programs between two looks at what other workers have found.
ROUND = 100
#: CPU seconds that making one finding small may take.
SHRINKING = 15.0


class Finding(Exception):
    """A program that differs in a way that is not known yet; every signature has a subclass of its own."""


def database_of(where: str) -> Any:
    """Hypothesis's database in a folder, or in Redis where ``redis://host/n`` says so."""
    from hypothesis.database import DirectoryBasedExampleDatabase

    if where.startswith("redis://"):
        import redis  # an extra of the project
        from hypothesis.extra.redis import RedisExampleDatabase

        return RedisExampleDatabase(redis.Redis.from_url(where))
    return DirectoryBasedExampleDatabase(where)


class Worker:
    """Draws until its examples or its minutes are used up."""

    def __init__(self, order: dict[str, Any], tell: Callable[[dict[str, Any]], None]) -> None:
        from conformance.stacks import resolve

        self.stack = resolve(order["stack"])
        self.device: str = order["device"]
        self.examples: int = order["examples"]
        self.until: float = order["until"]
        self.seed: int = order["seed"]
        self.known: set[str] = set(order["known"])
        self.database = database_of(order["database"])
        self.current = Path(order["current"])
        self.folder = Path(order["findings"])
        self.tell = tell
        #: Programs drawn; those of them that eager runs; and all that ran on both sides, those of shrinking too.
        self.tried = self.ran_eagerly = self.ran = 0
        self.kinds: dict[str, type[Finding]] = {}

    def work(self) -> None:
        """Round after round, each with a seed of its own."""
        number = 0
        while self.tried < self.examples and time.time() < self.until:
            self.known |= {file.read_text(encoding="utf-8") for file in self.folder.glob("*.signature")}
            wanted = min(ROUND, self.examples - self.tried)
            self.round(wanted, self.seed + 1000 * number, replay=number == 0)
            number += 1
        self.count()

    def count(self) -> None:
        self.tell({"tried": self.tried, "ran_eagerly": self.ran_eagerly, "ran": self.ran})

    def round(self, examples: int, seed: int, *, replay: bool) -> None:
        """Up to so many programs; the first new signature ends the round, once its program is small."""
        import hypothesis

        phases = [hypothesis.Phase.generate, hypothesis.Phase.shrink, *([hypothesis.Phase.reuse] if replay else [])]
        smallest: dict[str, tuple[int, str, Trial]] = {}
        found_at = float("inf")
        trials: dict[str, Trial] = {}  # shrinking comes by the same program by many ways

        # In this order: a seed that is set last takes the database away.
        @hypothesis.settings(
            max_examples=examples,
            report_multiple_bugs=False,
            deadline=None,
            database=self.database,
            phases=phases,
            suppress_health_check=list(hypothesis.HealthCheck),
            verbosity=hypothesis.Verbosity.quiet,
        )
        @hypothesis.seed(seed)
        @hypothesis.given(sketches())
        def one(sketch: Sketch) -> None:
            nonlocal found_at
            if time.time() > self.until or time.process_time() - found_at > SHRINKING:
                return
            text = source(sketch)
            self.current.write_text(text, encoding="utf-8")
            trial = trials.get(text)
            if trial is None:
                trial = trials[text] = try_program(text, self.stack, self.device)
                self.ran += 1
            if not smallest:
                self.tried += 1
                self.ran_eagerly += trial.eager_ran
                if self.tried % 5 == 0:
                    self.count()
            if not trial.signature or trial.signature in self.known:
                return
            found_at = min(found_at, time.process_time())
            if trial.signature not in smallest or len(text) < smallest[trial.signature][0]:
                smallest[trial.signature] = (len(text), text, trial)
            raise self.kinds.setdefault(trial.signature, type("Finding", (Finding,), {}))(trial.signature)

        try:
            one()
        except Exception:  # a finding, several of them, or one that is gone when it is tried again
            if not smallest:
                raise
        for signature, (_, text, trial) in smallest.items():
            self.known.add(signature)
            discrepancies = [asdict(found) for found in trial.discrepancies]
            self.tell({"signature": signature, "program": text, "discrepancies": discrepancies})


def main() -> None:
    """Read the order from standard input, and work."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)  # torch logs what it cannot compile; the oracle sees it
    order = json.loads(sys.stdin.readline())
    lines = sys.stdout
    sys.stdout = sys.stderr

    def tell(event: dict[str, Any]) -> None:
        lines.write(json.dumps(event) + "\n")
        lines.flush()

    Worker(order, tell).work()


if __name__ == "__main__":
    main()
