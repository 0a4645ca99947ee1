"""
Does the number of clusters converge?
=====================================

The paper's Example 1, four normals, at growing N: clusters in the draws, in the VI estimate, in
the fewest within 1% of its loss, and in Binder's estimate. Two priors and few rows here; with
``--table`` and numbers of rows the table of all six priors on the page "Does the number of
clusters converge?", three data sets each: ``python consistency.py --table 200 400 800``.
"""

import sys

import partita as pt

WHOLE = "--table" in sys.argv
ROWS = tuple(map(int, sys.argv[sys.argv.index("--table") + 1 :])) if WHOLE else (100, 200)
DATA_SETS = 3 if WHOLE else 1
RUN = {"draws": 250, "thin": 4, "burn_in": 250} if WHOLE else {"draws": 100, "burn_in": 100}
PRIORS = {
    "DP, α = 1": pt.DirichletProcess(1.0),
    "MFM, γ = 1": pt.FiniteMixture(),
    "DP, α ~ Gamma(1, 1)": pt.DirichletProcess(pt.Gamma(1, 1)),
    "MFM, dynamic, F(6, 3)": pt.FiniteMixture(pt.F(6, 3), dynamic=True),
    "Pitman–Yor(1, 0.25)": pt.PitmanYor(1.0, 0.25),
    "exactly 10, γ = 0.1": pt.FiniteMixture.exactly(10, weight=0.1),
}
KERNEL = pt.NormalInverseGamma(mean=0, precision=0.5, shape=2, rate=1)

# %%
# The truth is four.
for name in list(PRIORS) if WHOLE else list(PRIORS)[:2]:
    for n in ROWS:
        found = []
        for seed in range(DATA_SETS):
            data = pt.datasets.four_normals(example=1, n=n, rng=10 * n + seed).data
            fit = pt.sample(data, kernel=KERNEL, prior=PRIORS[name], chains=2, rng=seed, **RUN)
            vi = pt.estimate(fit, bound=None).n_clusters
            fewest = pt.estimate(fit, bound=None, fewest_within=0.01).n_clusters
            binder = pt.estimate(fit, loss="binder", bound=None).n_clusters
            found.append((fit.draws.n_clusters.mean(), vi, fewest, binder))
        mean, vi, fewest, binder = zip(*found, strict=True)
        print(
            f"{name}, N = {n}: E k {sum(mean) / len(mean):.1f}, VI {vi}, fewest {fewest}, "
            f"Binder {binder}",
            flush=True,
        )
