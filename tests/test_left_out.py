"""What a run leaves out changes nothing that it finds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from conformance.results.result_file import Results
from conformance.results.result_sets import compare

ROOT = Path(__file__).resolve().parents[1]
#: One case of each area, with a recompile, random numbers and a frozen module among them.
SAMPLE = (
    "aot_autograd/test_input_mutation.py",
    "duplicate_arguments/test_return_to_first_form.py",
    "freezing/test_constant_folding.py",
    "layout/test_views.py",
)
TEST_ENDS = 2


def ran(folder: Path, *arguments: str, speedups: bool) -> Results:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])}
    environment["CONFORMANCE_SPEEDUPS"] = str(int(speedups))
    command = [sys.executable, "-m", "pytest", *arguments, "-p", "no:randomly", "--device=cpu", "-q", "-n1"]
    subprocess.run(
        [*command, f"--results={folder}", *CASES], cwd=ROOT, env=environment, capture_output=True, check=True
    )
    return Results.read(folder / "results.json")


def first_cases() -> list[str]:
    """The first cases of the sample's files, as the manifest lists them."""
    listed = (ROOT / "cases" / "manifest.txt").read_text(encoding="utf-8").splitlines()
    functions = {
        name: list(dict.fromkeys(case.partition("[")[0] for case in listed if case.startswith(name))) for name in SAMPLE
    }
    return [f"cases/{case}" for cases in functions.values() for case in cases[:TEST_ENDS]]


CASES = first_cases()


def test_outcomes_and_graphs_are_the_same(tmp_path: Path) -> None:
    """With all that is left out, speed-ups included, and with nothing of it, cases end alike and show the same graphs."""
    fast = ran(tmp_path / "fast", speedups=True)
    plain = ran(tmp_path / "plain", "-p", "nothing_left_out", speedups=False)
    compared = compare(plain, fast)

    assert len({one.area for one in fast.results}) == len(SAMPLE)
    assert not (compared.regressed or compared.fixed or compared.new or compared.gone)
    assert not compared.graphs
    assert all(one.as_expected for one in fast.results)
