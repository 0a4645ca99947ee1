"""
Bring your own draws
====================

A file of label draws from any sampler, one row per draw and one column per item, to labels, a
ball and tables that go back to where you work.
"""

import tempfile
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

import partita as pt

# %%
# Make such a file. Labels are 1-based and switch from draw to draw, as samplers' do.
folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(7)
truth = np.repeat([1, 2, 3, 4], [30, 20, 15, 5])
with (folder / "draws.csv").open("w") as file:
    file.write(",".join(f"patient{i}" for i in range(truth.size)) + "\n")
    for _ in range(500):
        names = rng.permutation(9)[:5] + 1
        labels = np.where(rng.random(truth.size) < 0.08, rng.integers(1, 5, truth.size), truth)
        file.write(",".join(str(names[k - 1]) for k in labels) + "\n")

# %%
# Read it. Column names become item names.
draws = pt.read_draws(folder / "draws.csv")
print(draws)

# %%
# Everything at once.
summary = pt.summarize(draws)
print(summary)

# %%
# Is a hypothesis credible? From which probability on?
ball = summary.ball
for name, labels in {"the truth": truth, "one cluster": np.ones_like(truth)}.items():
    print(f"{name}: inside {ball.contains(labels)}, from level {ball.credible_level(labels):.3f}")

# %%
# Without data a ball is shown as cross tables: the clusters of the centre, divided by the bounds.
figure, axes = plt.subplots(2, 2, figsize=(9, 6), layout="constrained")
pt.plots.ball(summary, axes=axes.ravel())
plt.show()

# %%
# The least certain patients, as a table.
table = summary.to_frame("items")
print(table.iloc[summary.items.order[:5]][["cluster", "probability", "other"]])

# %%
# Files to go on with.
summary.to_json(folder / "summary.json")
summary.save(folder / "summary.npz")
table.to_csv(folder / "items.csv")
print(sorted(path.name for path in folder.iterdir()))
