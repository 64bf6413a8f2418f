"""Runs scripts, each in a fork of this process, which has imported torch and tried the processor's vectors out.

Both take longer than most scripts.

``python benchmarks/forked_scripts.py`` needs torch alone. Its first line is what the interpreter says of itself; then
it reads the paths of scripts, one a line, and prints a line of JSON for each: name, exit status, output and errors.
"""

from __future__ import annotations

import json
import os
import platform
import runpy
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

import torch
import torch._dynamo
import torch._inductor.compile_fx
from torch._inductor.cpu_vec_isa import pick_vec_isa

#: Seconds that one script may take.
SECONDS = 300.0


def run(script: str) -> int:
    """The script as the main program, up to its exit status."""
    sys.argv = [script]
    sys.path[0] = str(Path(script).parent)
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as error:
        return int(error.code or 0)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def forked(script: str, folder: str) -> int | None:
    """The exit status of a script whose files, caches and output lie in a folder; None where it did not end in time."""
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(f"{folder}/{name}", os.O_WRONLY | os.O_CREAT), number)
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = f"{folder}/cache"
        os.chdir(folder)
        status = run(script)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def main() -> None:
    told = {
        "torch": torch.__version__.partition("+")[0],
        "build": torch.__version__,
        # The GPU is asked for by a child: a process that has asked for one cannot be forked.
        "machine": os.popen(f"{sys.executable} -c 'import torch; print(torch.cuda.get_device_name())' 2>&1").read(),
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
    }
    told["machine"] = "CPU" if "\n" in told["machine"].strip() else told["machine"].strip()
    print(json.dumps(told), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder
        pick_vec_isa()
    for script in map(str.strip, sys.stdin):
        with tempfile.TemporaryDirectory() as folder:
            status = forked(str(Path(script).absolute()), folder)
            texts = [Path(folder, name).read_text(encoding="utf-8").replace(folder, "...") for name in ("out", "err")]
        print(json.dumps([Path(script).name, status, *texts]), flush=True)


if __name__ == "__main__":
    main()
