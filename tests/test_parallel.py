"""Threads are kept, and work inside work does not wait for itself."""

from __future__ import annotations

import multiprocessing
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import partita as pt
from partita._resources import run


def test_threads_are_used_again():
    run(abs, range(20), 2)
    before = threading.active_count()
    for _ in range(10):
        run(abs, range(20), 2)
    assert threading.active_count() <= before + 1  # the second thread starts when it is needed


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
