"""
Several answers on the galaxies
===============================

The posterior of the galaxies is wide: the estimate has three clusters, but a few galaxies between
them could go either way. Which few clusterings represent all draws, and how do they differ?
"""

from matplotlib import pyplot as plt

import partita as pt

# %%
# Draws from a Dirichlet process mixture.
data = pt.datasets.galaxies()
fit = pt.sample(data, kernel="empirical", draws=500, burn_in=300, chains=4, rng=1)

# %%
# Three representatives: the mass of the draws nearest to each, what differs, and a proof of how
# near any three partitions could be.
several = pt.representatives(fit, n=3)
print(several)

# %%
# On the data: galaxies that are elsewhere than in the heaviest one have a ring.
pt.plots.representatives(several, fit=fit)
plt.show()

# %%
# Are these separate modes, or one wide mode?
found = pt.modes(fit)
print(found)

# %%
# Is a clustering into two, at 15,000 km/s, compatible with the posterior?
print(pt.p_value(fit, data > 15.0))
