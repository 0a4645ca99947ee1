"""Data whose classes are known: clusters found and adjusted Rand index, by kernel.

``python -m benchmarks.known_answers`` prints the tables of ``docs/explain/known_answers.md``;
words select data sets (``wine lines``), ``galaxies`` the last table; ``--seeds 5`` prints the
index of simulated designs for several data sets of each. Classes are not clusters: a
class may be two clusters, two classes one. What counts is whether the default is sensible, and
where it is not. The rival is scikit-learn's mixture of full covariances with the number of
components chosen by BIC; on simulated data also the Bayes rule, which knows the densities.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

import partita as pt
from benchmarks.old_faithful import ERUPTIONS, WAITING

Floats = NDArray[np.float64]
RUN: dict[str, Any] = {"draws": 200, "burn_in": 300, "chains": 2, "rng": 0, "progress": False}


@dataclass(frozen=True)
class Known:
    """Data with their classes and, where they are simulated, the Bayes rule's labels."""

    name: str
    rows: Any
    classes: NDArray[np.int64]
    bayes: NDArray[np.int64] | None = None


def real() -> Iterator[Known]:
    rows, classes = load_wine(return_X_y=True)
    yield Known("wine", rows, classes)
    rows, classes = load_iris(return_X_y=True)
    yield Known("iris", rows, classes)
    yield Known("iris, petals", rows[:, 2:], classes)
    rows, classes = load_breast_cancer(return_X_y=True)
    yield Known("breast cancer, means", rows[:, :10], classes)
    yield Known("breast cancer, all", rows, classes)
    rows, classes = load_digits(return_X_y=True)
    yield Known(
        "digits, 8 components", PCA(8, random_state=0).fit_transform(rows)[:900], classes[:900]
    )
    rows = np.column_stack([ERUPTIONS, WAITING]).astype(np.float64)
    yield Known("Old Faithful", rows, (rows[:, 0] > 3).astype(np.int64))


Draw = Callable[[int, np.random.Generator], Floats]
"""n rows of a cluster."""
LogDensity = Callable[[Floats], Floats]


def normal(mean: Any, covariance: Any) -> tuple[Draw, LogDensity]:
    law = stats.multivariate_normal(mean, covariance)
    d = np.size(mean)
    return (
        lambda n, rng: law.rvs(n, random_state=rng).reshape(n, d),
        lambda x: np.atleast_1d(law.logpdf(x)),
    )


def heavy(mean: Any) -> tuple[Draw, LogDensity]:
    """Student's t with three degrees of freedom in each column."""
    law = stats.t(3)
    return (
        lambda n, rng: mean + law.rvs((n, len(mean)), random_state=rng),
        lambda x: law.logpdf(x - mean).sum(axis=1),
    )


def mixture(name: str, sizes: list[int], parts: list[Any], rng: np.random.Generator) -> Known:
    rows = np.concatenate([draw(n, rng) for n, (draw, _) in zip(sizes, parts, strict=True)])
    scores = np.stack([density(rows) for _, density in parts], axis=1) + np.log(sizes)
    return Known(name, rows, np.repeat(np.arange(len(sizes)), sizes), scores.argmax(axis=1))


def correlation(d: int, rho: float) -> Floats:
    return np.full((d, d), rho) + (1 - rho) * np.eye(d)


def rotated(d: int, rng: np.random.Generator) -> Floats:
    """A covariance with deviations from 0.4 to 1.6 along random axes."""
    axes = stats.ortho_group.rvs(d, random_state=rng) if d > 1 else np.eye(1)
    return axes @ np.diag(np.linspace(0.4, 1.6, d) ** 2) @ axes.T


def simulated(seed: int = 0) -> Iterator[Known]:
    rng = np.random.default_rng(seed)
    line = [normal([3.75 * j], [[1.0]]) for j in range(4)]
    yield mixture("four on a line", [15] * 4, line, rng)
    line = [normal([6.0 * j], [[1.0]]) for j in range(10)]
    yield mixture("ten on a line", [30] * 10, line, rng)
    for n, k in ((300, 5), (300, 8), (300, 15), (1500, 15)):
        parts = [normal(rng.uniform(-16, 16, 2), np.eye(2)) for _ in range(k)]
        yield mixture(f"{k} blobs, N {n:,}", [n // k] * k, parts, rng)
    parts = [normal(rng.uniform(-6, 6, 3), rotated(3, rng)) for _ in range(4)]
    yield mixture("correlated, 3 columns", [80] * 4, parts, rng)
    parts = [normal(rng.normal(0, 3, 10), correlation(10, 0.8)) for _ in range(5)]
    yield mixture("correlated, 10 columns", [80] * 5, parts, rng)
    parts = [heavy(m) for m in ([0, 0], [12, 0], [0, 12], [12, 12])]
    yield mixture("heavy tails", [75] * 4, parts, rng)
    parts = [normal(rng.uniform(-8, 8, 3), np.eye(3)) for _ in range(4)]
    yield mixture("unequal sizes", [400, 100, 30, 10], parts, rng)
    parts = [normal(np.append(rng.uniform(-5, 5, 3), np.zeros(7)), np.eye(10)) for _ in range(4)]
    yield mixture("7 of 10 columns noise", [75] * 4, parts, rng)
    parts = [normal(rng.normal(0, 1.5, 20), np.eye(20)) for _ in range(6)]
    yield mixture("20 columns", [70] * 6, parts, rng)
    tight = [
        normal([110, 9, 1.7, 1.3, 2.5], np.diag(np.square([8, 2, 0.4, 0.5, 1.8]))),
        normal([95, 18, 4, 1, 0], np.diag(np.square([17, 4, 1.6, 0.4, 0.3]))),
        normal([122, 4, 1, 14, 18], np.diag(np.square([10, 2, 0.5, 11, 13]))),
    ]
    yield mixture("thyroid-like", [150, 35, 30], tight, rng)
    for d in (1, 3, 10):
        yield mixture(f"one normal, {d} columns", [200], [normal(np.zeros(d), np.eye(d))], rng)
    yield mixed_types(rng)


def mixed_types(rng: np.random.Generator) -> Known:
    """Two correlated numbers, a category of three levels and a yes–no answer; three classes."""
    sizes = [100, 100, 100]
    centres = ([0.0, 0.0], [3.0, -3.0], [3.0, 3.0])
    base = mixture("", sizes, [normal(c, correlation(2, 0.8)) for c in centres], rng)
    levels = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    yes = np.array([0.9, 0.5, 0.1])
    level = np.array([rng.choice(3, p=levels[j]) for j in base.classes])
    answer = rng.random(len(level)) < yes[base.classes]
    scores = np.stack(
        [stats.multivariate_normal(c, correlation(2, 0.8)).logpdf(base.rows) for c in centres],
        axis=1,
    )
    scores = scores + np.log(levels[:, level].T) + np.log(np.where(answer[:, None], yes, 1 - yes))
    frame = pd.DataFrame(base.rows, columns=["x", "y"])
    frame["level"] = np.array(["a", "b", "c"])[level]
    frame["answer"] = answer
    return Known("mixed types", frame, base.classes, scores.argmax(axis=1))


def by_bic(rows: Any) -> NDArray[np.int64]:
    numbers = pd.get_dummies(rows) if isinstance(rows, pd.DataFrame) else rows
    scaled = StandardScaler().fit_transform(np.asarray(numbers, np.float64))
    most = min(9 if len(scaled.T) > 3 else 20, len(scaled) // 10)
    models = [GaussianMixture(k, n_init=3, random_state=0).fit(scaled) for k in range(1, most + 1)]
    return min(models, key=lambda model: model.bic(scaled)).predict(scaled)


KERNELS = ("empirical", "hierarchical", "adaptive", "wishart-empirical", "wishart", "auto")


def ours(rows: Any, kernel: str) -> NDArray[np.int64]:
    return pt.estimate(pt.sample(rows, kernel=kernel, **RUN), bound=None).labels


def shown(labels: NDArray[np.int64], classes: NDArray[np.int64]) -> str:
    score = adjusted_rand_score(classes, labels)
    return f"{len(set(labels.tolist()))}, {score:.2f}"


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


def by_seed(words: list[str], n_seeds: int) -> None:
    """The index of the default, of independent normals, of BIC and of the Bayes rule."""
    found: dict[str, list[tuple[float, ...]]] = {}
    for seed in range(n_seeds):
        for known in simulated(seed):
            if words and not any(word in known.name for word in words):
                continue
            labels = [ours(known.rows, kernel) for kernel in ("auto", "hierarchical")]
            labels += [by_bic(known.rows), np.asarray(known.bayes)]
            scores = tuple(adjusted_rand_score(known.classes, each) for each in labels)
            found.setdefault(known.name, []).append(scores)
    print("| data | auto | hierarchical | BIC | Bayes rule | auto by data set |")
    print("|---|---|---|---|---|---|")
    for name, scores in found.items():
        means = " | ".join(f"{mean:.2f}" for mean in np.mean(scores, axis=0))
        print(f"| {name} | {means} | {', '.join(f'{each[0]:.2f}' for each in scores)} |")


def main(words: list[str]) -> None:
    warnings.simplefilter("ignore")
    if words[:1] == ["--seeds"]:
        by_seed(words[2:], int(words[1]))
        return
    if words == ["galaxies"]:
        galaxies()
        return
    print("| data | rows × columns | classes | " + " | ".join(KERNELS) + " | BIC | Bayes rule |")
    print("|---|---|---|" + "---|" * (len(KERNELS) + 2))
    for known in (*real(), *simulated()):
        if words and not any(word in known.name for word in words):
            continue
        cells = [shown(ours(known.rows, kernel), known.classes) for kernel in KERNELS]
        cells.append(shown(by_bic(known.rows), known.classes))
        bayes = (
            "" if known.bayes is None else f"{adjusted_rand_score(known.classes, known.bayes):.2f}"
        )
        shape = f"{len(known.rows)} × {known.rows.shape[1]}"
        classes = len(set(known.classes.tolist()))
        line = f"| {known.name} | {shape} | {classes} | {' | '.join(cells)} | {bayes} |"
        print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
