"""How many scripts of a run's failures show what the run saw: each is run by itself, and its lines are compared.

``python benchmarks/scripts_shown.py RESULTS -n 8`` runs what lies in ``RESULTS/failures``. A script shows the failure
when it exits 1 and names the observables that the run says to differ. Those that do not are listed. Exit status 1 says
that the share of failures that are shown is below the limit, 2 that there is no failure.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from conformance.results.result_file import CaseResult, Results
from conformance.standalone.writing import names_told

#: Seconds that one script may take.
SECONDS = 240.0
#: What becomes of a failure's script.
SHOWN, OTHER, CONFORMS, BROKEN, NONE = "shown", "other observables", "conforms", "broken", "no script"


def outcome(result: CaseResult) -> tuple[str, str]:
    """What the script of a result comes to, and what it said where that is not what the run saw."""
    if result.script is None:
        return NONE, ""
    command = [sys.executable, result.script]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return BROKEN, f"no end within {SECONDS:g} s"
    if done.returncode == 0:
        return CONFORMS, ""
    if done.returncode != 1:
        return BROKEN, (done.stdout + done.stderr).strip().rpartition("\n")[2]
    names = names_told(done.stdout)
    seen = {".".join(filter(None, (one.where, one.observable))) for one in result.discrepancies}
    return (SHOWN, "") if seen <= names else (OTHER, f"not {sorted(seen - names)}, but {sorted(names)}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, help="the folder of a run")
    parser.add_argument("-n", type=int, default=1, help="how many scripts run at a time")
    parser.add_argument("--limit", type=float, default=0.95, help="the share that has to be shown")
    options = parser.parse_args()

    failed = [one for one in Results.read(options.results / "results.json").results if one.outcome == "fail"]
    if not failed:
        print("no result failed", file=sys.stderr)
        return 2
    with ThreadPoolExecutor(options.n) as pool:
        found = list(pool.map(outcome, failed))
    for result, (kind, said) in zip(failed, found, strict=True):
        if kind != SHOWN:
            print(f"{kind:20}{result.stack}, {result.device}  {result.case}  {said}")
    counts = Counter(kind for kind, _ in found)
    share = counts[SHOWN] / len(failed)
    print(
        f"{len(failed)} failures: "
        + ", ".join(f"{counts[kind]} {kind}" for kind in (SHOWN, OTHER, CONFORMS, BROKEN, NONE))
    )
    print(f"{share:.1%} shown")
    return int(share < options.limit)


if __name__ == "__main__":
    sys.exit(main())
