"""Search on any number of labels: in memory, or by blockwise scans over all draws."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from partita._text import counted
from partita.draws import Draws
from partita.kernels.arrays import Floats
from partita.kernels.counts import truth_sums
from partita.kernels.problem import LANES
from partita.labels import Labels, canonical
from partita.losses.builtin import VI
from partita.scan import Block, gather, gather_if_small, is_small, map_blocks
from partita.search import best_draw, multistart, settings
from partita.search.multistart import SINGLETONS, LocalMinimum, distinct, sample_draws
from partita.search.problem import by_similarity, terms_and_steps
from partita.search.result import DRAWS_ONLY
from partita.search.scan_moves import Items, descend, place
from partita.search.task import Candidate, Task

TABLE_CELLS = 1 << 24
"""Cells that the table of one draw may have."""


def search(task: Task, *, brief: bool = False) -> list[Candidate]:
    """Sweep in memory; where labels are many, explore a sample and move items by passes.

    A brief search ends where the items are placed.
    """
    if not _goes_by_passes(task):
        task.draws = None if task.draws is None else gather_if_small(task.draws)
        return multistart.search(task)
    assert task.draws is not None
    cap = _most_clusters(task)
    if task.options.max_clusters is None and 10 * cap < float(task.draws.n_clusters.mean()):
        return _draws_alone(task, cap)
    capped = replace(task, options=replace(task.options, max_clusters=cap), n_evaluated=0)
    best = _begun(capped, 1 if brief else settings.LEADING)

    def keep(labels: Labels) -> None:
        task.found[:] = [Candidate(labels, best.origin)]

    keep(best.labels)
    labels, task.settled = best.labels, False
    if not brief:
        labels, task.settled = descend(capped, best.labels, keep)
    task.n_evaluated += capped.n_evaluated
    found = [Candidate(labels, best.origin)]
    if cap == task.n_items or cap == task.options.max_clusters:
        return found
    if int(labels.max()) + 1 == cap:
        task.limits.append(f"size: partitions of more than {cap:,} clusters were not searched")
    if task.options.max_clusters is None and _loss_alone(task) < task.evaluate(labels):
        found.append(Candidate(np.arange(task.n_items, dtype=np.int32), SINGLETONS))
        task.settled = None
    return found


def _draws_alone(task: Task, cap: int) -> list[Candidate]:
    """Compare the draws themselves, and singletons: a table of finer partitions is too large."""
    task.limits.append(
        f"{DRAWS_ONLY} more than {cap:,} clusters, too many for a search; only the draws "
        "and all items alone were compared"
    )
    task.settled = None
    singletons = Candidate(np.arange(task.n_items, dtype=np.int32), SINGLETONS)
    return [*best_draw.search(task), singletons]


def _loss_alone(task: Task) -> float:
    """Expected loss of singletons, which no table of counts could hold."""
    assert task.draws is not None
    draws, n = task.draws, task.n_items
    terms, _ = terms_and_steps(task.loss, n)
    sums = partial(_truth_sums, terms=terms)
    truth = np.concatenate(list(map_blocks(sums, draws, n_jobs=task.options.n_jobs)))
    form, own, mass = task.loss.form(n), n * float(terms[1]), draws.probabilities
    if task.loss.averages_sums:
        return float(form.combine(own, own, float(mass @ truth)))
    return float(mass @ [form.combine(own, own, each) for each in truth.tolist()])


def _truth_sums(block: Block, *, terms: Floats) -> Floats:
    """A pass: Σ f(n_t) of each draw."""
    return truth_sums(block.rows, block.n_clusters, terms)


def _goes_by_passes(task: Task) -> bool:
    if task.draws is None or by_similarity(task):
        return False
    return task.n_items > settings.MANY_ITEMS or not is_small(task.draws)


def _most_clusters(task: Task) -> int:
    """Clusters of a partition up to which a look at all draws takes no longer than it may.

    The user's own starts, and the user's own limit, are kept to.
    """
    assert task.draws is not None
    clusters = task.draws.n_clusters
    fits = TABLE_CELLS // int(clusters.max()) // LANES * LANES - 2
    most = max(
        1, min(fits, max(settings.FEW_CLUSTERS, int(settings.CLUSTER_TIMES * clusters.mean())))
    )
    if task.options.starts.size:
        most = max(most, int(task.options.starts.max()) + 1)
    wished = task.options.max_clusters
    return min(task.n_items, most if wished is None else min(most, wished))


def _sample(task: Task) -> Draws:
    assert task.draws is not None
    items = min(task.n_items, settings.SOME_ITEMS)
    size = int(np.clip(settings.SAMPLE_LABELS // items, settings.FEWEST_DRAWS, settings.MOST_DRAWS))
    return sample_draws(task.draws, size, task.rng)


def some_items(draws: Draws, rng: np.random.Generator) -> Items:
    """Items at random, and some of every cluster of several draws: small ones are not lost."""
    n = draws.n_items
    if n <= settings.SOME_ITEMS:
        return np.arange(n)
    strata = np.zeros(n, np.bool_)
    spread = np.unique(np.linspace(0, draws.n_draws - 1, settings.STRATA).astype(np.int64))
    for row in draws.labels_at(spread):
        order = rng.permutation(n)
        labels = row[order]
        by_cluster = np.argsort(labels, kind="stable")
        sizes = np.bincount(labels)
        rank = np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        strata[order[by_cluster[rank < settings.STRATUM_ITEMS]]] = True
    wanted = np.flatnonzero(strata)
    if wanted.size > settings.SOME_ITEMS:
        wanted = rng.choice(wanted, settings.SOME_ITEMS, replace=False)
    return np.union1d(wanted, rng.choice(n, settings.SOME_ITEMS, replace=False))


def _explored(task: Task, sample: Draws, items: Items) -> list[LocalMinimum]:
    """Where starts end on some items in some draws."""
    few = sample if items.size == task.n_items else gather(sample.select_items(items))
    starts = np.array([canonical(row[items]) for row in task.options.starts], np.int32)
    options = replace(task.options, starts=starts.reshape(-1, items.size))
    there = replace(task.on(few), options=options, n_evaluated=0)
    reached = multistart.multistart_from(there, *multistart.exploration_problem(there))
    task.n_evaluated += there.n_evaluated
    return reached


def _carried(reached: list[LocalMinimum], most: int) -> list[LocalMinimum]:
    """The explored partitions that all items are given to: one, or several that may be best."""
    agreed = len(multistart.kinds_at_best(reached)) >= settings.KINDS
    best = distinct(reached)[: 1 if agreed else most]
    return [r for r in best if r.loss <= best[0].loss * (1.0 + settings.NEAR)]


def _begun(task: Task, most: int) -> Candidate:
    """The best partition to begin with, of a limited number of explored ones and the user's."""
    assert task.draws is not None
    sample = _sample(task)
    items = some_items(sample, task.rng)
    reached = _explored(task, sample, items)
    carried = _carried(reached, most)
    task.limits.append(_said(task, sample, items, reached, carried))
    begun = [Candidate(row, "user") for row in task.options.starts]
    begun += [Candidate(_whole(task, sample, items, r.labels), r.origin) for r in carried]
    if len(begun) == 1:
        return begun[0]
    losses = [task.loss.expected(c.labels, task.draws, task.options.n_jobs) for c in begun]
    return begun[int(np.argmin(losses))]


def _whole(task: Task, sample: Draws, items: Items, labels: Labels) -> Labels:
    """A partition of some items with the others placed; roughly if time was up for that."""
    if items.size == task.n_items:
        return labels
    # A loss that cannot judge some of the items leaves placing the others to one that can.
    judge = task if task.loss.averages_sums else replace(task, loss=VI())
    placed = place(judge, sample, items, labels)
    return canonical(_by_one_draw(sample, items, labels) if placed is None else placed)


def _by_one_draw(sample: Draws, items: Items, labels: Labels) -> Labels:
    """Each other item where most of the known ones are that share its cluster in the first draw."""
    row = sample.rows(0, 1)[0]
    table = np.zeros((int(row.max()) + 1, int(labels.max()) + 1), np.int64)
    np.add.at(table, (row[items], labels), 1)
    out: Labels = table.argmax(axis=1).astype(np.int32)[row]
    out[items] = labels
    return out


def _said(
    task: Task,
    sample: Draws,
    items: Items,
    reached: list[LocalMinimum],
    carried: list[LocalMinimum],
) -> str:
    assert task.draws is not None
    met = sum(r.labels.tobytes() == carried[0].labels.tobytes() for r in reached if carried)
    return (
        f"size: {counted(len(reached), 'start')} explored {items.size:,} of {task.n_items:,} items "
        f"in {sample.n_draws:,} of {task.draws.n_draws:,} distinct draws; {met:,} met at the "
        "partition from which items were then moved on all draws"
    )
