"""Where the seconds of one run go, and how they compare with the last run on the same kind of machine.

``python benchmarks/seconds.py -n 2 --record -- --area layout`` runs the suite once, with what stands behind ``--`` as
options of `conformance run`, and prints seconds by area and stack, the share of them that compiling is, efficiency
(seconds of cases over workers times wall time) and CPU seconds a result, each with its ratio to the last line of
benchmarks/history.tsv of the same machine, torch and options. With ``--record`` the run becomes such a line.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from conformance.results.case_seconds import efficiency

HISTORY = Path(__file__).with_name("history.tsv")
#: What stands in a line of the history behind the kind of run: numbers of which less is better, but for efficiency.
NUMBERS = ("results", "wall_s", "cpu_s", "case_s", "compile_share", "efficiency", "cpu_s_a_result")
COLUMNS = ("date", "commit", "kind", *NUMBERS)


def by_area_and_stack(results: list[dict[str, Any]]) -> dict[tuple[str, str], dict[str, float]]:
    """Results, seconds and seconds of compiling for each area and stack."""
    found: dict[tuple[str, str], dict[str, float]] = defaultdict(lambda: {"results": 0, "seconds": 0.0, "compile": 0.0})
    for one in results:
        row = found[one["area"], one["stack"]]
        row["results"] += 1
        row["seconds"] += one["seconds"]
        row["compile"] += one["compile_seconds"] or 0.0
    return dict(sorted(found.items()))


def kind_of(record: Mapping[str, Any], workers: int, options: list[str]) -> str:
    """The machine, the torch and the options: only runs of one kind are compared."""
    environment = record["environment"]
    machine = ", ".join([f"{os.cpu_count()} cores", *environment.get("gpus", ())])
    return f"{machine}; torch {environment['torch']}; -n {workers} {' '.join(options)}".strip()


def numbers(record: Mapping[str, Any], workers: int, wall: float, cpu: float) -> dict[str, float]:
    """What a line of the history holds of a run."""
    results = record["results"]
    cases = sum(one["seconds"] for one in results)
    compiling = sum(one["compile_seconds"] or 0.0 for one in results)
    return {
        "results": len(results),
        "wall_s": round(wall, 1),
        "cpu_s": round(cpu, 1),
        "case_s": round(cases, 1),
        "compile_share": round(compiling / cases, 3) if cases else 0.0,
        "efficiency": round(efficiency(cases, workers, wall), 3),
        "cpu_s_a_result": round(cpu / len(results), 3) if results else 0.0,
    }


def last_of(kind: str, history: Path) -> dict[str, str] | None:
    """The last line of the history about this kind of run."""
    lines = history.read_text(encoding="utf-8").splitlines()[1:] if history.is_file() else []
    rows = [dict(zip(COLUMNS, line.split("\t"), strict=True)) for line in lines]
    return next((row for row in reversed(rows) if row["kind"] == kind), None)


def record_in(history: Path, row: Mapping[str, object]) -> None:
    """Add a line to the history, which begins with the names of its columns."""
    head = "" if history.is_file() else "\t".join(COLUMNS) + "\n"
    with history.open("a", encoding="utf-8") as file:
        file.write(head + "\t".join(str(row[name]) for name in COLUMNS) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=1, help="worker processes")
    parser.add_argument("--record", action="store_true", help="add the run to the history")
    parser.add_argument("--history", type=Path, default=HISTORY)
    parser.add_argument("options", nargs="*", help="options of `conformance run`, behind --")
    asked = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        started = time.monotonic()
        program = "from conformance.cli import main; main()"
        command = [sys.executable, "-c", program, "run", "-n", str(asked.n), "--results", folder, *asked.options]
        status = subprocess.run(command, check=False).returncode
        wall = time.monotonic() - started
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        results = Path(folder) / "results.json"
        if not results.is_file():
            print(f"the run left no results: exit status {status}", file=sys.stderr)
            return 2
        record = json.loads(results.read_text(encoding="utf-8"))
    print(f"\n{'area':22}{'stack':22}{'results':>8}{'seconds':>10}{'compiling':>11}")
    for (area, stack), row in by_area_and_stack(record["results"]).items():
        share = row["compile"] / row["seconds"] if row["seconds"] else 0.0
        print(f"{area:22}{stack:22}{row['results']:>8}{row['seconds']:>10.1f}{share:>11.0%}")
    kind = kind_of(record, asked.n, asked.options)
    found = numbers(record, asked.n, wall, used.ru_utime + used.ru_stime)
    before = last_of(kind, asked.history)
    print(f"\n{kind}" + (f", against {before['date']} ({before['commit']})" if before else ", the first of its kind"))
    for name, number in found.items():
        ratio = f"{number / float(before[name]):>8.2f} times" if before and float(before[name]) else ""
        print(f"{name:22}{number:>10}{ratio}")
    if asked.record:
        commit = str(record["suite"]["commit"])[:12]
        record_in(asked.history, {"date": record["started"][:10], "commit": commit, "kind": kind, **found})
    return 0


if __name__ == "__main__":
    sys.exit(main())
