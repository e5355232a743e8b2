"""What a report page is made from: the findings, their tables, and the words that its sentences share.

`find_findings` counts the votes once, grades, labels and compares them. `number_tables` prints every number as
`jurors grade` prints it. The rest words what an answer key and an audit say. Names of jurors, labels and items are
untrusted: always text, never markup.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from markupsafe import Markup

from jurors._numeric import Integers
from jurors.audit.result import Audit, AuditedVotes, evaluate_audit
from jurors.audit.sheet import auditable_votes, read_sheet
from jurors.errors import JurorsError, OptionError, short_names
from jurors.evaluate.card import abstention_tables, level_tables, percent, percent_range, repeat_tables
from jurors.evaluate.dependence import dependence_with_key
from jurors.evaluate.evaluation import Evaluation, KeyedEvaluation
from jurors.jury.compare import Comparison, compare_counted, default_methods, score_counted
from jurors.jury.grade import grade, grade_rows
from jurors.jury.groups import ByGroup, each_group
from jurors.jury.inputs import CountedVotes, source_votes
from jurors.jury.label import Labelling, label_graded, short_vote
from jurors.jury.systems import SystemComparison, compare_graded
from jurors.options import Grading
from jurors.reporting.charts.base import share_of
from jurors.results import Table, count_noun, escape_text, interval_name, replace_names
from jurors.sketch.sketch import Sketch
from jurors.uncertainty.alarms import KeyCheck, Labels
from jurors.votes.key import ItemTexts, Key
from jurors.votes.table import Votes

# -- findings: the evaluation, and what else can be computed in reasonable time --

_MAX_BYTES = 1 << 29  # of a file: above, items are counted by the engine and none is named
_MAX_COMPARED_CELLS = 200_000  # tuples x jurors x labels: above, other methods are not run for the sake of a chart
_MAX_QUEUED = 40  # items for a person to review
_MAX_CURVED = 6  # jurors: above, the curve of bounds takes longer than the page


@dataclass(frozen=True, eq=False)
class ReportFindings:
    """What a page is made from."""

    evaluation: Evaluation
    labelling: Labelling | None = None  #: the items' labels; None where no item has a name
    keyed: KeyedEvaluation | None = None
    comparison: Comparison | None = None  #: other methods beside the evaluation
    curve: dict[str, Any] | None = None  #: bounds over the error correlation
    queue: Labelling | None = None  #: the items to review first, with their votes
    audit: Audit | None = None  #: what a person's labels of sampled items prove
    systems: SystemComparison | None = None  #: the systems that the items came from
    groups: ByGroup[Any] | None = None  #: the grades of each group of items


def find_findings(
    source: Votes | Sketch, key: Key | None = None, *, texts: ItemTexts | None = None, answers: Any = None,
    systems: tuple[Any, Any] | None = None, groups: Any = None, **grading: Any,
) -> ReportFindings:  # fmt: skip
    """Count the votes once; grade, label and compare.

    Parameters
    ----------
    source, key
        The votes, and the true labels if they are known.
    texts
        What shows the items to a person.
    answers
        A person's labels of an audit: they are gold, and they prove something of their own.
    systems
        The system of each row, and the good label.
    groups
        The group of each row: each is graded separately, too.
    grading
        The options of `grade`.

    Returns
    -------
    ReportFindings
    """
    audited = None
    if answers is not None:
        if grading.get("gold") is not None:
            raise OptionError("the answers are gold themselves; give gold or answers, not both", code="does_not_apply")
        audited = AuditedVotes.of(auditable_votes(source_votes(source)), read_sheet(answers))
        grading["gold"] = audited.gold
    evaluation, counted, known = grade_rows(source, **grading)
    keyed = None if key is None else score_counted(counted, key)
    compared = None
    if systems is not None:
        compared = compare_graded(evaluation, counted, known, systems[0], good=systems[1])
    by_group = None if groups is None else each_group(grade, source, by=groups, **grading)
    labelling = queue = None
    if evaluation.partition is not None and counted.votes.counts is None and not evaluation.exam:
        labelling = label_graded(evaluation, counted, known, alarms=evaluation.alarms)
        queue = labelling.for_review(_MAX_QUEUED, counted.votes, texts)
    audit = None if audited is None else evaluate_audit(audited, evaluation, evaluation.level)
    comparison = _compare(evaluation, counted, keyed, Grading.of(grading), known)
    curve, sketch = None, evaluation.sketch
    if sketch is not None and not evaluation.exam and len(sketch.labels) == 2 and len(sketch.jurors) <= _MAX_CURVED:
        from jurors.uncertainty.bounds import correlation_curve

        with suppress(JurorsError):
            curve = correlation_curve(sketch)
    return ReportFindings(evaluation, labelling, keyed, comparison, curve, queue, audit, compared, by_group)


def is_large_panel(sources: Iterable[Any]) -> bool:
    """Whether files are so large that items should be counted by the engine, and none be named.

    Returns
    -------
    bool
    """
    size = 0
    for source in sources:
        with suppress(OSError, ValueError):  # what can be no name is no file
            if isinstance(source, (str, Path)) and Path(source).is_file():
                size += Path(source).stat().st_size
    return size > _MAX_BYTES


def _compare(
    evaluation: Evaluation, counted: CountedVotes, keyed: KeyedEvaluation | None, grading: Grading,
    known: Integers | None,
) -> Comparison | None:  # fmt: skip
    """Run the other methods on the same votes and gold, by the same options; their errors are not the page's."""
    sketch = evaluation.sketch
    if sketch is None or evaluation.exam or not evaluation.has_grades:
        return None
    if sketch.tuples.rows * len(sketch.jurors) * len(sketch.labels) > _MAX_COMPARED_CELLS:
        return None
    others = [name for name in default_methods(sketch) if name != evaluation.method]
    with suppress(JurorsError):
        compared = compare_counted(counted, others, grading.but(family=()), known)
        return Comparison((evaluation, *compared.evaluations), compared.refused, keyed)
    return None


# -- tables --

_MAX_TUPLES = 256  # rows of the partition's table; the embedded JSON has the others
_MAX_CELLS = 6_000  # of a table of accuracies or confusion matrices
_MAX_TEXT = 400  # characters of an item's text
_MAX_PAIRS = 60
_MAX_METHODS = 60


@dataclass(frozen=True, kw_only=True)
class IntervalRow:
    """A value on its interval, and the true one: what `jurors.reporting.page.bar` draws."""

    rank: int
    score: float | None
    ends: tuple[float, float]
    actual: float | None = None  #: with a key
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class PageTable(Table):
    """A table of the page; the first cell of each row is its heading."""

    id: str = ""
    named: tuple[int, ...] = (0,)  #: columns that hold names or labels: left-aligned, cut if long
    note: str = ""
    texts: tuple[int, ...] = ()  #: columns that hold sentences: left-aligned, on several lines

    @property
    def is_long(self) -> bool:
        """Whether the page shows it folded."""
        return len(self.rows) > 25 or len(self.columns) > 12


def number_tables(findings: ReportFindings) -> list[PageTable]:
    """Make every table of numbers, in the order in which a reader needs them.

    Returns
    -------
    list of PageTable
    """
    e = findings.evaluation
    makers: Sequence[Callable[[ReportFindings], PageTable | None]] = (
        _groups, _prevalences, _scores, _levels, _accuracies, _dependent_pairs, _abstentions, _repeats, _independent,
        _exact, _solutions, _partition, _confusions, _methods, _items,
    )  # fmt: skip
    if e.exam:
        makers = (_scores, _repeats, _methods)
    return [table for make in makers if (table := make(findings)) is not None]


def system_tables(compared: SystemComparison) -> list[PageTable]:
    """Make the tables of systems: their rates by tier, and the differences of pairs.

    Returns
    -------
    list of PageTable
    """
    rates, pairs = compared.rate_table(), compared.difference_table()
    by_system = tuple((name, *row[:1], *row[2:]) for name, row in zip(compared.systems, rates.rows, strict=True))
    by_pair = tuple((d.a, d.b, *row[1:]) for d, row in zip(compared.differences, pairs.rows, strict=True))
    heads = ("system", "rank", *rates.columns[2:])
    return [
        PageTable(heads, by_system, "How good each system is", id="table-systems"),
        PageTable(
            ("system", "minus", "difference", pairs.columns[2], "order"), by_pair, "Differences of pairs",
            id="table-differences", named=(0, 1), texts=(4,),
        ),
    ]  # fmt: skip


def method_sentence(findings: ReportFindings) -> str:
    """Explain how the numbers were estimated.

    Returns
    -------
    str
    """
    e = findings.evaluation
    how = {
        "algebraic": "The exact solution of the counts of decision tuples: if the errors of the three jurors are "
        "independent on this test, one of the two solutions is the truth."
        if e.exact is not None
        else "The algebraic solution of the counts of decision tuples, for jurors with independent errors.",
        "latent": "A latent class model, fitted to the counts of decision tuples: every item has an unknown true "
        "label, and every juror its own rate of confusing one label with another."
        if not e.is_on_a_line
        else "An ordinal latent trait model, fitted to the counts of decision tuples: every item has a position on an "
        "unknown line, and every juror follows it with its own precision and its own thresholds between levels.",
    }.get(e.method, f"The method {e.method}.")
    if e.is_calibrated:
        how += " The grades are then calibrated: they allow for shared errors as measured on juries with known answers."
    if e.gold is not None:
        return f"{how} They use {e.gold.items:,} gold items and no other true label."
    return f"{how} They use no answer key."


def interval_text(ends: tuple[float, float]) -> str:
    """Print an interval of shares in percent, or a dash if there is none.

    Returns
    -------
    str
    """
    return percent_range(ends) or "–"


def _repeats(findings: ReportFindings) -> PageTable | None:
    """How consistent jurors are who answered repeatedly."""
    e, keyed = findings.evaluation, findings.keyed
    return _first(repeat_tables(e.repeats if keyed is None else keyed.repeats), "table-repeats")


def _abstentions(findings: ReportFindings) -> PageTable | None:
    """Who abstains on what, if anyone does."""
    return _first(abstention_tables(findings.evaluation), "table-abstentions")


def _first(tables: Sequence[Table], id_: str) -> PageTable | None:
    return next((PageTable(table.columns, table.rows, table.title.capitalize(), id=id_) for table in tables), None)


def _grade_table(
    findings: ReportFindings, statistic: str, names: Sequence[tuple[Any, ...]], table: PageTable
) -> PageTable | None:
    """Fill a table with a statistic by name: estimated, by majority vote, and the actual one where a key is given."""
    e, keyed = findings.evaluation, findings.keyed
    if not e.has_grades:
        return None
    majority = e.majority if statistic != "accuracy" else None
    columns = [*table.columns, "prevalence" if statistic == "prevalence" else "accuracy", interval_name(e.level)]
    columns += ["if the majority is right"] * (majority is not None) + ["actual", "inside"] * (keyed is not None)
    rows = []
    for name in names:
        low, high = e.interval_of(statistic, *name)
        row = [*map(str, name), percent(share_of(e, statistic, *name)), interval_text((low, high))]
        if majority is not None:
            row.append(percent(share_of(majority, statistic, *name)))
        if keyed is not None:
            true = share_of(keyed, statistic, *name)
            inside = "–" if true is None or low != low else "yes" if low <= true <= high else "no"
            row += [percent(true), inside]
        rows.append(tuple(row))
    return replace(table, columns=tuple(columns), rows=tuple(rows))


def _prevalences(findings: ReportFindings) -> PageTable | None:
    table = PageTable(("label",), (), "How common each label is", id="table-prevalence")
    return _grade_table(findings, "prevalence", [(label,) for label in findings.evaluation.labels], table)


def _groups(findings: ReportFindings) -> PageTable | None:
    if (groups := findings.groups) is None:
        return None
    table = next(block for block in groups._blocks(full=True) if isinstance(block, Table))
    rows, name = [], table.rows[0][:2]
    for row in table.rows:
        name = row[:2] if row[0] else name
        rows.append((*name, *row[2:]))
    left = [f"{group}: {why}." for group, why in groups.left_out.items()]
    title = f"The accuracy of each juror by {table.columns[0]}"
    return PageTable(table.columns, tuple(rows), title, id="table-groups", named=(0, 2), note=" ".join(left))


def _scores(findings: ReportFindings) -> PageTable | None:
    table = PageTable(("juror",), (), "The accuracy of each juror over all items", id="table-scores")
    return _grade_table(findings, "score", [(juror,) for juror in findings.evaluation.jurors], table)


def _levels(findings: ReportFindings) -> PageTable | None:
    """How far off each juror is on ordered levels, and to which side; beside it by the key."""
    e, keyed = findings.evaluation, findings.keyed
    tables = [table for by in (e, keyed) if by is not None for table in level_tables(by)]
    if not tables or e.ordered is None:
        return None
    columns = (*tables[0].columns, *(f"actual {head}" for table in tables[1:] for head in table.columns[1:]))
    known = {row[0]: row[1:] for table in tables[1:] for row in table.rows}
    rows = tuple((*map(str, row), *map(str, known.get(row[0], ()))) for row in tables[0].rows)
    caption = "How far each juror's votes are from the estimated levels, in levels"
    return PageTable(columns, rows, caption, id="table-levels")


def _accuracies(findings: ReportFindings) -> PageTable | None:
    """One row per juror and label, so that sixteen labels read as well as two."""
    e = findings.evaluation
    width = 4 if findings.keyed is None else 6
    order = list(dict.fromkeys((*e.ranking.order, *e.jurors)))
    most = max(1, _MAX_CELLS // (width * len(e.labels)))
    shown = list(e.jurors) if len(e.jurors) <= most else order[:most]
    left = (len(e.jurors) - len(shown)) * len(e.labels)
    note = f"{left:,} more rows are in the embedded numbers." if left else ""
    caption = "The accuracy of each juror on the items of each true label"
    table = PageTable(("juror", "true label"), (), caption, id="table-accuracy", named=(0, 1), note=note)
    return _grade_table(findings, "accuracy", [(j, a) for j in shown for a in e.labels], table)


def _independent(findings: ReportFindings) -> PageTable | None:
    """What the independent-errors model says of every juror."""
    e, model = findings.evaluation, findings.evaluation.independent
    if not e.is_calibrated or model.solution is None:
        return None
    labels = e.labels if len(e.labels) <= 8 else ()
    rows = []
    for j in e.jurors:
        by_label = (percent(model.accuracy[j].get(a)) for a in labels)
        rows.append((str(j), percent(model.score.get(j)), interval_text(model.interval_of("score", j)), *by_label))
    columns = ("juror", "accuracy", interval_name(e.level), *(f"on {a}" for a in labels))
    caption = f"If errors were independent (method {e.method})"
    return PageTable(columns, tuple(rows), caption, id="table-independent")


def _exact(findings: ReportFindings) -> PageTable | None:
    e = findings.evaluation
    model, exact = e.independent, e.exact
    if exact is None:
        return None
    rows = [(f"prevalence of {a}", str(x), percent(model.prevalence.get(a))) for a, x in exact.prevalence.items()]
    rows += [
        (with_short_names(f"accuracy of {j} on {a}"), str(x), percent(model.accuracy[j][a]) if model.accuracy else "–")
        for j, by_label in exact.accuracy.items()
        for a, x in by_label.items()
    ]
    kind = "rational" if exact.is_rational else "irrational"
    caption = f"The exact solution ({kind})"
    return PageTable(("statistic", "exactly", "rounded"), tuple(rows), caption, id="table-exact", named=(0, 1))


def _solutions(findings: ReportFindings) -> PageTable | None:
    e, model = findings.evaluation, findings.evaluation.independent
    shown = [s.to_float() for s in model.solutions[:6]]
    if not shown or (len(shown) == 1 and model.solution is not None):
        return None
    heads = ["selected" if k == 0 and model.solution is not None else f"solution {k + 1}" for k in range(len(shown))]
    rows = [(f"prevalence of {a}", *(percent(s.prevalence[a]) for s in shown)) for a in e.labels]
    rows += [
        (with_short_names(f"accuracy of {j} on {a}"), *(percent(s.accuracy[j][a]) for s in shown))
        for j in e.jurors
        for a in e.labels
    ]
    rows += [(with_short_names(f"score of {j}"), *(percent(s.score[j]) for s in shown)) for j in e.jurors]
    note = f"Selected: {model.rule}." if model.solution is not None else "None of them is real, so none is selected."
    left = len(model.solutions) - len(shown)
    note += f" {left:,} more are in the embedded numbers." if left else ""
    caption = "Every solution that explains the votes, if errors were independent"
    return PageTable(("statistic", *heads), tuple(rows), caption, id="table-solutions", note=note)


def _partition(findings: ReportFindings) -> PageTable | None:
    """The commonest decision tuples, each split by estimated true label."""
    e = findings.evaluation
    partition = e.partition
    if partition is None or len(e.jurors) > 12 or len(e.labels) > 8:
        return None
    sketch = partition.sketch
    order = (-sketch.counts).argsort(kind="stable")[:_MAX_TUPLES]
    decisions = sketch.tuples.codes[order].tolist()
    columns = (*e.jurors, "items", *(f"true {a}" for a in e.labels), "best label")
    rows = [
        (
            *("–" if code < 0 else str(e.labels[code]) for code in decisions[place]),
            f"{sketch.counts[k]:,}",
            *(f"{x:,.1f}" if x == x else "–" for x in partition.by_true_label[k]),
            str(e.labels[partition.chosen[k]]),
        )
        for place, k in enumerate(order.tolist())
        if sketch.counts[k]
    ]
    left = int((sketch.counts > 0).sum()) - len(rows)
    note = f"{left:,} rarer decision tuples are left out here." if left else ""
    named = (*range(len(e.jurors)), len(columns) - 1)
    caption = "The items of each decision tuple, by estimated true label"
    return PageTable(columns, tuple(rows), caption, id="table-partition", named=named, note=note)


def _confusions(findings: ReportFindings) -> PageTable | None:
    e = findings.evaluation
    if e.independent.solution is None or len(e.labels) < 3 or len(e.jurors) * len(e.labels) ** 2 > _MAX_CELLS:
        return None
    columns = ("juror", "true label", *(f"vote {b}" for b in e.labels))
    rows = [
        (j, str(a), *(percent(e.independent.confusion[j][a][b]) for b in e.labels)) for j in e.jurors for a in e.labels
    ]
    caption = "Confusion: the votes of each juror by true label, if errors were independent"
    return PageTable(columns, tuple(rows), caption, id="table-confusion", named=(0, 1))


def _dependent_pairs(findings: ReportFindings) -> PageTable | None:
    """The pairs that agree most beyond chance."""
    pairs, keyed = findings.evaluation.dependence[:_MAX_PAIRS], findings.keyed
    if not pairs:
        return None
    columns = ["first", "second", "kappa", "error correlation"]
    rows = [[*pair.jurors, f"{pair.kappa:+z.2f}", f"{pair.correlation:+z.2f}"] for pair in pairs]
    if keyed is not None:
        actual = {frozenset((a, b)): f"{x:+z.2f}" for a, b, x, _ in dependence_with_key(keyed).pairs()}
        columns.append("actual")
        rows = [[*row, actual.get(frozenset(row[:2]), "–")] for row in rows]
    by = "this and gold suggest" if findings.evaluation.dependence_has_gold else "this suggests"
    caption = f"Pairs that agree most beyond chance, and the error correlation that {by}"
    return PageTable(tuple(columns), tuple(map(tuple, rows)), caption, id="table-dependence", named=(0, 1))


def _methods(findings: ReportFindings) -> PageTable | None:
    if findings.comparison is None or len(findings.comparison.evaluations) < 2:
        return None
    columns, numbers = findings.comparison.rows(findings.evaluation.ranking.order[:_MAX_METHODS])
    rows = tuple((with_short_names(name), *map(percent, values)) for name, *values in numbers)
    note = f"{findings.comparison.basis} Counted majority votes can differ from it." * bool(findings.comparison.basis)
    return PageTable(columns, rows, "The same votes graded by other methods", id="table-methods", note=note)


def _items(findings: ReportFindings) -> PageTable | None:
    """The items whose label is the least likely to be right."""
    queue = findings.queue
    if queue is None or queue.wrong_labels is None:
        return None
    votes = {_shown_names.get().get(juror, juror): cells for juror, cells in (queue.votes or {}).items()}
    shown = {"votes": short_vote(votes), **(queue.texts or {})}
    cells = zip(*([_cut(text) for text in column] for column in shown.values()), strict=True)
    rows = tuple((str(i), str(a), percent(p), *more) for (i, a, p), more in zip(queue.rows(), cells, strict=True))
    columns = ("item", "best label", "probability", *shown)
    caption = f"The {len(rows)} items whose label is the least likely to be right"
    return PageTable(columns, rows, caption, id="table-items", named=(0, 1), texts=tuple(range(3, len(columns))))


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_TEXT else f"{line[:_MAX_TEXT]}…"


# -- words that the sentences of the page share --

_SHORT = 15  # characters that every screen has room for
_END = 9  # characters of a long name's end that are always shown


_shown_names: ContextVar[Mapping[Any, str]] = ContextVar("shown_names", default=MappingProxyType({}))


@contextmanager
def showing_short_names(jurors: Sequence[str]) -> Iterator[None]:
    """Call these jurors by their short names on the page that is made meanwhile."""
    token = _shown_names.set(short_names(tuple(jurors)))
    try:
        yield
    finally:
        _shown_names.reset(token)


def with_short_names(sentence: str) -> str:
    """A sentence that calls jurors as the page does.

    Returns
    -------
    str
    """
    return replace_names(sentence, _shown_names.get())


def name(text: Any) -> Markup:
    """Mark up a name that keeps its own direction; the page's style cuts a long one, which has the whole as a hint.

    Returns
    -------
    Markup
    """
    return _marked_up(_shown_names.get().get(text, text))


@lru_cache(maxsize=4096, typed=True)  # a page of twenty thousand items writes each name hundreds of times
def _marked_up(text: Any) -> Markup:
    shown = escape_text(str(text))
    if len(shown) <= _SHORT:
        return Markup("<bdi>{}</bdi>").format(shown)
    start, end = shown[:-_END], shown[-_END:]  # names of models differ at their end, so the middle is cut
    return Markup('<bdi class="name" title="{}"><span>{}</span><span>{}</span></bdi>').format(shown, start, end)


def names(all_names: Sequence[Any], most: int = 5) -> Markup:
    """List names: `ann, bob and cy`; `ann, bob, cy and 12 more`.

    Returns
    -------
    Markup
    """
    shown = list(map(name, all_names[:most]))
    rest = len(all_names) - len(shown)
    if rest:
        return Markup(", ").join(shown) + Markup(" and {} more").format(f"{rest:,}")
    if len(shown) < 2:
        return Markup("").join(shown)
    return Markup(", ").join(shown[:-1]) + Markup(" and ") + shown[-1]


def sentences(lines: Sequence[str]) -> list[str]:
    """Join the lines of a card, which end where its width does, to sentences.

    Returns
    -------
    list of str

    Examples
    --------
    >>> sentences(["One line that", "goes on.", "Another."])
    ['One line that goes on.', 'Another.']
    """
    joined: list[str] = []
    for line in lines:
        if joined and not joined[-1].endswith((".", ":")):
            joined[-1] += f" {line}"
        else:
            joined.append(line)
    return joined


# -- what is known of the truth: what an answer key says of the grades, and what an audit's labels prove --

_MAX_ROWS = 1_000  # of a table of an audit
_PROVED = {
    "score": "The accuracy of each juror over all items",
    "wrong_labels": "The share of wrong labels of each method, which did not use the audit's labels",
    "prevalence": "How common each label is",
    "accuracy": "The accuracy of each juror on the items of each true label",
}
_HEADS = {"score": ["juror"], "wrong_labels": ["method"], "prevalence": ["label"], "accuracy": ["juror", "true label"]}


def key_lines(check: KeyCheck) -> list[Markup]:
    """Compare the grades with the key.

    Returns
    -------
    list of Markup
        Sentences.
    """
    who, estimate, true = check.worst
    start = "Compared with" if not check.speaks_against else "Contradicted by"
    line = Markup("{} the answer key ({}): the largest error is that of {}, {} estimated, {} actual.").format(
        start, count_noun(check.items, "item"), names([who]), percent(estimate), percent(true)
    )
    if check.known:
        promised = f", and {check.level * 100:g}% should" if check.is_contradicted else ""
        line += Markup(" {} of {} score intervals contain the actual score{}.").format(
            f"{check.held:,}", f"{check.known:,}", promised
        )
    if (labels := check.labels) is None:
        return [line]
    expected = f", but {labels.expected / labels.items:.1%} were predicted" if labels.are_far_off else ""
    by_key = Markup("By the key, {} of the best labels are wrong ({:.1%}){}; of majority votes, {:.1%} are.").format(
        f"{labels.wrong:,}", labels.wrong / labels.items, expected, labels.majority / labels.items
    )
    return [line, by_key]


def label_advice(labels: Labels) -> str | None:
    """Advise which labels to use, by the key.

    Returns
    -------
    str or None
    """
    best, majority = f"{labels.wrong / labels.items:.1%}", f"{labels.majority / labels.items:.1%}"
    if labels.wrong == labels.majority == 0:
        return None
    if labels.better == "best":
        return f"Use the best labels, not majority vote: by the key {best} of them are wrong, against {majority}"
    if labels.better == "majority":
        return f"Use majority vote, not the best labels: by the key {majority} of its labels are wrong, against {best}"
    return (
        f"Use majority vote, which is simpler: by the key {majority} of its labels are wrong, and {best} of the best "
        "labels, no difference beyond chance"
    )


def audit_lines(audit: Audit) -> list[str]:
    """Describe what the two columns of an audit mean.

    Returns
    -------
    list of str
    """
    first = f"A person labelled {audit.labelled:,} of the {count_noun(audit.items, 'item')}, drawn at random."
    real = (
        "Calibrated intervals use these labels as gold, and are valid as far as your jury resembles the reference "
        "juries."
    )
    return [first, *audit.notes, *([] if audit.calibrated is None else [real])]


def audit_tables(audit: Audit) -> list[PageTable]:
    """Make the tables of an audit, guaranteed and calibrated: scores, wrong labels, prevalences, accuracies.

    Returns
    -------
    list of PageTable
    """
    tables, sure = [], interval_name(audit.level)
    for statistic, caption in _PROVED.items():
        names = [name for name in audit.guaranteed if name[0] == statistic]
        rows = []
        for name in names[:_MAX_ROWS]:
            row = [str(part) for part in name[1:]]
            for share in (audit.guaranteed[name], (audit.calibrated or {}).get(name)):
                row += ["–", "–"] if share is None else [percent(share.printed), interval_text(share.interval)]
            rows.append(tuple(row))
        heads, left = _HEADS[statistic], len(names) - len(rows)
        table = PageTable(
            (*heads, "guaranteed" if audit.is_random else "if random", sure, "calibrated", sure), tuple(rows), caption,
            id=f"audit-{statistic.replace('_', '-')}", named=tuple(range(len(heads))),
            note=f"{left:,} more rows are in the embedded numbers." if left else "",
        )  # fmt: skip
        tables.append(table)
    return tables
