"""Where chains begin, and that a run goes on as it was begun."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from partita._files import PathLike
from partita._memory import require_memory
from partita._validate import Rng, generator
from partita.errors import InvalidInputError
from partita.kernels.arrays import Floats
from partita.samplers.chains import ChainState, Progress
from partita.samplers.initial import starting_partitions
from partita.samplers.kernel import Kernel
from partita.samplers.partition_prior import PartitionPrior

_CHAIN_BYTES = 4_096
"""Bytes that a chain takes besides its labels, most of them for its random streams."""


def chain_states(
    initial: Any,
    kernel: Kernel,
    prior: PartitionPrior,
    values: Floats,
    chains: int,
    rng: Rng | None,
) -> list[ChainState]:
    """Start and random stream of each chain, made before anything runs in parallel."""
    require_memory(
        chains * (4 * len(values) + _CHAIN_BYTES),
        f"beginning {chains:,} chains",
        "Ask for fewer.",
    )
    entropy = generator(rng, default=None).integers(0, 2**63, size=4)
    children = [seed.spawn(2) for seed in np.random.SeedSequence(entropy.tolist()).spawn(chains)]
    generators = [np.random.default_rng(start) for start, _ in children]
    starts = starting_partitions(initial, kernel.features(values), prior, generators)
    return [
        ChainState(labels, 1.0, stream.generate_state(4, np.uint64).astype(np.uint64))
        for labels, (_, stream) in zip(starts, children, strict=True)
    ]


def beginning(states: Sequence[ChainState]) -> Progress:
    """A run of which nothing is done."""
    hashes = (
        hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()
        for arrays in ([s.labels for s in states], [s.random for s in states])
    )
    labels, random = hashes
    return Progress(0, tuple(states), ((),) * len(states), (labels, random))


def refuse_another_beginning(
    resumed: Progress, given: Progress, path: PathLike, *, initial: bool, rng: bool
) -> None:
    """Refuse ``initial`` or ``rng`` that would be ignored: the run was begun with others."""
    for asked, name, was, would in zip(
        (initial, rng), ("initial", "rng"), resumed.begun, given.begun, strict=True
    ):
        if asked and was and was != would:
            raise InvalidInputError(
                f"the run in {path} was begun with another {name}, which a run keeps to its end. "
                f"Leave {name} out to continue it, or begin a new run without resume=....",
                argument=name,
            )
