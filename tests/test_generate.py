"""Generated programs: what is drawn runs, is the same every time, and a stack that is wrong is found and shrunk."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from conformance.generate import Sketch, kept, kept_programs, sketches, source
from conformance.generate.kept import choose
from conformance.generate.one_program import try_program
from conformance.generate.sketch import Input, OneCall, Statement
from conformance.generate.statements import LAYOUTS, STATEMENTS
from conformance.results import ledger
from conformance.results.result_file import Results
from conformance.run.bound_stack import BoundStack
from conformance.stacks import resolve

EAGER = resolve("eager")


def one_statement(text: str, *, layout: int = 0, calls: int = 1) -> Sketch:
    """A program of one statement on one input that lies by itself."""
    call = OneCall((0, 0, 0), no_grad=False, longer=False)
    statement = Statement(STATEMENTS.index(text), 0, 0, 0)
    return Sketch((Input(layout, 0, 0),), (call,) * calls, (statement,), (), (0, 0), False, 0)


def test_a_sketch_is_a_program_of_the_check_format() -> None:
    """The text says program and calls, and the latest value comes out."""
    text = source(one_statement("{new} = {x} + 1", layout=1, calls=2))

    assert "    b = a + 1\n    return b,\n" in text
    assert "return [(a0,), (a1,)]" in text
    assert source(one_statement("{new} = {x} + 1", layout=1, calls=2)) == text


def test_a_statement_that_does_not_fit_is_left_out() -> None:
    """A matrix is not transposed where there is a cube only, and the program still returns something."""
    text = source(one_statement("{x}.t_()", layout=6))

    assert "t_()" not in text
    assert "return a," in text


@pytest.mark.parametrize("layout", range(len(LAYOUTS)))
def test_every_layout_is_built(layout: int) -> None:
    """Each way of laying out an input gives a program that conforms on eager."""
    assert try_program(source(one_statement("{new} = {x} + 1", layout=layout)), EAGER, "cpu").signature == ""


@pytest.mark.parametrize("text", STATEMENTS)
def test_every_statement_fits_somewhere(text: str) -> None:
    """No statement of the table is left out of every program: it fits some input, or a copy of one."""
    copied = Statement(STATEMENTS.index("{new} = {x}.clone()"), 0, 0, 0)
    sketches_of = [one_statement(text, layout=layout) for layout in range(len(LAYOUTS))]
    after_a_copy = [replace(one, statements=(copied, *one.statements)) for one in sketches_of]
    without = [source(replace(one, statements=one.statements[:-1])) for one in (*sketches_of, *after_a_copy)]

    assert any(source(one) != text for one, text in zip((*sketches_of, *after_a_copy), without, strict=True))


@settings(max_examples=60, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(sketch=sketches())
def test_eager_agrees_with_itself(sketch: Sketch) -> None:
    """Whatever is drawn, the oracle reports nothing of eager against eager."""
    assert try_program(source(sketch), EAGER, "cpu").signature == ""


def test_programs_are_chosen_for_what_no_earlier_one_holds() -> None:
    """Each holds two statements that are new, the choice is the same every time."""
    texts = choose(60, seed=1)

    assert texts == choose(60, seed=1)
    assert len(texts) > 1
    assert all(try_program(text, EAGER, "cpu").signature == "" for text in texts)


def test_a_kept_program_is_read_with_its_calls() -> None:
    """The cases find the programs by name, in the folder beside them."""
    name = kept_programs()[0]
    program, calls = kept(name)

    assert not BoundStack(EAGER, "cpu").run(program, calls).comparison.discrepancies


DOUBLED = """
def program(x):
    return x * 2, x * 3


def calls(device):
    import torch
    return [(torch.full((2,), float(n), device=device, requires_grad=True),) for n in range({calls})]
"""


def test_a_signature_is_the_gravest_that_differs() -> None:
    """Places are told without their numbers, so that one fault of two outputs is one finding."""
    from conformance.mutants.around_call.arguments_and_outputs import outputs_detached

    assert try_program(DOUBLED.format(calls=1), outputs_detached, "cpu").signature == "gradients of arguments"


def test_a_signature_tells_a_later_call() -> None:
    """What goes wrong in a later call alone, with what was compiled for an earlier one, is another finding."""
    from conformance.mutants.around_call.any_output import values_off
    from conformance.mutants.around_call.arguments_and_outputs import first_result_again

    later = "values of outputs in a later call, without a recompile"
    assert try_program(DOUBLED.format(calls=2), first_result_again, "cpu").signature == later
    assert try_program(DOUBLED.format(calls=2), values_off, "cpu").signature == "values of outputs"


def explore(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = "from conformance.cli import main; main()"
    command = [sys.executable, "-c", program, "explore", "--results", str(folder), "-n", "1", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parent)


LOOKED_UP = """
import sys

class Factor:
    value = 2

def program(x):
    return x * sys.modules[Factor.__module__].Factor.value

def calls(device):
    import torch
    return [(torch.ones(2, device=device),)]
"""


def test_a_program_is_a_module_while_it_runs() -> None:
    """Dynamo imports the module of what it meets; a later program must not be taken for it."""
    assert try_program(LOOKED_UP, EAGER, "cpu").eager_ran
    assert not [name for name in sys.modules if name.startswith("generated_")]


def test_a_campaign_finds_shrinks_and_writes_what_is_wrong(tmp_path: Path) -> None:
    """A stack that loses write-backs is found, by a program that a person would have written, with its script."""
    draft = tmp_path / "own.toml"
    done = explore(
        tmp_path,
        *("--stack", "oracle_runs:WRITES_ARE_LOST", "--examples", "12", "--seed", "3"),
        f"--write-known-failures={draft}",
    )

    assert done.returncode == 1, done.stderr
    drafted = ledger.load(draft)
    assert (drafted.stack, len(drafted.signatures)) == ("writes_are_lost", done.stdout.count("\nfinding "))
    results = Results.read(tmp_path / "results.json")
    assert {one.outcome for one in results.results} == {"fail"}
    assert any("arguments" in found.where for one in results.results for found in one.discrepancies)
    assert "finding 1:" in done.stdout
    assert re.search(
        r"\d+ programs, \d+% run in eager, \d+ different ones run, shrinking included, \d+\.\d/s on each", done.stdout
    )


def test_a_campaign_goes_on_from_the_database(tmp_path: Path) -> None:
    """What one campaign found is the first that the next one tries, with another seed."""
    arguments = ("--stack", "oracle_runs:WRITES_ARE_LOST", "--database", str(tmp_path / "examples"))
    first = explore(tmp_path / "first", *arguments, "--examples", "12", "--seed", "3")
    second = explore(tmp_path / "second", *arguments, "--examples", "1", "--seed", "4")

    assert first.returncode == second.returncode == 1, first.stderr + second.stderr
    found = [
        {one.reason for one in Results.read(tmp_path / name / "results.json").results} for name in ("first", "second")
    ]
    assert found[1] <= found[0]


def test_a_clean_campaign_passes(tmp_path: Path) -> None:
    """Nothing differs on eager: exit status 0, and a result that says how many programs that was."""
    done = explore(tmp_path, "--stack", "eager", "--examples", "20")

    assert done.returncode == 0, done.stdout + done.stderr
    [one] = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))["results"]
    assert one["outcome"] == "pass"
    assert one["reason"].startswith("20 programs")


def test_a_ledger_knows_signatures() -> None:
    """A signature in a ledger has a range, a device and a bug, and is checked like a failure."""
    text = 'stack = "s"\n[bugs.b]\ntitle = "t"\nlink = "https://x"\n'
    text += '[[signature]]\nbug = "b"\nsignatures = ["outputs.value"]\ndevice = "cpu"\ntorch = ">=2.9"\n'
    [one] = ledger.parse(text, "a.toml").signatures

    assert one.applies("cpu", "2.13.0")
    assert not one.applies("cuda", "2.13.0")
    assert ledger.parse(text, "a.toml").entries == ()
    with pytest.raises(ledger.LedgerError, match=r"a.toml: signature 1 \(b\): the torch range"):
        ledger.parse(text.replace(">=2.9", "2.9"), "a.toml")
