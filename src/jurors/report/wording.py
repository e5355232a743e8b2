"""Words that the page's sentences share. Names of jurors, labels and items come from strangers: always as text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from markupsafe import Markup

from jurors.quoting import visible

_SHORT = 15  # characters that every screen has room for


def counted(number: int, thing: str) -> str:
    """`1 juror`, `1,204 items`."""
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def name(text: Any) -> Markup:
    """A name that keeps its own direction; a long one is cut by the page's style, and has its whole in a hint."""
    return _named(str(text))


@lru_cache(maxsize=4096)  # a page of twenty thousand items says each name hundreds of times
def _named(text: str) -> Markup:
    shown = visible(text)
    if len(shown) <= _SHORT:
        return Markup("<bdi>{}</bdi>").format(shown)
    return Markup('<bdi class="name" title="{0}">{0}</bdi>').format(shown)


def names(all_names: Sequence[Any], most: int = 5) -> Markup:
    """`ann, bob and cy`; `ann, bob, cy and 12 more`."""
    shown = [name(one) for one in all_names[:most]]
    rest = len(all_names) - len(shown)
    if rest:
        return Markup(", ").join(shown) + Markup(" and {} more").format(f"{rest:,}")
    if len(shown) < 2:
        return Markup("").join(shown)
    return Markup(", ").join(shown[:-1]) + Markup(" and ") + shown[-1]


def of_which(number: float, total: int) -> str:
    """`1 of 108 (0.5%) is`, `12 of 108 (11.1%) are`."""
    shown = f"{number:z,.0f}"
    return f"{shown} of {total:,} ({number / total:z.1%}) {'is' if shown == '1' else 'are'}"


def sentences(lines: Sequence[str]) -> list[str]:
    """Lines of a card, which end where its width does, each with what goes on in the next.

    >>> sentences(["One line that", "goes on.", "Another."])
    ['One line that goes on.', 'Another.']
    """
    whole: list[str] = []
    for line in lines:
        if whole and not whole[-1].endswith((".", ":")):
            whole[-1] += f" {line}"
        else:
            whole.append(line)
    return whole
