"""
Which items are grouped reliably?
=================================

Which items are grouped identically with probability 0.9, all at once? An item's own probability
does not tell: many items that are each probably right are hardly ever right together. The
credible core is a large set of such items, found on one part of the draws and
measured on the other.
"""

import numpy as np
from matplotlib import pyplot as plt

import partita as pt

# %%
# Four groups of 15 points, with doubtful ones between them.
rng = np.random.default_rng(3)
centers = np.array([[-3, -3], [-3, 3], [3, -3], [3, 3]])
points = rng.normal(np.repeat(centers, 15, axis=0), 1.2)
fit = pt.sample(points, kernel="empirical", draws=500, burn_in=300, chains=4, rng=0)
summary = pt.summarize(fit)
print(f"{(summary.items.probability >= 0.9).sum()} of 60 items have a probability of 0.9 or more")

# %%
# Together they hold in far fewer draws. The core at three levels: the more is asked, the fewer
# items can be promised.
core = pt.credible_core(fit, prob=0.9)
for level in (0.9, 0.7, 0.5):
    at = core.at(level)
    print(f"{level}: {at.sentence}")

# %%
# Items outside the core are grey: of them nothing is said.
figure, axes = plt.subplots(1, 3, figsize=(11, 3.8), sharey=True, layout="constrained")
for ax, level in zip(axes, (0.9, 0.7, 0.5), strict=True):
    labels = core.at(level).labels
    ax.scatter(*points[labels < 0].T, s=14, color="0.8")
    inside = labels >= 0
    ax.scatter(*points[inside].T, s=26, c=labels[inside], cmap="tab10", vmax=9)
    ax.set_title(f"all true at once with probability {level}", fontsize=10)
    ax.set_aspect("equal")
plt.show()

# %%
# What a set was chosen on, it fits too well: the share in the draws that found it is no
# probability.
described = pt.credible_core(fit, prob=0.7, held_out=False)
found = core.at(0.7)
print(f"{described.size} items in {described.in_sample_probability:.2f} of these draws")
print(f"{found.size} items with probability {found.probability:.2f} on draws held out")

# %%
# The best clustering of all items that agrees with the core.
full = core.completed("vi")
print(f"{pt.n_clusters(full)} clusters, {pt.distance(full, summary):.2f} bits from the estimate")
