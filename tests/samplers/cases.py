"""Small models for the samplers' tests: each kernel with data, its reference, and each prior."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

import partita as pt
from partita.samplers import parallel
from reference import samplers_models as references


@dataclass(frozen=True)
class Case:
    """A kernel, its rows, and the reference for its predictive density."""

    name: str
    kernel: Any
    rows: Any
    reference: references.Predictive

    @property
    def values(self) -> np.ndarray:
        """The rows as numbers."""
        return np.asarray(self.rows, float).reshape(len(self.rows), -1)

    def __str__(self) -> str:
        return self.name


def cases(n: int = 6, seed: int = 1) -> list[Case]:
    """Data with some structure: two groups, so that posteriors are neither flat nor certain."""
    rng = np.random.default_rng(seed)
    side = np.where(np.arange(n) < n // 2, -1.0, 1.0)
    normal = side[:, None] * [1.2, 0.8] + 0.7 * rng.standard_normal((n, 2))
    wide = np.column_stack([normal, side + 0.5 * rng.standard_normal(n)])
    binary = (rng.random((n, 3)) < np.where(side > 0, 0.8, 0.25)[:, None]).astype(float)
    levels = (rng.integers(0, 3, (n, 2)) + (side[:, None] > 0)) % [3, 4]
    levels[:4] = [[0, 0], [1, 1], [2, 2], [0, 3]]
    counts = rng.poisson(np.where(side > 0, 9, 2)[:, None] * [1, 3]).astype(float)
    mixed = np.column_stack([normal[:, 0], counts[:, 0], binary[:, 0], levels[:, 0]])
    columns = [0, 1, 0], [0.5, 0.5, 2], [2, 3, 3], [1, 2, 0.5]
    plane = [0, 0.5], 0.5, 4, [[1.5, 0.4], [0.4, 1.0]]
    normals, poisson = references.normal_inverse_gamma, references.gamma_poisson
    bernoulli, categorical = references.beta_bernoulli, references.dirichlet_categorical
    one = pt.NormalInverseGamma(mean=0.2, precision=0.5, shape=2, rate=1)
    parts = (
        *((pt.GammaPoisson(2, 0.4), [1]), (one, [0])),
        *((pt.DirichletCategorical(0.6), [3]), (pt.BetaBernoulli(), [2])),
    )
    of_parts = (
        *((poisson(2, 0.4), [1]), (normals(0.2, 0.5, 2, 1), [0])),
        *((categorical(0.6, [3]), [3]), (bernoulli(1, 1), [2])),
    )
    return [
        Case("normal", one, normal, normals(0.2, 0.5, 2, 1)),
        Case("normal by column", pt.NormalInverseGamma(*columns), wide, normals(*columns)),
        Case(
            *("wishart", pt.NormalInverseWishart(*plane), normal),
            references.normal_inverse_wishart(*plane),
        ),
        Case(
            *("bernoulli", pt.BetaBernoulli([0.5, 1, 2], 0.7), binary),
            bernoulli([0.5, 1, 2], 0.7),
        ),
        Case("categorical", pt.DirichletCategorical(0.6), levels, categorical(0.6, [3, 4])),
        Case("poisson", pt.GammaPoisson([2, 1], 0.4), counts, poisson([2, 1], 0.4)),
        Case("product", pt.Product(*parts), mixed, references.product(*of_parts)),
    ]


def log_joint(case: Case, prior: pt.PartitionPrior, labels: np.ndarray) -> float:
    """Log prior and log likelihood of one partition."""
    clusters = (case.values[labels == j] for j in range(labels.max() + 1))
    likelihood = sum(references.log_marginal(case.reference, rows) for rows in clusters)
    return prior.log_probability(labels) + likelihood


def exact(case: Case, prior: pt.PartitionPrior, partitions: np.ndarray) -> np.ndarray:
    """Posterior probabilities of all partitions."""
    log_prior = np.array([prior.log_probability(labels) for labels in partitions])
    return references.exact_posterior(case.values, partitions, case.reference, log_prior)


PRIORS = {
    "dirichlet": pt.DirichletProcess(1.3),
    "dirichlet, random": pt.DirichletProcess(pt.Gamma(2, 1.5)),
    "pitman–yor": pt.PitmanYor(0.6, 0.35),
    "pitman–yor, negative": pt.PitmanYor(-0.2, 0.5),
    "pitman–yor, random": pt.PitmanYor(pt.Gamma(1, 1), 0.35),
    "finite": pt.FiniteMixture(weight=0.8, mean_components=3),
    "finite, exactly 3": pt.FiniteMixture.exactly(3, weight=1.2),
}


def log_prior_by_seating(name: str, sizes: list[int]) -> float:
    """Reference for each prior's log probability; random concentrations by adaptive quadrature."""
    fixed = {
        "dirichlet": {"concentration": 1.3},
        "pitman–yor": {"concentration": 0.6, "discount": 0.35},
        "pitman–yor, negative": {"concentration": -0.2, "discount": 0.5},
    }
    if name in fixed:
        return references.log_prior_sizes("process", sizes, **fixed[name])
    if name == "finite":
        components = stats.poisson.pmf(np.arange(80), 2)
        return references.log_prior_sizes("finite", sizes, weight=0.8, components=components)
    if name == "finite, exactly 3":
        return references.log_prior_sizes("finite", sizes, weight=1.2, components=[0, 0, 1])
    gamma = stats.gamma(2, scale=1 / 1.5) if name == "dirichlet, random" else stats.gamma(1)
    discount = 0.0 if name == "dirichlet, random" else 0.35

    def integrand(alpha: float) -> float:
        log_p = references.log_prior_sizes("process", sizes, concentration=alpha, discount=discount)
        return float(np.exp(log_p) * gamma.pdf(alpha))

    return float(np.log(quad(integrand, 0, np.inf, epsabs=0, epsrel=1e-10)[0]))


def few_rows_in_parallel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Collapsed windows of one row and small thresholds: the parallel sweep has to do the work."""
    monkeypatch.setattr(parallel, "_LEAST_WINDOW", 1)
    monkeypatch.setattr(parallel, "_WINDOW_SHARE", 10**9)
    monkeypatch.setattr(parallel, "_LARGEST_THRESHOLD", 3)
