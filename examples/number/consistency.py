"""
Does the number of clusters converge?
=====================================

The paper's Example 1, four normals, at growing N: clusters in the draws, in the VI estimate, in
the fewest within 1% of its loss, and in Binder's estimate. ``ROWS`` and ``PRIORS`` are short here;
the page "Does the number of clusters converge?" has the table of six priors up to 3,200 rows.
"""

import partita as pt

ROWS = (100, 200)
PRIORS = {
    "DP, α = 1": pt.DirichletProcess(1.0),
    "MFM, γ = 1": pt.FiniteMixture(),
}
KERNEL = pt.NormalInverseGamma(mean=0, precision=0.5, shape=2, rate=1)

# %%
# One data set for each number of rows; the truth is four.
for name, prior in PRIORS.items():
    for n in ROWS:
        data = pt.datasets.four_normals(example=1, n=n, rng=n).data
        run = {"draws": 100, "thin": 2, "burn_in": 100, "chains": 2, "rng": 0}
        fit = pt.sample(data, kernel=KERNEL, prior=prior, **run)
        vi = pt.estimate(fit, bound=None).n_clusters
        fewest = pt.estimate(fit, bound=None, fewest_within=0.01).n_clusters
        binder = pt.estimate(fit, loss="binder", bound=None).n_clusters
        mean = fit.draws.n_clusters.mean()
        print(f"{name}, N = {n}: E k {mean:.1f}, VI {vi}, fewest {fewest}, Binder {binder}")
