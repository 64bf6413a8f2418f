"""Descriptions of stacks: those that ship read, are listed, and say what installs them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from conformance import cli
from conformance.capability_search.search import described
from conformance.contract.capabilities import CAPABILITIES
from conformance.stacks import StackError, all_stacks, description, external, resolve

SHIPPED = ("openvino", "openvino_aot", "turbine_cpu", "tvm_relax")


def refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The line that a command says before it leaves with status 2."""
    monkeypatch.setattr(sys, "argv", ["conformance", *arguments])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    told = capsys.readouterr().err
    assert (caught.value.code, told.count("\n")) == (2, 1), told
    return told


def test_these_ship() -> None:
    """Each file is found by the name of its stack."""
    assert tuple(description.shipped()) == SHIPPED


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_description_is_whole(name: str) -> None:
    """It is named after its file, says what installs it and what it can do, and denies nothing that it declares."""
    stack = description.shipped()[name]

    assert stack.name == name
    assert stack.install.startswith("pip install ")
    assert stack.described
    assert "compile" in stack.capabilities
    assert set(stack.denied) <= set(CAPABILITIES) - stack.capabilities
    assert described(stack, name) is stack


def test_what_ships_is_listed_whether_it_is_installed_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """`stacks` names each with its capabilities and the command, once; nothing of it is imported."""
    for package in ("openvino", "iree", "tvm"):
        monkeypatch.setitem(sys.modules, package, None)  # as if it were not installed
    shown = json.loads(CliRunner().invoke(cli.app, ["stacks", "--json"]).stdout)

    rows = {row["name"]: row for row in shown}
    assert len(rows) == len(shown) == len(all_stacks())
    for name, stack in description.shipped().items():
        assert rows[name]["install"] == stack.install
        assert rows[name]["capabilities"] == sorted(stack.capabilities)
    assert rows["openvino_aot"]["options"] == {"aot_autograd": True}
    assert rows["inductor"]["install"] == ""


def test_one_stack_is_shown_by_its_name() -> None:
    """`stacks NAME` shows what was found out about it, too."""
    lines = CliRunner().invoke(cli.app, ["stacks", "tvm_relax"]).stdout.splitlines()

    assert lines[0].endswith("[pip install apache-tvm]")
    assert lines[1].split() == ["backend", "tvm.relax.frontend.torch:relax_dynamo()"]
    assert "no training                      outputs do not require grad" in lines


@pytest.mark.parametrize(
    ("name", "module", "lacking"),
    [
        ("openvino", None, "no backend 'openvino'"),
        ("openvino_aot", None, "no backend 'openvino'"),
        ("turbine_cpu", "iree.turbine.dynamo", "cannot import 'iree.turbine.dynamo'"),
        ("tvm_relax", "tvm.relax.frontend.torch", "cannot import 'tvm.relax.frontend.torch'"),
    ],
)
def test_a_package_that_is_missing_is_one_line_with_the_command(
    name: str, module: str | None, lacking: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`check` and `probe` leave with status 2 and say what to install."""
    monkeypatch.setattr(description, "registered_backends", lambda: ["eager", "inductor"])
    if module is not None:
        monkeypatch.setitem(sys.modules, module, None)  # as if it were not installed
    told = refused(monkeypatch, capsys, "probe", "--stack", name)

    assert told.startswith(f"conformance: the stack {name} cannot be used here: {lacking}")
    assert told.endswith(f"; what it needs: {description.shipped()[name].install}\n")


def test_a_description_of_ones_own_names_its_file(tmp_path: Path) -> None:
    """Where nothing says what to install, the message says which file is wrong."""
    file = tmp_path / "mine.toml"
    file.write_text('name = "mine"\nbackend = "nosuch.module:backend"\n', encoding="utf-8")

    with pytest.raises(StackError, match=r"mine\.toml: cannot import 'nosuch\.module'"):
        resolve(str(file))


def test_a_callable_that_makes_a_backend_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    """``module:name()`` is what the function returns; the text stays what a script and a child process read."""
    monkeypatch.setattr(external, "made", lambda: lambda graph, inputs: graph.forward, raising=False)

    stack = resolve("conformance.stacks.external:made()")
    assert stack.spec == "conformance.stacks.external:made()"
    assert callable(stack.backend)
    assert stack.backend.__name__ == "<lambda>"


def test_the_modes_of_inductor_are_stacks() -> None:
    """What `torch.compile(mode=...)` sets is the config of a stack of its own, to which inductor's ledger applies."""
    assert resolve("inductor_reduce_overhead").config == {"inductor.triton.cudagraphs": True}
    tuned = resolve("inductor_max_autotune")
    assert tuned.config["inductor.max_autotune"] is True
    assert "inductor.triton.cudagraphs" not in tuned.config
    assert tuned.ledgers == ("inductor_max_autotune", "inductor")
