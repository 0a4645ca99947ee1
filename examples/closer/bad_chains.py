"""
Can these draws be trusted?
===========================

Four chains, of which one is stuck. Labels switch, so traces of labels say nothing; what can be
watched are quantities that do not depend on names, and whether the chains agree on which items
belong together.
"""

import numpy as np
from matplotlib import pyplot as plt

import partita as pt

# %%
# Three chains around one clustering, and a fourth that never left another of the same shape.
rng = np.random.default_rng(1)
usual = np.repeat([0, 1, 2], 20)
stuck = np.roll(usual, 10)


def chain(center: np.ndarray) -> np.ndarray:
    """Draws around a clustering."""
    redrawn = rng.random((250, center.size)) < 0.06
    return np.where(redrawn, rng.integers(0, 3, redrawn.shape), center)


draws = pt.as_draws(np.stack([chain(usual), chain(usual), chain(usual), chain(stuck)]))
checks = pt.diagnose(draws)
print(checks)

# %%
# Number and sizes of clusters look alike in all chains. Who is with whom does not.
figure, axes = plt.subplots(1, 4, figsize=(10, 2.9), layout="constrained")
for number, ax in enumerate(axes):
    ax.imshow(pt.similarity(draws.select_chains([number])), cmap="Blues", vmin=0, vmax=1)
    ax.set_title(f"chain {number}")
    ax.set(xticks=[], yticks=[])
plt.show()

# %%
# The distance to the estimate shows it too, as rank plots: bars of chains that explore the same
# posterior reach the dotted line.
figure, axes = plt.subplots(1, 2, figsize=(9, 3), layout="constrained")
pt.plots.ranks(draws, estimate=usual, names=["entropy", "vi_to_estimate"], axes=axes)
plt.show()

# %%
# Which answers are there, and who holds them?
print(pt.representatives(draws))
