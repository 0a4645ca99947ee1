"""Proven lower bounds of the expected loss over all partitions, for given draws.

``matching`` serves every metric, ``composition`` the variation of information at any price,
``pairs`` Binder's loss.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from partita.labels import Labels
from partita.search.bounds.composition import composition_bound, table_bytes, table_steps
from partita.search.bounds.matching import matching_bound
from partita.search.bounds.pairs import pair_programme, pairwise_bound, reaches, triangle_bound
from partita.search.result import is_proven
from partita.search.task import Task


@dataclass(frozen=True)
class Effort:
    """How hard a bound tries."""

    block: int
    """Draws of equal mass on each side of a matching."""
    whole: int
    """Draws of unequal mass matched together."""
    programme_work: float
    """Iterations times rows of the linear programmes of Binder's loss; about 5 · 10^7 a second."""
    matrix_items: int
    """Most items for which pairs are bounded through the similarity matrix."""
    table_steps: int
    """Most work on the tables of VI's prices; about 10^9 a second."""
    table_bytes: int
    """Most memory of these tables."""
    box_steps: int
    """Work on the search for sets that break VI's prices; about 5 · 10^8 a second."""
    rounds: int
    """Most such searches."""
    price_work: float
    """Iterations times rows of the linear programmes of VI's prices; about 5 · 10^7 a second."""


EFFORTS = {
    "fast": Effort(
        block=15,
        whole=48,
        programme_work=5e7,
        matrix_items=500,
        table_steps=6_000_000,
        table_bytes=1 << 26,
        box_steps=20_000_000,
        rounds=6,
        price_work=1e7,
    ),
    "auto": Effort(
        block=15,
        whole=48,
        programme_work=5e7,
        matrix_items=500,
        table_steps=100_000_000,
        table_bytes=1 << 27,
        box_steps=150_000_000,
        rounds=20,
        price_work=1e7,
    ),
    "tight": Effort(
        block=1024,
        whole=256,
        programme_work=3e9,
        matrix_items=2_000,
        table_steps=20_000_000_000,
        table_bytes=1 << 30,
        box_steps=10_000_000_000,
        rounds=40,
        price_work=3e9,
    ),
}
"""How hard ``bound=`` tries, in work that does not depend on the machine. "auto" spends at most
about a third of a second of one core on the prices of items, which proves the galaxies of the
paper in a tenth. Sides of 8, 16 and 32 matched draws: gap 0.262, 0.250, 0.240 for NID on the
galaxies, each in twice the time of the one before."""


def lower_bound(task: Task, labels: Labels, value: float, bound: str) -> float | None:
    """No partition has a lower expected loss on the task's draws; None where none is known.

    VI_LB, 1 − ARI and 1 − PEAR have no known bound: they are not metrics, and
    they are not linear in the pairs.
    """
    n_limits = len(task.log.limits)
    proven: float | None = None
    # Smaller efforts come first: more work, wherever time cuts it, must not prove less.
    for effort in _efforts(task, bound):
        if proven is not None and task.clock.is_up():
            return proven
        del task.log.limits[n_limits:]
        found = _bound(task, labels, value, effort)
        if found is None:
            return None
        proven = found if proven is None else max(proven, found)
        if is_proven(value, proven, task.loss):
            break
    return proven


def _efforts(task: Task, bound: str) -> list[Effort]:
    """The efforts that are made for a bound, in order."""
    names = ["auto", "tight"] if bound == "tight" else [bound]
    if task.clock.deadline is not None and bound != "fast":
        names.insert(0, "fast")
    return [EFFORTS[name] for name in names]


def _bound(task: Task, labels: Labels, value: float, effort: Effort) -> float | None:
    heavy = _loss_of_heavy_draw(task)
    if heavy is not None:
        return heavy
    if task.loss.pair_scale(task.n_items) is not None:
        return _pair_bound(task, labels, value, effort)
    if task.loss.conditional_entropies:
        return _vi_bound(task, labels, value, effort)
    return _matched_bound(task, labels, effort)


def _loss_of_heavy_draw(task: Task) -> float | None:
    """The expected loss of a draw that holds so much mass that no partition is better, if one does.

    For a metric half of it. At another price a the loss from any partition c to that draw is at
    most max(a, 2 − a)/min(a, 2 − a) times the loss from the draw to c, and what the others gain
    at c is at most the former: max(a, 2 − a)/2 of the mass suffices.
    """
    loss, draws = task.loss, task.draws
    fair = loss.with_price(1.0) if loss.has_price else loss
    if draws is None or loss.minorant() is None or not fair.is_metric:
        return None
    mass = draws.probabilities
    heaviest = int(mass.argmax())
    if mass[heaviest] < max(loss.price, 2.0 - loss.price) / 2.0:
        return None
    row = draws.rows(heaviest, heaviest + 1)[0]
    return float(mass @ loss.distances(row, draws, task.options.n_jobs))


def _matched_bound(task: Task, labels: Labels, effort: Effort) -> float | None:
    """The bound from matched draws, for a metric that the loss is at least a multiple of."""
    below = task.loss.minorant()
    if below is None or task.draws is None:
        return None
    factor, metric = below
    return factor * matching_bound(
        task.draws,
        metric,
        near=task.under(metric).distances_to(labels),
        block=effort.block,
        whole=effort.whole,
        # A fixed seed: the proof of an estimate does not depend on how it was searched for.
        rng=np.random.default_rng(0),
        n_jobs=task.options.n_jobs,
        is_up=task.clock.is_up,
    )


def _vi_bound(task: Task, labels: Labels, value: float, effort: Effort) -> float:
    """Prices of items where they are affordable; matched draws where these do not suffice."""
    assert task.draws is not None
    n_sides = int(labels.max()) + 1
    proven, cut_short = -np.inf, True
    if (
        table_steps(task.draws, n_sides) <= effort.table_steps
        and table_bytes(task.n_items, n_sides) <= effort.table_bytes
    ):
        proven, cut_short = composition_bound(
            task.draws,
            labels,
            value,
            a=task.loss.price,
            steps=effort.box_steps,
            rounds=effort.rounds,
            price_work=effort.price_work,
            n_jobs=task.options.n_jobs,
            clock=task.clock,
        )
    if is_proven(value, proven, task.loss) or (not cut_short and effort == EFFORTS["tight"]):
        return proven
    matched = _matched_bound(task, labels, effort)
    return proven if matched is None else max(proven, matched)


def _pair_bound(task: Task, labels: Labels, value: float, effort: Effort) -> float | None:
    """The best of what pairs, triangles and matched draws prove, as far as each is affordable."""
    small = task.n_items <= effort.matrix_items
    bounds = []
    if small or task.has_similarity:
        programme = pair_programme(task.similarity, task.loss)
        bounds.append(pairwise_bound(programme))
        if small and not reaches(value, bounds[0]):
            tightened, cut_short = triangle_bound(
                programme,
                value,
                work=effort.programme_work,
                seconds=lambda: 0.0 if task.clock.is_up() else task.clock.left,
            )
            bounds.append(tightened)
            if cut_short:
                task.log.limit(
                    "the proof's linear programmes ended while some triangles were still violated"
                )
    if not small and not reaches(value, max(bounds, default=0.0)):
        matched = _matched_bound(task, labels, effort)
        bounds += [] if matched is None else [matched]
    return max(bounds, default=0.0)  # no loss is negative
