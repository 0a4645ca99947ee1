r"""A lower bound of the mean distance to the nearest of n partitions, by eigenvalues.

Draws that one partition ρ serves, a block B, cost at least what any shares
x of their masses w cost by the triangle inequality,

.. math:: \sum_{a \in B} w_a\, d(a, ρ) \ge \sum_{a < b \in B} x_{ab}\, d(a, b),
          \qquad \sum_b x_{ab} \le w_a.

Everyone may share with everyone in his block, :math:`x_{ab} = w_a w_b / w(B)`. The sum over the
blocks is then half the trace of :math:`D Z`, with :math:`D_{ab} = \sqrt{w_a}\, d(a, b)
\sqrt{w_b}` and Z the projection on the n vectors √w of the blocks. Their sum is
√w of all draws, whatever the blocks are; the other directions, at most n − 1,
contribute no less than the n − 1 lowest eigenvalues of D at right angles to √w,
as far as these are negative.

Strata of some hundred draws are bounded one by one, and their bounds add up.
Draws are dealt to the strata so that each is a small image of all of them.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from partita.draws import Draws
from partita.losses.base import Loss
from partita.rivals.among import apart
from partita.rivals.parts import atoms_of, part_of
from partita.scan import Block, map_blocks


def spectral_bound(
    draws: Draws,
    n: int,
    loss: Loss,
    region: NDArray[np.int64],
    to_nearest: NDArray[np.float64],
    size: int,
    n_jobs: int | None,
) -> float:
    """No n partitions have a lower mean distance to the draws, for a metric loss.

    Parameters
    ----------
    draws : Draws
        Best without duplicates.
    region, to_nearest : ndarray, shape (n_draws,)
        Nearest of some partitions, and distance to it: the draws are dealt in
        this order. The bound holds whatever they are.
    size : int
        Draws of a stratum, about. O(size · (N + K²) + size²) for each draw.
    """
    atoms, mass = atoms_of(draws)
    order = np.lexsort((to_nearest[atoms], region[atoms]))
    n_strata = -(-atoms.size // size)
    # The strata are consecutive blocks of equal numbers of draws, but for the last.
    rows = -(-atoms.size // n_strata)
    dealt = order[np.argsort(np.arange(atoms.size) % n_strata, kind="stable")]
    ready = part_of(draws, atoms[dealt], mass[dealt])
    proven = partial(stratum_bound, n=n, loss=loss)
    return sum(map_blocks(proven, ready, rows=rows, n_jobs=n_jobs))


def stratum_bound(block: Block, *, n: int, loss: Loss) -> float:
    """What the draws of one block, with their masses, cost n partitions at least."""
    from partita.kernels.rivals.spectrum import negative_sum

    masses = block.probabilities
    total = float(masses.sum())
    if len(masses) <= n or total <= 0.0:
        return 0.0
    far = apart(block, loss)
    root = np.sqrt(masses)
    matrix = far * root[:, None] * root
    along = (matrix * root).sum(axis=1) / total
    trace = float((along * root).sum())
    matrix -= along[:, None] * root + root[:, None] * along
    matrix += (root[:, None] * root) * (trace / total)
    # A draw shares nothing with itself, so that all shares may grow by its own.
    own = float(masses.min()) / total
    return max(0.0, 0.5 * (trace + negative_sum(matrix, n - 1)) / (1.0 - own))
