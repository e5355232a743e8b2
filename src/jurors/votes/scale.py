"""Nominal / ordinal / interval: detect and apply."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import Floats, single_threaded
from jurors.errors import OptionError, VotesError, format_names, match_name
from jurors.options import KnownScale, Label, Reading, text_columns
from jurors.votes.codes import Finding, ordered_labels
from jurors.votes.detect import WITH_PAIRS
from jurors.votes.layout import Layout
from jurors.votes.recode import FAIL, PASS, Recoding, bin_order, numerals
from jurors.votes.table import Votes, count_labels_by_juror, recode_labels

# Whether votes that disagree lie near each other: what shows that whole numbers are levels, and not names of classes.
#
# For each pair of levels: how often two jurors say them of one item, and how often they would by chance, each juror by
# their own frequencies. Names of classes may be near by accident (two breeds of terriers are 0 and 1), so that being
# near is not enough: no order in which one level stands elsewhere, or some are turned round, may bring disagreeing
# votes nearer, and neighbours must be taken for each other at all. Measured in docs/guides/kinds-of-answers.md
# (benchmarks/kinds_of_answers.py).


_MOST_ROWS = 1 << 16  # evenly spaced; that many show what there is to see
_SURE = 3.0  # standard errors
_NEAR, _NEAR_OF_THREE = 0.97, 0.9  # of chance's distance; three classes are in an order by accident one time in three
_BETTER, _DOUBT = 0.01, 0.5  # by which (and by how many standard errors) a nearer order speaks against this one
_BRIDGE = 0.4  # of chance: levels less often taken for their neighbours are two islands
_FEWEST_MET = 5.0
_PRIOR = 5.0  # votes by everybody's frequencies that a juror's own begin with

#: far: no nearer than by chance; gap: neighbours hardly meet; rival: another order is nearer; thin: nobody can tell
OrdinalityVerdict = Literal["ordered", "far", "gap", "rival", "thin"]


@dataclass(frozen=True)
class Closeness:
    """How disagreeing votes lie, for each pair of levels a < b."""

    levels: int
    observed: Floats
    expected: Floats
    spread: Floats  #: of pairs with pairs: the sum over items of what they add to `observed`, times itself

    @property
    def nearness(self) -> float:
        """How far apart disagreeing votes lie, as a share of how far chance would put them."""
        return self._nearness(_distances(np.arange(self.levels)))

    @property
    def error(self) -> float:
        """The standard error of `nearness`."""
        distance = _distances(np.arange(self.levels))
        return self._error(distance / self._by_chance(distance) - 1.0)

    @property
    def verdict(self) -> OrdinalityVerdict:
        """Whether levels are in an order, or what speaks against it."""
        if not self.observed.sum() or not self.expected.sum():
            return "thin"
        most = _NEAR_OF_THREE if self.levels == 3 else _NEAR
        if self.nearness > min(most, 1 - _SURE * self.error):
            return "thin" if self.nearness - 2 * self.error <= _NEAR_OF_THREE else "far"
        return "gap" if self._has_gap() else "rival" if self._has_rival() else "ordered"

    def _by_chance(self, distance: Floats) -> float:
        return float(self.expected @ distance / self.expected.sum())

    def _nearness(self, distance: Floats) -> float:
        return float(self.observed @ distance / self.observed.sum()) / self._by_chance(distance)

    def _error(self, weights: Floats) -> float:
        return math.sqrt(max(float(weights @ self.spread @ weights), 0.0)) / float(self.observed.sum())

    def _has_gap(self) -> bool:
        """Whether two neighbours are far less often taken for each other than chance would have it."""
        next_to = _distances(np.arange(self.levels)) == 1
        usual = self.expected[next_to] * self.observed.sum() / self.expected.sum()
        return bool(np.any((usual >= _FEWEST_MET) & (self.observed[next_to] < _BRIDGE * usual)))

    def _has_rival(self) -> bool:
        """Whether another order brings disagreeing votes nearer."""
        own = _distances(np.arange(self.levels))
        for places in _moves(self.levels):
            other = _distances(places)
            gain = self.nearness - self._nearness(other)
            error = self._error(own / self._by_chance(own) - other / self._by_chance(other))
            if gain > max(_BETTER, _DOUBT * error):
                return True
        return False


def _distances(places: NDArray[Any]) -> Floats:
    """How far apart the levels of each pair a < b stand."""
    a, b = np.triu_indices(len(places), 1)
    return np.asarray(np.abs(places[a] - places[b]), dtype=float)


def _moves(levels: int) -> Iterator[NDArray[np.int64]]:
    """The place of each level, for every order with one level moved, or some levels in a row turned round."""
    for first, last in itertools.permutations(range(levels), 2):
        rest = [level for level in range(levels) if level != first]
        yield np.argsort([*rest[:last], first, *rest[last:]])
        if 1 < last - first < levels - 1:
            yield np.array([*range(first), *range(last, first - 1, -1), *range(last + 1, levels)])


def closeness(votes: Votes, level_of: NDArray[np.int64]) -> Closeness:
    """How disagreeing votes lie, `level_of` being the level of each label.

    >>> near = closeness(Votes.from_matrix([[1, 2, 2], [3, 2, 3], [4, 4, 3], [1, 1, 2]] * 9), np.arange(4))
    >>> round(near.nearness, 2), near.verdict
    (0.67, 'ordered')
    """
    levels = int(level_of.max()) + 1
    row, juror, code, weight = _sampled(votes)
    level = level_of[code]
    heard = np.bincount(row, minlength=len(weight))
    shared = np.where(heard > 1, weight / np.maximum(heard - 1, 1), 0.0)
    said = np.bincount(juror * levels + level, weight[row], len(votes.jurors) * levels).reshape(-1, levels)
    usual = said.sum(axis=0) / max(said.sum(), 1)
    share = (said + _PRIOR * usual) / (said.sum(axis=1, keepdims=True) + _PRIOR)
    times = np.bincount(row * levels + level, minlength=len(weight) * levels).reshape(-1, levels).astype(float)
    met = np.column_stack([np.bincount(row, share[juror, k], len(weight)) for k in range(levels)])
    alone = np.bincount(juror, shared[row], len(votes.jurors))
    chance = (met * shared[:, None]).T @ met - (share * alone[:, None]).T @ share
    a, b = np.triu_indices(levels, 1)
    both = times[:, a] * times[:, b] / np.maximum(heard - 1, 1)[:, None]
    with single_threaded():
        spread = (both * weight[:, None]).T @ both
    return Closeness(levels, weight @ both, chance[a, b], spread)


def same_share(votes: Votes) -> float:
    """Of two jurors who answer about one item, how many say exactly the same.

    >>> same_share(Votes.from_matrix([[1, 2, 2], [3, 3, 3], [4, 2, 1]]))
    0.4444444444444444
    """
    row, _, code, weight = _sampled(votes)
    heard = np.bincount(row, minlength=len(weight)).astype(float)
    _, which, times = np.unique(row * len(votes.labels) + code, return_index=True, return_counts=True)
    alike = np.bincount(row[which], times * (times - 1.0), len(weight))
    return float(weight @ alike / max(float(weight @ (heard * (heard - 1))), 1.0))


def _sampled(votes: Votes) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], Floats]:
    """Row, juror and label of the votes on at most so many rows, and how many items each row stands for."""
    step = -(-votes.rows // _MOST_ROWS)
    which = np.arange(0, votes.rows, max(step, 1))
    weight = np.ones(len(which)) if votes.counts is None else votes.counts[which].astype(float)
    if votes.is_dense:
        codes = votes.codes[which]
        at, who = np.nonzero(codes >= 0)
        return at, who, codes[at, who], weight
    row, juror, code = votes.triples()
    kept = row % max(step, 1) == 0
    return row[kept] // max(step, 1), juror[kept].astype(np.int64), code[kept], weight


# Words that stand in an order by what they mean: one small table, lowest first, words of one place joined by a bar.


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
_STARS = re.compile(r"([★*]+)☆*")


def word_order(labels: Sequence[Any]) -> tuple[Any, ...] | None:
    """The labels lowest first, where all of them are words of one ordered scale and no two mean the same.

    >>> word_order(["High", "low", "medium"]), word_order(["4 stars", "1 star"]), word_order(["angry", "happy", "sad"])
    (('low', 'medium', 'High'), ('1 star', '4 stars'), None)
    >>> word_order(["1_full_compliance", "2_full_refusal", "3_partial_refusal"])
    """
    if not labels or not all(isinstance(label, str) for label in labels):
        return None
    words = [" ".join(label.casefold().split()) for label in labels]
    places = _counted(words) or _by_meaning(words)
    if places is None or len(set(places)) < len(places):
        return None
    return tuple(label for _, label in sorted(zip(places, labels, strict=True), key=lambda pair: pair[0]))


def _by_meaning(words: Sequence[str]) -> list[int] | None:
    bare = [_NUMBERED.sub("", word, count=1).replace("_", " ").replace("-", " ").strip() for word in words]
    return next(([scale[w] for w in bare] for scale in _PLACES if all(w in scale for w in bare)), None)


def _counted(words: Sequence[str]) -> list[int] | None:
    """How many stars or points of how many each word says, where all say it in one way."""
    if all(stars := [_STARS.fullmatch(word) for word in words]):
        return [len(one[1]) for one in stars if one]
    found = [_COUNTED.fullmatch(word) for word in words]
    said = [one for one in found if one]
    if len(said) < len(words) or len({((one[2] or "")[:2], one[3], one[4]) for one in said}) > 1:
        return None
    return [int(one[1]) for one in said]


# What kind of answers votes are, by what their labels are called and how they disagree; and by what that is known.


FEWEST_LEVELS = 3  #: two have no order to speak of
STREAMS_HAVE_LABELS = "the votes of a stream are labels; `jurors grade FILE` looks whether they are in an order"
_MOST_LEVELS = 11
_FEW_DECIMALS = 5  # 0, 0.5 and 1 are levels; six such numbers are measured
_FEWEST_NUMBERS = 6
_BINS = 8
_SELDOM = 0.3  # of two jurors' answers that are the same: those who name classes agree more often
_MOST_NUMBERS = 100_000  # distinct ones that are worth a look at how they disagree

_UNORDERED: dict[OrdinalityVerdict, str] = {
    "far": "whole numbers, but disagreeing votes lie no nearer than by chance",
    "gap": "whole numbers, but some neighbours are hardly ever said of one item",
    "rival": "whole numbers, but in another order disagreeing votes would lie nearer",
    "thin": "whole numbers, and too few votes disagree to show an order",
}


def detect_scale(votes: Votes) -> Votes:
    """The votes with the scale that they show; labels without order stay as they are.

    Examples
    --------
    >>> votes = detect_scale(Votes.from_matrix([["low", "high"], ["medium", "high"]], scale="nominal"))
    >>> votes.scale, votes.labels, votes.scale_why
    ('ordinal', ('low', 'medium', 'high'), 'words of an ordered scale')
    >>> detect_scale(Votes.from_matrix([["cat", "dog"], ["cow", "dog"]])).scale_why
    'the labels are words'
    """
    if len(votes.labels) < FEWEST_LEVELS:
        return _on(votes, "nominal", "two labels" if len(votes.labels) == 2 else "one label")
    if (words := word_order(votes.labels)) is not None:
        return _on_words(votes, words)
    sizes = _sizes(votes.labels)
    if sizes is None:
        return _on(votes, "nominal", "the labels are words")
    if np.array_equal(sizes, np.rint(sizes)):
        return _on(votes, *_whole_numbers(votes, sizes))
    if len(sizes) <= _FEW_DECIMALS:
        return _on(votes, "ordinal", f"{len(sizes)} numbers with decimals")
    return _on(votes, "interval", f"{len(sizes):,} numbers with decimals")


def as_labels(votes: Votes) -> Votes:
    """The votes of a stream, which are labels: whether they are in an order may change with the next vote."""
    if len(votes.labels) < FEWEST_LEVELS or (word_order(votes.labels) is None and _sizes(votes.labels) is None):
        return detect_scale(votes)
    return _on(votes, "nominal", STREAMS_HAVE_LABELS)


def _on(votes: Votes, scale: KnownScale, why: str) -> Votes:
    if scale == "ordinal" and (sizes := _sizes(votes.labels)) is not None and np.any(np.diff(sizes) <= 0):
        if votes.labels_told:
            return _on(votes, "nominal", "numbers, which are named in another order than their own")
        votes = recode_labels(votes, tuple(votes.labels[k] for k in np.argsort(sizes)))
    return replace(votes, scale=scale, scale_why=why, scale_told=False)


def _on_words(votes: Votes, words: tuple[Label, ...]) -> Votes:
    """Ordered words, lowest first; where the caller named the labels, as named, from either end."""
    why = "words of an ordered scale"
    if not votes.labels_told:
        return _on(votes if votes.labels == words else recode_labels(votes, words), "ordinal", why)
    if votes.labels in (words, words[::-1]):
        return _on(votes, "ordinal", why)
    return _on(votes, "nominal", f"{why}, which are named in another order")


def _sizes(labels: Sequence[Any]) -> NDArray[np.float64] | None:
    """The labels as numbers, where all are."""
    sizes = numerals(labels).sizes
    return None if None in sizes else np.array(sizes, dtype=np.float64)


def _whole_numbers(votes: Votes, sizes: NDArray[np.float64]) -> tuple[KnownScale, str]:
    """Whole numbers are levels where few, numbers where many, if disagreeing votes lie near each other."""
    if np.abs(sizes).max() > 2**53 or len(sizes) > _MOST_NUMBERS:
        return "nominal", "whole numbers too large or too many to be levels"
    wholes = sizes.astype(np.int64)
    step = reduce(math.gcd, (wholes - wholes.min()).tolist())
    are_levels = len(sizes) <= _MOST_LEVELS and (wholes.max() - wholes.min()) // max(step, 1) < _MOST_LEVELS
    if not are_levels and len(sizes) < _FEWEST_NUMBERS:
        return "nominal", "few whole numbers, far apart"
    verdict = closeness(votes, _level_of(votes, sizes)).verdict
    if verdict == "rival" and not are_levels and same_share(votes) < _SELDOM:
        verdict = "ordered"  # few answers to a class differ and mean the same; measured ones hardly ever meet
    if verdict != "ordered":
        return "nominal", _UNORDERED[verdict]
    if are_levels:
        return "ordinal", "whole numbers; disagreeing votes lie close together"
    return "interval", f"{len(sizes):,} whole numbers; disagreeing votes lie close together"


def _level_of(votes: Votes, sizes: NDArray[np.float64]) -> NDArray[np.int64]:
    """The level of each label: its rank, or where there are many labels, which eighth of the votes it is in."""
    order = np.argsort(sizes, kind="stable")
    rank = np.argsort(order, kind="stable")
    often = count_labels_by_juror(votes).sum(axis=0)[order].astype(float)
    if len(sizes) <= _MOST_LEVELS:  # among those that are said: a level that nobody says shows nothing
        return np.asarray(np.maximum(np.cumsum(often > 0) - 1, 0))[rank]
    middle = (np.cumsum(often) - often / 2) / max(often.sum(), 1)
    eighth = np.minimum((middle * _BINS).astype(np.int64), _BINS - 1)
    _, level = np.unique(eighth, return_inverse=True)
    return np.asarray(level)[rank]


# Votes with their scale: the one that the caller gave, else the one that they show; labels stand in its order.


_SAID = "as you say (--scale {})"


def apply_scale(votes: Votes, options: Reading) -> Votes:
    """The votes on the scale that was asked for, or that they show; VotesError where they cannot be on it.

    >>> apply_scale(Votes.from_matrix([[3, 1]]), Reading(scale="ordinal")).scale
    'ordinal'
    """
    if rewriting := Recoding.of(options):
        votes = replace(votes, rewriting=rewriting)
    if rewriting.bins and options.labels is None:
        votes = recode_labels(votes, bin_order(votes.labels))
    if options.scale == "auto" and (made := _made(rewriting, votes.labels)) is not None:
        return replace(
            votes, scale=made.scale, scale_why=made.why, scale_told=True, findings=(*votes.findings, made.said)
        )
    if options.scale == "auto":
        return votes if votes.scale_told else detect_scale(votes)
    if options.scale == "pairs":
        raise OptionError(f"which of two is better (scale 'pairs') is no vote: {WITH_PAIRS}", code="does_not_apply")
    if options.scale == "ordinal" and options.labels is None and not rewriting.bins:
        votes = _in_order(votes)
    if options.scale == "interval":
        _check_numbers(votes.labels)
    return replace(votes, scale=options.scale, scale_why=_SAID.format(options.scale), scale_told=True)


@dataclass(frozen=True)
class _Made:
    """The scale of what was made of numbers."""

    scale: KnownScale
    why: str

    @property
    def said(self) -> Finding:
        return Finding("scale", self.why)


def _made(rewriting: Recoding, labels: Sequence[Label]) -> _Made | None:
    if rewriting.threshold is not None:
        cut = rewriting.threshold
        return _Made(
            "nominal", f"as you say (--threshold {cut}): numbers from {cut} on are {PASS}, smaller ones {FAIL}"
        )
    if not rewriting.bins:
        return None
    why = f"as you say (--bins): numbers are put into {format_names(labels, 12)}, each with its lower end"
    return _Made("ordinal" if len(labels) >= FEWEST_LEVELS else "nominal", why)


def recode_votes(votes: Votes, options: Reading) -> Votes:
    """Votes that are read already, with labels as the caller would have them.

    >>> recode_votes(Votes.from_matrix([[0.2, 0.5, 0.9]]), Reading(threshold=0.5)).codes.tolist()
    [[0, 1, 1]]
    """
    rewriting = Recoding.of(options)
    if not rewriting:
        return votes
    often = count_labels_by_juror(votes).sum(axis=0)
    values = rewriting.cells(list(votes.labels), often.tolist)
    said = [value for value, count in zip(values, often.tolist(), strict=True) if count or votes.labels_told]
    read = recode_labels(votes, ordered_labels(said), [value if value in said else None for value in values])
    return replace(read, scale="nominal", scale_why="", scale_told=False)


def extend_labels(votes: Votes, more: Sequence[Label]) -> tuple[Label, ...]:
    """The labels with some that nobody says, in order; VotesError where nobody can tell their place among levels.

    >>> extend_labels(Votes.from_matrix([["low", "high"], ["mid", "low"]]), ["very high"])
    ('low', 'mid', 'high', 'very high')
    """
    labels = [*votes.labels, *more]
    if votes.scale != "ordinal":
        return ordered_labels(labels)
    if (numbers := _by_size(labels)) is not None:
        return numbers
    words = bin_order(labels) if votes.rewriting is not None and votes.rewriting.bins else word_order(labels)
    for order in () if words is None else (words, words[::-1]):
        if tuple(label for label in order if label in votes.labels) == votes.labels:
            return order
    message = (
        f"nobody votes {format_names(map(repr, more), 4)}, and its place among the levels "
        f"{format_names(votes.labels, 8)}"
    )
    raise VotesError(f"{message} is not known; name all levels, the lowest first (labels=…, --labels low,mid,high)")


def _by_size(labels: Sequence[Label]) -> tuple[Label, ...] | None:
    """Labels that are numbers, the lowest first; None where one is not."""
    sizes = zip(labels, numerals(labels).sizes, strict=True)
    size = {label: known for label, known in sizes if known is not None}
    if len(size) < len(set(labels)):
        return None
    return tuple(sorted(size, key=lambda label: (size[label], str(label))))


def _in_order(votes: Votes) -> Votes:
    """The votes with their labels lowest first; VotesError where nobody can tell the order."""
    if (labels := _by_size(votes.labels)) is None:
        message = f"the order of the labels {format_names(votes.labels, 8)} is not known; name them, the lowest first"
        raise VotesError(f"{message} (labels=…, --labels low,mid,high)")
    return votes if labels == votes.labels else recode_labels(votes, labels)


def _check_numbers(labels: Sequence[Label]) -> None:
    """VotesError names what is no number."""
    if odd := [label for label, text in zip(labels, numerals(labels).texts, strict=True) if text is None]:
        message = f"votes on the scale 'interval' are numbers, found {format_names(map(repr, odd), 4)}"
        raise VotesError(f"{message}; leave out what is no vote (--missing VALUE), or say --scale nominal")


# Which jurors are read: all of them, only some (`--only`), or all but some (`--drop`), whatever holds their votes.


#: the options that apply to votes that are read already, too
SELECTION_OPTIONS = ("only", "drop", "join", "map", "ignore_case", "threshold", "bins")


def selects_jurors(options: Reading) -> bool:
    """Whether the caller says which jurors to read."""
    return bool(text_columns(options.only) or text_columns(options.drop))


def select_jurors(jurors: Sequence[Any], options: Reading) -> list[int]:
    """The positions of the jurors to read, in their order; VotesError names the nearest of an unknown one.

    >>> names = ["ann", "bob", "cy"]
    >>> select_jurors(names, Reading(only=["cy", "ann"])), select_jurors(names, Reading(drop="bob"))
    ([0, 2], [0, 2])
    """
    only = {match_name(name, jurors, "juror") for name in text_columns(options.only)}
    drop = {match_name(name, jurors, "juror") for name in text_columns(options.drop)}
    kept = [k for k, name in enumerate(jurors) if (not only or name in only) and name not in drop]
    if not kept:
        raise VotesError(f"only= and drop= (--only, --drop) leave none of the jurors {format_names(jurors, 12)}")
    return kept


def select_columns(layout: Layout, names: Sequence[str], options: Reading) -> Layout:
    """The layout of a table with one juror per column, of the chosen jurors alone; others are chosen by their rows."""
    if layout.kind == "long" or not selects_jurors(options):
        return layout
    return replace(
        layout, votes=tuple(layout.votes[k] for k in select_jurors([names[k] for k in layout.votes], options))
    )


def select_votes(votes: Votes, options: Reading) -> Votes:
    """The votes of the chosen jurors, with the labels that these say (all labels, where the caller named them).

    >>> votes = Votes.from_matrix([["yes", "no", "unsure"], ["no", "no", "no"]], jurors=["ann", "bob", "cy"])
    >>> select_votes(votes, Reading(drop=["cy"]))
    Votes(2 items, 2 jurors, 4 votes, labels no, yes)
    """
    if not selects_jurors(options):
        return votes
    taken = votes.take([votes.jurors[k] for k in select_jurors(votes.jurors, options)])
    return taken if votes.labels_told else drop_unused_labels(taken)


def drop_unused_labels(votes: Votes, also: np.ndarray[Any, Any] | None = None) -> Votes:
    """The same votes with only the labels that somebody said in them (or that are known): a test of its own."""
    codes = votes.codes if votes.is_dense else votes.triples()[2]
    said = np.union1d(codes[codes >= 0], () if also is None else also[also >= 0]).astype(int).tolist()
    if len(said) == len(votes.labels):
        return votes
    values = [a if k in set(said) else None for k, a in enumerate(votes.labels)]
    return recode_labels(votes, tuple(votes.labels[k] for k in said), values)
