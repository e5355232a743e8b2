"""Names that differ by a number alone: `judge_1`, `judge_2`; `gpt-4#1`, `gpt-4#2`; `judge (run 2)`, `judge-sample-3`.

Such names are as often those of different people (`annotator1`, `annotator2`), so nothing is made of them unless
somebody asks for it.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Sequence

from jurors.errors import VotesError
from jurors.names import nearest

# Words that say "once more" before a number. Not among them: "version", "v", "prompt", "temperature", "fold" (another
# judge may stand behind each), "round" and "part" (other items), "no", "number", "id" (names, not repeats).
AGAIN = "run|epoch|sample|seed|try|trial|attempt|repeat|repetition|rep|replicate|replica|pass|iteration|iter|draw|redo"
_BETWEEN = r"[\s_\-/.:,|#@=(\[]*"
_DIGITS, _MOST_DIGITS = "0123456789", 6
_MARKS = f"{string.whitespace}_-/.:,|#@=(["  # those of _BETWEEN
_LETTER = re.compile(r"[^\W\d]")
_AGAIN = re.compile(rf"^(?P<base>.*?[^\s_\-/.:,|#@=(\[]){_BETWEEN}\b(?:{AGAIN})$", re.IGNORECASE | re.DOTALL)


def stem_and_number(name: str) -> tuple[str, int] | None:
    """What stands before the number at the end of a name, and the number; None for any other name.

    >>> stem_and_number("judge_1"), stem_and_number("claude (run 3)"), stem_and_number("ann")
    (('judge', 1), ('claude (run', 3), None)
    """
    text = name.strip()
    text = text[:-1].rstrip() if text[-1:] in (")", "]") else text
    before = text.rstrip(_DIGITS)
    number = text[len(before) :][-_MOST_DIGITS:]
    if not number:
        return None
    stem = text[: -len(number)].rstrip(_MARKS)
    return (stem, int(number)) if _LETTER.search(stem) else None


def called(name: str) -> list[str]:
    """Whom a name may be a repetition of, the likeliest first: without its number, and without "run" and the like.

    >>> called("claude (run 3)"), called("judge_1"), called("gpt-4")
    (['claude', 'claude (run'], ['judge'], ['gpt'])
    """
    if (found := stem_and_number(name)) is None:
        return []
    shorter = _AGAIN.match(found[0].replace("_", " "))
    return [*([found[0][: shorter.end("base")]] if shorter else []), found[0]]


def families(jurors: Sequence[str], names: Iterable[str]) -> dict[str, list[int]]:
    """Of each of these names the jurors who are called so, with a number after it or without.

    >>> families(["judge_1", "ann", "judge_2"], ["judge"])
    {'judge': [0, 2]}
    """
    own = [{_folded(one) for one in (name, *called(name))} for name in jurors]
    found: dict[str, list[int]] = {}
    taken: set[int] = set()
    for name in names:
        called_so = [k for k, theirs in enumerate(own) if _folded(name) in theirs]
        if not called_so:
            known = sorted({base for juror in jurors for base in called(juror)[:1]})
            if not known:
                raise VotesError(f"join= (--join {name}): no juror has a name that ends in a number, as repeats have")
            nearest(name, known, "juror with numbers after its name")  # which raises: there is none
        if members := [k for k in called_so if k not in taken]:  # whoever is named twice is joined once
            found[name] = members
            taken |= set(members)
    return found


def joining_name(jurors: Sequence[str]) -> str | None:
    """The name that all of these are called by, which joins them; None where there is none.

    >>> joining_name(["gpt-4 (run 1)", "gpt-4 (run 2)"]), joining_name(["gpt", "gpt #2"]), joining_name(["ann", "bob"])
    ('gpt-4', 'gpt', None)
    """
    first = next((one for name in jurors for one in called(name)), None)
    return first if first is not None and all(_folded(first) in map(_folded, (n, *called(n))) for n in jurors) else None


def _folded(name: str) -> str:
    return re.sub(r"[\s_\-]+", " ", name.strip()).casefold()
