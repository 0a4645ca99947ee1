"""What a loss is: a small frozen value that can measure two partitions."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from partita._parallel import run
from partita.errors import InvalidInputError, NotSupportedError
from partita.partitions.draws import Draws
from partita.partitions.labels import Labels


@dataclass(frozen=True)
class Loss(ABC):
    """Loss of reporting an estimated partition when another one is the truth.

    A loss supplies its arithmetic: the name of its form for the kernels, and,
    where the expected loss is not the mean of a distance, that expectation.
    """

    name: ClassVar[str]
    """The string that names the loss."""
    title: ClassVar[str]
    """Its name in prose."""
    form: ClassVar[int]
    """Number of its arithmetic in ``kernels.form_codes``."""
    metric: ClassVar[bool] = False
    """Whether it is a metric on partitions, at a = 1 if it has that parameter."""
    unit: ClassVar[str] = ""
    """Unit of its values, such as bits."""
    averages_distances: ClassVar[bool] = True
    """Whether the expected loss is the mean of the distances to the draws."""
    uses_similarity: ClassVar[bool] = False
    """Whether the expected loss depends on the draws only through the similarity matrix."""

    @property
    def split_price(self) -> float:
        """The parameter a of the generalised losses; 1 where there is none."""
        return 1.0

    @property
    def is_metric(self) -> bool:
        """Whether the loss is a metric on partitions, so that balls and matching bounds exist.

        With a other than 1 a loss is not symmetric, and so no metric.
        """
        return self.metric and self.split_price == 1.0

    def terms(self, n_items: int) -> NDArray[np.float64]:
        """The loss's term f(0), …, f(n_items)."""
        from partita.kernels.losses.forms import term_table

        return term_table(self.form, n_items)

    def distances(
        self, estimate: Labels, draws: Draws, n_jobs: int | None = None
    ) -> NDArray[np.float64]:
        """Loss of one estimate against each draw, shape (n_draws,)."""
        from partita.kernels.losses.distances import distances

        terms = self.terms(draws.n_items)

        def against(block: slice) -> NDArray[np.float64]:
            rows = draws.rows(block.start, block.stop)
            counts = draws.n_clusters[block]
            return distances(estimate, rows, counts, terms, self.form, self.split_price)

        return np.concatenate(run(against, thread_blocks(draws), n_jobs))

    def expected(self, estimate: Labels, draws: Draws, n_jobs: int | None = None) -> float:
        """Posterior expected loss of one estimate."""
        return float((self.distances(estimate, draws, n_jobs) * draws.probabilities).sum())

    def expected_from_similarity(self, estimate: Labels, similarity: NDArray[np.float64]) -> float:
        """Posterior expected loss from the similarity matrix alone, where that suffices."""
        del estimate, similarity
        raise NotSupportedError(
            f"the expected {self.title} cannot be computed from a similarity matrix; "
            "it needs the draws. Losses that can: 'binder', 'vi_lb', 'ompear'."
        )

    def __repr__(self) -> str:
        changed = [
            f"{field.name}={getattr(self, field.name)!r}"
            for field in fields(self)
            if getattr(self, field.name) != field.default
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __str__(self) -> str:
        return self.title


def thread_blocks(draws: Draws) -> list[slice]:
    """Blocks of draws that do not depend on the number of threads, so neither do sums."""
    return list(draws.blocks(max(1, min(2_048, (1 << 22) // draws.n_items))))


def clean_price(a: float) -> float:
    """Validate the parameter a of a generalised loss."""
    if not isinstance(a, (int, float, np.integer, np.floating)) or not 0.0 < float(a) < 2.0:
        raise InvalidInputError(
            f"a={a!r}; expected a number strictly between 0 and 2. a = 1 prices splitting and "
            "merging alike, a > 1 makes splitting a true cluster dearer."
        )
    return float(a)


def pairs_within(estimate: Labels, similarity: NDArray[np.float64]) -> NDArray[np.float64]:
    """Σ_j p_ij over the items j in the estimated cluster of i, for every item i."""
    within = np.empty(estimate.size)
    for k in range(int(estimate.max()) + 1):
        members = np.flatnonzero(estimate == k)
        within[members] = similarity[np.ix_(members, members)].sum(axis=1)
    return within
