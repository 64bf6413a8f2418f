"""Pytest hooks and fixtures: cases multiplied by stacks and devices, and their outcomes."""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from conformance.canonical import expect
from conformance.contract.declarations import MARKERS
from conformance.contract.scopes import SCOPES
from conformance.results.case_seconds import longest_first, read_seconds
from conformance.run.bound_stack import BoundStack
from conformance.stacks.builtin import heed_environment
from conformance.stacks.cache_folder import cache_folder
from conformance.suite.controller import Controller
from conformance.suite.items import (
    CASE,
    ENTRY,
    INHERITED,
    NOT_RUN,
    PLAN,
    TARGET,
    needs_of,
    no_judge,
    rows_of,
    scopes_of,
)
from conformance.suite.options import SECONDS, RunOptions, add_to, from_environment
from conformance.suite.outcomes.case_report import conclude
from conformance.suite.outcomes.ended_workers import (
    end_where_the_gpu_is_lost,
    ended_where_it_hangs,
    note_where_it_crashes,
)
from conformance.suite.plan import DeviceRequired, Plan, area_of
from conformance.suite.pytest_run import USAGE
from conformance.suite.target import Target, case_id
from conformance.suite.terminal.captured_log import told_with, warnings_with
from conformance.suite.terminal.progress import CONTROLLER, PROPERTY

#: The stacks that have run a case in this process, and so have imported all that they need.
USED: pytest.StashKey[set[str]] = pytest.StashKey()
#: Thresholds of Python's garbage collection outside of a run, and in one, where full collections are a fifth as
#: frequent: most objects that a compile leaves behind are still referenced by torch's tables.
GC_THRESHOLD = gc.get_threshold()
GC_THRESHOLD_OF_A_RUN = (*GC_THRESHOLD[:2], 5 * GC_THRESHOLD[2])


def pytest_addoption(parser: pytest.Parser) -> None:
    add_to(parser.getgroup("conformance", "conformance of compiler stacks"))


@pytest.hookimpl(wrapper=True)
def pytest_cmdline_main(config: pytest.Config) -> Generator[None, Any, Any]:
    """A wrapper, so that it comes before xdist's own; wrong usage is one line and exit status 2, as everywhere."""
    _set_defaults(config.option)
    try:
        return (yield)
    except pytest.UsageError as error:
        sys.stderr.writelines(f"ERROR: {line}\n" for line in error.args)
        return 1 if isinstance(error.__cause__, DeviceRequired) else USAGE


def _set_defaults(option: Any) -> None:
    from_environment(option)
    workers = getattr(option, "numprocesses", None)
    if workers and option.dist == "no":
        option.dist = "worksteal"  # `load` gives one worker all the slow cases
        option.maxworkerrestart = option.maxworkerrestart or "10000"  # a crash is one case's failure
    if getattr(option, "timeout", None) is None:
        option.timeout = SECONDS
    if getattr(option, "timeout_method", None) is None:
        # A hang inside the compiler sees no signal: with workers, end the process, and xdist reports the case.
        option.timeout_method = "thread" if workers else "signal"


def pytest_configure(config: pytest.Config) -> None:
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    if getattr(config.option, "numprocesses", None) and expect.accepting():
        raise pytest.UsageError("EXPECTTEST_ACCEPT rewrites case files and does not work with -n: leave -n out")
    worker = getattr(config, "workerinput", None)
    if worker is not None:
        heed_environment()
    kept = [tuple(key) for key in worker["conformance_kept"]] if worker is not None else None
    options = RunOptions.of(config.option)
    try:
        options.check_values()
        plan = config.stash[PLAN] = Plan(config.option, [str(one) for one in config.args], kept)
        if worker is None:
            plan.require_devices()
    except ValueError as error:
        raise pytest.UsageError(str(error)) from error
    from hypothesis import settings

    for name, examples in SCOPES.items():
        settings.register_profile(name, max_examples=examples, derandomize=name in ("core", "quick"), deadline=None)
    settings.load_profile(config.option.scope)
    _set_environment(config, options)
    if worker is None:
        controller = Controller(config, plan, options)
        config.pluginmanager.register(controller, CONTROLLER)
        config.pluginmanager.register(controller.lists)
        config.pluginmanager.register(controller.ends)


def pytest_sessionstart(session: pytest.Session) -> None:
    note_where_it_crashes(session.config)  # after pytest's own plugin has pointed Python to the terminal


def _set_environment(config: pytest.Config, options: RunOptions) -> None:
    """Let this process and those that it starts know of the options; at the end all is as it was."""
    undo = config.add_cleanup
    if not hasattr(config, "workerinput"):
        contexts = ExitStack()
        contexts.enter_context(cache_folder(options.keep_cache))
        undo(contexts.close)
    patch = pytest.MonkeyPatch()
    for name, value in options.environment().items():
        patch.setenv(name, value)
    undo(patch.undo)


def pytest_unconfigure() -> None:
    gc.set_threshold(*GC_THRESHOLD)
    gc.unfreeze()  # else some extension modules complain of what is left when the process ends


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "conformance_target" in metafunc.fixturenames:
        plan = metafunc.config.stash[PLAN]
        function, _ = case_id(metafunc.definition.nodeid, metafunc.config.rootpath, ())
        targets = plan.targets_of(function)
        metafunc.parametrize("conformance_target", targets, ids=[str(one) for one in targets], indirect=True)
    for marker in metafunc.definition.iter_markers("rows"):
        metafunc.parametrize(marker.kwargs["argument"], marker.kwargs["of"](metafunc.config.option.scope))


@pytest.fixture
def conformance_target(request: pytest.FixtureRequest) -> Target:
    """The stack and the device of this test, by name."""
    target: Target = request.param
    return target


@pytest.fixture
def device(conformance_target: Target, request: pytest.FixtureRequest) -> str:
    """The name of the device, as tensors take it."""
    share = getattr(request.config, "workerinput", {}).get("conformance_memory", 1.0)
    if conformance_target.device == "cuda" and share < 1.0:
        import torch

        torch.cuda.set_per_process_memory_fraction(share)
    return conformance_target.device


@pytest.fixture
def stack(conformance_target: Target, device: str, request: pytest.FixtureRequest) -> Iterator[BoundStack]:
    """The stack under test on the device: `run` a program, `minify` a failing one."""
    plan = request.config.stash[PLAN]
    area, named = area_of(request.node.stash[CASE]), conformance_target.stack
    known = plan.ledgers.signatures(conformance_target) if area == "generated" else frozenset()
    yield BoundStack(plan.stacks[named], device, area, known, traces=named in plan.traced)
    used = request.config.stash.setdefault(USED, set())
    if conformance_target.stack not in used:
        used.add(conformance_target.stack)
        # A compiler's modules and tables live as long as the process. Garbage collections that traverse them take a
        # fifth of the time of all later cases, so `gc.freeze` exempts them.
        gc.collect()
        gc.freeze()
        gc.set_threshold(*GC_THRESHOLD_OF_A_RUN)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    plan = config.stash[PLAN]
    cases = [item for item in items if "conformance_target" in getattr(item, "fixturenames", ())]
    for item in cases:
        item.stash[CASE], target = case_id(item.nodeid, config.rootpath, plan.targets)
        assert target is not None, f"{item.nodeid} does not name its target"
        item.stash[TARGET] = target
    wanted = plan.selected([(item.stash[CASE], item.stash[TARGET], rows_of(item)) for item in cases])
    workers = int(getattr(config, "workerinput", {}).get("workercount", 1))
    dropped = {item for item, want in zip(cases, wanted, strict=True) if not want}
    if dropped:
        config.hook.pytest_deselected(items=[item for item in items if item in dropped])
        items[:] = [item for item in items if item not in dropped]
    if workers > 1 and plan.root is not None:
        known = read_seconds(plan.root)
        timed = [
            (known.get((item.stash[CASE], item.stash[TARGET].stack), 0.0) if CASE in item.stash else 0.0, item)
            for item in items
        ]
        items[:] = longest_first(timed, workers)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if CASE in item.stash:
        plan = item.config.stash[PLAN]
        why_not = needs_of(item), scopes_of(item), no_judge(item)
        not_run = item.stash[NOT_RUN] = plan.not_run(item.stash[TARGET], *why_not)
        if not_run:
            pytest.skip(not_run[1])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    if CASE not in item.stash:
        return (yield)
    ledgers, about = item.config.stash[PLAN].ledgers, (item.stash[CASE], item.stash[TARGET])
    item.stash[ENTRY], item.stash[INHERITED] = ledgers.entry(*about), ledgers.inherited(*about)
    listed = item.stash[ENTRY] is not None or bool(item.stash[INHERITED])
    with expect.open_case(item.nodeid, accept_allowed=not listed), warnings_with(item):
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    with ended_where_it_hangs(item.config):
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: Any, call: pytest.CallInfo[Any]) -> Generator[None, Any, Any]:
    if CASE in item.stash and call.when == "call":
        end_where_the_gpu_is_lost(item.config, item.stash[TARGET].device)
    report = yield
    if CASE in item.stash:
        folder = item.config.option.results
        with told_with(item, report):
            concluded = conclude(item, call, report, Path(folder) / "failures" if folder else None)
        if concluded is not None:
            found, failure = concluded
            sent = {"result": found.to_json(), "failure": failure.to_json() if failure is not None else None}
            report.user_properties.append((PROPERTY, json.dumps(sent)))
    return report
