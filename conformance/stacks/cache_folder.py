"""Inductor's cache folder of a run: one of its own, so that nothing is read from or written to the user's.

The headers that inductor precompiles stay below the user's temporary folder, where torch keeps them on purpose for all
caches: they depend on the compiler, its flags and torch alone, and making them takes longer than most cases.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import torch

from conformance.contract.run_environment import CACHE_FOLDER, CACHE_FOLDER_NAMED

#: The folders that are in use, the outermost first.
_in_use: list[Path] = []


def kept_folder() -> Path:
    """Where `--keep-cache` keeps what was compiled: one folder a torch release, in the user's folder of caches."""
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(caches) / "torch-conformance" / f"torch-{torch.__version__}"


@contextmanager
def cache_folder(keep: bool = False) -> Iterator[None]:
    """Inside, inductor compiles into a folder that is removed at the end, or into the one that is kept.

    Where somebody has named a folder in the environment, that one is used. Processes that start inside use the same.
    """
    if CACHE_FOLDER_NAMED or _in_use:
        yield
        return
    folder = kept_folder() if keep else Path(tempfile.mkdtemp(prefix="conformance-inductor-"))
    folder.mkdir(parents=True, exist_ok=True)
    _in_use.append(folder)
    try:
        with mock.patch.dict(os.environ, {CACHE_FOLDER: str(folder)}):
            yield
    finally:
        _in_use.remove(folder)
        if not keep:
            _forget()
            shutil.rmtree(folder, ignore_errors=True)


def _forget() -> None:
    """Let torch forget the places of files in the folder, in case that something is compiled after it is gone."""
    utils = sys.modules.get("torch._inductor.utils")
    if utils is not None:
        utils.clear_caches()
