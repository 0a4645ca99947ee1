"""The credible core: the largest set of items whose grouping holds."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal

import numpy as np

from partita._progress import Status
from partita._validate import Rng, choice_or_none, generator, seconds, whole
from partita.credible.core_bound import WORK, bound_size
from partita.credible.core_result import CredibleCore, Plan
from partita.credible.core_search import Runs, improve, prepare, run_from_firsts
from partita.credible.core_tables import (
    cluster_probabilities,
    holding,
    nested_path,
    probability_if_added,
)
from partita.credible.levels import clean_prob
from partita.losses.posterior import Posterior, as_posterior
from partita.partitions.draws import Draws
from partita.partitions.fetching import fetched
from partita.partitions.partial import PartialPartition
from partita.partitions.types import DrawsLike

_QUICK_CELLS, _QUICK_WORK = 5_000_000, 2e7
"""Labels of draws up to which a quick core is cheap, and labels that its runs may cover."""


def credible_core(
    draws: DrawsLike,
    *,
    prob: float = 0.9,
    bound: Literal["fast", "tight"] | None = "fast",
    n_starts: int | None = None,
    patience: int = 200,
    time_limit: float | None = None,
    rng: Rng | None = None,
    n_jobs: int | None = None,
) -> CredibleCore:
    r"""The largest set of items whose grouping holds with probability ``prob``.

    For a set A of items and a partition ρ of A,

    .. math:: P(\rho) = \sum_m w_m \, 1[\text{draw } m \text{ restricted to } A \text{ is } \rho]

    and the core maximises :math:`|A|` subject to :math:`P(\rho) \ge prob`; among sets of
    one size the larger P counts. It is what may be stated as fact: with that
    probability these items are grouped exactly so, all at once. A ball says where
    the clustering could be; the core says what all of it has in common.

    Parameters
    ----------
    draws : Draws or anything as_draws accepts
    prob : float in (0, 1], default 0.9
    bound : {"fast", "tight"} or None, default "fast"
        The proof that no larger set exists. Any two items of a core are together
        or apart with probability ``prob``, so a core is a clique of the graph of
        such pairs, and a colouring of that graph bounds it. Branch and bound on bit
        sets of draws goes on from there: for under a second, or about a minute.
    n_starts : int, optional
        First items to grow from; by default every one, as far as a few seconds go.
        ``core.n_starts`` says how many were tried.
    patience : int, default 200
        Rounds without gain after which taking items out and growing again ends;
        fewer, 8 + 4·size, while the core is small.
    time_limit : float, optional
        Seconds after which the search hands over the best core so far.
    rng : int, SeedSequence or Generator, optional
        By default a fixed seed, so that the same draws give the same core.
    n_jobs : int, optional
        Threads; every core by default. The result does not depend on it.

    Returns
    -------
    CredibleCore

    Notes
    -----
    From each first item the set grows by the item that keeps the most weight; items
    that cost no draw come in at once. A run is O(M·N + S·N·K) for M distinct draws
    of N items, K clusters of the core and S steps that cost a draw. The bits of all
    pairs take N²M/8 bytes; where that is more than 128 MB the proof is by colouring
    alone, and above 4,000 items ``upper_bound`` is the number of items.

    The core is chosen to hold in these draws, so its probability is a little
    optimistic: check an important one on draws kept aside, with
    ``core.partial.agrees``.

    References
    ----------
    Barrientos, A. F., Page, G. L., Dahl, D. B. and Dunson, D. B. (2024), on
    partitions of subsets with high inclusion probability (CHIPS).

    Examples
    --------
    >>> import partita as pt
    >>> draws = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 1, 1]]
    >>> core = pt.credible_core(draws, prob=0.9)
    >>> core.items, core.labels, core.probability
    (array([0, 1, 3]), array([ 0,  0, -1,  1], dtype=int32), 1.0)
    >>> core.at(0.75).size
    4
    """
    posterior = as_posterior(draws, n_jobs)
    level = clean_prob(prob)
    effort = choice_or_none(bound, "bound", ("fast", "tight"))
    n_starts = None if n_starts is None else whole(n_starts, "n_starts", least=1)
    time_limit = seconds(time_limit)
    plan = Plan(effort, whole(patience, "patience"), time_limit, _seed(rng))
    with Status("credible core") as status:
        here = fetched(posterior.draws, "credible_core", status.say)
    if here is not posterior.draws:
        posterior = as_posterior(here, n_jobs)
    runs = run_from_firsts(
        prepare(posterior),
        n_starts=n_starts,
        rng=np.random.default_rng(plan.seed.spawn(1)[0]),
        n_jobs=n_jobs,
        stop=_clock(time_limit),
    )
    return core_at(here, level, runs, plan)


def quick_core(posterior: Posterior, prob: float = 0.9) -> CredibleCore | None:
    """A core from a short search, without a proof, for a line in a summary.

    None where even that takes long. A core of this kind is a lower bound: it
    holds, and :func:`credible_core` may find a larger one.
    """
    cells = posterior.draws.n_draws * posterior.draws.n_items
    if cells > _QUICK_CELLS:
        return None
    n_starts = max(1, int(_QUICK_WORK / cells))
    return credible_core(posterior, prob=prob, bound=None, n_starts=n_starts, patience=20)


def core_at(draws: Draws, prob: float, runs: Runs, plan: Plan) -> CredibleCore:
    """The core of a probability, from runs already made."""
    prob = clean_prob(prob)
    posterior = runs.posterior
    rng = np.random.default_rng(plan.seed)
    partial, rounds = improve(
        posterior,
        runs.partial(prob),
        prob,
        patience=plan.patience,
        rng=rng,
        stop=_clock(plan.time_limit),
    )
    upper = draws.n_items
    if plan.bound is not None:
        proof = bound_size(draws, posterior, prob, int((partial >= 0).sum()), WORK[plan.bound])
        upper = proof.items
        if proof.larger is not None:
            partial = proof.larger
    grouping = PartialPartition(partial)
    holds, probability = holding(draws, grouping.labels)
    path, nested = nested_path(posterior, grouping.labels)
    best = np.maximum(runs.best / posterior.total, nested)
    best[: grouping.size] = np.maximum(best[: grouping.size], probability)
    # A subset holds whenever the set does.
    curve = np.minimum(np.maximum.accumulate(best[::-1])[::-1], 1.0)
    return CredibleCore(
        prob=prob,
        partial=grouping,
        probability=probability,
        cluster_probability=cluster_probabilities(draws, grouping.labels),
        upper_bound=upper,
        curve=curve,
        path=path,
        nested=nested,
        if_added=probability_if_added(posterior, grouping.labels, probability),
        holds=holds,
        n_starts=runs.n_starts,
        n_firsts=runs.n_firsts,
        rounds=rounds,
        draws=draws,
        _runs=runs,
        _plan=plan,
    )


def _seed(rng: Rng | None) -> np.random.SeedSequence:
    if isinstance(rng, np.random.SeedSequence):
        return rng
    if isinstance(rng, np.random.Generator):
        return np.random.SeedSequence(rng.integers(2**32, size=4).tolist())
    generator(rng)  # refuses what is no seed
    return np.random.SeedSequence(0 if rng is None else rng)


def _clock(time_limit: float | None) -> Callable[[], bool]:
    if time_limit is None:
        return lambda: False
    end = time.perf_counter() + time_limit
    return lambda: time.perf_counter() > end
