"""
Missing cells
=============

Some cells of the table are empty. They need no imputation before clustering: they are integrated
out, and can be filled in afterwards, with intervals.
"""

import numpy as np
from matplotlib import pyplot as plt

import partita as pt

# %%
# Three groups in the plane; of twenty points one coordinate is lost.
rng = np.random.default_rng(2)
centers = np.array([[0.0, 0.0], [5.0, 1.0], [2.0, 6.0]])
points = np.concatenate([rng.normal(center, 0.7, (30, 2)) for center in centers])
rows, columns = rng.choice(90, 20, replace=False), rng.integers(0, 2, 20)
table = points.copy()
table[rows, columns] = np.nan

# %%
fit = pt.sample(table, draws=500, burn_in=300, chains=2, rng=0)
best = pt.estimate(fit)
filled = fit.impute(prob=0.9)
print(f"{best.n_clusters} clusters; {filled.mean.size} cells filled in")
lost = points[filled.row, columns[np.argsort(rows)]]
inside = (filled.lower <= lost) & (lost <= filled.upper)
print(f"{inside.mean():.0%} of the 90% intervals hold what was lost")

# %%
# A point with a lost coordinate is a line: its 90% interval. It may span two groups where the
# coordinate that is left does not tell them apart.
figure, ax = plt.subplots(figsize=(6.4, 5.2), layout="constrained")
colors = plt.get_cmap("tab10")(best.labels)
whole = ~np.isnan(table).any(axis=1)
ax.scatter(*points[whole].T, color=colors[whole], s=22)
for row, low, high in zip(filled.row, filled.lower, filled.upper, strict=True):
    x, y = (np.where(np.isnan(value), [low, high], value) for value in table[row])
    ax.plot(x, y, color=colors[row], linewidth=1)
ax.scatter(*filled.filled[filled.row].T, color=colors[filled.row], marker="D", s=26)
ax.set_title("diamonds: filled in, with 90% intervals", fontsize=10)
plt.show()
