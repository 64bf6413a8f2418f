"""The lint of the cases: each rule finds what it is for, says what to do, and lets a good case pass."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from conformance.case_lint import RULES, lint
from conformance.case_lint.__main__ import main

ROOT = Path(__file__).parents[1]

GOOD = '''\
"""Input mutation: what the caller's tensors hold after a compiled call."""

import pytest
import torch

from conformance import clause, tensors


def double_in_place(x):
    if x.dtype is torch.float32:
        x.mul_(2)
    return x + 1


@pytest.mark.parametrize("shape", [(3,), (2, 3)])
@clause("aot_autograd.mutation.writeback")
def test_input_holds_the_mutated_value(stack, device, shape):
    """The caller's tensor ends up exactly as eager leaves it."""
    run = stack.run(double_in_place, tensors(shape, device=device))

    run.assert_matches_eager()
    run.assert_compiled(graphs=1, recompiles=0)
    run.forward.expect("""\\
in0: f32[3]
""", since="2.11")
'''
WHERE = Path("cases/aot_autograd/test_mutation.py")
EXPECTATION = '''    run.forward.expect("""\\
in0: f32[3]
""", since="2.11")
'''
TEST = "    run = stack.run(double_in_place"

# (rule, what is replaced in the good case, by what, the finding without its place)
BROKEN = [
    (
        "module_docstring",
        GOOD.splitlines()[0] + "\n",
        "",
        "begin the file with a docstring that names the one behaviour it is about",
    ),
    ("file_length", '"""\n\nimport', '"""\n' + "\n" * 200 + "import", "split the file by behaviour"),
    (
        "one_clause",
        '@clause("aot_autograd.mutation.writeback")\n',
        "",
        'has 0 clauses: give it exactly one @clause("...")',
    ),
    ("one_clause", "@clause(", '@clause("a.b.c")\n@clause(', "test_input_holds_the_mutated_value has 2 clauses"),
    ("one_clause", '("aot_autograd.mutation.writeback")', "(CLAUSE)", "name the clause by one literal string"),
    ("one_sentence", "as eager leaves it.", "as eager leaves it", "must be one sentence with a full stop"),
    ("one_sentence", "as eager leaves it.", "as in eager. Always.", "must be one sentence with a full stop"),
    ("one_sentence", '    """The caller\'s tensor ends up exactly as eager leaves it."""\n', "", "say in one sentence"),
    ("straight_line", TEST, "    for _ in range(2):\n        pass\n" + TEST, "`for` in test_input_holds"),
    ("straight_line", TEST, "    while device:\n        pass\n" + TEST, "parametrize the case instead"),
    ("straight_line", TEST, '    if device == "cuda":\n        return\n' + TEST, "`if` in test_input_holds"),
    ("straight_line", TEST, '    n = 1 if device == "cuda" else 2\n' + TEST, "`ifexp` in test_input_holds"),
    ("straight_line", TEST, "    try:\n        pass\n    finally:\n        pass\n" + TEST, "`try` in test_input_holds"),
    ("module_level_program", TEST, "    def f(x):\n        return x\n\n" + TEST, "move `f` out of test_input_holds"),
    ("module_level_program", "stack.run(double_in_place", "stack.run(lambda x: x", "move `lambda` out of test_input"),
    ("proof_of_compilation", "    run.assert_matches_eager()\n", "", "never calls assert_matches_eager"),
    ("proof_of_compilation", "    run.assert_compiled(graphs=1, recompiles=0)\n", "", "never calls assert_compiled"),
    (
        "inline_expectation",
        f"(graphs=1, recompiles=0)\n{EXPECTATION}",
        "(graphs=1)\n",
        'neither .expect("""...""") nor',
    ),
    ("needed_capability", "recompiles=0", "recompiles=1", 'counts recompiles: declare @needs("recompiles")'),
    ("needed_capability", "graphs=1", "graphs=2, graph_breaks=1", 'declare @needs("graph_breaks")'),
    ("bare_expectation", "    run.forward.expect", "    assert run.forward.expect", "a statement of its own"),
    ("bare_expectation", '"""\\\nin0: f32[3]\n"""', "TEXT", "exactly one triple-quoted literal"),
    ("bare_expectation", '"""\\\nin0: f32[3]\n"""', '"in0: f32[3]"', "exactly one triple-quoted literal"),
    ("bare_expectation", '"""\\\nin0', 'f"""\\\nin0', "exactly one triple-quoted literal"),
    ("bare_expectation", '"""\\\nin0', '"""one""" """\\\nin0', "exactly one triple-quoted literal"),
    ("bare_expectation", EXPECTATION, "    run.forward.expect(row)\n", "exactly one triple-quoted literal"),
    ("row_expectation", "(2, 3)])", '(2, 3), expected("in0")])', "exactly one triple-quoted literal"),
    (
        "row_expectation",
        "(2, 3)])",
        '(2, 3), expected("""a"""), expected("""b""")])',
        "give each expected(...) a line of its own",
    ),
    ("bare_expectation", 'since="2.11"', "since=RELEASE", "write since= and until= as literals"),
    (
        "public_imports",
        "import torch\n",
        "import numpy\nimport torch\n",
        "do not import numpy: a case uses conformance",
    ),
    ("public_imports", "import torch\n", "import torch\nimport unittest\n", "do not import unittest"),
    ("public_imports", "from conformance import", "from . import", "do not import"),
    ("public_imports", "import clause,", "import observe, clause,", "conformance.observe is not a public name"),
    ("public_imports", "from conformance import", "from conformance.contract import", "is not a public name"),
    ("private_torch", "import torch\n", "import torch._dynamo\n", "torch._dynamo is private: let a stack"),
    ("private_torch", "import torch\n", "from torch import _inductor\n", "torch._inductor is private"),
    ("private_torch", "import torch\n", "from torch._functorch.aot_autograd import x\n", "torch._functorch is private"),
    ("private_torch", TEST, "    torch._dynamo.reset()\n" + TEST, "torch._dynamo is private"),
    ("reasoned_skip", "@clause", "@pytest.mark.skip\n@clause", "give pytest.mark.skip a reason"),
    ("reasoned_skip", "@clause", "@pytest.mark.skip()\n@clause", "give pytest.mark.skip a reason"),
    ("reasoned_skip", "@clause", "@pytest.mark.skipif(True)\n@clause", "give pytest.mark.skipif a reason"),
    ("reasoned_skip", TEST, '    pytest.skip("")\n' + TEST, "give pytest.skip a reason"),
    ("reasoned_skip", "@clause", '@pytest.mark.xfail(reason="?")\n@clause', "belong in known_failures/<stack>.toml"),
    ("plain_functions", "\n\n@pytest", "\n\nclass TestMutation:\n    pass\n\n\n@pytest", "write cases as functions"),
    ("plain_functions", TEST, "    print(device)\n" + TEST, "print nothing: assert it or leave it out"),
]


def test_a_good_case_has_no_findings() -> None:
    """The example that the documentation shows is what the lint accepts."""
    assert lint(WHERE, GOOD) == []


@pytest.mark.parametrize(("rule", "old", "new", "advice"), BROKEN)
def test_a_broken_rule_is_found(rule: str, old: str, new: str, advice: str) -> None:
    """One change to the good case gives a finding of exactly the rule that it breaks."""
    assert old in GOOD
    findings = lint(WHERE, GOOD.replace(old, new, 1))

    assert {finding.rule for finding in findings} == {rule}
    assert any(advice in finding.advice for finding in findings)


def test_every_rule_has_a_broken_example() -> None:
    """A rule without an example that breaks it could be one that finds nothing."""
    assert {rule.__name__ for rule in RULES} == {rule for rule, *_ in BROKEN}


def test_a_parameter_may_be_expected() -> None:
    """Its row holds the literal."""
    rows = [
        '((3,), expected("""in0""")),',
        '((2,), expected(\n        """in1"""\n    )),',
        '(4, expected("""\\\nin0\nin1\n""")),',
    ]
    table = '("shape", "row"), [\n    {}\n]'.format("\n    ".join(rows))
    source = GOOD.replace('"shape", [(3,), (2, 3)]', table).replace("device, shape", "device, shape, row")
    source = source.replace(EXPECTATION, "    run.forward.expect(row)\n")

    assert lint(WHERE, source) == []


def test_exact_counts_are_expectation_enough() -> None:
    """Where the graph is not the point, a case counts what was compiled and shows no graph."""
    assert lint(WHERE, GOOD.replace(EXPECTATION, "")) == []


def test_a_count_is_for_stacks_that_declare_it() -> None:
    """What the rule asks for satisfies it."""
    source = GOOD.replace("import clause", "import clause, needs").replace("@clause", '@needs("recompiles")\n@clause')

    assert lint(WHERE, source.replace("recompiles=0", "recompiles=1")) == []


def test_generated_cases_need_no_inline_expectation() -> None:
    """Nobody knows the graphs of generated programs beforehand, and Hypothesis makes them."""
    source = (
        GOOD.replace(EXPECTATION, "")
        .replace(", recompiles=0", "")
        .replace("import pytest", "import hypothesis\nimport pytest")
    )

    assert lint(Path("cases/generated/test_views.py"), source) == []


@pytest.mark.parametrize(
    "skip",
    ['@pytest.mark.skip("why")', '@pytest.mark.skip(reason="why")', '@pytest.mark.skipif(True, reason="why")'],
)
def test_a_skip_with_a_reason_passes(skip: str) -> None:
    """What the rule asks for satisfies it."""
    assert lint(WHERE, GOOD.replace("@clause", f"{skip}\n@clause")) == []


def test_findings_name_file_line_and_rule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An editor can jump to a finding, and the exit status is 1."""
    folder = tmp_path / "cases" / "layout"
    folder.mkdir(parents=True)
    file = folder / "test_strides.py"
    file.write_text(GOOD.replace("import torch\n", "import torch\nimport numpy\n"))

    assert main([str(tmp_path)]) == 1
    assert capsys.readouterr().out == textwrap.dedent(
        f"""\
        {file}:5: public_imports: do not import numpy: a case uses conformance, torch, pytest
        1 case files, 1 findings
        """
    )


def test_no_case_files_is_wrong_usage(tmp_path: Path) -> None:
    """A lint that looked at nothing must not be green."""
    assert main([str(tmp_path)]) == 2


def test_the_cases_pass() -> None:
    """The lint runs as the documented command, and the project's own cases keep every rule."""
    command = [sys.executable, "-m", "conformance.case_lint", "cases"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
