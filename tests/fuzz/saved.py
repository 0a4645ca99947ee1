"""Saved summaries, fits and checkpoints with one array or one entry forged, or bytes damaged.

What is read back must be refused, or be usable: a summary prints and redraws its
ball, a fit predicts and goes on, a run resumes. A file without a change must come
back to the same answers.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import partita as pt

from .damaged import damaged
from .harness import RIGHT, WRONG, Verdict, judged

DATA = np.r_[np.linspace(-1.0, 1.0, 7), np.linspace(8.0, 10.0, 6)]
RUN = {"draws": 12, "burn_in": 4, "chains": 2, "rng": 1, "n_jobs": 1, "progress": False}
KINDS = ("summary", "fit", "checkpoint")
COUNT = 1_200


@cache
def originals(place: Path) -> dict[str, Path]:
    """One file of each kind; the checkpoint stands before the end of its run."""
    paths = {kind: place / f"{kind}.npz" for kind in KINDS}
    fit = pt.sample(DATA, **RUN)
    fit.save(paths["fit"])
    pt.summarize(fit.draws, n_jobs=1).save(paths["summary"])
    pt.sample(DATA, **(RUN | {"draws": 8}), checkpoint=paths["checkpoint"])
    return paths


def forged(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Another array under the same name."""
    flat = array.copy()
    choice = int(rng.integers(0, 12))
    if choice == 0:
        return np.atleast_1d(array)[:0]
    if choice == 1:
        return array[: max(1, len(array) // 2)] if array.ndim else np.array([1, 2])
    if choice == 2:
        return array[None]
    if choice == 3:
        is_number = array.dtype.kind in "iufb"
        return array.astype(np.float64) + 0.5 if is_number else np.atleast_1d(array)[::-1]
    if choice == 4:
        return np.zeros_like(array)
    if choice == 5:
        return array.astype("U20")
    if array.dtype.kind not in "iuf":
        return np.array(["x"])
    extreme = [np.nan, np.inf, -1.0, 1e300, 200.0, 2.0**31][choice - 6]
    if array.dtype.kind in "iu":
        extreme = [-(2**31), 2**40, -1, 2**62, 200, 2**31][choice - 6]
        flat = flat.astype(np.int64)
    if not flat.size:
        return np.full(3, extreme)
    flat.reshape(-1)[int(rng.integers(0, flat.size))] = extreme
    return flat


def changed(document: Any, rng: np.random.Generator) -> Any:
    """The same document with one entry replaced."""
    places: list[tuple[Any, Any]] = []
    waiting = [document]
    while waiting:
        node = waiting.pop()
        steps = node.items() if isinstance(node, dict) else enumerate(node)
        for step, part in list(steps):
            places.append((node, step))
            waiting += [part] if isinstance(part, (dict, list)) else []
    node, step = places[int(rng.integers(0, len(places)))]
    values = [None, -1, 10**12, "x", [], {}, 1.5, True, float("nan"), {"array": "none"}]
    node[step] = values[int(rng.integers(0, len(values)))]
    return document


def forge(path: Path, rng: np.random.Generator, out: Path) -> None:
    """Write the file with one thing forged."""
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored.files}
    header = next(name for name in ("header", "document") if name in arrays)
    if rng.random() < 0.35:
        text = arrays[header]
        content = text.tobytes().decode() if text.dtype == np.uint8 else str(text)
        content = json.dumps(changed(json.loads(content), rng))
        binary = text.dtype == np.uint8
        arrays[header] = np.frombuffer(content.encode(), np.uint8) if binary else np.array(content)
    elif rng.random() < 0.1:
        del arrays[sorted(arrays)[int(rng.integers(0, len(arrays)))]]
    else:
        names = sorted(set(arrays) - {header})
        name = names[int(rng.integers(0, len(names)))]
        arrays[name] = forged(arrays[name], rng)
    np.savez_compressed(out, **arrays)


def run(number: int, place: Path) -> Verdict:
    """Forge or damage one file, load it, and use what was loaded."""
    kind = KINDS[(number + number // len(KINDS)) % len(KINDS)]
    rng = np.random.default_rng([2, number])
    path = place / f"forged{number}.npz"
    source = originals(place)[kind]
    if number < len(KINDS):  # nothing is wrong with this one
        found = judged(lambda: _use(kind, source))
        return found if found.outcome == RIGHT else Verdict(WRONG, f"{kind}: {found.detail}")
    if rng.random() < 0.3:
        path.write_bytes(damaged(source.read_bytes(), rng))
    else:
        forge(source, rng, path)
    try:
        return judged(lambda: _use(kind, path))
    finally:
        path.unlink()


def _use(kind: str, path: Path) -> None:
    if kind == "summary":
        summary = pt.Summary.load(path)
        str(summary), repr(summary)
        summary.ball.contains(summary.estimate.labels)
        pt.item_uncertainty(summary.draws, summary.estimate, n_jobs=1)
        summary.to_dict()
    elif kind == "fit":
        fit = pt.Fit.load(path)
        repr(fit)
        fit.density(np.array([0.0, 9.0]))
        fit.extend(draws=2, n_jobs=1, progress=False)
    else:
        pt.sample(DATA, **RUN, resume=path)
