"""Questions to ask of the same draws on threads and workers, and equality to the last bit."""

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

import partita as pt
from partita import _storage, scan

RNG = np.random.default_rng(5)
TRUTH = RNG.integers(0, 3, 12)
LABELS = np.where(RNG.random((66, 12)) < 0.25, RNG.integers(0, 4, (66, 12)), TRUTH)
LABELS[40:45] = LABELS[3]
CHAIN = np.repeat([0, 1, 2], 22)
WEIGHTS = RNG.random(66) + 0.1
DATA = np.random.default_rng(1).normal(size=(12, 2))

CALLS = {
    "as_draws": lambda d: pt.as_draws(d, item_names=[f"i{i}" for i in range(12)]),
    "similarity": lambda d: [pt.similarity(d), pt.similarity(d, rows=[2, 7])],
    "pairwise_distances": lambda d: [
        pt.pairwise_distances(d, loss="binder"),
        pt.pairwise_distances(LABELS[:3], d),
    ],
    "expected_loss": lambda d: [
        pt.expected_loss(LABELS[:3], d, loss)
        for loss in ("vi", "vi_lb", "one_minus_pear", "one_minus_ari")
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
    "chain_estimates": pt.chain_estimates,
    "representatives": lambda d: pt.representatives(d, n=2),
    "modes": pt.modes,
    "p_value": lambda d: pt.p_value(d, TRUTH, max_draws=20),
    "conformal_set": lambda d: pt.conformal_set(d, method="ball"),
    "summarize": lambda d: pt.summarize(d, data=DATA),
}

SUMS = ("similarity", "pairwise_distances", "expected_loss", "credible_ball", "item_uncertainty")
"""Where weights change the order of rounding."""
ASKED = [*((name, False) for name in CALLS), *((name, True) for name in SUMS)]
"""Questions, and whether draws are weighted."""


def fields_of(weighted):
    return {"chain": CHAIN, "weights": WEIGHTS if weighted else None}


@contextmanager
def cluster_of(n_workers: int, *, processes: bool = True, **fields: Any) -> Iterator[Any]:
    """The client of a cluster on this machine.

    A worker that died is waited for: by default Dask gives it up after 15 seconds, in which a
    busy machine starts no process.
    """
    import dask
    import distributed

    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "600 s"}),
        distributed.LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=processes, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, **fields) as client,
        client.as_current(),
    ):
        yield client


def cut_small(monkeypatch: Any) -> None:
    """Blocks of four draws, stores of sixteen, groups of several."""
    monkeypatch.setattr(_storage, "_MOST_DRAWS", 4)
    monkeypatch.setattr(_storage, "_GROUPS", 8)


def on_workers(client: Any, **fields: Any) -> pt.Draws:
    """The draws from a dask array whose chunks lie otherwise than the stores."""
    from dask import array

    remote = pt.as_draws(array.from_array(LABELS, chunks=(17, 5)), **fields)
    assert scan.is_remote(remote)
    assert remote.stored.client is client
    return remote


@contextmanager
def happening(client: Any, number: int, what: Callable[[], None]) -> Iterator[None]:
    """``what()`` at a client's submission of that number, in the middle of whatever is run."""
    submit, count = client.submit, iter(range(number))

    def counting(*args: Any, **kwargs: Any) -> Any:
        if next(count, None) == number - 1:
            what()
        return submit(*args, **kwargs)

    client.submit = counting
    try:
        yield
        assert next(count, None) is None, "it was over before anything happened"
    finally:
        client.submit = submit


def assert_same(a: Any, b: Any, where: str = "result") -> None:
    """Every public array and number of two results is the same to the last bit, but for times."""
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
            if "seconds" not in field.name and not field.name.startswith("_"):
                mine, theirs = getattr(a, field.name), getattr(b, field.name)
                assert_same(mine, theirs, f"{where}.{field.name}")
    elif isinstance(a, np.random.SeedSequence):
        assert a.state == b.state, where
    else:
        assert a == b or a != a, where
