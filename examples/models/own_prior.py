"""
A prior of your own
===================

What if every further cluster should cost the same, however many there are? A prior over partitions
is two functions: one of the number of clusters, one of each cluster's size.
"""

from matplotlib import pyplot as plt

import partita as pt

# %%
# p(c) ∝ V(N, k) Π W(n_j). With V = exp(-price·k) and W = 1 all partitions into the same number of
# clusters are equally probable, and each cluster pays the price. A few prices, with the number of
# clusters that each expects of 82 items:
velocities = pt.datasets.galaxies()
priors = {
    price: pt.ProductPartition(lambda _, k, price=price: -price * k, lambda _: 0.0)
    for price in (0.0, 3.0, 6.0)
}
for price, prior in priors.items():
    print(f"price {price}: {prior.expected_clusters(82):.1f} clusters expected")

# %%
# Checked against all partitions of up to six items: says nothing when all is well.
pt.testing.check_prior(priors[3.0])

# %%
# What the data say under each.
figure, ax = plt.subplots(figsize=(7.5, 3.8), layout="constrained")
for number, (price, prior) in enumerate(priors.items()):
    fit = pt.sample(
        velocities, kernel="empirical", prior=prior, draws=500, burn_in=300, chains=2, rng=0
    )
    found = pt.n_clusters_posterior(fit)
    ax.bar(found.values + 0.27 * (number - 1), found.probabilities, width=0.27, label=f"{price}")
    print(f"price {price}: the estimate has {pt.estimate(fit).n_clusters} clusters")
ax.set(xlabel="clusters", ylabel="posterior probability")
ax.legend(title="price of a cluster")
plt.show()
