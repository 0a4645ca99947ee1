"""Would another prior, chain or kernel say the same: the tables of the page, from longer runs.

``python -m benchmarks.sensitivity`` prints them; a few minutes on one core. Wine needs
scikit-learn.
"""

from __future__ import annotations

import sys

import numpy as np

import partita as pt
from partita.errors import ReweightingError

RUN = {"burn_in": 1_000, "chains": 4, "rng": 0, "progress": False}


def galaxies() -> None:
    """Reweighted from a concentration of 1, beside runs under the prior itself."""
    data = pt.datasets.galaxies()
    kernel = pt.NormalInverseGamma.empirical(data)
    fit = pt.sample(data, kernel=kernel, prior=pt.DirichletProcess(1.0), draws=2_500, **RUN)
    print("galaxies: to, E k reweighted, run anew, Kish, ESS, k-hat, log evidence ratio")
    for prior in (*(pt.DirichletProcess(a) for a in (0.25, 0.5, 2.0, 4.0)), pt.FiniteMixture()):
        again = pt.sample(data, kernel=kernel, prior=prior, draws=2_500, **RUN)
        anew = f"{again.draws.n_clusters.mean():.3f}"
        try:
            draws = fit.reweighted(prior)
        except ReweightingError as error:
            left = f"Kish {error.n_effective:.0f}, ESS {error.ess:.0f}, k-hat {error.k_hat:.2f}"
            print(f"  {prior!r:.60}: refused ({left}); run anew {anew}")
            continue
        how = draws.reweighting
        print(
            f"  {prior!r:.60}: {draws.weights @ draws.n_clusters:.3f}, {anew}, "
            f"{how.n_effective:,.0f}, {how.ess:,.0f}, {how.k_hat:.2f}, "
            f"{how.log_evidence_ratio:.2f} ± {how.log_evidence_ratio_mcse:.2f}"
        )
    print(pt.prior_sensitivity(fit), "\n")


def wine() -> None:
    """178 wines of 13 columns: priors of the best kernel, and the kernels compared."""
    from sklearn.datasets import load_wine

    data, truth = load_wine(return_X_y=True)
    data = (data - data.mean(axis=0)) / data.std(axis=0)
    kernels = {
        "normal": pt.NormalInverseGamma.empirical(data),
        "hierarchical": pt.NormalInverseGamma.hierarchical(data),
        "wishart": pt.NormalInverseWishart.empirical(data),
    }
    prior = pt.DirichletProcess(1.0)
    fits = {
        name: pt.sample(data, kernel=kernel, prior=prior, draws=1_000, **RUN)
        for name, kernel in kernels.items()
    }
    found = pt.compare(fits, rng=0)
    print(f"wine:\n{found}")
    for name, fit in fits.items():
        estimate = pt.estimate(fit, rng=0)
        away = pt.distance(estimate.labels, truth)
        print(f"  {name}: {estimate.n_clusters} clusters, {away:.2f} bits from the cultivars")
    for name in (found.best, "hierarchical"):
        print(f"{name}:\n{pt.prior_sensitivity(fits[name])}\n")


def chains() -> None:
    """Six chains that do not meet: held-out density, stacking weights and log posterior."""
    rng = np.random.default_rng(1)
    centers = rng.uniform(-16, 16, (20, 2))
    rows = centers[rng.integers(20, size=2_500)] + rng.standard_normal((2_500, 2))
    data, new = rows[:2_000], rows[2_000:]
    kernel = pt.NormalInverseGamma.empirical(data)
    run = {**RUN, "chains": 6, "burn_in": 300}
    fit = pt.sample(data, kernel=kernel, draws=100, initial="kmeans", **run)
    held, left = fit.stack_chains(new), fit.stack_chains()
    print("chains: mean clusters, held out, left out, weights by either, mean log posterior")
    log_posterior = fit.trace["log_posterior"].mean(axis=1)
    for c in range(6):
        print(
            f"  {held.n_clusters[c]:.1f}  {held.mean_log_density[c]:.3f}  "
            f"{left.mean_log_density[c]:.3f}  {held.weights[c]:.2f}  {left.weights[c]:.2f}  "
            f"{log_posterior[c]:,.0f}"
        )
    by_left, by_posterior = (
        np.corrcoef(held.mean_log_density, x)[0, 1] for x in (left.mean_log_density, log_posterior)
    )
    print(f"  correlation with held out: left out {by_left:.2f}, log posterior {by_posterior:.2f}")


if __name__ == "__main__":
    for name in sys.argv[1:] or ("galaxies", "wine", "chains"):
        {"galaxies": galaxies, "wine": wine, "chains": chains}[name]()
