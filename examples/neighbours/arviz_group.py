"""
Into an ArviZ object and back
=============================

Where does the answer go when the model is in an ArviZ object? Draws come from a variable of it, and
the summary goes back as a group of its own, along the model's own dimension of items.
"""

import arviz_base as az
import numpy as np
from matplotlib import pyplot as plt

import partita as pt

# %%
# A posterior as a sampler leaves it: allocations of 40 patients, and other parameters beside them.
rng = np.random.default_rng(0)
groups = np.repeat([0, 1, 2], [18, 12, 10])
z = np.where(rng.random((4, 250, 40)) < 0.12, rng.integers(0, 3, (4, 250, 40)), groups)
tree = az.from_dict(
    {"posterior": {"z": z, "mu": rng.normal(size=(4, 250, 3))}},
    coords={"patient": [f"p{i:02}" for i in range(40)]},
    dims={"z": ["patient"]},
)

# %%
# In: chains and draws are found by name. Out: a group that is saved with everything else.
summary = pt.summarize(tree, var_name="z")
pt.arviz.attach(tree, summary)
print(tree["partita"].dataset)

# %%
# Labels and probabilities align with the model's own variables, so xarray can select by them.
group = tree["partita"].dataset
doubtful = group["probability"].sortby(group["probability"])[:5]
print(doubtful.to_series().round(2).to_string())

# %%
figure, ax = plt.subplots(figsize=(6.4, 5.6), layout="constrained")
pt.plots.items(summary, n=20, ax=ax)
plt.show()
