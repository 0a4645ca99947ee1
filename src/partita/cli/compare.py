"""Commands on files: compare, convert; and warmup."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import click

import partita as pt
from partita._warmup import PARTS
from partita._wording import counted, of_sizes, words
from partita.cli import options, outputs, reading
from partita.cli.options import say
from partita.io.read import FORMATS
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
@options.text(
    "--against", "FILE", "A are draws: p-value and credible level of the clustering in FILE."
)
@options.loss(
    "Distance to show; may be given several times.",
    name="losses",
    multiple=True,
    default=("vi", "binder", "one_minus_ari"),
)
@options.written("--out", "FILE", "Write both and their meet, one row per item.")
@options.as_json
@options.force
@options.weights
@reading.draws_options
@options.debug
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

    With --against, A is a file of draws, and a hypothesis is tested: how unusual it would be as
    one more draw, and which credible ball contains it. How the draws are read, --weights to
    --thin, is as in partita summarize.
    """
    if against is not None:
        if b is not None or out is not None:
            raise click.UsageError("--against takes draws as A, and neither B nor --out.")
        outputs.check_file(out, force=force, inputs=(a, against, weights))
        draws = reading.read_draws_of((a,), choices, weights=weights)
        order = reading.Partition(a, pt.canonical(draws[0]), draws.item_names)
        labels = reading.align_by_name(order, reading.read_partition(against))[1]
        found = _test_hypothesis(draws, labels, losses)
        text = _verdict(a, against, found, outputs.width())
        outputs.show_either(text, {"draws": a, "against": against, **found}, as_json=as_json)
        return
    of_draws = [o for o in ctx.command.params if o.name in ("weights", *choices)]
    if given := [o.opts[0] for o in of_draws if options.was_given(str(o.name))]:
        raise click.UsageError(f"{given[0]} is about draws; give it with --against.")
    if b is None:
        raise click.UsageError("Missing argument 'B'.")
    outputs.check_file(out, force=force, inputs=(a, b))
    first, second, names, is_sorted = reading.align_by_name(*map(reading.read_partition, (a, b)))
    if is_sorted:
        say(f"items of {b} were put in the order of {a}, by name")
    found = _compare_labels(first, second, losses, names)
    if out is not None:
        items = range(first.size) if names is None else names
        columns = (first.tolist(), second.tolist(), found["meet"]["labels"])
        rows = zip(items, *columns, strict=True)
        outputs.write_table_to(out, ("item", "a", "b", "meet"), rows, force=force)
    text = _text(a, b, found, outputs.width(elsewhere=_UNLIMITED))
    outputs.show_either(text, {"a": a, "b": b, **found}, as_json=as_json)


def _compare_labels(
    a: Labels, b: Labels, losses: tuple[str, ...], names: tuple[str, ...] | None
) -> dict[str, Any]:
    def described(labels: Labels) -> dict[str, Any]:
        return {"n_clusters": pt.n_clusters(labels), "labels": labels.tolist()}

    return {
        "n_items": int(a.size),
        "n_clusters": [pt.n_clusters(a), pt.n_clusters(b)],
        "distances": {name: pt.distance(a, b, name) for name in losses},
        "a_refines_b": bool(pt.lattice.refines(a, b)),
        "b_refines_a": bool(pt.lattice.refines(b, a)),
        "from_a_to_b": str(pt.explain(a, b, item_names=names)),
        "cross_table": pt.cross_table(a, b).tolist(),
        "meet": described(pt.lattice.meet(a, b)),
        "join": described(pt.lattice.join(a, b)),
    }


def _text(a: str, b: str, found: dict[str, Any], columns: int) -> str:
    from partita.losses.evaluate import as_loss

    k_a, k_b = found["n_clusters"]
    measures = {as_loss(name): value for name, value in found["distances"].items()}
    title = max(len(loss.title) for loss in measures)
    return outputs.wrapped(
        columns,
        f"A: {a}, {counted(k_a, 'cluster')}",
        f"B: {b}, {counted(k_b, 'cluster')}",
        f"Items: {found['n_items']:,}",
        f"Relation: {_RELATIONS[found['a_refines_b'], found['b_refines_a']]}",
        "Distances:",
        *(f"  {loss.title:<{title}}  {value:.6g} {loss.unit}" for loss, value in measures.items()),
        f"From A to B: {found['from_a_to_b']}",
        "Items in clusters of A (rows) and B (columns):",
        *_table(found["cross_table"], columns),
        f"Meet: {_sizes(found['meet'])}",
        f"Join: {_sizes(found['join'])}",
    )


_RELATIONS = {
    (True, True): "the same clustering",
    (True, False): "A refines B: each cluster of A lies in one of B",
    (False, True): "B refines A: each cluster of B lies in one of A",
    (False, False): "neither refines the other",
}
"""Whether A refines B, and B refines A."""


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


def _test_hypothesis(draws: pt.Draws, labels: Labels, losses: tuple[str, ...]) -> dict[str, Any]:
    """p-value, credible level, and what turns the estimate into the hypothesis."""
    from partita.losses.evaluate import as_loss

    name = next((name for name in losses if as_loss(name).is_metric), "vi")
    loss = as_loss(name)
    best = pt.estimate(draws, loss=loss, bound=None)
    ball = pt.credible_ball(draws, best, loss=loss)
    p = pt.p_value(draws, labels, loss=loss)
    level = ball.credible_level(labels)
    told = pt.explain(best, labels, loss=loss, item_names=draws.item_names)
    said, is_inside = words(draws.kind), level < float("inf")
    level_in_words = (
        f"the {said.ball} around the estimate contains it from {100 * level:.3g}% on: that share "
        f"of the {said.source} is at least as near to the estimate."
        if is_inside
        else f"no {said.ball} contains it: it is farther from the estimate than every "
        f"{said.draw}. The level measures the distance to the estimate alone."
    )
    return {
        "loss": name,
        "kind": draws.kind,
        "n_items": draws.n_items,
        "p_value": float(p),
        "p_values": p.values.tolist(),
        "rates": p.rates.tolist(),
        "rate": p.rate,
        "p_value_in_words": str(p),
        "credible_level": level if is_inside else None,
        "credible_level_in_words": level_in_words,
        "distance_to_estimate": told.distance,
        "from_the_estimate": told.in_words(),
    }


def _verdict(source: str, path: str, found: dict[str, Any], columns: int) -> str:
    """The answer as one reads it, p-value and credible level side by side."""
    said = words(found["kind"])
    ball = f"{said.ball.removesuffix('ball')}level"
    level = found["credible_level"]
    shown = "beyond 100%" if level is None else f"{100 * level:.3g}%"
    return outputs.wrapped(
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


# ------------------------------------------------------------------ convert, warmup


@click.command(
    epilog="""\b
Examples:
  $ partita convert draws.csv draws.rds
  $ partita convert chain1.csv chain2.csv both.npz --burn-in 100
  $ partita convert samples.csv z.csv --format cmdstan --var-name z
  $ cat draws.csv | partita convert - - --to tsv"""
)
@click.argument("sources", nargs=-1, required=True, metavar="IN...")
@click.argument("target", metavar="OUT")
@click.option(
    "--to",
    type=click.Choice(tuple(FORMATS)),
    help="Format to write. Default: by the suffix of OUT; csv for standard output.",
)
@options.flag("--one-based", "Count labels from 1. For R's formats always.")
@reading.draws_options
@options.force
@options.debug
def convert(
    sources: tuple[str, ...],
    target: str,
    to: str | None,
    one_based: bool,
    force: bool,
    **choices: Any,
) -> None:
    """Convert draws between csv, tsv, npy, npz, parquet, nc, zarr, rds and RData.

    Several IN files are several chains. - is standard input or output. Labels are written in
    order of first appearance; weights, chains and item names are kept. For R the draws are an
    integer matrix, with attr(x, "chain") and attr(x, "weights") where there are any.
    """
    zarr = to == "zarr" or (to is None and target.lower().endswith(".zarr"))
    outputs.check_file(target, force=force, inputs=sources, directory=zarr)
    draws = reading.read_draws_of(sources, choices)
    pt.write_draws(draws, target, format=to, overwrite=force, one_based=one_based)
    if target != "-":
        say(f"wrote {target}: {repr(draws)[8:-1]}")


@click.command(
    epilog="""\b
Examples:
  $ partita warmup
  $ partita warmup summarize fit core"""
)
@click.argument("parts", nargs=-1, type=click.Choice(tuple(PARTS)), metavar="[PART]...")
@options.debug
def warmup(parts: tuple[str, ...]) -> None:
    """Compile PARTS for this machine.

    PARTS are summarize, losses, fit, core, representatives, path; all of them by default.

    It takes up to a few minutes once; afterwards every run starts at once. What is compiled
    already is only loaded.
    """
    for part in parts or tuple(PARTS):
        start = time.monotonic()
        say(f"compiling {part} …")
        PARTS[part]()
        say(f"  ready after {time.monotonic() - start:.0f} s")
