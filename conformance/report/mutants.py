"""The kill matrix: which case killed which mutant, what survives, and what has no teeth."""

from __future__ import annotations

from collections.abc import Sequence


def kill_matrix(
    rows: Sequence[tuple[str, str, Sequence[str]]],
    unclean: Sequence[str],
    idle: Sequence[str],
    unbroken: Sequence[str],
) -> str:
    """The matrix as text: rows are a mutant's name, its clause, and the cases that killed it."""
    if unclean:
        return "\n".join(["the unmutated stacks are not as expected; nothing was tried:", *map(_indented, unclean)])
    names = max((len(name) for name, _, _ in rows), default=0)
    ids = max((len(clause) for _, clause, _ in rows), default=0)
    text = [
        f"{name:{names}}  {clause:{ids}}  {f'killed by {killers[0]}' if killers else 'SURVIVES'}"
        for name, clause, killers in rows
    ]
    for title, found in (("cases that kill nothing", idle), ("MUST clauses that no mutant breaks", unbroken)):
        if found:
            text += [f"{title}: {len(found)}", *map(_indented, found)]
    killed = sum(bool(killers) for _, _, killers in rows)
    return "\n".join([*text, f"{killed} of {len(rows)} mutants killed"])


def _indented(line: str) -> str:
    return f"  {line}"
