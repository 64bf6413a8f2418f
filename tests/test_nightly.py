"""The nightly workflow: each of its `run:` steps is run, as the forge does it, on result files that are kept."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from conformance.results.result_file import Results

ROOT = Path(__file__).parents[1]
KEPT = Path(__file__).parent / "state"
JOBS = YAML(typ="safe").load(ROOT / ".github/workflows/nightly.yml")["jobs"]
MATRIX = JOBS["run"]["strategy"]["matrix"]
#: Stands for the interpreter of a machine that has nothing installed: says what it was asked for, and leaves what tox
#: would have the suite write. Commands of the suite itself are run.
PYTHON = """#!/bin/sh
echo "$@" >> "$ASKED"
results="results/$TOX_ENVIRONMENT"
case "$*" in "-m tox run"*) mkdir -p "$results"; echo '# 3 results' > "$results/summary.md" ;; esac
"""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what the steps need of a checkout, as the current one; `python` installs nothing."""
    shutil.copytree(KEPT / "known_failures", tmp_path / "known_failures")
    (tmp_path / "cases" / "layout").mkdir(parents=True)
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text(PYTHON)
    python.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(
        "PATH", os.pathsep.join([str(python.parent), str(Path(sys.executable).parent), os.environ["PATH"]])
    )
    monkeypatch.setenv("ASKED", str(tmp_path / "asked"))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary"))
    return tmp_path


def run_steps(job: str) -> dict[str, int]:
    """Run the steps of a job in their order; one after a failed step only where it says so. The statuses by name."""
    statuses: dict[str, int] = {}
    for step in JOBS[job]["steps"]:
        if "run" in step and (step.get("if") == "always()" or not any(statuses.values())):
            assert "${{" not in step["run"], "what the forge puts into a script is given to it by the environment"
            done = subprocess.run(["bash", "-e", "-c", step["run"]], capture_output=True, text=True, check=False)
            statuses[step.get("name", step["run"])] = done.returncode
    return statuses


def parts(environment: str, results: Results) -> None:
    """The artifacts of the two jobs that ran the parts of an environment."""
    for number in MATRIX["shard"]:
        part = Results(**{**vars(results), "results": results.results[number - 1 :: len(MATRIX["shard"])]})
        part.write(Path("nightly/parts") / f"{environment}-{number}" / "results.json")


@pytest.mark.parametrize("shard", MATRIX["shard"])
def test_a_job_runs_its_part_of_its_environment(checkout: Path, monkeypatch: pytest.MonkeyPatch, shard: int) -> None:
    """By tox, and its summary is on the page of the run."""
    monkeypatch.setenv("TOX_ENVIRONMENT", "py312-torch213-cpu")
    monkeypatch.setenv("SHARD", str(shard))

    assert set(run_steps("run").values()) == {0}
    assert (checkout / "asked").read_text().splitlines() == [
        "-m pip install tox>=4.20",
        f"-m tox run -e py312-torch213-cpu -- --scope nightly --shard {shard}/{len(MATRIX['shard'])}",
    ]
    assert (checkout / "summary").read_text() == "# 3 results\n"


def test_a_job_that_failed_early_has_no_summary(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The failure stands for itself: no step that always runs hides it behind another."""
    (checkout / "bin" / "python").write_text("#!/bin/sh\nexit 1\n")
    monkeypatch.setenv("TOX_ENVIRONMENT", "py312-torch213-cpu")
    monkeypatch.setenv("SHARD", "1")

    assert run_steps("run") == {'python -m pip install "tox>=4.20"': 1, "Summary": 0}


def test_each_job_is_an_environment_of_tox() -> None:
    """Each has one release of torch, or its nightly build, and runs the suite on its device."""
    pattern = JOBS["run"]["env"]["TOX_ENVIRONMENT"]
    for device, torch in itertools.product(MATRIX["device"], MATRIX["torch"]):
        name = pattern.replace("${{ matrix.torch }}", torch).replace("${{ matrix.device }}", device)
        command = [sys.executable, "-m", "tox", "config", "-e", name, "-k", "deps", "commands"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        said = " ".join(done.stdout.split())
        release = "--pre torch " if torch == "nightly" else f"torch=={torch[0]}.{torch[1:]}."
        asks = "--device cpu" if device == "cpu" else "--require-device cuda"
        assert f"deps = {release}" in said
        assert f"commands = conformance run {asks} " in said


def results_of(file: str) -> Results:
    return Results.read(KEPT / file)


def test_the_first_night_is_compared_with_none(checkout: Path) -> None:
    """The parts are one file an environment, and all pages are written."""
    parts("py312-torch213-cpu", results_of("torch.json"))
    parts("py312-torch215-cpu", results_of("openvino.json"))

    assert set(run_steps("report").values()) == {0}
    nightly = checkout / "nightly"
    for environment, file in (("py312-torch213-cpu", "torch.json"), ("py312-torch215-cpu", "openvino.json")):
        for folder in ("tonight", "last"):
            assert Results.read(nightly / folder / f"{environment}.json").by_key() == results_of(file).by_key()
    assert (checkout / "summary").read_text() == (nightly / "summary.md").read_text() != ""
    assert (nightly / "report.html").is_file()
    assert "# State" in (nightly / "state.md").read_text()
    assert not (nightly / "changes.md").exists()


@pytest.mark.parametrize("outcome", ["pass", "fail"])
def test_a_regression_fails_the_night(checkout: Path, outcome: str) -> None:
    """What changed is on the page of the run, the other pages are written all the same, and tomorrow compares anew."""
    last = results_of("torch.json")
    last.write("nightly/last/py312-torch213-cpu.json")
    tonight = results_of("torch.json")
    changed = next(one for one in tonight.results if one.outcome == "pass")
    changed.outcome, changed.reason = outcome, "in call" if outcome == "fail" else ""
    parts("py312-torch213-cpu", tonight)

    statuses = run_steps("report")
    assert {name for name, status in statuses.items() if status} == (
        {"Compare with the last night"} if outcome == "fail" else set()
    )
    said = (checkout / "summary").read_text()
    assert said.startswith("## py312-torch213-cpu\n")
    assert (changed.case in said.partition((checkout / "nightly/summary.md").read_text())[0]) == (outcome == "fail")
    assert "# State" in (checkout / "nightly/state.md").read_text()
    kept = Results.read(checkout / "nightly/last/py312-torch213-cpu.json").by_key()
    assert kept[changed.key].outcome == outcome
