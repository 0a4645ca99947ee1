"""Cuts of average and complete linkage on 1 − p."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np

from partita.draws import Draws
from partita.errors import NotSupportedError
from partita.kernels import dendrogram
from partita.kernels.arrays import Floats, Ints
from partita.kernels.counts import truth_sums
from partita.kernels.dendrogram import Walk, link
from partita.labels import Labels, relabel
from partita.losses.base import Loss
from partita.losses.evaluate import loss_names
from partita.scan import Block, Sums, map_blocks, sum_arrays
from partita.search import settings
from partita.search.problem import problem_from_similarity
from partita.search.task import Candidate, Task, argmin_with_ties, run_interruptible

Linkage = Literal["average", "complete"]

BLOCK_LABELS = 1 << 21
"""Labels in one piece of work."""


def search_average(task: Task) -> list[Candidate]:
    """The best cut of average linkage on 1 − p, and the cuts that tie with it."""
    return _search(task, "average")


def search_complete(task: Task) -> list[Candidate]:
    """The best cut of complete linkage on 1 − p, and the cuts that tie with it."""
    return _search(task, "complete")


def _search(task: Task, linkage: Linkage) -> list[Candidate]:
    """All N cuts: O(N²) for the linkage, O(M N log N) or O(N²) for the losses."""
    n = task.n_items
    if task.draws is None and not task.loss.uses_similarity:
        raise NotSupportedError(
            f"the expected {task.loss.title} of a cut needs the draws, but a similarity matrix was "
            "given instead. Losses that do without draws: "
            f"{loss_names(lambda known: known.uses_similarity)}.",
            argument="loss",
        )
    if n == 1:
        return [Candidate(np.zeros(1, np.int32), f"{linkage} linkage")]
    merges = _merges(task, linkage)
    losses = _cut_losses(task, merges)
    cap = n if task.options.max_clusters is None else task.options.max_clusters
    allowed = losses[n - cap :]
    task.n_evaluated += n
    return [
        Candidate(_cut(merges, n - cap + int(t)), f"{linkage} linkage")
        for t in argmin_with_ties(allowed)
    ]


def best_cuts(task: Task) -> list[Labels]:
    """The cuts of average linkage at which the loss is locally lowest, best first."""
    n = task.n_items
    if n == 1:
        return [np.zeros(1, np.int32)]
    merges = _merges(task, "average")
    losses = _cut_losses(task, merges)
    if task.options.max_clusters is not None:
        losses[: n - task.options.max_clusters] = np.inf
    padded = np.concatenate(([np.inf], losses, [np.inf]))
    valleys = np.flatnonzero((losses <= padded[:-2]) & (losses < padded[2:]))
    by_loss = valleys[np.argsort(losses[valleys], kind="stable")]
    return [_cut(merges, int(t)) for t in by_loss[: settings.ALTERNATIVES]]


def priced_cuts(task: Task, prices: Sequence[float]) -> list[Labels]:
    """The cuts of average linkage that are lowest among all cuts for some price between two."""
    n = task.n_items
    if n == 1 or n > settings.MATRIX_ITEMS:
        return []
    merges = _merges(task, "average")
    below, above = (
        _cut_losses(replace(task, loss=task.loss.with_price(a)), merges) for a in prices
    )
    shares = np.linspace(-0.5, 1.5, 81)[:, None]  # prices 0 … 2 for losses at 1/2 and 3/2
    best = np.unique(np.argmin((1.0 - shares) * below + shares * above, axis=1))
    return [_cut(merges, int(t)) for t in best]


def average_linkage(task: Task) -> Ints | None:
    """The merges of average linkage; None where there are too many items to link."""
    n = task.n_items
    return None if n == 1 or n > settings.MATRIX_ITEMS else _merges(task, "average")


def cut_into(merges: Ints, k: int) -> Labels:
    """The cut with k clusters."""
    return _cut(merges, len(merges) + 1 - k)


def _merges(task: Task, linkage: Linkage) -> Ints:
    """The two nodes joined by each merge, shape (n_items − 1, 2); node N + t is merge t."""
    task.report(f"{linkage} linkage")
    return link(1.0 - task.similarity, complete=linkage == "complete")


def _sizes(merges: Ints) -> Ints:
    """Number of items of each node."""
    n = len(merges) + 1
    size = np.ones(2 * n - 1, np.int64)
    for t, (left, right) in enumerate(merges):
        size[n + t] = size[left] + size[right]
    return size


def _cut_losses(task: Task, merges: Ints) -> Floats:
    """Expected loss after 0, 1, …, N − 1 merges, shape (n_items,)."""
    n = task.n_items
    size = _sizes(merges)
    walk = dendrogram.walk_tree(merges[:, 0].copy(), merges[:, 1].copy(), size)
    terms = task.loss.terms(n)
    left, right = size[merges[:, 0]], size[merges[:, 1]]
    own = _running(n * terms[1], terms[left + right] - terms[left] - terms[right])
    if task.loss.uses_similarity:
        return _by_similarity(task, walk, own)
    assert task.draws is not None
    return _by_draws(task, task.draws, walk, own)


def _running(start: float, gains: Floats) -> Floats:
    return start + np.concatenate(([0.0], np.cumsum(gains)))


def _by_similarity(task: Task, walk: Walk, own: Floats) -> Floats:
    n = task.n_items
    problem = problem_from_similarity(task.similarity, task.loss)
    gains = dendrogram.similarity_gains(problem, walk)
    first = n * problem.inner(1.0)
    return _combined(task.loss, _running(first, gains), own, problem.mean_truth)


def _by_draws(task: Task, draws: Draws, walk: Walk, own: Floats) -> Floats:
    """Cut losses from the draws, or from those read when time runs out."""
    loss, n = task.loss, task.n_items
    look = partial(_block_gains, walk=walk, own=own, loss=loss)
    rows, n_jobs = max(1, BLOCK_LABELS // n), task.options.n_jobs

    def seen() -> Iterator[Sums]:
        for part in map_blocks(look, draws, rows=rows, n_jobs=n_jobs):
            yield part
            if task.clock.is_up():
                return

    total, sums = run_interruptible(task, lambda: sum_arrays(seen()), "cuts against draws")
    mean, mean_truth = np.asarray(total / sums[1]), float(sums[0] / sums[1])
    if not loss.averages_sums:
        return mean
    return _combined(loss, _running(n * loss.terms(n)[1], mean), own, mean_truth)


def _block_gains(block: Block, *, walk: Walk, own: Floats, loss: Loss) -> Sums:
    """Contribution of a block to the gains of merges, or to the losses of cuts; and its mass."""
    n = own.size
    rows, mass, terms = block.rows, np.array(block.probabilities), loss.terms(n)
    if not loss.averages_sums:
        out = np.zeros(n)
        dendrogram.mean_cut_losses(walk, rows, mass, terms, loss.form(n), own, out)
        return out, np.array([0.0, mass.sum()])
    out = np.zeros(n - 1)
    dendrogram.mean_gains(walk, rows, mass, terms, out)
    truth = truth_sums(rows, block.n_clusters, terms)
    return out, np.array([truth @ mass, mass.sum()])


def _combined(loss: Loss, joint: Floats, own: Floats, truth: float) -> Floats:
    form = loss.form(own.size)
    pairs = zip(joint.tolist(), own.tolist(), strict=True)
    return np.array([form.combine(j, e, truth) for j, e in pairs])


def _cut(merges: Ints, count: int) -> Labels:
    """The partition after the first ``count`` merges."""
    n = len(merges) + 1
    node = np.arange(2 * n - 1)
    for t in range(count - 1, -1, -1):  # from the top, so that a name reaches all items below
        node[merges[t]] = node[n + t]
    return relabel(node[:n])
