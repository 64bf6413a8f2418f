"""The project around the library: packaging, environments, workflows and documents."""

from __future__ import annotations

import configparser
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_conftest_is_one_line() -> None:
    """All hooks and fixtures live in the plugin."""
    assert (ROOT / "conftest.py").read_text().splitlines() == ['pytest_plugins = ["conformance.plugin"]']


def test_the_wheel_carries_cases_and_ledgers(tmp_path: Path) -> None:
    """An installed suite runs without a checkout and puts no package called ``cases`` beside it."""
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr

    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())

    assert {name.split("/")[0] for name in names} == {"conformance", wheel.name.split("-py3")[0] + ".dist-info"}
    for folder, prefix in (("conformance", ""), ("cases", "conformance/"), ("known_failures", "conformance/")):
        files = [path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts]
        assert {prefix + path.relative_to(ROOT).as_posix() for path in files} <= names


def test_tox_has_every_environment() -> None:
    """Each Python, torch release and device that is promised is one environment with that release pinned."""
    pins = {"29": "2.9.1", "211": "2.11.0", "213": "2.13.0", "214": "2.14.1", "215": "2.15.0"}
    environments = {
        f"py{python}-torch{torch}-{device}": (f"torch=={pin}", device)
        for python in ("310", "311", "312", "313")
        for torch, pin in pins.items()
        for device in ("cpu", "cuda")
    }
    environments |= {"cpu": ("torch==2.13.0", "cpu"), "cuda": ("", "cuda")}

    command = [sys.executable, "-m", "tox", "config", "-e", ",".join(environments), "-k", "deps", "commands"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    parsed = configparser.ConfigParser(interpolation=None)
    parsed.read_string(done.stdout)

    for name, (pin, device) in environments.items():
        section = parsed[f"testenv:{name}"]
        assert section["deps"].split() == pin.split()
        device_option = {"cpu": "--device cpu", "cuda": "--require-device cuda"}[device]
        assert section["commands"] == f"conformance run {device_option} -n auto --results results/{name}"


@pytest.mark.parametrize("name", ["cpu", "tests", "lint", "types", "random"])
def test_tox_pins_torch_where_nothing_else_is_asked(name: str) -> None:
    """The environments of the project's own checks use one release, whose CPU build is at hand."""
    command = [sys.executable, "-m", "tox", "config", "-e", name, "-k", "deps"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [f"[testenv:{name}]", "deps", "=", "torch==2.13.0"]


def test_workflows_are_valid() -> None:
    """The forge accepts every workflow."""
    workflows = [str(path) for path in sorted((ROOT / ".github/workflows").glob("*.yml"))]
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", *workflows]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert len(workflows) == 2
    assert done.returncode == 0, done.stdout + done.stderr


def test_ci_runs_the_commands_of_the_readme() -> None:
    """What the README promises is what CI does, letter by letter."""
    commands = re.findall(r"^python3 -m venv .*$", (ROOT / "README.md").read_text(), re.MULTILINE)
    ci = (ROOT / ".ci/run").read_text().splitlines()

    assert len(commands) == 2
    assert {f"{command} || exit" for command in commands} <= set(ci)


def test_documents_link_to_files_that_exist() -> None:
    """No document sends its reader to a file that is not there."""
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
    for document in documents:
        prose = re.sub(r"```.*?```", "", document.read_text(encoding="utf-8"), flags=re.S)
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", prose):
            assert (document.parent / target).exists(), f"{document.name} links to {target}"
