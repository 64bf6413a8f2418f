"""The oracle on anyone's program: `conformance check FILE`."""

from __future__ import annotations

import copy
import dataclasses
import importlib.util
import inspect
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from conformance.canonical.wrapped import first_line
from conformance.contract.failure import Discrepancy
from conformance.program.programs import Program, ProgramError, build_calls
from conformance.run.in_child import Ended, call_in_child
from conformance.run.run import Run
from conformance.stacks import Stack, resolve

NAMES = "program (or make_program(device)) and calls(device)"


class CheckError(ValueError):
    """A file that cannot be checked; the message is one line that says what is wanted."""


def load(path: str) -> ModuleType:
    """The file as a module, or a one-line `CheckError`."""
    file = Path(path)
    if not file.is_file():
        raise CheckError(f"no file {path}")
    spec = importlib.util.spec_from_file_location(f"checked_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise CheckError(f"{path} is not a Python file that defines {NAMES}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise CheckError(f"{path} cannot be imported: {_told(error)}") from error
    return module


def _told(error: BaseException) -> str:
    """An exception in one line."""
    said = first_line(error)
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def program_of(module: ModuleType, path: str) -> Program:
    """The program that the file's names describe."""
    function, make = getattr(module, "program", None), getattr(module, "make_program", None)
    if (function is None) == (make is None) or not callable(getattr(module, "calls", None)):
        raise CheckError(f"{path} does not define {NAMES}")
    for name, value in (("program", function), ("make_program", make), ("after", getattr(module, "after", None))):
        if value is not None and not callable(value):
            raise CheckError(f"{path}: {name} is {type(value).__name__}, not a function")
    if not isinstance(getattr(module, "CONFIG", {}), dict):
        raise CheckError(f"{path}: CONFIG is {type(module.CONFIG).__name__}, not a dict")
    options: dict[str, Any] = {
        "after": getattr(module, "after", None),
        "inference": getattr(module, "INFERENCE", False),
        "backward": getattr(module, "BACKWARD", True),
        "dynamic": getattr(module, "DYNAMIC", None),
        "fullgraph": getattr(module, "FULLGRAPH", False),
        "config": getattr(module, "CONFIG", {}),
    }
    if isinstance(function, torch.nn.Module):
        original = function

        def make(device: str) -> Any:
            return copy.deepcopy(original).to(device)

        function = None
    try:
        if isinstance(function, type):
            return Program.of(function, **options)
        return Program(function=function, make=make, **options)
    except ProgramError as error:
        raise CheckError(f"{path}: {error}") from error


def check_in_child(path: str, stack: str, device: str, seconds: float) -> dict[str, Any]:
    """The record that `check --json` prints, from a process of its own: a stack that ends it is a discrepancy."""
    asked = {"path": path, "device": device}
    found = call_in_child(f"{__name__}:check_named", {**asked, "stack": stack}, seconds)
    if not isinstance(found, Ended):
        record: dict[str, Any] = found
        return record
    eager = call_in_child(f"{__name__}:check_named", {**asked, "stack": "eager"}, seconds)
    if isinstance(eager, Ended):
        raise CheckError(f"{path}: eager itself is {eager}")
    raises = eager["eager_raises"]
    crash = Discrepancy("crash", "", f"raises {raises}" if raises else "returns", str(found))
    return {**eager, "stack": resolve(stack).name, "conforms": False, "discrepancies": [dataclasses.asdict(crash)]}


def check_named(path: str, stack: str, device: str) -> dict[str, Any]:
    """`check_file` on a stack by its name, as a process of its own is asked for it."""
    return check_file(path, resolve(stack), device)


def check_file(path: str, stack: Stack, device: str) -> dict[str, Any]:
    """Run the file's program on both sides, the record that `check --json` prints."""
    module = load(path)
    program = program_of(module, path)
    _try_out(program, module, device, path)
    run = Run(stack, program, module.calls, device)
    found = run.comparison.discrepancies
    record = run.record()
    return {
        "stack": stack.name,
        "device": device,
        "torch": torch.__version__,
        "conforms": not found,
        "eager_raises": _told(run.eager.raised.error) if run.eager.raised is not None else None,
        "discrepancies": [dataclasses.asdict(one) for one in found],
        "graphs": record["graphs"],
        "recompiles": record["recompiles"],
    }


def _try_out(program: Program, module: ModuleType, device: str, path: str) -> None:
    """Build program and calls once, so that a fault of the file is told as such and not as both sides raising."""
    try:
        built = program.build(device)
        sequence = build_calls(module.calls, device)
    except ProgramError as error:
        raise CheckError(f"{path}: {error}") from error
    except Exception as error:
        raise CheckError(f"{path}: the program or its calls cannot be built: {_told(error)}") from error
    if not callable(built):
        raise CheckError(f"{path}: make_program(device) returned {type(built).__name__}, not a function or module")
    try:
        signature = inspect.signature(built.forward if isinstance(built, torch.nn.Module) else built)
    except (TypeError, ValueError):  # a builtin that does not tell
        return
    for index, one in enumerate(sequence):
        try:
            signature.bind(*one.args, **one.kwargs)
        except TypeError as error:
            raise CheckError(f"{path}: calls(device)[{index}] does not fit the program: {error}") from error
