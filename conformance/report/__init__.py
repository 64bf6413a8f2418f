"""Views of results: terminal, Markdown and one HTML file; several result files stand side by side as columns."""

from conformance.report.comparison import comparison, comparison_html, comparison_markdown
from conformance.report.html import html_report
from conformance.report.markdown import markdown_summary
from conformance.report.terminal import terminal_table

__all__ = [
    "comparison",
    "comparison_html",
    "comparison_markdown",
    "html_report",
    "markdown_summary",
    "terminal_table",
]
