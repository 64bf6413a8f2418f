"""A C++ compiler that remembers: the queries of a minifier build the same few texts again and again.

Found as ``g++`` before the real one, it hands on every order but those it knows: to preprocess, compile or link what it
was given before with the same flags, for which it copies the result. Comments, empty lines and the places of the files
make no difference. Where a source did not compile, what the compiler said is said again, of the file it is in now.
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
place = sources[0].encode()

def copy(source, target):  # as a compiler does: whoever has the old file open keeps it
    shutil.copyfile(source, f"{{target}}.{{os.getpid()}}")
    os.replace(f"{{target}}.{{os.getpid()}}", target)

if os.path.exists(known):
    copy(known, target)
elif os.path.exists(f"{{known}}.error"):
    with open(f"{{known}}.error", "rb") as file:
        sys.stderr.buffer.write(file.read().replace(b"\\0", place))
    sys.exit(1)
else:
    done = subprocess.run([compiler, *arguments], stderr=subprocess.PIPE)
    sys.stderr.buffer.write(done.stderr)
    if done.returncode == 0 and os.path.exists(target):
        copy(target, known)
    elif done.returncode == 1 and len(sources) == 1:
        with open(f"{{known}}.{{os.getpid()}}", "wb") as file:
            file.write(done.stderr.replace(place, b"\\0"))
        os.replace(file.name, f"{{known}}.error")
    sys.exit(done.returncode)
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
