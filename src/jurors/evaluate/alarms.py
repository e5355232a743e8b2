"""`Alarm`, what an answer says about the jurors, and the catalogue of all kinds of alarms.

An alarm is returned, never raised, and never hidden by clamping a number. The catalogue says of every kind how severe
it can be, what it means, and what to do about it. It is the only list: an `Alarm` of another kind or level cannot be
made, the tables of `docs/guides/reading-the-report.md` are printed from it, and the page's advice is read from it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Any, Literal, TypeAlias

from jurors.errors import SketchError
from jurors.options import Label
from jurors.results import Table, json_ready

Level: TypeAlias = Literal["note", "warning", "alarm"]
LEVELS: tuple[Level, ...] = ("note", "warning", "alarm")
AlarmScope: TypeAlias = Literal["any", "votes", "labels", "bounds", "groups", "stream", "pairs", "numbers"]

MERGED_KINDS = (
    "Find the jurors who share errors: leave out or change one of a pair, or add jurors that work another way"
)
_DEFAULT = "Use the default method (leave --method out); this one did not settle on these votes"
_NOTHING = "Nothing"


@dataclass(frozen=True, slots=True)
class AlarmKind:
    """One kind of alarm."""

    name: str
    levels: tuple[Level, ...]  #: the most severe first
    meaning: str
    advice: str  #: what to do, `{who}` being the jurors it names
    remark: str = ""  #: what it says of a juror, in a few words
    #: any grades; the votes; three jurors with three labels or more; bounds; groups; a stream
    about: AlarmScope = "any"


_ALARM: tuple[Level, ...] = ("alarm",)
_BY_CHANCE: tuple[Level, ...] = ("alarm", "warning")  # a warning where sampling error can explain it
_WARNING: tuple[Level, ...] = ("warning",)
_NOTE: tuple[Level, ...] = ("note",)

# fmt: off
_KINDS = (
    AlarmKind(
        "out_of_range", _BY_CHANCE,
        "a prevalence or accuracy lies below 0 or above 1. An alarm where sampling error cannot explain it (the errors "
        "were not independent), a warning with the chance where it can",
        MERGED_KINDS,
    ),
    AlarmKind(
        "complex", _BY_CHANCE,
        "no real numbers explain the counts at all; `label` falls back to majority vote. Alarm or warning as above",
        MERGED_KINDS,
    ),
    AlarmKind(
        "zero_radicand", _BY_CHANCE,
        "every pair moves together, but the trio does not as it should. Alarm or warning as above", MERGED_KINDS,
    ),
    AlarmKind(
        "purely_triple", _BY_CHANCE, "no pair moves together, but all three do. Alarm or warning as above",
        "Look for a mistake in the file first: no pair moves together, but all three do",
    ),
    AlarmKind(
        "contradictory_pairs", _BY_CHANCE,
        "one pair does not move together though both move with the third. Alarm or warning as above", MERGED_KINDS,
    ),
    AlarmKind(
        "contradictory_trio", _BY_CHANCE,
        "two pairs do not move together, which makes one juror idle, yet all three move together. Alarm or warning as "
        "above", MERGED_KINDS,
    ),
    AlarmKind(
        "contradictory_signs", _ALARM, "pairs agree and disagree in a way that no accuracies can give",
        "Check whether one juror answers the opposite question: the pairs contradict each other",
    ),
    AlarmKind(
        "gold_contradicts", _ALARM, "clearly fewer gold items are labelled right than the grades promise",
        "Believe the gold items, not the grades: look for jurors who share errors, and for mistakes in the gold items",
    ),
    AlarmKind(
        "correlated_errors", ("alarm", "warning"),
        "errors go together beyond chance; the pairs that stand out are named. An alarm when it is large "
        "and rests on enough errors",
        "Compare {who} with the others: errors go together beyond chance, and one side shares them",
    ),
    AlarmKind(
        "correlation_limit", _ALARM, "the mean error correlation is larger than your `--max-correlation`",
        MERGED_KINDS,
    ),
    AlarmKind(
        "effective_limit", _ALARM, "the jurors are worth fewer independent ones than your `--min-effective`",
        "Add jurors of another kind: more of the same do not help",
    ),
    AlarmKind(
        "gate_failed", _ALARM,
        "a limit of yours (`--min-score` and its like) is not kept: the whole calibrated interval is on the wrong side",
        "Change {who} or the limit: what was asked is not reached",
    ),
    AlarmKind(
        "gate_unknown", ("alarm", "note"),
        "a limit of yours lies inside the calibrated interval, so nobody knows whether it is kept. A note with "
        "`--allow-unknown`", "Give gold items (--gold), which narrow the interval, or ask for less",
    ),
    AlarmKind(
        "single_label", _WARNING,
        "only one label was ever said: agreement on a default answer and on the truth look the same, so nobody can be "
        "graded, and how common the label is cannot be told",
        "Label a few items yourself and use `jurors score --key`, or add items on which somebody disagrees",
    ),
    AlarmKind(
        "too_few_voices", _BY_CHANCE,
        "jurors who never disagree (or never agree) are one voice, and fewer than three voices are left: copies and "
        "jurors who are always right look the same, so nothing is known of anybody. No intervals, no expected errors. "
        "A warning on so few items that jurors who are 99% right may look so",
        "Add jurors who judge on their own: copies count as one voice, and grades need three",
    ),
    AlarmKind(
        "same_voice", ("alarm", "warning"),
        "jurors are one judge asked several times (`gpt#1`, `gpt#2`), by name and by how they vote: they count as one "
        "voice. An alarm where fewer than three voices are left",
        "Add judges of another kind: {who} are one judge, asked again", "one judge asked several times",
    ),
    AlarmKind(
        "possible_repeats", ("warning", "note"),
        "jurors whose names differ by a number alone (`judge_1`, `judge_2`) may be one judge asked several times: they "
        "agree far more with each other than with the others. A note where there are no others to tell by",
        "Say --join if {who} are one judge; nothing, if they are not", "may be one judge asked several times",
    ),
    AlarmKind(
        "twin_jurors", _WARNING,
        "two jurors never disagree: perhaps one is a copy, and copies look like perfect jurors",
        "Leave out one of {who}, unless you know that they worked apart: one may copy the other",
        "may be a copy, or a negative, of another juror",
    ),
    AlarmKind(
        "weak_pair", _WARNING, "two jurors agree hardly more than chance, so the counts hardly fix the grades",
        "Get more items or better jurors: {who} agree hardly more than chance, so the grades hang on little",
        "hardly agrees with another juror",
    ),
    AlarmKind(
        "zero_cell", _WARNING, "some decision tuple never occurred: small or very easy tests do that",
        "Add items if you can: a decision tuple never occurred, as on small or very easy tests",
    ),
    AlarmKind(
        "tie_between_solutions", _WARNING, "both solutions satisfy the rule equally well",
        "Say what you know (--trust, --common or --gold): both solutions fit equally well",
    ),
    AlarmKind(
        "constant_juror", _WARNING, "a juror says one label only, so nothing is known of its judgement",
        "Ask {who}, or leave out: one label only shows no judgement", "says one label only",
    ),
    AlarmKind(
        "uninformative_juror", _WARNING,
        "a juror answers as if by chance; of those named, one in twenty is expected to be worth listening to after all",
        "Look at {who}: the votes seem to tell nothing about the truth. Check that they were on the right items and "
        "asked the right question", "answers as if by chance",
    ),
    AlarmKind(
        "shared_default", ("alarm", "warning"),
        "jurors agree hardly more than their habits give: most say nearly the same of every item, so the prevalence "
        "and the scores may be that default and nothing else. An alarm where next to no agreement is left",
        "Add jurors who look at the items, or gold labels (--gold): {who} say nearly the same of every item",
    ),
    AlarmKind(
        "degenerate_fit", _WARNING,
        "jurors contradict each other on many items, yet the fit expects next to none of their labels to be wrong: it "
        "has made some jurors the truth",
        "Do not believe the probabilities and expected errors; give gold labels (--gold)",
    ),
    AlarmKind(
        "inverted_juror", _WARNING, "a juror is wrong more often than chance; its votes are read the other way round",
        "Ask whether {who} had the labels swapped: wrong more often than chance", "wrong more often than chance",
    ),
    AlarmKind(
        "no_votes", _WARNING, "a juror never voted and was left out",
        "Check the column of {who}: no vote was found there",
    ),
    AlarmKind(
        "disconnected_groups", _WARNING, "groups of jurors share no item, so nothing compares one group with another",
        "Let some items go to jurors of both groups: nothing compares one group with the other",
    ),
    AlarmKind(
        "trios_out_of_range", _WARNING, "method `algebraic` on a panel: some trios have no evaluation in range",
        _DEFAULT,
    ),
    AlarmKind("not_identified", _WARNING, "these votes do not fix a juror's grade by this method", _DEFAULT),
    AlarmKind("not_converged", _WARNING, "an iteration was stopped early; the numbers may still move", _DEFAULT),
    AlarmKind("held_at_bound", _WARNING, "a juror had no finite grade by this method", _DEFAULT),
    AlarmKind(
        "mixed_signs", ("warning", "note"), "method `agreement`: some pairs agree on the wrong side of one half",
        _DEFAULT,
    ),
    AlarmKind(
        "majority_fallback", _WARNING,
        "`label` found no real evaluation: the labels are majority votes, without probabilities",
        "Take the labels as majority votes: no real evaluation explains the counts",
    ),
    AlarmKind(
        "missing_votes", ("warning", "note"),
        "a trio is graded on the items that all three answered; others were left out. A warning if over a quarter",
        "Fill the gaps, or use --method latent, which uses every vote",
    ),
    AlarmKind(
        "key_contradicts_grades", _WARNING,
        "with a key: clearly fewer intervals hold the actual scores, or clearly more labels are wrong, than promised",
        "Go by the actual scores, not by the estimates: the key contradicts them",
    ),
    AlarmKind(
        "labels_swapped", _NOTE, "two labels: a juror is clearly wrong more often than a coin",
        "Ask whether {who} had the labels swapped: clearly wrong more often than a coin",
    ),
    AlarmKind(
        "clearly_weak_juror", _NOTE, "a juror is five points or more below most of the others, beyond chance",
        "Look at {who}, clearly the weakest",
    ),
    AlarmKind(
        "irrational", _NOTE, "the exact answer is irrational: some error correlation, however small",
        "Nothing: on real tests it always is",
    ),
    AlarmKind(
        "rational_non_integral", _NOTE, "the exact answer is rational, but splits items into fractions", _NOTHING,
    ),
    AlarmKind(
        "exactly_independent", _NOTE, "the counts are exactly those of an independent trio, which proves nothing",
        "Nothing; did somebody make up the data?",
    ),
    AlarmKind(
        "inconsistent", _NOTE, "no independent jurors give exactly these counts",
        "Nothing: any real test; `correlated_errors` says whether it matters", about="labels",
    ),
    AlarmKind("rational", _NOTE, "the exact answer is rational", _NOTHING, about="labels"),
    AlarmKind(
        "unidentifiable", _WARNING,
        "the jurors show fewer labels than there are, and even those do not explain the counts",
        "Merge labels that nobody tells apart, or add jurors", about="labels",
    ),
    AlarmKind(
        "visible_labels", _WARNING,
        "the counts show fewer labels than there are: some are absent, or merged by all jurors",
        "Merge or drop the labels that the counts do not show", about="labels",
    ),
    AlarmKind(
        "blind_juror", _WARNING, "a juror answers alike on some labels, so the trio does not tell these apart",
        "Merge the labels that {who} does not tell apart, or change the juror", "does not tell some labels apart",
        about="labels",
    ),
    AlarmKind(
        "ambiguous_relabeling", _WARNING, "two ways of naming the labels fit the rule equally well",
        "Give a few gold items (--gold): two ways of naming the labels fit equally well", about="labels",
    ),
    AlarmKind(
        "no_signal", _WARNING, "no two jurors agree more than chance would have it: nothing can be graded",
        "Get other jurors or more items: no two agree more than chance would have it", about="labels",
    ),
    AlarmKind(
        "specification_impossible", _ALARM,
        "no answer key at all gives the jurors what `--spec` asks; the message names who contradicts whom and counts "
        "it out", "Ask for less (the highest floor is in the message), or change one of {who}", about="bounds",
    ),
    AlarmKind(
        "not_explainable", _ALARM,
        "with error correlations up to your `--correlation`, nothing explains the counts: errors were more correlated",
        "Assume more, as the message says; or leave out a juror who copies another", about="bounds",
    ),
    AlarmKind(
        "sign_contradiction", _ALARM,
        "the same, seen from the pairs of a trio: one or all three disagree more than by chance, and by too much",
        "Assume more, as the message says; one juror may answer the opposite question", about="bounds",
    ),
    AlarmKind(
        "epsilon_too_large", _WARNING,
        "so much correlation could explain all that some jurors have in common: hardly anything is bounded",
        "Assume less, if you know better; add jurors who see more", about="bounds",
    ),
    AlarmKind(
        "single_label_explains", _WARNING,
        "so much correlation explains the counts even if every item has the same true label: nothing is bounded",
        "Assume less, if you know better; add jurors who see more", about="bounds",
    ),
    AlarmKind(
        "small_group", _WARNING, "a group has fewer than 200 items, or a score in it is known to less than ±10%",
        "Read its intervals before its grades; collect more items of it, or join groups", about="groups",
    ),
    AlarmKind(
        "ungraded_group", _WARNING,
        "the votes on a group fix no grades; the message says why. `label` uses the rule of all items for it",
        "Collect more items of it, or join groups", about="groups",
    ),
    AlarmKind(
        "no_group", _WARNING,
        "some items name no group, and are left out; `label` uses the rule of all items for them",
        "Fill the column, or leave it so", about="groups",
    ),
    AlarmKind(
        "objects_apart", _ALARM,
        "no chain of comparisons connects the objects: they fall into islands, and only the prior says how objects of "
        "different islands stand to each other", "Compare objects of different islands, or rank each island on its own",
        about="pairs",
    ),
    AlarmKind(
        "answers_by_position", _ALARM,
        "a juror's answers follow the position (first or second), and hardly or not the objects",
        "Leave out {who}, or ask in both orders and count only what stays", "answers by position", about="pairs",
    ),
    AlarmKind(
        "answers_by_chance", _WARNING,
        "a juror's answers tell nothing of the strengths that the others show, and there are enough of them to say so",
        "Look at {who}: the answers look like chance", "answers as if by chance", about="pairs",
    ),
    AlarmKind(
        "answers_contrary", _ALARM, "a juror clearly prefers the objects that the others find weaker",
        "Ask whether {who} answered the opposite question, or had the sides swapped", "answers contrary to the others",
        about="pairs",
    ),
    AlarmKind(
        "copied_answers", _ALARM,
        "two jurors give the same answers to the same comparisons far more often than the strengths and their habits "
        "explain", "Leave out one of {who}: most likely one juror twice", "may be another juror again", about="pairs",
    ),
    AlarmKind(
        "negative_loading", _BY_CHANCE,
        "three jurors' numbers: one pair (or every pair) moves apart, so that no independent errors explain them. An "
        "alarm where sampling error cannot explain it, else a warning",
        "Check whether one of {who} has the scale upside down; add jurors", about="numbers",
    ),
    AlarmKind(
        "loading_above_variance", _BY_CHANCE,
        "a juror's numbers would have to vary less than the truth in them does (a Heywood case): errors go together, "
        "or the items are few. Alarm or warning as above",
        "Look for jurors who share errors with {who}; add items or jurors", "has an impossible grade", about="numbers",
    ),
    AlarmKind(
        "no_covariance", _WARNING, "two of three jurors do not move together at all: nothing can be solved",
        "Add jurors or items: two of {who} have nothing in common", about="numbers",
    ),
    AlarmKind(
        "errors_together", ("alarm", "warning"),
        "jurors' numbers go together (or apart) beyond what the truth explains: one alarm per group that such pairs "
        "link, with its clearest pair, and how that would bend their reliabilities. From five jurors on, pairs are no "
        "longer fitted, and count once in values; the message says how many still are. An alarm where the "
        "correlation of a pair's errors is above 0.3, or unknown", MERGED_KINDS, about="numbers",
    ),
    AlarmKind(
        "copied_numbers", _ALARM, "two jurors or more give the same numbers, up to unit and origin",
        "Keep one of {who}: most likely one juror again and again", "may be another juror again", about="numbers",
    ),
    AlarmKind(
        "reversed_scale", _ALARM, "a juror clearly gives lower numbers where the truth is higher",
        "Ask whether {who} had the scale upside down", "has the scale upside down", about="numbers",
    ),
    AlarmKind(
        "wild_values", _NOTE,
        "a few numbers far off a juror's own scale, on items that others find usual, were left out; they are named",
        "Mend them, if they are slips", about="numbers",
    ),
    AlarmKind(
        "mean_fallback", _WARNING, "the numbers fix no grades: values are plain means, without intervals",
        "Take the values as means: no grades explain the numbers", about="numbers",
    ),
    AlarmKind(
        "ambiguous_words", _ALARM,
        "a label may be an answer or mean that none was given (`undecided`, `tie`, `refused`, `ERROR`, -1 or 99 "
        "beside 0 and 1, `a/b` beside `a` and `b`)",
        "Choose: --missing VALUE leaves it out, --abstain VALUE counts it as abstaining, --labels keeps it",
        about="votes",
    ),
    AlarmKind(
        "another_alphabet", _ALARM,
        "a juror uses labels that nobody else uses (1 and 0 where the others say yes and no); the message says what "
        "they seem to mean", "Write the labels of {who} as the others do, or leave out", "uses other labels",
        about="votes",
    ),
    AlarmKind(
        "unlike_columns", _ALARM,
        "hardly two jurors share a label: the columns are features of the items, not votes",
        "Leave out what is no juror (--ignore COLUMN)", about="votes",
    ),
    AlarmKind(
        "similar_labels", _ALARM,
        "labels differ only by case, blanks or width (`Yes` and `yes`), and were graded as different labels",
        "Make labels that differ only by case or blanks one label, and grade again", about="votes",
    ),
    AlarmKind(
        "similar_jurors", _ALARM, "jurors' names differ only by case or blanks, and were graded as different jurors",
        "Spell each juror in one way, if {who} are one", about="votes",
    ),
    AlarmKind(
        "rare_numbers", _ALARM,
        "numbers said once or so among words or far smaller numbers: most likely a line of totals",
        "Take the line of totals out", about="votes",
    ),
    AlarmKind(
        "made_from_others", _ALARM,
        "a column says what most of the others say nearly wherever these disagree, and no other column does: a "
        "consensus, or the answer key, and no juror", "Leave out {who}, or use it with --key", "may be no juror",
        about="votes",
    ),
    AlarmKind(
        "copies", ("alarm", "warning"),
        "two jurors gave the same votes although the others disagreed: an alarm in a small jury; in a larger one "
        "`inspect` warns, and grading says `twin_jurors`",
        "Leave out one of {who}: most likely one juror twice", "may be another juror again", about="votes",
    ),
    AlarmKind(
        "items_coincide", _ALARM,
        "jurors agree within groups, but between the groups only by chance: items of one name are not the same items",
        "Give the items of each task names of their own", about="votes",
    ),
    AlarmKind(
        "repeated_rows", _ALARM, "every row of votes comes twice (or more often): a table put together with itself",
        "Take the second copy out, or name the items (--item)", about="votes",
    ),
    AlarmKind(
        "transposed", _ALARM, "far more columns than rows: people in rows and items in columns",
        "Turn the table, or say --layout long with the columns' names", about="votes",
    ),
    AlarmKind(
        "scores", _WARNING, "more than a dozen different numbers: scores, not labels",
        "Group the numbers into a few labels first", about="votes",
    ),
    AlarmKind(
        "free_text", _WARNING, "very many or very long labels: free text",
        "Group the answers into a few labels first", about="votes",
    ),
    AlarmKind(
        "rare_labels", _NOTE, "fewer than one vote in a thousand says a label: a slip?",
        "Nothing, unless it is a slip", about="votes",
    ),
    AlarmKind(
        "missing_words", _NOTE,
        "words that can only mean that no vote was given (`N/A`, `null`, `-`, `?`, `skip`) were taken for no vote",
        "Nothing; where such a word is an answer, name all labels with --labels", about="votes",
    ),
    AlarmKind(
        "abstentions", _NOTE,
        "who abstained how often, by which words (`unsure`, `don't know`, --abstain): never a true label",
        "Nothing; where such a word is an answer, name all labels with --labels", about="votes",
    ),
    AlarmKind(
        "scale", _NOTE,
        "what kind of answers the votes were taken for, where their labels leave it open: ordered levels, numbers, or "
        "whole numbers that name classes; and by what that is known",
        "Nothing; where it is another kind, say so with --scale", about="votes",
    ),
    AlarmKind(
        "repeats", _NOTE,
        "who was asked several times about one item (--repeat, --join, --duplicates join): one voice, with "
        "the vote that it gave most often",
        "Nothing; `repeats` of the report card says how steady it is", about="votes",
    ),
    AlarmKind(
        "columns_left", _NOTE, "columns beside the jurors' that were not read: texts, times, numbers of rows",
        "Nothing; --layout wide reads every column as a juror", about="votes",
    ),
    AlarmKind(
        "items_across_files", _NOTE, "several files were read as one table; the message says what items were taken for",
        "Nothing, if it is so; else give the items of each file names of their own", about="votes",
    ),
    AlarmKind(
        "other_sheets", _NOTE, "a workbook has several sheets, and the first was read",
        "Nothing, if it holds the votes; else name another: book.xlsx::Sheet2", about="votes",
    ),
    AlarmKind(
        "windows_text", _NOTE, "the file's text is not UTF-8 and was read as Windows-1252, as spreadsheets save it",
        "Nothing, if names and labels look right; else save the file as UTF-8", about="votes",
    ),
    AlarmKind(
        "newer_format", _WARNING, "another tool wrote the file in a newer version of its format than is known here",
        "Compare a few votes with the tool's own view, and update jurors (pip install -U jurors)", about="votes",
    ),
    AlarmKind(
        "unclear_votes", _WARNING,
        "a log keeps a panel's votes without saying whose they are; where somebody gave none, they were left out",
        "Let the tool keep who voted (Inspect AI: the reducer `majority` in place of `collect`)", about="votes",
    ),
    AlarmKind(
        "scored_again", ("warning", "note"),
        "two logs of Inspect AI are of one run, which was scored again into another file. Votes that stand in both "
        "count once (a note). A warning where a scorer says something else in the other: the same grader asked again, "
        "or another one",
        "Leave out the older log where the same grader judged anew; `inspect score … --overwrite` leaves one log",
        about="votes",
    ),
    AlarmKind(
        "juror_drift", ("alarm", "warning"),
        "a juror agrees with most of the others clearly less often than before. A warning where it is more often",
        "Ask what changed at {who} (model, prompt, instructions), and grade what came since on its own",
        "has changed", about="stream",
    ),
    AlarmKind(
        "juror_constant", _ALARM, "a juror has begun to say one label only",
        "Stop listening to {who} until it is mended: one label only shows no judgement", "has become constant",
        about="stream",
    ),
    AlarmKind(
        "juror_silent", ("alarm", "warning"),
        "a juror votes on clearly fewer items than before. A warning where it is more",
        "Find out why votes of {who} no longer come, or come more often", "votes less than before", about="stream",
    ),
    AlarmKind(
        "pair_drift", _ALARM,
        "two jurors have begun to differ from the majority of the rest together: one may copy the other, or both lean "
        "on the same thing", "Count {who} as one voice until you know: one may copy the other",
        "has begun to go with another juror", about="stream",
    ),
    AlarmKind(
        "prevalence_drift", _WARNING, "the label that most jurors give has become more common, or less",
        "Look at the items that come in: other ones than before, or all jurors have shifted. Grade what came since on "
        "its own", about="stream",
    ),
    AlarmKind(
        "score_drift", ("alarm", "warning"),
        "the whole panel agrees less than before, though no single juror stands out: the calibrated scores have "
        "fallen. A warning where it agrees more",
        "Grade before and since apart; look whether items became harder, and label a few yourself (`jurors audit`)",
        about="stream",
    ),
    AlarmKind(
        "new_label", _WARNING, "a label that was not said before",
        "Check whether it is a slip or a new answer; name the labels if no other may come", about="stream",
    ),
    AlarmKind("new_juror", _NOTE, "a juror who was not there before", _NOTHING, about="stream"),
)
# fmt: on


#: Every kind by name.
KINDS: dict[str, AlarmKind] = {kind.name: kind for kind in _KINDS}


def table_of_kinds(about: AlarmScope) -> Table:
    """The kinds of one subject, as the docs print them.

    Returns
    -------
    Table
        One row per kind.
    """
    rows = []
    for kind in (kind for kind in KINDS.values() if kind.about == about):
        advice = kind.advice.format(who="the jurors it names")
        rows.append((f"`{kind.name}`", ", ".join(kind.levels), kind.meaning, advice[0].lower() + advice[1:]))
    return Table(("kind", "level", "what it means", "what to do"), tuple(rows), is_prose=True)


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
    """One thing a reader must know before believing the grades.

    Levels: `note` is true but expected on any real test; `warning` needs a look; `alarm` means that the evaluation
    should not be trusted. The message is for people: whatever a program needs is in the other fields.

    Examples
    --------
    >>> alarm = Alarm("weak_pair", "warning", "ann and bob agree hardly more than chance", 1.5, ("ann", "bob"),
    ...               pairs=(AlarmPair("ann", "bob", 1.5),))
    >>> alarm.pairs[0].second
    'bob'
    """

    kind: str
    level: Level
    message: str
    value: float | None = None  #: how much, where there is a number to it
    jurors: tuple[str, ...] = ()  #: which jurors it concerns, where it concerns some
    labels: tuple[Label, ...] = ()  #: which labels it concerns, where it concerns some
    pairs: tuple[AlarmPair, ...] = ()  #: the outlying pairs, the farthest first
    chance: float | None = None  #: how often, at most, independent jurors look so: where that is known

    def __post_init__(self) -> None:
        if self.kind not in KINDS or self.level not in KINDS[self.kind].levels:
            raise SketchError(f"the catalogue has no {self.level} of the kind {self.kind!r}")

    @property
    def sentence(self) -> str:
        """The message with its full stop; some end in a question mark."""
        return self.message if self.message.endswith(("?", ".")) else f"{self.message}."

    def to_dict(self) -> dict[str, Any]:
        """The alarm as JSON."""
        document = {name: getattr(self, name) for name in self.__slots__}
        labels, pairs = [json_ready(label) for label in self.labels], [pair.to_dict() for pair in self.pairs]
        return document | {"jurors": list(self.jurors), "labels": labels, "pairs": pairs}

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
