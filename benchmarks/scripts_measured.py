"""What each script of the known failures ends with on a release of torch, merged into the file that the pages quote.

``python benchmarks/scripts_measured.py PYTHON...`` runs all of ``known_failures/scripts`` with each of these
interpreters, each script in a process and with an empty cache of its own (``forked_scripts.py``), without this suite
on its path, and writes ``known_failures/measured.json`` anew after each. Scripts of unreported bugs come first, and
what the file has of this release and machine is not measured again. ``-k WORD`` runs only scripts with that word in
their names.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

from packaging.version import Version

from conformance.report.state import measured
from conformance.report.state.measured import digest
from conformance.results.bugs import UNREPORTED
from conformance.results.ledger import FOLDER, load_bugs

LEDGERS = Path(__file__).parents[1] / FOLDER
SCRIPTS = LEDGERS / measured.SCRIPTS
MEASURED = LEDGERS / measured.MEASURED
#: The line of a traceback that names the exception.
EXCEPTION = re.compile(r"[A-Za-z_][\w.]*: ")

#: Runs the scripts in the other interpreter.
RUNNER = Path(__file__).with_name("forked_scripts.py")


def told_by(script: Path, status: int | None, printed: str, errors: str) -> dict[str, Any]:
    """The outcome as the file holds it; an exception counts where the script did not come to say what it saw."""
    if status is None:
        errors = "TimeoutError: no end in time"
    raised = [line for line in errors.splitlines() if EXCEPTION.match(line)]
    found: dict[str, Any] = {"status": status, "output": printed.strip(), "sha256": digest(script)}
    return {**found, "error": raised[-1]} if raised and status in (None, 1) and "seen:" not in printed else found


def kept_runs() -> list[dict[str, Any]]:
    """What the file holds: interpreters on machines, each with its outcomes."""
    return json.loads(MEASURED.read_text(encoding="utf-8")) if MEASURED.is_file() else []


def is_known(script: Path, told: dict[str, str]) -> bool:
    """Whether the file has an outcome of this text of a script on a release and machine."""
    same = [run for run in kept_runs() if all(run[key] == told[key] for key in ("torch", "machine"))]
    return any(run["outcomes"].get(script.name, {}).get("sha256") == digest(script) for run in same)


def scripts(word: str) -> list[Path]:
    """The scripts with a word in their names, those of unreported bugs first."""
    bugs = load_bugs(LEDGERS).values()
    first = {Path(bug.script).name for bug in bugs if bug.script and bug.link == UNREPORTED}
    found = [path for path in SCRIPTS.glob("*.py") if word in path.stem]
    return sorted(found, key=lambda path: (path.name not in first, path.name))


def merge(runs: list[dict[str, Any]], told: dict[str, str], outcomes: dict[str, Any]) -> list[dict[str, Any]]:
    """The runs with these outcomes in that of the same interpreter and machine; those of a changed script go."""
    same = [run for run in runs if told.items() <= run.items()]
    known = {**(same[0]["outcomes"] if same else {}), **outcomes}
    every = [*(run for run in runs if run not in same), {**told, "outcomes": known}]
    texts = {path.name: digest(path) for path in SCRIPTS.glob("*.py")}
    for run in every:
        kept = {name: one for name, one in sorted(run["outcomes"].items()) if texts.get(name) == one["sha256"]}
        run["outcomes"] = kept
    return sorted(every, key=lambda run: (Version(run["torch"]), run["machine"], Version(run["python"])))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pythons", nargs="+", metavar="PYTHON", help="an interpreter that has torch")
    parser.add_argument("-k", default="", metavar="WORD", help="only scripts with this word in their names")
    options = parser.parse_args()

    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for python in options.pythons:
        command = [python, str(RUNNER)]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True) as runner:
            assert runner.stdin is not None
            assert runner.stdout is not None
            told = json.loads(runner.stdout.readline())
            pending = [script for script in scripts(options.k) if not is_known(script, told)]
            runner.stdin.write("".join(f"{script}\n" for script in pending))
            runner.stdin.close()
            for line in runner.stdout:
                name, status, printed, errors = json.loads(line)
                outcome = told_by(SCRIPTS / name, status, printed, errors)
                runs = merge(kept_runs(), told, {name: outcome})
                MEASURED.write_text(json.dumps(runs, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
                print(told["torch"], outcome["status"], name, outcome.get("error", ""), flush=True)


if __name__ == "__main__":
    main()
