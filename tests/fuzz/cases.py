"""One case: some files, a command line, and what it may write; made anew from a seed and a number."""

from __future__ import annotations

import base64
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from fuzz import logs, raw, sound, tables, trees
from fuzz.flags import World, arguments, commands
from fuzz.tables import FORMATS, LAYOUTS, Jury

#: Commands that take long, and how often they are drawn beside the others.
_COSTLY = {"demo": 0.01, "report": 0.12, "plan": 0.1, "compare": 0.5}
_KEY_FORMATS = ("csv", "csv", "csv", "csv", "jsonl", "json", "tsv", "parquet", "xlsx")
_INSIDE = ("votes", "Sheet 1", "a'b", "x;y", "other", "leak", "seen", "votes!A1:C9", "!B2", "'; --", "")
_ENCODINGS = ("utf-8",) * 12 + ("ascii", "latin-1")


@dataclass
class Case:
    """What is run, and what it may write."""

    kind: str  #: of the votes
    args: list[str]
    files: dict[str, bytes]
    stdin: bytes | None = None
    encoding: str = "utf-8"  #: of standard output
    outputs: list[str] = field(default_factory=list)

    @property
    def command(self) -> str:
        """The command's words."""
        return next((words for words in commands() if self.args[: len(words.split())] == words.split()), self.args[0])

    def to_json(self) -> dict[str, Any]:
        """To be kept: bytes as text where they are."""
        return {
            "kind": self.kind, "args": self.args, "stdin": _packed(self.stdin), "encoding": self.encoding,
            "outputs": self.outputs, "files": {name: _packed(content) for name, content in self.files.items()},
        }  # fmt: skip

    @classmethod
    def from_json(cls, kept: dict[str, Any]) -> Case:
        """The inverse."""
        files = {name: _unpacked(content) for name, content in kept["files"].items()}
        stdin = None if kept["stdin"] is None else _unpacked(kept["stdin"])
        return cls(kept["kind"], kept["args"], files, stdin, kept["encoding"], kept["outputs"])


def _packed(content: bytes | None) -> Any:
    if content is None:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode()}


def _unpacked(content: Any) -> bytes:
    return content.encode() if isinstance(content, str) else base64.b64decode(content["base64"])


def make_case(seed: int, number: int) -> Case:
    """The case of this number: the same in every process."""
    rng = random.Random(f"{seed}/{number}")
    words = rng.choices(list(commands()), _weights())[0]
    if (other := random.Random(f"sound/{seed}/{number}")).random() < sound.SHARE.get(words, 0.0):
        files, args, outputs = sound.files_and_args(other, words)
        return Case("sound votes", args, files, encoding=other.choice(_ENCODINGS), outputs=outputs)
    jury = tables.jury(rng)
    kind = rng.choice(_kinds())
    if words == "convert" and rng.random() < 0.5:
        kind = "sketch"
    mishaps = rng.choice((0, 0, 0, 1, 1, 2))
    files = _votes_files(rng, kind, jury, mishaps)
    if rng.random() < 0.15:
        name = rng.choice(list(files))
        files[name] = raw.mutated(rng, files[name])
    case = Case(kind, [], files, encoding=rng.choice(_ENCODINGS))
    labels = [str(label) for label in jury.labels]
    world = World(_named(rng, case), _extras(rng, case, jury), ["item", *jury.jurors], jury.jurors, labels)
    case.args = [*words.split(), *arguments(rng, commands()[words], world)]
    if kind in logs.QUESTIONS and rng.random() < 0.6:
        case.args += ["--from", logs.QUESTIONS[kind]]
    if words == "watch" and case.stdin is None:
        case.args += ["--once"]  # otherwise it goes on
    case.outputs = world.outputs
    return case


@cache
def _weights() -> list[float]:
    return [_COSTLY.get(words, 1.0) for words in commands()]


@cache
def _kinds() -> list[str]:
    often = ("csv", "csv", "csv", "jsonl", "json", "tsv", "parquet") * 3
    plain = [f"{layout}.{form}" for layout in LAYOUTS for form in (*FORMATS, *often)]
    own = ["sketch"] * 4 + ["by_true_label"] * 3 + ["matrix.npy", "matrix.npz", "many.csv", "many.jsonl", "noise"]
    tools = [tool for tool in logs.samples() for _ in range(2)]
    return [*plain, *own, *tools]


def _votes_files(rng: random.Random, kind: str, jury: Jury, mishaps: int) -> dict[str, bytes]:
    """The files of a kind, after mishaps."""
    if kind in logs.samples():
        return logs.log(rng, kind, mishaps)
    if kind == "sketch":
        others = ["b.sketch.json"] if rng.random() < 0.3 else []
        return {name: logs.sketch(rng, jury, mishaps) for name in ("a.sketch.json", *others)}
    if kind == "by_true_label":
        return {"counts.json": logs.by_true_label(rng, jury, mishaps)}
    if kind == "noise":
        ending = rng.choice((*FORMATS, "eval", "npy", "npz", "gz", "sketch.json", "txt"))
        return {f"votes.{ending}": rng.randbytes(rng.choice((0, 1, 2, 30, 1000)))}
    what, form = kind.split(".")
    if what == "matrix":
        return {f"votes.{form}": logs.matrix(rng, jury, named=form == "npz")}
    if what == "many":
        layouts = "long", rng.choice(LAYOUTS)
        return {f"part{k}.{form}": _table(rng, jury, form, layout, mishaps) for k, layout in enumerate(layouts)}
    return {f"votes.{form}": _table(rng, jury, form, what, mishaps)}


def _table(rng: random.Random, jury: Jury, form: str, layout: str, mishaps: int) -> bytes:
    table = tables.table_of(rng, jury, layout)
    for _ in range(mishaps):
        table = tables.mutated(rng, table)
    return FORMATS[form](rng, table)


def _named(rng: random.Random, case: Case) -> list[str]:
    """How the files are named on the command line: each, as a folder, by a pattern, or as standard input."""
    names = list(case.files)
    if names[0].endswith((".xlsx", ".db", ".duckdb")) and rng.random() < 0.4:
        return [f"{names[0]}::{rng.choice(_INSIDE)}"]
    folder = "/" in names[0] or len(names) > 1
    if folder and rng.random() < 0.7:
        case.files = {f"in/{name}": content for name, content in case.files.items()}
        return rng.choice((["in"], ["in"], ["in/**/*"], [*case.files]))
    if len(names) == 1 and rng.random() < 0.08:
        case.stdin = case.files.pop(names[0])
        return ["-"]
    return names


def _extras(rng: random.Random, case: Case, jury: Jury) -> Callable[[str], str]:
    """Further files: a key (or gold), a baseline, a table of reference juries."""

    def extra(what: str) -> str:
        form = rng.choice(_KEY_FORMATS) if what == "key" else "json" if what == "baseline" else "csv"
        if what == "baseline":
            document = logs.baseline()
            for _ in range(rng.choice((0, 1, 1, 3))):
                document = trees.mutated(rng, document)
            content = trees.dumped(rng, document)
        else:
            table = tables.key_of(rng, jury) if what == "key" else logs.reference()
            content = FORMATS[form](rng, tables.mutated(rng, table) if rng.random() < 0.5 else table)
        name = f"{what}{len(case.files)}.{form}"
        case.files[name] = raw.mutated(rng, content) if rng.random() < 0.15 else content
        return name

    return extra
