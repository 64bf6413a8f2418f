"""A C++ compiler that remembers: the queries of a minifier build the same few texts again and again.

Found as ``g++`` before the real one, it hands on every order but those it knows: to preprocess, compile or link what it
was given before with the same flags, for which it copies the result. Comments, empty lines and the places of the files
make no difference. What does not build is not remembered, so an error is always the compiler's own.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

NAME = "g++"
SCRIPT = """\
#!{python} -IS
import hashlib, os, shutil, subprocess, sys
arguments, compiler, memory = sys.argv[1:], {compiler!r}, {memory!r}
sources = [argument for argument in arguments if argument.endswith((".cpp", ".hpp", ".o"))]
target = arguments[arguments.index("-o") + 1] if "-o" in arguments else None
sources = [source for source in sources if source != target]
if not {{"-c", "-shared", "-E"}} & set(arguments) or not target or not sources:
    os.execv(compiler, [compiler, *arguments])
key = hashlib.sha256("\\n".join(flag for flag in arguments if flag not in (*sources, target)).encode())
for source in sources:
    with open(source, "rb") as file:
        text = file.read() if source.endswith(".o") else b"\\n".join(
            line for line in file if line.strip() and not line.lstrip().startswith(b"//"))
    key.update(hashlib.sha256(text).digest())
known = os.path.join(memory, key.hexdigest())

def copy(source, target):  # as a compiler does: whoever has the old file open keeps it
    shutil.copyfile(source, f"{{target}}.{{os.getpid()}}")
    os.replace(f"{{target}}.{{os.getpid()}}", target)

if os.path.exists(known):
    copy(known, target)
else:
    status = subprocess.run([compiler, *arguments]).returncode
    if status != 0 or not os.path.exists(target):
        sys.exit(status)
    copy(target, known)
"""


def install(folder: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """Put the compiler into a folder, and say which environment finds it there."""
    compiler = shutil.which(NAME, path=environment.get("PATH"))
    if compiler is None or "CXX" in environment:
        return {}
    place, memory = folder / "bin", folder / "objects"
    for path in (place, memory):
        path.mkdir()
    script = place / NAME
    script.write_text(SCRIPT.format(python=sys.executable, compiler=compiler, memory=str(memory)), encoding="utf-8")
    script.chmod(0o700)
    return {"PATH": os.pathsep.join([str(place), environment.get("PATH", os.defpath)])}
