"""What a run leaves out changes nothing that it finds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.results.result_file import Results
from conformance.results.result_sets import Difference, diff

ROOT = Path(__file__).resolve().parents[1]
#: A case of each area but the minifier's, which are processes of their own, and the operators'; random numbers too.
SAMPLE = (
    "aot_autograd/test_random_numbers.py::test_input_is_filled",
    "duplicate_arguments/test_reasons_to_recompile.py::test_other_dtype",
    "freezing/test_conv_batch_norm.py::test_constants_that_remain",
    "generated/test_kept_programs.py",
    "guards/test_globals.py::test_global_is_deleted",
    "layout/test_offsets.py",
    "python/test_generators.py::test_generator_comes_out",
)
#: Of the files, which have parameters, those that hold this.
PARAMETERS = "not generated or p01"


def ran(folder: Path, *arguments: str, speedups: bool) -> Results:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])}
    environment["CONFORMANCE_SPEEDUPS"] = str(int(speedups))
    command = [sys.executable, "-m", "pytest", *(f"cases/{case}" for case in SAMPLE), "-k", PARAMETERS]
    command += ["--stack=inductor", "--device=cpu", "-q", "-n1", f"--results={folder}", *arguments]
    subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
    return Results.read(folder / "results.json")


@pytest.mark.timeout(900)  # two runs of the suite
def test_outcomes_and_graphs_are_the_same(tmp_path: Path) -> None:
    """With all that is left out, speed-ups included, and with nothing of it, cases end alike, with the same graphs."""
    fast = ran(tmp_path / "fast", speedups=True)
    plain = ran(tmp_path / "plain", "-p", "nothing_left_out", speedups=False)

    assert diff(plain, fast) == Difference()
    assert len({one.area for one in fast.results}) == len(SAMPLE)
    assert all(one.as_expected for one in fast.results)
