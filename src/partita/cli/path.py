"""``partita path``: every clustering that is optimal at some price."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from partita.cli.options import LossName, value_option
from partita.cli.questions import Answer, question

if TYPE_CHECKING:
    from partita.draws import Draws

_FIELDS = (
    *("low", "high", "breakpoints", "n_clusters", "splitting", "merging"),
    *("labels", "item_names", "is_proven", "gap", "interrupted", "seconds"),
)


@click.command(
    epilog="""\b
Examples:
  $ partita path draws.csv
  $ partita path draws.csv --loss binder --low 0.5 --high 1.5
  $ partita path draws.csv --bound none --out path.csv --json"""
)
@question(
    bound="that nothing better exists",
    stopped="the path so far",
    out="one row per optimal clustering: prices, clusters, labels",
)
@value_option(
    "--loss",
    type=LossName(("vi", "binder"), case_sensitive=False),
    default="vi",
    help="A loss with a price; entropy(1.5) too.",
)
@value_option("--low", type=click.FloatRange(0, 2), default=0.0, metavar="A", help="Lowest price.")
@value_option(
    "--high", type=click.FloatRange(0, 2), default=2.0, metavar="A", help="Highest price."
)
def command(draws: Draws, one_based: bool, **wishes: Any) -> Answer:
    """How many clusters, and would someone with another taste get another number?

    The price a says how much splitting a true cluster costs against merging two; the usual loss
    has a = 1. An estimate that is optimal over a wide range of prices is robust to the price. DRAWS
    is as in partita summarize.
    """
    from partita._result import fields_of
    from partita.cli.outputs import item_names, numbered
    from partita.search.price_path import price_path

    found = price_path(draws, **wishes)
    names = map(str, item_names(draws, one_based))
    return Answer(
        text=str(found),
        plain={"loss": repr(found.loss), **fields_of(found, *_FIELDS)},
        header=("low", "high", "n_clusters", "is_proven", *names),
        rows=[
            (c.low, c.high, c.n_clusters, c.is_proven, *numbered(c.labels, one_based))
            for c in found
        ],
    )
