"""Inline expectations: comparing, ranges of releases, accepting."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from packaging.version import Version

from conformance.canonical import expect
from conformance.canonical.expect import Expectable, ExpectationMismatch, ExpectationUsage, applies, open_case

ROOT = Path(__file__).parents[1]
RELEASE = ".".join(map(str, Version(torch.__version__).release[:2]))
NEXT = f"{Version(RELEASE).major}.{Version(RELEASE).minor + 1}"


@pytest.fixture(autouse=True)
def comparing(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests compare, whatever the caller's environment says; accepting runs in a child process."""
    monkeypatch.delenv(expect.ACCEPT_VARIABLE, raising=False)


def accept(folder: Path, source: str) -> tuple[str, str]:
    """Run `source` in a process that accepts; the file's text afterwards and what the process printed last."""
    file = folder / "test_case.py"
    file.write_text(source)
    done = subprocess.run(
        [sys.executable, str(file)],
        env={**os.environ, "PYTHONPATH": str(ROOT), expect.ACCEPT_VARIABLE: "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not list(folder.glob("*.bak"))
    return file.read_text(), (done.stderr.strip().splitlines() or [""])[-1]


def _differing(error: ExpectationMismatch) -> tuple[str, str]:
    (one,) = error.discrepancies
    return one.expected, one.actual


# A torch that starts at once: accepting needs its version only.
HEAD = """\
import sys, types
sys.modules["torch"] = types.SimpleNamespace(__version__="2.13.0")
from conformance.canonical.expect import Expectable, open_case
"""


def test_equal_texts_pass() -> None:
    """A trailing newline, which keeps the closing quotes on a line of their own, does not count."""
    Expectable("forward graph", "a\nb").expect("a\nb\n")
    Expectable("forward graph", "a\nb\n").expect("a\nb")


def test_a_mismatch_says_what_and_how_to_accept() -> None:
    """Subject, expected, got as a diff, and the next command."""
    with pytest.raises(ExpectationMismatch) as caught, open_case("layout/test_x.py::test_y[1]", accept_allowed=True):
        Expectable("forward graph", "a\nc").expect("a\nb\n")
    assert (
        str(caught.value)
        == f"""\
forward graph is not as expected (torch {torch.__version__})
--- expected
+++ got
@@ -1,2 +1,2 @@
 a
-b
+c
to accept: EXPECTTEST_ACCEPT=1 pytest "layout/test_x.py::test_y[1]\""""
    )
    assert _differing(caught.value) == ("a\nb\n", "a\nc")


def test_the_runner_says_which_command_accepts() -> None:
    """Who opens the case knows its file."""
    with pytest.raises(ExpectationMismatch, match="to accept: EXPECTTEST_ACCEPT=1 pytest -k this"):  # noqa: SIM117
        with open_case("c", accept_allowed=True, command="pytest -k this"):
            Expectable("s", "a").expect("b")


@pytest.mark.parametrize(
    ("since", "until", "release", "expected"),
    [
        (None, None, (2, 13), True),
        ("2.13", None, (2, 13), True),
        ("2.13", None, (2, 12), False),
        (None, "2.13", (2, 13), False),
        (None, "2.13", (2, 9), True),
        ("2.9", "2.13", (2, 10), True),
        ("2.9", "2.13", (3, 0), False),
    ],
)
def test_ranges(since: str | None, until: str | None, release: tuple[int, int], expected: bool) -> None:
    """A range holds its first release and not its last, compared as versions: 2.9 is before 2.10."""
    assert applies(since, until, release) is expected


@pytest.mark.parametrize("arguments", [("2.13", "2.13"), ("2.13", "2.9"), ("new", None)])
def test_ranges_that_nothing_satisfies_are_refused(arguments: tuple[str, str | None]) -> None:
    """A range is a fault of the case when no release can be in it."""
    with pytest.raises(ExpectationUsage):
        applies(*arguments)


def test_the_expectation_of_this_release_applies() -> None:
    """Only the one in range is compared."""
    subject = Expectable("forward graph", "new")
    with open_case("c", accept_allowed=True):
        subject.expect("old", until=RELEASE)
        subject.expect("new", since=RELEASE)
    with pytest.raises(ExpectationMismatch):
        subject.expect("old", since=RELEASE)


def test_none_that_applies_is_an_error() -> None:
    """A gap between ranges must not pass as agreement."""
    with pytest.raises(ExpectationUsage, match=r"exactly one expectation .* none did"):  # noqa: SIM117
        with open_case("c", accept_allowed=True):
            Expectable("forward graph", "new").expect("new", since=NEXT)


@pytest.mark.parametrize("extra", [{}, {"until": NEXT}])
def test_two_that_apply_are_an_error(extra: dict[str, str]) -> None:
    """Overlapping ranges, or a range beside an expectation without one."""

    def case() -> None:
        subject = Expectable("forward graph", "new")
        with open_case("c", accept_allowed=True):
            subject.expect("new", since=RELEASE)
            subject.expect("new", **extra)

    with pytest.raises(ExpectationUsage, match=r"exactly one expectation .* 2 did"):
        case()


def test_a_devices_own_text_is_expected_on_that_device_only() -> None:
    """Elsewhere the statement says nothing, and a range in it counts for nothing."""
    subject = Expectable("lowered graph", "a", device="cuda:0")
    with open_case("c", accept_allowed=True):
        subject.expect("a", since=RELEASE, device="cuda")
        subject.expect("of the processor", since=RELEASE, device="cpu")
    with pytest.raises(ExpectationMismatch):
        subject.expect("b", device="cuda")


def test_a_text_of_every_device_is_expected_without_one() -> None:
    """Or it would be compared on one device and pass on the other whatever it is."""
    with pytest.raises(ExpectationUsage, match="the same on every device"):
        Expectable("forward graph", "a").expect("a", device="cpu")


def test_subjects_are_counted_apart() -> None:
    """Two runs of one case may show the same text under the same subject."""
    first, second = Expectable("forward graph", "a"), Expectable("forward graph", "a")
    with open_case("c", accept_allowed=True):
        first.expect("a", since=RELEASE)
        second.expect("a", since=RELEASE)


def test_the_bodys_own_failure_is_not_masked() -> None:
    """A case that fails before its last expectation fails for that reason."""

    def case() -> None:
        with open_case("c", accept_allowed=True):
            Expectable("forward graph", "a").expect("a", since=NEXT)
            raise KeyError

    with pytest.raises(KeyError):
        case()
    Expectable("after", "a").expect("a", since=NEXT)  # no case is open any more


def test_what_is_not_a_string_is_refused() -> None:
    """Graphs are not compared with graphs."""
    with pytest.raises(ExpectationUsage, match="one string literal, not list"):
        Expectable("s", "a").expect(["a"])  # type: ignore[arg-type]


def test_accepting_follows_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plugin asks before it refuses to accept in parallel."""
    assert not expect.accepting()
    monkeypatch.setenv(expect.ACCEPT_VARIABLE, "1")
    assert expect.accepting()


def test_accepting_rewrites_one_literal_each(tmp_path: Path) -> None:
    """Edits of different lengths in one file land on their own statements and touch nothing else."""
    source = (
        HEAD
        + '''\
def case():
    with open_case("c", True):
        Expectable("a", "one\\ntwo\\nthree").expect("""stale""")
        Expectable("b", "kept").expect("""kept""")
        Expectable("c", "x is y").expect(
            """\\
long
gone
"""
        )
        Expectable("d", "new\\nlast").expect("""\\
old
""", since="2.13")
        subject = Expectable("e", "text")
        subject.expect("""other release""", until="2.13")
        subject.expect("""stale""", since="2.13")
    """a string that is not an expectation"""
case()
'''
    )
    text, error = accept(tmp_path, source)
    assert error == ""
    assert (
        text
        == HEAD
        + '''\
def case():
    with open_case("c", True):
        Expectable("a", "one\\ntwo\\nthree").expect("""\\
one
two
three
""")
        Expectable("b", "kept").expect("""kept""")
        Expectable("c", "x is y").expect(
            """x is y"""
        )
        Expectable("d", "new\\nlast").expect("""\\
new
last
""", since="2.13")
        subject = Expectable("e", "text")
        subject.expect("""other release""", until="2.13")
        subject.expect("""text""", since="2.13")
    """a string that is not an expectation"""
case()
'''
    )
    assert accept(tmp_path, text) == (text, "")


def test_accepting_many_moves_lines_right(tmp_path: Path) -> None:
    """The place of an earlier edit, after the edits, may be the old line number of a later statement."""
    statements = [f'Expectable("s{n}", "{n}a\\n{n}b").expect("""""")' for n in range(12)]
    text, error = accept(tmp_path, HEAD + "\n".join(statements) + "\n")
    assert error == ""
    assert text == HEAD + "".join(
        f'Expectable("s{n}", "{n}a\\n{n}b").expect("""\\\n{n}a\n{n}b\n""")\n' for n in range(12)
    )


def test_a_row_of_a_table_holds_its_own_text(tmp_path: Path) -> None:
    """A short row is compared in one line, a long one in its own lines, and each is rewritten where it stands."""
    source = (
        HEAD.replace("import Expectable", "import Expectable, expected")
        + '''\
long, longer = "x " * 40 + "\\n" + "y " * 45, "message " * 30
rows = [
    ("a\\nb", expected("""stale""")),
    ("c", expected("""c""")),
    (long, expected("""once short""")),
    ("k\\nl", expected("""\\
k
stale in lines
""")),
    (longer, expected("""""")),
    (
        "d",
        expected(
            """d of before"""
        ),
    ),
]
for text, row in rows:
    Expectable("s", text).expect(row)
'''
    )
    text, error = accept(tmp_path, source)
    assert error == ""
    rewritten = source.replace("stale in lines", "l").replace("stale", "a; b").replace("d of before", "d")
    rewritten = rewritten.replace("once short", "\\\n" + "x " * 40 + "\n" + "y " * 45 + "\n")
    first, rest = ("message " * 13).strip(), ("message " * 4).strip()
    rewritten = rewritten.replace('""""""', f'"""\\\n{first}\n{first}\n{rest}\n"""')
    assert text == rewritten
    assert accept(tmp_path, text) == (text, "")


def test_a_row_that_differs_is_told_in_one_line() -> None:
    """What is compared is what is shown."""
    with pytest.raises(ExpectationMismatch) as caught:
        Expectable("s", "a\nb").expect(expect.expected("""a; c"""))
    assert _differing(caught.value) == ("a; c", "a; b")


def test_accepting_leaves_known_failures_alone(tmp_path: Path) -> None:
    """Their literals say what is right, not what happens."""
    source = HEAD + 'with open_case("c", accept_allowed=False):\n    Expectable("s", "wrong").expect("""right""")\n'
    text, error = accept(tmp_path, source)
    assert text == source
    assert error == "a known failure: accepting leaves it alone"


def test_accepting_refuses_two_texts_for_one_literal(tmp_path: Path) -> None:
    """Parameters that render different text cannot share a statement; the first accepted one stays."""
    source = HEAD + 'for text in ("a", "a", "b"):\n    Expectable("s", text).expect("""stale""")\n'
    text, error = accept(tmp_path, source)
    assert text == source.replace("stale", "a")
    assert error.startswith("conformance.canonical.expect.ExpectationUsage: s: different texts for the one literal at ")


def test_accepting_needs_a_triple_quoted_literal(tmp_path: Path) -> None:
    """What cannot be rewritten is told with its place."""
    source = HEAD + 'Expectable("s", "a").expect("stale")\n'
    text, error = accept(tmp_path, source)
    assert text == source
    place = f"{tmp_path}/test_case.py:4"
    assert error == f"{ExpectationUsage.__module__}.ExpectationUsage: s: no triple-quoted literal to rewrite at {place}"


def test_text_that_accepting_cannot_write_is_escaped() -> None:
    """Rewriting handles printable ASCII only, so that is what is compared."""
    assert Expectable("error", "caf\u00e9").text == "caf\\xe9"
