"""Cells as labels: equal ones made equal (1, 1.0 and 01), and words that can only mean "no vote" are none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

#: can only mean that no vote was given
NO_VOTE_WORDS = frozenset(
    {
        *("na", "n/a", "n.a.", "#n/a", "<na>", "nan", "nat", "null", "nil", "-", "--", "---", "–", "—", "?", "??", "."),
        *("", "missing", "blank", "empty", "undefined", "no answer", "no vote", "no response", "not answered"),
        *("unanswered", "skip", "skipped", "#value!", "#ref!", "none given"),
    }
)
#: can only mean that a juror was asked and would not say: an abstention, never the truth about an item
ABSTAIN_WORDS = frozenset(
    {
        *("unsure", "not sure", "i'm not sure", "i am not sure", "i'm unsure", "i am unsure", "idk", "dk"),
        *("don't know", "dont know", "do not know", "i don't know", "i dont know", "i do not know", "no idea"),
        *("can't tell", "cant tell", "cannot tell", "can not tell", "can't say", "cannot say", "no opinion"),
        *("abstain", "abstained", "abstains", "abstention"),
    }
)
#: may be an answer, or none
AMBIGUOUS_WORDS = frozenset(
    {
        *ABSTAIN_WORDS,
        *("uncertain", "unknown", "undecided", "unclear", "tie", "tied", "draw", "refused", "refuse"),
        *("refusal", "refuse to answer", "error", "failed", "failure", "invalid", "unparsed", "parse error", "timeout"),
        *("unparseable", "none", "other", "n/d", "prefer not to say", "inconclusive", "both", "neither"),
    }
)
_MILD_WORDS = frozenset({"other", "both", "neither", "unclear", "none"})  #: labels, if said often
_OFTEN = 0.05
_CODES = frozenset({"-9", "-99", "-999", "-9999", "9", "77", "88", "98", "99", "777", "888", "998", "999", "9999"})
_FAR = 3  #: by how much a code is beyond the answers
_JOINED = re.compile(r"\s*[|;,/+&]\s*|\s+(?:and|or)\s+")  #: two answers in a cell


def no_vote_words(cells: Sequence[Any]) -> set[str]:
    """The words among tidy cells that say there is no vote.

    At least two labels must be left: in a table of "X" and "-", "-" is an answer.

    >>> sorted(no_vote_words(["yes", "no", "N/A", "-", "unsure"])), no_vote_words(["+", "-", "X"])
    (['-', 'N/A'], set())
    """
    texts = {cell for cell in cells if isinstance(cell, str)}
    words = {text for text in texts if text.casefold() in NO_VOTE_WORDS or text == "None"}
    if "+" in texts:
        words -= {"-", "--", "–", "—"}
    others = [cell for cell in cells if cell is not None and cell not in words and not is_ambiguous(cell)]
    if any(str(cell)[:1].isupper() and str(cell)[1:].islower() for cell in others):
        words -= {"None"}  # beside "Favor" and "Against" a label like them
    return words if len({str(cell).casefold() for cell in others}) >= 2 else set()


def abstain_words(cells: Sequence[Any]) -> set[str]:
    """The words among tidy cells that say a juror abstained; at least two other labels must be left.

    >>> abstain_words(["yes", "no", "Unsure", "unknown"]), abstain_words(["sure", "unsure"])
    ({'Unsure'}, set())
    """
    words = {cell for cell in cells if isinstance(cell, str) and _folded(cell) in ABSTAIN_WORDS}
    if not words:
        return words
    none = no_vote_words(cells)
    others = {str(cell).casefold() for cell in cells if cell is not None and cell not in words | none}
    return words if len({other for other in others if not is_ambiguous(other)}) >= 2 else set()


def _folded(text: str) -> str:
    return text.replace("\u2019", "'").casefold().rstrip(".!")


def is_ambiguous(label: Any) -> bool:
    """Whether a label may be an answer or none."""
    return isinstance(label, str) and label.casefold() in AMBIGUOUS_WORDS


def may_be_none(label: Any, labels: Sequence[Any], share: float) -> bool:
    """Whether a label that is said in this share of the votes may mean that none was given.

    >>> may_be_none(-1, [-1, 0, 1], 0.1), may_be_none(-1, [-1, 1], 0.1), may_be_none("other", ["a", "b", "other"], 0.4)
    (True, False, False)
    >>> may_be_none(99, [0, 1, 99], 0.1), may_be_none("a|b", ["a", "b", "a|b"], 0.1), may_be_none("n/d", ["a"], 0.1)
    (True, True, True)
    """
    text = str(label).strip().casefold()
    if text in _CODES or text == "-1":
        others = [str(other) for other in labels if str(other) != str(label) and not is_ambiguous(other)]
        return _is_code(int(text), others)
    parts = set(_JOINED.split(text))
    if len(parts) > 1 and parts <= {str(other).strip().casefold() for other in labels}:
        return True
    if text in ("n", "x"):  # beside A, B, C; but "y" and "n", or "o" and "x", are votes
        return len(labels) > 3 and share < _OFTEN and not {"y", "o"} & {str(other).casefold() for other in labels}
    if text in _MILD_WORDS:
        return share < _OFTEN
    return isinstance(label, str) and (text in AMBIGUOUS_WORDS or text in NO_VOTE_WORDS)


def _is_code(number: int, others: Sequence[str]) -> bool:
    """Whether a number is one of those that stand for no answer, far from the numbers in a row that are the answers."""
    if len(others) < 2 or not all(re.fullmatch(r"\d{1,4}", other) for other in others):
        return False
    row = sorted(map(int, others))
    if row != list(range(row[0], row[0] + len(row))):
        return False
    return row[0] == 0 if number == -1 else number < -1 or number > row[-1] + _FAR


def equal_numbers(cells: list[Any]) -> list[Any]:
    """The same cells with one spelling of each number, where all labels are numbers and two are left.

    >>> equal_numbers(["1", "1.0", "01", "0", None]), equal_numbers(["01", "1"])
    (['1', '1', '1', '0', None], ['01', '1'])
    """
    texts = {cell for cell in cells if isinstance(cell, str) and not is_ambiguous(cell)}
    numbers = {text: float(text) for text in texts if re.fullmatch(r"[-+]?\d{1,15}(\.\d*)?", text)}
    if len(numbers) < len(texts) or not 2 <= len(set(numbers.values())) < len(numbers):
        return cells
    short = {size: min((t for t in numbers if numbers[t] == size), key=_plainness) for size in numbers.values()}
    return [short[numbers[cell]] if isinstance(cell, str) and cell in numbers else cell for cell in cells]


def _plainness(text: str) -> tuple[bool, int, str]:
    return "." in text, len(text), text
