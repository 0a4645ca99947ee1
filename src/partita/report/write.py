"""Writing the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partita._files import PathLike, atomic_path
from partita.report.page import page
from partita.report.prepare import prepare

if TYPE_CHECKING:
    from partita.summary.result import Summary


def write_report(summary: Summary, path: PathLike, *, overwrite: bool = False) -> None:
    """Write a report on a summary as one HTML file that needs no network.

    Parameters
    ----------
    summary : Summary
    path : path
        Written whole or not at all.
    overwrite : bool
        Replace an existing file that is no report of partita.

    Notes
    -----
    About 1.3 MB of the file is Bokeh; 200 items with 10,000 draws add some
    0.3 MB, 20,000 items some 2.5 MB. Beyond 500 items the heat map shows means
    over groups of items; beyond 20,000, points and tables show 10,000 of them,
    the least certain among these. Both are said.

    Examples
    --------
    >>> import os
    >>> import numpy as np, partita as pt
    >>> labels = np.random.default_rng(0).integers(0, 2, (200, 8))
    >>> pt.summarize(labels).to_html("report.html")
    >>> os.path.getsize("report.html") < 3_000_000
    True
    """
    # Opened first: a path that cannot be written is refused before the work, not after it.
    with atomic_path(path, overwrite=overwrite, kind="report") as temporary:
        temporary.write_text(page(prepare(summary)), encoding="utf-8", newline="\n")
