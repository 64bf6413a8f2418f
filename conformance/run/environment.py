"""Where a run took place: the versions and devices that a result file records."""

from __future__ import annotations

import platform
import shutil
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

import tomlkit


def environment() -> dict[str, Any]:
    """torch, triton, python, platform, gpus and the C++ compiler, as far as they exist."""
    import torch

    from conformance.program.devices import device

    return {
        "torch": torch.__version__,
        "triton": _version("triton"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "gpus": list(device("cuda").models),
        "compiler": _first_line(["g++", "--version"]),
    }


def suite() -> dict[str, Any]:
    """The suite's version, and its commit where it runs from a checkout, with ``-dirty`` where that was changed."""
    root = Path(__file__).resolve().parents[2]
    describe = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    commit = _first_line(describe) if (root / ".git").exists() else None
    return {"version": _version("torch-conformance") or _version_of_checkout(root), "commit": commit}


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _version_of_checkout(root: Path) -> str:
    """What the suite's own pyproject.toml says, where it runs without having been installed."""
    file = root / "pyproject.toml"
    if not file.is_file():
        return "unknown"
    return str(tomlkit.parse(file.read_text(encoding="utf-8")).unwrap()["project"]["version"])


def _first_line(command: list[str]) -> str | None:
    if shutil.which(command[0]) is None:
        return None
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.splitlines()[0] if done.returncode == 0 and done.stdout else None
