"""
A loss of your own
==================

The question decides what a wrong clustering costs. Here it is about the pairs that are joined:
of the pairs that either clustering joins, which share does only one of them join? A few lines, and
search, proof and ball come with it.
"""

import numpy as np
from matplotlib import pyplot as plt

import partita as pt


# %%
# The sums count ordered pairs that share a cluster, an item with itself included: in the draw and
# in the estimate, and in both. ``metric=True`` is checked on all partitions of six items.
@pt.loss("Jaccard", term="pairs", metric=True)
def jaccard(joint, estimate, truth, n):
    either = estimate + truth - joint - n
    return (estimate + truth - 2.0 * joint) / either if either > 0.0 else 0.0


print(pt.distance([0, 0, 1, 1], [0, 0, 0, 1], loss=jaccard))

# %%
# Beside the variation of information and Binder's loss, on the same draws: one row per loss, one
# dot per galaxy.
velocities = pt.datasets.galaxies()
fit = pt.sample(velocities, draws=250, burn_in=200, chains=2, rng=1)
found = {loss: pt.estimate(fit, loss=loss) for loss in ("vi", "binder", jaccard)}
figure, ax = plt.subplots(figsize=(8, 3.2), layout="constrained")
for row, best in enumerate(found.values()):
    heights = row + 0.25 * np.sin(np.arange(82))  # so that dots do not hide each other
    ax.scatter(velocities, heights, c=best.labels, cmap="tab10", vmax=9, s=22)
names = [f"{best.loss.title}\n{best.n_clusters} clusters" for best in found.values()]
ax.set_yticks(range(3), names)
ax.invert_yaxis()
ax.set_xlabel("velocity, 1,000 km/s")
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# A metric has a proof and a ball.
best = found[jaccard]
ball = pt.credible_ball(fit, best)
print(f"expected {best.expected_loss:.3f}, proven gap {100 * best.gap:.1f}%")
print(f"95% of the draws are within {ball.radius:.2f}")
