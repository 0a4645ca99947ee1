"""
A PyMC mixture, labels summed out
=================================

PyMC's samplers need models without discrete parameters, so where is the clustering? In the log
weights of the mixture: given the parameters they are the probabilities of each item's label, and
drawing from them gives draws of the partition.
"""

# needs: pymc
# sphinx_gallery_thumbnail_path = '_static/pymc_mixture.png'

import numpy as np
import pymc as pm
from matplotlib import pyplot as plt

import partita as pt

# %%
# Sixty measurements of three groups, two of which overlap.
rng = np.random.default_rng(3)
data = rng.normal(np.repeat([-4, 0, 3], 20), 1)

# %%
# The model needs no order of the means: partitions do not care what components are called.
with pm.Model() as model:
    weights = pm.Dirichlet("weights", np.ones(3))
    means = pm.Normal("means", 0, 10, shape=3)
    variances = pm.InverseGamma("variances", 3, 2, shape=3)
    component = pm.Normal.dist(means, pm.math.sqrt(variances))
    log_weights = pm.Deterministic(
        "log_weights", pm.math.log(weights) + pm.logp(component, data[:, None])
    )
    pm.Potential("likelihood", pm.math.logsumexp(log_weights, axis=1).sum())
    idata = pm.sample(500, tune=500, chains=4, cores=1, random_seed=1, progressbar=False)

# %%
# From log weights to draws, and from draws to an answer.
draws = pt.draws_from_memberships(idata, var_name="log_weights", log=True)
summary = pt.summarize(draws, data=data)
print(summary)

# %%
# Estimate and bounds on the data.
figure, axes = plt.subplots(2, 2, figsize=(9, 6), layout="constrained")
pt.plots.ball(summary, axes=axes.ravel())
plt.show()
