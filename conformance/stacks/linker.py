"""A faster linker for inductor's kernels, where the machine has one: linking is a third of what a kernel costs.

Every kernel is a library of its own, linked against all of torch. The compiler looks for its linker in the folders of
the environment variable `COMPILER_PATH` first, so that a folder whose `ld` is another linker is all that it takes.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from unittest import mock

from torch._inductor.runtime.cache_dir_utils import cache_dir

#: From the fastest on; each writes what the compiler's own linker would.
FASTER = ("mold", "ld.lld", "ld.gold")


@contextmanager
def faster_linker() -> Iterator[None]:
    """Compilers that start inside link with the first of `FASTER` that exists, or as ever."""
    linker = next(filter(None, map(shutil.which, FASTER)), None)
    if linker is None:
        yield
        return
    folder = Path(cache_dir()) / "linker" / Path(linker).name
    folder.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):  # another worker's
        (folder / "ld").symlink_to(linker)
    folders = os.pathsep.join(filter(None, (str(folder), os.environ.get("COMPILER_PATH"))))
    with mock.patch.dict(os.environ, COMPILER_PATH=folders):
        yield
