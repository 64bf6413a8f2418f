"""The kill matrix: which case killed which mutant, which mutants survive, and which cases kill nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def kill_matrix(
    rows: Sequence[tuple[str, str, Sequence[str]]],
    rates: Mapping[str, Mapping[str, int]],
    unclean: Sequence[str],
    idle: Sequence[str],
    unbroken: Sequence[str],
) -> str:
    """The matrix as text: rows are a mutant's name, a clause that it breaks, and the cases that killed it for that one.

    ``rates`` are how many mutants of a kind are ``killed``, and how many there are in ``total``.
    """
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
    text += [f"{rate['killed']} of {rate['total']} {kind} mutants killed" for kind, rate in rates.items()]
    killed, total = (sum(rate[count] for rate in rates.values()) for count in ("killed", "total"))
    return "\n".join([*text, f"{killed} of {total} mutants killed"])


def _indented(line: str) -> str:
    return f"  {line}"
