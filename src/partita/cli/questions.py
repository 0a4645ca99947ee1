"""Commands that ask one question: core, path, representatives, compare, convert, warmup."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

import partita as pt
from partita._warmup import PARTS
from partita._wording import counted, of_sizes, words
from partita.cli import options, outputs, reading
from partita.cli.options import say
from partita.losses import LOSSES

if TYPE_CHECKING:
    from partita.labels import Labels


@dataclass(frozen=True)
class Answer:
    """The answer of a command, in its three forms.

    Attributes
    ----------
    text : str
    plain : dict
        For ``--json``; arrays may stand in it.
    header, rows
        For the table of ``--out``.
    """

    text: str
    plain: dict[str, Any]
    header: Sequence[str]
    rows: Iterable[Sequence[Any]]


_SHARED = ("bound", "time_limit", "rng", "n_jobs", "one_based")
"""Options of every question, beside those of reading its draws."""


def question(
    *, bound: str, stopped: str, out: str
) -> Callable[[Callable[..., Answer]], Callable[..., None]]:
    """Make a function of draws a command: it gets the shared options, and its answer is shown.

    The function takes the draws and, by name, ``bound`` (None for "none"), ``time_limit``,
    ``rng``, ``n_jobs``, ``one_based`` (for the table) and the options of its own.

    Parameters
    ----------
    bound : str
        What is to be proven, for the help.
    stopped : str
        What is taken when time is up.
    out : str
        What ``--out`` writes.
    """

    def make_command(function: Callable[..., Answer]) -> Callable[..., None]:
        own: list[click.Parameter] = getattr(function, "__click_params__", [])

        @wraps(function)
        def command(
            sources: tuple[str, ...],
            weights: str | None,
            out: str | None,
            as_json: bool,
            force: bool,
            **choices: Any,
        ) -> None:
            outputs.check_file(out, force=force, inputs=(*sources, weights))
            wanted = (*_SHARED, *(str(option.name) for option in own))
            wishes = {name: choices.pop(name) for name in wanted}
            answer = function(reading.read_draws_of(sources, weights=weights, **choices), **wishes)
            if out is not None:
                outputs.write_table_to(out, answer.header, answer.rows, force=force)
            outputs.show_either(answer.text, answer.plain, as_json=as_json)

        command.__click_params__ = []  # type: ignore[attr-defined]
        options.apply_options(
            command,
            options.bound(f"How hard to prove {bound}."),
            options.time_limit(f"Seconds for the search; then {stopped} is taken."),
            options.weights,
            options.written("--out", "FILE", f"Write {out}."),
            options.one_based,
            options.as_json,
            options.force,
            options.reading,
            options.seed("search"),
            options.jobs,
            options.debug,
        )
        command.__click_params__ += own  # type: ignore[attr-defined]
        return click.argument("sources", nargs=-1, required=True, metavar="DRAWS...")(command)

    return make_command


_CORE_FIELDS = (
    *("items", "labels", "probability", "probability_mcse", "probability_low"),
    *("in_sample_probability", "cluster_probability", "n_effective", "upper_bound", "is_proven"),
    *("curve", "in_sample_curve", "auchips", "n_starts", "rounds", "limits", "sentence"),
)


@click.command(
    epilog="""\b
Examples:
  $ partita core draws.csv
  $ partita core draws.csv --prob 0.5 --out core.csv
  $ partita core draws.csv --noise -1:singletons --json"""
)
@question(
    bound="that no larger set reaches P in these draws",
    stopped="the best so far",
    out="one row per item: cluster, probability",
)
@options.probability("Probability of the grouping, which its lower 95% limit must reach.", 0.9)
@click.option(
    "--held-out/--in-sample",
    default=None,
    help="Measure on draws held out (default), or describe these draws only.",
)
@options.integer_option(
    "--starts", "Number of items to grow cores from. Default: all.", name="n_starts"
)
def core(draws: pt.Draws, one_based: bool, **wishes: Any) -> Answer:
    """A large set of items that are grouped in one way with probability P, all at once.

    The set is found on one part of the draws; its probability is measured on the other, and is at
    least P with 95% confidence. DRAWS is as in partita summarize.
    """
    found = pt.credible_core(draws, **wishes)
    names, labels = outputs.item_names(draws, one_based), outputs.numbered(found.labels, one_based)
    return Answer(
        text=found.screen(one_based=one_based),
        plain=outputs.fields_of(found, "prob", "size", *_CORE_FIELDS) | {"n_items": draws.n_items},
        header=("item", "core", "probability_with_item"),
        rows=zip(names, labels, found.probability_with_item.tolist(), strict=True),
    )


_PATH_FIELDS = (
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
@options.loss("A loss with a price; entropy(1.5) too.", ("vi", "binder"))
@options.text("--low", "A", "Lowest price.", type=click.FloatRange(0, 2), default=0.0)
@options.text("--high", "A", "Highest price.", type=click.FloatRange(0, 2), default=2.0)
def path(draws: pt.Draws, one_based: bool, **wishes: Any) -> Answer:
    """How many clusters, and would another weighting of the errors give another number?

    The price a says how much splitting a true cluster costs against merging two; the usual loss
    has a = 1. An estimate that is optimal over a wide range of prices is robust to the price. DRAWS
    is as in partita summarize.
    """
    found = pt.price_path(draws, **wishes)
    names = map(str, outputs.item_names(draws, one_based))
    return Answer(
        text=str(found),
        plain={"loss": repr(found.loss), **outputs.fields_of(found, *_PATH_FIELDS)},
        header=("low", "high", "n_clusters", "is_proven", *names),
        rows=[
            (c.low, c.high, c.n_clusters, c.is_proven, *outputs.numbered(c.labels, one_based))
            for c in found
        ],
    )


METRICS = tuple(name for name, home in LOSSES.items() if home.metric)
_REPRESENTATIVE_FIELDS = (
    *("n", "labels", "weights", "distance"),
    *("lower_bound", "gap", "expected_loss", "radius"),
)


@click.command(
    epilog="""\b
Examples:
  $ partita representatives draws.csv
  $ partita representatives draws.csv --n 3 --out representatives.csv
  $ partita representatives chain1.csv chain2.csv --n 2 --json
  $ partita representatives draws.csv --modes"""
)
@question(
    bound="that no other N clusterings are nearer to the draws",
    stopped="the best so far",
    out="one column per representative",
)
@options.integer_option("--n", "Number of representatives. Default: chosen on held-out draws.")
@options.loss("Distance between clusterings; entropy(1.5) too.", METRICS)
@options.flag("--modes", "Also report the number of modes.", "with_modes")
def representatives(
    draws: pt.Draws, with_modes: bool, loss: str, one_based: bool, **wishes: Any
) -> Answer:
    """One answer or several? A few clusterings that together lie near to all draws.

    Each comes with the mass of the draws that are nearest to it, what differs, and, where there
    are several chains, which of them it holds. DRAWS is as in partita summarize.
    """
    found = pt.representatives(draws, loss=loss, **wishes)
    text = str(found)
    plain = outputs.fields_of(found, *_REPRESENTATIVE_FIELDS) | {
        "chains": dict(zip(found.chain_names, found.chains, strict=True)),
        "differences": [found.explain(r).in_words() for r in range(1, found.n)],
        "limits": found.limits,
    }
    if with_modes:
        peaks = pt.modes(draws, loss=loss, n_jobs=wishes["n_jobs"])
        text = f"{text}\n\n{peaks}"
        plain["modes"] = outputs.fields_of(peaks, "labels", "weights")
    return Answer(
        text=text,
        plain=plain,
        header=("item", *(f"representative.{r}" for r in range(found.n))),
        rows=zip(
            outputs.item_names(draws, one_based),
            *outputs.numbered(found.labels, one_based),
            strict=True,
        ),
    )


# ------------------------------------------------------------------ compare


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
@options.reading
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
        draws = reading.read_draws_of((a,), weights=weights, **choices)
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
    type=options.FORMAT,
    help="Format to write. Default: by the suffix of OUT; csv for standard output.",
)
@options.flag("--one-based", "Count labels from 1. For R's formats always.")
@options.reading
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
    draws = reading.read_draws_of(sources, **choices)
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
