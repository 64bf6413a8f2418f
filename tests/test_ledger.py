"""Known failures: strict, exact, for stated torch releases, with mistakes named in one line."""

from __future__ import annotations

import pytest

from conformance.results import ledger
from conformance.results.ledger import Entry, Failure, LedgerError

VALID = """
[[failure]]
case = "aot_autograd/test_x.py::test_y[cat]"
device = "cpu"
torch = ">=2.9,<2.15"
phase = "call"
observables = ["outputs[0].identity", "outputs[1].value"]
reason = "no-op views come back as the input"
link = "https://github.com/pytorch/pytorch/issues/191449"
"""
CASE = "aot_autograd/test_x.py::test_y[cat]"


def entry(**changes):
    parts = {
        "case": CASE,
        "device": "cpu",
        "torch": ">=2.9,<2.15",
        "phase": "call",
        "reason": "a bug",
        "link": "https://example.org",
        "observables": frozenset({"outputs[0].identity"}),
    }
    return Entry(**{**parts, **changes})


def test_an_entry_is_read_whole():
    (found,) = ledger.parse(VALID, "x.toml")
    assert found == Entry(
        case=CASE,
        device="cpu",
        torch=">=2.9,<2.15",
        phase="call",
        reason="no-op views come back as the input",
        link="https://github.com/pytorch/pytorch/issues/191449",
        observables=frozenset({"outputs[0].identity", "outputs[1].value"}),
    )


def test_the_first_ledger_that_knows_a_signature_says_why(tmp_path):
    """A stack's own ledger comes before that of the stack of which it is another configuration."""
    own, shared = tmp_path / "own.toml", tmp_path / "shared.toml"
    for file, reason in (own, "here"), (shared, "there"):
        file.write_text(
            "[[signature]]\n"
            'signature = "values of outputs"\n'
            'device = "cpu"\n'
            'torch = ">=2.9"\n'
            f'reason = "{reason}"\n'
            'link = "https://example.org"\n',
            encoding="utf-8",
        )

    assert ledger.known_signatures([own, shared], "cpu", "2.13.0") == {"values of outputs": "here"}
    assert ledger.known_signatures([own, shared], "cuda", "2.13.0") == {}


def test_a_ledger_may_be_empty(tmp_path):
    (tmp_path / "stack.toml").write_text("# nothing is known to fail\n", encoding="utf-8")
    assert ledger.load(tmp_path / "stack.toml") == []


def test_an_entry_may_ask_for_a_machine_with_a_gpu():
    """What shows on the CPU of such a machine only is known there, and nowhere else."""
    (found,) = ledger.parse(VALID.replace("phase =", 'machine = "gpu"\nphase ='), "x.toml")

    assert ledger.match([found], CASE, "cpu", "2.13.0", has_gpu=True) is found
    assert ledger.match([found], CASE, "cpu", "2.13.0") is None
    with pytest.raises(LedgerError, match="the machine 'tpu' is not 'gpu'"):
        ledger.parse(VALID.replace("phase =", 'machine = "tpu"\nphase ='), "x.toml")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[[failure]]", "[[failures]]", "unknown table failures; a ledger holds [[failure]] and [[signature]] entries"),
        ("[[failure]]", "[failure]", "failure is not a list of entries; write [[failure]]"),
        ('device = "cpu"', "", "failure 1: missing device"),
        ('device = "cpu"', 'device = "cpu"\nstack = "x"', f"failure 1 ({CASE}): unknown key stack"),
        ('device = "cpu"', 'device = ""', f"failure 1 ({CASE}): device is not a text"),
        (
            'phase = "call"',
            'phase = "forward"',
            f"failure 1 ({CASE}): the phase 'forward' is not one of {', '.join(ledger.PHASES)}",
        ),
        (">=2.9,<2.15", "2.9", f"failure 1 ({CASE}): the torch range '2.9' is not like '>=2.9,<2.15'"),
        (
            'reason = "no-op',
            'exception = "RuntimeError"\nreason = "no-op',
            f"failure 1 ({CASE}): needs the observables that differ or the exception that is raised, one of the two",
        ),
        (
            '["outputs[0].identity", "outputs[1].value"]',
            "[]",
            f"failure 1 ({CASE}): needs the observables that differ or the exception that is raised, one of the two",
        ),
        ('"outputs[1].value"]', "3]", f"failure 1 ({CASE}): observables is not a list of texts"),
        (
            '"https://github.com/pytorch/pytorch/issues/191449"',
            '"issue 191449"',
            f"failure 1 ({CASE}): the link is neither https://... nor 'unreported'",
        ),
        (
            '"https://github.com/pytorch/pytorch/issues/191449"',
            '"unreported"',
            f"failure 1 ({CASE}): an unreported failure needs a script that shows it",
        ),
    ],
    ids=[
        "table",
        "single-table",
        "missing",
        "unknown",
        "empty",
        "phase",
        "range",
        "both",
        "neither",
        "observables",
        "link",
        "unreported",
    ],
)
def test_a_mistake_is_one_line(tmp_path, old, new, message):
    assert old in VALID
    path = tmp_path / "stack.toml"
    path.write_text(VALID.replace(old, new), encoding="utf-8")
    with pytest.raises(LedgerError) as caught:
        ledger.load(path)
    assert str(caught.value) == f"{path}: {message}"


def test_a_file_that_is_not_toml_or_not_there_is_named(tmp_path):
    (tmp_path / "bad.toml").write_text("[[", encoding="utf-8")
    with pytest.raises(LedgerError, match=r"bad\.toml: not TOML: "):
        ledger.load(tmp_path / "bad.toml")
    with pytest.raises(LedgerError, match=r"gone\.toml: no such file$"):
        ledger.load(tmp_path / "gone.toml")


@pytest.mark.parametrize(
    ("version", "inside"),
    [
        ("2.8.1", False),
        ("2.9.0", True),
        ("2.9.1+cu128", True),
        ("2.13.0+cpu", True),
        ("2.14.0.dev20260901+cu130", True),
        ("2.14.2", True),
        ("2.15.0.dev20261101", False),
        ("2.15.0a0+git7984635", False),
        ("2.15.0", False),
        ("3.0", False),
    ],
)
def test_a_range_is_of_releases_and_nightlies_belong_to_the_one_they_become(version, inside):
    assert ledger.in_range(">=2.9,<2.15", version) is inside


def test_an_exact_release_covers_its_patches():
    assert ledger.in_range("==2.13", "2.13.1")
    assert not ledger.in_range("==2.13", "2.14.0")


@pytest.mark.parametrize(
    ("case", "device", "version", "found"),
    [
        (CASE, "cpu", "2.13.0", True),
        (CASE, "cuda", "2.13.0", False),
        (CASE, "cpu", "2.15.0", False),
        ("aot_autograd/test_x.py::test_y", "cpu", "2.13.0", False),
        ("aot_autograd/test_x.py::test_y[cat-1]", "cpu", "2.13.0", False),
    ],
    ids=["exact", "device", "torch", "without-parameters", "longer"],
)
def test_an_entry_matches_one_case_exactly(case, device, version, found):
    assert (ledger.match([entry()], case, device, version) is not None) is found


def test_a_star_is_every_device():
    assert ledger.match([entry(device="*")], CASE, "cuda", "2.13.0") is not None


def test_entries_for_other_releases_may_stand_beside_each_other():
    old, new = entry(torch="<2.13"), entry(torch=">=2.13")
    assert ledger.match([old, new], CASE, "cpu", "2.13.0") is new


def test_two_entries_for_one_failure_are_a_mistake():
    with pytest.raises(LedgerError, match=r"2 entries apply on cpu and torch 2\.13\.0; keep one$"):
        ledger.match([entry(), entry(device="*")], CASE, "cpu", "2.13.0")


@pytest.mark.parametrize(
    ("phase", "observables", "exception", "explained"),
    [
        ("call", {"outputs[0].identity"}, None, True),
        ("backward", {"outputs[0].identity"}, None, False),
        ("call", {"outputs[0].identity", "outputs[0].value"}, None, False),
        ("call", {"outputs[0].value"}, None, False),
        ("call", set(), None, False),
        ("call", {"outputs[0].identity"}, "RuntimeError", False),
        ("call", set(), "RuntimeError", False),
    ],
    ids=["exact", "phase", "more", "other", "nothing", "raised-too", "raised"],
)
def test_observables_explain_only_exactly_themselves(phase, observables, exception, explained):
    assert entry().explains(phase, observables, exception) is explained


@pytest.mark.parametrize(
    ("phase", "exception", "explained"),
    [
        ("call", "RuntimeError", True),
        ("call", "ValueError", False),
        ("call", None, False),
        ("backward", "RuntimeError", False),
    ],
)
def test_an_exception_explains_only_its_own_type_and_phase(phase, exception, explained):
    raising = entry(observables=frozenset(), exception="RuntimeError")
    assert raising.explains(phase, {"exception"}, exception) is explained


def test_entries_for_cases_that_do_not_exist_are_found_once():
    entries = [entry(), entry(device="cuda", case="layout/test_a.py::gone"), entry(case="layout/test_a.py::gone")]
    assert ledger.unknown_cases(entries, {CASE}) == ["layout/test_a.py::gone"]


def test_an_entry_describes_what_it_expects():
    assert entry(observables=frozenset({"b", "a"})).describe() == "call: a, b"
    assert entry(observables=frozenset(), exception="RuntimeError").describe() == "call: RuntimeError"


def test_a_draft_is_read_back_and_explains_what_it_was_drafted_from():
    differs = Failure(
        CASE, "cpu", "call", frozenset({'outputs["a\\b"].value', "b"}), None, 'says "no"\tand é\x7f', "a.py"
    )
    raises = Failure("layout/test_a.py::test_b", "cuda", "backward", frozenset(), "RuntimeError", "raises", "b.py")
    entries = ledger.parse(ledger.draft([differs, raises], "2.13.0+cpu"), "draft.toml")

    for failure, found in zip([differs, raises], entries, strict=True):
        assert found.applies(failure.case, failure.device, "2.13.0+cpu")
        assert not found.applies(failure.case, failure.device, "2.14.0")
        assert found.explains(failure.phase, failure.observables, failure.exception)
        assert (found.reason, found.link, found.script) == (failure.reason, "unreported", failure.script)


def test_a_draft_of_nothing_is_an_empty_ledger():
    assert ledger.parse(ledger.draft([], "2.13.0"), "draft.toml") == []
