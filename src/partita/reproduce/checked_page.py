"""What came out of the paper's own draws, as a page."""

from __future__ import annotations

from collections.abc import Sequence

from partita.reproduce.pages import Page, PageTable, Section
from partita.reproduce.paper_draws import Check, Searches


def search_table(searches: Sequence[Searches]) -> PageTable:
    """The paper's search and ours; both are shown, and where ours is better it is said."""
    rows = []
    for found in searches:
        theirs, ours = found.expected
        gap = found.ours.gap
        better = theirs - ours > 1e-9
        verdict = f"ours is lower by {theirs - ours:.2g}" if better else "equally good"
        if found.same:
            verdict = "the same partition"
        proof = "–" if gap is None else "proven optimal" if gap == 0 else f"{100 * gap:.1f}%"
        rows.append(
            (
                found.title,
                f"{theirs:.6f} ({found.paper.n_clusters})",
                f"{ours:.6f} ({found.ours.n_clusters})",
                verdict,
                proof,
            )
        )
    header = (
        "example, loss",
        "paper's search: expected loss (k)",
        "partita's default: expected loss (k)",
        "verdict",
        "gap at most",
    )
    return PageTable("The paper's search and ours on the paper's draws", header, tuple(rows))


def checked_page(checks: Sequence[Check], searches: Sequence[Searches]) -> Page:
    """Every number beside the paper's, then the two searches."""
    wrong = sum(not check.same for check in checks)
    rows = tuple((c.what, c.ours, c.printed, "ok" if c.same else "DIFFERS") for c in checks)
    table = PageTable("Every printed number", ("what", "ours", "paper", ""), rows)
    section = Section(
        "Digits",
        (f"{len(checks) - wrong} of {len(checks)} agree with the paper.",),
        (table, search_table(searches)),
    )
    text = "Numbers of Example 1 and the galaxies, recomputed from the paper's own draws."
    return Page("The paper's numbers from its own draws", (text,), (section,))
