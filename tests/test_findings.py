"""Findings: what makes failures one root cause, what a root cause hides, and whose fault each result is."""

from __future__ import annotations

import pytest

from conformance.contract.capabilities import CAPABILITIES
from conformance.contract.failure import UNTIL_LATER_CALL, Discrepancy
from conformance.report.finding_blocks import commands, denied, differences, title
from conformance.results.findings import by_origin, findings, share_explained
from conformance.results.result_file import CaseResult
from conformance.results.signature import pattern, signature_of

OVERWRITTEN = Discrepancy("value", "calls[0].outputs[0]", "1.0 at [0]", f"2.0 ({UNTIL_LATER_CALL})")
LIES_IN_A_LATER_CALL = Discrepancy(
    "storage_sharing", "calls[0].outputs[0]", "memory of its own", "shares memory with calls[1].outputs[0]"
)
SAME_OUTPUT = "calls[0].outputs[0]"
NO_GRADIENT = Discrepancy("requires_grad", "outputs[0]", "True", "False")
GRADIENT = Discrepancy("grad", "arguments[0]", "tensor([1.])", "None")
NOT_WRITTEN = Discrepancy("version", "arguments[0]", "moved", "not moved")
VALUE = Discrepancy("value", "outputs[0]", "1.0 at [0]", "2.0")
STRIDE = Discrepancy("stride", "outputs[0]", "(12, 1)", "(1, 3)")


def raises(message):
    return Discrepancy("exception", "", "raises nothing", f"raises {message}")


def result(name, outcome="fail", *found, stack="mine", **more):
    parts = {"reason": "in call", "discrepancies": list(found), **more}
    return CaseResult(f"layout/test_a.py::{name}", [], "layout", stack, "cpu", outcome, **parts)


def sizes(results):
    return {one.signature: len(one.results) for one in findings(results)}


@pytest.mark.parametrize(
    ("messages", "told"),
    [
        (
            [f"RuntimeError: no kernel for {shape}" for shape in ("(3, 4)", "(7,)", "()")],
            "raises RuntimeError: no kernel for (...)",
        ),
        (
            ["ValueError: size 3 of 'x' is not 4", "ValueError: size 12 of 'other' is not 1"],
            "raises ValueError: size N of _ is not N",
        ),
        (["KeyError: at 0x7f00 in /a/b.py", "KeyError: at 0x12 in /c/d/e.py"], "raises KeyError: at N in _"),
    ],
    ids=["shapes", "names", "addresses"],
)
def test_one_cause_with_other_sizes_in_its_message_is_one_finding(messages, told):
    assert sizes([result(f"test_{n}", "fail", raises(one)) for n, one in enumerate(messages)]) == {told: len(messages)}


def test_messages_without_discrepancies_are_told_apart_by_pattern_too():
    reasons = ["in call: no kernel for [3, 4]", "in call: no kernel for [5, 6]", "in call: out of registers"]
    found = findings(result(f"test_{number}", reason=reason) for number, reason in enumerate(reasons))
    assert [len(one.results) for one in found] == [2, 1]


def test_what_the_code_of_a_stack_refuses_is_one_finding_whatever_it_says():
    said = ["NotImplementedError: no sin", "NotImplementedError: no cos", "NotImplementedError: no sin"]
    found = [raises(f"BackendCompilerFailed in call: {one} (at mine/a.py in lower)") for one in said]
    [finding] = findings(result(f"test_{number}", "fail", one) for number, one in enumerate(found))
    assert finding.sentence == (
        "Raises BackendCompilerFailed in call: NotImplementedError, at mine/a.py in lower: no sin (2); no cos (1)."
    )


def test_places_at_which_a_stack_refuses_a_program_or_two_are_told_together():
    found = [raises(f"E in call: no (at mine/a.py in f{number})") for number in range(4)]
    assert sizes(result(f"test_{number}", "fail", one) for number, one in enumerate(found)) == {
        "raises at other places of its code": 4
    }
    assert len(sizes(result(f"test_{number}", "fail", one) for number, one in enumerate(found[:3]))) == 3


def test_results_in_the_memory_of_an_input_explain_what_a_write_changes():
    shared = Discrepancy("storage_sharing", "outputs[0]", "memory of its own", "shares memory with arguments[0]")
    written = Discrepancy("value", "arguments[0]", "2.0 at [0]", "40.0, 1 of 6 elements differ")
    assert sizes([result("test_a", "fail", written, shared)]) == {"results that share memory": 1}


def test_the_innermost_frame_tells_two_causes_apart():
    first, second = raises("E: no (at a.py:f)"), raises("E: no (at b.py:g)")
    assert len(findings([result("test_a", "fail", first), result("test_b", "fail", second)])) == 2


@pytest.mark.parametrize("shows", [OVERWRITTEN, LIES_IN_A_LATER_CALL], ids=["value", "storage"])
def test_an_output_overwritten_by_a_later_call_explains_what_else_differs(shows):
    results = [result("test_a", "fail", VALUE, STRIDE, shows), result("test_b", "fail", shows)]
    assert sizes(results) == {"outputs reused by a later call": 2}


def test_memory_that_eager_shares_with_a_later_call_too_is_not_reused():
    same = "shares memory with calls[1].outputs[0]"
    found = Discrepancy("storage_sharing", "calls[0].outputs[0]", same, f"{same}, arguments[0]")
    assert signature_of("call", [found])[0] != "outputs reused by a later call"


def test_an_output_in_the_memory_of_an_argument_of_every_call_is_not_reused():
    """A stack that gives back its input gives back the same memory where each call is given the same tensor."""
    arguments = ", ".join(f"calls[{n}].arguments[0]{at}" for at in ("", " at the start") for n in range(3))
    found = Discrepancy(
        "storage_sharing", "calls[2].outputs[0]", "memory of its own", f"shares memory with {arguments}, {SAME_OUTPUT}"
    )
    assert signature_of("call", [found])[0] == "results that share memory"


def test_what_names_the_cause_is_shown_before_what_follows_from_it():
    """Of many discrepancies three are shown: by wrong values alone nobody sees that memory is used again."""
    values = [Discrepancy("value", f"calls[{n}].outputs[0]", "1.0", "2.0") for n in range(3)]
    [found] = findings([result("test_a", "fail", *values, LIES_IN_A_LATER_CALL)])
    assert differences(found) == [LIES_IN_A_LATER_CALL, *values[:2]]


def test_a_fault_that_shows_first_on_the_stack_itself_is_said_once():
    own, torchs = (result("test_a", "fail", VALUE, first_divergence=rung) for rung in ("mine", "aot_eager"))
    assert [title(one) for one in findings([own])] == ["1 result of mine, the fault of the stack"]
    assert [title(one) for one in findings([torchs])] == [
        "1 result of mine, the fault of torch's rungs, first on aot_eager"
    ]


def test_a_message_that_is_cut_says_so():
    said = raises(f"E in call: {'no kernel for this ' * 20}(at mine/a.py in lower)")
    [found] = findings([result("test_a", "fail", said)])
    assert found.sentence.endswith("no ke..., at mine/a.py in lower.")
    assert len(found.sentence) < 350


def test_a_message_is_told_with_its_numbers():
    """They are left out of what tells two causes apart, and not of what is read."""
    [found] = findings([result("test_a", "fail", reason="in call: killed by SIGSEGV in lower.py:474 (lower)")])
    assert found.sentence == "Killed by SIGSEGV in lower.py:474 (lower)."


def test_the_results_of_a_finding_are_looked_at_once_each(monkeypatch):
    """A report asks for the shortest program of a finding many times."""
    [found] = findings([result(f"test_{n}", "fail", VALUE) for n in range(4)])
    monkeypatch.setattr("conformance.results.findings.signature_of", None)
    assert found.shortest.case.endswith("test_0")


CLAIM = {
    "stack": "mine",
    "capabilities": sorted({*CAPABILITIES} - {"training", "double_backward", "freezing", "profiler", "lowered_graph"}),
    "denied": {
        "training": "outputs do not require grad",
        "freezing": "not declared: whether parameters are folded shows in the lowered graph alone",
        "profiler": "not declared: which functions the profiler sees is up to how the backward is compiled",
        "double_backward": "outputs do not require grad",
    },
}


def test_capabilities_of_which_nobody_says_anything_are_one_line():
    """So are those that are lacking for one reason; torch's own stacks, which nobody probes, have none."""
    assert denied([CLAIM]) == [
        "mine lacks training, double_backward: outputs do not require grad",
        "mine does not declare lowered_graph, freezing, profiler: cases that need one of them did not run",
    ]
    assert denied([{**CLAIM, "denied": {}}]) == []


@pytest.mark.parametrize(
    ("shows", "signature"), [(NO_GRADIENT, "outputs without gradient"), (NOT_WRITTEN, "no write-back")]
)
@pytest.mark.parametrize("besides", [[], [VALUE], [GRADIENT, STRIDE], [raises("E: no")]], ids=len)
def test_no_gradient_and_no_write_back_come_before_what_follows_from_them(shows, signature, besides):
    assert signature_of("backward", [*besides, shows])[0] == signature


def test_a_copy_of_a_view_explains_what_is_written_to_it():
    copied = Discrepancy("storage_sharing", "outputs[0]", "shares memory with arguments[0]", "memory of its own")
    assert sizes([result("test_a", "fail", VALUE, STRIDE, copied), result("test_b", "fail", copied)]) == {
        "copies of views": 2
    }


def test_memory_shared_where_eager_shares_none_is_no_copy():
    shared = Discrepancy("storage_sharing", "outputs[0]", "memory of its own", "shares memory with arguments[0]")
    assert signature_of("call", [shared])[0] == "results that share memory"


def test_an_output_whose_version_did_not_move_is_no_missing_write_back():
    found = Discrepancy("version", "outputs[0]", "moved", "not moved")
    assert signature_of("call", [found])[0] == "versions of outputs"


def test_the_gravest_of_what_differs_names_the_finding():
    assert sizes([result("test_a", "fail", STRIDE, VALUE), result("test_b", "fail", VALUE)]) == {"values of outputs": 2}


def test_findings_that_explain_most_come_first_and_their_share_is_counted():
    results = [result("test_a", "fail", STRIDE), *(result(f"test_{n}", "fail", VALUE) for n in range(3))]
    found = findings(results)
    assert [one.signature for one in found] == ["values of outputs", "strides of outputs"]
    assert share_explained(found, 1) == 0.75


def test_a_finding_shows_its_shortest_program():
    longer = result("test_a", "fail", VALUE, graphs={"dynamo": "a much longer graph"})
    shorter = result("test_b", "fail", VALUE, graphs={"dynamo": "short"})
    [found] = findings([longer, shorter, result("test_c", "fail", VALUE)])
    assert found.shortest is shorter


def test_a_finding_shows_a_program_whose_script_shows_it():
    short = result("test_a", "fail", VALUE, graphs={"dynamo": "short"}, script="a.py", script_shows=False)
    longer = result("test_b", "fail", VALUE, graphs={"dynamo": "a longer graph"}, script="b.py", script_shows=True)
    untried = result("test_c", "fail", VALUE, graphs={"dynamo": "a graph"}, script="c.py")
    [found] = findings([short, longer, untried])
    assert found.to_json()["script"] == "b.py"
    longer.script_shows = None
    assert found.shortest is untried


def test_a_finding_has_the_bug_that_explains_all_of_it():
    results = [result("test_a", "fail", VALUE, bug="one"), result("test_b", "fail", VALUE, bug="one")]
    assert findings(results)[0].to_json()["bug"] == "one"
    assert findings([*results, result("test_c", "fail", VALUE)])[0].to_json()["bug"] is None


def test_cases_that_pass_are_told_by_the_bug_that_is_mended():
    results = [result(f"test_{bug}", "unexpected_pass", bug=bug) for bug in ("one", "two")]
    assert sorted(sizes(results)) == ["passes, but is listed by the bug one", "passes, but is listed by the bug two"]


def test_what_is_kept_alive_is_told_where_nothing_else_differs():
    kept = Discrepancy("lifetime", "arguments[0]", "let go", "kept alive")
    assert sizes([result("test_a", "fail", kept), result("test_b", "fail", kept, STRIDE)]) == {
        "arguments kept alive": 1,
        "strides of outputs": 1,
    }


def test_outputs_kept_alive_follow_from_memory_that_is_used_again():
    """A pool of buffers keeps its outputs between calls: one finding, told by a program that shows the overwriting."""
    kept = Discrepancy("lifetime", "outputs[0]", "let go", "kept alive")
    results = [result("test_a", "fail", kept), result("test_b", "fail", kept), result("test_c", "fail", OVERWRITTEN)]
    (found,) = findings(results)
    assert (found.signature, len(found.results)) == ("outputs reused by a later call", 3)
    assert found.shortest.case.endswith("test_c")
    assert found.sentence.startswith("Outputs of one call lie in memory that a later call writes to")
    assert "In 2 results only this shows of it: Outputs of a call are kept alive" in found.sentence

    other = result("test_d", "fail", OVERWRITTEN, stack="other")
    assert len(findings([*results[:2], other])) == 2


def test_another_dtype_or_shape_is_no_wrong_value():
    dtype = Discrepancy("dtype", "outputs[0]", "torch.int64", "torch.uint8")
    shape = Discrepancy("shape", "outputs[1]", "(0,)", "(1,)")
    assert [signature_of("call", [one])[0] for one in (dtype, shape)] == ["dtypes of outputs", "shapes of outputs"]


def test_it_does_not_matter_which_sample_of_an_operator_shows_a_cause():
    plain, sampled = (
        Discrepancy("value", f"{place}outputs[0]", "1.0", "2.0") for place in ("", "nn.functional.elu[3].")
    )
    raising = Discrepancy("exception", "scatter[0]", "raises nothing", "raises RuntimeError in call: no kernel")
    results = [result("test_a", "fail", plain), result("test_b", "fail", sampled), result("test_c", "fail", raising)]
    assert sizes([*results, result("test_d", "fail", raises("RuntimeError in call: no kernel"))]) == {
        "values of outputs": 2,
        "raises RuntimeError in call: no kernel": 2,
    }


def test_what_is_as_expected_is_no_finding():
    expected = ["pass", "known_failure", "inherited", "not_applicable", "unavailable"]
    assert findings(result(f"test_{one}", one, VALUE) for one in expected) == []


def test_results_are_counted_by_whose_fault_they_are():
    results = [
        result("test_a", "fail", VALUE, first_divergence="mine"),
        result("test_b", "fail", VALUE),
        result("test_c", "fail", VALUE, stack="inductor", first_divergence="dynamo"),
        result("test_d", "fail", VALUE, stack="aot_eager", first_divergence="aot_eager"),
        result("test_e", "inherited", VALUE, first_divergence="aot_eager"),
        result("test_f", "error"),
        result("test_g", "missing"),
        result("test_h", "unexpected_pass"),
        result("test_i", "pass"),
        result("test_j", "known_failure", VALUE),
    ]
    assert by_origin(results) == {"the stack": 3, "torch's rungs": 2, "the suite": 2, "the ledger": 1}


def test_faults_of_torchs_rungs_and_of_the_stack_are_two_findings():
    results = [
        result("test_a", "fail", VALUE, stack="inductor", first_divergence="dynamo"),
        result("test_b", "fail", VALUE, stack="inductor", first_divergence="inductor"),
    ]
    found = findings(results)
    assert {one.origin for one in found} == {"the stack", "torch's rungs"}
    assert len({one.id for one in found}) == 2


def test_a_pattern_is_of_the_first_line():
    assert pattern("size 3\nmore of it") == "size N"


@pytest.mark.parametrize(
    ("script", "shows", "reason", "told"),
    [
        ("a.py", True, None, "script: a.py"),
        ("a.py", None, None, "script: a.py (not run)"),
        ("a.py", False, "conforms", "script: a.py (does not show the difference: conforms)"),
        (None, None, "object: no script can write it", "script: none: object: no script can write it"),
    ],
    ids=["shows", "not_run", "conforms", "none"],
)
def test_a_finding_says_what_its_script_is_worth(script, shows, reason, told):
    """Every report's block names a script that shows the difference, or says why none does."""
    one = result("test_a", "fail", VALUE, script=script, script_shows=shows, script_reason=reason)
    [finding] = findings([one])
    assert commands(finding)[0] == told
