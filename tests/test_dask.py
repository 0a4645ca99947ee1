"""Draws that live on the workers of a Dask cluster: the same answers to the last bit.

One cluster of two worker processes serves all of this file.
"""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

import partita as pt
from other_processes import run_python
from partita import dask, scan
from partita.samplers import chains, parallel
from partita.scan import gather_for
from partita.search import settings
from partita.summary import summarize
from same_bits import (
    ASKED,
    CALLS,
    CHAIN,
    LABELS,
    RNG,
    TRUTH,
    WEIGHTS,
    assert_same,
    cluster_of,
    cut_small,
    fields_of,
    happening,
    on_workers,
)

distributed = pytest.importorskip("distributed", reason="needs dask: pip install partita[dask]")
da = pytest.importorskip("dask.array")


def test_the_labels_are_there(client, as_if_large):
    fields = {"chain": CHAIN, "weights": WEIGHTS}
    local, remote = pt.as_draws(LABELS, **fields), on_workers(client, **fields)
    assert remote == local
    assert repr(remote) == repr(local)
    assert remote.labels.dtype == local.labels.dtype
    np.testing.assert_array_equal(np.asarray(remote), local.labels)
    np.testing.assert_array_equal(remote[-3], local[-3])
    np.testing.assert_array_equal(list(remote), list(local))
    for part in (slice(5, 60), slice(None, None, -7), CHAIN == 1, [65, 3, 3, 41]):
        assert scan.is_remote(remote[part])
        assert remote[part] == local[part]
    assert remote.unique() == local.unique()
    assert remote.select_items([11, 3, 4]) == local.select_items([11, 3, 4])
    assert remote.drop(3).thin(4) == local.drop(3).thin(4)
    assert len(remote.stored.futures) == 5


@pytest.fixture(scope="module")
def remotes(client):
    """Draws on the workers, without weights and with: nothing changes them, one pair serves all."""
    with pytest.MonkeyPatch.context() as patch:
        cut_small(patch)
        return [on_workers(client, **fields_of(weighted)) for weighted in (False, True)]


@pytest.mark.parametrize(("name", "weighted"), ASKED)
def test_answers_are_equal_to_the_last_bit(name, weighted, remotes, as_if_large):
    run = CALLS[name]
    assert_same(run(remotes[weighted]), run(pt.as_draws(LABELS, **fields_of(weighted))))


def test_the_number_of_workers_changes_nothing(as_if_large):
    """Three workers, threads of this process, where all other tests have two processes."""
    with cluster_of(3, processes=False, set_as_default=False) as other:
        remote, local = on_workers(other, weights=WEIGHTS), pt.as_draws(LABELS, weights=WEIGHTS)
        for name in ("expected_loss", "item_uncertainty", "similarity", "credible_ball"):
            assert_same(CALLS[name](remote), CALLS[name](local))


def test_searches_of_few_and_of_many_labels_agree(client, as_if_large, monkeypatch):
    """Few labels are fetched for a search, many are passed over where they are."""
    local, remote = pt.as_draws(LABELS), on_workers(client)
    few = pt.estimate(remote)
    monkeypatch.setattr(scan, "GATHERED_LABELS", 0)
    many = pt.estimate(remote)
    assert many.search.settled
    assert_same(many, pt.estimate(local))
    np.testing.assert_array_equal(many.labels, few.labels)


# ------------------------------------------------------------------ where draws come from


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """The same draws in files of every format that workers read, and in one that they do not."""
    directory = tmp_path_factory.mktemp("draws")
    plain = pt.as_draws(LABELS)
    rich = pt.as_draws(LABELS, weights=WEIGHTS, chain=CHAIN, item_names=[*"abcdefghijkl"])
    pt.write_draws(plain, directory / "draws.npy")
    for name in ("draws.parquet", "draws.zarr", "draws.nc", "draws.csv"):
        pt.write_draws(rich, directory / name)
    for number, first in ((2, 20), (10, 44), (1, 0)):
        pt.write_draws(plain[first : first + 22], directory / f"part-{number}.npy")
    return directory


@pytest.mark.parametrize("name", ["npy", "parquet", "zarr", "nc", "csv"])
def test_workers_read_files(name, stored, client, as_if_large):
    remote = pt.read_draws(stored / f"draws.{name}", engine="dask")
    assert scan.is_remote(remote)
    assert remote == pt.read_draws(stored / f"draws.{name}")


def test_a_pattern_names_chains_in_the_order_of_their_numbers(stored, client, as_if_large):
    with pytest.raises(pt.PartitaError, match="no file matches"):
        pt.read_draws(stored / "chain-*.npy")
    here = pt.read_draws(stored / "part-[0-9]*.npy")
    assert here == pt.read_draws([stored / f"part-{number}.npy" for number in (1, 2, 10)])
    there = pt.read_draws(stored / "part-[0-9]*.npy", engine=client)
    assert scan.is_remote(there)
    assert there == here
    assert there.n_chains == 3


def test_files_of_draws_on_workers(client, as_if_large, tmp_path):
    remote = on_workers(client, chain=CHAIN, weights=WEIGHTS)
    for name in ("a.csv", "b.npz", "c.parquet", "d.zarr"):
        pt.write_draws(remote, tmp_path / name)
        assert pt.read_draws(tmp_path / name) == remote
    summary = pt.summarize(remote)
    summary.save(tmp_path / "summary.npz")
    assert pt.Summary.load(tmp_path / "summary.npz").draws == remote
    summary.to_html(tmp_path / "report.html")


def test_noise_is_explained_on_workers_too(client):
    noisy = np.where(RNG.random((30, 12)) < 0.2, -1, LABELS[:30])
    array = da.from_array(noisy, chunks=(7, 12))
    with pytest.raises(pt.errors.InvalidLabelsError, match="noise"):
        pt.as_draws(array)
    rule = (-1, "singletons")
    assert pt.as_draws(array, noise=rule) == pt.as_draws(noisy, noise=rule)


def test_chains_on_workers_make_the_same_draws(client, tmp_path):
    run = {"draws": 20, "burn_in": 10, "chains": 3, "rng": 4}
    data = pt.datasets.galaxies()
    here = pt.sample(data, **run)
    there = pt.sample(data, engine=client, checkpoint=tmp_path / "run.npz", **run)
    assert there.draws == here.draws
    np.testing.assert_array_equal(there.trace["concentration"], here.trace["concentration"])
    more = pt.sample(data, resume=tmp_path / "run.npz", **{**run, "draws": 30})
    assert more.draws == pt.sample(data, **{**run, "draws": 30}).draws


def test_a_driver_that_is_lost_costs_what_came_since_the_checkpoint(client, tmp_path, monkeypatch):
    """Resuming goes on where all chains stood, in this process or on workers."""
    run = {"draws": 28, "burn_in": 2, "chains": 3, "rng": 4}
    data, path, firsts = pt.datasets.galaxies(), tmp_path / "run.npz", []
    wanted = pt.sample(data, **run)
    still = SimpleNamespace(monotonic=float, perf_counter=float)
    monkeypatch.setattr(chains, "time", still)  # writes every round

    def lost():
        raise SystemExit

    # The second chain's step of the third round: the first chain is perhaps further.
    with pytest.raises(SystemExit), happening(client, 9, lost):
        pt.sample(data, engine=client, checkpoint=path, checkpoint_every=0, **run)

    def spied(model, task, advance=chains._advance):
        firsts.append(task.first)
        return advance(model, task)

    monkeypatch.setattr(chains, "_advance", spied)
    found = pt.sample(data, resume=path, checkpoint=tmp_path / "other.npz", **run)
    assert min(firsts) == 5
    assert found.draws == wanted.draws
    np.testing.assert_array_equal(found.trace["concentration"], wanted.trace["concentration"])
    monkeypatch.undo()
    found = pt.sample(data, resume=path, checkpoint=path, engine=client, **run)
    assert found.draws == wanted.draws
    assert sorted(place.name for place in tmp_path.iterdir()) == ["other.npz", "run.npz"]
    assert pt.sample(data, resume=path, **run).draws == wanted.draws


@pytest.mark.parametrize("kind", ["--scheduler", "--workers"])
def test_commands_work_on_a_cluster(kind, client, stored, tmp_path, as_if_large, partita):
    there = (kind, client.scheduler.address if kind == "--scheduler" else 1)
    for name in ("draws.npy", "draws.csv") if kind == "--scheduler" else ("draws.npy",):
        command = ("summarize", stored / name, "--json", "--time-limit", 60, "--bound", "none")
        done = [partita(*command, *where) for where in ((), there)]
        found = [json.loads(one.stdout) for one in done]
        for part in ("labels", "expected_loss", "ball"):
            assert found[0].get(part) == found[1].get(part)
    np.savetxt(tmp_path / "data.csv", pt.datasets.galaxies(), header="x", comments="")
    run = ("--draws", 20, "--burn-in", 10, "--chains", 2, "--bound", "none")
    for out, where in (("a", ()), ("b", there)):
        done = partita("fit", tmp_path / "data.csv", *run, "--out", tmp_path / out, *where)
    a, b = (pt.read_draws(tmp_path / out / "draws.npz") for out in "ab")
    assert a == b


def test_clusters_that_are_none(stored, monkeypatch, partita):
    draws = stored / "draws.npy"
    done = partita("summarize", draws, "--scheduler", "tcp://127.0.0.1:1", "--workers", 2, code=2)
    assert "give one" in done.output
    monkeypatch.setattr("partita.cli.options._SECONDS", 0.2)
    done = partita("summarize", draws, "--scheduler", "tcp://127.0.0.1:1", code=1)
    assert "no Dask scheduler at tcp://127.0.0.1:1" in done.output
    monkeypatch.setitem(sys.modules, "distributed", None)
    missing = 'needs distributed, which is not installed. Run: pip install "partita[dask]"'
    for option, value in (("--scheduler", "tcp://127.0.0.1:1"), ("--workers", 2)):
        done = partita("summarize", draws, option, value, code=1)
        assert f"{option} {missing}" in " ".join(done.output.split())


@pytest.mark.parametrize("loss", ["vi", "id"])
def test_items_are_moved_by_the_workers_as_by_threads(loss, client, as_if_large, monkeypatch):
    """Some items are explored here; all of them are placed and moved as all draws tell."""
    monkeypatch.setattr(scan, "GATHERED_LABELS", 0)
    monkeypatch.setattr(settings, "SOME_ITEMS", 6)
    found = pt.estimate(on_workers(client), loss=loss, method="sweep")
    assert found.search.settled
    assert_same(found, pt.estimate(LABELS, loss=loss, method="sweep"))


# -------------------------------------------------------------------------------- what can go wrong

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
    monkeypatch.setattr(dask, "_WORKER_TIMEOUT", 0.5)
    monkeypatch.setattr(dask, "_POLL_SECONDS", 0.2)
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
from same_bits import LABELS, cluster_of, on_workers
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
        for ask in (pt.price_path, pt.clusters_curve, pt.credible_core):
            said = f"{ask.__name__} looks at all.*fewer"
            with pytest.raises(pt.errors.MemoryLimitError, match=said):
                ask(remote)
    monkeypatch.setattr(scan, "GATHERED_LABELS", 0)
    for rules in ({"n_clusters": 2}, {"min_size": 2}):
        with pytest.raises(pt.errors.MemoryLimitError, match="or fewest_within= looks at"):
            pt.estimate(remote, **rules)


# ---------------------------------------------------------------------------------- rows on workers

DATA = pt.datasets.four_normals(n=240, rng=0).data
KERNEL = pt.NormalInverseGamma.hierarchical(DATA)
HOW = {"kernel": KERNEL, "draws": 4, "burn_in": 2, "chains": 2, "rng": 3, "split_merge": 1}


@pytest.fixture(scope="module")
def fit(client):
    return pt.sample(da.from_array(DATA, chunks=(70, 1)), engine=client, **HOW)


def test_the_draws_are_those_of_equal_chunks_here(fit, client, monkeypatch):
    """Chunks of the same rows in this process give the same draws, to the last bit."""
    assert scan.is_remote(fit.draws)
    assert "4 chunks" in fit.notes[-1]
    how = HOW | {"chains": 1, "initial": np.arange(240) % 3}
    there = pt.sample(da.from_array(DATA, chunks=(80, 2)), engine=client, **how)
    monkeypatch.setattr(parallel, "_CHUNK", 80)
    here = pt.sample(DATA, sampler="parallel", **how)
    assert there.draws == here.draws
    for name, trace in here.trace.items():
        np.testing.assert_allclose(there.trace[name], trace, rtol=1e-12, err_msg=name)


def test_the_same_seed_and_chunks_repeat_the_draws(fit, client):
    again = pt.sample(da.from_array(DATA, chunks=(70, 2)), engine=client, **HOW)
    assert again.draws == fit.draws
    np.testing.assert_array_equal(again.trace["log_posterior"], fit.trace["log_posterior"])


def test_what_draws_tell_is_at_hand_and_what_rows_tell_is_refused(fit):
    found = pt.estimate(fit.draws)
    np.testing.assert_array_equal(found.labels, pt.estimate(fit.draws.labels).labels)
    assert summarize._observations(fit, None, 240) is None
    for ask in (
        lambda: fit.density(DATA[:3]),
        lambda: fit.cluster_parameters(found.labels),
        lambda: fit.extend(draws=2),
    ):
        with pytest.raises(pt.errors.NotSupportedError, match="workers"):
            ask()


def test_a_data_frame_of_several_types(client):
    dd = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(DATA[:90], columns=["x", "y"])
    frame["kind"] = np.where(DATA[:90, 0] > 0, "a", "b")
    collection = dd.from_pandas(frame, npartitions=3)
    fit = pt.sample(collection, engine=client, draws=2, burn_in=1, chains=1, rng=0, initial="one")
    assert fit.columns == ("x", "y", "kind")
    assert fit.draws.n_items == 90
    assert "90 random rows" in " ".join(fit.notes)


@pytest.mark.skipif(os.name == "nt", reason="signals differ")
def test_a_worker_that_is_killed_changes_no_draw(fit, tmp_path):
    with cluster_of(2, set_as_default=False) as own:
        pid = next(iter(own.run(os.getpid).values()))
        how = {"checkpoint": tmp_path / "run", "checkpoint_every": 0}
        with happening(own, 250, lambda: os.kill(pid, signal.SIGKILL)):
            found = pt.sample(da.from_array(DATA, chunks=(70, 2)), engine=own, **how, **HOW)
        assert found.draws == fit.draws
        assert list((tmp_path / "run.chunks").glob("*.npz"))
        # Whatever is lost from now on is read again, and no iteration before it repeated.
        assert tasks_behind(own, found.draws) == {"_stacked", "_saved"}


def tasks_behind(client, draws):
    """Names of the tasks that would run again if every worker lost its labels."""
    tasks = client.cluster.scheduler.tasks
    behind = {tasks[future.key] for future in draws.stored.futures}
    while more := {part for task in behind for part in task.dependencies} - behind:
        behind |= more
    return {str(task.key).rsplit("-", 5)[0] for task in behind}


def test_without_a_checkpoint_labels_rest_on_iterations(fit, client):
    assert "_run" in tasks_behind(client, fit.draws)
