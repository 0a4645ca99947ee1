"""Threads, processes, a cluster, blocks of any size: the same bits; threads do not block."""

import multiprocessing
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import joblib
import numpy as np
import pytest

import partita as pt
from partita import _storage
from partita._resources import run
from partita.scan import Block, concatenate_arrays, map_blocks, sum_arrays
from same_bits import ASKED, CALLS, LABELS, assert_same, fields_of

DRAWS = pt.Draws(LABELS, **fields_of(True))


@pytest.fixture(autouse=True)
def however_little(monkeypatch):
    """Work is handed out, also where one thread would be done sooner."""
    monkeypatch.setattr("partita.similarity_matrix._LITTLE_WORK", 0)


def losses():
    return pt.expected_loss(LABELS[:3], DRAWS)


def search():
    best = pt.estimate(DRAWS, n_starts=2)
    return np.concatenate([[best.expected_loss, best.lower_bound], best.labels])


def similarities():
    return pt.similarity(DRAWS).ravel()


def answers():
    """A pass over blocks, a search with its bound, and sums of blocks."""
    return np.concatenate([losses(), search(), similarities()])


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


@pytest.mark.parametrize(("name", "weighted"), ASKED)
def test_any_number_of_threads_gives_the_same_bits(name, weighted, as_if_large, monkeypatch):
    """Of every question that is asked of draws, in blocks of a few."""
    draws, found = pt.as_draws(LABELS, **fields_of(weighted)), []
    for n in (1, 2, 5):
        monkeypatch.setattr("os.sched_getaffinity", lambda _, n=n: set(range(n)), raising=False)
        found.append(CALLS[name](draws))
    for other in found[1:]:
        assert_same(other, found[0])


@pytest.mark.parametrize("work", [losses, search, similarities])
def test_a_cluster_does_the_work(work):
    distributed = pytest.importorskip("distributed", reason="needs dask: pip install partita[dask]")
    alone = work()
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config("dask"),
    ):
        found = work()
        sent = {key for key, *_ in cluster.scheduler.transition_log}
    np.testing.assert_array_equal(found, alone)
    assert sent


def test_an_error_in_a_process_is_still_ours():
    def refuse(block):
        raise pt.errors.InvalidInputError("no such block")

    with (
        joblib.parallel_config("loky", n_jobs=2),
        pytest.raises(pt.errors.InvalidInputError, match="no such block"),
    ):
        list(map_blocks(refuse, DRAWS, rows=10))


def test_work_inside_work_ends():
    def outer(i):
        return sum(run(lambda j: i * j, range(4), 2))

    assert run(outer, range(6), 2) == [6 * i for i in range(6)]


def test_an_error_leaves_the_threads_usable():
    def refuse(i):
        if i == 3:
            raise RuntimeError("three")
        return i

    with pytest.raises(RuntimeError, match="three"):
        run(refuse, range(8), 2)
    assert run(refuse, range(3), 2) == [0, 1, 2]


def _in_a_child(answers):
    answers.put(run(abs, [-1, -2, -3], 2))


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="needs fork, as on Linux"
)
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own():
    run(abs, [-1, -2, -3], 2)
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=_in_a_child, args=(answers,))
    child.start()
    assert answers.get(timeout=60) == [1, 2, 3]
    child.join()


def test_four_threads_at_once_find_what_one_does():
    rng = np.random.default_rng(0)
    draws = np.where(rng.random((60, 20)) < 0.3, rng.integers(0, 3, (60, 20)), np.arange(20) % 3)
    alone = pt.estimate(draws).labels
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda _: pt.estimate(draws).labels, range(8)))
    assert all(np.array_equal(found, alone) for found in together)


@pytest.mark.parametrize("chunks", [(7, 3), ((20, 1, 39), (20,))], ids=["items", "uneven"])
def test_any_chunks_of_a_dask_array_are_the_same_draws(chunks):
    array = pytest.importorskip("dask.array")
    labels = np.random.default_rng(1).integers(0, 3, (60, 20))
    draws = pt.as_draws(array.from_array(labels, chunks=chunks))
    assert np.array_equal(draws.labels, pt.as_draws(labels).labels)
    unknown = array.from_array(labels)[array.from_array(np.arange(60) > 9)]
    with pytest.raises(pt.errors.InvalidLabelsError, match="compute_chunk_sizes"):
        pt.as_draws(unknown)


def tally(block: Block, *, factor: float) -> tuple[np.ndarray, np.ndarray]:
    return factor * block.counts @ block.rows, block.probabilities.sum(keepdims=True)


@pytest.mark.parametrize("weighted", [False, True])
def test_blocks_cover_the_draws_in_order(weighted):
    draws = pt.Draws(LABELS, **fields_of(weighted))
    seen = list(map_blocks(lambda b: (b.labels, b.n_clusters, b.probabilities), draws, rows=7))
    labels, n_clusters, probabilities = concatenate_arrays(seen)
    assert np.array_equal(labels, draws.labels)
    assert np.array_equal(n_clusters, draws.n_clusters)
    assert np.array_equal(probabilities, draws.probabilities)
    counts, mass = sum_arrays(map_blocks(partial(tally, factor=2.0), draws, rows=7))
    weights = draws.weights if weighted else np.ones(66)
    assert counts == pytest.approx(2.0 * weights @ draws.labels)
    assert mass == pytest.approx(1.0)


@pytest.mark.parametrize("weighted", [False, True])
def test_answers_agree_on_either_side_of_one_block(weighted, monkeypatch):
    draws = pt.Draws(LABELS, **fields_of(weighted))
    estimate = LABELS[0]

    def answers():
        found = pt.item_uncertainty(draws, estimate)
        return [
            pt.similarity(draws),
            pt.pairwise_distances([estimate], draws),
            pt.expected_loss(estimate, draws),
            found.contribution,
            found.probability,
            pt.cluster_sizes_posterior(draws).mean,
            pt.plots.similarity(draws, estimate=estimate, most_cells=3).images[0].get_array(),
            np.array([pt.chain_agreement(draws).average_sd]),
        ]

    whole = answers()
    monkeypatch.setattr(_storage, "_MOST_DRAWS", 3)
    for one, many in zip(whole, answers(), strict=True):
        assert np.asarray(many) == pytest.approx(np.asarray(one), abs=1e-12)
