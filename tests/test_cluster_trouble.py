"""What can go wrong on a Dask cluster: workers and schedulers that die, Ctrl-C, too many labels.

One cluster of two worker processes serves the tests that leave it as it was.
"""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import partita as pt
from clusters import LABELS, TRUTH, assert_same, cluster_of, happening, on_workers
from other_processes import run_python
from partita import dask, scan
from partita.scan import gather_for

distributed = pytest.importorskip("distributed", reason="needs dask: pip install partita[dask]")
da = pytest.importorskip("dask.array")

SECONDS = 300
"""After which a test that waits for a cluster fails."""


def in_time(client, function):
    """The result of a function, or a failure that says where the work is."""
    pool = ThreadPoolExecutor(1)
    running = pool.submit(function)
    pool.shutdown(wait=False)
    try:
        return running.result(SECONDS)
    except TimeoutError:
        info, stories = client.scheduler_info(), client.get_scheduler_logs()
        client.close()
        pytest.fail(f"it is not done after {SECONDS} s: {info} {stories}")


# ------------------------------------------------------------------ workers


@pytest.mark.skipif(os.name == "nt", reason="signals differ")
def test_a_worker_that_is_killed_changes_nothing(as_if_large):
    """Its labels are made again from the source, and its work is done again."""
    local = pt.as_draws(LABELS)
    with cluster_of(2, set_as_default=False) as own:
        remote = on_workers(own)
        for loss in ("vi_lb", "vi"):  # sums, and results by block
            address, pid = next(iter(own.run(os.getpid).items()))
            with happening(own, 5, lambda pid=pid: os.kill(pid, signal.SIGKILL)):
                found = in_time(own, lambda loss=loss: pt.expected_loss(LABELS[:3], remote, loss))
            assert_same(found, pt.expected_loss(LABELS[:3], local, loss))
            own.wait_for_workers(2, timeout=SECONDS)
            assert address not in own.nthreads()
        assert remote == local


def test_work_does_not_wait_forever_for_workers(as_if_large, monkeypatch, caplog):
    monkeypatch.setattr(dask, "_PATIENCE", 0.5)
    monkeypatch.setattr(dask, "_LOOK", 0.2)
    with cluster_of(1, processes=False, set_as_default=False) as own:
        remote = on_workers(own)
        for loss in ("vi", "vi_lb"):  # results by block, and sums

            def leave():
                own.cluster.scale(0)
                while own.nthreads():
                    time.sleep(0.01)

            with happening(own, 5, leave), pytest.raises(pt.errors.ClusterError, match="none was"):
                in_time(own, lambda loss=loss: pt.expected_loss(TRUTH, remote, loss))
            own.cluster.scale(1)
            own.wait_for_workers(1, timeout=SECONDS)
            assert pt.expected_loss(TRUTH, remote, loss) == pt.expected_loss(TRUTH, LABELS, loss)
    assert "Waiting 0.5 s" in caplog.text


def test_workers_without_this_partita_are_refused(client):
    """A worker that cannot unpickle a task leaves its cluster, and the work would wait."""
    there = "import sys, partita._imports as there; "
    for change, said in (
        ("sys.modules['partita._imports'] = None", "2 of 2 Dask workers cannot import partita"),
        ("there.__version__ = '0.0.1'", r"have partita 0\.0\.1, and here it is"),
    ):
        client.run(exec, f"{there} there.kept = there.__version__; sys.kept = there; {change}")
        with (
            distributed.Client(client.scheduler.address, set_as_default=False) as other,
            other.as_current(),
            pytest.raises(pt.errors.ClusterError, match=said),
        ):
            pt.as_draws(da.from_array(LABELS, chunks=17))
        client.run(exec, "import sys; sys.modules['partita._imports'] = sys.kept")
        client.run(exec, f"{there} there.__version__ = there.kept")
    assert len(client.nthreads()) == 2


def test_an_error_in_a_task_is_still_ours(client, as_if_large):
    def refuse(block):
        raise pt.errors.InvalidInputError("no such block")

    for work in (scan.map_blocks, scan.sum_blocks):
        with pytest.raises(pt.errors.InvalidInputError, match="no such block"):
            list(work(refuse, on_workers(client)))


# ------------------------------------------------------------------ the scheduler


@pytest.fixture
def scheduler(tmp_path):
    """A scheduler and a worker, each a process of its own, as users start them."""
    file = tmp_path / "scheduler.json"
    dask = [sys.executable, "-m", "dask"]
    commands = [
        [*dask, "scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", file],
        [*dask, "worker", "--scheduler-file", file, "--nthreads", "1", "--no-nanny"],
    ]
    with (tmp_path / "log").open("w") as log:
        started = [subprocess.Popen(c, stdout=log, stderr=log) for c in commands]
    yield file, started[0]
    for process in started:
        process.kill()
        process.wait()


def test_a_scheduler_that_goes_away_is_said(scheduler, as_if_large):
    file, process = scheduler
    with distributed.Client(scheduler_file=file, set_as_default=False, timeout=60) as other:
        other.wait_for_workers(1, timeout=SECONDS)
        other._timeout = 0.5  # how long it tries to come back
        with other.as_current():
            remote = on_workers(other)
        with (
            happening(other, 5, process.kill),
            pytest.raises(pt.errors.ClusterError, match="read them once more"),
        ):
            in_time(other, lambda: pt.expected_loss(TRUTH, remote))
        with pytest.raises(pt.errors.ClusterError, match="read them once more"):
            pt.expected_loss(TRUTH, remote)


# ------------------------------------------------------------------ callers


def test_what_is_not_wanted_any_more_is_cancelled(client, as_if_large):
    """Ctrl-C, or a caller that stops: nothing is left to do on the workers."""
    remote = on_workers(client)

    def slow(block):
        import time

        time.sleep(0.05)
        return (block.n_clusters,)

    results = scan.map_blocks(slow, remote)
    next(results)
    results.close()
    stop = iter([None, None])

    def interrupted(_):
        if next(stop, "now") == "now":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scan.sum_blocks(slow, remote, say=interrupted)
    for _ in range(100):
        if not any(client.processing().values()):
            break
        time.sleep(0.1)
    assert not any(client.processing().values())


CTRL_C = """
import os, signal, time
from clusters import LABELS, cluster_of, on_workers
import partita as pt
from partita import _storage as pieces
from partita import dask as remote
from partita import scan
from partita.search import blockwise

if __name__ == "__main__":
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    pieces._MOST_DRAWS, scan.GATHERED_LABELS = 4, 0
    with cluster_of(2) as client:
        draws, settle, descend, waits = on_workers(client), remote.wait_for, blockwise.descend, None

        def descending(*arguments):
            global waits
            waits = iter(range(2))
            return descend(*arguments)

        def pressed(client, future):
            if waits is not None and next(waits, None) == 1:
                os.killpg(0, signal.SIGINT)  # as a terminal does: the workers are told, too
            return settle(client, future)

        remote.wait_for, blockwise.descend = pressed, descending
        found = pt.estimate(draws, method="sweep", n_starts=2)
        print(found.search.interrupted, found.search.settled)
        print(found.expected_loss == pt.expected_loss(found.labels, LABELS)[0])
        until = time.monotonic() + 20
        while any(client.processing().values()) and time.monotonic() < until:
            time.sleep(0.05)
        print(any(client.processing().values()), len(client.nthreads()))
"""


@pytest.mark.skipif(os.name == "nt", reason="signals differ")
def test_ctrl_c_cancels_and_returns_the_best_so_far(tmp_path):
    # In a process of its own, from a file: workers import what started them.
    script = tmp_path / "script.py"
    script.write_text(CTRL_C)
    done = run_python(script, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert done.stdout.split() == ["True", "False", "True", "False", "2"], done.stderr


def test_labels_too_many_for_memory_stay_where_they_are(client, as_if_large, monkeypatch):
    remote = on_workers(client)
    monkeypatch.setattr("partita._resources.LITTLE", 0)
    monkeypatch.setattr("partita._resources.available_memory", lambda: 100)
    with pytest.raises(pt.errors.MemoryLimitError, match="can stay there"):
        np.asarray(remote)
    monkeypatch.setattr("partita._resources.available_memory", lambda: 10_000)
    assert pt.expected_loss(TRUTH, remote) == pt.expected_loss(TRUTH, LABELS)


def test_questions_about_all_labels_fetch_them_with_a_word(client, as_if_large, monkeypatch):
    """However many there are; what does not fit is refused before anything is searched."""
    remote, said = on_workers(client), []
    assert gather_for(remote, "it", said.append) == pt.as_draws(LABELS)
    assert said[-1] == "66 of 66 draws fetched from the cluster"
    monkeypatch.setattr("partita._resources.LITTLE", 0)
    monkeypatch.setattr("partita._resources.available_memory", lambda: LABELS.size // 2)
    for size in (0, 1 << 26):
        monkeypatch.setattr(scan, "GATHERED_LABELS", size)
        for name, ask in {
            "price_path": pt.price_path,
            "clusters_curve": pt.clusters_curve,
            "credible_core": pt.credible_core,
        }.items():
            with pytest.raises(pt.errors.MemoryLimitError, match=f"{name} looks at all.*fewer"):
                ask(remote)
    monkeypatch.setattr(scan, "GATHERED_LABELS", 0)
    for rules in ({"n_clusters": 2}, {"min_size": 2}):
        with pytest.raises(pt.errors.MemoryLimitError, match="or fewest_within= looks at"):
            pt.estimate(remote, **rules)
