"""Random partitions."""

from __future__ import annotations

import numpy as np

from partita._memory import require_memory
from partita._validate import Rng, positive, whole
from partita._validate import generator as generator_from
from partita.partitions.labels import Labels, as_labels


def random_partition(
    n: int,
    *,
    concentration: float = 1.0,
    rng: Rng | None = None,
) -> Labels:
    """Draw a partition of n items from the Chinese restaurant process.

    P(c) = α^k Γ(α)/Γ(α+n) · Π_j (n_j − 1)!, the partition law of a Dirichlet
    process with concentration α. The expected number of clusters is
    Σ_i α/(α+i), i = 0 … n−1.

    Parameters
    ----------
    n : int
        Number of items, at least 1.
    concentration : float
        α > 0; larger values give more clusters.
    rng : int, SeedSequence or Generator, optional
        Another partition each time by default.

    Returns
    -------
    ndarray of int32, shape (n,)
        Canonical labels.

    Notes
    -----
    Cost O(n log n). For the prior of a model with data, see ``sample``.

    References
    ----------
    Pitman (2006), Combinatorial Stochastic Processes, chapter 3.

    Examples
    --------
    >>> import partita as pt
    >>> pt.random_partition(8, concentration=1.0, rng=1).shape
    (8,)
    """
    n, concentration = whole(n, "n", least=1), positive(concentration, "concentration")
    require_memory(40 * n, f"a random partition of {n:,} items", "Ask for fewer items.")
    generator = generator_from(rng, default=None)
    item = np.arange(n)
    opens = generator.random(n) < concentration / (concentration + item)
    opens[0] = True
    # An item that opens no cluster joins that of an earlier item chosen uniformly, which picks a
    # cluster with probability proportional to its size. Following the links leads to the opener.
    leader = np.where(opens, item, generator.integers(0, np.maximum(item, 1)))
    while not opens[leader].all():
        leader = leader[leader]
    return as_labels(leader)
