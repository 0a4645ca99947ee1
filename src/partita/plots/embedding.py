"""Partitions as points of the plane, from their distances.

Needs no drawing library.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from partita.kernels.arrays import Floats

_ROUNDS = 100
_ENOUGH = 1e-4
"""Relative decrease of the squared stress at which improving ends."""


@dataclass(frozen=True, eq=False)
class Embedding:
    """Places in the plane, and how faithful they are.

    Attributes
    ----------
    places : ndarray of float, shape (n, 2)
        The landmarks first, then the others.
    stress : float
        √(Σ(d − δ)²/Σδ²) over pairs of landmarks, with δ the distances and d
        those in the plane; 0 is perfect.
    correlation : float
        Of d and δ over the same pairs; NaN when all δ are equal.
    """

    places: Floats
    stress: float
    correlation: float


def embed(between: Floats, to_landmarks: Floats | None = None) -> Embedding:
    r"""Scaling of landmarks, and further points placed by their distances to them.

    Landmarks minimise the stress :math:`\sum_{i<j} (d_{ij} - \delta_{ij})^2`,
    by majorisation from classical scaling: the two leading eigenvectors of
    −½ J Δ J, with Δ the squared distances and J the centring matrix. Classical
    scaling alone would project a cloud of many dimensions and so make all
    distances too small. Each further point minimises the same sum over its
    distances to the landmarks.

    Notes
    -----
    O(n³) for n landmarks, and up to 100 rounds of O(n²) and O(n) per further
    point. Deterministic.

    References
    ----------
    Torgerson (1952), Multidimensional scaling, Psychometrika 17; de Leeuw
    (1977), Applications of convex analysis to multidimensional scaling.

    Examples
    --------
    >>> import numpy as np
    >>> from partita.plots.embedding import embed
    >>> found = embed(np.array([[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]]))
    >>> round(float(np.linalg.norm(found.places[1] - found.places[2])), 6), round(found.stress, 6)
    (5.0, 0.0)
    """
    places = _majorise(between, _classical(between))
    drawn = _distances(places, places)
    pairs = np.triu_indices(len(between), 1)
    wanted, got = between[pairs], drawn[pairs]
    total = float((wanted**2).sum())
    stress = float(np.sqrt(((got - wanted) ** 2).sum() / total)) if total > 0.0 else 0.0
    varied = wanted.size > 1 and min(np.ptp(wanted), np.ptp(got)) > 1e-12
    correlation = float(np.corrcoef(wanted, got)[0, 1]) if varied else float("nan")
    if to_landmarks is not None:
        places = np.concatenate([places, _place(to_landmarks, places)])
    return Embedding(places, stress, correlation)


def _classical(between: Floats) -> Floats:
    squared = between**2
    means = squared.mean(axis=0)
    inner = -0.5 * (squared - means[:, None] - means[None, :] + means.mean())
    values, vectors = np.linalg.eigh(inner)
    places = np.zeros((len(between), 2))
    leading = min(2, values.size)
    places[:, :leading] = vectors[:, ::-1][:, :leading] * np.sqrt(values[::-1][:leading].clip(0.0))
    # Eigenvectors have no sign: the first landmark goes to the left and below the middle.
    return places * np.where(places[0] > 0.0, -1.0, 1.0)


def _majorise(between: Floats, places: Floats) -> Floats:
    """Guttman transforms, each of which lowers the stress."""
    last = np.inf
    for _ in range(_ROUNDS):
        drawn = _distances(places, places)
        stress = float(((drawn - between) ** 2).sum())
        if last - stress <= _ENOUGH * stress:
            break
        last = stress
        ratio = _ratio(between, drawn)
        places = (ratio.sum(axis=1)[:, None] * places - ratio @ places) / len(places)
    return places


def _place(to_landmarks: Floats, landmarks: Floats) -> Floats:
    """Points that fit their distances to fixed landmarks, from the nearest landmark's place on."""
    near = np.argsort(to_landmarks, axis=1, kind="stable")[:, :3]
    places: Floats = landmarks[near].mean(axis=1)
    last = np.inf
    middle = landmarks.mean(axis=0)
    for _ in range(_ROUNDS):
        drawn = _distances(places, landmarks)
        stress = float(((drawn - to_landmarks) ** 2).sum())
        if last - stress <= _ENOUGH * stress:
            break
        last = stress
        ratio = _ratio(to_landmarks, drawn)
        step = ratio.sum(axis=1)[:, None] * places - ratio @ landmarks
        places = middle + step / len(landmarks)
    return places


def _distances(a: Floats, b: Floats) -> Floats:
    squared = (a[:, None, 0] - b[None, :, 0]) ** 2 + (a[:, None, 1] - b[None, :, 1]) ** 2
    return np.asarray(np.sqrt(squared))


def _ratio(wanted: Floats, drawn: Floats) -> Floats:
    """δ/d, and 0 where two points coincide and no direction is known."""
    ratio: Floats = np.divide(wanted, drawn, out=np.zeros_like(wanted), where=drawn > 1e-12)
    return ratio
