"""A faster linker for inductor's kernels, where the machine has one that works: linking is a third of what one costs.

Every kernel is a library of its own, linked against all of torch. The compiler looks for its linker in the folders of
the environment variable `COMPILER_PATH` first, so that a folder whose `ld` is another linker is all that it takes.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from unittest import mock

from torch._inductor.cpp_builder import get_cpp_compiler
from torch._inductor.exc import InvalidCxxCompiler
from torch._inductor.runtime.cache_dir_utils import cache_dir

#: From the fastest on; each writes what the compiler's own linker would.
FASTER = ("mold", "ld.lld", "ld.gold")


def choose_linker(link: Callable[[], object]) -> None:
    """Keep the first of `FASTER` with which ``link``, which must link something new, does not raise; or none."""
    chosen = _chosen()
    if chosen is None or chosen.exists():
        return
    for linker in filter(None, map(shutil.which, FASTER)):
        candidate = chosen.parent / Path(linker).name / "ld"
        candidate.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):  # of an earlier try, or of a run beside this one
            candidate.symlink_to(linker)
        with suppress(Exception):  # of a linker that does not work with this compiler, whatever it says
            with _linked_with(candidate):
                link()
            candidate.replace(chosen)
            return


@contextmanager
def faster_linker() -> Iterator[None]:
    """Compilers that start inside link with what `choose_linker` kept, here or in an earlier run, or as ever."""
    chosen = _chosen()
    if chosen is None or not chosen.exists():
        yield
        return
    with _linked_with(chosen):
        yield


def _chosen() -> Path | None:
    """Where the link to the chosen linker lies, for the compiler that inductor uses here; None where there is none."""
    try:
        compiler = get_cpp_compiler()
    except InvalidCxxCompiler:  # whatever needs one will say so; what runs on a GPU does not
        return None
    return Path(cache_dir()) / "linker" / hashlib.sha256(compiler.encode()).hexdigest()[:12] / "ld"


@contextmanager
def _linked_with(linker: Path) -> Iterator[None]:
    folders = os.pathsep.join(filter(None, (str(linker.parent), os.environ.get("COMPILER_PATH"))))
    with mock.patch.dict(os.environ, COMPILER_PATH=folders):
        yield
