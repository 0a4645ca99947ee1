"""``partita compare``: two clusterings side by side, or one against the draws of a posterior."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from partita._text import Words, counted, of_sizes, words
from partita.cli.options import (
    LossName,
    debug_option,
    force_option,
    json_option,
    read_options,
    was_given,
    weights_option,
)
from partita.cli.outputs import (
    check_file,
    say,
    show_either,
    width,
    wrapped,
    write_table_to,
)
from partita.losses.names import LOSSES

if TYPE_CHECKING:
    from partita.draws import Draws
    from partita.labels import Labels


_UNLIMITED = 1_000_000


@click.command(
    epilog="""\b
Examples:
  $ partita compare labels.csv truth.csv
  $ partita compare results/bounds.csv:estimate results/bounds.csv:upper
  $ partita compare labels.csv truth.csv --loss vi --loss nid --json
  $ partita compare labels.csv truth.csv --out both.csv
  $ partita compare draws.csv --against truth.csv
  $ partita compare draws.csv --against truth.csv --burn-in 10 --thin 2"""
)
@click.argument("a")
@click.argument("b", required=False)
@click.option(
    "--against",
    metavar="FILE",
    help="A are draws: p-value and credible level of the clustering in FILE.",
)
@click.option(
    "--loss",
    "losses",
    type=LossName(tuple(LOSSES), case_sensitive=False),
    multiple=True,
    default=("vi", "binder", "one_minus_ari"),
    show_default=True,
    help="Distance to show; may be given several times.",
)
@click.option(
    "--out", type=click.Path(), metavar="FILE", help="Write both and their meet, one row per item."
)
@json_option
@force_option
@weights_option
@read_options
@debug_option
@click.pass_context
def compare(
    ctx: click.Context,
    /,
    a: str,
    b: str | None,
    against: str | None,
    losses: tuple[str, ...],
    out: str | None,
    as_json: bool,
    force: bool,
    weights: str | None,
    **choices: Any,
) -> None:
    """Distance, cross table, meet and join of two clusterings of the same items.

    A and B are files with one label per item, in one column or one row; FILE:COLUMN names a
    column. Where both files name their items (in a column `item` or as headings of a row), items
    are matched by name. A is the estimate and B the truth, for losses that tell them apart.

    With --against, A is a file of draws, and a hypothesis is tested: how strange it would be as
    one more draw, and which credible ball contains it. How the draws are read, --weights to
    --thin, is as in partita summarize.
    """
    from partita.cli.reading import (
        aligned,
        read_draws_of,
        read_partition,
        refuse_two_readers_of_stdin,
    )

    if against is not None:
        if b is not None or out is not None:
            raise click.UsageError("--against takes draws as A, and neither B nor --out.")
        refuse_two_readers_of_stdin(a, against, weights)
        draws = read_draws_of((a,), weights=weights, **choices)
        _test(draws, a, against, losses, as_json=as_json)
        return
    _refuse_without_draws(ctx, ("weights", *choices))
    if b is None:
        raise click.UsageError("Missing argument 'B'.")
    refuse_two_readers_of_stdin(a, b)
    check_file(out, force=force, inputs=(a, b))
    first, second, names, sorted_by_name = aligned(read_partition(a), read_partition(b))
    if sorted_by_name:
        say(f"items of {b} were put in the order of {a}, by name")
    found = _compared(first, second, losses, names)
    if out is not None:
        items = range(first.size) if names is None else names
        columns = (first.tolist(), second.tolist(), found["meet"]["labels"])
        rows = zip(items, *columns, strict=True)
        write_table_to(out, ("item", "a", "b", "meet"), rows, force=force)
    text = _text(a, b, found, width(elsewhere=_UNLIMITED))
    show_either(text, {"a": a, "b": b, **found}, as_json=as_json)


def _refuse_without_draws(ctx: click.Context, names: tuple[str, ...]) -> None:
    """Options of draws say nothing about two files of labels."""
    given = [o.opts[0] for o in ctx.command.params if o.name in names and was_given(o.name)]
    if given:
        raise click.UsageError(f"{given[0]} is about draws; give it with --against.")


def _test(draws: Draws, source: str, path: str, losses: tuple[str, ...], *, as_json: bool) -> None:
    found = _tested(draws, _labels_for(draws, source, path), losses)
    document = {"draws": source, "against": path, **found}
    show_either(_verdict(source, path, found, width()), document, as_json=as_json)


def _compared(
    a: Labels, b: Labels, losses: tuple[str, ...], names: tuple[str, ...] | None
) -> dict[str, Any]:
    from partita.labels import cross_table
    from partita.lattice import join, meet, refines
    from partita.losses.evaluate import distance
    from partita.losses.explain import explain

    def described(labels: Labels) -> dict[str, Any]:
        return {"n_clusters": int(labels.max()) + 1, "labels": labels.tolist()}

    return {
        "n_items": int(a.size),
        "n_clusters": [int(a.max()) + 1, int(b.max()) + 1],
        "distances": {name: distance(a, b, name) for name in losses},
        "a_refines_b": bool(refines(a, b)),
        "b_refines_a": bool(refines(b, a)),
        "from_a_to_b": str(explain(a, b, item_names=names)),
        "cross_table": cross_table(a, b).tolist(),
        "meet": described(meet(a, b)),
        "join": described(join(a, b)),
    }


def _text(a: str, b: str, found: dict[str, Any], columns: int) -> str:
    from partita.losses.evaluate import as_loss

    k_a, k_b = found["n_clusters"]
    measures = {as_loss(name): value for name, value in found["distances"].items()}
    title = max(len(loss.title) for loss in measures)
    return wrapped(
        columns,
        f"A: {a}, {counted(k_a, 'cluster')}",
        f"B: {b}, {counted(k_b, 'cluster')}",
        f"Items: {found['n_items']:,}",
        f"Relation: {_relation(found)}",
        "Distances:",
        *(f"  {loss.title:<{title}}  {value:.6g} {loss.unit}" for loss, value in measures.items()),
        f"From A to B: {found['from_a_to_b']}",
        "Items in clusters of A (rows) and B (columns):",
        *_table(found["cross_table"], columns),
        f"Meet: {_sizes(found['meet'])}",
        f"Join: {_sizes(found['join'])}",
    )


def _relation(found: dict[str, Any]) -> str:
    if found["a_refines_b"] and found["b_refines_a"]:
        return "the same clustering"
    if found["a_refines_b"]:
        return "A refines B: each cluster of A lies in one of B"
    if found["b_refines_a"]:
        return "B refines A: each cluster of B lies in one of A"
    return "neither refines the other"


def _table(counts: list[list[int]], columns: int) -> list[str]:
    """The cross table, zeros as points; columns of B that do not fit are counted."""
    size = max(4, len(f"{max(map(max, counts)):,}") + 1, len(str(len(counts[0]))) + 1)
    shown = min(len(counts[0]), max(1, (columns - 8) // size))
    head = "A \\ B".rjust(7) + " " + "".join(f"{j:>{size}}" for j in range(shown))
    lines = [head]
    for i, row in enumerate(counts):
        cells = "".join(f"{n:>{size},}" if n else f"{'·':>{size}}" for n in row[:shown])
        lines.append(f"{i:>7} {cells}")
    if shown < len(counts[0]):
        lines.append(f"  … and {len(counts[0]) - shown} more columns; --json has all of them")
    return lines


def _sizes(partition: dict[str, Any]) -> str:
    sizes = Counter(partition["labels"]).values()
    return f"{counted(len(sizes), 'cluster')} of {of_sizes(sizes)}"


def _labels_for(draws: Draws, source: str, path: str) -> Labels:
    """Labels of a file in the order of the draws' items, by name where both have names."""
    from partita.cli.reading import Partition, aligned, read_partition
    from partita.labels import as_labels

    given = read_partition(path)
    items = Partition(source, as_labels(draws[0]), draws.item_names)
    return aligned(items, given)[1]


def _tested(draws: Draws, labels: Labels, losses: tuple[str, ...]) -> dict[str, Any]:
    """p-value, credible level, and what turns the estimate into the hypothesis."""
    from partita.credible.ball import credible_ball
    from partita.losses.evaluate import as_loss
    from partita.losses.explain import explain
    from partita.representative.conformal import p_value
    from partita.search.estimate import estimate

    name = next((name for name in losses if as_loss(name).is_metric), "vi")
    loss = as_loss(name)
    best = estimate(draws, loss=loss, bound=None)
    ball = credible_ball(draws, best, loss=loss)
    p = p_value(draws, labels, loss=loss)
    level = ball.credible_level(labels)
    told = explain(best, labels, loss=loss, item_names=draws.item_names)
    return {
        "loss": name,
        "kind": draws.kind,
        "n_items": draws.n_items,
        "p_value": float(p),
        "p_values": p.values.tolist(),
        "rates": p.rates.tolist(),
        "rate": p.rate,
        "p_value_in_words": str(p),
        "credible_level": level if level < float("inf") else None,
        "credible_level_in_words": _level_in_words(level, words(draws.kind)),
        "distance_to_estimate": told.distance,
        "from_the_estimate": told.in_words(),
    }


def _level_in_words(level: float, said: Words) -> str:
    if level == float("inf"):
        return (
            f"no {said.ball} contains it: it is farther from the estimate than every {said.draw}. "
            "The level measures the distance to the estimate alone."
        )
    return (
        f"the {said.ball} around the estimate contains it from {100 * level:.3g}% on: that share "
        f"of the {said.source} is at least as near to the estimate."
    )


def _verdict(source: str, path: str, found: dict[str, Any], columns: int) -> str:
    """The answer as one reads it, p-value and credible level side by side."""
    said = words(found["kind"])
    ball = f"{said.ball.removesuffix('ball')}level"
    level = found["credible_level"]
    shown = "beyond 100%" if level is None else f"{100 * level:.3g}%"
    return wrapped(
        columns,
        f"Hypothesis: {path}, against the {said.draws} of {source}",
        f"p-value: {found['p_value']:.3g}    {ball}: {shown}",
        f"p-value: {found['p_value_in_words']}",
        f"{ball.capitalize()}: {found['credible_level_in_words']}",
        f"Both: a small p-value, or a level near 100%, says that the {said.source} hardly supports "
        f"it. They differ where the {said.source} has several modes: the p-value says how close "
        f"it is to any {said.draws}, the level how close it is to the estimate.",
        f"From the estimate: {found['from_the_estimate']}",
    )
