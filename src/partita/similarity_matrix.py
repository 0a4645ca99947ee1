"""The posterior similarity matrix."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from partita._progress import Status
from partita._resources import require_memory
from partita._validate import unexpected
from partita.draws import AnyDraws, Draws, any_draws
from partita.errors import about
from partita.kernels.arrays import Array, Floats, Ints, Unsigned
from partita.labels import DrawsLike, by_item
from partita.scan import Block, map_parts

_BLOCK_ROWS = 16
"""Rows of one task: even, for the kernel takes rows in pairs, and small, to balance threads."""

_CHUNK_LABELS = 1 << 23
"""Labels handed to a kernel at a time: what a call needs beyond its result."""

_BATCH_CELLS = 1 << 22
"""Sums computed before they are added to the result."""

_CODES = 1 << 16
"""Different labels that 16 bits tell apart; more take twice as long."""

_LITTLE_WORK = 1 << 23
"""Pairs of items times draws that are counted before other threads would have woken."""


def similarity(
    draws: DrawsLike,
    *,
    rows: slice | ArrayLike | None = None,
    n_jobs: int | None = None,
    dtype: DTypeLike = np.float64,
) -> Floats:
    """Posterior similarity matrix: how probable it is that two items share a cluster.

    p_ij = Σ_m w_m · 1(c_mi = c_mj), with w_m = 1/M for unweighted draws, where
    each entry is then a count divided by M, exactly.

    To look at and to order items by; Binder's loss, the lower bound of VI and
    PEAR need no more than it. The exact expected VI cannot be computed from
    it, and needs no N × N matrix: see ``expected_loss`` and ``estimate``.

    Of feature draws it is E[ZZᵀ], the expected number of features that two items share; the
    diagonal has the expected number of features of each item, which need not be 1.

    Parameters
    ----------
    draws : Draws or anything as_draws accepts, or FeatureDraws
    rows : slice, positions, mask or names of items, optional
        Only these rows, without the rest of the matrix in memory.
    n_jobs : int, optional
        Threads; every core by default. The result does not depend on it.
    dtype : {float64, float32}
        float32 halves the memory.

    Returns
    -------
    ndarray, shape (n_items, n_items) or (n_rows, n_items)
        Symmetric, with exact ones for each item with itself.

    Raises
    ------
    MemoryLimitError
        Before the matrix would exceed the available memory.

    Notes
    -----
    O(M N²/2) comparisons, in vector registers and in threads; weights make it
    three times slower. Beyond the result it needs some 50 MB, or 1 kB per item
    where that is more.

    References
    ----------
    Binder (1978), Bayesian cluster analysis, Biometrika 65.

    Examples
    --------
    >>> import partita as pt
    >>> draws = pt.Draws([[0, 0, 1], [0, 0, 0], [0, 1, 1], [0, 0, 1]])
    >>> pt.similarity(draws)
    array([[1.  , 0.75, 0.25],
           [0.75, 1.  , 0.5 ],
           [0.25, 0.5 , 1.  ]])
    >>> pt.similarity(draws, rows=[2])
    array([[0.25, 0.5 , 1.  ]])
    """
    posterior = any_draws(draws)
    kind = _clean_kind(dtype)
    n_items = posterior.n_items
    wanted = np.arange(n_items) if rows is None else _positions(posterior, rows)
    what, instead = f"the similarity matrix of {n_items:,} items", "rows=slice(0, 1000)"
    if rows is not None:
        what, instead = f"the block of {wanted.size:,} × {n_items:,} similarities", "fewer rows"
    require_memory(
        wanted.size * n_items * kind.itemsize,
        what,
        f"Ask for a part of it with {instead}"
        + (", or halve it with dtype=numpy.float32." if kind.itemsize == 8 else "."),
    )
    out = np.zeros((wanted.size, n_items), kind)
    if not isinstance(posterior, Draws):
        return _shared_features(posterior, wanted, out)
    if n_jobs is None and posterior.n_draws * wanted.size * n_items <= _LITTLE_WORK:
        n_jobs = 1
    with Status("similarity") as status:
        _accumulate(posterior, wanted, out, rows is None, n_jobs, status)
    _finish(out, wanted, symmetric=rows is None)
    return out


def _shared_features(draws: AnyDraws, wanted: Ints, out: Array) -> Array:
    """E[ZZᵀ] in place of zeros: counts first, where draws weigh the same."""
    weights = np.ones(draws.n_draws) if draws.weights is None else draws.weights
    for m, weight in enumerate(weights.astype(out.dtype)):
        dense = draws[m].astype(out.dtype)
        out += weight * (dense[wanted] @ dense.T)
    if draws.weights is None:
        out /= draws.n_draws
    return out


def _clean_kind(dtype: DTypeLike) -> np.dtype[Any]:
    try:
        kind = np.dtype(dtype)
    except Exception:  # in many ways NumPy says that this is no type
        kind = np.dtype(object)
    if kind not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise unexpected(dtype, "dtype", "float64 or float32")
    return kind


def _positions(draws: Draws, rows: slice | ArrayLike) -> Ints:
    if isinstance(rows, slice):
        rows = np.arange(draws.n_items)[rows]
    with about("rows", "items"):
        return draws.item_positions(rows)


def _blocks(n_rows: int) -> list[slice]:
    return [slice(r, min(r + _BLOCK_ROWS, n_rows)) for r in range(0, n_rows, _BLOCK_ROWS)]


def _accumulate(
    draws: Draws, rows: Ints, out: Array, symmetric: bool, n_jobs: int | None, status: Status
) -> None:
    """Add up counts or weights, chunk of draws by chunk; from the first row's item if symmetric."""
    most = int(draws.n_clusters.max())
    prepare = partial(_short_labels, kind=np.uint16 if most <= _CODES else np.uint32)
    work = partial(_together, rows=rows, symmetric=symmetric)
    results = map_parts(
        work,
        draws,
        _blocks(rows.size),
        prepare=prepare,
        # At least 512 draws, so that the inner loop over draws stays long for many items.
        rows=max(512, _CHUNK_LABELS // draws.n_items),
        n_jobs=n_jobs,
        at_once=max(1, _BATCH_CELLS // (_BLOCK_ROWS * draws.n_items)),
        say=status.say,
    )
    for block, part in results:
        out[block, draws.n_items - part.shape[1] :] += part


ShortLabels = tuple[Unsigned, Floats | None]


def _short_labels(block: Block, *, kind: type[np.unsignedinteger[Any]]) -> ShortLabels:
    """Labels in few bits, in the order in which they are read, and the weights if they differ."""
    # Counting runs along the draws of one item, weighing along the items of one draw.
    if block.is_weighted:
        return block.labels.astype(kind), block.probabilities
    return by_item(block.labels, kind), None


def _together(short: ShortLabels, part: slice, *, rows: Ints, symmetric: bool) -> Floats:
    """Counts or weights of some rows, from the first row's item on if symmetric."""
    from partita.kernels.labels import count_together, weigh_together

    labels, weights = short
    first = int(rows[part.start]) if symmetric else 0
    if weights is None:
        return count_together(labels, rows[part], first)
    sums = np.zeros((part.stop - part.start, labels.shape[1] - first))
    weigh_together(labels, weights, rows[part], first, sums)
    return sums


def _finish(out: Array, rows: Ints, *, symmetric: bool) -> None:
    """Turn sums into shares, and mirror them if only the upper triangle was filled."""
    for block in _blocks(rows.size):
        part = out[block, block.start if symmetric else 0 :]
        # An item is with itself in every draw: its own sum is the total, in the same rounding.
        part /= out[np.arange(block.start, block.stop), rows[block]][:, None]
        if symmetric:
            out[block.stop :, block] = out[block, block.stop :].T
