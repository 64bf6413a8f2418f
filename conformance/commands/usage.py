"""From a mistake in the use of the command line to one line and exit status 2."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import typer

from conformance.suite.options import UsageError
from conformance.suite.pytest_run import INTERRUPTED, USAGE

#: typer's own copy of click, or the installed one, whichever this release of typer raises from.
ClickError: type[Any] = next(one for one in typer.BadParameter.__mro__ if one.__name__ == "ClickException")


def run_command(app: typer.Typer) -> int:
    """Run a command and return its exit status; wrong usage prints one line to stderr."""
    command: Callable[..., Any] = typer.main.get_command(app)
    try:
        status = command(standalone_mode=False)
    except typer.Abort:
        status = INTERRUPTED
    except ClickError as error:
        status = _refuse(f"{error.format_message()}{_exists_instead(error)}")
    except (ValueError, UsageError, OSError) as error:
        status = _refuse(str(error))
    return status if isinstance(status, int) else 0


def _exists_instead(error: Any) -> str:
    """What there is in place of an unknown command or option."""
    context = getattr(error, "ctx", None)
    if context is None:
        return ""
    if hasattr(context.command, "commands"):
        return f" Commands: {', '.join(context.command.commands)}."
    if not hasattr(error, "option_name"):
        return ""
    options = [one for parameter in context.command.params for one in parameter.opts if one.startswith("-")]
    return f" Options: {', '.join(options)}."


def _refuse(message: str) -> int:
    print(f"conformance: {' '.join(message.split())}", file=sys.stderr)
    return USAGE
