"""Feature allocations: planted ones found again, and what fangs' algorithm reaches.

``python -m benchmarks.features`` prints both; ``planted`` is the data set, by its seed.
"""

from __future__ import annotations

import time
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import partita as pt
from benchmarks.job import Job

Planted = tuple[NDArray[np.bool_], pt.FeatureDraws]


@cache
def planted(n_items: int, n_features: int, n_draws: int, seed: int = 0) -> Planted:
    """Draws around an allocation in which an item is in a feature with probability 0.2.

    A draw lacks each feature with probability 0.15, and 1% of its memberships are flipped.
    """
    rng = np.random.default_rng(seed)
    truth = rng.random((n_items, n_features)) < 0.2
    draws = []
    for _ in range(n_draws):
        kept = truth[:, rng.random(n_features) < 0.85]
        draws.append((kept ^ (rng.random(kept.shape) < 0.01))[:, rng.permutation(kept.shape[1])])
    return truth, pt.FeatureDraws(draws)


def fangs(draws: pt.FeatureDraws, *, n_baselines: int = 16, seconds: float = 20.0) -> Any:
    """The algorithm of fangs after its paper (Dahl, Johnson and Andros 2023), not its code.

    Draws are aligned to each of some baseline draws once, memberships of probability 1/2 or more
    are kept, and bits of the best allocation are flipped one by one, each flip evaluated on all
    draws, while that lowers the expected loss and there is time. Returns the expected loss of the
    aligned allocation and of the last one, and the number of flips tried.
    """
    from partita.features.draws import pack_columns
    from partita.features.estimate import memberships

    loss, rng, started = pt.FARO(), np.random.default_rng(0), time.process_time()
    chosen = rng.choice(draws.n_draws, min(n_baselines, draws.n_draws), replace=False)
    starts = []
    for point in draws.rows_at(chosen):
        z = memberships(point, draws)[0] >= 0.5
        starts.append((loss.expected(pack_columns(z.T), draws, n_jobs=1), z))
    aligned, z = min(starts, key=lambda start: start[0])
    value, n_tried = aligned, 0
    for flat in rng.permutation(z.size):
        if time.process_time() - started > seconds:
            break
        n_tried += 1
        z.flat[flat] ^= True
        other = loss.expected(pack_columns(z.T), draws, n_jobs=1)
        if other < value:
            value = other
        else:
            z.flat[flat] ^= True
    return aligned, value, n_tried


def _flips(n_items: int, n_features: int, n_draws: int) -> Any:
    from partita.features.estimate import Descent

    truth, draws = planted(n_items, n_features, n_draws)
    search, point = Descent(draws, pt.FARO(), lambda: False), draws.canonical(truth)
    return partial(search.flip, np.array(point), 1e9)


def _estimate(*size: int) -> Any:
    _, draws = planted(*size)
    return partial(pt.estimate, draws)


def _shown(found: Any) -> str:
    return f"{found.expected_loss:.6g}, {found.n_features} features, gap {100 * found.gap:.1f}%"


JOBS = [
    Job("all 10,500 flips of features, 1,000 draws", partial(_flips, 500, 20, 1_000)),
    Job("features, N 100, K 6, M 500", partial(_estimate, 100, 6, 500), show=_shown),
    Job("features, N 500, K 20, M 1,000", partial(_estimate, 500, 20, 1_000), show=_shown),
]


def main() -> None:
    """Print what was planted, what is found, and what fangs' algorithm reaches."""
    for size in ((100, 6, 500), (500, 20, 1_000)):
        truth, draws = planted(*size)
        (value,) = pt.expected_loss(truth, draws, loss="faro")
        pt.estimate(draws[:3])
        started = time.process_time()
        best = pt.estimate(draws, n_jobs=1)
        seconds = time.process_time() - started
        aligned, reached, n_tried = fangs(draws)
        agreed = f"{best.search.agreed} of {len(best.search.starts)} starts agree"
        print(f"N {size[0]}, K {size[1]}, M {size[2]}: planted {value:.3f}")
        print(f"  partita {best.expected_loss:.3f} in {seconds:.1f} s, {agreed}")
        print(f"  fangs' algorithm {aligned:.3f} aligned, {reached:.3f} after {n_tried:,} flips")


if __name__ == "__main__":
    main()
