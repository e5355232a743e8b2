"""Cells, names and labels as positions, the words that mean "no vote" or "I abstain", and `Finding`.

Everything that a table of votes is made of, wherever it comes from: cells come in, small integer codes and ordered
labels go out. Equal numbers are made one label (1, 1.0 and 01), and words that can only mean "no vote" are none.
`numerals` reads labels as numbers, exactly: with decimal points, decimal commas where they can be nothing else, and per
cent where all have it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import Codes
from jurors.errors import VotesError, spell_options
from jurors.options import Label, is_number

NO_VOTE = -1
LARGEST_COUNT = (1 << 63) - 1  # of items


def code_type(labels: int) -> type[np.signedinteger[Any]]:
    """The smallest integer type that holds the position of a label and -1.

    Returns
    -------
    type
        numpy.int8, int16 or int32.
    """
    return np.int8 if labels < 127 else np.int16 if labels < 32_000 else np.int32


def python_value(value: Any) -> Any:
    """A numpy scalar as the Python value it stands for."""
    return value.item() if isinstance(value, np.generic) else value


def is_missing(value: Any) -> bool:
    """Whether a cell means "no vote": None, NaN, or an engine's own null marker."""
    if value is None or type(value).__name__ in ("NAType", "NaTType", "NullType"):
        return True
    return isinstance(value, (float, np.floating)) and math.isnan(value)


def ordered_labels(values: Iterable[Any]) -> tuple[Label, ...]:
    """Sort distinct labels in a natural order.

    Returns
    -------
    tuple
        Numbers by size (also when they came as text), else alphabetically.
    """
    distinct = sorted(dict.fromkeys(values), key=str)  # "1" and "01" are two labels: their order must not be chance
    try:
        size = {value: float(value) for value in distinct}
    except (TypeError, ValueError, OverflowError):
        return tuple(distinct)
    return tuple(distinct if any(map(math.isnan, size.values())) else sorted(distinct, key=size.__getitem__))


def factorize(values: Sequence[Any] | NDArray[Any]) -> tuple[list[Any], NDArray[np.int64]]:
    """Encode values by their distinct values.

    Returns
    -------
    distinct
        In order of first appearance; missing values are one, None.
    codes
        The position of each value among them.
    """
    if isinstance(values, np.ndarray) and values.dtype.kind in "iub":
        distinct, first, inverse = np.unique(np.asarray(values), return_index=True, return_inverse=True)
        order = np.argsort(first)
        return distinct[order].tolist(), np.argsort(order)[inverse]
    listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
    known = list(dict.fromkeys(listed))  # at the speed of C; the rest works on the distinct values
    cells = [None if is_missing(value) else python_value(value) for value in known]
    place = {cell: k for k, cell in enumerate(dict.fromkeys(cells))}
    code = {value: place[cell] for value, cell in zip(known, cells, strict=True)}
    return list(place), np.fromiter(map(code.__getitem__, listed), dtype=np.int64, count=len(listed))


def checked_counts(counts: Any, where: str) -> NDArray[np.int64]:
    """Check counts of items.

    Parameters
    ----------
    counts
        Numbers, or text with digits.
    where
        Where they stand, for messages: "column 'count'".

    Returns
    -------
    array of int
        The counts, exactly.

    Raises
    ------
    VotesError
        Names the first row that holds none.

    Examples
    --------
    >>> checked_counts(["553", 2.0, "12345678901234567"], "column 'count'").tolist()
    [553, 2, 12345678901234567]
    """
    if isinstance(counts, np.ndarray) and counts.dtype.kind in "ib" and not (counts < 0).any():
        return counts.astype(np.int64)
    checked = []
    for row, value in enumerate(counts.tolist() if isinstance(counts, np.ndarray) else list(counts), 1):
        number = value
        if isinstance(value, str):
            match = re.fullmatch(r"\s*\+?0*(\d{1,30})(?:\.0*)?\s*", value)  # Python reads no thousands of digits
            number = match[1] if match else -1
        try:
            count = int(number) if isinstance(number, str) or int(number) == number else -1
        except (TypeError, ValueError, OverflowError):
            count = -1
        if isinstance(value, bool) or not 0 <= count <= LARGEST_COUNT:
            try:
                size = float(value)
            except (TypeError, ValueError, OverflowError):
                size = -1.0
            rule = "must be a whole number, 0 or more"
            if size > LARGEST_COUNT:
                rule = f"can be {LARGEST_COUNT:,} at most"
            elif isinstance(value, str) and size >= 0 and size.is_integer():
                rule = "must be written in digits only"
            cell = "nothing" if is_missing(value) else f"{python_value(value)!r:.60}"
            what = f"{where}: a count {rule}; found {cell}"
            raise VotesError(f"row {row}, {what}", code="bad_row", row=row, what=what)
        checked.append(count)
    if sum(checked) > LARGEST_COUNT:
        raise VotesError(f"{where}: the counts add up to more than {LARGEST_COUNT:,}, the largest number of items")
    return np.array(checked, dtype=np.int64)


def as_cells(matrix: NDArray[Any] | Sequence[Sequence[Any]]) -> NDArray[Any]:
    """An array as it is, without what is masked; lists as an array of whatever they hold."""
    if isinstance(matrix, np.ndarray):
        if type(matrix) is np.ndarray or not isinstance(matrix, np.ma.MaskedArray):  # `np.ma` takes 10 ms to import
            return matrix
        cells = matrix.data.astype(object)
        cells[np.ma.getmaskarray(matrix)] = None
        return cells
    try:
        return np.array(matrix, dtype=object)
    except ValueError:
        raise VotesError("the rows of a vote matrix must all have the same length") from None


def encode_cells(cells: NDArray[Any], labels: tuple[Label, ...] | None) -> tuple[Codes, tuple[Label, ...]]:
    """Encode a matrix of cells.

    Returns
    -------
    codes
        Rows x jurors: positions among the labels, -1 for no vote.
    labels
        Those given, or what the cells hold.
    """
    if cells.dtype.kind == "f":
        whole = np.nan_to_num(cells, nan=NO_VOTE)
        if np.array_equal(whole, np.rint(whole)):
            cells = whole.astype(np.int64)
    if cells.dtype.kind in "iu":
        return _encode_integers(cells, labels)
    if cells.dtype.kind == "b":
        kinds = labels or (False, True)
        return cells.astype(code_type(len(kinds))), kinds
    values, inverse = factorize(cells.ravel())
    if labels is not None and all(is_missing(v) or (type(v) is int and v >= NO_VOTE) for v in values):
        integers = np.array([NO_VOTE if is_missing(v) else v for v in values], dtype=np.int64)
        return _encode_integers(integers[inverse].reshape(cells.shape), labels)
    if all(is_missing(v) or type(v) is int for v in values):  # a list of lists of numbers: -1 is no vote there too
        values = [None if not is_missing(v) and v < 0 else v for v in values]
    codes, kinds = encode(values, labels)
    return codes[inverse].reshape(cells.shape), kinds


def _encode_integers(cells: NDArray[Any], labels: tuple[Label, ...] | None) -> tuple[Codes, tuple[Label, ...]]:
    """Codes of an integer matrix; any negative cell is no vote."""
    low, high = (int(cells.min()), int(cells.max())) if cells.size else (0, -1)
    if labels is None:
        if high < 16:  # few codes: compare with each, far cheaper than sorting the cells
            present = [value for value in range(high + 1) if value in (low, high) or (cells == value).any()]
        else:
            present = [int(v) for v in np.unique(cells) if v >= 0]
        labels = tuple(present)
        if present != list(range(len(present))):
            where = np.searchsorted(present, np.maximum(cells, 0))
            return np.where(cells < 0, NO_VOTE, where).astype(code_type(len(labels))), labels
    elif high >= len(labels):
        raise VotesError(f"the matrix has code {high}, but only {len(labels)} labels are named")
    cells = np.maximum(cells, NO_VOTE) if low < NO_VOTE else cells  # before the cast, which would wrap -999 to 25
    return cells.astype(code_type(len(labels))), labels


def encode(values: Sequence[Any], labels: Sequence[Label] | None) -> tuple[Codes, tuple[Label, ...]]:
    """Encode distinct values.

    Returns
    -------
    codes
        The position of each value among the labels; -1 where it is missing.
    labels
        Those given, or the values in a natural order.
    """
    present = (python_value(value) for value in values if not is_missing(value))
    kinds = ordered_labels(present) if labels is None else tuple(labels)
    return recode(values, kinds), kinds


def recode(values: Sequence[Any], kinds: Sequence[Label]) -> Codes:
    """Encode distinct values by the labels.

    Returns
    -------
    Codes
        The position of each value among the labels (equal as values, or as text); -1 where it is missing.

    Raises
    ------
    VotesError
        Where a value is no label.
    """
    place: dict[Any, int] = {kind: k for k, kind in enumerate(kinds)}
    texts = {str(kind): k for k, kind in enumerate(kinds)}
    codes = [NO_VOTE if is_missing(v) else place.get(python_value(v), texts.get(str(python_value(v)))) for v in values]
    if None in codes:
        unknown = python_value(values[codes.index(None)])
        raise VotesError(f"label {unknown!r} is not among the labels {', '.join(map(str, kinds))}")
    return np.array(codes, dtype=code_type(len(kinds))) if codes else np.zeros(0, dtype=np.int8)


# -- findings ---------------------------------------------------------------------------------------------------------

Level: TypeAlias = Literal["note", "warning", "alarm"]
_SHOWN = 6


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to know about some votes: a name for programs, a sentence for people, what it is about, its level.

    Nothing follows from a note; a warning needs a look; an alarm stops `check`.
    """

    kind: str
    message: str
    about: tuple[Label, ...] = ()
    level: Level = "note"
    value: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", spell_options(self.message))


def list_names(names: Sequence[Any]) -> str:
    """Join the first names for a sentence.

    >>> list_names(["ann", "bob", "cy"])
    "'ann', 'bob' and 'cy'"
    """
    shown = list(map(repr, names[:_SHOWN]))
    if len(names) > _SHOWN:
        return f"{', '.join(shown)} and {len(names) - _SHOWN} more"
    return ", ".join(shown) if len(shown) < 2 else f"{', '.join(shown[:-1])} and {shown[-1]}"


# -- labels as numbers -------------------------------------------------------------------------------------------------

_WITH_COMMA = re.compile(r"[+-]?\d*,\d+")


@dataclass(frozen=True)
class Numerals:
    """Labels as numbers, each still as text, so that nothing is rounded."""

    texts: tuple[str | None, ...]  #: as Python writes numbers; None where a label is no number
    remarks: tuple[str, ...] = ()  #: how they were understood
    doubtful: str | None = None  #: a label that may be two numbers: 1,234

    @property
    def sizes(self) -> tuple[float | None, ...]:
        """The numbers as floats; None where a label is none, or none that a float can hold.

        >>> numerals(["0,5", "12"]).sizes, numerals(["high", 3, "1e999"]).sizes
        ((0.5, 12.0), (None, 3.0, None))
        """
        sizes = [None if text is None else float(text) for text in self.texts]
        return tuple(size if size is not None and math.isfinite(size) else None for size in sizes)

    @property
    def doubt(self) -> str:
        """The message about a label that may be two numbers; "" where there is none."""
        many = "may be a thousand or a decimal; write numbers with a decimal point"
        return "" if self.doubtful is None else f"{self.doubtful!r} {many}"


def numerals(labels: Iterable[Any]) -> Numerals:
    """Read labels as numbers.

    Returns
    -------
    Numerals
        The numbers as text, one per label, and how they were understood.

    Examples
    --------
    >>> numerals(["0,5", "12", "-1,25"])
    Numerals(texts=('0.5', '12', '-1.25'), remarks=('commas are decimal commas',), doubtful=None)
    >>> numerals([3, 2.5, True, "high", "inf"]).texts, numerals(["1,234", "5"]).doubtful
    (('3', '2.5', None, None, None), '1,234')
    """
    texts = ["" if isinstance(label, bool) else str(label).strip() for label in labels]
    remarks: list[str] = []
    if texts and all(text.endswith("%") for text in texts):
        texts = [text.removesuffix("%").strip() for text in texts]
        remarks.append("per cent signs are left out")
    commas = [text for text in texts if _WITH_COMMA.fullmatch(text)]
    doubtful = None
    if commas and not any("." in text for text in texts):
        doubtful = commas[0] if all(len(text.partition(",")[2]) == 3 for text in commas) else None
        texts = [text.replace(",", ".") if _WITH_COMMA.fullmatch(text) else text for text in texts]
        remarks.append("commas are decimal commas")
    return Numerals(tuple(text if is_number(text) else None for text in texts), tuple(remarks), doubtful)


def midpoint(labels: Iterable[Any]) -> str:
    """The number halfway between the smallest label and the largest: a cut that leaves some on either side.

    Returns
    -------
    str

    Examples
    --------
    >>> midpoint((10, "20", 70))
    '40'
    """
    sizes = [float(text) for text in numerals(labels).texts if text is not None]
    return f"{(min(sizes) + max(sizes)) / 2:g}"


# -- words that are no labels -----------------------------------------------------------------------------------------

#: can only mean that no vote was given
NO_VOTE_WORDS = frozenset(
    {
        *("na", "n/a", "n.a.", "#n/a", "<na>", "nan", "nat", "null", "nil", "-", "--", "---", "–", "—", "?", "??", "."),
        *("", "missing", "blank", "empty", "undefined", "no answer", "no vote", "no response", "not answered"),
        *("unanswered", "skip", "skipped", "#value!", "#ref!", "none given"),
    }
)
#: can only mean that a juror saw the item and did not decide: an abstention, never the truth about an item
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
#: pairs of answers beside which "pass" may mean that a juror passed on the item
_YES_OR_NO = tuple(
    frozenset(pair.split("/"))
    for pair in ("yes/no", "y/n", "true/false", "1/0", "correct/incorrect", "right/wrong", "good/bad", "agree/disagree")
)
_MILD_WORDS = frozenset({"other", "both", "neither", "unclear", "none"})  #: labels, if frequent
_OFTEN = 0.05
#: if rare: what a failed call or a refusal leaves, such as "Error code: 429"; "error handling" is a label
_NO_ANSWER = re.compile(
    r"(?:error|exception)\b.*[:\d]|timed out\b|"
    r"(?:i can(?:no|['’])t|i (?:do|could) ?n|i(?: a|['’])m (?:un|not|sorry)|sorry|unable to).* "
)
_FEWEST_LETTERS = 4  #: of the longer of two words, one letter of which is a slip: not of A1 and A2
_CODES = frozenset({"-9", "-99", "-999", "-9999", "9", "77", "88", "98", "99", "777", "888", "998", "999", "9999"})
_FAR = 3  #: by how much a code is beyond the answers
_BETWEEN_ANSWERS = re.compile(r"\s*[|;,/+&]\s*|\s+(?:and|or)\s+")  #: in a cell with two


def no_vote_words(cells: Sequence[Any]) -> set[str]:
    """Find the words among clean cells that mean "no vote".

    At least two labels must be left: in a table of "X" and "-", "-" is an answer.

    Returns
    -------
    set of str

    Examples
    --------
    >>> sorted(no_vote_words(["yes", "no", "N/A", "-", "unsure"])), no_vote_words(["+", "-", "X"])
    (['-', 'N/A'], set())
    """
    texts = {cell for cell in cells if isinstance(cell, str)}
    words = {text for text in texts if _bare(text) in NO_VOTE_WORDS or text == "None"}
    if "+" in texts:
        words -= {"-", "--", "–", "—"}
    others = [cell for cell in cells if cell is not None and cell not in words and not is_ambiguous(cell)]
    if any(str(cell)[:1].isupper() and str(cell)[1:].islower() for cell in others):
        words -= {"None"}  # beside "Favor" and "Against" a label like them
    return words if len({str(cell).casefold() for cell in others}) >= 2 else set()


def _bare(text: str) -> str:
    """A word without the brackets that spreadsheets put around it: "(blank)" is "blank"."""
    folded = text.casefold()
    inside = folded[1:-1].strip() if (folded[:1], folded[-1:]) in (("(", ")"), ("[", "]"), ("<", ">")) else ""
    return inside if any(map(str.isalpha, inside)) else folded


def abstain_words(cells: Sequence[Any]) -> set[str]:
    """Find the words among clean cells that mean abstaining; at least two other labels must be left.

    Returns
    -------
    set of str

    Examples
    --------
    >>> abstain_words(["yes", "no", "Unsure", "unknown"]), abstain_words(["sure", "unsure"])
    ({'Unsure'}, set())
    """
    texts = {cell: cell.replace("\u2019", "'").casefold().rstrip(".!") for cell in cells if isinstance(cell, str)}
    words = {cell for cell, folded in texts.items() if folded in ABSTAIN_WORDS}
    if not words:
        return words
    none = no_vote_words(cells)
    others = {str(cell).casefold() for cell in cells if cell is not None and cell not in words | none}
    return words if len({other for other in others if not is_ambiguous(other)}) >= 2 else set()


def is_ambiguous(label: Any) -> bool:
    """Whether a label may be an answer or none."""
    return isinstance(label, str) and label.casefold() in AMBIGUOUS_WORDS


def may_mean_missing(label: Any, labels: Sequence[Any], share: float) -> bool:
    """Whether a label with this share of the votes may mean that none was given.

    Examples
    --------
    >>> rare = may_mean_missing
    >>> rare(-1, [-1, 0, 1], 0.1), rare(-1, [-1, 1], 0.1), rare("other", ["a", "b", "other"], 0.4)
    (True, False, False)
    >>> rare(99, [0, 1, 99], 0.1), rare("a|b", ["a", "b", "a|b"], 0.1), rare("n/d", ["a"], 0.1)
    (True, True, True)
    >>> rare("pass", ["yes", "no", "pass"], 0.1), rare("pass", ["pass", "fail", "skip"], 0.1)
    (True, False)
    >>> rare("Error code: 429", ["a", "b"], 0.01), rare("I can't judge this", ["a", "b"], 0.01)
    (True, True)
    >>> rare("error handling", ["a", "b"], 0.01), rare("I am happy", ["a", "b"], 0.01)
    (False, False)
    >>> rare("failed", ["a", "b", "failed"], 0.1), rare("failed", ["passed", "failed", "fail"], 0.1)
    (True, False)
    """
    text = str(label).strip().casefold()
    if text in _CODES or text == "-1":  # no answer, where it is far from consecutive numbers that are the answers
        others = [str(other) for other in labels if str(other) != str(label) and not is_ambiguous(other)]
        if len(others) < 2 or not all(re.fullmatch(r"\d{1,4}", other) for other in others):
            return False
        answers, number = sorted(map(int, others)), int(text)
        if answers != list(range(answers[0], answers[0] + len(answers))):
            return False
        return answers[0] == 0 if number == -1 else number < -1 or number > answers[-1] + _FAR
    parts = set(_BETWEEN_ANSWERS.split(text))
    beside = {str(other).strip().casefold() for other in labels}
    if len(parts) > 1 and parts <= beside:
        return True
    if text in ("n", "x"):  # beside A, B, C; but "y" and "n", or "o" and "x", are votes
        return len(labels) > 3 and share < _OFTEN and not {"y", "o"} & beside
    if text == "pass":  # beside yes and no
        answers_beside = {_bare(str(other)) for other in labels if other != label and not is_ambiguous(other)}
        return answers_beside - NO_VOTE_WORDS in _YES_OR_NO
    if text in _MILD_WORDS:
        return share < _OFTEN
    if share < _OFTEN and _NO_ANSWER.match(text):
        return True
    is_answer = text == "failed" and "passed" in beside
    return isinstance(label, str) and not is_answer and (text in AMBIGUOUS_WORDS or text in NO_VOTE_WORDS)


def is_misspelt(text: str, known: str) -> bool:
    """Whether a text is a known label in other case or blanks, with two letters swapped, or with one letter wrong.

    Returns
    -------
    bool

    Examples
    --------
    >>> [is_misspelt(text, "safe") for text in ("Safe ", "sfae", "saef", "saf", "unsafe", "ease")]
    [True, True, True, True, False, False]
    """
    one, other = text.casefold().strip(), known.casefold().strip()
    if one == other:
        return True
    is_longer = one.endswith(other) or other.endswith(one)  # moral and amoral
    if max(len(one), len(other)) < _FEWEST_LETTERS or not (one + other).isalpha() or is_longer:
        return False
    same = next((k for k, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    rest, known_rest = one[same:], other[same:]
    is_swapped = rest[:2] == known_rest[1::-1] and rest[2:] == known_rest[2:]
    return is_swapped or rest[1:] in (known_rest, known_rest[1:]) or rest == known_rest[1:]


def equal_numbers(cells: list[Any]) -> list[Any]:
    """Give each number one spelling, where all labels are numbers and at least two different ones are left.

    Returns
    -------
    list
        The cells; of equal numbers the one without a point, then the shortest.

    Examples
    --------
    >>> equal_numbers(["1", "1.0", "01", "0", None]), equal_numbers(["01", "1"])
    (['1', '1', '1', '0', None], ['01', '1'])
    """
    texts = {cell for cell in cells if isinstance(cell, str) and not is_ambiguous(cell)}
    numbers = {text: float(text) for text in texts if re.fullmatch(r"[-+]?\d{1,15}(\.\d*)?", text)}
    if len(numbers) < len(texts) or not 2 <= len(set(numbers.values())) < len(numbers):
        return cells
    plainest_last = sorted(numbers, key=lambda text: ("." in text, len(text), text), reverse=True)
    plainest = {numbers[text]: text for text in plainest_last}
    return [plainest[numbers[cell]] if isinstance(cell, str) and cell in numbers else cell for cell in cells]
