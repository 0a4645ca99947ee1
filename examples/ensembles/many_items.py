"""
Twenty thousand items
=====================

Nothing here needs the matrix of all pairs: estimate, ball and uncertain items cost time and memory
in proportion to the draws.
"""

import numpy as np
from matplotlib import pyplot as plt

import partita as pt

# %%
# A hundred runs that label 20,000 items by twelve groups; in each run three groups are merged with
# a neighbour, and one item in twenty is somewhere else.
rng = np.random.default_rng(0)
truth = np.sort(rng.integers(0, 12, 20_000))
runs = np.empty((100, truth.size), np.uint8)
for run in runs:
    merged = np.arange(12)
    merged[rng.choice(11, 3, replace=False)] += 1
    run[:] = merged[truth]
    moved = rng.random(truth.size) < 0.05
    run[moved] = rng.integers(0, 12, moved.sum())
draws = pt.Draws(runs, kind="ensemble")
print(draws)
print(f"{draws.labels.nbytes / 1e6:.0f} MB; all pairs would be {8 * 20_000**2 / 1e9:.1f} GB")

# %%
# Fewer starts are enough where groups are clear.
best = pt.estimate(draws, n_starts=4, bound=None)
ball = pt.credible_ball(draws, best)
print(f"{best.n_clusters} clusters, radius {ball.radius:.2f} bits")
print(f"{pt.distance(best, truth):.2f} bits from the groups that were put in")

# %%
# Single rows of the similarity matrix can be looked at, here of 200 items spread over all.
some = np.linspace(0, truth.size - 1, 200).astype(int)
block = pt.similarity(draws, rows=some)[:, some]
figure, ax = plt.subplots(figsize=(5.6, 4.8), layout="constrained")
shown = ax.imshow(block, cmap="Blues", vmin=0, vmax=1)
ax.set(xticks=[], yticks=[], title="200 of 20,000 items")
figure.colorbar(shown, label="share of runs together")
plt.show()
