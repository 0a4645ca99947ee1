"""Threads are kept, and work inside work does not wait for itself."""

from __future__ import annotations

import multiprocessing
import threading

import pytest

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
