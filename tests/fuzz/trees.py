"""What can happen to a JSON document: values of other types; parts missing, doubled, nested too deep, far too large."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

from fuzz.words import value

_RAW = ("1e400", "-1e400", "NaN", "Infinity", "1" * 400, "-0", "1.0", '"\\ud800"', '"\\u0000"', "", "tru", "'a'")
_MARK = "@raw:"  #: a text that is written without its quotes
_DEPTHS = (50, 900, 3_000, 100_000)
_MISHAPS = ["retype", "retype", "retype", "raw", "deepen", "wrap", "remove", "rename", "double", "empty", "exchange"]
Place = tuple[Any, Any]  #: a container and the key or position in it


def mutated(rng: random.Random, document: Any) -> Any:
    """A copy after one mishap."""
    document = copy.deepcopy(document)
    places = list(_places(document))
    if not places or rng.random() < 0.02:
        return value(rng)
    holder, at = rng.choice(places)
    part = holder[at]
    match rng.choice(_MISHAPS):
        case "raw":
            holder[at] = _MARK + rng.choice(_RAW)
        case "deepen":
            holder[at] = f"{_MARK}{rng.choice(('deep', 'deepest'))}{rng.choice(_DEPTHS)}"
        case "wrap":
            holder[at] = rng.choice(([part], {"value": part}, [part, part], str(part)))
        case "remove":
            del holder[at]
        case "rename" if isinstance(holder, dict):
            holder[str(value(rng))] = holder.pop(at)
        case "double" if isinstance(holder, dict):
            holder[f"{at} "] = copy.deepcopy(part)
        case "double":
            holder[at:at] = [copy.deepcopy(part) for _ in range(rng.choice((1, 1, 40)))]
        case "empty":
            holder[at] = type(part)() if isinstance(part, (dict, list)) else None
        case "exchange":
            other = rng.choice(list(holder)) if isinstance(holder, dict) else rng.randrange(len(holder))
            holder[at], holder[other] = holder[other], part
        case _:
            holder[at] = value(rng)
    return document


def dumped(rng: random.Random, document: Any) -> bytes:
    """As text, laid out in one of several ways, with what `json` would not write itself."""
    indent = rng.choice((None, None, 1))
    text = json.dumps(document, indent=indent, ensure_ascii=rng.random() < 0.5, default=str)
    for token in _RAW if _MARK in text else ():
        text = text.replace(json.dumps(_MARK + token), token)
    for depth in _DEPTHS if _MARK in text else ():
        text = text.replace(f'"{_MARK}deep{depth}"', "[" * depth + "]" * depth)
        text = text.replace(f'"{_MARK}deepest{depth}"', '{"a":' * depth + "1" + "}" * depth)
    return text.encode("utf-8", "surrogatepass")


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
