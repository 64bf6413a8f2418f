"""How pytest's own outcomes become the suite's: in one process, on a stack that compiles nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.results.result_file import CaseResult, Results

pytest_plugins = ["pytester"]

ROOT = Path(__file__).resolve().parents[1]
ARGUMENTS = ("-p", "conformance.plugin", "-p", "no:cacheprovider", "-p", "no:randomly", "--import-mode=importlib")
FAILS = """
    from conformance.contract.failure import Discrepancy
    from conformance.run.texts import ConformanceFailure

    def test_fails(stack):
        found = [Discrepancy("stride", "outputs[0]", "(12, 1)", "(1, 3)")]
        raise ConformanceFailure("differs from eager", phase="call", discrepancies=found)

    def test_passes(stack, device):
        assert (stack.name, stack.device, device) == ("eager", "cpu", "cpu")
"""
LEDGER = """
stack = "eager"

# Mine.
[bugs.strides]
title = "Strides are not kept."
link = "https://example.org/1"

[[failure]]
bug = "strides"
cases = {cases}
torch = ">=2.9"
phase = "call"
observables = ["outputs[0].stride"]
"""


@pytest.fixture
def cases(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Cases:
    """A fresh folder; processes of their own find the library where it is not installed."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.delenv("EXPECTTEST_ACCEPT", raising=False)
    return Cases(pytester)


class Cases:
    """A folder of cases and runs of them on `eager`, the CPU."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.root: Path = pytester.mkdir("cases")

    def write(self, source: str, name: str = "layout/test_some.py") -> None:
        path = self.root / name
        path.parent.mkdir(exist_ok=True)
        lines = source.splitlines()
        indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
        path.write_text("\n".join(line[indent:] for line in lines), encoding="utf-8")

    def ledger(self, *names: str) -> str:
        path = self.pytester.path / "own.toml"
        cases = json.dumps([f"layout/test_some.py::{name}" for name in names])
        path.write_text(LEDGER.format(cases=cases), encoding="utf-8")
        return f"--known-failures={path}"

    def run(self, *arguments: str) -> pytest.RunResult:
        return self.pytester.runpytest_inprocess(
            str(self.root), *ARGUMENTS, "--stack=eager", "--device=cpu", "--results=r", *arguments
        )

    @property
    def results(self) -> dict[str, CaseResult]:
        found = Results.read(self.pytester.path / "r" / "results.json").results
        return {result.case.split("::")[1]: result for result in found}

    @property
    def outcomes(self) -> dict[str, str]:
        return {name: result.outcome for name, result in self.results.items()}


def test_a_failure_is_told_and_drafted(cases: Cases) -> None:
    """A broken promise fails with its discrepancy; the drafted ledger makes the next run green."""
    cases.write(FAILS)
    run = cases.run("--write-known-failures=own.toml")

    assert run.ret == 1
    assert cases.outcomes == {"test_fails": "fail", "test_passes": "pass"}
    assert str(cases.results["test_fails"].discrepancies[0]) == "outputs[0].stride: eager (12, 1), stack (1, 3)"
    run.stdout.fnmatch_lines(["    outputs?0?.stride: eager (12, 1), stack (1, 3)"])
    run.stdout.fnmatch_lines(["*fail            eager, cpu  layout/test_some.py::test_fails"])
    run.stdout.fnmatch_lines(["own.toml: added: layout/test_some.py::test_fails on cpu: call: outputs.stride"])

    assert cases.run("--known-failures=own.toml").ret == 0
    assert cases.outcomes == {"test_fails": "known_failure", "test_passes": "pass"}


def test_a_listed_case_that_passes(cases: Cases) -> None:
    """A known failure that is none any more fails the run, and its reason says what to do."""
    cases.write(FAILS)
    run = cases.run(cases.ledger("test_fails", "test_passes"))

    assert run.ret == 1
    assert cases.outcomes == {"test_fails": "known_failure", "test_passes": "unexpected_pass"}
    run.stdout.fnmatch_lines(["*unexpected_pass eager, cpu  layout/test_some.py::test_passes"])
    assert cases.results["test_passes"].reason.endswith("known failure (call: outputs[0].stride): remove this entry")


def test_a_ledger_of_somebody_is_kept(cases: Cases) -> None:
    """A narrowed run takes nothing away; what passes or fails otherwise is changed when that is asked."""
    cases.write(
        f"{FAILS}\n    def test_raises(stack):\n        raise ConformanceFailure('', phase='call', exception='E')"
    )
    known = cases.ledger("test_fails", "test_passes")
    path = cases.pytester.path / "own.toml"
    before = path.read_text(encoding="utf-8")

    cases.run(known, f"--write-known-failures={path}", "-k", "passes")
    assert path.read_text(encoding="utf-8").strip() == before.strip()
    cases.run(known, f"--write-known-failures={path}")
    assert path.read_text(encoding="utf-8").strip().startswith(before.strip())

    run = cases.run(known, f"--update-known-failures={path}", "-k", "fails")
    run.stdout.fnmatch_lines(["*own.toml: nothing to change"])
    run = cases.run(known, f"--update-known-failures={path}")
    run.stdout.fnmatch_lines(
        ["*removed: layout/test_some.py::test_passes on cpu: passes, call: outputs?0?.stride was*"]
    )
    assert cases.run(known).ret == 0
    assert cases.outcomes == {"test_fails": "known_failure", "test_passes": "pass", "test_raises": "known_failure"}
    assert "# Mine.\n[bugs.strides]" in path.read_text(encoding="utf-8")


def test_an_entry_about_no_case(cases: Cases) -> None:
    """An entry that matches no case is wrong usage; without a manifest the run itself says which cases exist."""
    cases.write("def test_passes(stack): ...")
    run = cases.run(cases.ledger("test_gone"))

    assert run.ret == 2
    run.stdout.fnmatch_lines(["ERROR: *own.toml names the unknown case 'layout/test_some.py::test_gone' (*"])


def test_a_case_cannot_hide_its_outcome(cases: Cases) -> None:
    """A case that skips itself, is marked xfail or breaks is an error and makes the run fail."""
    cases.write(
        """
        import pytest

        def test_skips(stack):
            pytest.skip("not today")

        @pytest.mark.skip
        def test_is_skipped_without_a_reason(stack): ...

        @pytest.mark.xfail
        def test_is_marked_xfail(stack):
            assert False

        @pytest.mark.xfail
        def test_is_marked_xfail_and_passes(stack): ...

        @pytest.mark.xfail(run=False)
        def test_is_not_run(stack): ...

        @pytest.fixture
        def broken():
            raise KeyError("set-up")

        def test_breaks_before(stack, broken): ...

        @pytest.fixture
        def breaks_after():
            yield
            raise KeyError("teardown")

        def test_breaks_after(stack, breaks_after): ...

        def test_breaks(stack):
            raise KeyError("call")
        """
    )
    run = cases.run()

    assert run.ret == 1
    assert set(cases.outcomes.values()) == {"error"}
    assert len(cases.outcomes) == 8
    assert run.parseoutcomes().get("skipped", 0) == run.parseoutcomes().get("xfailed", 0) == 0
    assert "not today" in cases.results["test_skips"].reason
    assert "KeyError: 'teardown'" in cases.results["test_breaks_after"].reason


def test_a_declared_skip(cases: Cases) -> None:
    """A case that declares when it says nothing is not applicable then, with its reason."""
    cases.write('import pytest\n@pytest.mark.skipif(True, reason="eager does not")\ndef test_it(stack): raise KeyError')

    assert cases.run().ret == 0
    assert cases.outcomes == {"test_it": "not_applicable"}
    assert cases.results["test_it"].reason == "the case says: eager does not"


def test_assertions_of_a_case(cases: Cases) -> None:
    """A plain assertion that does not hold is a failure of the stack, as is pytest's own way to fail."""
    cases.write(
        """
        import pytest

        def test_asserts(stack):
            assert stack.device == "cuda"

        def test_raises(stack):
            with pytest.raises(ValueError):
                pass
        """
    )

    assert cases.run().ret == 1
    assert cases.outcomes == {"test_asserts": "fail", "test_raises": "fail"}
    assert cases.results["test_raises"].reason.startswith("in call: DID NOT RAISE")


def test_a_time_limit(cases: Cases) -> None:
    """A case that outlasts the limit is a failure that says so."""
    cases.write("import time\ndef test_sleeps(stack): time.sleep(30)")

    assert cases.run("--timeout=1").ret == 1
    assert cases.results["test_sleeps"].outcome == "fail"
    assert cases.results["test_sleeps"].reason == "in call: the stack hung: no result within 1 s"


def test_a_need_that_is_not_declared(cases: Cases) -> None:
    """A case is not applicable to a stack that does not declare what it needs, and the reason is kept."""
    cases.write("from conformance import needs\n@needs('freezing')\ndef test_freezes(stack): raise KeyError")

    assert cases.run().ret == 0
    assert cases.outcomes == {"test_freezes": "not_applicable"}
    assert cases.results["test_freezes"].reason == "eager does not declare freezing"


def test_a_case_of_longer_scopes(cases: Cases) -> None:
    """A case that is left to longer scopes says so in a quick run, and runs in those."""
    cases.write("from conformance import in_scopes\n@in_scopes('full', 'nightly')\ndef test_draws(stack): ...")

    assert cases.run().ret == 0
    assert cases.outcomes == {"test_draws": "not_applicable"}
    assert cases.results["test_draws"].reason == "runs in the scopes full and nightly"
    assert cases.run("--scope=full").ret == 0
    assert cases.outcomes == {"test_draws": "pass"}


def test_a_device_that_cannot_judge(cases: Cases) -> None:
    """A case that only other devices can judge is not applicable, for the reason that it gives."""
    cases.write(
        """
        from conformance import on_devices

        @on_devices("cuda", reason="there is no such kernel")
        def test_of_a_gpu(stack):
            raise KeyError

        @on_devices("cpu", "cuda", reason="never said")
        def test_of_both(stack): ...
        """
    )

    assert cases.run().ret == 0
    assert cases.outcomes == {"test_of_a_gpu": "not_applicable", "test_of_both": "pass"}
    assert cases.results["test_of_a_gpu"].reason == "there is no such kernel"


def test_the_scope_core(cases: Cases) -> None:
    """In `core` a case without a core row has no result, and is not missing; other runs need a result of it."""
    cases.write(
        """
        from conformance import clause

        @clause("layout.outputs.eager_strides")
        def test_core(stack): ...

        def test_of_no_clause(stack): ...
        """
    )
    listed = "layout/test_some.py::test_core\nlayout/test_some.py::test_of_no_clause\n"
    (cases.root / "manifest.txt").write_text(listed, encoding="utf-8")

    assert cases.run("--scope=core").ret == 0
    assert cases.outcomes == {"test_core": "pass"}
    assert cases.run("-m", "clause(id='layout.outputs.eager_strides')").ret == 0
    assert cases.outcomes == {"test_core": "pass"}
    assert cases.run().ret == 0
    assert len(cases.outcomes) == 2


def test_parameters_stacks_and_devices(cases: Cases) -> None:
    """A case runs on every stack and device; its id has its own parameters only; absent devices are counted."""
    cases.write("import pytest\n@pytest.mark.parametrize('n', [1, 2])\ndef test_it(n, stack): ...")
    run = cases.pytester.runpytest_inprocess(
        str(cases.root), *ARGUMENTS, "--stack=eager", "--stack=dynamo", "--results=r", "--collect-only", "-q"
    )
    ids = [line.split("::")[1] for line in run.outlines if "::" in line]

    assert ids[0] == "test_it[eager-cpu-1]"
    assert len(ids) == 8
    assert cases.run("--stack=dynamo").ret == 0
    found = Results.read(cases.pytester.path / "r" / "results.json").results
    assert [(result.case, result.stack) for result in found] == [
        (f"layout/test_some.py::test_it[{n}]", stack) for n in (1, 2) for stack in ("eager", "dynamo")
    ]


def test_an_unknown_clause_cannot_be_collected(cases: Cases) -> None:
    """A case about a clause that does not exist is a collection error, wrong usage of the suite."""
    cases.write("from conformance import clause\n@clause('layout.nosuch.clause')\ndef test_it(stack): ...")
    run = cases.run()

    assert run.ret == 2
    run.stdout.fnmatch_lines(["*UnknownClause: unknown clause 'layout.nosuch.clause'; *"])


def test_workers_refuse_it_too(cases: Cases) -> None:
    """With workers, a case that cannot be collected ends the run as it does without."""
    cases.write("from conformance import clause\n@clause('layout.nosuch.clause')\ndef test_it(stack): ...")
    cases.write("def test_it(stack): ...", "freezing/test_other.py")
    run = cases.pytester.runpytest_subprocess(
        str(cases.root), *ARGUMENTS, "--stack=eager", "--device=cpu", "--results=r", "-n1"
    )

    assert run.ret == 2
    run.stdout.fnmatch_lines(["*UnknownClause: unknown clause 'layout.nosuch.clause'; *"])


def test_a_crash_can_be_known(cases: Cases) -> None:
    """A stack that takes its process down fails one case, which a ledger can list like any other failure."""
    cases.write("import os\ndef test_fails(stack): os._exit(3)\ndef test_passes(stack): ...")
    listed = cases.ledger("test_fails")
    ledger = cases.pytester.path / "own.toml"
    text = ledger.read_text(encoding="utf-8").replace('observables = ["outputs[0].stride"]', 'exception = "Crash"')
    ledger.write_text(text, encoding="utf-8")
    run = cases.pytester.runpytest_subprocess(
        str(cases.root), *ARGUMENTS, "--stack=eager", "--device=cpu", "--results=r", "-n1", listed
    )

    assert run.ret == 0
    assert cases.outcomes == {"test_fails": "known_failure", "test_passes": "pass"}


def test_nothing_left_to_resume(cases: Cases) -> None:
    """A resumed run whose cases have all passed is green, and keeps their results."""
    cases.write("def test_passes(stack): ...")
    (cases.root / "manifest.txt").write_text("layout/test_some.py::test_passes\n", encoding="utf-8")
    assert cases.run().ret == 0

    assert cases.run("--resume=r").ret == 0
    assert cases.outcomes == {"test_passes": "pass"}


def test_a_listed_case_without_a_result(cases: Cases) -> None:
    """In a full run it is missing and fails the run; a narrowed run does not ask for it."""
    cases.write("def test_passes(stack): ...")
    listed = "layout/test_some.py::test_passes\nlayout/test_some.py::test_gone\n"
    (cases.root / "manifest.txt").write_text(listed, encoding="utf-8")
    run = cases.run()

    assert run.ret == 1
    assert cases.outcomes == {"test_gone": "missing", "test_passes": "pass"}
    run.stdout.fnmatch_lines(["1 missing: *"])
    assert cases.run("-k", "passes").ret == 0


def test_a_required_device_that_is_absent(cases: Cases, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that must not be green without a GPU says so in one line and fails, with status 1."""
    monkeypatch.setattr("torch.version.cuda", None)
    monkeypatch.setattr("torch.version.hip", None)
    cases.write("def test_passes(stack): ...")
    run = cases.run("--require-device=cuda")

    assert run.ret == 1
    [line] = [line for line in run.stderr.lines if line.strip()]
    assert line.startswith("ERROR: --require-device cuda: no CUDA device: torch ")


@pytest.mark.parametrize(
    "argument",
    ["--stack=nosuch", "--device=nosuch", "--area=nosuch", "--scope=nosuch", "--shard=9", "nosuch", "manifest"],
)
def test_wrong_usage(cases: Cases, argument: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One line and status 2, from pytest as from the command line."""
    cases.write("def test_passes(stack): ...")
    if argument == "manifest":
        (cases.root / "manifest.txt").write_text("layout/test_some.py::test_passes\n", encoding="utf-8")
        argument = cases.ledger("test_gone")
    # Not through pytester, which takes status 2 for an interrupt.
    status = pytest.main([str(cases.root), *ARGUMENTS, "--device=cpu", argument])

    assert status == 2
    [line] = [line for line in capsys.readouterr().err.splitlines() if line.strip()]
    assert line.startswith("ERROR: ")


def test_each_worker_has_one_gpu(cases: Cases, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine with two GPUs (pretended), workers see one each and share its memory."""
    cases.write(
        """
        import torch

        torch.version.cuda = "13.0"
        torch.cuda.device_count = lambda: 2
        torch.cuda.get_device_name = lambda index: f"Pretended {index}"
        """,
        "conftest.py",
    )
    cases.write(
        """
        import os
        import pytest

        @pytest.mark.parametrize("n", range(12))
        def test_it(stack, request, n):
            number = int(request.config.workerinput["workerid"].removeprefix("gw"))
            assert os.environ["CUDA_VISIBLE_DEVICES"] == "57"[number % 2]
            assert request.config.workerinput["conformance_memory"] == 0.45
        """
    )
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5,7")
    arguments = ("--stack=eager", "--device=cpu", "--require-device=cuda", "--results=r", "-n3", "-k", "cpu")
    run = cases.pytester.runpytest_subprocess(str(cases.root), *ARGUMENTS, *arguments)

    assert run.ret == 0
    assert set(cases.outcomes.values()) == {"pass"}
    written = Results.read(cases.pytester.path / "r" / "results.json")
    assert written.environment["gpus"] == ["Pretended 0", "Pretended 1"]


def test_workers_have_what_the_stacks_prepared(cases: Cases) -> None:
    """What a stack's set-up returns is in the environment of every worker, also of one that replaces a crashed one."""
    cases.write(
        """
        from conformance.stacks import Stack

        Stack.prepare = lambda stack, devices: {"PREPARED": stack.name}
        """,
        "conftest.py",
    )
    cases.write(
        """
        import os
        import pytest

        @pytest.mark.parametrize("n", range(6))
        def test_it(stack, n):
            assert os.environ["PREPARED"] == "eager"
            assert os.environ["TORCHINDUCTOR_COMPILE_THREADS"] == "1"
            if n == 1:
                os.abort()
        """
    )
    cases.pytester.runpytest_subprocess(
        str(cases.root), *ARGUMENTS, "--stack=eager", "--device=cpu", "--results=r", "-n2"
    )

    assert sorted(cases.outcomes.values()) == ["fail", *["pass"] * 5]
