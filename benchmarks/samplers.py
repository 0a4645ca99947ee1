"""Mixture samplers: time, and effective draws per yardstick unit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from arviz_stats.base import array_stats
from examples.paper.draws import find_draws
from numpy.typing import NDArray

import partita as pt
from benchmarks.job import Job, Setup
from benchmarks.yardstick import Yardstick

PAPER_KERNEL = pt.NormalInverseGamma(mean=0, precision=0.5, shape=2, rate=1)


def example1() -> NDArray[np.float64]:
    """The paper's data, or a simulation where they are not there."""
    folder = find_draws()
    if folder is not None:
        with np.load(folder / "example1.npz") as stored:
            return np.asarray(stored["data"])
    return pt.datasets.four_normals(n=200, rng=0).data


def clusters_in_space(n: int, k: int, d: int) -> NDArray[np.float64]:
    """Items around k well separated centres in d dimensions."""
    rng = np.random.default_rng(1)
    centers = 4 * rng.standard_normal((k, d))
    return centers[rng.integers(0, k, n)] + rng.standard_normal((n, d))


def run(make: Callable[[], NDArray[np.float64]], iterations: int, **options: Any) -> Setup:
    """One chain; a tenth of the iterations, at most 1,000, is burn-in."""

    def setup() -> Callable[[], pt.Fit]:
        data = make()
        burn_in = min(1000, iterations // 11)
        settings = {"chains": 1, "rng": 1, "n_jobs": 1, "progress": False}
        settings |= {"kernel": "empirical", "initial": "one"} | options
        pt.sample(data, draws=1, burn_in=0, **settings)  # compiled or loaded before any timing
        return lambda: pt.sample(data, draws=iterations - burn_in, burn_in=burn_in, **settings)

    return setup


def entropies(labels: NDArray[Any]) -> NDArray[np.float64]:
    """Entropy of each draw, in bits."""
    shares = np.stack([(labels == j).mean(axis=1) for j in range(int(labels.max()) + 1)])
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    return -(shares * logs).sum(axis=0)


def effective(fit: pt.Fit) -> str:
    """Effective draws, in all and per unit of the run itself."""
    units = fit.seconds / Yardstick().seconds()
    chains = fit.trace["n_clusters"].shape[0]
    parts = []
    for name, values in (
        ("k", fit.trace["n_clusters"].astype(float)),
        ("entropy", entropies(fit.draws.labels).reshape(chains, -1)),
    ):
        ess = float(array_stats.ess(values))
        parts.append(f"ESS {name} {ess:.0f} ({ess / units:.1f} per u)")
    return ", ".join(parts)


def per_item(fit: pt.Fit) -> str:
    """Nanoseconds per item and iteration, and the clusters found."""
    each = fit.seconds / fit.settings.iterations / fit.draws.n_items
    return f"{each * 1e9:.0f} ns per item, {int(fit.draws.n_clusters[-1])} clusters"


def growth(n: int, k: int, d: int) -> Job:
    start = {"initial": "kmeans"}
    name = f"sampler, N={n:,}, K={k}, d={d}, 110 iterations"
    return Job(name, run(lambda: clusters_in_space(n, k, d), 110, **start), show=per_item)


PAPER = {"kernel": PAPER_KERNEL}

JOBS = [
    Job(
        "sampler, Example 1, 11,000 iterations",
        run(example1, 11_000, **PAPER),
        60,
        "sampler_example1",
        show=effective,
    ),
    Job(
        "sampler, Example 1, 11,000 iterations, Gibbs alone",
        run(example1, 11_000, split_merge=0, **PAPER),
        60,
        "sampler_example1",
        show=effective,
    ),
    Job(
        "sampler, Example 1, 11,000 iterations, concentration 1",
        run(example1, 11_000, prior=pt.DirichletProcess(1.0), **PAPER),
        peer="sampler_example1_fixed",
        show=effective,
    ),
    Job(
        "sampler, galaxies, 11,000 iterations",
        run(pt.datasets.galaxies, 11_000),
        peer="sampler_galaxies",
        show=effective,
    ),
    Job(
        "sampler, four normals, N=1,600, 11,000 iterations",
        run(lambda: pt.datasets.four_normals(n=1600, rng=0).data, 11_000, **PAPER),
        show=effective,
    ),
    growth(2_000, 10, 2),
    growth(8_000, 10, 2),
    growth(2_000, 40, 10),
    growth(2_000, 10, 10),
    growth(2_000, 10, 40),
    Job(
        "sampler, N=20,000, K=20, d=10, 1,000 iterations",
        run(lambda: clusters_in_space(20_000, 20, 10), 1_000, initial="kmeans"),
        show=per_item,
    ),
]
