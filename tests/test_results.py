"""The result file: written, read, counted, merged and compared, and never half or silently less."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import resources

import jsonschema
import pytest

from conformance.contract.failure import Discrepancy
from conformance.results.result_file import OUTCOMES, CaseResult, Results, ResultsError
from conformance.results.result_sets import LISTS, diff, merge

STRIDE = Discrepancy("stride", "outputs[0]", "(12, 1)", "(1, 3)")
VALUE = Discrepancy("value", "outputs[0]", "1.0", "2.0")
ENVIRONMENT = {"torch": "2.13.0", "triton": None, "python": "3.11.7", "platform": "Linux", "gpus": [], "compiler": None}


def result(case="layout/test_a.py::test_b", outcome="pass", stack="inductor", device="cpu", **more):
    return CaseResult(case, ["layout.a.b"], case.partition("/")[0], stack, device, outcome, **more)


def run(*results, **more):
    parts = {
        "suite": {"version": "0.1.0", "commit": None},
        "environment": ENVIRONMENT,
        "options": {"scope": "quick"},
        "started": "2026-11-28T02:00:00+00:00",
        "seconds": 3.5,
    }
    return Results(**{**parts, **more}, results=list(results))


def outcomes(results):
    return {one.case: one.outcome for one in results.results}


def test_discrepancy_reads_as_eager_against_stack():
    assert str(STRIDE) == "outputs[0].stride: eager (12, 1), stack (1, 3)"


def test_files_of_earlier_versions_are_read(tmp_path):
    """An upgrade of the suite leaves the results of earlier nights comparable."""
    file = tmp_path / "results.json"
    run(result()).write(file)
    data = json.loads(file.read_text(encoding="utf-8"))
    for name in ("claim", "findings", "incomplete"):
        del data[name]
    for name in ("script", "script_shows", "alone"):
        del data["results"][0][name]
    file.write_text(json.dumps(data), encoding="utf-8")

    assert diff(Results.read(file), run(result())) == diff(run(result()), run(result()))


def test_discrepancy_without_a_place_is_named_by_its_observable():
    assert Discrepancy("recompiles", "", "0", "1").name == "recompiles"


def test_a_file_is_read_as_it_was_written(tmp_path):
    written = run(
        result(
            outcome="fail",
            reason="in call",
            seconds=1.25,
            compile_seconds=1.0,
            discrepancies=[STRIDE],
            first_divergence="inductor",
            graphs={"forward": "in0: f32[3]\nreturn (in0,)"},
            recompiles=["x is y"],
            graph_breaks=["print"],
        )
    )
    written.write(tmp_path / "new" / "results.json")
    assert Results.read(tmp_path / "new" / "results.json") == written


def test_the_file_fits_its_schema(tmp_path):
    every = [result(f"layout/test_a.py::test_{name}", name, discrepancies=[STRIDE]) for name in OUTCOMES]
    run(*every).write(tmp_path / "results.json")
    schema = json.loads((resources.files("conformance.results") / "results.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads((tmp_path / "results.json").read_text(encoding="utf-8")), schema)


def test_the_schema_refuses_another_outcome():
    schema = json.loads((resources.files("conformance.results") / "results.schema.json").read_text(encoding="utf-8"))
    with pytest.raises(jsonschema.ValidationError, match="'skipped' is not one of"):
        jsonschema.validate(run(result(outcome="skipped")).to_json(), schema)


def test_writing_replaces_the_file_whole_or_not_at_all(tmp_path):
    path = tmp_path / "results.json"
    run(result()).write(path)
    before = path.read_text(encoding="utf-8")
    with pytest.raises(TypeError):
        run(result(reason=object())).write(path)
    assert path.read_text(encoding="utf-8") == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["results.json"]


def test_the_written_file_is_readable_by_others(tmp_path):
    run(result()).write(tmp_path / "results.json")
    assert (tmp_path / "results.json").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.update(schema=2), 'not a result file: it lacks "schema": 1'),
        (lambda data: data.pop("options"), "missing options"),
        (lambda data: data["results"][0].pop("stack"), "results[0]: missing stack"),
        (lambda data: data["results"][0].update(more=1), "results[0]: unknown more"),
        (
            lambda data: data["results"][0].update(outcome="skipped"),
            f"results[0]: the outcome 'skipped' is not one of {', '.join(OUTCOMES)}",
        ),
        (lambda data: data["results"].append(3), "results[1]: expected an object, found int"),
        (
            lambda data: data["results"][0]["discrepancies"][0].pop("where"),
            "results[0]: missing where",
        ),
    ],
    ids=["schema", "lacks", "lacks-in-result", "unknown", "outcome", "no-object", "discrepancy"],
)
def test_a_bad_file_is_one_line_that_says_where(tmp_path, change, message):
    data = run(result(discrepancies=[STRIDE])).to_json()
    change(data)
    path = tmp_path / "results.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(ResultsError) as caught:
        Results.read(path)
    assert str(caught.value) == f"{path}: {message}"


def test_a_compressed_file_is_read_as_it_was_written(tmp_path):
    path, again = tmp_path / "results.json.gz", tmp_path / "again.json.gz"
    for file in (path, again):
        run(result(discrepancies=[STRIDE])).write(file)
    assert path.read_bytes() == again.read_bytes(), "no time of day is in it"
    assert Results.read(path) == run(result(discrepancies=[STRIDE]))
    for damaged in (b"{}", path.read_bytes()[:-20]):
        path.write_bytes(damaged)
        with pytest.raises(ResultsError, match=r"results\.json\.gz: cannot be read: "):
            Results.read(path)


def test_a_file_that_is_not_json_or_not_there_is_named(tmp_path):
    (tmp_path / "bad.json").write_text("{", encoding="utf-8")
    with pytest.raises(ResultsError, match=r"bad\.json: not JSON: "):
        Results.read(tmp_path / "bad.json")
    with pytest.raises(ResultsError, match=r"gone\.json: no such file$"):
        Results.read(tmp_path / "gone.json")


def test_counts_are_by_area_stack_and_device():
    counts = run(
        result(),
        result("layout/test_a.py::test_c", "known_failure"),
        result("layout/test_a.py::test_d", "not_applicable"),
        result("layout/test_a.py::test_e", "fail"),
        result("freezing/test_a.py::test_f"),
    ).counts()
    layout, freezing = counts
    assert (layout.area, layout.stack, layout.device) == ("layout", "inductor", "cpu")
    assert layout.outcomes == {"pass": 1, "known_failure": 1, "not_applicable": 1, "fail": 1}
    assert (layout.total, layout.not_as_expected) == (4, 1)
    assert layout.pass_rate == pytest.approx(1 / 3)
    assert layout.taken_on == pytest.approx(3 / 4)
    assert freezing.pass_rate == 1


def test_a_device_that_is_absent_has_no_pass_rate_and_no_share():
    (count,) = run(result(outcome="unavailable")).counts()
    assert count.pass_rate is None
    assert count.taken_on is None


def test_a_stack_that_declares_nothing_takes_on_nothing():
    (count,) = run(result(outcome="not_applicable")).counts()
    assert count.pass_rate is None
    assert count.taken_on == 0


@pytest.mark.parametrize(
    ("outcome", "green"),
    [
        ("pass", True),
        ("known_failure", True),
        ("not_applicable", True),
        ("unavailable", True),
        ("fail", False),
        ("unexpected_pass", False),
        ("missing", False),
        ("error", False),
    ],
)
def test_only_the_expected_is_green(outcome, green):
    assert run(result(), result("layout/test_a.py::test_c", outcome)).as_expected is green


def test_a_run_of_nothing_is_not_green():
    assert run().as_expected is False


def test_merge_puts_shards_together():
    one = run(result(), options={"scope": "quick", "shard": "1/2"}, started="2026-11-28T03:00:00+00:00")
    two = run(result("layout/test_a.py::test_c", "fail"), options={"scope": "quick", "shard": "2/2"})
    merged = merge([one, two])
    assert outcomes(merged) == {"layout/test_a.py::test_b": "pass", "layout/test_a.py::test_c": "fail"}
    assert merged.options == {"scope": "quick"}
    assert merged.seconds == 7.0
    assert merged.started == "2026-11-28T02:00:00+00:00"


@pytest.mark.parametrize("swapped", [False, True], ids=["first", "last"])
@pytest.mark.parametrize(
    ("weaker", "stronger"), [("missing", "unavailable"), ("unavailable", "pass"), ("missing", "fail")]
)
def test_merge_keeps_what_says_more(weaker, stronger, swapped):
    parts = [run(result(outcome=weaker)), run(result(outcome=stronger))]
    assert outcomes(merge(parts[::-1] if swapped else parts)) == {"layout/test_a.py::test_b": stronger}


@pytest.mark.parametrize(
    ("one", "other", "says"),
    [
        ({}, {"outcome": "fail", "reason": "in call"}, "is pass (nothing more is known) and fail (in call)"),
        (
            {"outcome": "fail", "discrepancies": [STRIDE]},
            {"outcome": "fail", "discrepancies": [VALUE]},
            "is fail (outputs[0].stride) and fail (outputs[0].value)",
        ),
        ({"outcome": "known_failure"}, {"outcome": "unexpected_pass"}, "is known_failure (nothing more is known) and"),
    ],
    ids=["outcome", "observables", "ledger"],
)
def test_merge_refuses_results_that_disagree(one, other, says):
    with pytest.raises(ResultsError) as caught:
        merge([run(result("layout/test_a.py::test_a"), result(**one)), run(result(**other))])
    assert str(caught.value).startswith("two results disagree: layout/test_a.py::test_b on inductor, cpu ")
    assert says in str(caught.value)


@pytest.mark.parametrize("outcome", ["pass", "fail", "known_failure"])
def test_merge_makes_one_of_equal_results(outcome):
    same = {"outcome": outcome, "discrepancies": [STRIDE], "reason": "in call"}
    merged = merge([run(result(**same, seconds=1.0)), run(result(**same, seconds=2.0))])
    assert [(one.outcome, one.seconds) for one in merged.results] == [(outcome, 2.0)]


def test_merge_names_the_gpus_of_all_parts():
    gpu = run(result(device="cuda"), environment={**ENVIRONMENT, "gpus": ["H100"]})
    assert merge([run(result()), gpu, gpu]).environment["gpus"] == ["H100"]


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (
            {"environment": {**ENVIRONMENT, "torch": "2.15.0"}},
            "different torch releases are not one run: 2.13.0, 2.15.0",
        ),
        (
            {"suite": {"version": "0.2.0", "commit": None}},
            "different versions of the suite are not one run: 0.1.0 None",
        ),
    ],
    ids=["torch", "suite"],
)
def test_merge_refuses_what_is_not_one_run(part, message):
    with pytest.raises(ResultsError, match=f"^{message}"):
        merge([run(result()), run(result(), **part)])


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ("pass", "fail", "regressed"),
        ("pass", "error", "regressed"),
        ("pass", "missing", "regressed"),
        ("pass", "known_failure", "regressed"),
        ("known_failure", "fail", "regressed"),
        ("fail", "pass", "fixed"),
        ("known_failure", "unexpected_pass", "fixed"),
        ("known_failure", "pass", "fixed"),
        ("fail", "known_failure", None),
        ("fail", "error", "fails_differently"),
        ("pass", "pass", None),
        ("pass", "unavailable", "gone"),
        ("pass", "not_applicable", "gone"),
        ("not_applicable", "unavailable", None),
        ("unavailable", "fail", "new"),
        ("pass", None, "gone"),
        (None, "fail", "new"),
        (None, "not_applicable", None),
    ],
)
def test_diff_sorts_each_change_into_one_list(old, new, where):
    difference = diff(run(*([result(outcome=old)] if old else [])), run(*([result(outcome=new)] if new else [])))
    assert [name for name in LISTS if getattr(difference, name)] == ([where] if where else [])


@pytest.mark.parametrize(
    ("old", "new", "differently"),
    [
        (("fail", [STRIDE], ""), ("fail", [VALUE], ""), True),
        (("fail", [STRIDE], ""), ("fail", [STRIDE, VALUE], ""), True),
        (("known_failure", [STRIDE], "a bug"), ("known_failure", [VALUE], "a bug"), True),
        (("fail", [STRIDE], "in call"), ("known_failure", [VALUE], "a bug"), True),
        (("fail", [], "in call: out of registers"), ("fail", [], "in call: no kernel"), True),
        (("fail", [STRIDE], "in call"), ("known_failure", [STRIDE], "a bug"), False),
        (("fail", [STRIDE], ""), ("fail", [replace(STRIDE, actual="(9, 9)")], ""), False),
        (("fail", [], "in call: no kernel for (3,)"), ("fail", [], "in call: no kernel for (4,)"), False),
        (("known_failure", [STRIDE], "a bug"), ("fail", [VALUE], "in call"), False),  # which regressed
    ],
)
def test_diff_lists_what_fails_differently(old, new, differently):
    before, after = (result(outcome=one[0], discrepancies=one[1], reason=one[2]) for one in (old, new))
    difference = diff(run(before), run(after))
    assert bool(difference.fails_differently) is differently


def test_diff_tells_stacks_and_devices_apart():
    difference = diff(run(result(), result(device="cuda")), run(result(), result(device="cuda", outcome="fail")))
    (change,) = difference.regressed
    assert str(change) == "layout/test_a.py::test_b on inductor, cuda: pass -> fail"


def test_diff_shows_changed_graphs():
    old = result(graphs={"forward": "a\nb", "backward": "c", "lowered": "d"})
    new = replace(old, graphs={"forward": "a\nB", "backward": "c"})
    (change,) = diff(run(old), run(new)).graphs
    assert change.stage == "forward"
    assert change.diff == "--- old\n+++ new\n@@ -1,2 +1,2 @@\n a\n-b\n+B"


def test_diff_counts_in_one_line_and_as_data():
    difference = diff(run(result()), run(result(outcome="fail", reason="in call")))
    assert difference.line == "1 regressed, 0 fixed, 0 new, 0 gone, 0 fails differently, 0 graphs changed"
    assert difference.to_json() == {
        "regressed": [
            {
                "case": "layout/test_a.py::test_b",
                "stack": "inductor",
                "device": "cpu",
                "old": "pass",
                "new": "fail",
                "bug": None,
                "reason": "in call",
            }
        ],
        "fixed": [],
        "new": [],
        "gone": [],
        "fails_differently": [],
        "graphs": [],
        "bugs": [],
    }


def test_diff_sorts_changes_by_bug():
    """The bug of most changes comes first and what no ledger explains last; the counts are of all results."""
    known = {"outcome": "known_failure", "bug": "views-copied", "reason": "views are copied (unreported)"}
    inherited = {
        "outcome": "inherited",
        "bug": "lost",
        "reason": "dynamo fails likewise: lost, writes are lost (unreported)",
    }
    old = run(*(result(name) for name in "abcd"), result("e", **known))
    new = run(
        result("a", "fail"), result("b", **inherited), result("c", **known), result("d", **known), result("e", **known)
    )
    difference = diff(old, new)

    groups = [(str(bug), [one.key[0][-1] for one in changes]) for bug, changes in difference.by_bug("regressed")]
    assert groups == [
        ("views-copied: views are copied (unreported): results that show it: 1 before, 3 now", ["c", "d"]),
        ("lost: writes are lost (unreported): results that show it: 0 before, 1 now", ["b"]),
        ("None", ["a"]),
    ]
    assert difference.to_json()["bugs"][0] == {
        "bug": "views-copied",
        "title": "views are copied (unreported)",
        "old": 1,
        "new": 3,
    }
    assert [str(bug.bug) for bug, _ in diff(new, old).by_bug("fixed") if bug] == ["views-copied", "lost"]
