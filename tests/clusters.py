"""Draws on the workers of a Dask cluster, and results that are the same to the last bit."""

from __future__ import annotations

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
            n_workers=n_workers,
            threads_per_worker=1,
            processes=processes,
            dashboard_address=":0",
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
