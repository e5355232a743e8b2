"""Small files as people really have them: the true votes, and tables that hold them in some way."""

from __future__ import annotations

import csv
import io
import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypedDict

JURORS = ("ann", "bob", "cy", "dee", "eve")
SKILL = (0.9, 0.82, 0.75, 0.86, 0.7)
Row = list[Any]


class Case(TypedDict):
    """Files, and what may come of them."""

    group: str
    command: str
    files: list[str]
    args: list[str]
    accept: list[str]
    kinds: list[str]
    right: dict[str, Any] | None


CASES: dict[str, Case] = {}
FILES: dict[str, bytes] = {}


# -- true votes -------------------------------------------------------------------------------------------------


def panel(
    items: int = 80, labels: Sequence[Any] = ("no", "yes"), seed: int = 1, jurors: int = 5
) -> tuple[Row, list[Row]]:
    """The truth and the votes (items x jurors) of independent jurors."""
    rng = random.Random(seed)
    truth = [rng.choices(labels, [3, 2, 2, 1, 1, 1][: len(labels)])[0] for _ in range(items)]
    rows = []
    for true in truth:
        wrong = [label for label in labels if label != true]
        rows.append([true if rng.random() < SKILL[j % 5] else rng.choice(wrong) for j in range(jurors)])
    return truth, rows


def right(rows: Sequence[Sequence[Any]], jurors: Sequence[str] = JURORS) -> dict[str, Any]:
    """What a true reading gives: the jurors by name, and how often each tuple of text labels was said."""
    order = sorted(range(len(jurors)), key=lambda k: jurors[k])
    tuples = Counter(tuple(None if row[k] is None else str(row[k]) for k in order) for row in rows)
    listed = sorted(([list(t), n] for t, n in tuples.items()), key=str)
    return {"jurors": [jurors[k] for k in order], "items": len(rows), "tuples": listed}


# -- files -------------------------------------------------------------------------------------------------------


def table(header: Sequence[str], rows: Iterable[Sequence[Any]], mark: str = ",", end: str = "\n") -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=mark, lineterminator=end)
    writer.writerow(header)
    writer.writerows([["" if cell is None else cell for cell in row] for row in rows])
    return out.getvalue().encode()


def lines(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    return "".join(json.dumps(dict(zip(header, row, strict=True)), ensure_ascii=False) + "\n" for row in rows).encode()


def case(
    name: str,
    data: bytes | dict[str, bytes],
    truth: dict[str, Any] | None,
    accept: str = "right",
    kinds: str = "",
    *,
    group: str,
    ext: str = "csv",
    args: Sequence[str] = (),
    command: str = "grade",
) -> None:
    """One case; `accept` are outcomes divided by blanks, `kinds` those of the alarms that will do."""
    if name in CASES:
        raise ValueError(f"two cases are called {name}")
    files = data if isinstance(data, dict) else {f"{name}.{ext}": data}
    FILES.update(files)
    CASES[name] = {
        "group": group,
        "command": command,
        "files": list(files),
        "args": list(args),
        "accept": accept.split(),
        "kinds": kinds.split(),
        "right": truth,
    }


def long_rows(rows: Sequence[Row], ids: Sequence[Any], jurors: Sequence[str] = JURORS, seed: int = 3) -> list[Row]:
    """One vote per row, in the order of a crowd: item by item, the jurors of each shuffled."""
    rng = random.Random(seed)
    votes = []
    for name, row in zip(ids, rows, strict=True):
        said = [[name, juror, label] for juror, label in zip(jurors, row, strict=True) if label is not None]
        rng.shuffle(said)
        votes += said
    return votes


TRUTH, ROWS = panel()
N = len(ROWS)
IDS = [f"i{k:03d}" for k in range(N)]
RIGHT = right(ROWS)
rng = random.Random(11)
NUMBERS = [rng.randrange(10_000, 99_999) for _ in range(N)]
WORDS = ("the", "a", "cat", "sat", "on", "mat", "while", "rain", "fell", "and", "nobody", "in", "house", "could", "say")
TEXTS = [f"{k} " + " ".join(rng.choices(WORDS, k=9)) for k in range(N)]
STAMPS = [f"2024-03-{1 + k // 40:02d} 10:{k % 40:02d}:{rng.randrange(60):02d}" for k in range(N)]


def wide(
    name: str,
    extra: dict[str, Sequence[Any]],
    *,
    before: bool = False,
    accept: str = "right",
    kinds: str = "",
    group: str,
    rows: Sequence[Row] = ROWS,
    truth: dict[str, Any] | None = RIGHT,
    write: Callable[..., bytes] = table,
    ext: str = "csv",
    args: Sequence[str] = (),
    jurors: Sequence[str] = JURORS,
) -> None:
    """Jurors in columns, and these columns before or after them."""
    more = list(zip(*extra.values(), strict=True)) if extra else [()] * len(rows)
    header = [*extra, *jurors] if before else [*jurors, *extra]
    body = [[*m, *r] if before else [*r, *m] for m, r in zip(more, rows, strict=True)]
    case(name, write(header, body), truth, accept, kinds, group=group, ext=ext, args=args)


def long(
    name: str,
    header: Sequence[str],
    ids: Sequence[Any],
    *,
    extra: Callable[[Row], Sequence[Any]] = lambda v: (),
    accept: str = "right",
    kinds: str = "",
    group: str = "long",
    rows: Sequence[Row] = ROWS,
    truth: dict[str, Any] | None = RIGHT,
    write: Callable[..., bytes] = table,
    ext: str = "csv",
) -> None:
    body = [[*vote, *extra(vote)] for vote in long_rows(rows, ids)]
    case(name, write(header, body), truth, accept, kinds, group=group, ext=ext)
