"""Data whose classes are known: clusters found and adjusted Rand index, beside scikit-learn.

``python -m benchmarks.known_answers`` prints the table of ``docs/explain/known_answers.md``.
Classes are not clusters: a class may be two clusters, two classes one. What counts is whether
the default is sensible, and where it is not.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
from sklearn.preprocessing import StandardScaler

import partita as pt
from benchmarks.old_faithful import ERUPTIONS, WAITING

Data = tuple[str, NDArray[np.float64], NDArray[np.int64]]
RUN = {"draws": 300, "burn_in": 300, "chains": 2, "rng": 0, "progress": False}


def geyser() -> Data:
    """Old Faithful; the classes are eruptions below and above three minutes, where few are."""
    rows = np.column_stack([ERUPTIONS, WAITING]).astype(np.float64)
    return "Old Faithful", rows, (rows[:, 0] > 3).astype(np.int64)


def thyroid(rng: np.random.Generator) -> Data:
    """A tight group of 150 and two wide ones of 35 and 30, in five columns."""
    parts = [
        rng.normal([110, 9, 1.7, 1.3, 2.5], [8, 2, 0.4, 0.5, 1.8], (150, 5)),
        rng.normal([95, 18, 4, 1, 0], [17, 4, 1.6, 0.4, 0.3], (35, 5)),
        rng.normal([122, 4, 1, 14, 18], [10, 2, 0.5, 11, 13], (30, 5)),
    ]
    return "thyroid-like", np.concatenate(parts), np.repeat([0, 1, 2], [150, 35, 30])


def sets() -> Iterator[Data]:
    for name, load in (("wine", load_wine), ("iris", load_iris)):
        rows, classes = load(return_X_y=True)
        yield name, rows, classes
    rows, classes = load_breast_cancer(return_X_y=True)
    yield "breast cancer, means", rows[:, :10], classes
    rng = np.random.default_rng(0)
    yield geyser()
    yield thyroid(rng)
    rows, classes = make_blobs(300, 2, centers=5, cluster_std=1.0, random_state=3)
    yield "five blobs", rows, classes
    yield "one blob", rng.normal(size=(200, 3)), np.zeros(200, np.int64)


def ours(rows: NDArray[np.float64], kernel: pt.Kernel) -> NDArray[np.int64]:
    fit = pt.sample(rows, kernel=kernel, **RUN)
    return pt.estimate(fit).labels


def by_bic(rows: NDArray[np.float64]) -> NDArray[np.int64]:
    scaled = StandardScaler().fit_transform(rows)
    models = [GaussianMixture(k, n_init=3, random_state=0).fit(scaled) for k in range(1, 10)]
    return min(models, key=lambda model: model.bic(scaled)).predict(scaled)


def variational(rows: NDArray[np.float64]) -> NDArray[np.int64]:
    scaled = StandardScaler().fit_transform(rows)
    return BayesianGaussianMixture(n_components=10, random_state=0, max_iter=500).fit_predict(
        scaled
    )


METHODS = {
    "default": lambda rows: ours(rows, pt.NormalInverseGamma.empirical(rows)),
    "hierarchical": lambda rows: ours(rows, pt.NormalInverseGamma.hierarchical(rows)),
    "wishart": lambda rows: ours(rows, pt.NormalInverseWishart.empirical(rows)),
    "GaussianMixture, BIC": by_bic,
    "BayesianGaussianMixture": variational,
}


def galaxies() -> None:
    """Shares of 2, 3, … 10 and more components or clusters of the galaxies."""
    data = pt.datasets.galaxies()
    fixed, learned = (
        rule(data) for rule in (pt.NormalInverseGamma.empirical, pt.NormalInverseGamma.hierarchical)
    )
    uniform = pt.FiniteMixture(components=(1,) * 30)
    dynamic = pt.FiniteMixture(pt.F(6, 3), components=(1,) * 30, dynamic=True)
    process = pt.DirichletProcess(pt.Gamma(1, 1))
    for name, kernel, prior, of in (
        ("fixed b, uniform K", fixed, uniform, "n_components"),
        ("learned b, uniform K", learned, uniform, "n_components"),
        ("learned b, uniform K, α/K", learned, dynamic, "n_clusters"),
        ("learned b, Dirichlet process", learned, process, "n_clusters"),
        ("fixed b, Dirichlet process", fixed, process, "n_clusters"),
    ):
        run = {"draws": 10_000, "burn_in": 1_000, "chains": 4, "rng": 0, "progress": False}
        found = pt.sample(data, kernel=kernel, prior=prior, **run).trace[of]
        shares = [(found == k).mean() for k in range(2, 11)] + [(found > 10).mean()]
        print(f"| {name} | {of} | " + " | ".join(f"{share:.3f}" for share in shares) + " |")


def main() -> None:
    warnings.simplefilter("ignore")
    print("| data | rows × columns | classes | " + " | ".join(METHODS) + " |")
    print("|---|---|---|" + "---|" * len(METHODS))
    for name, rows, classes in sets():
        cells = []
        for method in METHODS.values():
            labels = method(rows)
            score = adjusted_rand_score(classes, labels)
            cells.append(f"{len(set(labels.tolist()))}, {score:.2f}")
        shape = f"{rows.shape[0]} × {rows.shape[1]}"
        print(
            f"| {name} | {shape} | {len(set(classes.tolist()))} | {' | '.join(cells)} |", flush=True
        )


if __name__ == "__main__":
    main()
    galaxies()
