"""Where the items stand in the picture of the data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita.report import words

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Places:
    """Coordinates of the items, what the axes mean, and a curve to draw behind them.

    Attributes
    ----------
    x, y : ndarray of float, shape (n_items,)
        NaN for items that cannot be placed.
    x_title, y_title : str
    curve : pair of ndarray, or None
        The estimated density of one-dimensional data.
    note : str
        How the coordinates were made, in a sentence or two.
    """

    x: Floats
    y: Floats
    x_title: str
    y_title: str
    curve: tuple[Floats, Floats] | None
    note: str


def places(data: Floats | None, names: tuple[str, ...] | None) -> Places | None:
    """One column at its density, two as they are, more on their principal components."""
    if data is None:
        return None
    values = np.where(np.isfinite(data), data, np.nan)
    n_columns = values.shape[1]
    # Columns numbered 0, 1, … came without names.
    named = names is not None and names != tuple(str(j) for j in range(n_columns))
    titles = names if names is not None and named else [f"column {j}" for j in range(n_columns)]
    if n_columns == 1:
        return _at_density(values[:, 0], titles[0] if named else "value")
    if n_columns == 2:
        note = _left_out(int(np.isnan(values).any(axis=1).sum()))
        return Places(values[:, 0], values[:, 1], titles[0], titles[1], None, note)
    return _on_components(values)


def _left_out(n: int) -> str:
    if n == 0:
        return ""
    return f"{words.count(n, 'item')} with missing values {'is' if n == 1 else 'are'} not drawn."


def _at_density(values: Floats, title: str) -> Places:
    known = values[np.isfinite(values)]
    note = _left_out(values.size - known.size)
    if known.size < 2 or np.ptp(known) == 0.0:
        height = np.where(np.isnan(values), np.nan, 0.0)
        return Places(values, height, title, "", None, note)
    grid, density = _density(known)
    height = np.interp(values, grid, density)
    note = f"Each item stands on a kernel density estimate of the data. {note}".strip()
    return Places(values, height, title, "density", (grid, density), note)


def _density(known: Floats) -> tuple[Floats, Floats]:
    """Gaussian kernel density estimate, Silverman's robust bandwidth, from a fine histogram."""
    spread = float(known.std())
    low, high = np.quantile(known, [0.25, 0.75])
    narrow = (float(high) - float(low)) / 1.349
    width = 0.9 * min(spread, narrow if narrow > 0.0 else spread) * known.size**-0.2
    start, stop = known.min() - 3.0 * width, known.max() + 3.0 * width
    # A bin is a tenth of the bandwidth where that is affordable: exact to the eye.
    n_bins = int(np.clip((stop - start) / (0.1 * width), 200, 4_000))
    counts, edges = np.histogram(known, n_bins, (start, stop))
    grid = np.linspace(start, stop, 400)
    middle = (edges[:-1] + edges[1:]) / 2.0
    kernel = np.exp(-0.5 * ((grid[:, None] - middle) / width) ** 2)
    return grid, kernel @ counts / (known.size * width * np.sqrt(2.0 * np.pi))


def _on_components(values: Floats) -> Places:
    missing = np.isnan(values)
    count = (~missing).sum(axis=0)
    mean = np.where(missing, 0.0, values).sum(axis=0) / np.maximum(count, 1)
    centred = np.where(missing, 0.0, values - mean)
    spread = np.sqrt(np.square(centred).sum(axis=0) / np.maximum(count, 1))
    scaled = centred / np.where(spread > 0.0, spread, 1.0)
    scores, shares = _components(scaled)
    note = f"The first two principal components of {values.shape[1]:,} standardised columns."
    if missing.any():
        note += f" {int(missing.sum()):,} missing values count as the mean of their column."
    titles = [f"component {j + 1} ({100.0 * shares[j]:.0f}% of variance)" for j in range(2)]
    return Places(scores[:, 0], scores[:, 1], titles[0], titles[1], None, note)


def _components(scaled: Floats) -> tuple[Floats, Floats]:
    """Scores on the first two components, and their shares of the variance.

    From the smaller of the two Gram matrices; its leading eigenvectors only.
    """
    from scipy.linalg import eigh

    wide = scaled.shape[1] > scaled.shape[0]
    gram = scaled @ scaled.T if wide else scaled.T @ scaled
    total = float(np.trace(gram))
    n = gram.shape[0]
    values, vectors = eigh(gram, subset_by_index=[max(n - 2, 0), n - 1])
    values, vectors = values[::-1].clip(0.0), vectors[:, ::-1]
    scores = vectors * np.sqrt(values) if wide else scaled @ vectors
    if n < 2:
        scores, values = np.pad(scores, ((0, 0), (0, 1))), np.pad(values, (0, 1))
    # The sign of an eigenvector is arbitrary: fixed, so that the same data give the same picture.
    rows = np.abs(scores).argmax(axis=0)
    scores = scores * np.where(scores[rows, [0, 1]] < 0.0, -1.0, 1.0)
    return scores, values / total if total > 0.0 else values
