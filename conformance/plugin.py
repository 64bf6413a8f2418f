"""Pytest hooks and fixtures: cases multiplied by stacks and devices, outcomes, the results folder."""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from conformance import devices, expect, ledger, session
from conformance.conclusion import conclude
from conformance.contract import AREAS, nearest
from conformance.results import CaseResult
from conformance.runs import BoundStack
from conformance.session import Target, manifest
from conformance.stacks import StackError, resolve

PROPERTY = "conformance"
SECONDS = 300
DEFAULT_STACKS = ("aot_eager", "inductor")
PROFILES = ("quick", "full", "nightly")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("conformance", "conformance of a compiler stack")
    for name in ("stack", "device", "area", "known-failures", "require-device"):
        group.addoption(f"--{name}", action="append", default=[], metavar="X")
    group.addoption("--profile", default="quick", choices=PROFILES)
    for name in ("write-known-failures", "shard", "results", "resume"):
        group.addoption(f"--{name}", default="", metavar="X")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    option = config.option
    workers = getattr(option, "numprocesses", None)
    if expect.accepting() and workers:
        raise pytest.UsageError("EXPECTTEST_ACCEPT rewrites case files and does not work with -n: leave -n out")
    if workers and option.dist == "no":
        option.dist = "worksteal"  # `load` gives one worker all the slow cases
        option.maxworkerrestart = option.maxworkerrestart or "10000"  # a crash is one case's failure
    if getattr(option, "timeout", None) is None:
        option.timeout = SECONDS
        # A hang inside the compiler sees no signal: with workers, end the process, and xdist reports the case.
        option.timeout_method = "thread" if workers else "signal"


class State:
    """The run's options, checked, and on the controller its results."""

    def __init__(self, config: pytest.Config) -> None:
        option = config.option
        for area in option.area:
            if area not in AREAS:
                raise session.SessionError(f"unknown area {area!r}; {nearest(area, AREAS)}")
        self.stacks = {name: resolve(name) for name in option.stack or DEFAULT_STACKS}
        self.devices = {name: devices.device(name) for name in devices.resolve(option.device or option.require_device)}
        devices.resolve(option.require_device)
        self.targets = [Target(stack.name, name) for stack in self.stacks.values() for name in self.devices]
        self.specs = {stack.name: stack for stack in self.stacks.values()}
        self.shard = session.shard_of(option.shard)
        self.kept = session.resumed(option.resume)
        self.own_ledgers = list(option.known_failures)
        self.ledgers: dict[str, list[ledger.Entry]] | None = None
        self.root: Path | None = None
        self.is_worker = hasattr(config, "workerinput")
        self.folder: session.ResultFolder | None = None

    def known_failure(self, root: Path, case: str, target: Target) -> ledger.Entry | None:
        import torch

        if self.ledgers is None:
            self.ledgers = session.ledgers(root, self.specs, self.own_ledgers)
        return ledger.match(self.ledgers[target.stack], case, target.device, torch.__version__)


STATE: pytest.StashKey[State] = pytest.StashKey()


def pytest_configure(config: pytest.Config) -> None:
    from hypothesis import settings

    for name, examples in zip(PROFILES, (50, 500, 5000), strict=True):
        settings.register_profile(name, max_examples=examples, derandomize=name == "quick", deadline=None)
    settings.load_profile(config.option.profile)
    try:
        state = State(config)
        root = _cases_root(config)
        if root is not None:
            state.root = root
            state.ledgers = session.ledgers(root, state.specs, state.own_ledgers)
    except (ValueError, StackError) as error:
        raise pytest.UsageError(str(error)) from error
    config.stash[STATE] = state
    if state.is_worker:
        _take_gpu(config)
        return
    for name in config.option.require_device:
        if not devices.device(name).available:
            pytest.exit(f"--require-device {name}: {devices.device(name).reason}", returncode=1)
    options = {
        name: getattr(config.option, name) for name in ("stack", "device", "area", "profile", "shard", "keyword")
    }
    state.folder = session.ResultFolder(
        Path(config.option.results) if config.option.results else None, options, state.kept
    )
    config.pluginmanager.register(Controller(state, state.folder), "conformance-controller")
    if getattr(config.option, "numprocesses", None) and not config.option.collectonly and state.devices.get("cpu"):
        for stack in state.stacks.values():
            stack.session_setup()


def _cases_root(config: pytest.Config) -> Path | None:
    """The root of the cases that the run is about, from its arguments."""
    for argument in config.args:
        path = Path(str(argument).partition("::")[0]).resolve()
        if any((path / area).is_dir() for area in AREAS):
            return path
        found = session.root_of(path / "x")
        if found is not None:
            return found
    return None


def _take_gpu(config: pytest.Config) -> None:
    """One GPU a worker, round robin; set before CUDA starts in this process."""
    import torch

    count = torch.cuda.device_count()
    if count > 1:
        worker: dict[str, Any] = config.workerinput  # type: ignore[attr-defined]
        number = int(str(worker["workerid"]).removeprefix("gw") or 0)
        os.environ["CUDA_VISIBLE_DEVICES"] = str(number % count)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "conformance_target" in metafunc.fixturenames:
        targets = metafunc.config.stash[STATE].targets
        metafunc.parametrize("conformance_target", targets, ids=[str(one) for one in targets], indirect=True)


@pytest.fixture
def conformance_target(request: pytest.FixtureRequest) -> Target:
    target: Target = request.param
    return target


@pytest.fixture
def device(conformance_target: Target) -> str:
    """The name of the device, as tensors take it."""
    return conformance_target.device


@pytest.fixture
def stack(conformance_target: Target, request: pytest.FixtureRequest) -> BoundStack:
    """The stack under test on the device: `run` a program, `minify` a failing one."""
    case: str = request.node.conformance_case_id
    state = request.config.stash[STATE]
    return BoundStack(state.specs[conformance_target.stack], conformance_target.device, session.area_of(case))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[Any]) -> None:
    state = config.stash[STATE]
    cases = [item for item in items if "conformance_target" in getattr(item, "fixturenames", ())]
    for item in cases:
        item.conformance_case_id, item.conformance_target = session.case_id(item.nodeid, state.targets)
        item.conformance_root = session.root_of(Path(item.path)) or Path(item.path).parent
    ids = {item.conformance_case_id for item in cases}
    dropped = []
    for item in cases:
        case, target = item.conformance_case_id, item.conformance_target
        outside = config.option.area and session.area_of(case) not in config.option.area
        elsewhere = state.shard is not None and not session.in_shard(case, state.shard, ids)
        if outside or elsewhere or (case, target.stack, target.device) in state.kept:
            dropped.append(item)
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        left_out = set(map(id, dropped))
        items[:] = [item for item in items if id(item) not in left_out]


def _not_run(item: Any) -> tuple[str, str] | None:
    """Why a case is not run on its target: the device is absent, or the stack does not declare what it needs."""
    state, target = item.config.stash[STATE], item.conformance_target
    record = state.devices[target.device]
    if not record.available:
        return "unavailable", record.reason
    lacking = [
        name
        for name in getattr(item.function, "conformance_needs", ())
        if name not in state.specs[target.stack].capabilities
    ]
    return ("not_applicable", f"{target.stack} does not declare {', '.join(lacking)}") if lacking else None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: Any) -> None:
    if hasattr(item, "conformance_case_id"):
        item.conformance_not_run = _not_run(item)
        if item.conformance_not_run:
            pytest.skip(item.conformance_not_run[1])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: Any) -> Generator[None, Any, Any]:
    if not hasattr(item, "conformance_case_id"):
        return (yield)
    item.conformance_entry = _entry(item)
    with expect.open_case(item.nodeid, item.conformance_entry is None):
        return (yield)


def _entry(item: Any) -> ledger.Entry | None:
    state = item.config.stash[STATE]
    found: ledger.Entry | None = state.known_failure(
        item.conformance_root, item.conformance_case_id, item.conformance_target
    )
    return found


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: Any, call: pytest.CallInfo[Any]) -> Generator[None, Any, Any]:
    report = yield
    if hasattr(item, "conformance_case_id"):
        results = item.config.option.results
        found = conclude(item, call, report, Path(results) / "failures" if results else None)
        if found is not None:
            report.user_properties.append((PROPERTY, json.dumps(found.to_json())))
    return report


class Controller:
    """Gathers results where xdist's workers, or the only process, report them."""

    def __init__(self, state: State, folder: session.ResultFolder) -> None:
        self.state, self.folder = state, folder

    def pytest_runtest_logreport(self, report: Any) -> None:
        for name, value in report.user_properties:
            if name == PROPERTY:
                self.folder.add(CaseResult.from_json(json.loads(value)))
        if report.when == "???" and report.failed:  # xdist's report of a worker that died
            case, target = session.case_id(report.nodeid, self.state.targets)
            if target is not None:
                reason = f"the stack crashed the process: {str(report.longrepr).splitlines()[0]}"
                self.folder.add(session.result(case, target, "fail", reason))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        option, root = session.config.option, self.state.root
        if option.collectonly:
            return
        listed = manifest(root) if root is not None and _is_full(session.config, root) else None
        if listed and exitstatus in (0, 1) and self.folder.add_missing(listed, self.state.targets):
            session.exitstatus = 1
        self.folder.write_reports()
        draft = option.write_known_failures
        if draft:
            version = str(self.folder.results.environment["torch"])
            Path(draft).write_text(ledger.draft(self.folder.failures(), version), encoding="utf-8")

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.folder.results.results:
            from conformance.report import terminal_table

            terminalreporter.section("conformance")
            terminal_table([self.folder.results])


def _is_full(config: pytest.Config, root: Path) -> bool:
    option = config.option
    narrowed = option.area or option.keyword or option.markexpr or option.shard or option.deselect
    return not narrowed and [Path(str(one)).resolve() for one in config.args] == [root]
