"""Draws from files and into files."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import IO, Any

from partita._files import FileAccessError, PathLike, atomic_path
from partita._validate import choice_or_none, flag, text_or_none
from partita._vocabulary import KINDS, Kind
from partita.errors import (
    FileFormatError,
    InvalidInputError,
    MemoryLimitError,
    NotSupportedError,
    PartitaError,
)
from partita.io.registry import ReadOptions, find_format
from partita.io.source import Source, check_file, is_standard, is_stream, name_of, several
from partita.io.writing import OneBased, check_holds
from partita.partitions.convert import as_draws, with_fields
from partita.partitions.draws import Draws
from partita.partitions.noise import NoiseRule, reading_noise
from partita.partitions.room import labels_in_file
from partita.partitions.types import DrawsLike, Engine


def read_draws(
    path: Source | Sequence[Source],
    *,
    format: str | None = None,
    transpose: bool = False,
    var_name: str | None = None,
    header: bool | None = None,
    sep: str | None = None,
    strings: bool = False,
    noise: NoiseRule | None = None,
    memory_map: bool = False,
    engine: Engine | None = None,
    kind: Kind | None = None,
) -> Draws:
    """Read draws of a partition from a file: one row per draw, one column per item.

    Parameters
    ----------
    path : path, "-", open file, or a sequence of these
        ``"-"`` is standard input. Several files are several chains of the same items; so are
        those of a pattern such as ``"part-*.npy"``, in the order of the numbers in their names.
    format : str, optional
        ``csv``, ``tsv``, ``txt`` (runs of blanks), ``cmdstan``, ``coda`` (a chain beside its
        index), ``npy``, ``npz``, ``parquet``, ``feather``, ``netcdf``, ``zarr``, ``rds`` or
        ``rdata``. Told from the suffix when omitted (.csv .tsv .txt .dat, each also packed as
        .gz .xz .bz2; .npy .npz .parquet .pq .feather .arrow .nc .nc4 .zarr .rds .RData .rda;
        CODAchain1.txt); csv for open files and standard input.
    transpose : bool
        The file has one row per item and one column per draw.
    var_name : str, optional
        The variable that holds the labels, in files that hold several: ``z`` for the columns
        ``z.1, z.2, …`` or ``z[1], z[2], …``, for an array of an ArviZ or npz file, or the path
        to an object of R, ``fit$clust``. When omitted there must be exactly one that fits.
    header : bool, optional
        Whether the first row of a text file is a header. When omitted it is one if no cell of
        it is a number, and a draw if all are; where it mixes both, counts 0, 1, 2, … or
        1, 2, 3, … as column numbers do, or could be a row of ids, an error asks. Quoted cells
        are not numbers.
    sep : str, optional
        The character between cells of a text file, if not the format's own.
    strings : bool
        Labels of a text file are text, not numbers; ``header`` must then be given.
    noise : (label, "singletons") or (label, "cluster"), optional
        A label that marks noise, and what it means; see :func:`as_draws`.
    kind : "posterior" or "ensemble", optional
        What the rows are; see :func:`as_draws`. When omitted what the file says, and draws of a
        posterior where it says nothing.
    memory_map : bool
        Leave the labels on disk and map them into memory, for draws that do not fit. An npy file
        of canonical labels in the smallest dtype, as :func:`write_draws` makes it, is mapped
        itself; the labels of any other file are written once to a temporary file, which is gone
        when the draws are, and a message says so.
    engine : "dask" or distributed.Client, optional
        Keep the labels on the workers of a Dask cluster, which read npy, parquet, netCDF and zarr
        by themselves, block by block: the path must be one that they see too. Other formats are
        read here and sent. "dask" is the client in force. Every function of partita takes such
        draws as it takes others.

    Returns
    -------
    Draws

    Notes
    -----
    Text is UTF-8. Blank lines and lines that start with ``#`` are passed over. Under a header,
    the columns ``.chain`` (or ``chain``) and ``.weight`` are the chain and weight of each draw;
    columns such as ``.draw``, ``iter`` and ``Iteration`` number the draws and are passed over,
    others that count them are refused; ``.run`` numbers the runs of an ensemble; a first column
    with an empty heading, or one without any heading, holds row names (as R and pandas write them).
    tidybayes' long format (``.chain``, ``.iteration``, ``.draw``, an index, the label) is one row
    per draw and item. Warm-up that Stan's comments announce (``save_warmup``) is left out, with a
    warning. A table with a column ``lp__`` or columns named like ``z[1]`` is a table of variables:
    one of them is read, chosen by ``var_name`` or as the only indexed one that is whole in its
    first draw. In npz files the array ``labels`` is read, or else the only matrix. In R's files the
    only object that can be draws is: a matrix, a data frame, an array of chains, a list of label
    vectors or of chains, the labels inside a fit of BNPmix, dirichletprocess or AntMAN. Pickled
    objects are never loaded.

    Text, npy, npz, parquet, netCDF and zarr are read in blocks: memory stays at about one byte
    per label while no draw has more than 256 clusters. Text takes about 10 ns per label.

    Examples
    --------
    >>> import io
    >>> import partita as pt
    >>> pt.read_draws(io.StringIO("a,b,c\\n1,1,2\\n5,5,5\\n"))
    <Draws: 2 draws of 3 items, 1 to 2 clusters, named items>

    See Also
    --------
    as_draws : the same for objects in memory.
    write_draws : the way back.
    """
    options = ReadOptions(
        flag(transpose, "transpose"),
        text_or_none(var_name, "var_name"),
        None if header is None else flag(header, "header"),
        text_or_none(sep, "sep"),
        flag(strings, "strings"),
    )
    choice_or_none(kind, "kind", KINDS)
    mapped = flag(memory_map, "memory_map")
    if mapped and engine is not None:
        raise InvalidInputError("give memory_map=True or engine=..., not both.", argument="engine")
    places = several(path)
    with reading_noise(noise), labels_in_file(mapped):
        if engine is not None:
            on_workers = import_module("partita.io.on_workers")
            found: Draws = on_workers.read_on_workers(places, format, options, engine)
            return with_fields(found, kind=kind)
        parts = [with_fields(read_here(each, format, options), kind=kind) for each in places]
        return parts[0] if len(parts) == 1 else Draws.concat(parts)


def read_here(path: Source, format: str | None, options: ReadOptions) -> Draws:
    """Draws from one file, read in this process."""
    stream = is_stream(path)
    chosen = find_format(format, None if stream else path)  # type: ignore[arg-type]
    if not chosen.text:
        if stream:
            raise NotSupportedError(
                f"format {chosen.name!r} cannot be read from a stream; give the path of a file.",
                argument="format",
            )
        if extra := options.text_only():
            raise InvalidInputError(
                f"{', '.join(extra)} has a meaning for text formats only, not for {chosen.name!r}."
            )
        path = check_file(path, directory=chosen.directory)  # type: ignore[arg-type]
    with reading(path, chosen.name, " Name its true format with format=...."):
        draws: Draws = chosen.reader()(path, options)
    return draws


@contextmanager
def reading(path: Source, format: str, advice: str = "") -> Iterator[None]:
    """Any failure of a reading library as an error of ours that names the file."""
    try:
        yield
    except (PartitaError, BrokenPipeError):
        raise
    except MemoryError as error:
        raise MemoryLimitError(
            f"{name_of(path)} does not fit into memory, or declares sizes that do not fit its "
            "content. Write fewer rows, or write it again."
        ) from error
    except OSError as error:
        raise FileAccessError(f"{name_of(path)} cannot be read: {error}") from error
    except Exception as error:
        raise FileFormatError(
            f"{name_of(path)} cannot be read as {format} ({type(error).__name__}: "
            f"{str(error)[:200]}). It is damaged, or not what its name says.{advice}"
        ) from error


def write_draws(
    draws: DrawsLike,
    path: PathLike | IO[Any],
    *,
    format: str | None = None,
    overwrite: bool = False,
    one_based: bool = False,
) -> None:
    """Write draws to a file that :func:`read_draws` reads back as equal draws.

    Parameters
    ----------
    draws : Draws, or anything as_draws accepts
    path : path, "-" or a file opened for bytes
        ``"-"`` is standard output. The file appears only when it is complete.
    format : str, optional
        As for :func:`read_draws`; ``txt`` and ``cmdstan`` cannot be written.
    overwrite : bool
        Replace a file that exists; without it that is an error. Of directories only a zarr store
        that partita wrote is replaced.
    one_based : bool
        Count labels from 1, as R's programs expect, in every format. R's own formats always do.

    Notes
    -----
    Labels are written in canonical form (0-based in order of first appearance; 1-based in R's
    formats). Weights, chain ids and item names are kept: as columns ``.chain`` and ``.weight``
    and headings in tables (``.item1, .item2, …`` stand for items without names), as arrays in
    npz, as dimensions and ``sample_stats`` in the ArviZ layout of netCDF and zarr, as attributes
    ``chain`` and ``weights`` of the matrix in R's formats. An ensemble says so: by a column
    ``.run`` that numbers the runs in tables, by ``kind`` elsewhere. npy holds
    labels alone, and draws that have more are refused. Cost O(n_draws · n_items).

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import partita as pt
    >>> draws = pt.Draws([[0, 0, 1], [0, 1, 1]], item_names=["a", "b", "c"])
    >>> file = Path(tempfile.mkdtemp()) / "draws.csv"
    >>> pt.write_draws(draws, file)
    >>> pt.read_draws(file) == draws
    True
    """
    value = as_draws(draws)
    flag(overwrite, "overwrite")
    stream = is_standard(path) or hasattr(path, "write")
    chosen = find_format(format, None if stream else path)  # type: ignore[arg-type]
    writer = chosen.writer()
    check_holds(value, chosen)
    if flag(one_based, "one_based") and not chosen.one_based:
        value = OneBased(value)  # type: ignore[assignment]
    if stream:
        if not chosen.text:
            raise NotSupportedError(
                f"format {chosen.name!r} cannot be written to a stream; give a path.",
                argument="format",
            )
        writer(value, sys.stdout.buffer if is_standard(path) else path)
        return
    with atomic_path(
        path,  # type: ignore[arg-type]
        overwrite=overwrite,
        replaceable=chosen.replaceable(),
    ) as temporary:
        writer(value, temporary)
