"""Rows that live on the workers of a Dask cluster, on two processes of this machine."""

import os
import signal

import numpy as np
import pytest

import partita as pt
from clusters import cluster_of, happening
from partita import scan
from partita.samplers import parallel
from partita.summary import summarize

distributed = pytest.importorskip("distributed", reason="needs dask: pip install partita[dask]")
da = pytest.importorskip("dask.array")

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
