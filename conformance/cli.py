"""The command line, thin over the commands: every mistake in its use is one line and exit status 2."""

from __future__ import annotations

import sys

import typer

from conformance.commands import cases, programs, result_files, stacks
from conformance.commands.usage import run_command

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
for command in (
    cases.run_command(),
    programs.check,
    programs.script,
    programs.explore,
    stacks.stacks,
    stacks.probe,
    cases.clauses,
    cases.manifest,
    cases.mutants,
    result_files.compare,
    result_files.report,
    result_files.state,
    result_files.merge,
):
    app.command()(command)


def main() -> None:
    """Run a command and exit with its status."""
    sys.exit(run_command(app))
