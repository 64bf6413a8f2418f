"""Progress of a run: which case runs, how much is done, and how long the rest takes."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from conformance.suite.terminal.progress import Progress


class Reporter:
    """Keeps what is written, as pytest's reporter would write it."""

    def __init__(self, isatty: bool) -> None:
        self.isatty, self.lines = isatty, []
        self._tw = SimpleNamespace(fullwidth=80)

    def write_line(self, line: str) -> None:
        self.lines.append(line)

    def rewrite(self, line: str, erase: bool = False) -> None:
        self.lines.append(f"\r{line}")

    def flush(self) -> None:
        pass


def progress(expected: dict[str, float | None], *, workers: int = 1, isatty: bool = False) -> Progress:
    found = Progress(every=10.0)
    found.reporter, found.workers, found.expected = Reporter(isatty), workers, expected
    found.began = found.said = 100.0
    return found


def test_a_line_names_the_case_that_runs_longest_and_the_rest() -> None:
    """Four cases, of which two have ended after 10 seconds each, and one has run for 4."""
    found = progress(dict.fromkeys(["a", "b", "cases/layout/test_c.py::c", "d"]))
    found.took = {"a": 10.0, "b": 10.0}
    found.running = {"d": 123.0, "cases/layout/test_c.py::c": 120.0}
    found.unexpected = 1
    assert found.line(124.0) == ("2 of 4 in 0:24, 1 not as expected, about 0:15 more: layout/test_c.py::c (4 s)")


def test_after_the_last_case_a_line_says_what_is_waited_for() -> None:
    """The scripts of failures are run then, each in a process of its own."""
    found = progress(dict.fromkeys(["a", "b"]))
    found.took = {"a": 10.0, "b": 10.0}
    assert found.line(124.0) == "2 of 2 in 0:24"
    found.unexpected = 1
    assert found.line(124.0) == "2 of 2 in 0:24, 1 not as expected: their scripts are run"


@pytest.mark.parametrize(
    ("expected", "took", "workers", "rest"),
    [
        ({"a": None, "b": None}, {}, 1, None),
        ({"a": None, "b": None, "c": None}, {"a": 4.0}, 1, 8.0),
        ({"a": None, "b": None, "c": None}, {"a": 4.0}, 2, 4.0),
        ({"a": 2.0, "b": 30.0}, {"a": 4.0}, 1, 60.0),
        ({"a": None}, {"a": 4.0}, 1, 0.0),
    ],
    ids=["nothing", "as long as others", "workers", "twice as slow as before", "done"],
)
def test_the_rest_is_what_cases_took(expected, took, workers, rest) -> None:
    """A case takes what an earlier run said, on a slower machine more, or what the others took."""
    found = progress(expected, workers=workers)
    found.took = took
    assert found.rest(200.0) == rest


def test_a_long_id_is_shortened_in_its_middle() -> None:
    """A line is never longer than a terminal."""
    name = f"cases/layout/test_a.py::test_{'b' * 200}[last]"
    found = progress({name: None})
    found.running = {name: 100.0}
    line = found.line(101.0, 79)
    assert len(line) <= 79
    assert line.endswith("[last] (1 s)")


@pytest.mark.parametrize(("isatty", "written"), [(False, 2), (True, 5)])
def test_lines_are_few_where_nobody_watches(monkeypatch, isatty, written) -> None:
    """A line each ten seconds into a file; on a terminal the line is rewritten."""
    found = progress({"a": None}, isatty=isatty)
    for seconds in (5.0, 10.0, 12.0, 14.0, 20.0):
        monkeypatch.setattr("time.monotonic", lambda now=100.0 + seconds: now)
        found.say()
    assert len(found.reporter.lines) == written
    assert all(line.startswith("\r") is isatty for line in found.reporter.lines)
