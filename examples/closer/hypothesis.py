"""
Is my hypothesis compatible with the posterior?
===============================================

You bring a clustering that did not come from these draws: last year's, an expert's, another
method's. Two questions about it: from which probability on does the credible ball hold it, and
where would it rank if it were one more draw?
"""

import numpy as np
from matplotlib import pyplot as plt

import partita as pt

velocities = pt.datasets.galaxies()
fit = pt.sample(velocities, kernel="empirical", draws=500, burn_in=300, chains=4, rng=1)
best = pt.estimate(fit)
ball = pt.credible_ball(fit, best)

# %%
# Four hypotheses: cut the velocities at their widest gaps, or do not cut at all.
hypotheses = {
    "one cluster": np.zeros(82, int),
    "slow and others": (velocities > 13).astype(int),
    "slow, middle, fast": np.digitize(velocities, [13, 28]),
    "everyone alone": np.arange(82),
}
print(f"{'':<20}{'bits away':>10}{'level':>8}{'p-value':>9}")
for name, labels in hypotheses.items():
    away, level = pt.distance(best, labels), ball.credible_level(labels)
    p = float(pt.p_value(fit, labels))
    print(f"{name:<20}{away:>10.2f}{level:>8.2f}{p:>9.3f}")

# %%
# A level above 0.95 means outside the 95% ball; a small p-value, that hardly a draw is as far from
# the others. Where the draws are, and where the hypotheses:
figure, ax = plt.subplots(figsize=(7.5, 4), layout="constrained")
pt.plots.distances(ball, ax=ax)
for number, (name, labels) in enumerate(hypotheses.items()):
    away = pt.distance(best, labels)
    if away <= ax.get_xlim()[1]:
        ax.axvline(away, color=f"C{number}", linestyle=":", label=name)
ax.legend(title="hypotheses", loc="upper right")
plt.show()

# %%
# What would have to change for the estimate to be the third hypothesis?
print(pt.explain(best, hypotheses["slow, middle, fast"]))
