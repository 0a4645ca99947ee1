"""The columns of the paper's tables, of one partition or one ball."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita.credible.ball_result import CredibleBall
from partita.losses.base import Loss
from partita.losses.binder import Binder
from partita.losses.evaluate import distance
from partita.losses.vi import VI
from partita.losses.vi_lower_bound import VILowerBound
from partita.partitions.draws import Draws
from partita.partitions.labels import Labels, cross_table
from partita.partitions.mcmc import mcse_mean

EXPECTED: dict[str, Loss] = {
    "expected_binder": Binder(),
    "expected_vi_lb": VILowerBound(),
    "expected_vi": VI(),
}
TO_TRUTH: dict[str, Loss] = {"binder_to_truth": Binder(), "vi_to_truth": VI()}


def misclassified(truth: ArrayLike, labels: ArrayLike) -> int:
    r"""Items outside the best matching of estimated to true clusters.

    .. math:: N_I = N - \max_\pi \sum_j n_{\pi(j) j}

    over one-to-one assignments π of clusters, as the bold entries of the
    paper's cross tabulations count what is classified correctly.

    Examples
    --------
    >>> from partita.reproduce.measures import misclassified
    >>> misclassified([0, 0, 0, 1, 1, 1], [0, 0, 1, 2, 2, 2])
    1
    """
    from scipy.optimize import linear_sum_assignment

    table = cross_table(truth, labels)
    rows, columns = linear_sum_assignment(table, maximize=True)
    return int(table.sum() - table[rows, columns].sum())


def measure_estimate(
    labels: Labels, draws: Draws, truth: ArrayLike | None, n_jobs: int | None
) -> dict[str, float]:
    """A row of Table 1, or of the galaxies' Table 4 when there is no truth."""
    row = {"k": float(labels.max() + 1)}
    row |= {name: loss.expected(labels, draws, n_jobs) for name, loss in EXPECTED.items()}
    if truth is not None:
        row["misclassified"] = float(misclassified(truth, labels))
        row |= {name: distance(truth, labels, loss) for name, loss in TO_TRUTH.items()}
    return row


def measure_bounds(ball: CredibleBall) -> dict[str, float]:
    """A row of Table 3; where partitions tie, the first one's number of clusters."""
    return {
        f"{name}_{what}": value
        for name, bound in ball.bounds.items()
        for what, value in (("k", float(bound.n_clusters[0])), ("distance", bound.distance))
    }


def monte_carlo_errors(labels: Labels, draws: Draws, n_jobs: int | None) -> dict[str, float]:
    """Standard errors of the expected losses of a fixed partition, from its chains."""
    chains = max(draws.n_chains, 1)
    found: dict[str, float] = {}
    for name in ("expected_binder", "expected_vi"):
        around = EXPECTED[name].distances(labels, draws, n_jobs).reshape(chains, -1)
        if np.ptp(around) > 0:
            found[name] = mcse_mean(around)
    return found


def same_up_to_order(a: ArrayLike, b: ArrayLike) -> bool:
    """Whether two cross tabulations are the same but for the order of rows and columns.

    Clusters have no order of their own. Tries all orders of rows, so it is for
    tables of few rows.

    Examples
    --------
    >>> from partita.reproduce.measures import same_up_to_order
    >>> same_up_to_order([[2, 0], [1, 1]], [[1, 1], [0, 2]])
    True
    """
    first, second = np.asarray(a, np.int64), np.asarray(b, np.int64)
    if first.shape != second.shape:
        return False
    wanted = sorted(second.T.tolist())
    orders = permutations(range(first.shape[0]))
    return any(sorted(first[list(rows)].T.tolist()) == wanted for rows in orders)


def truth_table(truth: NDArray[Any], labels: Labels) -> NDArray[np.int64]:
    """Cross tabulation with the true clusters in their own order, not that of appearance."""
    table = cross_table(truth, labels)
    _, appearance = np.unique(truth, return_index=True)
    return table[np.argsort(np.argsort(appearance))]
