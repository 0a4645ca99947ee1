"""
What if the prior had expected more clusters?
=============================================

Draws can carry weights. Here they answer a question about the prior without sampling again: draws
made under one concentration of a Dirichlet process, weighted by the ratio of the two priors, are
draws under another.
"""

from matplotlib import pyplot as plt

import partita as pt

# %%
# A Dirichlet process gives a partition into k clusters a probability proportional to the k-th
# power of its concentration; all else cancels in the ratio of two concentrations.
velocities = pt.datasets.galaxies()
given, wanted = 0.6, 1.0
fit = pt.sample(
    velocities,
    kernel="empirical",
    prior=pt.DirichletProcess(given),
    draws=2_000,
    burn_in=300,
    chains=4,
    rng=1,
)
draws = fit.draws
weighted = pt.Draws(draws.labels, weights=(wanted / given) ** draws.n_clusters)
print(weighted)
print(f"{weighted.n_effective:.0f} effective draws of {weighted.n_draws}")

# %%
# Sampling again under the other concentration gives the same, within its error.
again = pt.sample(
    velocities,
    kernel="empirical",
    prior=pt.DirichletProcess(wanted),
    draws=2_000,
    burn_in=300,
    chains=4,
    rng=2,
)
counts = {
    f"sampled, {given}": pt.n_clusters_posterior(draws),
    f"weighted to {wanted}": pt.n_clusters_posterior(weighted),
    f"sampled, {wanted}": pt.n_clusters_posterior(again),
}
figure, ax = plt.subplots(figsize=(7.5, 3.8), layout="constrained")
for number, (name, found) in enumerate(counts.items()):
    ax.bar(found.values + 0.27 * (number - 1), found.probabilities, width=0.27, label=name)
ax.set(xlim=(0.4, 12.6), xticks=range(1, 13), xlabel="clusters", ylabel="probability")
ax.legend(title="concentration")
plt.show()

# %%
# Estimate, proof and ball take weighted draws as any others.
best = pt.estimate(weighted)
ball = pt.credible_ball(weighted, best)
print(f"{best.n_clusters} clusters, gap {100 * best.gap:.1f}%, radius {ball.radius:.2f} bits")
