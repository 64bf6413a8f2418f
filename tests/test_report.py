"""The views of results: figures, columns, folds; one HTML file that needs nothing else."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from rich.console import Console

from conformance.contract.failure import Discrepancy
from conformance.contract.ladder import rungs
from conformance.report import (
    comparison,
    comparison_html,
    comparison_markdown,
    html_report,
    markdown_summary,
    terminal_table,
)
from conformance.report.tables import labels, lines, percent, rows, short
from conformance.results.findings import findings
from conformance.results.result_file import CaseResult, Count, Results
from conformance.results.result_sets import diff

STRIDE = Discrepancy("stride", "outputs[0]", "(12, 1)", "(1, 3)")
VALUE = Discrepancy("value", "arguments[0]", "tensor([1.])", "tensor([2.])")
CLAUSE = "aot_autograd.mutation.writeback"


def result(name="test_b", outcome="pass", *, area="layout", stack="inductor", device="cpu", **more):
    return CaseResult(f"{area}/test_a.py::{name}", [CLAUSE], area, stack, device, outcome, **more)


def run(*results, torch="2.13.0", started="2026-11-28T02:00:00+00:00"):
    return Results(
        suite={"version": "0.1.0", "commit": "0123456789abcdef"},
        environment={
            "torch": torch,
            "triton": None,
            "python": "3.11.7",
            "platform": "Linux",
            "gpus": [],
            "compiler": "g++ 12",
        },
        started=started,
        seconds=12.3,
        results=list(results),
    )


FAILED = result(
    "test_f[<a>]",
    "fail",
    reason="in call",
    discrepancies=[STRIDE, VALUE],
    first_divergence="aot_eager",
    graphs={"forward": "in0: f32[3]\nreturn (in0,)"},
    recompiles=["x is y"],
    graph_breaks=["print"],
    seconds=2.0,
    compile_seconds=1.5,
)
KNOWN = result("test_k", "known_failure", reason="views come back as the input (https://example.org/issues/7)")


def printed(*columns):
    console = Console(file=io.StringIO(), width=110, soft_wrap=True)
    terminal_table(columns, console)
    return console.file.getvalue()


class Page(HTMLParser):
    """The tags of a page, and whether each that must be closed is."""

    VOID = {"meta", "input", "br"}

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.text = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


def test_rows_follow_the_contract_and_end_with_all_areas():
    found = rows(
        [run(result(), result(area="aot_autograd"), result(area="aot_autograd", device="cuda", outcome="fail"))]
    )
    assert [(row.area, row.device, row.counts[0].total) for row in found] == [
        ("aot_autograd", "cpu", 1),
        ("aot_autograd", "cuda", 1),
        ("layout", "cpu", 1),
        ("all areas", "cpu", 2),
        ("all areas", "cuda", 1),
    ]


def test_a_row_has_none_where_a_file_has_no_result():
    (first, second) = rows([run(result()), run(result(stack="eager"))])
    assert [count and count.total for count in first.counts] == [1, None]
    assert [count and count.total for count in second.counts] == [None, 1]


def test_lines_put_what_fails_a_run_first_then_what_changes():
    old = run(result("a"), result("b"), result("c"), result("d", device="cuda", outcome="unavailable"))
    new = run(result("a"), result("b", "known_failure"), result("c", "fail"), result("d", device="cuda"))
    found = lines([old, new])
    assert [line.key[0][-1] for line in found] == ["c", "b", "a", "d"]
    assert [line.changes for line in found] == [True, True, False, False]


@pytest.mark.parametrize(
    ("share", "text"), [(None, "-"), (0, "0%"), (1, "100%"), (0.999, "99%"), (0.001, "1%"), (2 / 3, "67%")]
)
def test_a_share_reads_whole_only_when_it_is(share, text):
    assert percent(share) == text


@pytest.mark.parametrize(
    ("outcomes", "text"),
    [
        ({"pass": 3}, "3 of 3 (100%)"),
        ({"pass": 3, "known_failure": 1, "fail": 1, "missing": 1}, "3 of 6 (50%), 1 known, 2 not as expected"),
        ({"pass": 3, "inherited": 2}, "3 of 3 (100%), 2 inherited"),
        ({"not_applicable": 3}, "not applicable"),
        ({"unavailable": 3}, "unavailable"),
    ],
)
def test_a_count_in_a_few_words(outcomes, text):
    assert short(Count("layout", "inductor", "cpu", outcomes)) == text


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ([run(result())], ["torch 2.13.0"]),
        ([run(result()), run(result(), torch="2.15.0")], ["torch 2.13.0", "torch 2.15.0"]),
        ([run(result()), run(result(stack="eager"))], ["torch 2.13.0, inductor", "torch 2.13.0, eager"]),
        (
            [run(result()), run(result(), started="2026-11-29T02:00:00+00:00")],
            ["torch 2.13.0, 2026-11-28", "torch 2.13.0, 2026-11-29"],
        ),
        ([run(result()), run(result())], ["torch 2.13.0 (1)", "torch 2.13.0 (2)"]),
    ],
    ids=["one", "releases", "stacks", "nights", "same"],
)
def test_columns_are_called_by_what_tells_them_apart(columns, expected):
    assert labels(columns) == expected


def test_the_terminal_shows_figures_and_what_is_not_as_expected():
    text = printed(run(result(), FAILED, KNOWN))
    assert re.search(r"^layout +inductor +cpu +1 +1 +1 +\. +\. +\. +33% +100%", text, re.M)
    assert "1 result of inductor, the fault of torch's rungs, first on aot_eager\n" in text
    assert "\n    outputs[0].stride: eager (12, 1), stack (1, 3)\n" in text
    assert "\n  alone: conformance run --case 'layout/test_a.py::test_f[<a>]' --stack inductor --device cpu\n" in text
    assert re.search(r"^[0-9a-f]{8}  fail +inductor, cpu  layout/test_a.py::test_f\[<a>\]$", text, re.M)
    assert text.index("outputs[0].stride") < text.index("taken")  # the table comes last
    assert "test_k" not in text
    assert text.endswith("3 results, 1 not as expected\n")


def test_the_terminal_shows_files_as_columns():
    text = printed(run(result()), run(result(outcome="fail"), torch="2.15.0"))
    assert re.search(r"^layout +inductor +cpu +1 +0 +0 +100% +0 +0 +1 +0%$", text, re.M)
    assert re.search(r"^torch 2.15.0: \[[0-9a-f]{8}\] 1 result of inductor, the fault of the stack$", text, re.M)


def test_a_comparison_lists_changes_graphs_and_counts():
    old = run(result(graphs={"forward": "a"}), result("test_c", "fail"))
    new = run(replace(FAILED, case=old.results[0].case, graphs={"forward": "b"}), result("test_c"))
    text = comparison(diff(old, new))
    assert text == (
        "regressed: 1\n"
        "  layout/test_a.py::test_b on inductor, cpu: pass -> fail: "
        "in call; outputs[0].stride: eager (12, 1), stack (1, 3) (and 1 more)\n"
        "fixed: 1\n"
        "  layout/test_a.py::test_c on inductor, cpu: fail -> pass\n"
        "new: none\n"
        "gone: none\n"
        "fails differently: none\n"
        "graph changed: layout/test_a.py::test_b on inductor, cpu, stage forward\n"
        "  --- old\n  +++ new\n  @@ -1 +1 @@\n  -a\n  +b\n"
        "1 regressed, 1 fixed, 0 new, 0 gone, 0 fails differently, 1 graphs changed"
    )


def two_runs():
    """A result that a known bug breaks since, one that is repaired, and one graph that changed on two stacks."""
    old = run(
        result(graphs={"forward": "a"}), result("test_c", "fail"), result(stack="aot_eager", graphs={"forward": "a"})
    )
    new = run(
        replace(KNOWN, case=old.results[0].case, bug="lost<", graphs={"forward": "<b>"}),
        result("test_c"),
        result(stack="aot_eager", graphs={"forward": "<b>"}),
        torch="2.15.0",
    )
    return old, new


def test_a_comparison_puts_changes_under_their_bugs_and_shows_a_diff_once():
    """The bug is a line of its own, with how many results show it; equal diffs of several stacks are one."""
    text = comparison(diff(*two_runs()))
    head = f"regressed: 1\n  lost<: {KNOWN.reason}: results that show it: 0 before, 1 now\n"
    assert text.startswith(f"{head}    layout/test_a.py::test_b on ")
    assert text.count("graph changed: ") == 2
    assert text.count("  -a\n  +<b>\n") == 1


def test_a_comparison_as_a_page():
    """Markdown and HTML have the bug, its cases, the diff and the counts; HTML is escaped."""
    old, new = two_runs()
    markdown, html = (write(diff(old, new), old, new) for write in (comparison_markdown, comparison_html))
    assert markdown.startswith("# torch 2.15.0 compared with torch 2.13.0\n\n## Regressed: 1\n\n### lost\\<: ")
    assert "```diff\n--- old\n+++ new\n@@ -1 +1 @@\n-a\n+<b>\n```\n" in markdown
    assert markdown.endswith("\n\n1 regressed, 1 fixed, 0 new, 0 gone, 0 fails differently, 2 graphs changed.\n")
    assert "<summary>lost&lt;: " in html
    assert "+&lt;b&gt;" in html
    assert "1 regressed, 1 fixed" in html


def test_markdown_of_one_file():
    text = markdown_summary([run(result(), FAILED)])
    assert "torch 2.13.0: 2 results, **1 not as expected**, in 12 s (2026-11-28, Python 3.11.7, no GPU)." in text
    assert "| layout | inductor | cpu | 1 | 0 | 1 | 0 | 0 | 0 | 50% | 100% |" in text
    assert "- `layout/test_a.py::test_f[<a>]` on inductor, cpu: fail. in call\n" in text
    assert "  - `outputs[0].stride: eager (12, 1), stack (1, 3)`\n" in text
    assert "  - first divergence: aot_eager\n" in text
    assert "Outcomes that differ" not in text


def test_markdown_shows_the_shortest_program_of_a_finding():
    graph = {"dynamo": "in0: f32[3]\nreturn (in0,)"}
    shown = result("test_f", "fail", discrepancies=FAILED.discrepancies, graphs=graph)
    text = markdown_summary([run(shown)])
    assert "\n  ```\n  in0: f32[3]\n  return (in0,)\n  ```\n\n  - `" in text


def test_markdown_shows_in_which_release_a_promise_broke_and_was_kept_again():
    columns = [
        run(result(outcome=outcome), torch=torch)
        for torch, outcome in [("2.9", "pass"), ("2.13", "fail"), ("2.15", "pass")]
    ]
    text = markdown_summary(columns)
    assert "| layout | inductor | cpu | 1 of 1 (100%) | 0 of 1 (0%), 1 not as expected | 1 of 1 (100%) |" in text
    assert "| `layout/test_a.py::test_b` | inductor | cpu | pass | fail | pass |" in text


def test_markdown_tables_survive_pipes_and_lists_survive_backticks():
    odd = result("test_x[a|b]", "fail", discrepancies=[Discrepancy("value", "", "`a`\nb", "c")])
    text = markdown_summary([run(odd), run(result("test_x[a|b]"), torch="2.15.0")])
    assert "| `layout/test_a.py::test_x[a\\|b]` | inductor | cpu | fail | pass |" in text
    assert "  - `` value: eager `a` b, stack c ``\n" in text


def test_html_is_well_formed_and_needs_nothing_else():
    page = Page(html_report([run(result(), FAILED, KNOWN)]))
    assert page.open == []
    assert not [attributes for _, attributes in page.tags if "src" in attributes]
    assert not page.all("link")
    assert "@import" not in "".join(page.text)
    assert "url(" not in "".join(page.text)


def test_html_folds_hold_what_is_known_of_a_case():
    text = html_report([run(FAILED)])
    for part in (
        "layout/test_a.py::test_f[&lt;a&gt;]",
        CLAUSE,
        "An input that the program mutates",
        "in call",
        "outputs[0].stride: eager (12, 1), stack (1, 3)",
        "in0: f32[3]\nreturn (in0,)",
        "x is y",
        "print",
        '<span class="first">aot_eager</span>',
        '<span class="after">inductor</span>',
        "conformance script &#39;layout/test_a.py::test_f[&lt;a&gt;]&#39; --stack inductor --device cpu",
        "2.0 s, 1.5 s of it compiling",
    ):
        assert part in text


def test_html_escapes_what_programs_print():
    text = html_report([run(result(outcome="fail", reason="</script><script>alert(1)"))])
    assert "<script>alert" not in text


def test_html_links_a_known_failure_to_its_report():
    assert '<a href="https://example.org/issues/7"' in html_report([run(KNOWN)])


def test_html_folds_carry_what_the_filters_ask_for():
    page = Page(html_report([run(result(), FAILED)]))
    [failed] = (fold for fold in page.all("details") if "data-outcome" in fold)
    assert failed == {
        "id": "r1",
        "data-finding": findings([FAILED])[0].id,
        "data-outcome": "fail",
        "data-area": "layout",
        "data-stack": "inductor",
        "data-device": "cpu",
        "data-unexpected": None,
    }
    values = [option.get("value") for option in page.all("option")]
    assert values == [
        *("", "not as expected", "fail", "", "layout", "", "inductor", "", "cpu"),
        *("", findings([FAILED])[0].id),
    ]


def test_html_figures_link_to_the_list_with_filters_set():
    page = Page(html_report([run(result(), FAILED)]))
    assert {"href": "#area=layout&stack=inductor&device=cpu&outcome=not+as+expected"} in page.all("a")


def test_html_has_one_fold_a_case_with_its_result_in_each_file():
    text = html_report([run(replace(FAILED, outcome="pass")), run(FAILED, torch="2.15.0")])
    page = Page(text)
    (fold,) = (one for one in page.all("details") if "data-outcome" in one)
    assert fold["data-outcome"] == "pass fail"
    assert "data-changed" in fold
    assert "Graph, forward: as above" in text


def test_html_names_each_file_though_both_found_the_same():
    text = html_report([run(FAILED), run(FAILED, torch="2.15.0")])
    assert [text.count(f"<p><b>torch {release}</b>") for release in ("2.13.0", "2.15.0")] == [1, 1]


SMALL_RUN = Path(__file__).parent / "small_run.json"
MB = 1_000_000


def multiplied(results, number):
    """A run of that many results, each with a case and graphs of its own."""

    def copy(one, time):
        graphs = {stage: text.replace("return", f"return_{time}") for stage, text in one.graphs.items()}
        return replace(one, case=f"{one.case}[{time}]", graphs=graphs)

    return replace(results, results=[copy(results.results[n % len(results.results)], n) for n in range(number)])


@pytest.mark.parametrize("which", ["all", "failures"])
def test_html_of_5000_results_is_small(which):
    """What a page holds grows with what has to be looked at, and of a cause that many results share it says little."""
    small = Results.read(SMALL_RUN)
    if which == "failures":
        small = replace(small, results=[one for one in small.results if not one.as_expected])
    text = html_report([multiplied(small, 5000)])
    assert len(text.encode()) < 3 * MB
    assert Page(text).open == []
    assert len(re.findall("<h3>Graph, ", text)) <= 10 * len(findings(small.results))


def test_html_counts_passes_and_gives_none_of_them_a_fold():
    text = html_report([run(result(), result("test_c", "not_applicable", reason="needs freezing"), FAILED)])
    assert "test_b" not in text
    assert "test_c" not in text
    assert re.search(r'<td class="n">\s*1</td>', text)


def test_html_shows_a_graph_once():
    same = [replace(FAILED, case=f"layout/test_a.py::test_{name}") for name in "fg"]
    text = html_report([run(*same)])
    assert text.count("<h3>Graph, forward</h3>") == 1
    assert '<p class="soft">Graph, forward: <a href="#r1">as there</a></p>' in text


def test_html_says_once_why_cases_fail_as_expected():
    known = [replace(KNOWN, case=f"layout/test_a.py::test_{name}") for name in "kl"]
    text = html_report([run(*known)])
    assert text.count("views come back as the input") == 1
    assert "layout/test_a.py::test_k   inductor, cpu\nlayout/test_a.py::test_l   inductor, cpu" in text


def test_a_line_of_a_failure_is_shortened_in_its_middle():
    long = result(f"test_of_{'a' * 200}[last]", "fail", stack="a.long.package.of.somebody:" + "b" * 60)
    [line] = re.findall("^[0-9a-f]{8}  fail .*$", printed(run(long)), re.M)
    assert len(line) <= 120
    assert "layout/test_a.py::test_of_" in line
    assert line.endswith("aaa[last]")
    assert re.search(r" a\.long\.pack\S+\.\.\.b+, cpu ", line)


def test_a_block_has_clause_diff_and_what_is_not_shown():
    text = Discrepancy("expectation", "forward", "in0: f32[3]\nreturn (in0,)", "in0: f32[3]\nreturn (add,)")
    found = result("test_e", "fail", reason="in expectation; besides, dynamo fails likewise", discrepancies=[text])
    shown = printed(run(found))
    assert f"\n  clause {CLAUSE}: An input that the program mutates" in shown
    assert "\n      -return (in0,)\n      +return (add,)\n" in shown
    assert "\n    not this stack's: dynamo fails likewise\n" in shown
    many = replace(FAILED, discrepancies=[STRIDE, VALUE, STRIDE, VALUE, STRIDE])
    assert "\n    and 2 more\n" in printed(run(many))


def test_what_a_run_does_otherwise_stands_last():
    """Whoever reads what failed does not first read nine sentences about garbage and linkers."""
    column = run(FAILED)
    column.options["left_out"] = ["An operator uses 1 thread."]
    last = markdown_summary([column]).rstrip().splitlines()[-1]
    assert last == "The run does otherwise than a user: An operator uses 1 thread."
    assert "<summary>What the run does otherwise than a user</summary>An operator" in html_report([column])


def test_one_line_of_each_observable_comes_before_a_second_of_any():
    """What names the mechanism is not hidden behind values that say the same."""
    values = [Discrepancy("value", f"outputs[{n}]", "1", "2") for n in range(4)]
    shown = printed(run(replace(FAILED, discrepancies=[*values, STRIDE])))
    lines = [line.strip() for line in shown.splitlines() if line.startswith("    outputs[")]
    assert [line.partition(":")[0] for line in lines] == ["outputs[0].value", "outputs[0].stride", "outputs[1].value"]


def test_the_terminal_says_what_did_not_run():
    """Cases that need what a stack lacks are counted, and a run that was ended says so in its last line."""
    claim = {"stack": "inductor", "denied": {"training": "outputs do not require grad"}, "capabilities": []}
    column = run(result("test_a"), result("test_b", "not_applicable"))
    column.claim, column.incomplete = [claim], True
    shown = printed(column)
    assert "\nso that 1 of 2 results of inductor are not applicable, and count for nothing\n" in shown
    assert shown.splitlines()[-1].startswith("incomplete: the run did not come to its end; --resume")


def test_views_count_results_by_whose_fault_they_are():
    columns = [run(replace(FAILED, first_divergence="inductor"), result("test_e", "error"), result("i", "inherited"))]
    counts = "the stack 1, torch's rungs 1, the suite 1"
    assert f"\nwhose fault: {counts}\n" in printed(*columns)
    assert f"Whose fault: {counts}." in markdown_summary(columns)
    assert f"<p>Whose fault: {counts}</p>" in html_report(columns).replace("&#39;", "'")


def test_html_of_a_run_without_results_says_so():
    assert "no results" in html_report([run()])


@pytest.mark.parametrize(
    ("stack", "ladder"),
    [
        ("inductor", ["dynamo", "aot_eager", "aot_eager_decomp_partition", "inductor"]),
        ("aot_eager", ["dynamo", "aot_eager"]),
        ("dynamo", ["dynamo"]),
    ],
)
def test_the_ladder_ends_at_the_stack(stack, ladder):
    assert rungs(stack) == ladder
