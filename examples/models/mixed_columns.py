"""
Columns of different kinds
==========================

Counts, categories and measurements in one mixture: a product of kernels, a prior on the number
of components, and prediction for a new item.
"""

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

import partita as pt

# %%
# Forty customers of two kinds: number of visits, favourite department, amount spent.
rng = np.random.default_rng(5)
kind = np.repeat([0, 1], 20)
department = np.where(rng.random(40) < 0.85, kind, 1 - kind)
customers = pd.DataFrame(
    {
        "visits": rng.poisson(np.where(kind == 0, 3, 15)),
        "department": np.array(["books", "tools"])[department],
        "spent": rng.normal(np.where(kind == 0, 20.0, 60.0), 8.0),
    }
)

# %%
# One kernel per group of columns.
kernel = pt.Product(
    (pt.GammaPoisson(shape=1, rate=0.1), ["visits"]),
    (pt.DirichletCategorical(), ["department"]),
    (pt.NormalInverseGamma(mean=40, precision=0.1, shape=2, rate=60), ["spent"]),
)
prior = pt.FiniteMixture(mean_components=3)
fit = pt.sample(customers, kernel=kernel, prior=prior, draws=500, burn_in=300, rng=0)
best = pt.estimate(fit.draws)
print(best)
print(f"VI to the two kinds: {pt.distance(best, kind):.2f} bits")

# %%
# How often each number of clusters was drawn.
figure, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
pt.plots.n_clusters(fit.draws, ax=ax)
plt.show()

# %%
# A new customer: probabilities of the clusters, and of a new one.
new = pd.DataFrame({"visits": [14], "department": ["tools"], "spent": [55.0]})
print(fit.predict(new, best.labels).round(3))
