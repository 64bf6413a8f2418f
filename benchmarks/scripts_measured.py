"""What each script of the known failures ends with on a release of torch, merged into the file that the pages quote.

``python benchmarks/scripts_measured.py PYTHON...`` runs all of ``known_failures/scripts`` with each of these
interpreters, each script in a process and with an empty cache of its own, without this suite on its path, and writes
``known_failures/measured.json`` anew after each script. Scripts of unreported bugs come first, and what the file has of
a script as it is now is not measured again. ``-k WORD`` runs only scripts with that word in their names, ``-n N``
several at a time.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from conformance.results.bugs import UNREPORTED
from conformance.results.ledger import load_bugs

ROOT = Path(__file__).parents[1]
SCRIPTS = ROOT / "known_failures" / "scripts"
MEASURED = ROOT / "known_failures" / "measured.json"
#: Seconds that one script may take.
SECONDS = 300.0
#: What an interpreter says of itself; ``machine`` is the GPU's name, or that there is none.
ASKED = """
import json, platform, torch
gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"
print(json.dumps({"torch": torch.__version__.partition("+")[0], "build": torch.__version__, "machine": gpu,
                  "python": platform.python_version(), "platform": f"{platform.system()} {platform.machine()}"}))
"""


def measured(python: str, script: Path) -> dict[str, Any]:
    """Exit status, printed lines and, where one ended the script, the exception; ``sha256`` says of which text."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with tempfile.TemporaryDirectory() as folder:
        environment["TORCHINDUCTOR_CACHE_DIR"] = f"{folder}/cache"
        try:
            done = subprocess.run(
                [python, str(script)],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
                timeout=SECONDS,
            )
            status, printed, errors = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired:
            status, printed, errors = None, "", f"no end within {SECONDS:g} s"
        raised = errors.strip().splitlines()[-1] if status is None or "\nTraceback (most" in f"\n{errors}" else ""
    found: dict[str, Any] = {"status": status, "output": printed.strip().replace(folder, "...")}
    if raised and "seen:" not in printed:
        found["error"] = raised.replace(folder, "...")
    return {**found, "sha256": digest(script)}


def digest(script: Path) -> str:
    """What says that a script is still the text that was measured."""
    return hashlib.sha256(script.read_bytes()).hexdigest()


def scripts(word: str) -> list[Path]:
    """The scripts with a word in their names, those of unreported bugs first."""
    bugs = load_bugs(SCRIPTS.parent).values()
    first = {Path(bug.script).name for bug in bugs if bug.script and bug.link == UNREPORTED}
    found = [path for path in SCRIPTS.glob("*.py") if word in path.stem]
    return sorted(found, key=lambda path: (path.name not in first, path.name))


def merge(runs: list[dict[str, Any]], told: dict[str, str], outcomes: dict[str, Any]) -> list[dict[str, Any]]:
    """The runs with these outcomes in that of the same release and machine; scripts that no longer exist go."""
    same = [run for run in runs if (run["torch"], run["machine"]) == (told["torch"], told["machine"])]
    others = [run for run in runs if run not in same]
    known = {**(same[0]["outcomes"] if same else {}), **outcomes}
    kept = {name: known[name] for name in sorted(known) if (SCRIPTS / name).is_file()}
    every = [*others, {**told, "outcomes": kept}]
    return sorted(every, key=lambda run: ([int(part) for part in run["torch"].split(".")[:2]], run["machine"]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pythons", nargs="+", metavar="PYTHON", help="an interpreter that has torch")
    parser.add_argument("-k", default="", metavar="WORD", help="only scripts with this word in their names")
    parser.add_argument("-n", type=int, default=1, help="how many scripts run at a time")
    options = parser.parse_args()

    for python in options.pythons:
        told = json.loads(subprocess.check_output([python, "-c", ASKED], text=True))
        runs = json.loads(MEASURED.read_text(encoding="utf-8")) if MEASURED.is_file() else []
        known = {
            name: one["sha256"] for run in runs if told.items() <= run.items() for name, one in run["outcomes"].items()
        }
        pending = [script for script in scripts(options.k) if known.get(script.name) != digest(script)]
        with ThreadPoolExecutor(options.n) as pool:
            outcomes = pool.map(measured, [python] * len(pending), pending)
            for script, outcome in zip(pending, outcomes, strict=True):
                runs = merge(runs, told, {script.name: outcome})
                MEASURED.write_text(json.dumps(runs, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
                print(told["torch"], outcome["status"], script.name, outcome.get("error", ""), flush=True)


if __name__ == "__main__":
    main()
