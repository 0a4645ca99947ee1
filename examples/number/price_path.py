"""
Would another price give another number?
========================================

How firm is the number of clusters? A loss that prices splitting lower finds more
clusters. The price path has every clustering that is optimal at some price, and the curve what
each number of clusters costs.
"""

from matplotlib import pyplot as plt

import partita as pt

fit = pt.sample(pt.datasets.galaxies(), kernel="empirical", draws=250, burn_in=200, chains=2, rng=1)

# %%
# Every optimal clustering from the price 0.4 on. Usual is 1: splitting a true cluster is as bad
# as merging two.
path = pt.price_path(fit, low=0.4, bound=None)
print(path)

# %%
# Bands are clusters, which split and merge along the price. The bracket marks the prices at which
# the estimate stays what it is.
figure, ax = plt.subplots(figsize=(8, 4.4), layout="constrained")
pt.plots.price_path(path, ax=ax)
plt.show()

# %%
# The same question the other way round: what does each number cost at least?
curve = pt.clusters_curve(fit, k=range(1, 9))
print(curve.sentence)
figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
pt.plots.clusters_curve(curve, ax=ax)
plt.show()
