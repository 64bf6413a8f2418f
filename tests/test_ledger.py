"""Known failures: strict, exact, for stated torch releases, with mistakes named in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.contract.ladder import LADDER, rungs
from conformance.results import ledger
from conformance.results.bugs import KINDS, Bug, LedgerError
from conformance.results.ledger import Entry

ROOT = Path(__file__).parents[1]
STACK = 'stack = "mine"\n'
BUG = """
[bugs.noop-view]
title = "no-op views come back as the input"
link = "https://github.com/pytorch/pytorch/issues/191449"
"""
FAILURE = """
[[failure]]
bug = "noop-view"
cases = ["aot_autograd/test_x.py::test_y[cat]"]
device = "cpu"
torch = ">=2.9,<2.15"
phase = "call"
observables = ["outputs[0].identity", "outputs[1].value"]
"""
SIGNATURE = """
[[signature]]
bug = "noop-view"
device = "cpu"
torch = ">=2.9"
signatures = ["values of outputs"]
"""
VALID = STACK + BUG + FAILURE + SIGNATURE
CASE = "aot_autograd/test_x.py::test_y[cat]"
NOOP_VIEW = Bug("noop-view", "no-op views come back as the input", "https://github.com/pytorch/pytorch/issues/191449")


FIRST = "failure 1 (noop-view)"
HOLDS = "a ledger holds its stack, [[failure]] and [[signature]] entries and [bugs.<id>] tables"
ONE_OF_TWO = "needs the observables that differ or the exception that is raised, one of the two"
LINK = '"https://github.com/pytorch/pytorch/issues/191449"'
OTHER = '\n[bugs.other]\ntitle = "another"\nlink = "https://example.org"\n'


def entry(**changes):
    parts = {
        "case": CASE,
        "device": "cpu",
        "torch": ">=2.9,<2.15",
        "phase": "call",
        "bug": NOOP_VIEW,
        "observables": frozenset({"outputs[0].identity"}),
    }
    return Entry(**{**parts, **changes})


def test_a_ledger_is_read_whole():
    found = ledger.parse(VALID, "x.toml")
    assert found.stack == "mine"
    assert found.entries == (entry(observables=frozenset({"outputs[0].identity", "outputs[1].value"})),)
    assert found.signatures == (ledger.Signature("values of outputs", "cpu", ">=2.9", NOOP_VIEW),)
    assert str(NOOP_VIEW) == "no-op views come back as the input (https://github.com/pytorch/pytorch/issues/191449)"


def test_a_table_is_an_entry_for_each_of_its_cases_and_without_a_device_for_every_one():
    text = VALID.replace('["aot_autograd/test_x.py::test_y[cat]"]', '["a/b.py::c", "a/b.py::d"]')
    entries = ledger.parse(text.replace('device = "cpu"', ""), "x.toml").entries
    assert [(one.case, one.device) for one in entries] == [("a/b.py::c", "*"), ("a/b.py::d", "*")]


def test_entries_refer_to_bugs_of_the_file_or_to_shared_ones():
    shared = {"noop-view": NOOP_VIEW}
    assert ledger.parse(STACK + FAILURE, "x.toml", shared).entries[0].bug is NOOP_VIEW
    with pytest.raises(
        LedgerError, match=r"^x.toml: failure 1 \(noop-view\): unknown bug 'noop-view'; close: noop-views$"
    ):
        ledger.parse(STACK + FAILURE, "x.toml", {"noop-views": NOOP_VIEW})
    with pytest.raises(LedgerError, match=r"^x.toml: the bug noop-view ships with the suite; refer to that one"):
        ledger.parse(VALID, "x.toml", shared)


def test_the_first_ledger_that_knows_a_signature_says_why():
    """A stack's own ledger comes before that of the stack of which it is another configuration."""
    own = ledger.parse(VALID, "own.toml")
    shared = ledger.parse(VALID.replace("noop-view", "other"), "shared.toml")

    assert ledger.known_signatures([own, shared], "cpu", "2.13.0") == {"values of outputs": NOOP_VIEW}
    assert ledger.known_signatures([own, shared], "cuda", "2.13.0") == {}


def test_a_ledger_may_be_empty(tmp_path):
    (tmp_path / "stack.toml").write_text(STACK + "# nothing is known to fail\n", encoding="utf-8")
    assert ledger.load(tmp_path / "stack.toml").entries == ()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "[[failure]]",
            "[[failures]]",
            f"unknown table failures; {HOLDS}",
        ),
        (STACK, "", 'does not name its stack; write stack = "..." in its first line'),
        ("[[failure]]", "[failure]", "failure is not a list of entries; write [[failure]]"),
        ('torch = ">=2.9,<2.15"', "", "failure 1: missing torch"),
        ('device = "cpu"', 'device = "cpu"\nreason = "x"', f"{FIRST}: unknown key reason"),
        ('device = "cpu"', 'device = ""', f"{FIRST}: device is not a text"),
        ('["aot_autograd/test_x.py::test_y[cat]"]', "[]", f"{FIRST}: cases is empty"),
        ('["aot_autograd/test_x.py::test_y[cat]"]', '"x"', f"{FIRST}: cases is not a list of texts"),
        ('"call"', '"forward"', f"{FIRST}: the phase 'forward' is not one of {', '.join(ledger.PHASES)}"),
        (">=2.9,<2.15", "2.9", f"{FIRST}: the torch range '2.9' is not like '>=2.9,<2.15'"),
        ("phase =", 'exception = "RuntimeError"\nphase =', f"{FIRST}: {ONE_OF_TWO}"),
        ('["outputs[0].identity", "outputs[1].value"]', "[]", f"{FIRST}: {ONE_OF_TWO}"),
        ('"outputs[1].value"]', "3]", f"{FIRST}: observables is not a list of texts"),
        ('["values of outputs"]', "[]", "signature 1 (noop-view): signatures is empty"),
        (LINK, '"issue 191449"', "bug noop-view: the link is neither https://... nor 'unreported'"),
        (LINK, '"unreported"', "bug noop-view: an unreported bug needs a script that shows it"),
        (f"link = {LINK}", "", "bug noop-view: missing link"),
        ("title =", 'reason = "x"\ntitle =', "bug noop-view: unknown key reason"),
        ("title =", 'kind = "quiet"\ntitle =', f"bug noop-view: the kind 'quiet' is not one of {', '.join(KINDS)}"),
        ("[bugs.noop-view]", "[bugs.Noop]", "bug Noop: an id is lower-case words with hyphens between them"),
        (
            BUG,
            f"{BUG}{BUG.replace('noop', 'no-op')}",
            "the bugs noop-view and no-op-view have one title; keep one of them",
        ),
        (BUG, f"{BUG}{OTHER}", "no entry refers to the bug other; remove it"),
    ],
)
def test_a_mistake_is_one_line(tmp_path, old, new, message):
    assert old in VALID
    path = tmp_path / "stack.toml"
    path.write_text(VALID.replace(old, new, 1), encoding="utf-8")
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


def test_rows_of_longer_scopes_are_in_no_list():
    """An entry may name a row that the manifest lacks, of a case whose rows the scope decides, and of no other."""
    row, other = entry(case="operators/test_a.py::case[abs-int64]"), entry(case="operators/test_a.py::gone[abs-int64]")

    assert ledger.unknown_cases([row, other], {CASE}, {"operators/test_a.py::case"}) == [other.case]


def test_an_entry_describes_what_it_expects():
    assert entry(observables=frozenset({"b", "a"})).describe() == "call: a, b"
    assert entry(observables=frozenset(), exception="RuntimeError").describe() == "call: RuntimeError"


def test_a_bug_that_is_there_twice_is_a_mistake_of_the_file():
    with pytest.raises(LedgerError, match=r"^x.toml: not TOML: "):
        ledger.parse(STACK + BUG + BUG + FAILURE, "x.toml")


def test_a_folder_of_ledgers_shares_its_bugs(tmp_path):
    """Each ledger is named after its stack, and some entry refers to each of the bugs."""
    (tmp_path / "bugs.toml").write_text(BUG, encoding="utf-8")
    (tmp_path / "mine.toml").write_text(STACK + FAILURE, encoding="utf-8")
    assert list(ledger.load_folder(tmp_path)) == ["mine"]

    (tmp_path / "bugs.toml").write_text(BUG + OTHER, encoding="utf-8")
    with pytest.raises(LedgerError, match=r"bugs\.toml: no entry refers to the bug other; remove it$"):
        ledger.load_folder(tmp_path)
    (tmp_path / "bugs.toml").write_text(BUG + "[[failure]]\n", encoding="utf-8")
    with pytest.raises(LedgerError, match=r"bugs\.toml: unknown table failure; it holds \[bugs\.<id>\] tables$"):
        ledger.load_folder(tmp_path)
    (tmp_path / "bugs.toml").write_text(BUG, encoding="utf-8")
    (tmp_path / "mine.toml").rename(tmp_path / "yours.toml")
    with pytest.raises(LedgerError, match=r"its stack is 'mine', and its file is named after 'yours'$"):
        ledger.load_folder(tmp_path)


def test_the_ledgers_that_ship_can_be_used():
    """Every bug has a public link or a script, which exists, and every entry refers to one of them."""
    bugs = ledger.load_bugs(ROOT / "known_failures")
    assert ledger.load_folder(ROOT / "known_failures")
    for bug in bugs.values():
        assert bug.link.startswith("https://") or bug.script
        assert bug.script is None or (ROOT / bug.script).is_file()


def test_what_a_lower_rung_lists_is_not_listed_again():
    """A stack that fails in the way, and by the bug, that a rung below it is listed with inherits that entry."""
    ledgers = ledger.load_folder(ROOT / "known_failures")
    for stack in (*LADDER[1:], "inductor"):
        for rung in rungs(stack)[:-1]:
            assert not set(ledgers[stack].entries) & set(ledgers[rung].entries)
            assert not set(ledgers[stack].signatures) & set(ledgers[rung].signatures)
