"""Pytest hooks and fixtures: cases multiplied by stacks and devices, and their outcomes."""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.canonical import expect
from conformance.contract.scopes import PROFILES
from conformance.run.bound_stack import BoundStack
from conformance.suite.case_report import conclude
from conformance.suite.controller import PROPERTY, Controller
from conformance.suite.plan import DeviceRequired, Session, Target, area_of, case_id
from conformance.suite.pytest_run import USAGE

SECONDS = 300
SESSION: pytest.StashKey[Session] = pytest.StashKey()
#: The stacks that have run a case in this process, and so have imported all that they need.
USED: pytest.StashKey[set[str]] = pytest.StashKey()
#: How Python looks for garbage outside of a run, and in one: through everything a fifth as often. What a compile leaves
#: behind is in tables of torch's more often than it is garbage.
GARBAGE = gc.get_threshold()
GARBAGE_OF_COMPILERS = (*GARBAGE[:2], 5 * GARBAGE[2])


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("conformance", "conformance of compiler stacks")
    repeated = {
        "--stack": "stack by name, package.module:callable, or TOML file; default: aot_eager and inductor",
        "--device": "cpu or cuda; default: both, and cases of an absent one are unavailable",
        "--area": "area of the contract",
        "--case": "exact id of a case",
        "--known-failures": "ledger of your own, beside the shipped ones",
        "--require-device": "fail when this device is absent",
    }
    single = {
        "--write-known-failures": "draft a ledger of what fails",
        "--shard": "I/N: the I-th of N equal parts of the cases",
        "--results": "folder for results.json, report.html, summary.md and scripts of failures",
        "--resume": "folder of an interrupted run: what passed there is kept and not run again",
    }
    for name, text in repeated.items():
        group.addoption(name, action="append", default=[], metavar="X", help=text)
    for name, text in single.items():
        group.addoption(name, default="", metavar="X", help=text)
    group.addoption("--profile", default="quick", metavar="X", help=", ".join(PROFILES))


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
    workers = getattr(option, "numprocesses", None)
    if workers and option.dist == "no":
        option.dist = "worksteal"  # `load` gives one worker all the slow cases
        option.maxworkerrestart = option.maxworkerrestart or "10000"  # a crash is one case's failure
    if getattr(option, "timeout", None) is None:
        option.timeout = SECONDS
        # A hang inside the compiler sees no signal: with workers, end the process, and xdist reports the case.
        option.timeout_method = "thread" if workers else "signal"


def pytest_configure(config: pytest.Config) -> None:
    if getattr(config.option, "numprocesses", None) and expect.accepting():
        raise pytest.UsageError("EXPECTTEST_ACCEPT rewrites case files and does not work with -n: leave -n out")
    worker = getattr(config, "workerinput", None)
    kept = [tuple(key) for key in worker["conformance_kept"]] if worker is not None else None
    try:
        session = config.stash[SESSION] = Session(config.option, [str(one) for one in config.args], kept)
        if worker is None:
            session.require_devices()
    except ValueError as error:
        raise pytest.UsageError(str(error)) from error
    from hypothesis import settings

    for name, examples in PROFILES.items():
        settings.register_profile(name, max_examples=examples, derandomize=name == "quick", deadline=None)
    settings.load_profile(config.option.profile)
    if worker is None:
        config.pluginmanager.register(Controller(config, session), "conformance-controller")


def pytest_unconfigure() -> None:
    gc.set_threshold(*GARBAGE)
    gc.unfreeze()  # else some extension modules complain of what is left when the process ends


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "conformance_target" in metafunc.fixturenames:
        targets = metafunc.config.stash[SESSION].targets
        metafunc.parametrize("conformance_target", targets, ids=[str(one) for one in targets], indirect=True)


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
    session = request.config.stash[SESSION]
    area = area_of(request.node.conformance_case_id)
    known = session.ledgers.signatures(conformance_target) if area == "generated" else frozenset()
    yield BoundStack(session.stacks[conformance_target.stack], device, area, known)
    used = request.config.stash.setdefault(USED, set())
    if conformance_target.stack not in used:
        used.add(conformance_target.stack)
        # A compiler's modules and tables live as long as the process. To look through them for garbage, again and
        # again, is a fifth of the time of all later cases.
        gc.collect()
        gc.freeze()
        gc.set_threshold(*GARBAGE_OF_COMPILERS)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[Any]) -> None:
    session = config.stash[SESSION]
    cases = [item for item in items if "conformance_target" in getattr(item, "fixturenames", ())]
    for item in cases:
        item.conformance_case_id, item.conformance_target = case_id(item.nodeid, config.rootpath, session.targets)
    wanted = session.selected([(item.conformance_case_id, item.conformance_target) for item in cases])
    dropped = {item for item, want in zip(cases, wanted, strict=True) if not want}
    if dropped:
        config.hook.pytest_deselected(items=[item for item in items if item in dropped])
        items[:] = [item for item in items if item not in dropped]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: Any) -> None:
    if hasattr(item, "conformance_case_id"):
        needs = getattr(item.function, "conformance_needs", ())
        profiles = getattr(item.function, "conformance_profiles", PROFILES)
        item.conformance_not_run = item.config.stash[SESSION].not_run(item.conformance_target, needs, profiles)
        if item.conformance_not_run:
            pytest.skip(item.conformance_not_run[1])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: Any) -> Generator[None, Any, Any]:
    if not hasattr(item, "conformance_case_id"):
        return (yield)
    entry = item.config.stash[SESSION].ledgers.entry(item.conformance_case_id, item.conformance_target)
    item.conformance_entry = entry
    with expect.open_case(item.nodeid, accept_allowed=entry is None):
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: Any, call: pytest.CallInfo[Any]) -> Generator[None, Any, Any]:
    report = yield
    if hasattr(item, "conformance_case_id"):
        folder = item.config.option.results
        concluded = conclude(item, call, report, Path(folder) / "failures" if folder else None)
        if concluded is not None:
            found, failure = concluded
            sent = {"result": found.to_json(), "failure": failure.to_json() if failure is not None else None}
            report.user_properties.append((PROPERTY, json.dumps(sent)))
    return report
