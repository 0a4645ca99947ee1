"""
A loss of your own
==================

The question decides what a wrong clustering costs. Here it is about the pairs that are joined:
of the pairs that either clustering joins, which share does only one of them join? A few lines, and
search, proof and ball come with it.
"""

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
# Beside the variation of information and Binder's loss, on the same draws.
fit = pt.sample(pt.datasets.galaxies(), draws=250, burn_in=200, chains=2, rng=1)
found = {loss: pt.estimate(fit, loss=loss) for loss in ("vi", "binder", jaccard)}
figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
for ax, best in zip(axes, found.values(), strict=True):
    pt.plots.estimate(best, fit=fit, ax=ax)
    ax.set_title(f"{best.loss.title}: {best.n_clusters} clusters", loc="left", fontsize=10)
plt.show()

# %%
# A metric has a proof and a ball.
best = found[jaccard]
ball = pt.credible_ball(fit, best)
print(f"expected {best.expected_loss:.3f}, proven gap {100 * best.gap:.1f}%")
print(f"95% of the draws are within {ball.radius:.2f}")
