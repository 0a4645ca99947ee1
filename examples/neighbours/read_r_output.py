"""
Draws saved in R
================

You sampled in R. A matrix saved by ``saveRDS``, whole fits of BNPmix, dirichletprocess or AntMAN,
coda's files and CSV are read as they are; labels may be 1-based and have gaps.
"""

import tempfile
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

import partita as pt

# %%
# A file as R would write it; ``saveRDS(draws, "draws.rds")`` in R makes the same.
folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(4)
groups = np.repeat([1, 2, 5], [25, 15, 10])
matrix = np.where(rng.random((400, 50)) < 0.1, rng.choice([1, 2, 5], (400, 50)), groups)
pt.write_draws(matrix, folder / "draws.rds")

# %%
# Read it, and do what mcclust.ext's ``minVI`` and ``credibleball`` did.
draws = pt.read_draws(folder / "draws.rds")
best = pt.estimate(draws)
ball = pt.credible_ball(draws, best)
print(draws)
print(f"{best.n_clusters} clusters, expected VI {best.expected_loss:.3f}")
print(f"no partition is below {best.lower_bound:.3f}")
print(f"radius {ball.radius:.3f}, {ball.lower.n_clusters[0]} clusters in the finest bound")

# %%
# The similarity matrix, as ``comp.psm`` has it, ordered by the estimate.
figure, ax = plt.subplots(figsize=(5.6, 5), layout="constrained")
pt.plots.similarity(draws, estimate=best, ax=ax)
plt.show()

# %%
# Back to R: 1-based, one row.
pt.write_draws(best.labels[None, :], folder / "estimate.rds")
print("cl <- readRDS('estimate.rds')[1, ]")
