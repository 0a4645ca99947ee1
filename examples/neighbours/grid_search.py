"""
In a scikit-learn pipeline, with GridSearchCV
=============================================

Which prior predicts best? ``BayesianMixture`` is an estimator like any other: it scales, searches
and cross-validates with the rest of scikit-learn, and its score is the log predictive density of
rows that it has not seen.
"""

import warnings

import numpy as np
from matplotlib import pyplot as plt
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import partita as pt
from partita.sklearn import BayesianMixture

# %%
# The paper's first example, and priors that expect few or many clusters.
warnings.simplefilter("ignore", ConvergenceWarning)  # short chains, to be quick
simulated = pt.datasets.four_normals(example=1, n=120, rng=2)
mixture = BayesianMixture(draws=100, burn_in=100, chains=2, random_state=0)
model = make_pipeline(StandardScaler(), mixture)
concentrations = [0.1, 1.0, 5.0]
search = GridSearchCV(
    model,
    {"bayesianmixture__prior": [pt.DirichletProcess(alpha) for alpha in concentrations]},
    cv=3,
)
search.fit(simulated.data)
for alpha, score in zip(concentrations, search.cv_results_["mean_test_score"], strict=True):
    print(f"concentration {alpha}: mean log density of unseen rows {score:.3f}")

# %%
# The best is fitted on all rows: clusters, how sure they are, and how probable a new row is.
best = search.best_estimator_[-1]
print(best.summary_.sentence)
grid = np.stack(np.meshgrid(np.linspace(-6, 6, 60), np.linspace(-6, 6, 60)), axis=-1)
scaled = search.best_estimator_[0].transform(grid.reshape(-1, 2))
density = best.score_samples(scaled).reshape(60, 60)

figure, ax = plt.subplots(figsize=(6.4, 5.4), layout="constrained")
ax.contourf(grid[..., 0], grid[..., 1], density, levels=12, cmap="Greys", alpha=0.6)
ax.scatter(*simulated.data.T, c=best.labels_, cmap="tab10", vmax=9, s=24, edgecolor="white")
ax.set_title("estimate, over the log predictive density", fontsize=10)
plt.show()
