"""Linking inductor's kernels faster, where the machine can: linking is a third of what a kernel costs.

Every kernel is a library of its own, linked against all of torch, whose hundreds of thousands of names the linker reads
each time, to learn in the end that the kernel needs the library. Here it is told so, and reads an empty library of the
same name; torch's own is what is loaded. Where the machine has a faster linker than the compiler's, it is that one that
does it.

The compiler looks for its linker in the folders of the environment variable `COMPILER_PATH` first, so that a folder
with a script `ld` is all that it takes.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from unittest import mock

from torch._inductor.cpp_builder import get_cpp_compiler
from torch._inductor.exc import InvalidCxxCompiler
from torch._inductor.runtime.cache_dir_utils import cache_dir

#: From the fastest on; each writes what the compiler's own linker, which comes after them, would.
FASTER = ("mold", "ld.lld", "ld.gold")
#: The libraries of torch whose names are many.
LARGE = ("torch_cpu", "torch_python")
#: The linker may be gone by the time of a later run, and what is linked may have nothing to do with torch.
SCRIPT = """#!/bin/sh
test -x {linker} || exec {own} "$@"
needed=
for argument in "$@"; do
    case $argument in {large}) needed="$needed $argument" ;; esac
done
case "$needed $* " in
" -l"*" -shared "*) exec {linker} -L{stand_ins} --push-state --no-as-needed $needed --pop-state "$@" ;;
esac
exec {linker} "$@"
"""


def choose_linker(link: Callable[[], object]) -> None:
    """Keep the first way of linking with which ``link``, which must link something new, does not raise; or none."""
    chosen = _chosen()
    if chosen is None or chosen.exists():
        return
    compiler = get_cpp_compiler()
    with suppress(Exception):  # of a compiler that makes no empty library, whatever it says
        stand_ins, own = _stand_ins(compiler, chosen.parent / "stand-ins"), _own_linker(compiler)
        for linker in (*filter(None, map(shutil.which, FASTER)), own):
            candidate = chosen.parent / "tried" / Path(linker).name / "ld"
            _write_script(candidate, linker, own, stand_ins)
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
    """Where the script lies that starts the chosen linker, for the compiler that inductor uses; None without one."""
    try:
        compiler = get_cpp_compiler()
    except InvalidCxxCompiler:  # whatever needs one will say so; what runs on a GPU does not
        return None
    return Path(cache_dir()) / "linker" / hashlib.sha256(compiler.encode()).hexdigest()[:12] / "ld"


def _own_linker(compiler: str) -> str:
    answer = subprocess.run([compiler, "-print-prog-name=ld"], capture_output=True, text=True, check=True)
    found = shutil.which(answer.stdout.strip())
    if found is None:
        raise FileNotFoundError(f"{compiler} has no linker")
    return found


def _stand_ins(compiler: str, folder: Path) -> Path:
    """An empty library for each of `LARGE`, by the name that a kernel asks the loader for."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in LARGE:
        library = f"lib{name}.so"
        unfinished = folder / f"{library}.{os.getpid()}"
        command = [compiler, "-shared", "-nostdlib", f"-Wl,-soname,{library}", "-x", "c++", os.devnull]
        subprocess.run([*command, "-o", unfinished], capture_output=True, check=True)
        unfinished.replace(folder / library)
    return folder


def _write_script(script: Path, linker: str, own: str, stand_ins: Path) -> None:
    """What starts ``linker``, with the stand-ins before torch's libraries where a library asks for these."""
    script.parent.mkdir(parents=True, exist_ok=True)
    unfinished = script.with_name(f"ld.{os.getpid()}")
    text = SCRIPT.format(
        linker=shlex.quote(linker),
        own=shlex.quote(own),
        stand_ins=shlex.quote(str(stand_ins)),
        large="|".join(f"-l{name}" for name in LARGE),
    )
    unfinished.write_text(text, encoding="utf-8")
    unfinished.chmod(0o755)
    unfinished.replace(script)


@contextmanager
def _linked_with(linker: Path) -> Iterator[None]:
    folders = os.pathsep.join(filter(None, (str(linker.parent), os.environ.get("COMPILER_PATH"))))
    with mock.patch.dict(os.environ, COMPILER_PATH=folders):
        yield
