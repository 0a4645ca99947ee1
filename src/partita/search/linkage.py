"""Average and complete linkage on 1 − p, and the expected loss of every cut of their trees.

A merge adds to the joint sum Σ f(n_te) what it alone decides, so the gains of merges are found in
any order and summed up in the order of the cuts. Along a tree every cluster is a range of
positions. A cluster of a draw gains by the merges of its neighbouring members there, one for each:
O(log N) for each item of each draw.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from partita.draws import Draws
from partita.errors import NotSupportedError
from partita.kernels.arrays import Floats, Ints
from partita.kernels.contingency import combine_rows
from partita.kernels.counts import truth_sums
from partita.labels import Labels, relabel
from partita.losses.base import Loss
from partita.losses.evaluate import loss_names
from partita.scan import Block, Sums, map_blocks, sum_arrays
from partita.search import settings
from partita.search.task import Candidate, Task, argmin_with_ties, run_interruptible

Linkage = Literal["average", "complete"]

BLOCK_LABELS = 1 << 18
"""Labels in one piece of work."""

STARTING_DRAWS = 100
"""Draws, at most, by which the cuts that a search starts from are chosen."""


class Tree(NamedTuple):
    """The merges of a linkage: each joins two ranges of positions."""

    order: Ints  # (n_items,): item at each position
    first: Ints  # (n_items − 1,): where the left range begins,
    middle: Ints  # the right one begins,
    last: Ints  # and ends


def search_average(task: Task) -> list[Candidate]:
    """The best cut of average linkage on 1 − p, and the cuts that tie with it."""
    return _search(task, "average")


def search_complete(task: Task) -> list[Candidate]:
    """The best cut of complete linkage on 1 − p, and the cuts that tie with it."""
    return _search(task, "complete")


def _search(task: Task, linkage: Linkage) -> list[Candidate]:
    """All N cuts: O(N²) for the linkage, O(M N log N) or O(N²) for the losses."""
    if task.draws is None and not task.loss.uses_similarity:
        raise NotSupportedError(
            f"the expected {task.loss.title} of a cut needs the draws, but a similarity matrix was "
            "given instead. Losses that do without draws: "
            f"{loss_names(lambda known: known.uses_similarity)}.",
            argument="loss",
        )
    tree = link(task, linkage)
    losses = _cut_losses(task, tree)
    task.log.n_evaluated += task.n_items
    return [
        Candidate(cut_into(tree, task.n_items - int(t)), f"{linkage} linkage")
        for t in argmin_with_ties(losses)
    ]


def best_cuts(task: Task) -> list[Labels]:
    """The cuts of average linkage at which the loss is locally lowest, best first."""
    tree, some = link(task), task
    if task.draws is not None and not task.loss.uses_similarity:
        some = task.on(task.draws[:: -(-task.draws.n_draws // STARTING_DRAWS)])
    losses = _cut_losses(some, tree)
    padded = np.concatenate(([np.inf], losses, [np.inf]))
    valleys = np.flatnonzero((losses <= padded[:-2]) & (losses < padded[2:]))
    by_loss = valleys[np.argsort(losses[valleys], kind="stable")]
    return [cut_into(tree, task.n_items - int(t)) for t in by_loss[: settings.ALTERNATIVES]]


def priced_cuts(task: Task, prices: Sequence[float]) -> list[Labels]:
    """The cuts of average linkage that are lowest among all cuts for some price between two."""
    if task.n_items > settings.MATRIX_ITEMS:
        return []
    tree = link(task)
    below, above = (_cut_losses(replace(task, loss=task.loss.with_price(a)), tree) for a in prices)
    shares = np.linspace(-0.5, 1.5, 81)[:, None]  # prices 0 … 2 for losses at 1/2 and 3/2
    best = np.unique(np.argmin((1.0 - shares) * below + shares * above, axis=1))
    return [cut_into(tree, task.n_items - int(t)) for t in best]


def link(task: Task, linkage: Linkage = "average") -> Tree:
    """The tree of a linkage of all items, lowest merges first."""
    from scipy.cluster import hierarchy
    from scipy.spatial.distance import squareform

    task.report(f"{linkage} linkage")
    n = task.n_items
    merges = np.zeros((0, 4))
    if n > 1:
        merges = hierarchy.linkage(squareform(1.0 - task.similarity, checks=False), linkage)
    nodes = merges[:, :2].astype(np.int64)
    size = np.append(np.ones(n, np.int64), merges[:, 3].astype(np.int64))
    first = np.zeros(2 * n - 1, np.int64)  # of each node: items, then merges
    for t in range(n - 2, -1, -1):
        left, right = nodes[t]
        first[left] = first[n + t]
        first[right] = first[n + t] + size[left]
    return Tree(np.argsort(first[:n]), first[n:], first[nodes[:, 1]], first[n:] + size[n:])


def cut_into(tree: Tree, k: int) -> Labels:
    """The cut with k clusters."""
    n = tree.order.size
    begins = np.zeros(n, np.int64)
    begins[tree.middle[n - k :]] = 1
    labels = np.empty(n, np.int64)
    labels[tree.order] = np.cumsum(begins)
    return relabel(labels)


def _cut_losses(task: Task, tree: Tree) -> Floats:
    """Expected loss after 0, 1, …, N − 1 merges, shape (n_items,); infinite for too many."""
    loss, n = task.loss, task.n_items
    terms = np.asarray(loss.terms(n))
    left, right = tree.middle - tree.first, tree.last - tree.middle
    own = _running(n * terms[1], terms[left + right] - terms[left] - terms[right])
    if loss.uses_similarity:
        losses = _by_similarity(task, tree, own)
    else:
        assert task.draws is not None
        losses = _by_draws(task, task.draws, tree, own)
    losses[: n - task.max_clusters] = np.inf
    return losses


def _running(start: float, gains: Floats) -> Floats:
    return start + np.concatenate(([0.0], np.cumsum(gains)))


def _by_similarity(task: Task, tree: Tree, own: Floats) -> Floats:
    """Every pair of items is met once, in the merge that joins it."""
    n = own.size
    similar = task.similarity[np.ix_(tree.order, tree.order)]
    # The joint sum is that of each item's similarities within its cluster, or of their logarithms.
    logarithms = task.loss.from_similarity == "logarithms"
    inner = np.log2 if logarithms else np.positive
    if logarithms:
        gains = _gains_of_logarithms(similar, tree)
    else:  # twice the block of the matrix where the two clusters meet
        sums = np.zeros((n + 1, n + 1))
        similar.cumsum(axis=0).cumsum(axis=1, out=sums[1:, 1:])
        _, first, middle, last = tree
        below = sums[first, last] - sums[first, middle]
        gains = 2.0 * (sums[middle, last] - sums[middle, middle] - below)
    joint = _running(float(n * inner(1.0)), gains)
    truth = float(inner(task.similarity.sum(axis=1)).sum())
    return _combined(task.loss, joint, own, truth)


def _gains_of_logarithms(similar: Floats, tree: Tree) -> Floats:
    """Gain of each merge in the sum of the logarithms of similarities within clusters."""
    n = len(similar)
    within, gains = np.ones(n), np.empty(n - 1)
    for t, (first, middle, last) in enumerate(zip(*tree[1:], strict=True)):
        before = np.log2(within[first:last]).sum()
        across = similar[first:middle, middle:last]
        within[first:middle] += across.sum(axis=1)
        within[middle:last] += across.sum(axis=0)
        gains[t] = np.log2(within[first:last]).sum() - before
    return gains


def _by_draws(task: Task, draws: Draws, tree: Tree, own: Floats) -> Floats:
    """Cut losses from the draws, or from those read when time runs out."""
    loss, n = task.loss, task.n_items
    look = partial(_block_sums, tree=tree, ancestors=_ancestors(tree), own=own, loss=loss)
    rows, n_jobs = max(1, BLOCK_LABELS // n), task.options.n_jobs

    def seen() -> Iterator[Sums]:
        for part in map_blocks(look, draws, rows=rows, n_jobs=n_jobs):
            yield part
            if task.clock.is_up():
                return

    total, sums = run_interruptible(task, lambda: sum_arrays(seen()), "cuts against draws")
    mean, mean_truth = np.asarray(total / sums[1]), float(sums[0] / sums[1])
    return _combined(loss, mean, own, mean_truth) if loss.averages_sums else mean


def _block_sums(block: Block, *, tree: Tree, ancestors: Ints, own: Floats, loss: Loss) -> Sums:
    """Contribution of a block to the joint sums of cuts, or to their losses; and its mass."""
    n, mass = own.size, np.array(block.probabilities)
    terms = np.asarray(loss.terms(n))
    truth = truth_sums(block.rows, block.n_clusters, terms)
    sums = np.array([truth @ mass, mass.sum()])
    draw, merge, gain = _gains(block, tree, ancestors, terms)
    if loss.averages_sums:
        gains = np.bincount(merge, mass[draw] * gain, minlength=n - 1)
        return _running(sums[1] * n * terms[1], np.asarray(gains, np.float64)), sums
    gains = np.bincount(merge * mass.size + draw, gain, minlength=(n - 1) * mass.size)
    joint, out, each = np.full(mass.size, n * terms[1]), np.empty(n), np.empty(mass.size)
    for t in range(n):
        # One cluster shares all of the draw's sum. The running sum carries rounding, which the
        # losses that divide by an entropy would blow up where that entropy is 0.
        combine_rows(loss.form(n), truth if t == n - 1 else joint, own[t], truth, each)
        out[t] = each @ mass
        if t < n - 1:
            joint = joint + gains[t * mass.size : (t + 1) * mass.size]
    return out, sums


def _gains(block: Block, tree: Tree, ancestors: Ints, terms: Floats) -> tuple[Ints, Ints, Floats]:
    """Draw and merge of every gain in the draws' joint sums, and the gain.

    A merge gains where both of its ranges have members of a cluster of the draw: it is the lowest
    that joins two neighbouring members, the last one of the left and the first one of the right.
    """
    n = tree.order.size
    labels = np.ascontiguousarray(block.rows[:, tree.order])
    cell = labels + (np.cumsum(block.n_clusters) - block.n_clusters)[:, None]
    # By draw, cluster and position: in this order every range of a cluster's members is one, too.
    member = np.sort((cell * n + np.arange(n)).ravel())
    cluster, place = np.divmod(member, n)
    left = np.flatnonzero(cluster[1:] == cluster[:-1])
    level = np.frexp(place[left + 1] - place[left])[1] - 1
    low, high = ancestors[level, place[left]], ancestors[level, place[left + 1] - (1 << level)]
    merge, begin = np.maximum(low, high), cluster[left] * n
    x = left + 1 - np.searchsorted(member, begin + tree.first[merge])
    y = np.searchsorted(member, begin + tree.last[merge]) - left - 1
    return left // n, merge, terms[x + y] - terms[x] - terms[y]


def _ancestors(tree: Tree) -> Ints:
    """The merge that joins positions i … i + 2^level, at [level, i]: two of them tell any pair's.

    Merges are numbered upwards, so it is the highest of those between neighbours.
    """
    n = tree.order.size
    found = np.zeros((max(1, n.bit_length()), n), np.int64)
    found[0, tree.middle - 1] = np.arange(n - 1)
    for level in range(1, len(found)):
        step = 1 << (level - 1)
        found[level] = found[level - 1]
        found[level, :-step] = np.maximum(found[level - 1, :-step], found[level - 1, step:])
    return found


def _combined(loss: Loss, joint: Floats, own: Floats, truth: float) -> Floats:
    form = loss.form(own.size)
    pairs = zip(joint.tolist(), own.tolist(), strict=True)
    return np.array([form.combine(j, e, truth) for j, e in pairs])
