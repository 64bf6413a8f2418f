"""The command line: wrong usage is one line and exit status 2, and result files are read without torch."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from conformance import cli
from conformance.contract.failure import Discrepancy
from conformance.results.result_file import CaseResult, Results

CASE = "layout/test_a.py::test_b"


def results(outcome, torch="2.13.0", device="cpu", graph="in0: f32[3]"):
    found = [Discrepancy("stride", "outputs[0]", "(12, 1)", "(1, 3)")] if outcome == "fail" else []
    return Results(
        suite={"version": "0.1.0", "commit": None},
        environment={"torch": torch, "triton": None, "python": "3.11", "platform": "x", "gpus": [], "compiler": None},
        started="2026-11-28T02:00:00+00:00",
        results=[
            CaseResult(CASE, [], "layout", "inductor", device, outcome, discrepancies=found, graphs={"forward": graph})
        ],
    )


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with result files, sound and damaged, as the current one."""
    results("pass").write(tmp_path / "old.json")
    results("fail", graph="in0: f32[4]").write(tmp_path / "new.json")
    results("pass", device="cuda").write(tmp_path / "cuda.json")
    results("pass", torch="2.15.0").write(tmp_path / "later.json")
    (tmp_path / "damaged.json").write_text('{"schema": 1', encoding="utf-8")
    (tmp_path / "other.json").write_text("{}", encoding="utf-8")
    (tmp_path / "bad.toml").write_text('stack = "eager"\n[[failure]]\n', encoding="utf-8")
    (tmp_path / "cases" / "layout").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["conformance", *arguments])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    return caught.value.code


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "Commands: run, check, script"),
        (("nosuch",), "No such command 'nosuch'. Commands: run, check, script"),
        (("report", "old.json", "--nosuch"), "No such option: --nosuch Options: --html, --markdown."),
        (("clauses", "--json", "--markdown"), "--json or --markdown, one of the two"),
        (("run", "layout/test_a.py::test_b"), "'layout/test_a.py::test_b' is no option: --case takes a case's id"),
        (("compare", "old.json"), "Missing argument 'NEW.json'"),
        (("compare", "old.json", "gone.json"), "gone.json: no such file"),
        (("compare", "old.json", "damaged.json"), "damaged.json: not JSON"),
        (("report", "other.json"), 'other.json: not a result file: it lacks "schema": 1'),
        (("report", "cases"), "cases: cannot be read"),
        (("report", "old.json", "--html", "gone/report.html"), "gone/report.html"),
        (("merge", "old.json"), "Missing option '-o'"),
        (("merge", "old.json", "later.json", "-o", "all.json"), "different torch releases"),
        (("run", "--nosuch"), "No such option: --nosuch"),
        (("run", "-n", "many"), "-n takes a number or auto, not 'many'"),
        (("run", "--scope", "slow"), "unknown scope 'slow'; known: core, quick, full, nightly"),
        (("run", "--known-failures", "gone.toml"), "gone.toml: no such file"),
        (("run", "--known-failures", "bad.toml"), "bad.toml: failure 1: missing bug"),
        (("run", "--resume", "gone"), "there is no folder gone"),
        (("run", "-k", "a b"), "-k 'a b': "),
    ],
    ids=lambda value: " ".join(value) or "nothing" if isinstance(value, tuple) else "",
)
def test_wrong_usage_is_one_line_and_status_2(files, monkeypatch, capsys, arguments, says):
    assert run(monkeypatch, *arguments) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("conformance: ")
    assert says in output.err
    assert output.err.count("\n") == 1


def test_compare_fails_on_a_regression_and_shows_the_graph(files, monkeypatch, capsys):
    assert run(monkeypatch, "compare", "old.json", "new.json") == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "regressed: 1"
    assert CASE in lines[1]
    assert "  -in0: f32[3]" in lines
    assert "  +in0: f32[4]" in lines
    assert lines[-1] == "1 regressed, 0 fixed, 0 new, 0 gone, 0 fails differently, 1 graphs changed"


def test_compare_writes_the_pages_asked_for(files, monkeypatch, capsys):
    assert run(monkeypatch, "compare", "old.json", "new.json", "--html", "a.html", "--markdown", "a.md") == 1
    assert capsys.readouterr().out.startswith("regressed: 1\n")
    assert CASE in (files / "a.html").read_text(encoding="utf-8")
    assert CASE in (files / "a.md").read_text(encoding="utf-8")


def test_compare_passes_on_a_repair(files, monkeypatch, capsys):
    assert run(monkeypatch, "compare", "new.json", "old.json", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["case"] for one in found["fixed"]] == [CASE]
    assert found["regressed"] == []


def test_merge_writes_what_report_and_compare_read(files, monkeypatch, capsys):
    assert run(monkeypatch, "merge", "old.json", "cuda.json", "-o", "all.json") == 0
    assert {one.device for one in Results.read(files / "all.json").results} == {"cpu", "cuda"}


def test_merge_of_results_that_disagree_writes_nothing(files, monkeypatch, capsys):
    assert run(monkeypatch, "merge", "old.json", "new.json", "-o", "all.json") == 2
    told = capsys.readouterr().err
    assert f"{CASE} on inductor, cpu is pass (nothing more is known) and fail (outputs[0].stride)" in told
    assert told.count("\n") == 1
    assert not (files / "all.json").exists()


def test_compare_passes_where_a_failure_is_another_one(files, monkeypatch, capsys):
    again = results("fail")
    again.results[0].discrepancies = [Discrepancy("value", "outputs[0]", "1.0", "2.0")]
    again.write(files / "again.json")
    assert run(monkeypatch, "compare", "new.json", "again.json") == 0
    lines = capsys.readouterr().out.splitlines()
    assert "fails differently: 1" in lines
    assert f"  {CASE} on inductor, cpu: fail -> fail: outputs[0].stride before, outputs[0].value now" in lines
    assert "1 fails differently" in lines[-1]


def test_report_writes_the_files_asked_for(files, monkeypatch, capsys):
    assert run(monkeypatch, "report", "new.json", "later.json", "--html", "a.html", "--markdown", "a.md") == 0
    assert capsys.readouterr().out == ""
    for name in ("a.html", "a.md"):
        text = (files / name).read_text(encoding="utf-8")
        assert CASE in text
        assert "outputs[0].stride: eager (12, 1), stack (1, 3)" in text
        assert "torch 2.15.0" in text


def test_report_prints_the_table_and_what_failed(files, monkeypatch, capsys):
    assert run(monkeypatch, "report", "new.json") == 0
    output = capsys.readouterr().out
    assert "inductor" in output
    assert "1 results, 1 not as expected" in output


@pytest.mark.parametrize(
    "arguments",
    [
        ["clauses", "--json"],
        ["compare", "old.json", "old.json"],
        ["report", "old.json", "--html", "a.html", "--markdown", "a.md"],
        ["merge", "old.json", "cuda.json", "-o", "all.json"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_reading_needs_no_torch(files, arguments):
    program = (
        "import sys\nfrom conformance import cli\n"
        f"sys.argv = ['conformance', *{arguments!r}]\n"
        "try:\n    cli.main()\nexcept SystemExit as done:\n    assert not done.code, done.code\n"
        "assert 'torch' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=files, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
