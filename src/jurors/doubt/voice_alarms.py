"""Too few voices: could honest jurors have looked like copies, or like somebody who says one thing only, by chance?

Two jurors who never disagree are copies, or nearly always right; one who says one label only has no opinion, or met no
item of the other. Nothing in the counts tells which, but the number of items does: jurors at the ceiling of what real
ones reach disagree now and then, and meet a rare label now and then. The alarm is for counts that even those would
give in fewer than one test of twenty; below, too few voices are a warning, and the grades are still no evidence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from jurors.doubt.trio_chance import UNEXPLAINED
from jurors.evaluate.alarm import Alarm
from jurors.evaluate.catalogue import Level
from jurors.evaluate.panel.islands import FEWEST_VOICES, Voices, too_few_voices
from jurors.evaluate.panel.same_voice import possible_repeats
from jurors.names import and_more, some
from jurors.sketch import Sketch
from jurors.votes.columns.hints import quoted
from jurors.votes.repeated.numbered_names import joining_name

_CEILING = 0.99  # the accuracy of the best honest jurors: a choice; pairs right more often than this may ring
_RAREST = 0.05  # the share of the rarest label that a test is supposed to hold
_MOST_NAMED = 8


def voice_alarms(sketch: Sketch) -> list[Alarm]:
    """The alarm of a panel in which fewer than three jurors say anything of their own."""
    voices = too_few_voices(sketch)
    if voices is None:
        return []
    names = sketch.jurors
    why = [
        *(f"{names[k]!r} never disagrees with {names[first]!r}" for k, first in voices.same),
        *(f"{names[k]!r} never agrees with {names[first]!r}" for k, first in voices.opposite),
        *(f"{names[k]!r} says one label only" for k in voices.constant),
    ]
    shown = and_more(why, _MOST_NAMED)
    left = "one voice is" if voices.count == 1 else "no voice is" if not voices.count else "two voices are"
    chance = _chance(voices, len(names))
    level: Level = "warning" if chance is not None and chance > UNEXPLAINED else "alarm"
    message = (
        f"{shown + ': ' if shown else ''}only {left} left, and grading needs three. Copies and jurors who are always "
        "right look the same in the counts, so these grades are not evidence: there are no intervals and no expected "
        "errors; add jurors who worked apart, or score against a key"
    )
    if level == "warning":
        message += f". On so few items chance can do that (up to {chance:.0%} of tests with jurors who are 99% right)"
    concerned = sorted({k for pair in (*voices.same, *voices.opposite) for k in pair} | set(voices.constant))
    who = tuple(names[k] for k in concerned)
    return [Alarm("too_few_voices", level, message, float(voices.count), who, chance=chance)]


def same_voice_alarms(jurors: tuple[str, ...], groups: Sequence[tuple[int, ...]], voices: Sequence[int]) -> list[Alarm]:
    """Who is one judge asked several times; an alarm where `voices`, which count them once, are too few."""
    few = len(set(voices)) < FEWEST_VOICES
    level: Level = "alarm" if few else "warning"
    alarms = []
    for group in groups:
        who = tuple(jurors[k] for k in group)
        shown = some(map(repr, who), _MOST_NAMED)
        message = f"{shown} are one judge asked {len(who)} times, by name and by how they vote: one voice"
        if few:
            message += ", and fewer than three are left. What it says each time shows how steady it is, not how right"
        if name := joining_name(who):
            message += f"; --join {quoted(name)} joins their votes to one"
        alarms.append(Alarm("same_voice", level, message, float(len(who)), who))
    return alarms


def possible_repeat_alarms(sketch: Sketch) -> list[Alarm]:
    """Who may be one judge asked several times, by names that differ by a number and by how they vote: a warning.

    Examples
    --------
    >>> counts = {"AAA": 40, "BBB": 40, "AAB": 30, "BBA": 30, "ABA": 1, "ABB": 1}
    >>> possible_repeat_alarms(Sketch.from_counts(counts, jurors=("judge_1", "judge_2", "ann")))[0].message
    "'judge_1', 'judge_2' agree far more with each other than with the others: if they are one judge asked 2 times, \
say so with --join judge, or it is heard so often"
    """
    alarms = []
    for name, group in possible_repeats(sketch).items():
        who = tuple(sketch.jurors[k] for k in group)
        join = f"if they are one judge asked {len(who)} times, say so with --join {quoted(name)}"
        if len(who) == len(sketch.jurors):
            message = f"all jurors are called {name!r}: {join}; what one judge gets wrong each time, no vote shows"
            alarms.append(Alarm("possible_repeats", "note", message, float(len(who)), who))
            continue
        shown = some(map(repr, who), _MOST_NAMED)
        message = f"{shown} agree far more with each other than with the others: {join}, or it is heard so often"
        alarms.append(Alarm("possible_repeats", "warning", message, float(len(who)), who))
    return alarms


def _chance(voices: Voices, jurors: int) -> float | None:
    """How often, at most, the best honest jurors look so; None where there is nothing to explain: too few are there."""
    if not voices.met and not voices.votes:
        return None
    groups: dict[int, list[int]] = {}
    for (_, first), met in zip((*voices.same, *voices.opposite), voices.met, strict=True):
        groups.setdefault(first, []).append(met)
    copies = [chance_of_copies(met, jurors) for met in groups.values()]
    return max([*copies, chance_of_constant(voices.votes, jurors)])


def chance_of_copies(met: Sequence[int], jurors: int) -> float:
    """The chance, at most, that so many of the best honest jurors never disagree with another one.

    `met` is on how many items each of them met that one: two who are right with chance c agree on c² + (1 - c)² of the
    items, and where they do, a third says the same with chance c at most.

    Examples
    --------
    >>> round(chance_of_copies([30], jurors=3), 2), round(chance_of_copies([300], jurors=3), 4)
    (1.0, 0.0074)
    """
    most, *others = sorted(met, reverse=True)
    ways = math.comb(jurors, len(met) + 1)
    return float(min(1.0, ways * (1 - 2 * _CEILING * (1 - _CEILING)) ** most * _CEILING ** sum(others)))


def chance_of_constant(votes: Sequence[int], jurors: int) -> float:
    """The chance, at most, that some of the best honest jurors says one label only in so many votes.

    Examples
    --------
    >>> round(chance_of_constant([30], jurors=4), 2), round(chance_of_constant([120], jurors=4), 4)
    (0.65, 0.0027)
    """
    other = _RAREST * _CEILING + (1 - _RAREST) * (1 - _CEILING)
    return min(1.0, jurors * max(((1 - other) ** count for count in votes), default=0.0))
