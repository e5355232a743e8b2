"""Arguments for every command, found by walking the command tree: values that fit, and values that do not."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import click
from fuzz.words import HOSTILE, LABELS, PLAIN

from jurors.cli import main
from jurors.jury.methods import METHODS
from jurors.options import TOOLS
from jurors.plot import KINDS

_WHOLE = ("1", "2", "3", "5", "20", "100")
_ODD_WHOLE = ("0", "-1", str(10**12), str(10**30), "1e3", "", "nan", "½", "٣", "3.0", "x")
_SHARES = ("0", "0.05", "0.2", "0.5", "0.8", "0.95", "1")
_ODD_SHARES = ("-0.1", "1.5", "nan", "inf", "-inf", "1e-320", "1e308", "", "x", "1/3", "0.5.5", "٠")
OUTPUTS = ("-o", "--output", "--junit", "--json", "--state")
_ENDINGS = (
    ".csv", ".json", ".jsonl", ".html", ".svg", ".md", ".txt", ".sketch.json", ".parquet", ".tsv", ".csv.gz", "",
)  # fmt: skip
_NEEDED = 0.97  #: how often what a command cannot do without is given
#: How often an option is taken that needs no file and is not named below.
_USUAL = 0.02


@dataclass
class World:
    """What the arguments can speak of: the files of the case, and the names in them."""

    votes: list[str]  #: as FILE... is given
    extra: Callable[[str], str]  #: makes a further file ("key", "baseline", "reference") and says its name
    columns: Sequence[str]
    jurors: Sequence[str]
    labels: Sequence[str]
    outputs: list[str] = field(default_factory=list)  #: what the command may write


#: commands that go on until they are stopped, or that keep a store, which is no output
LEFT_OUT = ("serve", "store", "mcp")


def commands() -> dict[str, click.Command]:
    """Every command by its words, "audit plan", that ends by itself and keeps nothing."""
    walked = _walk(main, click.Context(main), ())
    return {words: command for words, command in walked if words.split()[0] not in LEFT_OUT}


def _walk(
    command: click.Command, context: click.Context, words: tuple[str, ...]
) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield " ".join(words), command
        return
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        assert inner is not None
        yield from _walk(inner, click.Context(inner, parent=context), (*words, name))


def arguments(rng: random.Random, command: click.Command, world: World) -> list[str]:
    """What follows the command's name."""
    wild = rng.random() < 0.15
    parts: list[list[str]] = []
    for param in command.params:
        if isinstance(param, click.Argument):
            parts += [[word] for word in _argument(rng, param, world)]
        elif rng.random() < _chance(param):
            parts += [_option(rng, param, world, wild=wild)] * rng.choice((1, 1, 1, 2) if param.multiple else (1,))
    words = [word for part in parts for word in part]
    if wild and rng.random() < 0.1:
        words.insert(rng.randrange(len(words) + 1), rng.choice((*HOSTILE, "--nothing", "--", "-")))
    return [_passable(word) for word in words]


def _passable(word: str) -> str:
    """As a shell can pass it: no NUL, and no half of a character."""
    return word.replace("\x00", "0").encode("utf-8", "replace").decode()


def _argument(rng: random.Random, param: click.Argument, world: World) -> list[str]:
    if isinstance(param.type, click.Choice):
        return [rng.choice(list(param.type.choices))]
    if param.name == "files":
        return world.votes + (rng.choice((world.votes, ["missing.csv"])) if rng.random() > _NEEDED else [])
    return [_text(rng, world)]


def _chance(param: click.Parameter) -> float:
    if param.required:
        return _NEEDED
    if param.opts[0] == "--items" and param.metavar == "ITEMS":  # a file of what shows the items
        return _USUAL
    return _OFTEN.get(param.opts[0], _USUAL)


#: What makes commands do more, or cheaper.
_OFTEN = {
    "--format": 0.6, "--key": 0.35, "--gold": 0.1, "--baseline": 0.15, "--reference": 0.08, "--by": 0.06, "-o": 0.25,
    "--items": 0.95, "--method": 0.25,
    "--correlation": 0.3, "--accuracy": 0.4, "--from": 0.03, "--help": 0.002, "-h": 0.002,
}  # fmt: skip


def _option(rng: random.Random, param: click.Parameter, world: World, *, wild: bool) -> list[str]:
    flag = rng.choice(param.opts)
    if isinstance(param, click.Option) and (param.is_flag or param.count):
        return [flag]
    if wild and rng.random() < 0.3:
        odd = rng.choice(rng.choice((HOSTILE, _ODD_WHOLE, _ODD_SHARES)))
        world.outputs += [_passable(odd)] if flag in OUTPUTS else []
        return [flag, odd]
    return [flag, _value(rng, param, world)]


def _value(rng: random.Random, param: click.Parameter, world: World) -> str:
    """A value that fits the option, as far as its name and type tell."""
    for flag in param.opts:
        if flag in OUTPUTS:
            return _output(rng, param, world)
        if flag in _SPECIAL:
            return _SPECIAL[flag](rng, world)
    if isinstance(param.type, click.Choice):
        return str(rng.choice(list(param.type.choices)))
    if isinstance(param.type, click.types.IntParamType):
        return rng.choice(_WHOLE)
    if isinstance(param.type, click.types.FloatParamType):
        return rng.choice(_SHARES)
    if param.metavar == "COLUMN":
        return rng.choice([*world.columns, "item"])
    return _text(rng, world)


def _output(rng: random.Random, param: click.Parameter, world: World) -> str:
    if rng.random() < 0.04:  # what must not be written
        return rng.choice((*world.votes, "nowhere/out.csv", ".", "", "/dev/null/x"))
    ending = rng.choice(_ENDINGS)
    name = f"out{len(world.outputs)}{ending}"
    world.outputs.append(name)
    return name


def _text(rng: random.Random, world: World) -> str:
    pools = (world.jurors or PLAIN, world.labels or ("A",), world.columns or ("item",), _SHARES, HOSTILE)
    return str(rng.choice(rng.choice(pools)))


def _limit(rng: random.Random, world: World) -> str:
    """[JUROR:][LABEL:]X, more or less."""
    names = [_of(rng, world.jurors), _of(rng, world.labels)]
    return ":".join([*rng.sample(names, rng.choice((0, 1, 1, 2))), rng.choice(_SHARES)])


def _of(rng: random.Random, names: Sequence[str]) -> str:
    return str(rng.choice(names)) if names else "none"


def _pick(*values: str) -> Callable[[random.Random, World], str]:
    return lambda rng, _: rng.choice(values)


_SPECIAL: dict[str, Callable[[random.Random, World], str]] = {
    "--key": lambda rng, world: world.extra("key") if rng.random() < 0.8 else _of(rng, [*world.columns, "gold"]),
    "--gold": lambda _, world: world.extra("key"),
    "--baseline": lambda rng, world: world.extra("baseline") if rng.random() < 0.8 else _of(rng, world.votes),
    "--reference": lambda _, world: world.extra("reference"),
    "--method": _pick("auto", *METHODS),
    "--trust": lambda rng, world: _of(rng, world.jurors),
    "--common": lambda rng, world: _of(rng, world.labels),
    "--labels": lambda rng, world: ",".join(world.labels) if rng.random() < 0.7 else ",".join(rng.choice(LABELS)),
    "--missing": lambda rng, world: rng.choice((_of(rng, world.labels), "NA", "0.1")),
    "--abstain": lambda rng, world: rng.choice((_of(rng, world.labels), "unsure")),
    "--join": lambda rng, world: _of(rng, world.jurors).rstrip("0123456789_- #"),
    "--errors": _pick("real", "independent", "0", "0.3", "5", "-1", "nan"),
    "--level": _pick("0.5", "0.9", "0.99", "0.999999", "1", "0"),
    "--memory": _pick("1GB", "200MB", "500MB", "2GB", "1", "99999999TB", "-1GB", "2 GB", "50%", "0B", "x"),
    "--from": lambda rng, _: rng.choice((rng.choice(TOOLS), f"{rng.choice(TOOLS)}:q", "excel")),
    "--min-score": _limit, "--min-accuracy": _limit, "--min-prevalence": _limit, "--max-prevalence": _limit,
    "--items": _pick("1", "5", "50", "200"),
    "--window": _pick("20", "5", "1h", "1h/5m", "half-life 1d", "1d/1d", "0", "-1", "5m/1h", "1e9", "x", "half-life"),
    "--exec": _pick("true", "false", "no-such-program", "", "'"),
    "--webhook": _pick("http://127.0.0.1:9/", "http://10.0.0.1/", "ftp://x.test", "file:///etc/passwd", "//", ""),
    "--jurors": _pick("3", "5", "ann,bob,cy", "1", "0", "12", "a,a", ","),
    "--prevalence": _pick("0.5", "0.3,0.7", "1/3,1/3", "0", "1", "2", "0.5,0.5,0.5"),
    "--accuracy": _pick("0.8", "0.9/0.7", "1", "0", "0.5", "2", "0.9/0.8/0.7", "/"),
    "--difficulty": _pick("0", "0.1", "1"),
    "--group": _pick("ann,bob=0.1", "ann=0.1", "=", "ann,bob,cy=9"),
    "--width": _pick("0.05", "0.2", "0.01", "100", "300"),
    "--chart": _pick(*KINDS),
}  # fmt: skip
