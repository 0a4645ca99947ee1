"""
A loss of your own
==================

The question decides what a wrong clustering costs. Binder's loss asks about pairs: are these two
together? Here the question is about three: how often do two clusterings disagree on whether three
items share a cluster? One line, and search, proof and ball come with it.
"""

import numpy as np
from matplotlib import pyplot as plt

import partita as pt

# %%
# A cluster of size x holds x³ ordered triples. Those together in one clustering, plus those in the
# other, less twice those in both, are the ones on which they disagree. ``metric=True`` is a claim,
# checked on all partitions of six items.
triples = pt.Additive(lambda x: x**3, scale=lambda n: n**3, metric=True)
print(pt.distance([0, 0, 1, 1], [0, 0, 0, 1], loss=triples))

# %%
# Beside the variation of information and Binder's loss, on the same draws: one row per loss, one
# dot per galaxy.
velocities = pt.datasets.galaxies()
fit = pt.sample(velocities, kernel="empirical", draws=250, burn_in=200, chains=2, rng=1)
found = {loss: pt.estimate(fit, loss=loss) for loss in ("vi", "binder", triples)}
figure, ax = plt.subplots(figsize=(8, 3.2), layout="constrained")
for row, best in enumerate(found.values()):
    heights = row + 0.25 * np.sin(np.arange(82))  # so that dots do not hide each other
    ax.scatter(velocities, heights, c=best.labels, cmap="tab10", vmax=9, s=22)
names = ["variation of\ninformation", "pairs (Binder)", "triples"]
ax.set_yticks(range(3), names)
ax.invert_yaxis()
ax.set_xlabel("velocity, 1,000 km/s")
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# A metric has a proof and a ball.
best = found[triples]
ball = pt.credible_ball(fit, best)
print(f"expected {best.expected_loss:.3f}, proven gap {100 * best.gap:.1f}%")
print(f"95% of the draws are within {ball.radius:.2f}")
