"""The interface of losses: a loss is a small frozen value that measures two partitions."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np

from partita.draws import Draws
from partita.errors import NotSupportedError
from partita.kernels.arrays import Floats, Int32s, Ints
from partita.labels import Labels
from partita.scan import Block, concatenate_arrays, map_blocks

Rows = Int32s
Counts = Ints

SOME_BITS = 1.0
"""N times an entropy is 0 or at least 2 bits; less is the rounding of running sums."""

Term = Literal["entropy", "pairs"]

_MEASURES = {"form", "term", "terms", "distances", "expected", "expected_from_similarity"}
"""Attributes that define how a loss measures."""

_CLAIMS = frozenset(
    {
        "metric",
        "symmetric",
        "averages_sums",
        "from_similarity",
        "is_exact",
        "ball_metric",
        "conditional_entropies",
        "minorant",
        "pair_scale",
        "has_price",
    }
)
"""Properties that follow from how a loss measures."""


@dataclass(frozen=True, eq=False)
class Loss(ABC):
    """Loss of reporting an estimated partition when another one is the truth.

    A loss supplies its arithmetic, and what a search may know about it. A
    function of the three sums Σ f(n_te), Σ f(n_e) and Σ f(n_t) gives its
    ``form`` and its ``terms`` f; everything else follows, compiled. Any other
    loss overrides ``distances``, and is searched by evaluation.

    A subclass that overrides how a loss is computed loses the inherited claims
    (metric, symmetric, …) unless it states them again. What a user's class claims is
    checked on all partitions of six items when it is first used.

    Notes
    -----
    O(N + K_t K_e) per pair of partitions, for a loss with a form.

    References
    ----------
    Wade, S. and Ghahramani, Z. (2018), Bayesian cluster analysis, Section 3.

    Examples
    --------
    >>> import partita as pt
    >>> issubclass(pt.VI, pt.Loss), pt.VI().is_metric, pt.VI().with_price(0.5)
    (True, True, VI(a=0.5))
    """

    name: ClassVar[str]
    """The string that names the loss."""
    title: ClassVar[str]
    """Its name in prose."""
    unit: ClassVar[str] = ""
    """Unit of its values, such as bits."""
    parameter: ClassVar[str | None] = None
    """The argument that a string may give in brackets, as a in "vi(0.7)"."""
    term: ClassVar[Term | None] = None
    """The term f of its sums, where it is x·log2(x), "entropy", or x², "pairs"."""
    metric: ClassVar[bool] = False
    """Whether it is a metric on partitions, at a = 1 if it has that price."""
    symmetric: ClassVar[bool] = False
    """Whether estimate and truth may be exchanged; a metric is symmetric anyway."""
    averages_distances: ClassVar[bool] = True
    """Whether the expected loss is the mean of the distances to the draws."""
    averages_sums: ClassVar[bool] = False
    """Whether the expected loss is the form at the means of the three sums over the draws:
    losses that are linear in the sums."""
    from_similarity: ClassVar[Literal["sums", "logarithms"] | None] = None
    """How the expected loss follows from the similarity matrix alone, if it does: its joint sum
    adds up each item's sum of similarities within its cluster, or the logarithm of that sum.
    A loss that is linear in pairs (``pair_scale``) need not say so."""
    conditional_entropies: ClassVar[bool] = False
    """Whether it is a·H(e given t) + (2 − a)·H(t given e), which prices of items bound."""
    of_features: ClassVar[bool] = False
    """Whether it measures feature allocations, too."""
    is_exact: ClassVar[bool] = False
    """Whether its values are computed without rounding, up to one division."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        mine = cls.__dict__
        changed = _MEASURES & mine.keys()
        parents = [c for c in cls.__mro__[1:] if issubclass(c, Loss) and "name" in c.__dict__]
        if not parents or not changed:
            return
        for claim in _CLAIMS - mine.keys():
            setattr(cls, claim, Loss.__dict__[claim])
        if "form" not in mine and not changed <= {"term", "terms"}:
            cls.form = Loss.form  # type: ignore[method-assign]
        if "expected" in mine and "averages_distances" not in mine:
            cls.averages_distances = False

    # ------------------------------------------------------------------ arithmetic

    def form(self, n_items: int) -> Any:
        """A NamedTuple of constants whose ``combine(joint, estimate, truth)`` is the loss.

        ``combine`` is plain Python that Numba can compile. None for a loss that
        is not a function of the three sums, which is then measured by ``distances``.
        """
        del n_items
        return None

    def terms(self, n_items: int) -> Floats:
        """The loss's term f(0), …, f(n_items), with f(0) = 0."""
        if self.term is None:
            raise NotSupportedError(f"{self!r} has no terms: it is measured by evaluation.")
        from partita.kernels.contingency import entropy_terms, pair_terms

        return entropy_terms(n_items) if self.term == "entropy" else pair_terms(n_items)

    def against(self, n_items: int) -> Callable[[Labels, Rows, Counts], Floats]:
        """A function of an estimate, rows of canonical labels and their numbers of clusters."""
        if self.form(n_items) is None:
            return self._one_by_one
        return self._against_by_sums(n_items)

    def _one_by_one(self, estimate: Labels, rows: Rows, counts: Counts) -> Floats:
        del counts
        return self.distances(estimate, Draws(rows), n_jobs=1)

    def _against_by_sums(self, n_items: int) -> Callable[[Labels, Rows, Counts], Floats]:
        """Measure by the three sums, for a subclass that overrides its parent's measure.

        So ``super().distances`` means what it says.
        """
        from partita.kernels.contingency import distances

        above = (cls.__dict__.get("form", Loss.form) for cls in type(self).__mro__)
        makes = next((form for form in above if form is not Loss.form), None)
        if makes is None:
            raise NotSupportedError(
                f"{type(self).__name__} does not say how it measures; expected a class with a "
                "form and terms, or with distances.",
                argument="loss",
            )
        form, terms = makes(self, n_items), self.terms(n_items)
        return partial(distances, terms=terms, form=form)

    def distances(self, estimate: Labels, draws: Draws, n_jobs: int | None = None) -> Floats:
        """Loss of one estimate against each draw, shape (n_draws,)."""
        measured = partial(_measured, loss=self, estimate=estimate)
        (found,) = concatenate_arrays(map_blocks(measured, draws, n_jobs=n_jobs))
        return found

    def expected(self, estimate: Labels, draws: Draws, n_jobs: int | None = None) -> float:
        """Posterior expected loss of one estimate."""
        return float((self.distances(estimate, draws, n_jobs) * draws.probabilities).sum())

    def expected_from_similarity(self, estimate: Labels, similarity: Floats) -> float:
        """Posterior expected loss from the similarity matrix alone, where that suffices."""
        del estimate, similarity
        from partita.losses.evaluate import loss_names

        raise NotSupportedError(
            f"the expected {self.title} cannot be computed from a similarity matrix; it needs the "
            f"draws. Losses that can: {loss_names(lambda known: known.uses_similarity)}.",
            argument="loss",
        )

    # ------------------------------------------------------------------ what a search may know

    @property
    def uses_similarity(self) -> bool:
        """Whether the expected loss depends on the draws only through the similarity matrix."""
        return self.from_similarity is not None or self.pair_scale(1) is not None

    @property
    def needs_similarity(self) -> bool:
        """Whether a search needs the similarity matrix."""
        return self.from_similarity == "logarithms"

    @property
    def is_linear(self) -> bool:
        """Whether the expected loss is linear in the draws' sums, so that parts of it add up."""
        return self.averages_sums and self.averages_distances

    @property
    def is_metric(self) -> bool:
        """Whether the loss is a metric on partitions, so that balls and matching bounds exist."""
        return self.metric and self.price == 1.0

    @property
    def is_symmetric(self) -> bool:
        """Whether estimate and truth may be exchanged."""
        return (self.metric or self.symmetric) and self.price == 1.0

    @property
    def near_losses(self) -> tuple[Loss, ...]:
        """Losses whose minimisers are starts for this one, before VI and Binder's loss."""
        return ()

    @property
    def has_price(self) -> bool:
        """Whether the loss is a·A + (2 − a)·B, with A the price of splitting and B of merging."""
        return False

    @property
    def price(self) -> float:
        """The price a; 1 where there is none."""
        return 1.0

    def with_price(self, a: float) -> Self:
        """The same loss at another price of splitting."""
        del a
        raise NotSupportedError(
            f"{self!r} has no price a; take a loss that has, such as 'vi' or 'binder'."
        )

    def pair_scale(self, n_items: int) -> float | None:
        """The divisor of [aΣn_t² + (2 − a)Σn_e² − 2Σn_te²], for a loss that is linear in pairs."""
        del n_items
        return None

    def minorant(self) -> tuple[float, Loss] | None:
        """A factor and a metric whose product is a lower bound of the loss.

        Their product bounds expected losses from below. None where none is known.
        """
        return (1.0, self) if self.is_metric and self.form(1) is not None else None

    def ball_metric(self) -> Loss | None:
        """The metric of credible balls around this loss's estimates, if there is one."""
        return self if self.is_metric else None

    def __eq__(self, other: object) -> bool:
        # By everything it holds: a subclass may add attributes that are not fields.
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), frozenset(vars(self).items())))

    def __repr__(self) -> str:
        changed = [
            f"{field.name}={getattr(self, field.name)!r}"
            for field in fields(self)
            if getattr(self, field.name) != field.default
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __str__(self) -> str:
        return self.title


def _measured(block: Block, *, loss: Loss, estimate: Labels) -> tuple[Floats]:
    """The pass behind ``distances``."""
    return (loss._against_by_sums(estimate.size)(estimate, block.rows, block.n_clusters),)


def pairs_within(estimate: Labels, similarity: Floats) -> Floats:
    """Σ_j p_ij over the items j in the estimated cluster of i, for every item i."""
    within = similarity.diagonal().copy()  # of items that are alone
    for k in np.flatnonzero(np.bincount(estimate) > 1).tolist():
        members = np.flatnonzero(estimate == k)
        within[members] = similarity[members[:, None], members].sum(axis=1)
    return within


def pair_sums(estimate: Labels, similarity: Floats) -> tuple[float, float, float]:
    """Expected Σ n_te², Σ n_e² and Σ n_t², which are numbers of pairs."""
    own = float((np.bincount(estimate).astype(np.float64) ** 2).sum())
    return float(pairs_within(estimate, similarity).sum()), own, float(similarity.sum())
