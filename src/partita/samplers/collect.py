"""A run's records, put together as a Fit."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.partitions.draws import Draws
from partita.samplers.cells import Floats
from partita.samplers.chains import Progress, Settings
from partita.samplers.fit import Fit
from partita.samplers.kernel import Kernel
from partita.samplers.learned_rates import names_of
from partita.samplers.model import Model
from partita.samplers.partition_prior import PartitionPrior


def fit_from_progress(
    reached: Progress,
    kernel: Kernel,
    prior: PartitionPrior,
    values: Floats,
    names: tuple[str, ...],
    item_names: tuple[str, ...] | None,
    model: Model,
    settings: Settings,
    notes: tuple[str, ...],
    seconds: float,
    interrupted: bool,
) -> Fit:
    """The result of a run, finished or not."""
    records = reached.joined()
    scalars = np.stack([record.scalars for record in records])
    trace: dict[str, NDArray[Any]] = {}
    if model.prior.parameter is not None:
        trace[model.prior.parameter] = scalars[:, :, 0].copy()
    extras = scalars[:, :, 4:]
    if model.prior.has_components:
        trace["n_components"] = extras[:, :, 0].astype(np.int64)
        extras = extras[:, :, 1:]
    rates = names_of(names, kernel.learned(len(names)))
    trace |= {name: extras[:, :, r].copy() for r, name in enumerate(rates)}
    trace["n_clusters"] = scalars[:, :, 1].astype(np.int64)
    constant = model.log_base + model.prior.constant
    trace["log_posterior"] = scalars[:, :, 2] + scalars[:, :, 3] + constant
    dtype = np.result_type(*[record.labels.dtype for record in records])
    labels = np.concatenate([record.labels for record in records]).astype(dtype, copy=False)
    chain = np.repeat(np.arange(len(records)), scalars.shape[1])
    counts = trace["n_clusters"].reshape(-1)
    draws = Draws._from_canonical(labels, counts, chain=chain, item_names=item_names)
    return Fit(
        draws,
        MappingProxyType(trace),
        kernel,
        prior,
        values,
        names,
        settings,
        notes,
        seconds,
        interrupted,
        reached.standing(),
    )
