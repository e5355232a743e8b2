"""`Alarm`, what a result says about the jurors, and the catalogue of all kinds of alarms.

An alarm is returned, never raised, and never hidden by clamping a number. The catalogue says how severe each kind can
be, what it means, and what to do about it. A kind covers one or several reasons; an `Alarm` is made by its reason. It
is the only list: an `Alarm` of another reason or level cannot be made, the tables of the docs are printed from it, and
the page's advice is read from it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Any, Literal, TypeAlias

from jurors.errors import SketchError, spell_options
from jurors.options import Label
from jurors.results import json_ready

Level: TypeAlias = Literal["note", "warning", "alarm"]
LEVELS: tuple[Level, ...] = ("note", "warning", "alarm")
AlarmScope: TypeAlias = Literal["grades", "votes", "bounds", "groups", "stream"]

SHARED_ERRORS_ADVICE = "Find the jurors that share errors, and add jurors of another kind or gold labels"


@dataclass(frozen=True, slots=True)
class AlarmKind:
    """One kind of alarm."""

    name: str
    levels: tuple[Level, ...]  #: the most severe first
    meaning: str
    advice: str  #: what to do, `{who}` being the jurors it names
    reasons: tuple[str, ...] = ()  #: the variants; none where the kind is its only reason
    remark: str = ""  #: what it says about a juror, in a few words
    about: AlarmScope = "grades"


_ALARM: tuple[Level, ...] = ("alarm",)
_LOUD: tuple[Level, ...] = ("alarm", "warning")
_WARNING: tuple[Level, ...] = ("warning",)
_QUIET: tuple[Level, ...] = ("warning", "note")
_NOTE: tuple[Level, ...] = ("note",)
_ANY: tuple[Level, ...] = ("alarm", "warning", "note")

# fmt: off
_KINDS = (
    AlarmKind(
        "contradiction", _LOUD,
        "independent jurors do not give these votes: a share lies outside 0 to 1 or is complex, or pairs contradict "
        "each other. An alarm if chance cannot explain it, otherwise a warning", SHARED_ERRORS_ADVICE,
        ("out_of_range", "complex", "zero_radicand", "purely_triple", "contradictory_pairs", "contradictory_trio",
         "negative_loading", "loading_above_variance"),
    ),
    AlarmKind(
        "correlated_errors", _ANY,
        "jurors agree, or disagree, more often than the estimated truth explains. A note if the calibration allows "
        "for it, an alarm if it is large",
        "Compare {who} with the others, or add gold labels: only gold shows who is right",
    ),
    AlarmKind(
        "gold_contradicts", _ALARM, "clearly fewer gold items have the right label than the grades predict",
        "Trust the gold labels, not the grades, and look for mistakes in the gold labels",
    ),
    AlarmKind(
        "selected_gold", _WARNING, "gold items are not a random draw: of one label, or the most or least doubtful ones",
        "Draw gold items at random (`jurors audit plan`)",
    ),
    AlarmKind(
        "key_contradicts_grades", _WARNING, "the answer key contradicts the estimated scores or labels",
        "Use the scores that the key gives",
    ),
    AlarmKind(
        "limit_failed", _ALARM, "a limit that you set is not met", "Change {who} or the limit",
        ("gate_failed", "correlation_limit", "effective_limit"),
    ),
    AlarmKind(
        "limit_undecided", ("alarm", "note"),
        "a limit that you set lies inside the interval. A note with `allow_unknown=True`",
        "Add gold labels (`gold=`), which narrow the interval, or lower the limit", ("gate_unknown",),
    ),
    AlarmKind(
        "single_label", _WARNING, "every vote is for the same label, so nobody can be graded",
        "Label a few items yourself, or add items on which jurors disagree",
    ),
    AlarmKind(
        "too_few_jurors", _LOUD,
        "fewer than three jurors are distinct: copies and perfect jurors look the same, so no grade is "
        "reliable", "Add jurors that judge independently", ("too_few_distinct",),
    ),
    AlarmKind(
        "repeated_juror", _ANY,
        "jurors are, or may be, one judge that answered several times: by name, by how they vote, or as you declared",
        "Use `join=` if {who} are one judge", ("same_judge", "possible_repeats", "repeats"),
        "one judge, several answers",
    ),
    AlarmKind(
        "copied_juror", _LOUD, "two jurors always give the same, or opposite, answers: one may copy the other",
        "Leave out one of {who}, unless they worked independently",
        ("twin_jurors", "copies", "copied_answers", "copied_numbers"), "may be a copy of another juror",
    ),
    AlarmKind(
        "weak_evidence", _WARNING, "jurors agree little more than by chance, so the votes say little about accuracy",
        "Add items or better jurors", ("weak_pair", "zero_cell", "not_identified", "no_signal", "no_covariance"),
        "hardly agrees with another juror",
    ),
    AlarmKind(
        "ambiguous_solution", _WARNING, "two solutions explain the votes equally well",
        "Say what you know: `trust=`, `common=` or `gold=`", ("tie_between_solutions", "ambiguous_relabeling"),
    ),
    AlarmKind(
        "constant_juror", _WARNING, "a juror gives one label only, which says nothing about its judgement",
        "Check {who}, or leave these votes out", remark="gives one label only",
    ),
    AlarmKind(
        "uninformative_juror", _WARNING, "a juror is no better than chance",
        "Check that {who} answered the right items and the right question",
        ("uninformative_juror", "answers_by_chance"), "no better than chance",
    ),
    AlarmKind(
        "inverted_juror", _ANY, "a juror is wrong more often than chance",
        "Check whether the labels or the scale of {who} are reversed",
        ("inverted_juror", "labels_swapped", "answers_contrary", "reversed_scale"), "worse than chance",
    ),
    AlarmKind(
        "weak_juror", _NOTE, "a juror's score is at least 5 points below most others, beyond chance",
        "Check {who}", ("clearly_weak_juror",),
    ),
    AlarmKind(
        "position_bias", _LOUD,
        "a juror's answers follow the position of what it compares; in votes for A and B, a warning",
        "Leave out {who}, or present every pair in both orders",
        ("answers_by_position", "follows_position", "leans_to_position"), "follows the position",
    ),
    AlarmKind(
        "shared_default", _LOUD,
        "jurors agree little more than their default answers explain, so the grades may reflect that default",
        "Add jurors that look at the items, or gold labels (`gold=`)",
    ),
    AlarmKind(
        "degenerate_fit", _WARNING,
        "jurors contradict each other on many items, but the model expects hardly any wrong label",
        "Do not rely on the probabilities; add gold labels (`gold=`)",
    ),
    AlarmKind(
        "fit_failed", _QUIET, "this method does not determine, or does not converge to, some of its numbers",
        "Use the default method", ("not_converged",),
    ),
    AlarmKind(
        "fallback", _WARNING, "no model explains the votes: labels are majority votes, and values are means",
        "Do not expect probabilities", ("majority_fallback", "mean_fallback"),
    ),
    AlarmKind(
        "disconnected", _LOUD, "groups of jurors share no item, or groups of objects are never compared",
        "Let some items go to jurors of several groups", ("disconnected_groups", "objects_apart"),
    ),
    AlarmKind(
        "missing_votes", _QUIET,
        "left out: a juror that never voted, items that not all of three jurors answered, or gold items without "
        "votes",
        "Check the column of {who} and the names of the items, or add the missing votes",
        ("missing_votes", "no_votes", "unvoted_gold"),
    ),
    AlarmKind(
        "indistinct_labels", _WARNING, "the votes do not distinguish some of the labels",
        "Merge labels that nobody distinguishes, or add jurors", ("unidentifiable", "visible_labels", "blind_juror"),
    ),
    AlarmKind(
        "outlier_values", _NOTE, "a few numbers far from a juror's own scale are left out",
        "Correct them if they are typing errors",
    ),
    AlarmKind(
        "exact_answer", _NOTE, "the kind of numbers of the exact solution: on real tests, irrational", "Nothing",
        ("irrational", "rational_non_integral", "exactly_independent", "inconsistent", "rational"),
    ),
    AlarmKind(
        "correlation_too_small", _ALARM, "error covariances up to your `correlation=` do not explain the votes",
        "Allow more correlation", ("not_explainable", "sign_contradiction"), about="bounds",
    ),
    AlarmKind(
        "correlation_too_large", _WARNING, "with so much correlation, hardly any number is bounded",
        "Allow less correlation, if you know better", ("epsilon_too_large", "single_label_explains"), about="bounds",
    ),
    AlarmKind(
        "small_group", _WARNING, "a group has too few items, or votes per juror, for narrow intervals",
        "Look at its intervals; collect more items or votes, or join groups", about="groups",
    ),
    AlarmKind(
        "ungraded_group", _WARNING, "a group cannot be graded, or items name no group", "Add items of this group",
        ("ungraded_group", "no_group"), about="groups",
    ),
    AlarmKind(
        "ambiguous_answers", _ALARM, "a label may be an answer, or may mean that there is none",
        "Choose: `missing=` drops it, `abstain=` counts it as an abstention, `labels=` keeps it",
        ("ambiguous_words",), about="votes",
    ),
    AlarmKind(
        "inconsistent_labels", _ALARM, "one label has several names, or a juror uses labels of its own",
        "Write each label in one way", ("another_alphabet", "similar_labels"), "uses other labels", "votes",
    ),
    AlarmKind(
        "similar_jurors", _ALARM, "names of jurors differ only by case or spaces", "Write each name in one way",
        about="votes",
    ),
    AlarmKind(
        "not_votes", _LOUD,
        "a column or row holds no votes: features, totals, a consensus, scores, or free text",
        "Leave it out (`ignore=`); use a consensus or key with `key=`",
        ("unlike_columns", "rare_numbers", "made_from_others", "scores", "free_text"), "may be no juror", "votes",
    ),
    AlarmKind(
        "repeated_items", _ALARM, "rows are duplicated, or different items share a name",
        "Remove the duplicates, or give each item its own name", ("items_coincide", "repeated_rows"), about="votes",
    ),
    AlarmKind(
        "transposed", _ALARM, "the table has far more columns than rows: jurors may be in rows, and items in columns",
        "Transpose the table, or use `layout='long'`", about="votes",
    ),
    AlarmKind(
        "rare_labels", _WARNING,
        "few votes are for a label, or gold has a label that no juror gives",
        "Check whether it is a typing error", about="votes",
    ),
    AlarmKind(
        "reading", _NOTE, "how the file was read, if it can be read in several ways",
        "Nothing if it is right. Otherwise, use the option that the message names",
        ("missing_words", "abstentions", "scale", "columns_left", "joint_item", "items_across_files",
         "other_sheets", "other_questions", "windows_text"),
        about="votes",
    ),
    AlarmKind(
        "unclear_log", _QUIET, "a log of another tool does not show whose votes they are, or has a newer format",
        "Compare a few votes with what the tool shows", ("newer_format", "unclear_votes", "scored_again"),
        about="votes",
    ),
    AlarmKind(
        "drift", _LOUD,
        "a juror, a pair of jurors or the whole panel votes differently than before. A warning if it agrees more",
        "Find out what changed for {who}, and grade the items since then separately",
        ("juror_drift", "juror_constant", "pair_drift", "score_drift"), "has changed", "stream",
    ),
    AlarmKind(
        "prevalence_drift", _WARNING, "the label that most jurors give has become more or less common",
        "Check whether the items have changed, and grade the items since then separately", about="stream",
    ),
    AlarmKind(
        "juror_silent", _LOUD, "a juror votes on fewer items than before. A warning if it votes on more",
        "Find out why the votes of {who} changed", remark="votes less than before", about="stream",
    ),
    AlarmKind(
        "new_name", _QUIET, "a label or a juror that was not there before",
        "Check whether it is a typing error", ("new_label", "new_juror"), about="stream",
    ),
    AlarmKind(
        "source_unreadable", _ALARM, "more than 10% of the lines that `jurors watch` read recently are not votes",
        "Check the lines that it skipped, and the program that writes them", about="stream",
    ),
)
# fmt: on


#: Every kind by each of its reasons.
KINDS: dict[str, AlarmKind] = {reason: kind for kind in _KINDS for reason in (kind.reasons or (kind.name,))}


@dataclass(frozen=True, slots=True)
class AlarmPair:
    """Two jurors that an alarm names, and by how many standard errors they are outliers.

    Above 0 they agree too often (errors are correlated), below 0 too seldom (negatively correlated).
    """

    first: str
    second: str
    value: float

    def to_dict(self) -> dict[str, Any]:
        """The pair as JSON."""
        return {"jurors": [self.first, self.second], "value": self.value}


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something to know before you use the grades.

    A `note` is true but expected on any real test, a `warning` needs a look, and an `alarm` means that you should not
    use the grades. `message` is for people; the other fields have what a program needs.

    Examples
    --------
    >>> alarm = Alarm("weak_pair", "warning", "ann and bob agree hardly more than chance", 1.5, ("ann", "bob"),
    ...               pairs=(AlarmPair("ann", "bob", 1.5),))
    >>> alarm.pairs[0].second
    'bob'
    """

    reason: str  #: the variant of `kind`
    level: Level
    message: str
    value: float | None = None  #: the number that it is about, if any
    jurors: tuple[str, ...] = ()  #: the jurors that it concerns, if any
    labels: tuple[Label, ...] = ()  #: the labels that it concerns, if any
    pairs: tuple[AlarmPair, ...] = ()  #: the outlying pairs, farthest first
    chance: float | None = None  #: the largest probability among independent jurors, if known

    def __post_init__(self) -> None:
        if self.reason not in KINDS or self.level not in KINDS[self.reason].levels:
            raise SketchError(f"the catalogue has no {self.level} for {self.reason!r}")
        object.__setattr__(self, "message", spell_options(self.message))

    @property
    def kind(self) -> str:
        """The kind of the alarm, in the catalogue."""
        return KINDS[self.reason].name

    @property
    def advice(self) -> str:
        """What to do about it."""
        advice = spell_options(KINDS[self.reason].advice)
        return advice.format(who=" and ".join(map(str, self.jurors[:3])) or "the jurors")

    @property
    def sentence(self) -> str:
        """The message as a sentence."""
        return self.message if self.message.endswith(("?", ".")) else f"{self.message}."

    def to_dict(self) -> dict[str, Any]:
        """The alarm as JSON."""
        return {
            "kind": self.kind,
            "level": self.level,
            "message": self.message,
            "advice": self.advice,
            "jurors": list(self.jurors),
            "labels": [json_ready(label) for label in self.labels],
            "pairs": [pair.to_dict() for pair in self.pairs],
            "value": self.value,
            "chance": self.chance,
            "reason": None if self.reason == self.kind else self.reason,
        }

    def _repr_html_(self) -> str:
        return f"<p><b>{escape(self.level)}</b> {escape(self.kind)}: {escape(self.sentence)}</p>"


def sort_by_severity(alarms: Iterable[Alarm]) -> tuple[Alarm, ...]:
    """The most severe first, otherwise in their order.

    Returns
    -------
    tuple of Alarm
    """
    return tuple(sorted(alarms, key=lambda alarm: -LEVELS.index(alarm.level)))


def highest_level(alarms: tuple[Alarm, ...]) -> Level | None:
    """The highest level among the alarms.

    Returns
    -------
    str or None
        None without alarms.
    """
    return max((alarm.level for alarm in alarms), key=LEVELS.index, default=None)
