"""Whatever runs the pieces of work, threads, processes or a cluster: the same to the last bit."""

from __future__ import annotations

import joblib
import numpy as np
import pytest

import partita as pt

RNG = np.random.default_rng(5)
TRUTH = RNG.integers(0, 4, 20)
LABELS = np.where(RNG.random((40, 20)) < 0.3, RNG.integers(0, 4, (40, 20)), TRUTH)
DRAWS = pt.Draws(LABELS, weights=RNG.random(40) + 0.1)


@pytest.fixture(autouse=True)
def however_little(monkeypatch):
    """Work is handed out, also where one thread would be done sooner."""
    monkeypatch.setattr("partita.similarity_matrix._LITTLE_WORK", 0)


def answers():
    """A pass over blocks, and a search with its bound."""
    best = pt.estimate(DRAWS, n_starts=2)
    found = [losses(), [best.loss, best.lower_bound], best.labels, pt.similarity(DRAWS).ravel()]
    return np.concatenate(found)


def losses():
    return pt.expected_loss(LABELS[:3], DRAWS)


# A pool of forked processes is made for every pass: one pass shows it.
# Where threads run, Python 3.12 warns of every fork, and so it does of joblib's.
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize(
    ("backend", "work"), [("threading", answers), ("loky", answers), ("multiprocessing", losses)]
)
def test_backends_of_joblib_give_the_same_bits(backend, work):
    alone = work()
    with joblib.parallel_config(backend, n_jobs=2):
        found = work()
    np.testing.assert_array_equal(found, alone)


def test_a_cluster_does_the_work():
    distributed = pytest.importorskip("distributed", reason="needs dask: pip install partita[dask]")
    alone = answers()
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config("dask"),
    ):
        found = answers()
        sent = {key for key, *_ in cluster.scheduler.transition_log}
    np.testing.assert_array_equal(found, alone)
    assert len(sent) > 5


def test_an_error_in_a_process_is_still_ours():
    from partita.scan import map_blocks

    def refuse(block):
        raise pt.errors.InvalidInputError("no such block")

    with (
        joblib.parallel_config("loky", n_jobs=2),
        pytest.raises(pt.errors.InvalidInputError, match="no such block"),
    ):
        list(map_blocks(refuse, DRAWS, rows=10))
