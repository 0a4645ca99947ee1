"""
Eight losses on the same draws
==============================

Which partition is best depends on how a wrong one is priced. Here all eight losses look at the
same posterior: number of clusters, what is proven, and how far each estimate is from the others.
"""

import numpy as np
from matplotlib import pyplot as plt

import partita as pt

# %%
# The paper's first example: four normal clusters in the plane.
simulated = pt.datasets.four_normals(example=1, n=150, rng=3)
fit = pt.sample(simulated.data, kernel="empirical", draws=500, burn_in=300, chains=4, rng=0)

# %%
# One estimate per loss. "gap" is what a better search could gain at most; a dash means that the
# loss has no proof.
names = ["vi", "binder", "vi_lb", "nvi", "id", "nid", "one_minus_ari", "one_minus_pear"]
estimates = {name: pt.estimate(fit.draws, loss=name) for name in names}
print(f"{'loss':<8}{'clusters':>9}{'expected':>10}{'gap':>8}{'VI to truth':>13}")
for name, best in estimates.items():
    gap = "–" if best.gap is None else f"{100 * best.gap:.1f}%"
    away = pt.distance(best, simulated.labels)
    print(f"{name:<8}{best.n_clusters:>9}{best.expected_loss:>10.4f}{gap:>8}{away:>13.3f}")

# %%
# Distances between the estimates, in bits.
table = pt.pairwise_distances(np.array([best.labels for best in estimates.values()]))
figure, ax = plt.subplots(figsize=(5.5, 4.6), layout="constrained")
shown = ax.imshow(table, cmap="Blues")
ax.set_xticks(range(len(names)), names, rotation=45, ha="right")
ax.set_yticks(range(len(names)), names)
figure.colorbar(shown, label="VI between estimates, bits")
plt.show()

# %%
# The price of splitting moves the number of clusters: a below 1 makes it cheap, above 1 dear.
for a in (0.5, 0.8, 1.0, 1.2, 1.5):
    best = pt.estimate(fit.draws, loss=pt.VI(a=a), bound=None)
    print(f"VI(a={a}): {best.n_clusters} clusters")
