"""`conformance explore` on one stack: a campaign, and the ledgers that know or are to know what it finds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from conformance.contract.catalog import cases_root
from conformance.generate.campaign import Campaign
from conformance.results.ledger_text import LedgerText
from conformance.stacks import resolve
from conformance.suite.outcomes.ledgers import KnownFailures
from conformance.suite.target import Target


def explore(
    stack: str,
    device: str,
    results: Path,
    *,
    ledgers: list[str],
    draft: Path | None = None,
    show: Callable[[str], None] = print,
    **options: Any,
) -> int:
    """Search on one stack and say what was found; the number of findings that no ledger knows.

    They are added to the ledger ``draft``, a new one or one that somebody has worked on.
    """
    one = resolve(stack)
    known = KnownFailures(cases_root(), {one.name: one}, ledgers)
    text = None if draft is None else LedgerText.read(draft, one.name, torch.__version__, known.shared)
    listed = known.bugs_of_signatures(Target(one.name, device))
    campaign = Campaign(stack, device, results=results, known=listed, show=show, **options)
    found = campaign.run()
    if draft is not None and text is not None:
        scripts = {signature: each.script or each.program for signature, each in found.items()}
        for line in text.add_signatures(scripts, device) or ["nothing to change"]:
            show(f"{draft}: {line}")
        text.write(draft)
    return len(found)
