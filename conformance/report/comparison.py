"""Two result files compared: what changed by bug, then by case, and the graphs as diffs, as text, Markdown and HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from conformance.report.html import templates
from conformance.report.markdown import code, escaped
from conformance.report.tables import labels, why
from conformance.results.result_file import Results
from conformance.results.result_sets import LISTS, Change, Difference, GraphChange, seen

#: What stands over changes that no bug explains, where others have one.
NO_BUG = "no bug of a ledger explains these"


def comparison(difference: Difference) -> str:
    """The lists of changes by bug, the graphs that changed as diffs, and one line of counts."""
    text: list[str] = []
    for name, head in LISTS.items():
        text.append(f"{head}: {len(getattr(difference, name)) or 'none'}")
        for bug, changes in difference.by_bug(name):
            text += [f"  {bug}"] if bug else []
            text += [f"{'    ' if bug else '  '}{_told(name, change)}" for change in changes]
    for graphs in _by_diff(difference):
        text += [f"graph changed: {_place(graph)}" for graph in graphs]
        text += [f"  {line}" for line in graphs[0].diff.splitlines()]
    return "\n".join([*text, difference.line])


def comparison_markdown(difference: Difference, old: Results, new: Results) -> str:
    """The same as a Markdown page."""
    parts = [f"# {_title(old, new)}"]
    for name, head in LISTS.items():
        if groups := difference.by_bug(name):
            parts.append(f"## {head.capitalize()}: {len(getattr(difference, name))}")
        for bug, changes in groups:
            parts += [f"### {escaped(str(bug or NO_BUG))}"] if bug or len(groups) > 1 else []
            parts.append("\n".join(f"- {escaped(_told(name, change))}" for change in changes))
    if difference.graphs:
        parts.append(f"## Graphs that changed: {len(difference.graphs)}")
    for graphs in _by_diff(difference):
        parts.append("\n".join(f"- {code(_place(graph))}" for graph in graphs))
        parts.append(f"```diff\n{graphs[0].diff}\n```")
    return "\n\n".join([*parts, f"{difference.line}."]) + "\n"


def comparison_html(difference: Difference, old: Results, new: Results) -> str:
    """The same as one HTML file without outside resources: a fold for each bug and for each diff."""
    return (
        templates()
        .get_template("comparison.html.j2")
        .render(
            title=_title(old, new),
            difference=difference,
            lists=LISTS,
            no_bug=NO_BUG,
            told=_told,
            place=_place,
            graphs=list(_by_diff(difference)),
        )
    )


def _title(old: Results, new: Results) -> str:
    return " compared with ".join(reversed(labels([old, new])))


def _told(name: str, change: Change) -> str:
    """A change in one line, with what explains it where its bug does not."""
    reason = ""
    if name == "fails_differently" and change.old is not None and change.new is not None:
        reason = f"{seen(change.old)} before, {seen(change.new)} now"
    elif name == "regressed" and change.new is not None and change.bug is None:
        reason = why(change.new)
    return f"{change}" + (f": {reason}" if reason else "")


def _place(graph: GraphChange) -> str:
    case, stack, device = graph.key
    return f"{case} on {stack}, {device}, stage {graph.stage}"


def _by_diff(difference: Difference) -> Iterator[Sequence[GraphChange]]:
    """The graphs that changed in the same way, together: most do on several stacks."""
    groups: dict[str, list[GraphChange]] = {}
    for graph in difference.graphs:
        groups.setdefault(graph.diff, []).append(graph)
    yield from groups.values()
