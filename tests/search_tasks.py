"""Search tasks as `estimate` makes them, and posteriors small enough for oracles."""

import numpy as np

import partita as pt
from partita._resources import Clock
from partita.losses.evaluate import as_loss
from partita.search.task import Options, Task
from reference import ground_truth, search_methods


def make_task(
    draws, loss="vi", *, n_starts=8, max_clusters=None, neighbours=None, n_jobs=None, clock=None
) -> Task:
    nobody = np.empty((0, draws.n_items), np.int32)
    return Task(
        draws=draws.unique(),
        given_similarity=None,
        loss=as_loss(loss),
        options=Options(n_starts, nobody, max_clusters, neighbours, n_jobs),
        rng=np.random.default_rng(0),
        clock=clock or Clock(None),
        report=lambda message: None,
    )


def random_draws(n_items: int, n_draws: int, seed: int, *, weighted: bool = True) -> pt.Draws:
    """Noisy copies of one partition, some draws trivial, with unequal weights."""
    rng = np.random.default_rng(seed)
    base = rng.integers(0, max(1, n_items // 3), n_items)
    labels = np.where(
        rng.random((n_draws, n_items)) < 0.3, rng.integers(0, n_items, (n_draws, n_items)), base
    )
    labels[0] = 0
    labels[-1] = np.arange(n_items)
    return pt.Draws(labels, weights=rng.random(n_draws) + 0.1 if weighted else None)


def stored_draws(name: str) -> pt.Draws:
    """The paper's draws."""
    return ground_truth.stored_draws(f"paper/draws/{name}.npz")


def found(candidates) -> list[list[int]]:
    """Candidates as sorted lists, to compare as sets."""
    return sorted(c.labels.tolist() for c in candidates)


def random_posterior(n_items: int, n_draws: int, seed: int, *, weighted: bool = False) -> pt.Draws:
    """Noisy copies of one partition: some agreement, some doubt."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, max(2, n_items // 3), n_items)
    noise = rng.integers(0, n_items, (n_draws, n_items))
    keep = rng.random((n_draws, n_items)) < rng.uniform(0.3, 0.95)
    weights = rng.gamma(0.5, size=n_draws) + 1e-3 if weighted else None
    return pt.Draws(np.where(keep, truth, noise), weights=weights)


def all_losses(draws: pt.Draws, loss: pt.VI) -> tuple[np.ndarray, np.ndarray]:
    """Every partition of the items, and its expected loss."""
    partitions = np.array(list(pt.lattice.all_partitions(draws.n_items)))
    return partitions, pt.expected_loss(partitions, draws, loss=loss)


def minimisers(loss, candidates, draws: pt.Draws) -> list[list[int]]:
    """Every candidate whose expected loss ties with the lowest, by the reference implementation."""
    unique = draws.unique()
    rows, mass = unique.labels.tolist(), unique.probabilities.tolist()
    return search_methods.minimisers(loss, candidates, rows, mass)
