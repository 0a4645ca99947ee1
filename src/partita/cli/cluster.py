"""A Dask cluster for a command: one that is there, or one of this machine's processes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from partita.cli.options import F, all_of, whole_option
from partita.errors import ClusterError

_SECONDS = 10
"""How long to wait for a scheduler."""

_BACK = "300 s"
"""How long a worker that died may take to start again: Dask's 15 s are short on a busy machine."""


def cluster_options(function: F) -> F:
    """``--scheduler ADDRESS`` and ``--workers N``."""
    return all_of(
        function,
        click.option(
            "--scheduler",
            metavar="ADDRESS",
            help="Work on the Dask cluster with this scheduler, as in tcp://host:8786.",
        ),
        whole_option(
            "--workers", help="Work in N processes of this machine, a Dask cluster of its own."
        ),
    )


@contextmanager
def cluster_of(scheduler: str | None, workers: int | None) -> Iterator[Any]:
    """The client of the cluster asked for, or None; closed afterwards."""
    if scheduler is None and workers is None:
        yield None
        return
    if scheduler is not None and workers is not None:
        raise click.UsageError("--workers starts a cluster and --scheduler names one; give one.")
    from partita._optional import require

    asked = "--scheduler" if scheduler is not None else "--workers"
    distributed = require("distributed", extra="dask", purpose=asked)
    require("dask.array", extra="dask", purpose=asked)
    if workers is not None:
        import dask

        with (
            dask.config.set({"distributed.deploy.lost-worker-timeout": _BACK}),
            distributed.LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=":0"
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client
        return
    try:
        client = distributed.Client(scheduler, timeout=_SECONDS)
    except (OSError, ValueError, TypeError) as error:
        raise ClusterError(
            f"there is no Dask scheduler at {scheduler} ({type(error).__name__}: {error}). Start "
            "one with: dask scheduler"
        ) from error
    with client:
        yield client
