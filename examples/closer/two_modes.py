"""
One wide mode, or two?
======================

Does the posterior have separate modes? ``modes`` looks for peaks that stand out over a
range of scales, without a threshold on distances, and the map shows draws, estimate and modes in
the plane.
"""

import numpy as np
from matplotlib import pyplot as plt

import partita as pt

# %%
# Seven in ten draws lie around one clustering, three in ten around another in which ten items
# have changed sides.
rng = np.random.default_rng(0)
one = np.repeat([0, 1, 2], 20)
other = np.where(np.arange(60) >= 50, 0, one)
center = np.where(rng.random((600, 1)) < 0.7, one, other)
noise = rng.random(center.shape) < 0.05
draws = pt.Draws(np.where(noise, rng.integers(0, 3, center.shape), center))

# %%
# Both are found, with their masses and a description of how they differ.
found = pt.modes(draws)
print(found)
print(pt.explain(found.labels[0], found.labels[1]))

# %%
# The estimate lies in the larger mode; the ball around it must reach into the other.
ball = pt.credible_ball(draws, pt.estimate(draws))
figure, ax = plt.subplots(figsize=(7, 5.2), layout="constrained")
pt.plots.posterior_map(ball, marks=found, ax=ax)
plt.show()

# %%
# How far each peak stands out, at thirteen scales.
figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
pt.plots.persistence(found, ax=ax)
plt.show()
