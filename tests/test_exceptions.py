"""What an exception says, in one wording for every release and device."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from conformance.canonical.exceptions import canonical_message
from conformance.canonical.exceptions import told as told_of_a_run
from conformance.canonical.frames import first_to_read, shown, without_machine_paths
from conformance.canonical.wrapped import members_of, raised_first
from conformance.standalone.differing import told
from conformance.standalone.stepping import Side

CHANGED = "one of the variables needed: [torch.{}FloatTensor [3]], which is output 0 of {}"


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        (CHANGED.format("cuda.", "MulBackward0"), CHANGED.format("", "Mul")),
        (CHANGED.format("", "Mul"), CHANGED.format("", "Mul")),
        ("The differentiated Tensor at index 2 appears unused", "One of the differentiated Tensors appears unused"),
        ("with set_detect_anomaly(True, check_nan=False).", "with set_detect_anomaly(True)."),
        ("KeyError: '<weakref at 0x7fe8361bcef0>'", "KeyError: '<weakref at 0x...>'"),
        ("a Backward pass of torch.nn.Module", "a Backward pass of torch.nn.Module"),
    ],
)
def test_message_is_canonical(text: str, canonical: str) -> None:
    """Neither the device of a tensor nor the number of a node is part of the text."""
    assert canonical_message(text) == canonical


PACKAGES = "/venv/lib/python3.11/site-packages"
CHECKOUT = Path(__file__).resolve().parents[1]
TEMPORARY = Path(tempfile.gettempdir())


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"no kernel ({PACKAGES}/torch/_ops.py:12)", "no kernel (torch/_ops.py:12)"),
        (f"see file://{PACKAGES}/iree/turbine/launch.py, please", "see file:iree/turbine/launch.py, please"),
        (f'File "{CHECKOUT}/cases/layout/test_offsets.py", line 3', 'File "cases/layout/test_offsets.py", line 3'),
        ("cannot import x from /opt/mine/compiler/lower.py", "cannot import x from compiler/lower.py"),
        (f"kernel, {TEMPORARY}/run-wv9/fn/cfn.main.cpp:24, no", "kernel, .../cfn.main.cpp:24, no"),
        ("/opt/other/x.py and a /b/c.py of https://github.com/opt/mine/x", None),
        ("Unsupported: a/b", None),
    ],
    ids=["installed", "url", "checkout", "imported", "temporary", "elsewhere", "no-path"],
)
def test_a_message_names_no_folder_of_one_machine(text: str, told: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A report is read on another machine, and results of two are compared."""
    monkeypatch.syspath_prepend("/opt/mine")

    assert without_machine_paths(text) == (text if told is None else told)
    assert canonical_message(text) == (text if told is None else told)
    assert told_of_a_run(ValueError(text)) == (text if told is None else told)


@pytest.mark.parametrize(
    ("files", "first"),
    [
        (
            (f"{PACKAGES}/torch/_ops.py", f"{PACKAGES}/mine/compile.py", f"{PACKAGES}/torch/_dynamo/x.py"),
            "mine/compile.py",
        ),
        ((f"{PACKAGES}/numpy/core.py", "/home/me/mine/compile.py", f"{PACKAGES}/torch/_dynamo/x.py"), "compile.py"),
        ((f"{PACKAGES}/torch/_ops.py", f"{PACKAGES}/torch/_dynamo/x.py", "<eval_with_key>"), "torch/_ops.py"),
        ((f"{os.__file__}", f"{PACKAGES}/torch/_ops.py"), "torch/_ops.py"),
        ((str(Path("cases/layout/test_offsets.py").resolve()), f"{PACKAGES}/torch/_ops.py"), "torch/_ops.py"),
    ],
    ids=["installed", "checkout", "torch", "library", "case"],
)
def test_the_frame_of_the_stack_is_read_first(files: tuple[str, ...], first: str) -> None:
    """The stack's innermost frame, wherever its package lies; torch's where the stack has none."""
    number = first_to_read(files)
    assert number is not None
    assert shown(files[number]) == first


def test_a_module_that_inductor_wrote_is_nobodys_code() -> None:
    """It has another name for every program; what called it is named."""
    written = "/tmp/cache/ro/crov3gz4ncfxlqlzn4f6the2tnelnvpm75hcal3zwgoacqmi274d.py"
    caller = f"{PACKAGES}/torch/_inductor/cudagraph_trees.py"
    assert first_to_read([written, caller]) == 1


def test_without_a_frame_of_a_package_there_is_none_to_read() -> None:
    """Python's own frames and this project's say nothing about a stack."""
    assert first_to_read([os.__file__, "<string>"]) is None


def test_errors_that_wrap_each_other_have_an_end() -> None:
    """Causes that lead back to where they began are followed once, in reports and in scripts."""
    first, second = ValueError("first"), KeyError("second")
    first.__cause__, second.__cause__ = second, first

    assert list(members_of(first)) == [first, second]
    assert raised_first(first) is second
    assert told(Side(raised=first, step="call")) == "raises ValueError in call: KeyError: 'second'"
