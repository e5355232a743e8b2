"""The scale of votes: labels without order (nominal), ordered levels (ordinal) or numbers (interval).

Votes come in; they go out on the scale that the caller gave, or on the one that labels and disagreements show, with the
evidence in a line (`Votes.scale_why`) and labels in the order of the scale. Words are ordered by one small table of
meanings. Whole numbers are levels, and not names of classes, where votes that disagree lie near each other:

for each pair of levels, count how often two jurors give them to one item, and how often they would by chance, each
juror by their own frequencies. Names of classes may be near by accident (two breeds of terriers are 0 and 1), so being
near is not enough: no order in which one level stands elsewhere, or some are reversed, may bring disagreeing votes
nearer, and neighbours must be confused with each other at all. Measured in docs/guides/kinds-of-answers.md
(benchmarks/kinds_of_answers.py).

The other parts do what the caller's options ask for: labels recoded (`--map`, `--ignore-case`, `--threshold`, `--bins`;
`Recoding`), the scale that is given (`--scale`), the jurors to read (`--only`, `--drop`), and repeated votes of one
juror collapsed to one vote for each item. Repeats are numbered by a column (`--repeat`), or stand under names that
differ by a number alone and that the caller joins (`--join judge`): `judge_1`, `judge_2`; `gpt-4#1`, `gpt-4#2`;
`judge (run 2)`, `judge-sample-3`. Such names are as often those of different people (`annotator1`, `annotator2`), so
they are never joined unless the caller says so.
"""

from __future__ import annotations

import itertools
import math
import re
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import Floats, single_threaded
from jurors.errors import OptionError, VotesError, format_names, match_name, spell_options
from jurors.options import KnownScale, Label, Reading, text_columns
from jurors.votes.codes import Finding, numerals, ordered_labels
from jurors.votes.layout import Layout
from jurors.votes.layout_detection import WITH_PAIRS
from jurors.votes.table import Votes, count_labels_by_juror, recode_labels, rejoin_votes, with_findings

# -- the test for order -----------------------------------------------------------------------------------------------

_MOST_ROWS = 1 << 16  # evenly spaced; that many show what there is to see
_SURE = 3.0  # standard errors
_NEAR, _NEAR_OF_THREE = 0.97, 0.9  # of chance's distance; three classes are in an order by accident one time in three
_BETTER, _DOUBT = 0.01, 0.5  # by which (and by how many standard errors) a nearer order is evidence against this one
_BRIDGE = 0.4  # of chance: levels less often confused with their neighbours are two islands
_FEWEST_EXPECTED = 5.0  # disagreements between two neighbours
_PRIOR = 5.0  # votes by the frequencies of all jurors that are added to a juror's own

#: far: no nearer than by chance; gap: neighbours are hardly confused; rival: another order is nearer; thin: undecided
OrdinalityVerdict = Literal["ordered", "far", "gap", "rival", "thin"]


@dataclass(frozen=True)
class Closeness:
    """How disagreeing votes lie, for each pair of levels a < b."""

    levels: int
    observed: Floats
    expected: Floats
    spread: Floats  #: of pairs with pairs: the sum over items of what they add to `observed`, times itself

    @property
    def verdict(self) -> OrdinalityVerdict:
        """Whether levels are in an order, or what is evidence against it."""
        if not self.observed.sum() or not self.expected.sum():
            return "thin"
        most = _NEAR_OF_THREE if self.levels == 3 else _NEAR
        distance = _distances(np.arange(self.levels))
        weights, nearness = distance / self._by_chance(distance), self._nearness(distance)
        error = self._error(weights - 1.0)  # the standard error of `nearness`
        if nearness > min(most, 1 - _SURE * error):
            return "thin" if nearness - 2 * error <= _NEAR_OF_THREE else "far"
        next_to = distance == 1
        usual = self.expected[next_to] * self.observed.sum() / self.expected.sum()
        if np.any((usual >= _FEWEST_EXPECTED) & (self.observed[next_to] < _BRIDGE * usual)):
            return "gap"
        for places in _other_orders(self.levels):
            other = _distances(places)
            gain = nearness - self._nearness(other)
            if gain > max(_BETTER, _DOUBT * self._error(weights - other / self._by_chance(other))):
                return "rival"
        return "ordered"

    def _by_chance(self, distance: Floats) -> float:
        return float(self.expected @ distance / self.expected.sum())

    def _nearness(self, distance: Floats) -> float:
        """The mean distance of disagreeing votes, as a share of the distance by chance."""
        return float(self.observed @ distance / self.observed.sum()) / self._by_chance(distance)

    def _error(self, weights: Floats) -> float:
        return math.sqrt(max(float(weights @ self.spread @ weights), 0.0)) / float(self.observed.sum())


def _distances(places: NDArray[Any]) -> Floats:
    """The distance between the levels of each pair a < b."""
    a, b = np.triu_indices(len(places), 1)
    return np.asarray(np.abs(places[a] - places[b]), dtype=float)


def _other_orders(levels: int) -> Iterator[NDArray[np.int64]]:
    """The place of each level, for every order with one level elsewhere, or some consecutive levels reversed."""
    for first, last in itertools.permutations(range(levels), 2):
        rest = [level for level in range(levels) if level != first]
        yield np.argsort([*rest[:last], first, *rest[last:]])
        if 1 < last - first < levels - 1:
            yield np.array([*range(first), *range(last, first - 1, -1), *range(last + 1, levels)])


def closeness(votes: Votes, level_of: NDArray[np.int64]) -> Closeness:
    """Compare the distances of disagreeing votes with those by chance.

    Parameters
    ----------
    votes
        The votes.
    level_of
        The level of each label, from 0.

    Returns
    -------
    Closeness
        Observed and expected disagreements for each pair of levels, in items.

    Examples
    --------
    >>> closeness(Votes.from_matrix([[1, 2, 2], [3, 2, 3], [4, 4, 3], [1, 1, 2]] * 9), np.arange(4)).verdict
    'ordered'
    """
    levels = int(level_of.max()) + 1
    row, juror, code, weight = _sampled(votes)
    level = level_of[code]
    n_votes = np.bincount(row, minlength=len(weight))  # of each item
    shared = np.where(n_votes > 1, weight / np.maximum(n_votes - 1, 1), 0.0)
    counts = np.bincount(juror * levels + level, weight[row], len(votes.jurors) * levels).reshape(-1, levels)
    usual = counts.sum(axis=0) / max(counts.sum(), 1)
    share = (counts + _PRIOR * usual) / (counts.sum(axis=1, keepdims=True) + _PRIOR)
    times = np.bincount(row * levels + level, minlength=len(weight) * levels).reshape(-1, levels).astype(float)
    expected = np.column_stack([np.bincount(row, share[juror, k], len(weight)) for k in range(levels)])
    with_itself = np.bincount(juror, shared[row], len(votes.jurors))
    chance = (expected * shared[:, None]).T @ expected - (share * with_itself[:, None]).T @ share
    a, b = np.triu_indices(levels, 1)
    both = times[:, a] * times[:, b] / np.maximum(n_votes - 1, 1)[:, None]
    with single_threaded():
        spread = (both * weight[:, None]).T @ both
    return Closeness(levels, weight @ both, chance[a, b], spread)


def same_share(votes: Votes) -> float:
    """The share of pairs of votes on one item that are equal.

    >>> same_share(Votes.from_matrix([[1, 2, 2], [3, 3, 3], [4, 2, 1]]))
    0.4444444444444444
    """
    row, _, code, weight = _sampled(votes)
    n_votes = np.bincount(row, minlength=len(weight)).astype(float)
    _, which, times = np.unique(row * len(votes.labels) + code, return_index=True, return_counts=True)
    equal = np.bincount(row[which], times * (times - 1.0), len(weight))
    return float(weight @ equal / max(float(weight @ (n_votes * (n_votes - 1))), 1.0))


def _sampled(votes: Votes) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], Floats]:
    """Row, juror and label of the votes on at most so many rows, and how many items each row stands for."""
    step = max(-(-votes.rows // _MOST_ROWS), 1)
    weight = votes.weights[::step].astype(float)
    if votes.is_dense:
        codes = votes.codes[::step]
        at, who = np.nonzero(codes >= 0)
        return at, who, codes[at, who], weight
    row, juror, code = votes.triples()
    sampled = row % step == 0
    return row[sampled] // step, juror[sampled].astype(np.int64), code[sampled], weight


# -- words that are ordered by what they mean: lowest first, words of one place joined by a bar ------------------------

_SCALES = (
    "strongly disagree|disagree strongly|completely disagree; disagree; somewhat disagree|slightly disagree;"
    "neutral|neither agree nor disagree|neither; somewhat agree|slightly agree; agree;"
    "strongly agree|agree strongly|completely agree",
    "none|no|zero; negligible|trivial; very low|lowest; low; medium low; medium|moderate|mid|middle|average;"
    "medium high; high; very high|highest",
    "none|no issue; trivial|negligible; minor|mild|slight; moderate|medium; major|serious; severe;"
    "critical|extreme|fatal",
    "worst; terrible|awful|unacceptable|very bad|very poor; bad|poor|weak; below average;"
    "fair|average|acceptable|ok|okay|mediocre|adequate|satisfactory; above average; good; very good|great;"
    "excellent|outstanding|perfect|best",
    "never; very rarely; rarely|seldom; occasionally; sometimes; often|frequently; usually|very often|mostly; always",
    "very dissatisfied|very unsatisfied; dissatisfied|unsatisfied; somewhat dissatisfied; neutral|neither;"
    "somewhat satisfied; satisfied; very satisfied",
    "very unlikely|extremely unlikely; unlikely; somewhat unlikely; neutral|possible|neither; somewhat likely; likely;"
    "very likely|extremely likely",
    "very negative|strongly negative; negative; slightly negative|somewhat negative; neutral;"
    "slightly positive|somewhat positive; positive; very positive|strongly positive",
    "irrelevant|not relevant|non relevant|not at all relevant;"
    "marginally relevant|slightly relevant|partially relevant|somewhat relevant; relevant|fairly relevant;"
    "highly relevant|very relevant; perfectly relevant|perfect",
    "incorrect|wrong; mostly incorrect; partially correct|partly correct|partial; mostly correct;"
    "correct|fully correct|completely correct",
    "not met|not satisfied; partially met|partly met; met|fully met; exceeded|exceeds",
    "not at all; slightly|a little|a bit; somewhat; moderately; quite; very; extremely|completely",
    "much worse; worse; slightly worse; same|about the same|equal|similar; slightly better; better; much better",
    "extra small|xs; small|s; medium|m; large|l; extra large|xl",
    "very easy; easy; medium|moderate; hard|difficult; very hard|very difficult",
    "impolite|rude; neutral; polite",
    "unsafe; borderline; safe",
    "beginner|novice; intermediate; advanced; expert",
)
_PLACES = tuple(
    {word.strip(): place for place, words in enumerate(scale.split(";")) for word in words.split("|")}
    for scale in _SCALES
)
_NUMBERED = re.compile(r"\d{1,2}\s*[-–.:)_=]+\s*(?=[a-z])")  #: in "4 - agree"
_COUNTED = re.compile(r"(\d{1,3})\s*(?:(stars?|points?|pts?)|/\s*(\d{1,3})|out of (\d{1,3}))")  #: "4 stars", "4/5"


def word_order(labels: Sequence[Any]) -> tuple[Any, ...] | None:
    """Order labels by their meaning.

    Returns
    -------
    tuple or None
        The labels, the lowest first; None unless all are words of one ordered scale and no two mean the same.

    Examples
    --------
    >>> word_order(["High", "low", "medium"]), word_order(["4 stars", "1 star"]), word_order(["angry", "happy", "sad"])
    (('low', 'medium', 'High'), ('1 star', '4 stars'), None)
    >>> word_order(["1_full_compliance", "2_full_refusal", "3_partial_refusal"])
    """
    if not labels or not all(isinstance(label, str) for label in labels):
        return None
    words = [" ".join(label.casefold().split()) for label in labels]
    points = [match for word in words if (match := _COUNTED.fullmatch(word))]
    if len(points) == len(words) and len({((match[2] or "")[:2], match[3], match[4]) for match in points}) == 1:
        places: list[int] | None = [int(match[1]) for match in points]  # of how many, or of what, in one way
    else:
        bare = [_NUMBERED.sub("", word, count=1).replace("_", " ").replace("-", " ").strip() for word in words]
        places = next(([scale[w] for w in bare] for scale in _PLACES if all(w in scale for w in bare)), None)
    if places is None or len(set(places)) < len(places):
        return None
    return tuple(label for _, label in sorted(zip(places, labels, strict=True), key=lambda pair: pair[0]))


# -- detection --------------------------------------------------------------------------------------------------------

FEWEST_LEVELS = 3  #: two have no order to detect
STREAMS_HAVE_LABELS = "the votes of a stream are labels; `jurors grade FILE` tests whether they are ordered"
_MOST_LEVELS = 11
_FEW_DECIMALS = 5  # 0, 0.5 and 1 are levels; six such numbers are measured
_FEWEST_NUMBERS = 6
_BINS = 8
_SELDOM = 0.3  # share of equal votes: jurors who name classes agree more often
_MOST_NUMBERS = 100_000  # distinct ones that are worth a look at how they disagree

_UNORDERED: dict[OrdinalityVerdict, str] = {
    "far": "whole numbers, but disagreeing votes are no closer than by chance",
    "gap": "whole numbers, but some neighbours hardly ever occur on one item",
    "rival": "whole numbers, but in another order, disagreeing votes would be closer",
    "thin": "whole numbers, and too few votes disagree to show an order",
}


def detect_scale(votes: Votes) -> Votes:
    """Detect the scale of votes.

    Returns
    -------
    Votes
        With the scale that they show, and its labels in order; labels without order stay as they are.

    Examples
    --------
    >>> votes = detect_scale(Votes.from_matrix([["low", "high"], ["medium", "high"]], scale="nominal"))
    >>> votes.scale, votes.labels, votes.scale_why
    ('ordinal', ('low', 'medium', 'high'), 'words of an ordered scale')
    >>> detect_scale(Votes.from_matrix([["cat", "dog"], ["cow", "dog"]])).scale_why
    'the labels are words'
    """
    if len(votes.labels) < FEWEST_LEVELS:
        return _on_scale(votes, "nominal", "two labels" if len(votes.labels) == 2 else "one label")
    if (words := word_order(votes.labels)) is not None:
        why = "words of an ordered scale"
        if not votes.labels_told:
            return _on_scale(votes if votes.labels == words else recode_labels(votes, words), "ordinal", why)
        if votes.labels in (words, words[::-1]):  # as the caller named them, from either end
            return _on_scale(votes, "ordinal", why)
        return _on_scale(votes, "nominal", f"{why}, which are named in another order")
    sizes = _sizes(votes.labels)
    if sizes is None:
        return _on_scale(votes, "nominal", "the labels are words")
    if np.array_equal(sizes, np.rint(sizes)):
        return _on_scale(votes, *_scale_of_integers(votes, sizes))
    if len(sizes) <= _FEW_DECIMALS:
        return _on_scale(votes, "ordinal", f"{len(sizes)} numbers with decimals")
    return _on_scale(votes, "interval", f"{len(sizes):,} numbers with decimals")


def as_labels(votes: Votes) -> Votes:
    """Take the votes of a stream as labels: whether they are in an order may change with the next vote.

    Returns
    -------
    Votes
        On the nominal scale where there is any doubt.
    """
    if len(votes.labels) < FEWEST_LEVELS or (word_order(votes.labels) is None and _sizes(votes.labels) is None):
        return detect_scale(votes)
    return _on_scale(votes, "nominal", STREAMS_HAVE_LABELS)


def _on_scale(votes: Votes, scale: KnownScale, why: str) -> Votes:
    """The votes on this scale; levels that are numbers by size, unless the caller named them in another order."""
    if scale == "ordinal" and (sizes := _sizes(votes.labels)) is not None and np.any(np.diff(sizes) <= 0):
        if votes.labels_told:
            return _on_scale(votes, "nominal", "numbers, which are named in another order than their own")
        votes = recode_labels(votes, tuple(votes.labels[k] for k in np.argsort(sizes)))
    return replace(votes, scale=scale, scale_why=why, scale_told=False)


def _sizes(labels: Sequence[Any]) -> NDArray[np.float64] | None:
    """The labels as numbers, where all are."""
    sizes = numerals(labels).sizes
    return None if None in sizes else np.array(sizes, dtype=np.float64)


def _scale_of_integers(votes: Votes, sizes: NDArray[np.float64]) -> tuple[KnownScale, str]:
    """Whole numbers are levels where few, numbers where many, if disagreeing votes lie near each other.

    The level of a label is its rank or, where there are many labels, which eighth of the votes it is in.
    """
    if np.abs(sizes).max() > 2**53 or len(sizes) > _MOST_NUMBERS:
        return "nominal", "whole numbers too large or too many to be levels"
    wholes = sizes.astype(np.int64)
    step = reduce(math.gcd, (wholes - wholes.min()).tolist())
    are_levels = len(sizes) <= _MOST_LEVELS and (wholes.max() - wholes.min()) // max(step, 1) < _MOST_LEVELS
    if not are_levels and len(sizes) < _FEWEST_NUMBERS:
        return "nominal", "few whole numbers, far apart"
    order = np.argsort(sizes, kind="stable")
    often = count_labels_by_juror(votes).sum(axis=0)[order].astype(float)
    if len(sizes) <= _MOST_LEVELS:  # among those that occur: a level without votes shows nothing
        level = np.asarray(np.maximum(np.cumsum(often > 0) - 1, 0))
    else:
        middle = (np.cumsum(often) - often / 2) / max(often.sum(), 1)
        level = np.unique(np.minimum((middle * _BINS).astype(np.int64), _BINS - 1), return_inverse=True)[1]
    verdict = closeness(votes, level[np.argsort(order, kind="stable")]).verdict
    if verdict == "rival" and not are_levels and same_share(votes) < _SELDOM:
        verdict = "ordered"  # classes rarely have several labels of one meaning; measurements are hardly ever equal
    if verdict != "ordered":
        return "nominal", _UNORDERED[verdict]
    if are_levels:
        return "ordinal", "whole numbers; disagreeing votes lie close together"
    return "interval", f"{len(sizes):,} whole numbers; disagreeing votes lie close together"


# -- recoding ---------------------------------------------------------------------------------------------------------

PASS, FAIL = "pass", "fail"
_BETWEEN = " to "  #: in the name of a level that numbers are put into: "3 to 7"
_DIGITS = (6, 12, 17, 0)  # of the ends between levels: the fewest that hardly change them (0: all there are)
_ROUNDING = Fraction(1, 1000)  # of a level's width, by which rounding may change an end


@dataclass(frozen=True)
class Recoding:
    """How labels are recoded; a key of the same votes is recoded alike.

    Examples
    --------
    >>> Recoding.of(Reading(map={"Y": "yes"}, ignore_case=True)).cells(["Yes", "y", "YES", None])
    ['yes', 'yes', 'yes', None]
    >>> Recoding.of(Reading(map={"n": "no"}, ignore_case=True)).cells(["Maybe", "N", "NO"])
    ['maybe', 'no', 'no']
    >>> Recoding.of(Reading(threshold=0.5)).cells(["0.5", "0.49"])
    ['pass', 'fail']
    >>> Recoding.of(Reading(bins=[0, 3, 10])).cells([0, 3, 10])
    ['0 to 3', '3 to 10', '3 to 10']
    """

    names: Mapping[str, Label] = field(default_factory=dict)  #: what each label is called instead
    ignore_case: bool = False  #: whether labels are in small letters, unless the caller names them otherwise
    threshold: str | None = None
    bins: tuple[str, ...] = ()  #: the ends; a single one: how many
    labels: tuple[Label, ...] = ()  #: as the caller names them

    @classmethod
    def of(cls, options: Reading) -> Recoding:
        """The recoding that the options name."""
        return cls(options.names, options.ignore_case, options.cut, options.ends, tuple(options.labels or ()))

    def __bool__(self) -> bool:
        return bool(self.names or self.ignore_case or self.threshold or self.bins)

    def cells(self, cells: Sequence[Any]) -> list[Any]:
        """Recode clean cells.

        Parameters
        ----------
        cells
            Distinct cells, None for no vote.

        Returns
        -------
        list
            The label of each cell.

        Raises
        ------
        VotesError
            Where a label to rename does not occur, or where a cell is no number and must be one.
        """
        known = sorted({cell for cell in cells if cell is not None}, key=str)
        present = {self._folded(cell) for cell in known}
        for name in self.names:
            if self._folded(name) not in present:
                match_name(name, known, "label to rename (map=)")
        left = self._renamed(cells)
        if self.names and len({isinstance(cell, str) for cell in left if cell is not None}) > 1:
            left = [None if cell is None else str(cell) for cell in left]
        return self._of_numbers(left)

    def check_streams(self) -> None:
        """OptionError where this can be done only once all votes are there."""
        if len(self.bins) == 1:
            message = f"bins={self.bins[0]} needs all votes at once, but those of a stream come one by one"
            raise OptionError(f"{message}: say bins= with the ends (0,3,7,10)", code="does_not_apply")

    def one(self, label: Any) -> Any:
        """Recode a single vote of a stream, whose other labels are not known yet."""
        return self._of_numbers(self._renamed([label]), self.bins)[0]

    def key(self, truths: Sequence[Any], labels: Sequence[Label]) -> list[Any]:
        """Recode the labels of an answer key of votes with these labels; numbers as the votes' numbers were."""
        left = self._renamed(truths)
        if self.ignore_case:
            given = {self._folded(label): label for label in labels}
            left = [truth if truth is None else given.get(self._folded(truth), truth) for truth in left]
        if {str(truth) for truth in left if truth is not None} <= set(map(str, labels)):
            return left
        ends = self.bins
        if len(ends) == 1:  # so many between the ends of the votes, which the names of the levels hold
            ends = tuple(dict.fromkeys(end for label in bin_order(labels) for end in str(label).split(_BETWEEN)))
        return self._of_numbers(left, ends)

    def _renamed(self, cells: Sequence[Any]) -> list[Any]:
        names = {self._folded(name): label for name, label in self.names.items()}
        renamed = [None if cell is None else names.get(self._folded(cell), cell) for cell in cells]
        if not self.ignore_case:
            return renamed
        given = {self._folded(label): label for label in (*self.labels, *self.names.values())}
        return [given.get(self._folded(cell), cell.casefold()) if isinstance(cell, str) else cell for cell in renamed]

    def _folded(self, name: Any) -> str:
        return str(name).casefold() if self.ignore_case else str(name)

    def _ends(self, numbers: Sequence[Fraction]) -> tuple[str, ...]:
        """The ends of the levels, as text; of levels of equal width where only their number is given."""
        if len(self.bins) != 1 or not numbers:
            return self.bins
        low, high, many = min(numbers), max(numbers), int(float(self.bins[0]))
        if low == high:
            raise VotesError(f"all numbers are {_shown(low)}, of which no {many} levels can be made (bins=)")
        width = (high - low) / many
        edges = [low + width * k for k in range(1, many)]
        inner: list[str] = []
        for digits in _DIGITS:
            inner = [f"{float(edge):.{digits}g}" if digits else str(edge) for edge in edges]
            if all(abs(Fraction(text) - edge) <= _ROUNDING * width for text, edge in zip(inner, edges, strict=True)):
                break
        return (_shown(low), *inner, _shown(high))

    def _of_numbers(self, cells: Sequence[Any], ends: Sequence[str] | None = None) -> list[Any]:
        """Numbers as pass and fail, or as levels with these ends (by default those of `bins`); VotesError names others.

        The cells as they are where neither is wanted.
        """
        if self.threshold is None and not self.bins:
            return list(cells)
        filled = [cell for cell in cells if cell is not None]
        read = numerals(filled)
        if read.doubt:
            raise VotesError(read.doubt, code="two_readings")
        if odd := [cell for cell, text in zip(filled, read.texts, strict=True) if text is None]:
            option = "threshold=" if self.threshold else "bins="
            shown = format_names(map(repr, sorted(dict.fromkeys(odd), key=str)), 4)
            raise VotesError(f"{option} takes numbers, found {shown}; leave out what is not a vote (missing=)")
        numbers = [Fraction(text or "0") for text in read.texts]
        names = self._ends(numbers) if ends is None else ends
        edges = [Fraction(end) for end in names]

        def label(number: Fraction) -> str:
            if self.threshold is not None:
                return PASS if number >= Fraction(self.threshold) else FAIL
            if not edges[0] <= number <= edges[-1]:
                raise VotesError(f"{_shown(number)} lies outside the levels from {names[0]} to {names[-1]} (bins=)")
            place = max(k for k, edge in enumerate(edges[:-1]) if number >= edge)
            return f"{names[place]}{_BETWEEN}{names[place + 1]}"

        labels = map(label, numbers)
        return [None if cell is None else next(labels) for cell in cells]


def bin_order(labels: Sequence[Label]) -> tuple[Label, ...]:
    """Sort the names of levels that numbers were put into.

    Returns
    -------
    tuple
        The lowest first.

    Examples
    --------
    >>> bin_order(["10 to 20", "3 to 10"])
    ('3 to 10', '10 to 20')
    """
    return tuple(sorted(labels, key=lambda label: Fraction(str(label).split(_BETWEEN)[0])))


def _shown(number: Fraction) -> str:
    decimal = str(number.numerator) if number.denominator == 1 else repr(float(number))
    return decimal if Fraction(decimal) == number else str(number)


# -- the caller's scale -----------------------------------------------------------------------------------------------


def apply_scale(votes: Votes, options: Reading) -> Votes:
    """Put votes on the scale that the caller gave, or that they show.

    Returns
    -------
    Votes
        With labels in the order of the scale.

    Raises
    ------
    VotesError
        Where the labels cannot be on this scale.

    Examples
    --------
    >>> apply_scale(Votes.from_matrix([[3, 1]]), Reading(scale="ordinal")).scale
    'ordinal'
    """
    if recoding := Recoding.of(options):
        votes = replace(votes, rewriting=recoding)
    if recoding.bins and options.labels is None:
        votes = recode_labels(votes, bin_order(votes.labels))
    scale = options.scale
    if scale == "auto" and (recoding.threshold is not None or recoding.bins):  # what was made of numbers
        cut = recoding.threshold
        why = f"as you specified (threshold={cut}): numbers from {cut} on are {PASS}, smaller ones {FAIL}"
        if cut is None:
            levels = format_names(votes.labels, 12)
            why = f"as you specified (bins=): numbers are put into {levels}, each with its lower end"
        why = spell_options(why)
        made: KnownScale = "ordinal" if cut is None and len(votes.labels) >= FEWEST_LEVELS else "nominal"
        findings = (*votes.findings, Finding("scale", why))
        return replace(votes, scale=made, scale_why=why, scale_told=True, findings=findings)
    if scale == "auto":
        return votes if votes.scale_told else detect_scale(votes)
    if scale == "pairs":
        raise OptionError(f"preferences (scale='pairs') are not labels: {WITH_PAIRS}", code="does_not_apply")
    if scale == "ordinal" and options.labels is None and not recoding.bins:
        if (labels := _by_size(votes.labels)) is None:
            shown = format_names(votes.labels, 8)
            message = f"the order of the labels {shown} is not known; name them all, the lowest first, with labels="
            raise VotesError(f"{message}{','.join(map(str, votes.labels))!r}" if len(votes.labels) < 9 else message)
        votes = votes if labels == votes.labels else recode_labels(votes, labels)
    if scale == "interval":
        texts = numerals(votes.labels).texts
        if odd := [label for label, text in zip(votes.labels, texts, strict=True) if text is None]:
            message = f"votes on the scale 'interval' are numbers, found {format_names(map(repr, odd), 4)}"
            raise VotesError(f"{message}; leave out what is not a vote (missing=), or say scale='nominal'")
    return replace(votes, scale=scale, scale_why=spell_options(f"as you specified (scale={scale!r})"), scale_told=True)


def recode_votes(votes: Votes, options: Reading) -> Votes:
    """Recode the labels of votes that are read already as the caller wants.

    Returns
    -------
    Votes
        With the scale not examined yet; the very same votes where no option recodes labels.

    Examples
    --------
    >>> recode_votes(Votes.from_matrix([[0.2, 0.5, 0.9]]), Reading(threshold=0.5)).codes.tolist()
    [[0, 1, 1]]
    """
    recoding = Recoding.of(options)
    if not recoding:
        return votes
    often = count_labels_by_juror(votes).sum(axis=0)
    values = recoding.cells(votes.labels)
    used = [value for value, count in zip(values, often.tolist(), strict=True) if count or votes.labels_told]
    recoded = recode_labels(votes, ordered_labels(used), [value if value in used else None for value in values])
    return replace(recoded, scale="nominal", scale_why="", scale_told=False)


def extend_labels(votes: Votes, more: Sequence[Label]) -> tuple[Label, ...]:
    """Add labels that have no votes.

    Returns
    -------
    tuple
        All labels, in order.

    Raises
    ------
    VotesError
        Where the place of a new label among ordered levels is not known.

    Examples
    --------
    >>> extend_labels(Votes.from_matrix([["low", "high"], ["mid", "low"]]), ["very high"])
    ('low', 'mid', 'high', 'very high')
    """
    labels = [*votes.labels, *more]
    if not votes.is_ordinal:
        return ordered_labels(labels)
    if (numbers := _by_size(labels)) is not None:
        return numbers
    words = bin_order(labels) if votes.rewriting is not None and votes.rewriting.bins else word_order(labels)
    for order in () if words is None else (words, words[::-1]):
        if tuple(label for label in order if label in votes.labels) == votes.labels:
            return order
    new, levels = format_names(map(repr, more), 4), format_names(votes.labels, 8)
    message = f"nobody votes {new}, and its place among the levels {levels} is not known"
    raise VotesError(f"{message}; name all levels, the lowest first, with labels=")


def _by_size(labels: Sequence[Label]) -> tuple[Label, ...] | None:
    """Labels that are numbers, the lowest first; None where one is not."""
    sizes: dict[Label, Any] = dict(zip(labels, numerals(labels).sizes, strict=True))
    if len({letter for label in labels for letter in str(label)}) == 1:  # stars
        sizes = {label: len(str(label)) for label in labels}
    if None in sizes.values():
        return None
    return tuple(sorted(sizes, key=lambda label: (sizes[label], str(label))))


# -- which jurors are read: all of them, only some (`--only`), or all but some (`--drop`) ------------------------------

#: the options that apply to votes that are read already, too
SELECTION_OPTIONS = ("only", "drop", "join", "map", "ignore_case", "threshold", "bins")


def selects_jurors(options: Reading) -> bool:
    """Whether the caller selects the jurors to read."""
    return bool(text_columns(options.only) or text_columns(options.drop))


def select_jurors(jurors: Sequence[Any], options: Reading) -> list[int]:
    """Select the jurors to read.

    Returns
    -------
    list of int
        Their positions, in order.

    Raises
    ------
    VotesError
        With the nearest name of an unknown juror, or where no juror is left.

    Examples
    --------
    >>> names = ["ann", "bob", "cy"]
    >>> select_jurors(names, Reading(only=["cy", "ann"])), select_jurors(names, Reading(drop="bob,ann"))
    ([0, 2], [2])
    """
    only, drop = (
        {
            match_name(name, jurors, "juror")
            for text in texts
            for name in ([text] if text in jurors else text.split(","))
        }
        for texts in map(text_columns, (options.only, options.drop))
    )
    selected = [k for k, name in enumerate(jurors) if (not only or name in only) and name not in drop]
    if not selected:
        raise VotesError(f"only= and drop= leave none of the jurors {format_names(jurors, 12)}")
    return selected


def select_columns(layout: Layout, names: Sequence[str], options: Reading) -> Layout:
    """The layout with the selected jurors' columns alone; of one vote per row, jurors are selected by rows.

    Returns
    -------
    Layout
    """
    if layout.kind == "long" or not selects_jurors(options):
        return layout
    selected = select_jurors([names[k] for k in layout.votes], options)
    return replace(layout, votes=tuple(layout.votes[k] for k in selected))


def select_votes(votes: Votes, options: Reading) -> Votes:
    """Select the votes of some jurors.

    Returns
    -------
    Votes
        With the labels that these jurors use (all labels, where the caller named them).

    Examples
    --------
    >>> votes = Votes.from_matrix([["yes", "no", "unsure"], ["no", "no", "no"]], jurors=["ann", "bob", "cy"])
    >>> select_votes(votes, Reading(drop=["cy"]))
    Votes(2 items, 2 jurors, 4 votes, labels no, yes)
    """
    if not selects_jurors(options):
        return votes
    taken = votes.take([votes.jurors[k] for k in select_jurors(votes.jurors, options)])
    return taken if votes.labels_told else drop_unused_labels(taken)


def drop_unused_labels(votes: Votes, also: np.ndarray[Any, Any] | None = None) -> Votes:
    """Drop the labels without votes.

    Parameters
    ----------
    also
        Codes of labels that stay, such as those of a key.

    Returns
    -------
    Votes
        The very same where every label is used.
    """
    codes = votes.codes if votes.is_dense else votes.triples()[2]
    given = codes.ravel() if also is None else np.concatenate([codes.ravel(), also.ravel()])
    used = np.flatnonzero(np.bincount(given[given >= 0])).tolist()
    if len(used) == len(votes.labels):
        return votes
    values = [a if k in set(used) else None for k, a in enumerate(votes.labels)]
    return recode_labels(votes, tuple(votes.labels[k] for k in used), values)


# -- repeated votes of one juror, collapsed to one vote for each item --------------------------------------------------

# Words that mean "once more" before a number. Not among them: "version", "v", "prompt", "temperature", "fold" (another
# judge may stand behind each), "round" and "part" (other items), "no", "number", "id" (names, not repeats).
REPEAT_WORDS = (
    "run|epoch|sample|seed|try|trial|attempt|repeat|repetition|rep|replicate|replica|pass|iteration|iter|draw|redo"
)
_MOST_DIGITS = 6
_MARKS = f"{string.whitespace}_-/.:,|#@=(["  # between a name and its number
_MARK = r"\s_\-/.:,|#@=(\["  # the same in a regular expression
_LETTER = re.compile(r"[^\W\d]")
_AGAIN = re.compile(rf"^(?P<base>.*?[^{_MARK}])[{_MARK}]*\b(?:{REPEAT_WORDS})$", re.IGNORECASE | re.DOTALL)


def stem_and_number(name: str) -> tuple[str, int] | None:
    """Split a name that ends in a number.

    Returns
    -------
    tuple or None
        What stands before the number, and the number; None for any other name.

    Examples
    --------
    >>> stem_and_number("judge_1"), stem_and_number("claude (run 3)"), stem_and_number("ann")
    (('judge', 1), ('claude (run', 3), None)
    """
    text = name.strip()
    text = text[:-1].rstrip() if text[-1:] in (")", "]") else text
    before = text.rstrip(string.digits)
    number = text[len(before) :][-_MOST_DIGITS:]
    if not number:
        return None
    stem = text[: -len(number)].rstrip(_MARKS)
    return (stem, int(number)) if _LETTER.search(stem) else None


def called(name: str) -> list[str]:
    """The jurors that a name may be a repetition of.

    Returns
    -------
    list of str
        The likeliest first: the name without "run" and the like, and without its number; empty for other names.

    Examples
    --------
    >>> called("claude (run 3)"), called("judge_1"), called("gpt-4")
    (['claude', 'claude (run'], ['judge'], ['gpt'])
    """
    if (split := stem_and_number(name)) is None:
        return []
    stem = split[0]
    shorter = _AGAIN.match(stem.replace("_", " "))
    return [*([stem[: shorter.end("base")]] if shorter else []), stem]


def families(jurors: Sequence[str], names: Iterable[str]) -> dict[str, list[int]]:
    """Find the jurors of each name, with a number after it or without.

    Returns
    -------
    dict
        The jurors' positions by name; a juror who has two of the names is listed once.

    Examples
    --------
    >>> families(["judge_1", "ann", "judge_2"], ["judge"])
    {'judge': [0, 2]}
    """
    bases = [{_folded(base) for base in (juror, *called(juror))} for juror in jurors]
    groups: dict[str, list[int]] = {}
    taken: set[int] = set()
    for name in names:
        called_so = [k for k, names_of_juror in enumerate(bases) if _folded(name) in names_of_juror]
        if not called_so:
            known = sorted({base for juror in jurors for base in called(juror)[:1]})
            if not known:
                raise VotesError(f"join={name!r}: no juror has a name that ends in a number, as repetitions have")
            match_name(name, known, "juror with numbers after its name")  # which raises: there is none
        if members := [k for k in called_so if k not in taken]:
            groups[name] = members
            taken |= set(members)
    return groups


def common_stem(jurors: Sequence[str]) -> str | None:
    """The name that joins all of these jurors.

    Returns
    -------
    str or None
        None where there is none.

    Examples
    --------
    >>> common_stem(["gpt-4 (run 1)", "gpt-4 (run 2)"]), common_stem(["gpt", "gpt #2"]), common_stem(["ann", "bob"])
    ('gpt-4', 'gpt', None)
    """
    stem = next((base for name in jurors for base in called(name)), None)
    return stem if stem is not None and all(_folded(stem) in map(_folded, (n, *called(n))) for n in jurors) else None


def _folded(name: str) -> str:
    return re.sub(r"[\s_\-]+", " ", name.strip()).casefold()


def _with_note_of_repeats(votes: Votes) -> Votes:
    """With a note of the jurors who voted several times on an item, how often, and what their vote is."""
    if (repeats := votes.repeats) is None:
        return votes
    items = np.bincount(repeats.juror, repeats.items, len(votes.jurors)).astype(int)
    who = [votes.jurors[k] for k in np.flatnonzero(items)]
    times = repeats.times()
    often = f"{times.min()}" if times.min() == times.max() else f"{times.min()} to {times.max()}"
    levels = len(votes.labels) if votes.is_ordinal else None
    ties = int(repeats.items[repeats.one_vote(levels) < 0].sum())
    tied = f"; ties count as missing votes ({ties:,})" if ties and not votes.is_interval else ""
    middle = {"ordinal": "whose vote is the median", "interval": "whose number is the mean"}
    how = middle.get(votes.scale, "whose vote is the most common answer")
    most = f"{items.max():,} items"
    where = f"{most}: one juror" if len(who) == 1 else f"up to {most} each: one juror each"
    message = f"{format_names(map(repr, who), 4)} answered {often} times on {where}, {how}{tied}"
    return with_findings(votes, [Finding("repeats", message, tuple(who), value=float(times.max()))])


def collapse_repeats(votes: Votes, options: Reading) -> Votes:
    """Collapse repeated votes, also those of the jurors that the caller joins.

    Returns
    -------
    Votes
        One vote per juror and item, with a note of the jurors who have repeats.
    """
    if text_columns(options.join):
        return merge_numbered_jurors(votes, options.join)
    if votes.repeats is not None and votes.is_ordinal:  # by the median, now that there is an order
        votes = rejoin_votes(votes, votes.jurors, np.arange(len(votes.jurors)))
    return _with_note_of_repeats(votes)


def merge_numbered_jurors(votes: Votes, names: Sequence[str]) -> Votes:
    """Make one juror of jurors whose names differ by a number alone.

    Parameters
    ----------
    names
        The names without the number.

    Returns
    -------
    Votes
        With one juror for each of the names; the answers are in `repeats`.

    Examples
    --------
    >>> rows = [["a", "a", "b", "a"], ["b", "a", "b", "a"]]
    >>> votes = Votes.from_matrix(rows, jurors=("judge_1", "judge_2", "judge_3", "ann"))
    >>> votes = merge_numbered_jurors(votes, ["judge"])
    >>> votes.jurors, votes.codes.tolist(), votes.repeats.answers.tolist()
    (('judge', 'ann'), [[0, 0], [1, 0]], [[0, 0, 1], [0, 1, 1]])
    """
    if not (named := text_columns(names)):
        return votes
    called = list(votes.jurors)
    home = np.arange(len(called))
    for name, members in families(votes.jurors, named).items():
        home[members] = members[0]
        called[members[0]] = name
    homes, place = np.unique(home, return_inverse=True)
    return _with_note_of_repeats(rejoin_votes(votes, tuple(called[k] for k in homes), place))
