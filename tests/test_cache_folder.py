"""Where inductor compiles to in a run: never into the user's own folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.contract.run_environment import CACHE_FOLDER
from conformance.stacks import cache_folder

SHOWN = """
import os
import torch._inductor.codecache  # which names a folder where nobody has
from conformance.stacks.cache_folder import cache_folder

with cache_folder():
    outer = os.environ["TORCHINDUCTOR_CACHE_DIR"]
    with cache_folder():
        print(outer == os.environ["TORCHINDUCTOR_CACHE_DIR"], os.path.isdir(outer))
    print(outer)
print(os.path.isdir(outer))
"""


@pytest.fixture
def unnamed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if nobody had named a folder, whatever ran before."""
    monkeypatch.setattr(cache_folder, "CACHE_FOLDER_NAMED", False)
    monkeypatch.setattr(cache_folder, "_in_use", [])


@pytest.mark.parametrize("named", [False, True])
def test_a_run_has_a_folder_of_its_own(tmp_path: Path, named: bool) -> None:
    """The folder is there for all that runs inside, and gone afterwards; one that somebody has named stays."""
    environment = {name: value for name, value in os.environ.items() if name != CACHE_FOLDER}
    environment |= {"TMPDIR": str(tmp_path)}
    if named:
        environment[CACHE_FOLDER] = str(tmp_path)
    program = "import conformance\n" + SHOWN
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    first, folder, last = done.stdout.split("\n")[:3]

    assert first == "True True"
    assert Path(folder).parent == (tmp_path.parent if named else tmp_path)
    assert last == str(named)
    assert "torchinductor" not in Path(folder).name


def test_a_folder_that_is_kept(unnamed: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With keep the folder lies among the user's caches, one a release of torch, and stays."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with cache_folder.cache_folder(keep=True):
        folder = Path(os.environ[CACHE_FOLDER])
        (folder / "kernel").write_text("compiled", encoding="utf-8")
    with cache_folder.cache_folder(keep=True):
        assert (Path(os.environ[CACHE_FOLDER]) / "kernel").read_text(encoding="utf-8") == "compiled"
    assert folder.parent == tmp_path / "torch-conformance"
