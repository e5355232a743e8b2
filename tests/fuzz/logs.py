"""Logs of other tools (the samples that the tests of their readers keep), sketches, matrices; what may befall them."""

from __future__ import annotations

import io
import json
import random
import zipfile
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from fuzz import trees
from fuzz.tables import Jury, Table
from mutated_logs import SMALL
from other_tools import SAMPLES

from jurors.sketch import file as sketch_file
from jurors.votes.table import Votes

Files = dict[str, bytes]
_DATA = (".json", ".jsonl", ".parquet", ".npy", ".npz", ".csv")


@cache
def samples() -> dict[str, Files]:
    """Tool -> the files of its sample, below names as the tool gives them."""
    tools: dict[str, Files] = {"inspect": {"log.json": json.dumps(_inspect_log()).encode()}, "eval": {"log.eval": b""}}
    for folder in sorted(path for path in SAMPLES.iterdir() if path.is_dir()):
        paths = sorted(path for path in folder.rglob("*") if path.suffix in _DATA)
        for path in paths:
            joint = {"doccano": "", "lm_eval": ""}  # logs read as one
            tool = folder.name + joint.get(folder.name, f"/{path.name}")
            tools.setdefault(tool, {})[path.relative_to(folder).as_posix()] = path.read_bytes()
    return tools


#: What to ask of a sample that answers several questions.
QUESTIONS = {
    "mlflow/traces.json": "mlflow:correct", "mlflow/traces.jsonl": "mlflow:tone", "lm_eval": "lm-eval:colours",
    "label_studio/json.json": "label-studio:verdict", "label_studio/json_min.json": "label-studio:verdict",
    "label_studio/snapshot.json": "label-studio:verdict", "openinference/spans.json": "openinference:correct",
    "openinference/traces.jsonl": "openinference:correct",
}  # fmt: skip


def log(rng: random.Random, tool: str, mishaps: int) -> Files:
    """The files of a tool's sample; one of them, where it is JSON, after so many mishaps."""
    files = dict(samples()[tool])
    if tool == "eval":
        return {"log.eval": _archive(rng, mishaps)}
    name = rng.choice(list(files))
    if name.endswith((".json", ".jsonl")):
        files[name] = _changed(rng, files[name], mishaps, lines=name.endswith("l"))
    if len(files) > 1 and rng.random() < 0.2:
        files = {name: files[name]}
    return files


def _changed(rng: random.Random, content: bytes, mishaps: int, *, lines: bool) -> bytes:
    document: Any = [json.loads(line) for line in content.splitlines()] if lines else json.loads(content)
    for _ in range(mishaps):
        document = trees.mutated(rng, document)
    if lines and isinstance(document, list):
        return b"\n".join(trees.dumped(rng, one).replace(b"\n", b" ") for one in document)
    return trees.dumped(rng, document)


def _inspect_log() -> Any:
    """A log as Inspect AI writes it: several scorers, a panel of models, one scorer with several values."""
    (document,) = SMALL["inspect"][1]
    (sample,) = document["samples"]
    return document | {"samples": [sample | {"id": f"q{k}"} for k in range(8)]}


def _archive(rng: random.Random, mishaps: int) -> bytes:
    """The same log as an archive; a mishap befalls its documents or the names of its members."""
    document = _inspect_log()
    for _ in range(mishaps):
        document = trees.mutated(rng, document)
    members: dict[str, Any] = {"header.json": document}
    if isinstance(document, dict):
        told = document.get("samples")
        members["header.json"] = {name: part for name, part in document.items() if name != "samples"}
        members |= {f"samples/q{k}_epoch_1.json": one for k, one in enumerate(told if isinstance(told, list) else [])}
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for name, part in members.items():
            archive.writestr(zipfile.ZipInfo(name), trees.dumped(rng, part))
    return sink.getvalue()


# -- our own documents ----------------------------------------------------------------------------------------------


def sketch(rng: random.Random, jury: Jury, mishaps: int) -> bytes:
    """A sketch file; after mishaps, at times with a checksum that is right again."""
    matrix = [[None if vote is None else str(vote) for vote in row] for row in jury.votes]
    try:
        document: Any = sketch_file.to_document(Votes.from_matrix(matrix, jurors=jury.jurors))
    except ValueError:  # a jury that no matrix can hold
        document = {"format": "jurors sketch", "version": 1}
    for _ in range(mishaps):
        document = trees.mutated(rng, document)
    if isinstance(document, dict) and rng.random() < 0.7:
        try:
            document["checksum"] = sketch_file._checksum(document)
        except (TypeError, ValueError):
            document["checksum"] = "sha256:0"
    return trees.dumped(rng, document)


def by_true_label(rng: random.Random, jury: Jury, mishaps: int) -> bytes:
    """Counts of decision tuples by true label."""
    counts: dict[str, dict[str, int]] = defaultdict(Counter)
    for true, row in zip(jury.truth, jury.votes, strict=True):
        counts[str(true)][",".join(map(str, row))] += 1
    document: Any = {"jurors": jury.jurors, "labels": [str(label) for label in jury.labels], "by_true_label": counts}
    if rng.random() < 0.3:
        document = counts if rng.random() < 0.5 else [document, document]
    for _ in range(mishaps):
        document = trees.mutated(rng, document)
    return trees.dumped(rng, document)


def matrix(rng: random.Random, jury: Jury, *, named: bool) -> bytes:
    """A numpy matrix of positions of labels, -1 where there is no vote, of some type."""
    place = {str(label): k for k, label in enumerate(jury.labels)}
    cells = np.array([[place.get(str(vote), -1) for vote in row] for row in jury.votes])
    cells = cells.astype(rng.choice(("i8", "i1", "f8", "f4")))
    odd = (cells.astype("U4"), cells[None], cells.ravel(), cells.astype("c16"), cells > 0)
    cells = rng.choice((*[cells] * 3, *odd))
    if cells.size and cells.dtype.kind in "if" and rng.random() < 0.2:
        cells.flat[0] = rng.choice((127, -2, 99, 0.5))
    sink = io.BytesIO()
    if named:
        np.savez(sink, votes=cells, jurors=np.array([name.encode("utf-8", "replace").decode() for name in jury.jurors]))
    else:
        np.save(sink, cells)
    return sink.getvalue()


@cache
def baseline() -> Any:
    """What `jurors grade --format json` wrote of an earlier run."""
    import jurors

    rows = [["yes" if (k * (j + 3)) % 7 < 4 else "no" for j in range(3)] for k in range(30)]
    return json.loads(jurors.grade(Votes.from_matrix(rows, jurors=("ann", "bob", "cy"))).to_json())


@cache
def reference() -> Table:
    """The first of the reference juries that come with the package."""
    import jurors

    lines = (Path(jurors.__file__).parent / "data" / "reference_juries.csv").read_text().splitlines()
    head, *rows = (line.split(",") for line in lines[:12])
    return Table(head, rows)
