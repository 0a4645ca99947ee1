"""The posterior similarity matrix, pair by pair and draw by draw."""

from __future__ import annotations

from fractions import Fraction


def together(labels, weights=None) -> list[list[Fraction]]:
    """Exact share of the draws, or of their weight, in which each pair is together."""
    masses = [Fraction(1)] * len(labels) if weights is None else [Fraction(w) for w in weights]
    total = sum(masses)
    n = len(labels[0])
    return [
        [
            sum((m for row, m in zip(labels, masses, strict=True) if row[i] == row[j]), Fraction(0))
            / total
            for j in range(n)
        ]
        for i in range(n)
    ]
