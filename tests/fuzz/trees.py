"""What can happen to a JSON document: values of other types; parts missing, doubled, nested too deep, far too large."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from fuzz.words import value

_RAW = ("1e400", "-1e400", "NaN", "Infinity", "1" * 400, "-0", "1.0", '"\\ud800"', '"\\u0000"', "", "tru", "'a'")
_MARK = "@raw:"  #: a text that is written without its quotes
Place = tuple[Any, Any]  #: a container and the key or position in it


def mutated(rng: random.Random, document: Any) -> Any:
    """A copy after one mishap."""
    document = copy.deepcopy(document)
    places = list(_places(document))
    if not places or rng.random() < 0.02:
        return value(rng)
    holder, at = rng.choice(places)
    rng.choice(_ALL)(rng, holder, at)
    return document


def dumped(rng: random.Random, document: Any) -> bytes:
    """As text, laid out in one of several ways, with what `json` would not write itself."""
    indent = rng.choice((None, None, 1))
    text = json.dumps(document, indent=indent, ensure_ascii=rng.random() < 0.5, default=str)
    return _unmarked(rng, text).encode("utf-8", "surrogatepass")


def _unmarked(rng: random.Random, text: str) -> str:
    if _MARK not in text:
        return text
    for token in _RAW:
        text = text.replace(json.dumps(_MARK + token), token)
    for depth in (50, 900, 3_000, 100_000):
        text = text.replace(f'"{_MARK}deep{depth}"', "[" * depth + "]" * depth)
        text = text.replace(f'"{_MARK}deepest{depth}"', '{"a":' * depth + "1" + "}" * depth)
    return text


def _places(document: Any) -> Iterator[Place]:
    """Every place of a tree; of long lists, the first few alone."""
    if isinstance(document, dict):
        for key, part in document.items():
            yield document, key
            yield from _places(part)
    elif isinstance(document, list):
        for k, part in enumerate(document[:30]):
            yield document, k
            yield from _places(part)


def _retype(rng: random.Random, holder: Any, at: Any) -> None:
    holder[at] = value(rng)


def _raw(rng: random.Random, holder: Any, at: Any) -> None:
    holder[at] = _MARK + rng.choice(_RAW)


def _deepen(rng: random.Random, holder: Any, at: Any) -> None:
    holder[at] = f"{_MARK}{rng.choice(('deep', 'deepest'))}{rng.choice((50, 900, 3_000, 100_000))}"


def _wrap(rng: random.Random, holder: Any, at: Any) -> None:
    holder[at] = rng.choice(([holder[at]], {"value": holder[at]}, [holder[at], holder[at]], str(holder[at])))


def _remove(rng: random.Random, holder: Any, at: Any) -> None:
    del holder[at]


def _rename(rng: random.Random, holder: Any, at: Any) -> None:
    if isinstance(holder, dict):
        holder[str(value(rng))] = holder.pop(at)


def _double(rng: random.Random, holder: Any, at: Any) -> None:
    if isinstance(holder, list):
        holder[at:at] = [copy.deepcopy(holder[at]) for _ in range(rng.choice((1, 1, 40)))]
    else:
        holder[f"{at} "] = copy.deepcopy(holder[at])


def _empty(rng: random.Random, holder: Any, at: Any) -> None:
    if isinstance(holder[at], (dict, list)):
        holder[at].clear()
    else:
        holder[at] = None


def _exchange(rng: random.Random, holder: Any, at: Any) -> None:
    """Two values of one container trade places."""
    other = rng.choice(list(holder)) if isinstance(holder, dict) else rng.randrange(len(holder))
    holder[at], holder[other] = holder[other], holder[at]


_ALL: tuple[Callable[[random.Random, Any, Any], None], ...] = (
    _retype, _retype, _retype, _raw, _deepen, _wrap, _remove, _rename, _double, _empty, _exchange,
)  # fmt: skip
