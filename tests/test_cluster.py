"""Draws that live on the workers of a Dask cluster: the same answers to the last bit.

One cluster of two worker processes serves all of this file.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping

import numpy as np
import pytest

import partita as pt
from partita.partitions import passes, pieces

distributed = pytest.importorskip("distributed", reason="needs dask: pip install partita[dask]")
da = pytest.importorskip("dask.array")

RNG = np.random.default_rng(5)
TRUTH = RNG.integers(0, 3, 12)
LABELS = np.where(RNG.random((66, 12)) < 0.25, RNG.integers(0, 4, (66, 12)), TRUTH)
LABELS[40:45] = LABELS[3]
CHAIN = np.repeat([0, 1, 2], 22)
WEIGHTS = RNG.random(66) + 0.1


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def as_if_large(monkeypatch):
    """Blocks of four draws, stores of sixteen, groups of several."""
    monkeypatch.setattr(pieces, "_MOST_DRAWS", 4)
    monkeypatch.setattr(pieces, "_GROUPS", 8)


def on_workers(client, **fields):
    """The draws from a dask array whose chunks lie otherwise than the stores."""
    remote = pt.as_draws(da.from_array(LABELS, chunks=(17, 5)), **fields)
    assert passes.is_remote(remote)
    return remote


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
        assert passes.is_remote(remote[part])
        assert remote[part] == local[part]
    assert remote.unique() == local.unique()
    assert remote.select_items([11, 3, 4]) == local.select_items([11, 3, 4])
    assert remote.drop(3).thin(4) == local.drop(3).thin(4)
    assert len(remote.stored.futures) == 5


# ------------------------------------------------------------------ every public function

DATA = np.random.default_rng(1).normal(size=(12, 2))

WALK = {
    "as_draws": lambda d: pt.as_draws(d, item_names=[f"i{i}" for i in range(12)]),
    "similarity": lambda d: [pt.similarity(d), pt.similarity(d, rows=[2, 7])],
    "pairwise_distances": lambda d: [
        pt.pairwise_distances(d, loss="binder"),
        pt.pairwise_distances(LABELS[:3], d),
    ],
    "expected_loss": lambda d: [
        pt.expected_loss(LABELS[:3], d, loss) for loss in ("vi", "vi_lb", "ompear", "omari")
    ],
    "estimate": lambda d: pt.estimate(d, n_starts=2),
    "price_path": lambda d: pt.price_path(d, n_starts=1),
    "clusters_curve": lambda d: pt.clusters_curve(d, k=[2, 3], n_starts=1),
    "credible_ball": lambda d: pt.credible_ball(d, TRUTH),
    "item_uncertainty": lambda d: pt.item_uncertainty(d, TRUTH),
    "cluster_uncertainty": lambda d: pt.cluster_uncertainty(d, TRUTH),
    "credible_core": lambda d: pt.credible_core(d, n_starts=2),
    "align": lambda d: pt.align(d, TRUTH),
    "profiles": lambda d: pt.profiles(d, TRUTH, data=DATA),
    "n_clusters_posterior": pt.n_clusters_posterior,
    "cluster_sizes_posterior": pt.cluster_sizes_posterior,
    "diagnose": lambda d: pt.diagnose(d, estimate=TRUTH),
    "chain_agreement": pt.chain_agreement,
    "representatives": lambda d: pt.representatives(d, n=2),
    "modes": pt.modes,
    "p_value": lambda d: pt.p_value(d, TRUTH, max_draws=20),
    "conformal_set": lambda d: pt.conformal_set(d, method="ball"),
    "summarize": lambda d: pt.summarize(d, data=DATA),
}

ELSEWHERE = {
    "write_draws": "test_files_of_draws_on_workers",
    "canonical": "labels",
    "hasse_diagram": "labels",
}
"""Functions that take draws, and why they are not walked here."""


def test_every_function_that_takes_draws_is_walked():
    takes = {
        name
        for name in pt.__all__
        if inspect.isfunction(function := getattr(pt, name))
        and "DrawsLike" in str(inspect.signature(function))
    }
    assert takes <= {*WALK, *ELSEWHERE}


def assert_same(a, b, where="result"):
    """Every array and number of two results is the same to the last bit; times are passed over."""
    assert type(a) is type(b), where
    if isinstance(a, pt.Draws):
        assert a == b, where
    elif isinstance(a, np.ndarray):
        np.testing.assert_array_equal(a, b, err_msg=where, strict=True)
    elif isinstance(a, Mapping):
        assert a.keys() == b.keys(), where
        for key in a:
            assert_same(a[key], b[key], f"{where}[{key!r}]")
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b), where
        for number, (one, other) in enumerate(zip(a, b, strict=True)):
            assert_same(one, other, f"{where}[{number}]")
    elif dataclasses.is_dataclass(a):
        for field in dataclasses.fields(a):
            if "seconds" not in field.name:
                mine, theirs = getattr(a, field.name), getattr(b, field.name)
                assert_same(mine, theirs, f"{where}.{field.name}")
    elif isinstance(a, np.random.SeedSequence):
        assert a.state == b.state, where
    else:
        assert a == b or a != a, where


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", WALK)
def test_answers_are_equal_to_the_last_bit(name, weighted, client, as_if_large):
    if weighted and name in ("diagnose", "chain_agreement", "summarize"):
        pytest.skip("about chains as they were sampled")
    fields = {"chain": CHAIN, "weights": WEIGHTS if weighted else None}
    run = WALK[name]
    assert_same(run(on_workers(client, **fields)), run(pt.as_draws(LABELS, **fields)))


def test_searches_of_few_and_of_many_labels_agree(client, as_if_large, monkeypatch):
    """Few labels are fetched for a search, many are passed over where they are."""
    remote = on_workers(client)
    few = pt.estimate(remote, method="draws")
    monkeypatch.setattr(passes, "GATHERED_LABELS", 0)
    assert_same(pt.estimate(remote, method="draws"), few)
