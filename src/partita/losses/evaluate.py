"""Losses by name, distances between partitions and expected losses of candidates."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import partial
from pkgutil import resolve_name
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from partita._resources import require_memory
from partita._tolerance import MASS, MATRIX
from partita._validate import refuse_masked, shown
from partita.draws import AnyDraws, Draws, as_partitions, is_features
from partita.errors import InvalidInputError, NotSupportedError, UnknownNameError, about
from partita.features.draws import allocations, as_features
from partita.kernels.arrays import Floats, Int32s, Ints
from partita.labels import LabelsLike, as_label_rows, as_labels, names_of_items
from partita.losses import LOSSES, WITH_ARGUMENTS
from partita.losses.base import Loss
from partita.losses.user import verify_loss
from partita.scan import Block, gather, map_parts

EARLIER = {
    "variation_of_information": "vi",
    "omari": "one_minus_ari",
    "ompear": "one_minus_pear",
    "vi_lower_bound": "vi_lb",
}
"""Other names of earlier versions, taken with a warning until version 0.4."""

_CALL = re.compile(r"\s*([a-z_]+)\s*\(\s*([^()]+?)\s*\)\s*")


def class_of(name: str) -> type[Loss]:
    """The class of a name in the tables."""
    found: type[Loss] = resolve_name("partita.losses." + {**LOSSES, **WITH_ARGUMENTS}[name])
    return found


def loss_names(fact: Callable[[Loss], bool]) -> str:
    """The names of losses of which something is true, for a sentence."""
    return ", ".join(repr(name) for name in LOSSES if fact(class_of(name)()))


@about("loss")
def as_loss(loss: str | Loss) -> Loss:
    """A loss from its name or from itself; claims of a user's own class are checked first."""
    if isinstance(loss, type) and issubclass(loss, Loss):
        try:
            return as_loss(loss())
        except TypeError as error:
            raise InvalidInputError(
                f"loss={loss.__name__} is a class that needs arguments "
                f"({error}); expected a loss, as in {loss.__name__}(…)."
            ) from None
    if isinstance(loss, Loss):
        if type(loss).__module__.startswith("partita.losses."):
            return loss
        return verify_loss(loss)
    made = _by_name(loss) if isinstance(loss, str) else None
    if made is not None:
        return made
    if callable(loss):
        raise InvalidInputError(
            f"loss={getattr(loss, '__name__', shown(loss))} is a function; expected a loss. Wrap "
            "a function of two label arrays: loss=pt.CallableLoss(function)."
        )
    known = ", ".join(repr(name) for name in LOSSES)
    raise UnknownNameError(
        f"unknown loss {shown(loss)}; expected one of {known}, one with a parameter, as in "
        "'vi(0.7)' or 'entropy(1.5)', or a loss object."
    )


def loss_for(loss: str | Loss | None, draws: AnyDraws) -> Any:
    """A loss that measures what was drawn: VI of partitions and FARO of features by default."""
    features = draws.part_name == "feature"
    measure = as_loss(("faro" if features else "vi") if loss is None else loss)
    if features and not measure.of_features:
        raise NotSupportedError(
            f"{measure!r} is defined for partitions only, in which every item is in one cluster; "
            "these are draws of feature allocations. Leave loss out, or give loss='faro'.",
            argument="loss",
        )
    return measure


def metric_for(loss: str | Loss | None, draws: AnyDraws, why: str) -> Loss:
    """Like :func:`loss_for`, but only metrics are accepted."""
    measure: Loss = loss_for(loss, draws)
    if not measure.is_metric:
        raise NotSupportedError(
            f"{measure!r} is not a metric, and {why}. Losses that are: "
            f"{loss_names(lambda known: known.is_metric)} (with a = 1).",
            argument="loss",
        )
    return measure


def _by_name(loss: str) -> Loss | None:
    """The loss of a name, or of a name with its parameter; None where there is none."""
    key = loss.lower()
    if key in EARLIER:
        warnings.warn(
            f"loss={loss!r} is now called {EARLIER[key]!r}.", DeprecationWarning, stacklevel=3
        )
        key = EARLIER[key]
    if key in LOSSES:
        return class_of(key)()
    call = _CALL.fullmatch(key)
    if call is None or call[1] not in {**LOSSES, **WITH_ARGUMENTS}:
        return None
    cls = class_of(call[1])
    return None if cls.parameter is None else cls(**{cls.parameter: _number(call[2], loss)})


def _number(text: str, loss: str | Loss) -> float:
    try:
        return float(text)
    except ValueError:
        raise UnknownNameError(
            f"unknown loss {loss!r}; expected a number in the brackets, as in 'vi(0.7)'.",
            argument="loss",
        ) from None


_BLOCK_CELLS = 1 << 22
"""Distances computed before they are copied into the result, which bounds temporaries."""


def distance(a: LabelsLike, b: LabelsLike, loss: str | Loss | None = None) -> float:
    """Loss of reporting partition a when b is the truth.

    For the metrics the order does not matter; for generalised losses (``a``
    other than 1) the first is the estimate and the second the truth, as in
    :func:`expected_loss`.

    Parameters
    ----------
    a, b : array_like, shape (n_items,)
        Labels of any kind; only equality counts. For ``"faro"`` also two feature allocations,
        matrices of zeros and ones of shape (n_items, n_features).
    loss : str or Loss, optional
        VI by default, and FARO of feature draws.

    Returns
    -------
    float

    Notes
    -----
    O(N + K_a K_b).

    Examples
    --------
    >>> import partita as pt
    >>> round(pt.distance([1, 1, 2, 2], [1, 1, 1, 2]), 4)
    1.1887
    """
    says_so = hasattr(type(a), "__allocation__") or hasattr(type(b), "__allocation__")
    measure = as_loss(("faro" if says_so else "vi") if loss is None else loss)
    if _is_allocation(a, measure) or _is_allocation(b, measure):
        estimates, truths = allocations(a, argument="a"), allocations(b, argument="b")
        _same_items(estimates.n_items, truths.n_items, "a", "b")
        far = loss_for(measure, estimates).distances(estimates.point(0), truths, n_jobs=1)
        return float(far[0])
    estimate = as_labels(a, argument="a")
    truth = as_labels(b, n_items=estimate.size, names=names_of_items(a), argument="b")
    return float(measure.distances(estimate, Draws(truth[None, :]), n_jobs=1)[0])


def _is_allocation(obj: Any, loss: Loss) -> bool:
    """Whether it says so itself, or is a matrix, under a loss that measures allocations."""
    if hasattr(type(obj), "__allocation__") or not loss.of_features:
        return hasattr(type(obj), "__allocation__")
    if isinstance(obj, (list, tuple)):
        return len(obj) > 0 and isinstance(obj[0], (list, tuple, np.ndarray))
    return getattr(obj, "ndim", 0) == 2


def _same_items(own: int, other: int, a: str, b: str) -> None:
    if own != other:
        raise InvalidInputError(
            f"{a} has {own} items and {b} has {other}; both must be of the same items.", argument=b
        )


def pairwise_distances(
    A: LabelsLike,
    B: LabelsLike | None = None,
    loss: str | Loss | None = None,
    *,
    n_jobs: int | None = None,
) -> Floats:
    """Losses between every partition of A (estimates) and every one of B (truths).

    Parameters
    ----------
    A : array_like, shape (n, n_items), or anything as_draws accepts, or FeatureDraws
    B : array_like, shape (m, n_items), or anything as_draws accepts, optional
        A itself when omitted.
    loss : str or Loss, optional
        VI by default, and FARO of feature draws.
    n_jobs : int, optional
        Threads; every core by default. The result does not depend on it.

    Returns
    -------
    ndarray of float, shape (n, m)

    Notes
    -----
    O(n m (N + K²)) time; temporaries of 32 MB beside the result.

    Examples
    --------
    >>> import partita as pt
    >>> pt.pairwise_distances([[0, 0, 1, 1], [0, 0, 0, 0]], loss="binder")
    array([[0. , 0.5],
           [0.5, 0. ]])
    """
    if is_features(A) or is_features(B):
        return _between_allocations(A, B, loss, n_jobs)
    measure = as_loss("vi" if loss is None else loss)
    estimates = as_partitions(A, "A")
    truths = estimates if B is None else as_partitions(B, "B")
    _same_items(estimates.n_items, truths.n_items, "A", "B")
    if None not in (own := {estimates.item_names, truths.item_names}) and len(own) > 1:
        raise InvalidInputError(
            "A and B name their items differently, or in another order; expected the same items, "
            "each at one place. draws.select_items puts them in order.",
            argument="B",
        )
    symmetric = truths is estimates and measure.is_symmetric
    shape = (estimates.n_draws, truths.n_draws)
    _require_matrix(shape)
    out = np.empty(shape)
    # Many small parts, because with symmetry the early rows are the long ones.
    parts = list(estimates.blocks(max(1, estimates.n_draws // 64)))
    results = map_parts(
        partial(_columns, loss=measure, estimates=gather(estimates), symmetric=symmetric),
        truths,
        parts,
        prepare=_ready,
        rows=max(1, _BLOCK_CELLS // max(estimates.n_draws, truths.n_items)),
        n_jobs=n_jobs,
    )
    for part, (start, values) in results:
        out[part, start : start + values.shape[1]] = values
    if symmetric:
        for r in range(1, estimates.n_draws):
            out[r, :r] = out[:r, r]
    return out


def _require_matrix(shape: tuple[int, int]) -> None:
    what = f"the matrix of {shape[0]:,} × {shape[1]:,} distances"
    require_memory(shape[0] * shape[1] * 8, what, "Give fewer partitions at a time.")


def _between_allocations(A: Any, B: Any, loss: str | Loss | None, n_jobs: int | None) -> Floats:
    estimates = allocations(A, argument="A")
    truths = estimates if B is None else allocations(B, argument="B")
    _same_items(estimates.n_items, truths.n_items, "A", "B")
    _require_matrix((estimates.n_draws, truths.n_draws))
    measure = loss_for(loss, estimates)
    found: Floats = measure.between(estimates, truths, n_jobs)
    return found


Ready = tuple[int, Int32s, Ints]


def _ready(block: Block) -> Ready:
    return block.start, block.rows, block.n_clusters


def _columns(
    truths: Ready, part: slice, *, loss: Loss, estimates: Draws, symmetric: bool
) -> tuple[int, Floats]:
    """Distances of some estimates to one block of truths, and the column where they begin.

    On and above the diagonal if symmetric; below it there is nothing to do.
    """
    start, rows, counts = truths
    first = min(max(0, part.start - start), len(counts)) if symmetric else 0
    values = np.zeros((part.stop - part.start, len(counts) - first))
    if not values.size:
        return start + first, values
    measured = loss.against(rows.shape[1])
    for i, estimate in enumerate(estimates.rows(part.start, part.stop)):
        skip = max(first, part.start + i - start) if symmetric else 0
        values[i, skip - first :] = measured(estimate, rows[skip:], counts[skip:])
    return start + first, values


def expected_loss(
    candidates: LabelsLike,
    draws: LabelsLike | None = None,
    loss: str | Loss | None = None,
    *,
    similarity: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> Floats:
    """Posterior expected loss of each candidate: the weighted mean of its losses over the draws.

    Parameters
    ----------
    candidates : array_like, shape (n_items,) or (n_candidates, n_items), or an estimate
        With feature draws one matrix of shape (n_items, n_features), a list of these, or
        FeatureDraws.
    draws : Draws or anything as_draws accepts, or FeatureDraws
    loss : str or Loss, optional
        VI by default, and FARO of feature draws.
    similarity : array_like, shape (n_items, n_items), keyword only
        A posterior similarity matrix instead of draws, for the losses that
        need no more, such as "binder" and "vi_lb".
    n_jobs : int, optional
        Threads; every core by default. The result does not depend on it.

    Returns
    -------
    ndarray of float, shape (n_candidates,)

    Notes
    -----
    O(M (N + K²)) per candidate from draws; O(N²) from a similarity matrix.

    Examples
    --------
    >>> import partita as pt
    >>> draws = pt.Draws([[0, 0, 1, 1], [0, 0, 0, 1]])
    >>> pt.expected_loss([[0, 0, 1, 1], [0, 0, 0, 0]], draws)
    array([0.59436094, 0.90563906])
    """
    if draws is not None and similarity is not None:
        said = "give either draws or similarity=..., not both."
        raise InvalidInputError(said, argument="draws")
    if similarity is not None:
        measure, matrix = as_loss("vi" if loss is None else loss), as_similarity(similarity)
        rows = as_label_rows(candidates, n_items=len(matrix), argument="candidates")
        return np.array([measure.expected_from_similarity(row, matrix) for row in rows])
    if draws is None:
        said = "give either draws or similarity=..., one is needed."
        raise InvalidInputError(said, argument="draws")
    if is_features(draws):
        features = as_features(draws)
        found = allocations(candidates, argument="candidates")
        _same_items(found.n_items, features.n_items, "candidates", "draws")
        faro, points = loss_for(loss, features), found.rows_at(range(found.n_draws))
        return np.array([faro.expected(point, features, n_jobs) for point in points])
    measure = as_loss("vi" if loss is None else loss)
    posterior = as_partitions(draws, "draws")
    n_items, names = posterior.n_items, posterior.item_names
    rows = as_label_rows(candidates, n_items=n_items, names=names, argument="candidates")
    return np.array([measure.expected(row, posterior, n_jobs) for row in rows])


@about("similarity")
def as_similarity(matrix: ArrayLike) -> Floats:
    """A valid posterior similarity matrix, or an error that says what is wrong with it."""
    if isinstance(matrix, Draws):
        raise InvalidInputError(
            "similarity is a Draws object; expected a square matrix of probabilities. "
            "Pass the draws as draws, without similarity."
        )
    refuse_masked(matrix, "similarities", InvalidInputError)
    try:
        values = np.asarray(matrix)
    except ValueError:
        raise InvalidInputError(
            "similarity has rows of different lengths; expected a square matrix of probabilities."
        ) from None
    if values.dtype.kind not in "fiub" or values.ndim != 2 or values.size == 0:
        raise InvalidInputError(
            f"similarity has shape {values.shape} and dtype {values.dtype}; expected a square "
            "matrix of probabilities, one row and one column per item."
        )
    values = values.astype(np.float64)
    if values.shape[0] != values.shape[1]:
        raise InvalidInputError(
            f"similarity has shape {values.shape}, which is not square. "
            "If these are draws (one row per draw), pass them as draws."
        )
    if not np.isfinite(values).all() or values.min() < 0.0 or values.max() > 1.0 + MASS:
        raise InvalidInputError(
            "similarity must hold probabilities between 0 and 1. "
            "If these are draws (labels), pass them as draws."
        )
    if np.abs(values - values.T).max() > MATRIX or np.abs(np.diagonal(values) - 1.0).max() > MATRIX:
        raise InvalidInputError(
            "similarity must be symmetric with ones on the diagonal; this matrix is not. "
            "partita.similarity(draws) computes one."
        )
    return values
