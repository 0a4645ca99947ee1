"""Small cases for size thresholds: each checks its answer and returns what no threshold changes."""

from __future__ import annotations

import dataclasses
import importlib
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

import partita as pt
from partita._vocabulary import words
from partita.credible.core import quick_core
from partita.diagnostics.drift import drift
from partita.losses.base import Loss
from partita.losses.posterior import as_posterior
from partita.partitions.partial import PartialPartition
from partita.plots.similarity_map import prepare_similarity
from partita.plots.thumbnail import thumbnail
from partita.report.figures import _heat
from partita.report.wording import bound_text
from partita.samplers.initial import starting_partitions
from partita.search.complete import complete
from partita.search.lower_bounds import bound as search_bound
from search.posteriors import all_losses, random_posterior

DRAWS = random_posterior(7, 30, 3)
ALMOST = 1e-11
LOSS = pt.VI()
CONTRADICTING = pt.Draws(
    4 * [[0, 0, 1, 2, 2, 3]] + 4 * [[0, 1, 1, 2, 3, 3]] + 2 * [[0, 0, 0, 1, 1, 1]]
)


@cache
def least(loss: Loss, k: int | None = None) -> float:
    """The smallest expected loss of all partitions, or of those into k clusters."""
    partitions, losses = all_losses(DRAWS, loss)
    return float(losses[(partitions.max(axis=1) + 1 == k) if k else slice(None)].min())


def searched(loss=LOSS, method="sweep", **wishes):
    """The minimum of all partitions is found."""
    found = pt.estimate(DRAWS, loss=loss, method=method, bound=None, **wishes)
    assert found.expected_loss == pytest.approx(least(loss), abs=ALMOST)
    return found.expected_loss


@contextmanager
def small(**constants):
    """Other constants that are crossed on the way to the one in question."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in constants.items():
            module, _, constant = name.replace("__", ".", name.count("__")).rpartition(".")
            patch.setattr(importlib.import_module(f"partita.{module}"), constant, value)
        yield


def polished():
    """The minimum is found where starts explore a sample of the draws."""
    with small(search__methods__sweep__MOST_DRAWS=8, search__methods__sweep__FEWEST_DRAWS=8):
        return searched()


def beside(run, **constants):
    """A case while others are crossed."""

    def both():
        with small(**constants):
            return run()

    return both


passed = beside(searched, partitions__passes__GATHERED_LABELS=0)
sampled = beside(
    searched,
    partitions__passes__GATHERED_LABELS=0,
    search__methods__many_labels__SOME_ITEMS=5,
)
many = beside(searched, search__methods__sweep__FEWEST_DRAWS=8)
wide = beside(searched, search__methods__sweep__SAMPLE_LABELS=0)
tried = beside(partial(searched, method="auto"), search__methods__registry__FEW_DRAWS=0)
tried_of_few = beside(
    partial(searched, method="auto"), search__methods__registry__ENUMERATED_ITEMS=0
)


def apart(a, b):
    """Share of the pairs that are together in one of two partitions only."""
    return float(np.mean((a[:, None] == a) != (b[:, None] == b)))


def evaluated():
    """What a loss of which only distances are known is said to be, it is."""
    few, loss = DRAWS[:4], pt.CallableLoss(apart)
    found = pt.estimate(few, loss=loss, bound=None)
    assert found.expected_loss == pytest.approx(pt.expected_loss(found.labels, few, loss)[0])


def ruled():
    """The best of all partitions into three clusters, none a singleton, is found."""
    partitions, losses = all_losses(DRAWS, pt.VI())
    mine = [np.bincount(p).size == 3 and np.bincount(p).min() >= 2 for p in partitions]
    found = pt.estimate(DRAWS, n_clusters=3, min_size=2, bound=None)
    assert found.expected_loss == pytest.approx(losses[mine].min(), abs=ALMOST)
    return found.expected_loss


walked = beside(ruled, search__constraints__ENUMERATED_ITEMS=0)


def bounded(loss=LOSS, draws=DRAWS):
    """A bound is below the minimum of all partitions."""
    found = pt.estimate(draws, loss=loss, method="sweep", bound="fast")
    assert 0.0 <= found.lower_bound <= all_losses(draws, loss)[1].min() + ALMOST
    return found.expected_loss


def matched():
    """The same where only matched draws prove something."""
    efforts = {"fast": dataclasses.replace(search_bound.EFFORTS["fast"], table_steps=0)}
    with small(search__lower_bounds__bound__EFFORTS=efforts):
        return bounded()


def triangles():
    """The same where pairs that are mostly together, and pairs mostly apart, contradict."""
    return bounded(pt.Binder(), CONTRADICTING)


def path():
    """Corners are no lower than the least loss at their prices."""
    found = pt.price_path(DRAWS, bound=None)
    price = 0.5 * (found.low + found.high)
    loss = pt.VI(a=price)
    mine = pt.expected_loss(found.at(price), DRAWS, loss=loss)[0]
    assert mine == pytest.approx(least(loss), abs=ALMOST)
    return found.n_clusters


walked_path = beside(path, search__price_path__ENUMERATED_ITEMS=0)


def short_curve():
    """A summary's curve says what its partitions lose on all draws."""
    found = pt.summarize(DRAWS, bound=None).curve
    for k, labels, loss in zip(found.k, found.labels, found.expected_loss, strict=True):
        assert loss == pytest.approx(pt.expected_loss(labels, DRAWS)[0])
        assert loss >= least(pt.VI(), int(k)) - ALMOST
    return found.estimate


def unasked():
    """What a summary says without request does not change its answer."""
    return pt.summarize(DRAWS, bound=None).labels


def completed():
    """What completes a partial partition agrees with it and loses no less than the best."""
    given = PartialPartition(np.array([0, 0, -1, -1, -1, -1, -1], np.int32))
    full = complete(DRAWS, given)
    assert given.agrees(full)
    partitions, losses = all_losses(DRAWS, pt.VI())
    best = losses[[given.agrees(p) for p in partitions]].min()
    loss = pt.expected_loss(full, DRAWS)[0]
    assert loss == pytest.approx(best, abs=ALMOST)
    return loss


def core(bound="tight"):
    """A core has the probability it says, and no bound is smaller than it."""
    found = pt.credible_core(DRAWS, prob=0.5, bound=bound)
    holds = np.mean([found.partial.agrees(row) for row in DRAWS.labels])
    assert found.probability == pytest.approx(holds)
    assert holds >= 0.5
    assert found.size <= found.upper_bound <= 7
    return found.size


coloured = beside(core, credible__core_bound___BYTES=0)


def quick():
    """A quick core holds, where there is one."""
    found = quick_core(as_posterior(DRAWS), 0.5)
    if found is not None:
        assert np.mean([found.partial.agrees(row) for row in DRAWS.labels]) >= 0.5


def representatives(bound="fast", draws=DRAWS):
    """Two partitions, as far from the draws as they say, and a bound below that."""
    found = pt.representatives(draws, n=2, bound=bound)
    nearest = np.min([pt.VI().distances(row, draws) for row in found.labels], axis=0)
    assert found.distance == pytest.approx(nearest.mean())
    assert 0.0 <= found.lower_bound <= found.distance + ALMOST
    return len(found.labels)


rivals_of_many = beside(representatives, rivals__quantise___FEWEST_DRAWS=8)
rivals_of_wide = beside(representatives, rivals__quantise___SAMPLE_LABELS=0)
rivals_of_sample = beside(representatives, rivals__quantise___MOST_DRAWS=8)


def drifts():
    """Draws in which nothing changes do not drift."""
    same = pt.Draws(np.tile([0, 0, 1, 1, 2, 2, 2], (60, 1)))
    return drift(same, inflation=1.0)


def numbered():
    """Labels far apart become canonical."""
    return pt.Draws(np.array([[7, 7, 10**9, -4], [1, 0, 1, 0]])).labels


def similarity():
    """Shares of draws in which two are together."""
    wanted = (DRAWS.labels[:, :, None] == DRAWS.labels[:, None, :]).mean(axis=0)
    found = pt.similarity(DRAWS)
    assert np.allclose(found, wanted)
    return found


def heat_map(most_cells=3):
    """The cells of a map with fewer than items have the means of the matrix."""
    found = prepare_similarity(DRAWS, DRAWS.labels[0], most_cells=most_cells)
    matrix = pt.similarity(DRAWS)[np.ix_(found.order, found.order)]
    corner = matrix[: found.edges[1], found.edges[-2] :]
    assert found.values[0, -1] == pytest.approx(corner.mean())
    return found.values


def explained():
    """Shares of the changes between two partitions."""
    told = pt.explain([0, 0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 2, 2, 0])
    assert sum(change.share for change in told.changes) == pytest.approx(1.0)
    return [change.share for change in told.changes]


def worded():
    """A bound is described; what differs is put into words where there are few items."""
    ball = pt.credible_ball(DRAWS, DRAWS.labels[0])
    return bound_text(ball, "horizontal").split(" From the estimate")[0]


def pictured():
    """A picture in a notebook, or none."""
    shown = thumbnail(DRAWS, DRAWS.labels[0], DRAWS.labels.size)
    assert shown is None or shown.startswith("data:image/png")


def log_prior():
    """Singletons are as likely as the factor for their number of clusters says."""
    prior = pt.FiniteMixture()
    found = prior._log_v(5, np.arange(1.0, 6.0))
    assert found[4] == pytest.approx(prior.log_probability(range(5)))
    return found


def started():
    """Every chain starts from a partition of all items."""
    data = np.random.default_rng(0).normal(size=(9, 1))
    generators = np.random.default_rng(1).spawn(3)
    starts = starting_partitions(None, data, pt.DirichletProcess(1.0), generators)
    assert all(np.array_equal(pt.canonical(s), s) for s in starts)
    return [s.size for s in starts]


def doubted():
    """A loss that cannot judge an allocation finds the minimum, also with less work."""
    with small(search__methods__sweep__MUCH_WORK=1e6):
        return searched(pt.NID())


disputed = beside(doubted, search__methods__sweep__KINDS=9)


def read(suffix):
    """What was written is read."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / f"draws{suffix}"
        pt.write_draws(DRAWS, file)
        return pt.read_draws(file).labels


read_in_blocks = beside(partial(read, ".csv"), io__source___BLOCK_BYTES=4)


def framed():
    """A report's map has frames, or none where there are too many clusters."""
    heat = prepare_similarity(DRAWS, DRAWS.labels[0])
    _heat(heat, words(DRAWS.kind))
    return heat.values


def density():
    """The density of a fit."""
    data = np.random.default_rng(0).normal(size=12)
    fit = pt.sample(data, draws=8, burn_in=2, chains=1, rng=0)
    return fit.density(np.linspace(-1, 1, 3)).mean
