"""Files and containers made of known labels by ways that readers get wrong: right, or refused.

Each maker returns what can be read; its labels are ``LABELS``, or those that it returns beside.
"""

import bz2
import decimal
import json
import lzma
import shutil
import warnings
import zipfile
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

import partita as pt
from io_r import Atom, Listed, write_coda, write_rds

from .crafted import CRAFTED, maker, npy_bytes
from .harness import RIGHT, WRONG, Verdict, judged

RNG = np.random.default_rng(32)
LABELS = RNG.integers(1, 6, (30, 12))
LARGE = np.array([2**53, 2**53 + 1, 2**53 + 2, 5])[RNG.integers(0, 4, (30, 12))]
Maker = Callable[[Path], Any]


def _csv(labels: Any = LABELS, sep: str = ",", end: str = "\n", header: str = "") -> bytes:
    rows = [header] if header else []
    rows += [sep.join(map(str, row)) for row in np.asarray(labels).tolist()]
    return (end.join(rows) + end).encode()


@maker
def _file(place: Path, name: str, content: bytes, **options: Any) -> Any:
    (place / name).write_bytes(content)
    return (place / name, options)


def _long(order: str, names: tuple[str, ...], labels: Any = LABELS, drop: int = 0) -> bytes:
    """One row per draw and item: draw, item, label, sorted in some way."""
    draw, item = (grid.ravel() for grid in np.indices(labels.shape))
    table = np.column_stack([draw + 1, item + 1, labels.ravel()])
    orders = {
        "by draw": np.arange(len(table)),
        "by item": np.lexsort((draw, item)),
        "shuffled": RNG.permutation(len(table)),
        "downwards": np.arange(len(table))[::-1],
    }
    return _csv(table[orders[order]][drop:], header=",".join(names))


def _chains(labels: Any = LABELS) -> bytes:
    """A column that nobody named as iterations, which start again for a second chain."""
    return _csv(np.column_stack([np.tile(np.arange(1, 16), 2), labels]))


HEAD = ",".join(f"i{j}" for j in range(12))


def _texts() -> Iterator[tuple[str, Maker]]:
    for name, sep in (("a.txt", " "), ("a.csv", ","), ("a.tsv", "\t")):
        yield f"old Mac {name}", _file(name, _csv(sep=sep, end="\r"))
        yield f"Windows {name}", _file(name, _csv(sep=sep, end="\r\n"))
        yield f"mixed line ends {name}", _file(name, _csv(sep=sep).replace(b"\n", b"\r", 4))
        for odd in ("\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029", "\xa0"):
            blank = _csv(sep=sep).replace(sep.encode(), odd.encode(), 5)
            yield f"{odd!r} in {name}", _file(name, blank)
            ends = _csv(sep=sep).replace(b"\n", odd.encode(), 5)
            yield f"{odd!r} as line end {name}", _file(name, ends)
    for odd in ("\x0b", "\x85", "\u2028"):
        rows = "".join(f'"r{odd}{i}",' + ",".join(map(str, r)) + "\n" for i, r in enumerate(LABELS))
        yield f"{odd!r} in quotes", _file("a.csv", ("," + HEAD + "\n" + rows).encode())
    rows = "".join(
        f"{'#' if i % 2 else ''}r{i}," + ",".join(map(str, r)) + "\n" for i, r in enumerate(LABELS)
    )
    yield "row names with #", _file("a.csv", ("," + HEAD + "\n" + rows).encode())
    marked = np.where(LABELS % 2 == 1, "#", "").astype(object) + LABELS.astype(str)
    yield "labels with #", _file("a.csv", _csv(marked), strings=True, header=False)
    headed = _file("a.csv", _csv(marked, header=HEAD), strings=True, header=True)
    yield "labels with # under a header", headed
    commented = _csv(header=HEAD).replace(b"\n1,", b"\n#1,")
    yield "rows commented out", _file("a.csv", commented)
    for end in (-1, -2, -3):
        stan = b"# stan\nlp__," + ",".join(f"z.{j + 1}" for j in range(12)).encode() + b"\n"
        body = b"".join(b"-1.5," + line + b"\n" for line in _csv(LABELS + 10).splitlines())
        yield f"Stan cut at {end}", _file("a.csv", (stan + body)[:end])
    codes = np.array(["0e1", "0e2", "1e1", "10"])[RNG.integers(0, 4, (30, 12))]
    padded = np.array(["1", "01", "001", "2"])[RNG.integers(0, 4, (30, 12))]
    hexed = np.array(["0x1", "0x2", "1", "2"])[RNG.integers(0, 4, (30, 12))]
    under = np.array(["1_0", "10", "2", "2.0"])[RNG.integers(0, 3, (30, 12))]
    for name, cells in (("hex", codes), ("padded", padded), ("0x", hexed), ("1_0", under)):
        yield f"{name} codes as numbers", _known(_file("a.csv", _csv(cells), header=False), cells)
        text = _file("a.csv", _csv(cells), strings=True, header=False)
        yield f"{name} codes as text", _known(text, cells)


@maker
def _known(place: Path, make: Maker, labels: Any) -> Any:
    source, options = make(place)
    return source, options, labels


def _tables() -> Iterator[tuple[str, Maker]]:
    for words in (
        *("draw item label", ".draw i z", "iteration obs cluster", "Draw a b"),
        *("sample_no item label", "mcmc unit s", "x y z"),
    ):
        names = tuple(words.split())
        for order in ("by draw", "by item", "shuffled", "downwards"):
            content, cut = _long(order, names), _long(order, names, drop=1)
            yield f"long {names} {order}", _file("a.csv", content)
            yield f"long {names} {order} incomplete", _refused(_file("a.csv", cut))
            yield f"long frame {names} {order}", _frame_of(content)
            yield f"long behind row names {names} {order}", _file("a.csv", _numbered(content))
        if names[1] not in "ay":
            one = _known(_file("a.csv", _long("by draw", names, LABELS[:, :1])), LABELS[:, :1])
            yield f"long {names} of one item", one
    yield "iterations that start again", _file("a.csv", _chains(), header=False)
    down = np.column_stack([np.arange(30)[::-1], LABELS])
    yield "an id that counts down", _file("a.csv", _csv(down), header=False)
    restarted = np.column_stack([np.tile(np.arange(1, 16), 2), LABELS])
    for length in (3, 5):
        often = np.column_stack([np.tile(np.arange(length), 30 // length), LABELS])
        yield f"an id that starts again after {length}", _file("a.csv", _csv(often), header=False)
        yield f"an id in npy after {length}", _saved(often)
    yield "an id in npy", _saved(down)
    yield "iter that starts again", _file("a.csv", _csv(restarted, header="iter," + HEAD))


def _numbered(content: bytes) -> bytes:
    """A table with row names as pandas and R write them."""
    head, *rows = content.splitlines(keepends=True)
    return b"," + head + b"".join(b"%d,%s" % (i, row) for i, row in enumerate(rows))


def _refused(maker: Maker) -> Maker:
    return _known(maker, None)


@maker
def _saved(place: Path, table: Any) -> Any:
    np.save(place / "a.npy", table)
    return place / "a.npy", {}


@maker
def _frame_of(place: Path, content: bytes) -> Any:
    import pandas as pd

    (place / "t.csv").write_bytes(content)
    return pd.read_csv(place / "t.csv"), {}


def _packed() -> Iterator[tuple[str, Maker]]:
    text = _csv()
    half = len(text) // 2
    for suffix, pack in (("xz", lzma.compress), ("bz2", bz2.compress)):
        first, second = pack(text[:half]), pack(text[half:])
        damaged = bytearray(second)
        damaged[3] ^= 0xFF
        late = bytearray(second)
        late[len(late) // 2] ^= 0xFF
        name = f"a.csv.{suffix}"
        yield f"two streams {name}", _file(name, first + second)
        yield f"a damaged stream {name}", _refused(_file(name, first + bytes(damaged)))
        yield f"a stream damaged late {name}", _refused(_file(name, first + bytes(late)))
        yield f"half a stream {name}", _refused(_file(name, first + second[: len(second) // 2]))
        yield f"garbage behind {name}", _refused(_file(name, pack(text) + b"more text\n"))
        yield f"a short stream {name}", _refused(_file(name, first + second[:2]))


def _numpy() -> Iterator[tuple[str, Maker]]:
    full = {"descr": "<i8", "fortran_order": False, "shape": (30, 12)}
    content = LABELS.astype("<i8").tobytes()
    yield "npy", _file("a.npy", npy_bytes(str(full), content))
    for change in ({"shape": (30, 7)}, {"shape": (20, 12)}, {"descr": "<i4"}, {"descr": "|i1"}):
        for options in ({}, {"memory_map": True}):
            made = _file("a.npy", npy_bytes(str(full | change), content), **options)
            yield f"npy {change} {options}", _refused(made)
        yield f"npz {change}", _refused(_npz(npy_bytes(str(full | change), content)))
    yield "npz", _npz(npy_bytes(str(full), content))
    yield "npz with a wrong byte", _refused(_npz(npy_bytes(str(full), content), flip=-9))
    yield "npz longer than it says", _refused(_npz(npy_bytes(str(full), content + b"12345678")))


@maker
def _npz(place: Path, member: bytes, flip: int | None = None) -> Any:
    """An archive with one stored member, of which a byte may be flipped afterwards."""
    path = place / "a.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("labels.npy", member)
    if flip is not None:
        whole = bytearray(path.read_bytes())
        whole[whole.index(member) + len(member) + flip] ^= 1
        path.write_bytes(bytes(whole))
    return path, {}


@maker
def _coda(place: Path, old: str = "", new: str = "", cut: int | None = None) -> Any:
    """Two files of one chain, with a change of the index or the end of the chain cut off."""
    write_coda(place, [LABELS], [f"z[{j + 1}]" for j in range(12)])
    index, chain = place / "CODAindex.txt", place / "CODAchain1.txt"
    index.write_text(index.read_text().replace(old, new))
    chain.write_text(chain.read_text()[:cut])
    return chain, {}


def _codas() -> Iterator[tuple[str, Maker]]:
    last = "z[12] 331 360"
    yield "CODA", _coda()
    yield "CODA without its last line", _refused(_coda(f"{last}\n", ""))
    yield "CODA with a name twice", _refused(_coda(last, "z[1] 1 30"))
    yield "CODA with another name twice", _refused(_coda(last, "z[11] 331 360"))
    yield "CODA with ranges that overlap", _refused(_coda(last, "z[12] 330 359"))
    yield "CODA cut", _refused(_coda(cut=-1))


@maker
def _netcdf(place: Path, kind: str) -> Any:
    import h5py

    path = place / "a.nc"
    pt.write_draws(LABELS, path)
    with h5py.File(path, "a") as file:
        group = file["posterior"]
        old = group["labels"]
        scales = [old.dims[i][0] for i in range(3)]
        attributes = {n: v for n, v in old.attrs.items() if n.startswith("partita")}
        del group["labels"]
        layout = {"shape": (1, 30, 12), "dtype": "u1"}
        if kind == "virtual":
            sources = h5py.VirtualLayout(shape=(1, 30, 12), dtype="u1")
            sources[0] = h5py.VirtualSource(str(place / "gone.h5"), "x", shape=(30, 12))
            new = group.create_virtual_dataset("labels", sources)
        else:
            whole = {"half": 15, "nothing": 0}.get(kind, 30)
            chunks = (1, 5, 12) if whole else None
            new = group.create_dataset("labels", chunks=chunks, **layout)
            new[0, :whole] = LABELS[:whole]
        for axis, scale in enumerate(scales):
            new.dims[axis].attach_scale(scale)
        for name, value in attributes.items():
            new.attrs[name] = value
    return path, {}


@maker
def _attribute(place: Path, name: str, value: Any) -> Any:
    import h5py
    import xarray

    data = xarray.Dataset({"z": (("chain", "draw", "item"), LABELS[None].astype(np.int16))})
    tree = xarray.DataTree.from_dict({"/posterior": data})
    tree.to_netcdf(place / "a.nc", engine="h5netcdf")
    with h5py.File(place / "a.nc", "a") as file:
        file["posterior/z"].attrs[name] = value
    return place / "a.nc", {}


@maker
def _zarr(place: Path, change: dict[str, Any]) -> Any:
    import zarr

    path = place / "a.zarr"
    array = zarr.create_array(path, shape=(30, 12), chunks=(5, 12), dtype="i4")
    array[...] = LABELS
    settings = json.loads((path / "zarr.json").read_text())
    (path / "zarr.json").write_text(json.dumps(settings | change))
    return path, {}


def _stored() -> Iterator[tuple[str, Maker]]:
    yield "netCDF", _netcdf("whole")
    for kind in ("virtual", "half", "nothing"):
        yield f"netCDF {kind}", _refused(_netcdf(kind))
    yield "netCDF with an offset of float32", _attribute("add_offset", np.float32(2**24))
    yield "netCDF with the scale 0", _refused(_attribute("scale_factor", 0.0))
    yield "zarr", _zarr({})
    yield "zarr that shrank", _refused(_zarr({"shape": [15, 12]}))
    yield "zarr that grew", _refused(_zarr({"shape": [60, 12]}))


def _held() -> Iterator[tuple[str, Maker]]:
    """Labels above 2^53 beside floats, and other containers."""

    def held(make: Callable[[Path], Any], labels: Any = LARGE, **options: Any) -> Maker:
        return lambda place: (make(place), options, labels)

    beside = np.column_stack([LARGE[:, :6], LABELS[:, :6]])

    def frame(**types: str) -> Any:
        import pandas as pd

        columns = {f"i{j}": beside[:, j].astype(float if j > 5 else int) for j in range(12)}
        return pd.DataFrame(columns).astype(types)

    def polars(_: Path) -> Any:
        import polars as pl

        return pl.from_pandas(frame())

    def written(place: Path, kind: str) -> Any:
        getattr(frame(), f"to_{kind}")(place / f"a.{kind}")
        return place / f"a.{kind}"

    whole = {f"i{j}": "int64" for j in range(12)} | {"i0": "uint64", "i1": "uint64"}
    for name, make in {
        "frame": lambda _: frame(),
        "polars": polars,
        "parquet": lambda place: written(place, "parquet"),
        "feather": lambda place: written(place, "feather"),
        "nullable": lambda _: frame(**{f"i{j}": "Int64" for j in range(6)}),
        "unsigned": lambda _: frame(**whole),
    }.items():
        yield f"large in {name}", held(make, beside)
    lists = [[*row[:-1], float(row[-1])] for row in beside.tolist()]
    yield "large in lists with a float", held(lambda _: lists, beside)
    yield "Decimal", held(lambda _: [[decimal.Decimal(int(v)) for v in row] for row in LARGE])
    yield "objects", held(lambda _: LARGE.astype(object))
    yield "float64", held(lambda _: LARGE.astype(np.float64))
    yield "float32", held(lambda _: (LABELS + 2**24).astype(np.float32), LABELS)
    yield "float16", held(lambda _: (LABELS + 2**11).astype(np.float16), LABELS)
    yield "uint64", held(lambda _: LARGE.astype(np.uint64) + np.uint64(2**63))
    nul = np.array(["a", "a\0", "a\0\0", "b"], object)[RNG.integers(0, 4, (30, 12))]
    yield "trailing NULs", held(lambda _: nul.tolist(), np.vectorize(len)(nul) + 9 * (nul == "b"))
    ended = [[value.encode() for value in row] for row in nul]
    yield "bytes with NULs", held(lambda _: ended, np.vectorize(len)(nul) + 9 * (nul == "b"))
    beyond = np.array([2.0**63, 2.0**63 + 2048, 1.0], np.longdouble)[LABELS % 3]
    yield "longdouble beyond 2^63", held(lambda _: beyond, LABELS % 3)
    named = getattr(np.dtypes, "StringDType", None)
    if named is not None:
        absent = np.array([["a", np.nan]], named(na_object=np.nan))
        yield "StringDType with NaN", held(lambda _: absent, None)
    yield "polars with 128 bits", held(_wide_polars, LABELS)
    for kind in ("fails", "frame", "delayed", "shorter than it says", "of wrong type"):
        labels = None if kind != "of wrong type" else LABELS
        yield f"dask {kind}", held(lambda _, kind=kind: _dask(kind), labels)
    yield "noise as text", held(lambda _: LABELS, None, noise=("1", "singletons"))
    yield "noise as a number", held(lambda _: LABELS.astype(str), None, noise=(1, "cluster"))
    yield "noise beyond", held(lambda _: LABELS, None, noise=(2**63, "singletons"))


class _Incomparable:
    def __ne__(self, other: object) -> bool:
        raise RuntimeError("no comparison")

    __hash__ = object.__hash__


class _Slow:
    """A stream that returns a byte at a time."""

    def __init__(self, content: bytes) -> None:
        self._bytes = iter(content)

    def read(self, size: int) -> bytes:
        return bytes(islice(self._bytes, 1))


def _odd() -> Iterator[tuple[str, Maker]]:
    """Marks inside text, indexes of long frames, stale metadata, objects that raise."""
    letters = np.array(list("abcde"))[LABELS - 1]
    text, mark = _csv(letters), b"\xef\xbb\xbf"
    half = text.index(b"\n", len(text) // 2) + 1
    plain = {"strings": True, "header": False}
    yield "a mark inside text", _file("a.csv", text[:half] + mark + text[half:], **plain)
    yield "two marks", _file("a.csv", mark + mark + text, **plain)
    yield "a mark byte by byte", lambda _: (_Slow(mark + text), plain)
    for levels in (["draw", "item"], ["chain", "draw", "item"]):
        yield f"a long index {levels}", lambda _, levels=levels: (_indexed(levels), {})
        yield f"a long index in parquet {levels}", _indexed_file(levels)
    yield "consolidated metadata that are stale", _stale
    for turned in (False, True):
        labels = None if turned else LABELS
        yield f"Series, turned: {turned}", lambda _, t=turned, n=labels: (_series(t), {}, n)
        yield f"named vectors of R, turned: {turned}", _known(_named_vectors(turned), labels)
    for odd in (_Incomparable(), decimal.Decimal("sNaN"), 10**400):
        row = [*[odd] * 11, 1.0]
        yield f"objects of {type(odd).__name__}", lambda _, row=row: ([row] * 3, {}, None)


def _orders(turned: bool) -> list[Any]:
    """Where the items of each draw stand."""
    return [RNG.permutation(12) if turned and i else np.arange(12) for i in range(len(LABELS))]


def _series(turned: bool) -> Any:
    import pandas as pd

    return [pd.Series(row).loc[order] for row, order in zip(LABELS, _orders(turned), strict=True)]


@maker
def _named_vectors(place: Path, turned: bool) -> Any:
    pairs = zip(LABELS, _orders(turned), strict=True)
    named = [Atom(row[order], names=_ITEMS[order]) for row, order in pairs]
    write_rds(place / "a.rds", Listed(named))
    return place / "a.rds", {}


_ITEMS = np.array([f"g{j:02d}" for j in range(12)])


def _indexed(levels: list[str]) -> Any:
    import pandas as pd

    draw, item = (grid.ravel() for grid in np.indices(LABELS.shape))
    frame = pd.DataFrame({"chain": 1, "draw": draw, "item": item, "label": LABELS.ravel()})
    return frame.set_index(levels)[["label"]]


@maker
def _indexed_file(place: Path, levels: list[str]) -> Any:
    _indexed(levels).to_parquet(place / "a.parquet")
    return place / "a.parquet", {}


def _stale(place: Path) -> Any:
    """A store to which draws were appended after its metadata were consolidated."""
    import xarray

    data = xarray.Dataset({"z": (("draw", "item"), LABELS)})
    tree = xarray.DataTree.from_dict({"/posterior": data})
    layout = {"/posterior": {"z": {"chunks": (5, 12)}}}
    tree.to_zarr(place / "a.zarr", zarr_format=2, consolidated=True, encoding=layout)
    notes = place / "a.zarr" / ".zmetadata"
    known = json.loads(notes.read_text())
    known["metadata"]["posterior/z/.zarray"]["shape"] = [15, 12]
    notes.write_text(json.dumps(known))
    return place / "a.zarr", {}


def _wide_polars(_: Path) -> Any:
    import polars as pl

    return pl.DataFrame({f"i{j}": pl.Series(LABELS[:, j]).cast(pl.Int128) for j in range(12)})


def _failing(_: Any) -> Any:
    raise ZeroDivisionError("a function of the graph")


def _dask(kind: str) -> Any:
    import dask
    import pandas as pd
    from dask import array, dataframe

    if kind == "fails":
        whole = array.from_array(LABELS, chunks=5)
        return whole.map_blocks(_failing, dtype=int)
    if kind == "frame":
        return dataframe.from_pandas(pd.DataFrame(LABELS), npartitions=3)
    if kind == "delayed":
        return dask.delayed(LABELS)
    made = LABELS[:9] if kind == "shorter than it says" else LABELS.astype(str)
    return array.from_delayed(dask.delayed(made), LABELS.shape, int)


def _rs() -> Iterator[tuple[str, Maker]]:
    parts = {"draws": Atom(LABELS[:15]), "other": Atom(LABELS[15:])}
    for what, held in (
        ("a list of two things", Listed(parts)),
        ("weights too short", Atom(LABELS, weights=np.ones(20))),
        ("chains too short", Atom(LABELS, chain=np.ones(20, np.int32))),
    ):
        yield f"R with {what}", _refused(lambda p, held=held: (write_rds(p / "a.rds", held), {}))


def _crafted() -> Iterator[tuple[str, Maker]]:
    """Files made to deceive: the name is that of the file, and the maker returns its labels."""
    for name, make in CRAFTED.items():
        yield name, lambda place, f=name, make=make: (place / f, {}, make(place / f))


CASES: dict[str, Maker] = {
    name: maker
    for group in (_texts, _tables, _packed, _numpy, _codas, _stored, _held, _rs, _odd, _crafted)
    for name, maker in group()
}
NAMES = tuple(CASES)


def run(number: int, place: Path) -> Verdict:
    """Make one and read it; whatever it holds, none of its code may run."""
    name = NAMES[number]
    folder = place / f"labelled{number}"
    folder.mkdir()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = CASES[name](folder)
        source, options, labels = made if len(made) == 3 else (*made, LABELS)
        found = judged(lambda: _checked(source, options, labels))
        if (folder / "ran").exists():
            found = Verdict(WRONG, "code was run")
        return Verdict(found.outcome, f"{name}: {found.detail}")
    finally:
        shutil.rmtree(folder)


def _checked(source: Any, options: dict[str, Any], labels: Any) -> Verdict:
    read = pt.read_draws if isinstance(source, (Path, _Slow)) else pt.as_draws
    draws = read(source, **options)
    if labels is None:
        return Verdict(WRONG, f"read as {draws!r}")
    codes = np.unique(np.asarray(labels), return_inverse=True)[1].reshape(np.shape(labels))
    same = np.array_equal(draws.labels, pt.Draws(codes).labels) and draws.weights is None
    return Verdict(RIGHT if same else WRONG, f"read as {draws!r}")
