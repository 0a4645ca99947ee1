"""``partita summarize --similarity FILE``: an estimate from a similarity matrix alone."""

from __future__ import annotations

from typing import Any

import click

from partita.cli.directories import check_directory, new_directory
from partita.cli.outputs import write_table
from partita.cli.show import say, show

_FROM_A_MATRIX = ("binder", "vi_lb", "ompear")


def summarize_matrix(
    path: str, sources: tuple[str, ...], others: object, out: str | None, force: bool
) -> None:
    """Print the estimate and write labels.csv; a ball needs draws, which a matrix has lost."""
    if sources or others:
        raise click.UsageError(
            "--similarity FILE stands in place of draws: leave out DRAWS, --data, --weights, "
            "--report and --figures. To write the matrix of DRAWS, give --similarity csv or npy."
        )
    check_directory(out, force=force)
    from partita.io.similarity_files import read_similarity
    from partita.partitions.numbering import from_one, items_from_one
    from partita.search.estimate import estimate

    params = click.get_current_context().params
    matrix, names = read_similarity(path)
    found = estimate(
        similarity=matrix,
        loss=_loss(params),
        method=params["method"],
        bound=None if params["bound"] == "none" else params["bound"],
        max_clusters=params["max_clusters"],
        n_clusters=params["n_clusters"],
        min_size=params["min_size"],
        time_limit=params["time_limit"],
        rng=params["seed"],
        n_jobs=params["jobs"],
    )
    labels = found.labels.tolist()
    if params["as_json"]:
        import json

        fields = ("n_clusters", "expected_loss", "lower_bound", "gap")
        values = {field: getattr(found, field) for field in fields}
        document = {"loss": repr(found.loss), "labels": labels, "item_names": names, **values}
        click.echo(json.dumps(document, indent=1, ensure_ascii=False))
    else:
        show(str(found))
    if out is not None:
        with new_directory(out) as directory:
            one = params["one_based"]
            items = items_from_one(names, len(labels), one)
            rows = zip(items, from_one(found.labels, one).tolist(), strict=True)
            write_table(directory / "labels.csv", ("item", "cluster"), rows)
        say(f"wrote {out}")


def _loss(params: dict[str, Any]) -> str:
    """The loss asked for; without a wish the one closest to VI that a matrix gives."""
    source = click.get_current_context().get_parameter_source("loss")
    if source is not None and source.name == "DEFAULT":
        say("a matrix does not give the expected VI; minimising its bound vi_lb (--loss vi_lb)")
        return "vi_lb"
    if params["loss"] not in _FROM_A_MATRIX:
        raise click.UsageError(
            f"--loss {params['loss']} needs draws; from a matrix there are "
            f"{', '.join(_FROM_A_MATRIX)}."
        )
    return str(params["loss"])
