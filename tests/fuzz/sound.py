"""Sound votes with hostile names and flags, for commands that hardly ever get past reading otherwise."""

from __future__ import annotations

import csv
import io
import random
import tempfile
from pathlib import Path
from typing import Any

from fuzz.tables import FORMATS, Jury, key_of, table_of
from fuzz.words import HOSTILE, PLAIN

import jurors
from jurors.plot import KINDS

SHARE = {"report": 0.6, "plot": 0.85, "audit result": 0.6}
"""How often a command is given sound votes."""

_TWO_LABELS = ("dependence", "bounds")
"""Charts of two labels."""

_NO_NAME = ("", " ", "\u00a0", "\u200b", "\x00", "\ufeff", "\ud800", "null", "None", "NaN", "N/A", "-", "?", "nan",
            "item", "count", "label", "juror", "é", "e\u0301", "01", "1.0", "inf", "-inf", "1e400", "-1")  # fmt: skip
_NAMES = [name for name in HOSTILE if name not in _NO_NAME]


def files_and_args(rng: random.Random, words: str) -> tuple[dict[str, bytes], list[str], list[str]]:
    """The files, the command line and what it may write."""
    kind = rng.choice([one for one in KINDS if one != "reliability"]) if words == "plot" else ""  # which is of numbers
    jury, name, content = _readable(rng, kind)
    files = {name: content}
    if words == "audit result":
        files["sheet.csv"] = _answers(rng, name, files[name], jury)
        goal = [] if rng.random() < 0.5 else ["--until", rng.choice(("wrong <= 0.1", f"score:{jury.jurors[0]} ± 0.2"))]
        return files, [*words.split(), name, "--answers", "sheet.csv", *goal, *_format(rng)], []
    flags: list[str] = []
    if rng.random() < 0.4 or kind == "against_key":
        files["key.csv"] = FORMATS["csv"](rng, key_of(rng, jury))
        flags += ["--key", "key.csv"]
    if rng.random() < 0.2:
        flags += ["--method", rng.choice(list(jurors.theory.METHODS))]
    if words == "report":
        title = ["--title", rng.choice(_NAMES).replace("\x00", "")] if rng.random() < 0.5 else []
        return files, [words, name, *flags, *title, "-o", "out0.html"], ["out0.html"]
    output = f"out0.{rng.choice(('svg', 'html', 'png', 'json'))}"
    return files, [words, kind, name, *flags, "-o", output], [output]


def _readable(rng: random.Random, kind: str) -> tuple[Jury, str, bytes]:
    """Votes that this chart can be drawn of, as a file that is not refused: some names make a table something else."""
    for _ in range(5):
        jury, form = _jury(rng, kind), rng.choice(("csv", "jsonl", "parquet"))
        name, content = f"votes.{form}", FORMATS[form](rng, table_of(rng, jury, rng.choice(("wide", "long"))))
        if _read(name, content) is not None:
            break
    return jury, name, content


def _read(name: str, content: bytes) -> jurors.Votes | None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        try:
            return jurors.read_votes(path)
        except jurors.JurorsError:
            return None


def _format(rng: random.Random) -> list[str]:
    return ["--format", rng.choice(("text", "json", "csv", "md"))]


def _jury(rng: random.Random, kind: str) -> Jury:
    names = rng.sample(_NAMES, rng.choice((1, 3))) + rng.sample(PLAIN, 3)
    two: list[list[Any]] = [["no", "yes"], rng.sample(_NAMES, 2)]
    labels = rng.choice(two if kind in _TWO_LABELS else [*two, ["A", "B", "C"]])
    items = [f"q{k}" for k in range(rng.choice((20, 60)))]
    truth = [rng.choice(labels) for _ in items]
    votes = [[true if rng.random() < 0.8 else rng.choice(labels) for _ in names] for true in truth]
    return Jury(items, names, labels, truth, votes)


def _answers(rng: random.Random, name: str, content: bytes, jury: Jury) -> bytes:
    """A sheet of these votes, filled in; a blank one where the votes cannot be read after all."""
    votes = _read(name, content)
    if votes is None:
        return b"draw,of,item,label,chance,drawn_from\n"
    sheet = jurors.audit.plan(votes, rng.choice((5, 12)), seed=rng.randrange(9)).to_csv()
    truth = dict(zip(jury.items, jury.truth, strict=True))
    head, *rows = csv.reader(io.StringIO(sheet))
    filled = [[*row[:3], truth.get(row[2], "") if rng.random() < 0.95 else "", *row[4:]] for row in rows]
    out = io.StringIO()
    csv.writer(out).writerows([head, *filled])
    return out.getvalue().encode("utf-8", "surrogatepass")
