"""On the paper's own draws: the values the best tool reaches, and how tight the proofs are.

What they show on real draws, the other tests of this folder show against enumeration.
"""

import numpy as np
import pytest

import partita as pt
from stored import PAPER_DRAWS, needs_paper_draws

pytestmark = needs_paper_draws

VALUES = {
    "example1": {
        "vi": (0.7704115334, 4),
        "binder": (0.0622664801, 9),
        "one_minus_ari": (0.1770316969, 7),
        "nvi": (0.3033727024, 7),
        "id": (0.4765830194, 8),
        "nid": (0.2077166603, 8),
        "vi_lb": (0.4262973827, 4),
    },
    "galaxy": {
        "vi": (0.9393739088, 3),
        "binder": (0.2182427128, 7),
        "one_minus_ari": (0.4372925525, 7),
        "nvi": (0.5738803586, 7),
        "id": (0.7166285101, 7),
        "nid": (0.4838142130, 7),
        "vi_lb": (0.5728720236, 3),
    },
}
CASES = [(file, loss) for file, losses in VALUES.items() for loss in losses]


@pytest.fixture(scope="module")
def posteriors():
    found = {}
    for name in VALUES:
        with np.load(PAPER_DRAWS / f"{name}.npz") as stored:
            found[name] = pt.Draws(stored["labels"])
    return found


@pytest.mark.parametrize(("file", "loss"), CASES)
def test_the_default_call_reaches_the_best_known_value(posteriors, file, loss):
    value, clusters = VALUES[file][loss]
    found = pt.estimate(posteriors[file], loss=loss, rng=1, bound=None)
    assert found.expected_loss <= value
    assert found.n_clusters == clusters


@pytest.mark.parametrize(
    ("file", "bound", "gap"),
    [
        ("galaxy", "fast", 0.06),
        ("example1", "fast", 0.16),
        ("galaxy", "tight", 0.0),
        ("example1", "tight", 0.03),
    ],
)
def test_the_proof_is_as_tight_as_promised(posteriors, file, bound, gap):
    found = pt.estimate(posteriors[file], bound=bound)
    assert found.gap is not None
    assert found.gap <= gap


@pytest.mark.parametrize("file", VALUES)
def test_binder_is_proven_optimal(posteriors, file):
    assert pt.estimate(posteriors[file], loss="binder").is_proven_optimal


def test_the_galaxies_path_is_at_least_as_low_as_the_best_known(posteriors):
    """Corners and prices as separate cold searches found them, to four digits, or lower."""
    draws = posteriors["galaxy"]
    path = pt.price_path(draws, bound=None)
    assert len(path.breakpoints) >= 26
    assert np.isin(np.arange(1, 9), path.n_clusters).all()
    for k, low, high in ((3, 0.8086, 1.4810), (2, 1.4810, 1.6955), (1, 1.6955, 2.0)):
        stable = path.stability(path.for_clusters(k))
        assert (stable.low, stable.high) == pytest.approx((low, high), abs=5e-5)
    edge = path.breakpoints[path.n_clusters[:-1] == 7]  # where seven clusters end
    assert edge == pytest.approx([0.7681], abs=5e-5)
    highest = path.expected(path.breakpoints).max()
    assert highest <= 1.2089356 + 5e-8
    assert path.breakpoints[path.expected(path.breakpoints).argmax()] == pytest.approx(
        0.3393627, abs=5e-8
    )
