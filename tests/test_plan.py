"""What a run is about: ids, roots, shards, devices, ledgers, verdicts and the results folder."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

import pytest
import torch

from conformance.canonical.expect import ExpectationMismatch
from conformance.contract.failure import Discrepancy
from conformance.program import devices
from conformance.results import ledger
from conformance.results.bugs import Bug
from conformance.results.result_file import Results
from conformance.run.texts import ConformanceFailure
from conformance.stacks import resolve
from conformance.standalone.writing import script_name
from conformance.suite.outcomes.outcome import CRASH, Failure, blame, result, told, verdict
from conformance.suite.plan import (
    DeviceRequired,
    KnownFailures,
    Plan,
    PlanError,
    in_shard,
    root_among,
    root_of,
    shard_of,
)
from conformance.suite.results_folder import ResultFolder
from conformance.suite.target import Target, case_id

EAGER = Target("eager", "cpu")
CASE = "layout/test_x.py::test_y"
STRIDE = Discrepancy("stride", "outputs[0]", "(12, 1)", "(1, 3)")


def options(**stated: Any) -> argparse.Namespace:
    """The options of a run, as pytest parses them."""
    lists: dict[str, list[str]] = {name: [] for name in ("device", "area", "case", "known_failures", "require_device")}
    texts = dict.fromkeys(
        ("write_known_failures", "update_known_failures", "shard", "results", "resume", "keyword"), ""
    )
    return argparse.Namespace(**{**lists, **texts, "scope": "quick", "stack": ["eager"], **stated})


def entry(**stated: Any) -> ledger.Entry:
    """A known failure of `CASE`: the stride of its first output."""
    fields = {
        "case": CASE,
        "device": "*",
        "torch": ">=2.9",
        "phase": "call",
        "bug": Bug("wrong", "Wrong.", "https://e.x/1"),
    }
    return ledger.Entry(**{**fields, "observables": frozenset({"outputs[0].stride"}), **stated})


def write_ledger(path: Path, case: str = CASE, times: int = 1, stack: str = "eager", title: str = "Wrong.") -> str:
    head = f'stack = "{stack}"\n[bugs.wrong]\ntitle = "{title}"\nlink = "https://e.x/1"\n'
    text = f'[[failure]]\nbug = "wrong"\ncases = ["{case}"]\ntorch = ">=2.9"\nphase = "call"\n'
    text += 'observables = ["outputs[0].stride"]\n'
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(head + text * times, encoding="utf-8")
    return str(path)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder of cases without a manifest."""
    (tmp_path / "cases" / "layout").mkdir(parents=True)
    return tmp_path / "cases"


@pytest.mark.parametrize(
    ("nodeid", "case", "target"),
    [
        ("cases/layout/test_x.py::test_y[eager-cpu]", CASE, EAGER),
        ("cases/layout/test_x.py::test_y[eager-cpu-a-b]", f"{CASE}[a-b]", EAGER),
        ("cases/layout/test_x.py::test_y[eager-cpu-eager-cpu]", f"{CASE}[eager-cpu]", EAGER),
        ("cases/layout/test_x.py::test_y[eager-cpu-cuda]", CASE, Target("eager-cpu", "cuda")),
        ("cases/layout/test_x.py::test_y[a.b:c-cpu-1[2]]", f"{CASE}[1[2]]", Target("a.b:c", "cpu")),
        ("test_x.py::test_y[eager-cpu]", "test_x.py::test_y", EAGER),
        ("cases/layout/test_x.py::test_y", CASE, None),
    ],
)
def test_case_id(nodeid: str, case: str, target: Target | None) -> None:
    """A case's id is its path below the root and its own parameters; the stack and the device are apart."""
    targets = [EAGER, Target("eager-cpu", "cuda"), Target("a.b:c", "cpu")]

    assert case_id(nodeid, PurePath("/base"), targets) == (case, target)


def test_case_id_below_an_area() -> None:
    """The area is found where pytest's own base lies below it, and the innermost one counts."""
    assert case_id("test_x.py::test_y[eager-cpu]", PurePath("/freezing/cases/layout"), [EAGER]) == (CASE, EAGER)


def test_roots(root: Path) -> None:
    """The root is what holds the areas, whichever of its files, areas or parents was named."""
    assert root_of(root / "layout" / "test_x.py") == root
    assert root_of(root.parent / "test_x.py") is None
    for named in (root, root.parent, root / "layout", root / "layout" / "test_x.py::test_y"):
        assert root_among(["-q", str(named)]) == root


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_shards_have_every_case_once(count: int) -> None:
    """Shards are disjoint, complete and even, whatever order the cases come in."""
    cases = [f"layout/test_{number}.py::test" for number in range(10)]
    parts = [in_shard(reversed(cases), (index, count)) for index in range(1, count + 1)]

    assert sorted(case for part in parts for case in part) == sorted(cases)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "a/b", "1/2/3"])
def test_wrong_shard(text: str) -> None:
    """A shard that cannot be is refused in one line."""
    with pytest.raises(PlanError, match=r"^--shard takes I/N .* not '"):
        shard_of(text)


def test_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    """An absent device has the reason; an unknown one is an error that says what exists."""
    assert devices.resolve([]) == ["cpu", "cuda"]
    assert devices.resolve(["cuda", "cuda"]) == ["cuda"]
    with pytest.raises(devices.DeviceError, match=r"^unknown device 'tpu'; known: cpu, cuda$"):
        devices.resolve(["tpu"])

    monkeypatch.setattr(torch.version, "cuda", None)
    monkeypatch.setattr(torch.version, "hip", None)
    absent = devices.device("cuda")
    assert not absent.available
    assert absent.models == ()
    assert absent.reason == f"no CUDA device: torch {torch.__version__} was built without CUDA"


def test_hidden_gpus_are_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the environment hides the GPUs, the reason says so."""
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")

    assert "CUDA_VISIBLE_DEVICES='' shows no GPU" in devices.device("cuda").reason


def test_workers_share_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each worker has one of the visible GPUs, round robin, and an equal share of its memory."""
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5,GPU-1")
    gpus = devices.visible_gpus()

    assert [devices.gpu_of(worker, gpus) for worker in range(3)] == ["5", "GPU-1", "5"]
    assert devices.memory_share(3, gpus) == 0.45
    assert devices.memory_share(2, gpus) == 1.0
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    assert devices.visible_gpus() == ["0", "1"]
    assert devices.gpu_of(0, []) is None


def test_required_device_is_tested_with_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """`--require-device` narrows nothing; it fails the run where the device is absent."""
    monkeypatch.setattr(torch.version, "cuda", None)
    plan = Plan(options(require_device=["cuda"]), [])

    assert [target.device for target in plan.targets] == ["cpu", "cuda"]
    with pytest.raises(DeviceRequired, match="--require-device cuda: no CUDA device"):
        plan.require_devices()
    named = Plan(options(device=["cpu"], require_device=["cuda"]), [])
    assert [target.device for target in named.targets] == ["cpu", "cuda"]


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({"stack": ["nosuch"]}, "unknown stack 'nosuch'"),
        ({"device": ["nosuch"]}, "unknown device 'nosuch'"),
        ({"area": ["layuot"]}, "unknown area 'layuot'; close: layout"),
        ({"known_failures": ["/nosuch.toml"]}, "/nosuch.toml: no such file"),
        ({"resume": "/nosuch"}, "--resume: there is no folder /nosuch"),
        (
            {"stack": ["eager", "inductor"], "write_known_failures": "x.toml"},
            "edit the ledger of one stack: name it",
        ),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_wrong_options_are_one_line(stated: dict[str, Any], message: str) -> None:
    """Each wrong option is one line that says what exists."""
    with pytest.raises(ValueError, match=message) as raised:
        Plan(options(**stated), [])

    assert "\n" not in str(raised.value)


def test_ledger_names_an_unknown_case(root: Path, tmp_path: Path) -> None:
    """An entry about a case that the manifest does not list is refused, with the close ones."""
    (root / "manifest.txt").write_text(f"{CASE}\n", encoding="utf-8")
    own = write_ledger(tmp_path / "own.toml", "layout/test_x.py::test_z")

    with pytest.raises(
        ledger.LedgerError, match=r"names the unknown case 'layout/test_x.py::test_z' .*close: .*test_y"
    ):
        Plan(options(known_failures=[own]), [str(root)])
    write_ledger(tmp_path / "known_failures" / "eager.toml", "layout/test_x.py::test_z")
    with pytest.raises(ledger.LedgerError, match=r"eager\.toml names the unknown case"):
        Plan(options(), [str(root)])
    Plan(options(collectonly=True), [str(root)])  # as for a new manifest, in which the case will be


def test_two_entries_about_one_failure(root: Path, tmp_path: Path) -> None:
    """Which of two entries counts would be a guess: refused before anything runs."""
    with pytest.raises(ledger.LedgerError, match="2 entries apply"):
        Plan(options(known_failures=[write_ledger(tmp_path / "own.toml", times=2)]), [str(root)])


def test_own_ledger_comes_before_the_shipped_one(root: Path, tmp_path: Path) -> None:
    """A user cannot edit the ledger in an installed package, so their own entry about a case counts."""
    write_ledger(tmp_path / "known_failures" / "eager.toml")
    own = write_ledger(tmp_path / "own.toml", title="Mine.")

    shipped = Plan(options(), [str(root)]).ledgers.entry(CASE, EAGER)
    assert shipped is not None
    assert shipped.bug.title == "Wrong."
    mine = Plan(options(known_failures=[own]), [str(root)]).ledgers.entry(CASE, EAGER)
    assert mine is not None
    assert mine.bug.title == "Mine."


def test_resume_keeps_what_ran_as_expected(tmp_path: Path) -> None:
    """Passes and known failures on this run's targets are kept; the rest, absent devices too, is found out again."""
    kept = ("pass", "known_failure")
    outcomes = (*kept, "fail", "error", "unexpected_pass", "not_applicable", "unavailable", "missing")
    found = [result(f"{CASE}[{outcome}]", EAGER, outcome) for outcome in outcomes]
    found.append(result(CASE, Target("inductor", "cpu"), "pass"))
    Results(environment={"torch": torch.__version__}, results=found).write(tmp_path / "results.json")
    plan = Plan(options(resume=str(tmp_path)), [])

    assert {one.outcome for one in plan.kept.values()} == set(kept)
    assert plan.selected([(f"{CASE}[{outcome}]", EAGER, ()) for outcome in outcomes]) == [
        outcome not in kept for outcome in outcomes
    ]
    again = Plan(options(resume=str(tmp_path)), [], kept=[(f"{CASE}[fail]", "eager", "cpu")])
    assert again.kept_keys == {(f"{CASE}[fail]", "eager", "cpu")}


def test_resume_refuses_another_torch(tmp_path: Path) -> None:
    """Results of two torch releases are not one run."""
    Results(environment={"torch": "2.0.0"}).write(tmp_path / "results.json")

    with pytest.raises(PlanError, match=r"holds results of torch 2\.0\.0; this is torch"):
        Plan(options(resume=str(tmp_path)), [])


def test_a_narrowed_run_is_not_full(root: Path) -> None:
    """Only a run of all cases can miss one."""
    assert Plan(options(), [str(root)]).is_full([str(root)])
    assert Plan(options(), [str(root)]).is_full([str(root.parent)])
    assert not Plan(options(), [str(root)]).is_full([str(root / "layout")])
    for stated in ({"area": ["layout"]}, {"keyword": "x"}, {"shard": "1/2"}, {"maxfail": 1}, {"deselect": ["x"]}):
        assert not Plan(options(**stated), [str(root)]).is_full([str(root)])


def test_verdicts() -> None:
    """What a failure and an entry amount to."""
    failure = Failure("call", frozenset({"outputs[0].stride"}), discrepancies=(STRIDE,))
    raised = Failure("call", exception="RuntimeError", message="no kernel")

    assert verdict(None, None) == ("pass", "")
    assert verdict(failure, None) == ("fail", "in call")
    assert verdict(raised, None) == ("fail", "in call: no kernel")
    assert verdict(failure, entry()) == ("known_failure", "Wrong. (https://e.x/1)")
    assert verdict(None, entry())[0] == "unexpected_pass"
    assert "remove this entry" in verdict(None, entry())[1]
    assert verdict(None, entry(strict=False)) == ("pass", ""), "another stack breaks it"
    for other in (raised, Failure("backward", failure.observables), Failure("call", frozenset({"outputs[1].stride"}))):
        outcome, reason = verdict(other, entry())
        assert outcome == "fail"
        assert reason == (
            f"fails otherwise than the ledger says: call: outputs[0].stride is listed, {other.describe()} is seen"
        )
    crash = entry(observables=frozenset(), exception=CRASH)
    assert verdict(Failure("call", exception=CRASH), crash)[0] == "known_failure"


def test_what_a_rung_below_fails_in_the_same_way_is_inherited() -> None:
    """The lowest rung that explains a failure is named; passing is fine; an entry of the stack's own comes first."""
    failure = Failure("call", frozenset({"outputs[0].stride"}), discrepancies=(STRIDE,))
    other = entry(phase="backward")
    inherited = {"dynamo": other, "aot_eager": entry(), "aot_eager_decomp_partition": entry()}

    blamed = blame(failure, inherited)
    outcome, reason = verdict(failure, None, blamed)
    assert outcome == "inherited"
    assert reason.startswith("aot_eager fails likewise in outputs[0].stride: ")
    assert reason.endswith("Wrong. (https://e.x/1)")
    assert verdict(failure, None, blame(failure, {"dynamo": other})) == ("fail", "in call")
    assert verdict(failure, entry(), blamed)[0] == "known_failure"
    assert verdict(failure, other, blamed)[0] == "unexpected_pass"
    assert verdict(failure, replace(other, strict=False), blamed)[0] == "inherited"


def test_each_discrepancy_is_blamed_for_itself() -> None:
    """What is the stack's own is the failure, held against its ledger alone; what rungs show is named beside it."""
    value = Discrepancy("value", "outputs[1]", "2", "3")
    names = frozenset({STRIDE.name, value.name})
    phases = {STRIDE.name: "backward", value.name: "call"}
    failure = Failure("call", names, discrepancies=(value, STRIDE), phases=phases)

    blamed = blame(failure, {}, {value: "dynamo"})
    assert blamed.own == Failure("backward", frozenset({STRIDE.name}), discrepancies=(STRIDE,), phases=phases)
    assert verdict(failure, None, blamed) == ("fail", "in backward; besides, dynamo fails likewise in outputs[1].value")
    assert verdict(failure, entry(phase="backward"), blamed)[0] == "known_failure"
    assert blame(failure, {"dynamo": entry(phase="backward")}).own == failure.only((value,))
    assert blame(failure, {"dynamo": entry()}).own == failure
    assert blame(failure, {"dynamo": entry()}, {}).own == failure


def test_a_fault_of_the_suite_is_no_failure_of_the_stack() -> None:
    """No ledger excuses an exception that no assertion raised."""
    failure = Failure.of(KeyError("x"))

    assert verdict(failure, None) == ("error", "a fault of the case or the suite: KeyError: 'x'")
    assert verdict(failure, entry(observables=frozenset(), exception="KeyError"))[0] == "error"


def test_failures_in_the_terms_of_a_ledger() -> None:
    """Each kind of failed assertion has a phase, and observables or an exception."""
    broken = Failure.of(ConformanceFailure("differs", phase="backward", discrepancies=[STRIDE]))
    raised = Failure.of(ConformanceFailure("raises", phase="call", exception="RuntimeError"))
    mismatch = Failure.of(ExpectationMismatch("differs", subject="forward graph", expected="a\n", actual="b"))

    assert (broken.phase, broken.observables, broken.exception) == ("backward", {"outputs[0].stride"}, None)
    assert raised.exception == "RuntimeError"
    assert (mismatch.phase, mismatch.observables) == ("expectation", {"expectation"})
    assert mismatch.discrepancies == (Discrepancy("expectation", "forward graph", "a\n", "b"),)
    for plain in (AssertionError("1 == 2"), ConformanceFailure("no graph", phase="expectation")):
        assert Failure.of(plain).observables == {"assertion"}


def test_what_a_failure_prints() -> None:
    """Subject, clause, what differs, where, next command."""
    failure = Failure("call", frozenset({STRIDE.name}), discrepancies=(STRIDE,))
    found = result(
        f"{CASE}[a]",
        EAGER,
        "fail",
        "in call",
        clause="aot_autograd.mutation.writeback",
        failure=failure,
        first_divergence="dynamo",
    )

    lines = told(found, f"differs\n  {STRIDE}").splitlines()
    assert lines[0] == f"{CASE}[a]   fail   eager, cpu"
    assert lines[1] == "  clause   aot_autograd.mutation.writeback"
    assert lines[2].strip()
    assert lines[3:] == [
        "  differs",
        "    outputs[0].stride: eager (12, 1), stack (1, 3)",
        "  first divergence: dynamo",
        f"  alone: conformance run --case '{CASE}[a]' --stack eager --device cpu",
    ]


def test_results_are_written_as_they_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is valid from the first result on, in the order of areas, cases and targets."""
    targets = [EAGER, Target("dynamo", "cpu")]
    folder = ResultFolder(tmp_path / "r", {}, targets, {})
    folder.add(result("layout/test_x.py::test_b", targets[1], "pass"))
    assert len(Results.read(tmp_path / "r" / "results.json").results) == 1

    folder.add(result("layout/test_x.py::test_b", EAGER, "pass"))
    folder.add(result("aot_autograd/test_x.py::test_c", EAGER, "pass"))
    folder.add(result("aot_autograd/test_x.py::test_c", EAGER, "error", "in teardown"))
    assert folder.add_missing(["layout/test_x.py::test_a", "layout/test_x.py::test_b"]) == 2
    folder.write_reports()

    read = Results.read(tmp_path / "r" / "results.json")
    assert [(one.case.split("::")[1], one.stack, one.outcome) for one in read.results] == [
        ("test_c", "eager", "error"),
        ("test_a", "eager", "missing"),
        ("test_a", "dynamo", "missing"),
        ("test_b", "eager", "pass"),
        ("test_b", "dynamo", "pass"),
    ]
    assert {path.name for path in (tmp_path / "r").iterdir()} == {"results.json", "report.html", "summary.md"}
    assert json.loads((tmp_path / "r" / "results.json").read_text())["seconds"] >= 0


def test_a_draft_is_a_ledger_of_what_failed(tmp_path: Path) -> None:
    """A drafted ledger can be read, and explains the failures that it was drafted from."""
    failure = Failure("backward", frozenset({STRIDE.name}), discrepancies=(STRIDE,))
    folder = ResultFolder(None, {}, [EAGER], {})
    folder.add(result(CASE, EAGER, "fail", failure=failure), failure.to_json())
    folder.add(result(f"{CASE}[a]", EAGER, "error"))
    folder.add(result(f"{CASE}[b]", EAGER, "pass"))

    path = tmp_path / "new" / "own.toml"
    assert folder.edit_ledger(path, update=False) == [f"{path}: added: {CASE} on cpu: backward: outputs.stride"]
    drafted = Plan(options(known_failures=[str(tmp_path / "new" / "own.toml")]), []).ledgers.entry(CASE, EAGER)
    assert verdict(failure, drafted)[0] == "known_failure"


def test_script_names_are_file_names() -> None:
    """A script is named after its case, stack and device, whatever characters those hold."""
    assert script_name(f"{CASE}[a b/c]", Target("a.b:c", "cpu")) == "layout.test_x.py.test_y.a.b.c.a.b.c.cpu.py"


def test_ledger_of_another_configuration(tmp_path: Path) -> None:
    """What a stack shares with another one is listed once; what its own ledger says of a case comes first."""
    ledgers = tmp_path / "known_failures"
    write_ledger(ledgers / "inductor.toml", f'{CASE}", "{CASE}_too', stack="inductor", title="shared")
    write_ledger(ledgers / "inductor_freezing.toml", stack="inductor_freezing", title="its own")
    stacks = {name: resolve(name) for name in ("aot_eager", "inductor", "inductor_freezing")}
    known = KnownFailures(tmp_path / "cases", stacks, [])

    def reason(case: str, stack: str) -> str | None:
        found = known.entry(case, Target(stack, "cpu"))
        return found and found.bug.title

    assert [reason(CASE, stack) for stack in stacks] == [None, "shared", "its own"]
    assert [reason(f"{CASE}_too", stack) for stack in stacks] == [None, "shared", "shared"]
    shared = [known.entry(f"{CASE}_too", Target(stack, "cpu")) for stack in ("inductor", "inductor_freezing")]
    assert [one is not None and one.strict for one in shared] == [True, False]


def test_what_a_stack_inherits(tmp_path: Path) -> None:
    """The entries of the rungs below it, lowest first; not its own, and none where nothing is compiled by Dynamo."""
    for stack in ("aot_eager", "dynamo", "aot_eager_decomp_partition"):
        write_ledger(tmp_path / "known_failures" / f"{stack}.toml", stack=stack, title=stack)
    stacks = {name: resolve(name) for name in ("eager", "aot_eager", "inductor", "aot_inductor")}
    known = KnownFailures(tmp_path / "cases", stacks, [])
    inherited = {stack: list(known.inherited(CASE, Target(stack, "cpu"))) for stack in stacks}

    assert inherited["eager"] == inherited["aot_inductor"] == []
    assert inherited["aot_eager"] == ["dynamo"]
    assert inherited["inductor"] == ["dynamo", "aot_eager", "aot_eager_decomp_partition"]
    assert known.entry(CASE, Target("inductor", "cpu")) is None
    assert known.inherited(f"{CASE}_too", Target("inductor", "cpu")) == {}


def test_a_ledger_is_of_one_of_the_stacks(root: Path, tmp_path: Path) -> None:
    """One of another stack is refused, to excuse failures or to be edited; one that a stack shares is fine."""
    own = write_ledger(tmp_path / "own.toml", stack="inductor")

    for stated in ({"known_failures": [own]}, {"write_known_failures": own}, {"update_known_failures": own}):
        with pytest.raises(
            ledger.LedgerError, match=r"own\.toml: the ledger of inductor, and this run is about eager$"
        ):
            Plan(options(**stated), [str(root)])
        if "known_failures" in stated:
            assert Plan(options(stack=["inductor_freezing"], **stated), [str(root)])
    with pytest.raises(ledger.LedgerError, match="no such file"):
        Plan(options(update_known_failures=str(tmp_path / "gone.toml")), [str(root)])


def test_the_quick_scope_leaves_out_what_longer_scopes_run(root: Path) -> None:
    """A row of full.txt is run by `full`, by its name, and where a run is about all cases; quick does not miss it."""
    (root / "full.txt").write_text(f"{CASE}[dear]\n", encoding="utf-8")
    (root / "manifest.txt").write_text(f"{CASE}[cheap]\n{CASE}[dear]\n", encoding="utf-8")
    cases = [(f"{CASE}[cheap]", EAGER, ()), (f"{CASE}[dear]", EAGER, ())]

    quick, full = (Plan(options(scope=scope), [str(root)]) for scope in ("quick", "full"))
    assert (quick.selected(cases), quick.expected()) == ([True, False], [f"{CASE}[cheap]"])
    assert (full.selected(cases), full.expected()) == ([True, True], [f"{CASE}[cheap]", f"{CASE}[dear]"])
    assert Plan(options(case=[f"{CASE}[dear]"]), [str(root)]).selected(cases) == [False, True]
    quick.all_cases = True
    assert quick.selected(cases) == [True, True]


def test_each_function_runs_on_the_stacks_that_it_is_planned_for(root: Path) -> None:
    """A trial of mutants names the stacks of each case function; another function has one target, to be deselected."""
    plan = Plan(options(stack=["eager", "aot_eager"], device=["cpu"]), [str(root)])
    assert plan.targets_of(CASE) == plan.targets
    plan.stacks_of = {CASE: {"aot_eager"}}

    assert plan.targets_of(CASE) == [Target("aot_eager", "cpu")]
    assert plan.targets_of("layout/test_x.py::test_other") == [EAGER]
