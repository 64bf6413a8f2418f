"""Inside a forked child of the minifier: run the script, print how it failed."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import json
import os
import runpy
import sys
import traceback
from pathlib import Path
from typing import Any, NoReturn

from conformance.canonical.wrapped import innermost
from conformance.forks.child import Order

RECORD = "CONFORMANCE_MINIFY_RECORD"
FAULT = "CONFORMANCE_MINIFY_FAULT"
#: Set to anything, every step gets a fresh interpreter: where it fails alike, no fork is to blame.
FRESH = "CONFORMANCE_MINIFY_FRESH"
MODULES = (
    "torch",
    "torch._dynamo",
    "torch._dynamo.backends.debugging",
    "torch._dynamo.testing",
    "torch._inductor",
    "torch._inductor.compile_fx",
    "torch._inductor.codegen.cpp",
    "torch._inductor.codegen.wrapper",
    "torch._dynamo.repro.after_dynamo",
    "torch._dynamo.repro.after_aot",
    "torch._dynamo.repro.aoti",
    "torch.export",
    "functorch.compile",
)
# What inductor imports when it first compiles, which is not there in every release.
FIRST_COMPILE = (
    "torch.export._trace",
    "torch.utils.cpp_extension",
    "sympy.tensor.tensor",
    "torch._inductor.fx_passes.mkldnn_fusion",
    "torch._inductor.fx_passes.pad_mm",
    "torch._inductor.hooks",
    "torch._inductor.bounds",
    "torch._inductor.codegen.cpp_wrapper_cpu_array_ref",
    "torch._inductor.codegen.cpp_wrapper_gpu",
    "torch._inductor.codegen.cuda_combined_scheduling",
    "torch._inductor.codegen.halide",
    "torch._inductor.codegen.wrapper_fxir",
    "torch.distributed.tensor.experimental",
    "torch.fx.experimental.validator",
)


def prepare() -> None:
    """Import what the scripts import, so that forked children inherit it."""
    for module in MODULES:
        importlib.import_module(module)
    for module in FIRST_COMPILE:
        with contextlib.suppress(ImportError):
            importlib.import_module(module)
    prepare_inductor()


def prepare_inductor() -> None:
    """Do once what inductor does first in every process: hash torch's sources, build its pattern tables.

    With a GPU the tables need it, so each child builds them.
    """
    import torch
    from torch._inductor import codecache
    from torch._inductor.fx_passes import joint_graph, post_grad

    if (hash_of_sources := getattr(codecache, "torch_key", None)) is not None:
        hash_of_sources()
    if torch.cuda.is_available():
        return
    for module in (joint_graph, post_grad):
        prepare: Any = getattr(module, "lazy_init", None)
        if prepare is None:
            continue
        # The arguments are the key of a cache, so they have to be what the passes themselves give.
        by_device = module is joint_graph and "input_device" in inspect.signature(prepare).parameters
        prepare(*([torch.device("cpu")] if by_device else []))


def main(order: Order) -> int:
    """The script of an order; its exit status is returned."""
    if os.environ.get(FRESH):
        start_afresh(order["argv"])
    sys.executable = order["python"]  # a query that the minifier isolates is a child of the fork server as well
    return execute(order["argv"])


def start_afresh(argv: list[str]) -> NoReturn:
    """Replace this process by a fresh interpreter that carries out the same order."""
    source = str(Path(__file__).resolve().parents[2])
    lines = [
        "import sys",
        f"sys.path.insert(1, {source!r})",
        "from conformance.minify import child",
        "sys.exit(child.execute(sys.argv[1:]))",
    ]
    os.execv(sys.executable, [sys.executable, "-X", "faulthandler", "-c", "\n".join(lines), *argv])


def execute(argv: list[str]) -> int:
    """Run a script as ``python script arguments`` would, and return the exit status."""
    if FAULT in os.environ:
        from conformance.minify import faults

        faults.install(os.environ[FAULT])
    sys.argv = list(argv)
    sys.path[0] = str(Path(argv[0]).resolve().parent)
    try:
        runpy.run_path(argv[0], run_name="__main__")
    except SystemExit as error:
        if error.code is None or isinstance(error.code, int):
            return error.code or 0
        sys.stderr.write(f"{error.code}\n")
        return 1
    except BaseException as error:
        print_failure(error)
        cause = innermost(error)
        if RECORD in os.environ:
            Path(os.environ[RECORD]).write_text(json.dumps([type(cause).__name__, str(cause)]), encoding="utf-8")
        return 1
    return 0


def print_failure(error: BaseException) -> None:
    """The traceback that the interpreter would print, which begins in the script."""
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename in (__file__, "<frozen runpy>", runpy.__file__):
        frames = frames.tb_next
    traceback.print_exception(type(error), error, frames)
