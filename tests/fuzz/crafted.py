"""Files made to deceive: each must be refused, or read as the draws that stand beside it."""

import gzip
import io
import json
import pickle
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import partita as pt

TWO = [[0, 0, 1], [0, 1, 1]]
Maker = Callable[[Path], Any]
"""Writes the file; returns what it should read as, or None where it must be refused."""


def maker(write: Callable[..., Any]) -> Callable[..., Callable[..., Any]]:
    """What is given first says what to make; where it goes, and what of, comes later."""
    return lambda *given, **named: lambda *later: write(*later, *given, **named)


class Bomb:
    """What runs code where it is unpickled: the file it opens tells on it."""

    def __init__(self, place: Path) -> None:
        self.place = str(place)

    def __reduce__(self) -> Any:
        return open, (self.place, "w")


@maker
def text(path: Path, content: str | bytes, reads: Any = None) -> Any:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return reads


@maker
def packed(path: Path, blocks: int, block: bytes, first: bytes = b"") -> None:
    """Much text in a small file."""
    with gzip.open(path, "wb", compresslevel=1) as stream:
        stream.write(first)
        for _ in range(blocks):
            stream.write(block)


@maker
def npy(path: Path, array: Any, reads: Any = None, **options: Any) -> Any:
    np.save(path, array, **options)
    return reads


HEAD = "{'descr': '<i8', 'fortran_order': %s, 'shape': %s}"


def npy_bytes(header: str, content: bytes = b"") -> bytes:
    """An npy file that declares what it likes."""
    head = header.encode() + b" " * (117 - len(header)) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + content


@maker
def npz(path: Path, **arrays: Any) -> Any:
    reads = arrays.pop("reads", None)
    np.savez(path, **{name: np.asarray(value) for name, value in arrays.items()})
    return reads


def pickled(path: Path, **others: Any) -> None:
    array = np.empty((1, 1), object)
    array[0, 0] = Bomb(path.with_name("ran"))
    np.savez(path, **others, bomb=array) if path.suffix == ".npz" else np.save(path, array)


def npz_encrypted(path: Path) -> None:
    np.savez(path, labels=np.array(TWO))
    content = bytearray(path.read_bytes())
    for magic, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(magic) + offset] |= 1
    path.write_bytes(bytes(content))


def npz_twice(path: Path) -> None:
    """Two members of one name, of which libraries choose either."""
    member = io.BytesIO()
    np.save(member, np.array(TWO))
    other = io.BytesIO()
    np.save(other, np.zeros((2, 3), int))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("labels.npy", member.getvalue())
        archive.writestr("labels.npy", other.getvalue())


@maker
def zarr_with(path: Path, place: str, value: Any) -> None:
    """A store whose metadata name a codec that can run code."""
    pt.write_draws(TWO, path)
    meta = path / "posterior" / "labels" / ".zarray"
    document = json.loads(meta.read_text()) | {place: value}
    meta.write_text(json.dumps(document))
    for chunk in (path / "posterior" / "labels").glob("[0-9]*"):
        chunk.write_bytes(pickle.dumps(Bomb(path.with_name("ran"))))


@maker
def zarr_shape(path: Path, shape: list[int]) -> None:
    pt.write_draws(TWO, path)
    meta = path / "posterior" / "labels" / ".zarray"
    meta.write_text(json.dumps(json.loads(meta.read_text()) | {"shape": shape}))


@maker
def rds(path: Path, content: bytes) -> None:
    """R's serialisation, version 2, of what follows the header."""
    head = b"X\n" + struct.pack(">iii", 2, 0x030400, 0x020300)
    path.write_bytes(gzip.compress(head + content))


@maker
def parquet(path: Path, columns: dict[str, Any], reads: Any = None) -> Any:
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.Table.from_arrays(
        [pyarrow.array(v) for v in columns.values()], names=[n.strip() for n in columns]
    )
    pyarrow.parquet.write_table(table, path)
    return reads


@maker
def netcdf(path: Path, **variables: Any) -> None:
    import xarray

    data = {name: (dims, np.asarray(values)) for name, (dims, values) in variables.items()}
    tree = xarray.DataTree.from_dict({"/posterior": xarray.Dataset(data)})
    tree.to_netcdf(path, engine="h5netcdf")


CRAFTED: dict[str, Maker] = {
    "only comments.csv": text("# a\n# b\n"),
    "only a header.csv": text("a,b,c\n"),
    "blank lines.csv": text("\n\n \n"),
    "one cell.csv": text("1\n", [[0]]),
    "an underscore.csv": text("1,1,2\n1,1_0,2\n"),
    "hexadecimal.csv": text("1,1,2\n1,0x1,2\n"),
    "infinite.csv": text("1,1,2\n1,inf,2\n"),
    "NaN.csv": text("1,1,2\n1,nan,2\n"),
    "an exponent beyond.csv": text("1,1,2\n1,1e400,2\n"),
    "an exponent that is whole.csv": text("1,1,2\n1,2e+00,2\n", [[0, 0, 1], [0, 1, 1]]),
    "an exponent that may be a code.csv": text("1,1,2\n1,2e0,2\n"),
    "digits of another script.csv": text("1,1,2\n1,٣,2\n"),
    "a hard blank.csv": text("1,1,2\n1,\u00a01,2\n"),
    "text behind a quote.csv": text('1,1,2\n1,"1"x,2\n'),
    "a NUL.csv": text(b"1,1,2\n1,\x00,2\n"),
    "UTF-16.csv": text("1,1,2\n1,1,2\n".encode("utf-16")),
    "Latin-1.csv": text("é,b,c\n1,1,2\n".encode("latin-1")),
    "no headings.csv": text(",\n1,2\n1,1\n"),
    "a chain missing.csv": text(".chain,a,b\n1,1,1\nNA,1,2\n"),
    "a weight of nothing.csv": text(".weight,a,b\n1,1,1\n0,1,2\n"),
    "a negative weight.csv": text(".weight,a,b\n1,1,1\n-1,1,2\n"),
    "a weight of infinity.csv": text(".weight,a,b\n1,1,1\ninf,1,2\n"),
    "many headings.csv": text(",".join(f"h{i}" for i in range(100_000)) + "\n1\n"),
    "a row as comment.csv": text(',a,b\nr1,1,1\n"#r2",1,2\n', [[0, 0], [0, 1]]),
    "a first row as comment.csv": text("#1,1,2\n1,2,2\n1,1,1\n"),
    "a header behind numbers.csv": text("#1,1,2\na,b,c\n1,2,2\n", [[0, 1, 1]]),
    "a comment in the table.csv": text("a,b\n1,1\n# half\n1,2\n"),
    "nothing packed.csv.gz": text(gzip.compress(b"")),
    "no gzip.csv.gz": text("1,1\n"),
    "half a gzip.csv.gz": text(gzip.compress(b"1,1\n" * 500)[:-9]),
    "one endless line.csv.gz": packed(400, b"1," * (1 << 19)),
    "headings without end.csv.gz": packed(300, b"heading," * (1 << 17)),
    "zeros.csv.gz": packed(64, bytes(1 << 20)),
    "blank lines without end.csv.gz": packed(400, b"\n" * (1 << 20)),
    "comments without end.csv.gz": packed(400, b"#\n" * (1 << 19)),
    "a row and blank lines without end.csv.gz": packed(400, b"\n" * (1 << 20), b"1,1,2\n"),
    "text.npy": text("1,1\n"),
    "a shape beyond.npy": text(npy_bytes(HEAD % ("False", "(1000000000000, 9)"))),
    "a negative shape.npy": text(npy_bytes(HEAD % ("False", "(-1, 9)"), bytes(72))),
    "code in the header.npy": text(npy_bytes(HEAD % ("__import__('os')", "(1, 1)"), bytes(8))),
    "an odd header.npy": text(npy_bytes("{'descr': '<i8', 'shape': (((((((((", bytes(8))),
    "pickles.npy": pickled,
    "records.npy": npy(np.zeros((2, 3), [("a", "i4"), ("b", "f8")])),
    "complex.npy": npy(np.ones((2, 3), complex)),
    "dates.npy": npy(np.zeros((2, 3), "M8[D]")),
    "a number.npy": npy(np.array(3)),
    "a vector.npy": npy(np.zeros(3, int)),
    "five dimensions.npy": npy(np.zeros((1, 1, 1, 2, 3), int)),
    "nothing.npy": npy(np.zeros((0, 3), int)),
    "NaN.npy": npy(np.array([[0, np.nan]])),
    "large.npy": npy(np.array([[2**63, 2**63 + 1, 2**63]], np.uint64), [[0, 1, 0]]),
    "bytes of text.npy": npy(np.array([[b"a", b"b"]]), [[0, 1]]),
    "pickles.npz": pickled,
    "pickles beside labels.npz": lambda path: pickled(path, labels=[[0, 1]]),
    "pickled names.npz": npz(labels=[[0]], item_names=np.array(["a"], object)),
    "encrypted.npz": npz_encrypted,
    "two of a name.npz": npz_twice,
    "weights of another length.npz": npz(labels=TWO, weights=[1.0]),
    "weights of NaN.npz": npz(labels=TWO, weights=[np.nan, 1.0]),
    "chains of floats.npz": npz(labels=TWO, chain=[0.5, 1.5]),
    "names of another length.npz": npz(labels=TWO, item_names=["a"]),
    "equal names.npz": npz(labels=TWO, item_names=["a", "a", "b"]),
    "a zip of text.npz": lambda path: zipfile.ZipFile(path, "w").writestr("labels.npy", "1,1"),
    "pickle as filter.zarr": zarr_with("filters", [{"id": "pickle", "protocol": 5}]),
    "pickle as compressor.zarr": zarr_with("compressor", {"id": "pickle"}),
    "an unknown codec.zarr": zarr_with("compressor", {"id": "no such codec"}),
    "msgpack.zarr": zarr_with("filters", [{"id": "msgpack2"}]),
    "json.zarr": zarr_with("filters", [{"id": "json2"}]),
    "a shape beyond.zarr": zarr_shape([2**40, 2, 3]),
    "a longer shape.zarr": zarr_shape([1, 500, 3]),
    "a file.zarr": text("1,1\n"),
    "text.rds": text("1,1\n"),
    "nothing.rds": rds(b""),
    "a length beyond.rds": rds(struct.pack(">ii", 13, 2**31 - 1)),
    "a long length.rds": rds(struct.pack(">iiii", 13, -1, 2**20, 0)),
    "a negative length.rds": rds(struct.pack(">ii", 13, -7)),
    "lists without end.rds": rds(struct.pack(">ii", 19, 1) * 50_000),
    "a reference to nothing.rds": rds(struct.pack(">i", 0xFFFF)),
    "an unknown type.rds": rds(struct.pack(">i", 200)),
    "a number.rds": rds(struct.pack(">iii", 13, 1, 7)),
    "text.parquet": text("1,1\n"),
    "text in cells.parquet": parquet({"a": ["x", "x"], "b": ["x", "y"]}, [[0, 0], [0, 1]]),
    "lists in cells.parquet": parquet({"a": [[1], [2]], "b": [[1], [1]]}),
    "dates.parquet": parquet({"a": np.zeros(2, "M8[s]"), "b": np.zeros(2, "M8[s]")}),
    "halves.parquet": parquet({"a": [1.0, 1.5], "b": [1.0, 2.0]}),
    "equal headings.parquet": parquet({"a": [1, 1], "a ": [1, 2]}),
    "no rows.parquet": parquet({"a": np.zeros(0, int)}),
    "no columns.parquet": parquet({}),
    "K.parquet": parquet({"K": [2, 1], "a": [1, 1], "b": [1, 2]}),
    "text.nc": text("1,1\n"),
    "halves.nc": netcdf(z=(("chain", "draw", "item"), [[[0.5, 1.0]]])),
    "two variables.nc": netcdf(
        z=(("chain", "draw", "item"), [[[1, 1]]]), y=(("chain", "draw", "item"), [[[1, 2]]])
    ),
    "no draws.nc": netcdf(z=(("chain", "draw", "item"), np.zeros((1, 0, 3), int))),
}
