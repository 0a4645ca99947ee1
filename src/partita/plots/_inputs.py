"""What may be handed to a figure, and what the figure needs of it."""

from __future__ import annotations

from typing import TypeVar

from partita.credible.ball import CredibleBall
from partita.errors import InvalidInputError
from partita.labels import DataLike, DrawsLike, Labels, LabelsLike, as_labels, by_size
from partita.posterior import Posterior, as_posterior
from partita.samplers.fit import Fit
from partita.summary.result import Summary
from partita.summary.summarize import Observations, as_observations

T = TypeVar("T")


def posterior_of(source: DrawsLike, n_jobs: int | None = None) -> Posterior:
    """The posterior of a summary, with what it has computed already, or a new one."""
    return source._posterior if isinstance(source, Summary) else as_posterior(source, n_jobs)


def ball_of(source: object, argument: str = "source") -> CredibleBall:
    """The credible ball of a summary, or the one given."""
    expected = "a Summary or a CredibleBall. partita.credible_ball(draws, estimate) makes one."
    found = source.ball if isinstance(source, Summary) else source
    return of_kind(found, CredibleBall, expected, argument)


def of_kind(
    source: object, kind: type[T] | tuple[type[T], ...], expected: str, argument: str = "source"
) -> T:
    """The result, if it is of the kind that a figure shows."""
    if not isinstance(source, kind):
        raise InvalidInputError(
            f"got {type(source).__name__}; expected {expected}", argument=argument
        )
    return source


def estimate_for(source: object, estimate: LabelsLike | None, n_items: int) -> Labels | None:
    """The estimate asked for, else the one the source carries, else None."""
    if estimate is not None:
        return by_size(as_labels(estimate, n_items=n_items, argument="estimate"))
    return by_size(as_labels(source)) if isinstance(source, (Summary, CredibleBall)) else None


def observations_of(
    source: object, data: DataLike | None, fit: Fit | None, n_items: int
) -> Observations | None:
    """The data given, else those of the summary or fit, else None."""
    if data is not None:
        return as_observations(data, n_items)
    if isinstance(source, Summary) and source.data is not None:
        return Observations(source.data, source.data_names or None, source.data_categories)
    if fit is not None:
        _same_items(fit, n_items)
        unnamed = fit.columns == tuple(str(j) for j in range(len(fit.columns)))
        categories = fit.kernel.categories(len(fit.columns))
        return Observations(fit.values, None if unnamed else fit.columns, categories)
    return None


def fit_for(fit: Fit | None, n_items: int) -> Fit | None:
    """The fit, checked to be about as many items."""
    if fit is not None:
        _same_items(as_fit(fit), n_items)
    return fit


def as_fit(fit: object) -> Fit:
    """The fit, and nothing else."""
    if not isinstance(fit, Fit):
        raise InvalidInputError(
            f"fit is {type(fit).__name__}; expected the result of partita.sample.", argument="fit"
        )
    return fit


def _same_items(fit: Fit, n_items: int) -> None:
    if fit.draws.n_items != n_items:
        raise InvalidInputError(
            f"the fit is about {fit.draws.n_items} items, the partition about {n_items}.",
            argument="fit",
        )
