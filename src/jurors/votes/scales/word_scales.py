"""Words that stand in an order by what they mean: one small table, lowest first, words of one place joined by a bar."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

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
