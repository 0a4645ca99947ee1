"""A finite mixture of normals with its labels: what the recipes of the pages stand on.

weights ~ Dirichlet(1, …, 1), means ~ N(0, 10²), variances ~ InverseGamma(3, 2), K components. A
Gibbs sampler that shares nothing with the package, and the exact posterior of few items.
"""

from itertools import product

import numpy as np
from scipy import special, stats

MEAN_SD, SHAPE, RATE = 10.0, 3.0, 2.0


def page_data():
    """The sixty measurements of the pages."""
    return np.random.default_rng(3).normal(np.repeat([-4, 0, 3], 20), 1)


def log_weights(parameters, x):
    """log(w_k) + log p(x_i | component k), shape (…, item, component)."""
    w, m, v = (parameters[name][..., None, :] for name in ("weights", "means", "variances"))
    return np.log(w) + stats.norm.logpdf(np.asarray(x)[:, None], m, np.sqrt(v))


def gibbs(x, k, *, draws, burn_in, chains, seed):
    """Draws by name, shape (chain, draw, k), and labels z, shape (chain, draw, item)."""
    kept = {name: np.empty((chains, draws, k)) for name in ("weights", "means", "variances")}
    kept["z"] = np.empty((chains, draws, len(x)), int)
    for chain in range(chains):
        rng = np.random.default_rng([seed, chain])
        now = {
            "weights": np.full(k, 1 / k),
            "means": np.quantile(x, (np.arange(k) + 0.5) / k),
            "variances": np.ones(k),
        }
        for step in range(-burn_in, draws):
            z = (log_weights(now, x) + rng.gumbel(size=(len(x), k))).argmax(axis=1)
            sizes = np.bincount(z, minlength=k)
            now["weights"] = rng.dirichlet(1 + sizes)
            precision = sizes / now["variances"] + MEAN_SD**-2
            sums = np.bincount(z, weights=x, minlength=k) / now["variances"]
            now["means"] = rng.normal(sums / precision, precision**-0.5)
            squares = np.bincount(z, weights=(x - now["means"][z]) ** 2, minlength=k)
            now["variances"] = (RATE + squares / 2) / rng.gamma(SHAPE + sizes / 2)
            if step >= 0:
                for name, value in {**now, "z": z}.items():
                    kept[name][chain, step] = value
    return kept


def exact_posterior(x, k):
    """Posterior probability of every partition of few items, by its canonical labels."""
    variances = np.exp(np.linspace(-4, 6, 2_001))  # log-spaced, trapezoidal in the logarithm
    prior = stats.invgamma.pdf(variances, SHAPE, scale=RATE) * variances
    marginal = {}
    for chosen in product([False, True], repeat=len(x)):
        cells = x[list(chosen)]
        n, total = cells.size, cells.sum()
        # The mean integrated out: N(cells | 0, v·I + MEAN_SD²·11ᵀ).
        shared = variances + n * MEAN_SD**2
        distance = ((cells**2).sum() - MEAN_SD**2 * total**2 / shared) / variances
        log_det = (n - 1) * np.log(variances) + np.log(shared)
        density = np.exp(-0.5 * (n * np.log(2 * np.pi) + log_det + distance)) if n else 1.0
        marginal[chosen] = np.trapezoid(prior * density, np.log(variances))
    found = {}
    for z in product(range(k), repeat=len(x)):
        sizes = np.bincount(z, minlength=k)
        p = np.exp(special.gammaln(1 + sizes).sum())
        for j in range(k):
            p *= marginal[tuple(label == j for label in z)]
        first = {label: number for number, label in enumerate(dict.fromkeys(z))}
        key = tuple(first[label] for label in z)
        found[key] = found.get(key, 0.0) + p
    whole = sum(found.values())
    return {key: p / whole for key, p in found.items()}
