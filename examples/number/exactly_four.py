"""
Exactly four clusters, none smaller than five
=============================================

The number is given: four treatment arms, say, or no group with fewer than five members. What is
the best clustering that keeps the rule, and what does the rule cost?
"""

import numpy as np
from matplotlib import pyplot as plt

import partita as pt

velocities = pt.datasets.galaxies()
fit = pt.sample(velocities, kernel="empirical", draws=250, burn_in=200, chains=2, rng=1)

# %%
# Without a rule, with one, with the other, and with both.
rules = {
    "no rule": {},
    "n_clusters=4": {"n_clusters": 4},
    "min_size=5": {"min_size": 5},
    "both": {"n_clusters": 4, "min_size": 5},
}
found = {name: pt.estimate(fit, bound=None, **rule) for name, rule in rules.items()}
for name, best in found.items():
    sizes = sorted(np.bincount(best.labels).tolist(), reverse=True)
    print(f"{name:<14} {best.expected_loss:.3f} bits, sizes {sizes}")

# %%
# The estimate itself says what its rule costs.
print(found["both"].search.limits[0])

# %%
# On the data: one row per rule, one dot per galaxy.
figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
for row, best in enumerate(found.values()):
    heights = row + 0.25 * np.sin(np.arange(82))  # so that dots do not hide each other
    ax.scatter(velocities, heights, c=best.labels, cmap="tab10", vmax=9, s=22)
ax.set_yticks(range(4), found)
ax.invert_yaxis()
ax.set_xlabel("velocity, 1,000 km/s")
ax.spines[["top", "right"]].set_visible(False)
plt.show()
