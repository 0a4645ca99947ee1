"""
Not only MCMC: a consensus of repeated k-means
==============================================

partita summarises any ensemble of clusterings of the same items. Here the ensemble is k-means on
bootstrap samples, with the number of clusters drawn at random: an estimate of how much the
clustering owes to the sample and to the choice of k. The consensus minimises the average
variation of information to the ensemble, and the ball around it says what else is plausible.

The probabilities are frequencies in the ensemble, not posterior probabilities: they answer "how
often would this procedure say so", given the procedure.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from threadpoolctl import threadpool_limits

import partita as pt
from partita.sklearn import PartitionConsensus

# %%
# Four groups in the plane, two of them close together.
centers = [[0, 0], [2.8, 0], [0, 7], [7, 7]]
points, truth = make_blobs(n_samples=240, centers=centers, cluster_std=0.9, random_state=1)
rng = np.random.default_rng(0)


# %%
# One member of the ensemble: k-means on a bootstrap sample, with between 3 and 6 clusters, and
# the label of the nearest centre for every point, so that all members label the same items.
def cluster_a_bootstrap_sample() -> np.ndarray:
    """Labels of all points."""
    sample = rng.integers(0, len(points), len(points))
    k = int(rng.integers(3, 7))
    model = KMeans(k, n_init=1, random_state=int(rng.integers(2**31)))
    return model.fit(points[sample]).predict(points)


with threadpool_limits(1):  # so small a k-means is faster without threads
    members = [cluster_a_bootstrap_sample() for _ in range(1_000)]
draws = pt.Draws(members, kind="ensemble")  # runs of an algorithm, no posterior
print(draws)

# %%
# From here on everything works as with draws of a sampler, in the words of an ensemble: shares of
# the runs, and no advice on chains.
summary = pt.summarize(draws, data=points)
print(summary)
print(f"Distance to the groups that made the data: {pt.distance(summary.labels, truth):.2f} bits")

# %%
# The consensus on the points.
figure, ax = plt.subplots(figsize=(6.4, 4.6), layout="constrained")
pt.plots.estimate(summary, ax=ax)
plt.show()

# %%
# Which points does the ensemble not agree on? Those between the two close groups.
uncertain = summary.items.order[:5]
for item in uncertain:
    x, y = points[item]
    print(f"item {item:3d} at ({x:4.1f}, {y:4.1f}): {summary.items.probability[item]:.2f}")

# %%
# The same as a scikit-learn estimator, which takes one column per labeling.
consensus = PartitionConsensus(loss="vi").fit(draws.labels.T)
assert pt.distance(consensus.labels_, summary.labels) == 0
print(f"{consensus.n_clusters_} clusters; ball of radius {consensus.credible_ball_.radius:.2f}")
