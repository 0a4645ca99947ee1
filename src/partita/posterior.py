"""Intermediate results that several questions about the same draws share, each computed once."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from partita.draws import Draws, any_draws, as_draws
from partita.kernels.arrays import Floats, Int32s, Ints
from partita.labels import DrawsLike, Labels
from partita.losses.base import Loss
from partita.scan import gather_if_small, shapes_of
from partita.similarity_matrix import similarity


class Posterior:
    """Draws, and what follows from them, filled in when first asked for.

    An estimate, a ball, diagnostics and a report about the same draws share
    one, so that duplicates are looked for once and distances, similarities and
    shapes computed once. It stands for its draws wherever draws are taken.

    Parameters
    ----------
    draws : Draws
    n_jobs : int, optional
        Threads; every core by default. No result depends on it.

    Examples
    --------
    >>> import partita as pt
    >>> from partita.posterior import Posterior
    >>> posterior = Posterior(pt.Draws([[0, 0, 1], [0, 1, 1], [0, 0, 1]]))
    >>> posterior.distinct.n_draws
    2
    >>> posterior.expected(pt.VI(), pt.canonical([0, 0, 1])).__round__(4)
    0.4444
    """

    def __init__(self, draws: Draws, n_jobs: int | None = None) -> None:
        self.draws = draws
        self.n_jobs = n_jobs
        self._distances: dict[tuple[Loss, bytes], Floats] = {}
        self._shapes: tuple[Floats, Int32s] | None = None

    def __draws__(self) -> Draws:
        return self.draws

    @cached_property
    def near(self) -> Posterior:
        """The posterior with its labels gathered in memory if they are few, for a search.

        Itself, but where labels live on workers of a cluster and are few. Where they are many
        the search has to go by passes; every number is the same either way.
        """
        draws = gather_if_small(self.draws)
        return self if draws is self.draws else Posterior(draws, self.n_jobs)

    @cached_property
    def _merged(self) -> tuple[Ints, Draws]:
        index, mass = self.draws.unique_index()
        return index, self.draws.merged(index, mass)

    @cached_property
    def _first(self) -> Ints:
        """Position of each distinct partition's first draw."""
        # Numbers rise by one at each partition that is new.
        return np.flatnonzero(np.diff(np.maximum.accumulate(self.index), prepend=-1))

    @property
    def index(self) -> Ints:
        """Number of each draw's partition among the distinct ones."""
        return self._merged[0]

    @property
    def distinct(self) -> Draws:
        """Each distinct partition once, with its mass."""
        return self._merged[1]

    @cached_property
    def similarity(self) -> Floats:
        """The similarity matrix. From all draws: unweighted, they are counted, exactly."""
        if self._near_has_similarity:
            return self.near.similarity
        found = similarity(self.draws, n_jobs=self.n_jobs)
        found.flags.writeable = False
        return found

    @property
    def has_similarity(self) -> bool:
        """Whether the similarity matrix has been computed."""
        return "similarity" in self.__dict__ or self._near_has_similarity

    @property
    def _near_has_similarity(self) -> bool:
        near = self.__dict__.get("near", self)
        return near is not self and near.has_similarity

    def distances(self, loss: Loss, labels: Labels) -> Floats:
        """Loss of an estimate against each draw, shape (n_draws,)."""
        # Canonical, as everywhere: sums in another order would differ in their last bits.
        estimate = self.draws.canonical(labels)
        key = loss, self.draws.key(estimate)
        found = self._distances.get(key)
        if found is None:
            # Equal draws are looked for only by who needs them: that takes longer than one pass.
            if "_merged" in self.__dict__:
                found = loss.distances(estimate, self.distinct, self.n_jobs)[self.index]
            else:
                found = loss.distances(estimate, self.draws, self.n_jobs)
            found.flags.writeable = False
            self._distances[key] = found
        return found

    def distinct_distances(self, loss: Loss, labels: Labels) -> Floats:
        """Loss of an estimate against each distinct draw."""
        found: Floats = self.distances(loss, labels)[self._first]
        return found

    def expected(self, loss: Loss, labels: Labels) -> float:
        """Posterior expected loss; that of VI_LB from the similarity matrix, where there is one."""
        if self.has_similarity and loss.needs_similarity:
            return loss.expected_from_similarity(self.draws.canonical(labels), self.similarity)
        if loss.averages_distances:
            return float((self.distances(loss, labels) * self.draws.probabilities).sum())
        return loss.expected(self.draws.canonical(labels), self.draws, self.n_jobs)

    def keep_distances(self, *estimates: Labels) -> None:
        """Forget the distances of all other partitions that a search looked at."""
        kept = {self.draws.key(self.draws.canonical(labels)) for labels in estimates}
        self._distances = {key: d for key, d in self._distances.items() if key[1] in kept}

    def shapes(self, n_ranks: int) -> tuple[Floats, Int32s]:
        """Entropy of each draw, and the sizes of its n_ranks largest clusters."""
        if self._shapes is None or self._shapes[1].shape[1] < n_ranks:
            self._shapes = shapes_of(self.draws, n_ranks, self.n_jobs)
        return self._shapes[0], self._shapes[1][:, :n_ranks]


def as_posterior(draws: DrawsLike | Posterior, n_jobs: int | None = None) -> Posterior:
    """The posterior itself, or a new one from whatever holds draws of partitions."""
    return draws if isinstance(draws, Posterior) else Posterior(as_draws(draws), n_jobs)


def any_posterior(draws: DrawsLike | Posterior, n_jobs: int | None = None) -> Posterior:
    """Return the posterior of draws of any kind, for questions that need only a metric."""
    return draws if isinstance(draws, Posterior) else Posterior(any_draws(draws), n_jobs)
