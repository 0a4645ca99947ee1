"""
The galaxies, from data to a sentence
=====================================

The whole way on the paper's real data: velocities of 82 galaxies, a Dirichlet-process mixture of
normals, the point estimate under the variation of information, and the credible ball around it.
"""

# sphinx_gallery_thumbnail_number = 2

import pandas as pd
from matplotlib import pyplot as plt

import partita as pt

# %%
# Sample
# ------
# Four chains from different starts. The kernel is chosen by the type of the column, the prior is
# the paper's.
velocities = pd.DataFrame({"velocity, 1,000 km/s": pt.datasets.galaxies()})
fit = pt.sample(velocities, kernel="empirical", draws=1_000, burn_in=500, chains=4, rng=1)
print(fit)

# %%
# Summarise
# ---------
summary = pt.summarize(fit)
print(summary)

# %%
# The estimate on the data
# ------------------------
# Each galaxy at its height under the predictive density; stars and bars are posterior means of
# the clusters' means, and two standard deviations.
figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
pt.plots.estimate(summary, fit=fit, ax=ax)
plt.show()

# %%
# What else it could be
# ---------------------
# Centre and bounds of the 95% ball; a cluster keeps its colour from panel to panel.
figure, axes = plt.subplots(2, 2, figsize=(9, 6), layout="constrained")
pt.plots.ball(summary, fit=fit, axes=axes.ravel())
plt.show()

# %%
# Who belongs together
# --------------------
figure, ax = plt.subplots(figsize=(5.5, 5), layout="constrained")
pt.plots.similarity(summary, ax=ax)
plt.show()
