"""Membership probabilities of marginalised mixtures: partitions drawn from them, similarities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from partita import _validate as check
from partita._resources import require_memory
from partita._validate import Rng
from partita.draws import Draws
from partita.errors import InvalidInputError, about
from partita.io.arrays import draws_first, named_dims, posterior_of
from partita.io.table import choose_variable
from partita.kernels.arrays import Array, Floats
from partita.labels import Foreign

_CELLS = 1 << 23
"""Probabilities held at a time in a product."""


def draws_from_memberships(
    memberships: ArrayLike | Foreign | Mapping[str, ArrayLike],
    *,
    log: bool = False,
    per_draw: int = 1,
    var_name: str | None = None,
    rng: Rng | None = None,
) -> Draws:
    r"""Partitions from the membership probabilities of a mixture whose labels were summed out.

    Stan, NumPyro and PyMC models marginalise the labels and hold, for each posterior draw m of
    the parameters, :math:`p_{mik}`, the probability that item i belongs to component k. Given
    the parameters the labels of the items are independent, so one label per item drawn from
    these probabilities is a draw from the posterior of the partition.

    Parameters
    ----------
    memberships : array_like, dict of arrays, xarray object or ArviZ object
        Probabilities of shape (draw, item, component) or (chain, draw, item, component). In an
        xarray or ArviZ object ``chain`` and ``draw`` (or ``sample``) are found by name and two
        dimensions must remain, item and component in this order; a coordinate of the item gives
        names. A dict holds samples by name, as NumPyro and PyStan return them.
    log : bool
        These are log weights, such as log densities plus log mixture weights; they need not be
        normalised.
    per_draw : int
        Partitions to draw for each draw of the parameters.
    var_name : str, optional
        The variable of a dict, Dataset or ArviZ object; when omitted the only one of such a
        shape.
    rng : int, SeedSequence or Generator, optional
        By default 0.

    Returns
    -------
    Draws
        With chains kept; those of one posterior draw follow each other.

    Notes
    -----
    Cost O(M·N·K) time; more partitions per draw lower the noise of the drawing only.

    References
    ----------
    Stan Development Team, Stan User's Guide, "Finite mixtures": the labels summed out.

    Examples
    --------
    >>> import partita as pt
    >>> p = [[[0.9, 0.1], [0.8, 0.2], [0.1, 0.9]], [[0.3, 0.7], [0.2, 0.8], [0.9, 0.1]]]
    >>> pt.draws_from_memberships(p, per_draw=100).n_draws
    200
    """
    p, chain, names = _cleaned(memberships, log, var_name)
    per_draw = check.integer(per_draw, "per_draw", least=1)
    generator = check.generator(rng)
    n_draws, n_items, _ = p.shape
    require_memory(
        8 * n_draws * per_draw * n_items,
        f"{n_draws * per_draw:,} partitions of {n_items:,} items",
        "Ask for fewer per draw.",
    )
    labels = np.empty((n_draws, per_draw, n_items), np.int64)
    for m in range(n_draws):
        below = p[m].cumsum(axis=1)[:, :-1]
        for r in range(per_draw):
            labels[m, r] = (below <= generator.random((n_items, 1))).sum(axis=1)
    flat = labels.reshape(n_draws * per_draw, n_items)
    chains = None if chain is None else np.repeat(chain, per_draw)
    return Draws(flat, chain=chains, item_names=names)


def similarity_from_memberships(
    memberships: ArrayLike | Foreign | Mapping[str, ArrayLike],
    *,
    log: bool = False,
    var_name: str | None = None,
) -> Floats:
    r"""Posterior similarity matrix from membership probabilities, without the noise of drawing.

    :math:`p_{ij} = \frac1M \sum_m \sum_k p_{mik}\, p_{mjk}` for i ≠ j, and 1 on the diagonal: the
    matrix that infinitely many partitions per draw would have (Rao–Blackwell). Binder's loss,
    PEAR and the lower bound of VI need no more: ``pt.estimate(similarity=…, loss="binder")``.

    Parameters
    ----------
    memberships, log, var_name
        As for :func:`draws_from_memberships`.

    Returns
    -------
    ndarray of float, shape (n_items, n_items)

    Notes
    -----
    Cost O(M·K·N²), as matrix products over blocks of draws; memory O(N²) beside the input.

    References
    ----------
    Fritsch and Ickstadt (2009), Bayesian Analysis 4, for what the matrix is used for.

    Examples
    --------
    >>> import partita as pt
    >>> p = [[[0.9, 0.1], [0.8, 0.2], [0.1, 0.9]], [[0.3, 0.7], [0.2, 0.8], [0.9, 0.1]]]
    >>> pt.similarity_from_memberships(p).round(2)
    array([[1.  , 0.68, 0.26],
           [0.68, 1.  , 0.26],
           [0.26, 0.26, 1.  ]])
    """
    p, _, _ = _cleaned(memberships, log, var_name)
    n_draws, n_items, k = p.shape
    require_memory(
        n_items**2 * 8,
        f"the similarity matrix of {n_items:,} items",
        "Draw partitions by draws_from_memberships instead.",
    )
    out = np.zeros((n_items, n_items))
    step = max(1, _CELLS // (n_items * k))
    for start in range(0, n_draws, step):
        block = p[start : start + step].transpose(1, 0, 2).reshape(n_items, -1)
        out += block @ block.T
    out /= n_draws
    out = (out + out.T) / 2
    np.fill_diagonal(out, 1.0)
    return out


@about("memberships")
def _cleaned(
    memberships: ArrayLike | Foreign | Mapping[str, ArrayLike], log: bool, var_name: str | None
) -> tuple[Floats, Array | None, list[str] | None]:
    """Probabilities (draw, item, component) that sum to 1, chain of each draw, item names."""
    log, var_name = check.boolean(log, "log"), check.text_or_none(var_name, "var_name")
    variable = _variable(memberships, var_name)
    chain, names = None, None
    if _has_dims(variable):
        variable, chain, names = draws_first(variable, "item", "component")
    values = check.plain_array(variable, "memberships", InvalidInputError, axes=4)
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise check.unexpected(
            memberships, "memberships", "numbers of shape (draw, item, component)"
        ) from None
    if array.ndim not in (3, 4) or 0 in array.shape:
        raise InvalidInputError(
            f"memberships have shape {array.shape}; expected (draw, item, component) or (chain, "
            "draw, item, component)."
        )
    if array.ndim == 4:
        chain = np.repeat(np.arange(array.shape[0]), array.shape[1])
        array = array.reshape(-1, *array.shape[2:])
    if log:
        highest = array.max(axis=2, keepdims=True)
        if not np.isfinite(highest).all() or np.isnan(array).any():
            raise InvalidInputError(
                "log weights of an item are all -inf, infinite or missing; expected a finite one."
            )
        array = np.exp(array - highest)
    elif not np.isfinite(array).all() or array.min() < 0:
        raise InvalidInputError(
            "memberships are negative or missing; expected probabilities. For log weights say "
            "log=True."
        )
    total = array.sum(axis=2, keepdims=True)
    if not log and np.abs(total - 1).max() > 1e-4:
        raise InvalidInputError(
            f"memberships of an item sum to {float(total.flat[np.abs(total - 1).argmax()]):g}; "
            "expected 1. Is the last axis the component? Log weights need log=True."
        )
    return array / total, chain, names


def _variable(obj: Any, var_name: str | None) -> Any:
    """The array of memberships in whatever holds variables, or the array itself."""
    if check.has(obj, "children") or check.has(obj, "groups"):
        obj = posterior_of(obj)[1]
    if not check.has(obj, "data_vars") and not isinstance(obj, Mapping):
        check.refuse_var_name(var_name, f"a {type(obj).__name__}")
        return obj
    variables = dict(obj if isinstance(obj, Mapping) else obj.data_vars)
    if set(variables) == {"posterior"} and not np.ndim(variables["posterior"]):
        return _variable(variables["posterior"], var_name)
    fitting = [name for name, value in variables.items() if _fits(value)]
    shown = {name: f"{name} {_shape(value)}" for name, value in variables.items()}
    none = "no variable has the dimensions (chain, draw, item, component)"
    return variables[choose_variable(shown, fitting, var_name, none)]


def _has_dims(value: Any) -> bool:
    named = check.has(value, "dims") and isinstance(value.dims, tuple)
    return named and hasattr(value, "transpose")


def _fits(value: Any) -> bool:
    if not _has_dims(value):
        return np.ndim(value) in (3, 4)
    try:
        return bool(named_dims(value, "item", "component"))
    except InvalidInputError:
        return False


def _shape(value: Any) -> str:
    shape = value.dims if _has_dims(value) else np.shape(value)
    return f"({', '.join(map(str, shape))})"
