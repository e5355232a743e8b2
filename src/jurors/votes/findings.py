"""Data-quality checks."""

from __future__ import annotations

import hashlib
import shlex
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import single_threaded, stable_argsort
from jurors.errors import format_first_names, format_names
from jurors.options import Label, Reading, text_columns
from jurors.votes.codes import Finding, Level, list_names, may_mean_missing
from jurors.votes.layout import Layout
from jurors.votes.pair_columns import FIRST, SECOND, TIE, side_of
from jurors.votes.recode import numerals
from jurors.votes.scale import FEWEST_LEVELS, STREAMS_HAVE_LABELS
from jurors.votes.table import (
    ABSTAINED,
    JurorLabelCounts,
    Votes,
    components,
    count_labels_by_juror,
    sample_codes,
    tuple_counts,
)

# What kind of answers votes were taken for, where nobody said it and it is not plain.


_MOST_SHOWN = 12


def scale_finding(votes: Votes) -> Iterator[Finding]:
    """A note of the scale that was recognised; nothing where the caller said it, or where labels are plain words.

    >>> [finding.message for finding in scale_finding(Votes.from_matrix([["low", "high"], ["mid", "high"]]))]
    ['taken for ordered levels, low < mid < high (words of an ordered scale); if they have no order: --scale nominal']
    """
    if votes.scale_told or not votes.scale_why or len(votes.labels) < FEWEST_LEVELS:
        return
    if votes.scale == "ordinal":
        levels = format_names(votes.labels, _MOST_SHOWN, between=" < ")
        what, otherwise = f"ordered levels, {levels}", "if they have no order: --scale nominal"
    elif votes.scale == "interval":
        what, otherwise = "numbers", "if they name classes: --scale nominal"
    elif None not in numerals(votes.labels).texts:
        what, otherwise = "labels without order", "if they are levels: --scale ordinal"
    else:
        return
    otherwise = "" if votes.scale_why == STREAMS_HAVE_LABELS else f"; {otherwise}"
    yield Finding("scale", f"taken for {what} ({votes.scale_why}){otherwise}", value=float(len(votes.labels)))


# What the labels and names of some votes show: words for no vote, words that may be one, names that look alike.


def missing_words(words: Sequence[str], times: Sequence[int]) -> Iterator[Finding]:
    """A note of the words that were taken for no vote, and how often they were said."""
    if words:
        shown = ", ".join(f"{word!r} ({n:,})" for word, n in zip(words, times, strict=True))
        message = f"taken for no vote: {shown}; where this is an answer, name all labels (--labels A,B)"
        yield Finding("missing_words", message, tuple(words), value=float(sum(times)))


def abstentions(
    jurors: Sequence[str], times: NDArray[np.int64], words: Sequence[str], assumed: Sequence[str]
) -> Iterator[Finding]:
    """A note of who abstained how often, by which words; the `assumed` ones nobody named."""
    order = [int(k) for k in np.argsort(-times, kind="stable") if times[k]]
    if order:
        shown = format_names((f"{jurors[k]!r} {times[k]:,}" for k in order), 8)
        said = ", ".join(map(repr, words))
        message = f"{said}: {times.sum():,} abstentions, which are never a true label ({shown})"
        if assumed:
            message += "; where this is an answer, name all labels (--labels A,B)"
        yield Finding("abstentions", message, tuple(jurors[k] for k in order), value=float(times.sum()))


def ambiguous_words(labels: Sequence[Label], counts: NDArray[np.int64]) -> Iterator[Finding]:
    """Labels that may be an answer, or mean that none was given."""
    total = max(int(counts.sum()), 1)
    odd = [k for k, label in enumerate(labels) if may_mean_missing(label, labels, counts[k] / total)]
    odd = [
        k for k in odd if not _is_tie(labels[k], [labels[other] for other in range(len(labels)) if other not in odd])
    ]
    if not odd or len(labels) - len(odd) < 2:
        return
    shown = ", ".join(f"{labels[k]!r} ({counts[k]:,})" for k in odd)
    missing, abstain = (" ".join(_flag(flag, labels[k]) for k in odd) for flag in ("--missing", "--abstain"))
    every = shlex.quote(",".join(map(str, labels)))
    message = (
        f"label {shown} may be an answer or none: say {missing} to leave it out, {abstain} to count it as abstaining, "
        f"or --labels {every} if it is an answer"
    )
    yield Finding("ambiguous_words", message, tuple(labels[k] for k in odd), "alarm", float(counts[odd].sum()))


def _is_tie(label: Label, others: Sequence[Label]) -> bool:
    """Whether a label says that neither of two is better, as the others say which is.

    >>> _is_tie("tie", ["model_a", "model_b"]), _is_tie("tie", ["pass", "fail"]), _is_tie("unsure", ["A", "B"])
    (True, False, False)
    """
    return side_of(str(label)) == TIE and sorted(side_of(str(other)) or 0 for other in others) == [SECOND, FIRST]


def _flag(flag: str, label: Label) -> str:
    return f"{flag}={shlex.quote(str(label))}" if str(label).startswith("-") else f"{flag} {shlex.quote(str(label))}"


def similar_names(what: str, names: Sequence[Any]) -> Iterator[Finding]:
    """Labels or jurors whose names differ only by case, blanks, width or how a letter is composed."""
    plain = "\n".join(map(str, names))
    if plain.isascii() and len(set(folded := plain.lower().split())) == len(folded) == len(names):
        return  # no blanks but those between names, and no two names alike: nearly always
    alike: dict[str, list[Any]] = {}
    for name in names:
        alike.setdefault(" ".join(unicodedata.normalize("NFKC", str(name)).split()).casefold(), []).append(name)
    groups = [group for group in alike.values() if len(group) > 1]
    if groups:
        shown = "; ".join(" and ".join(map(repr, group)) for group in groups[:6])
        message = f"{what}s differ only by case or blanks, and count as different ones: {shown}"
        about = tuple(name for group in groups for name in group)
        kind = "similar_labels" if what == "label" else "similar_jurors"
        yield Finding(kind, message, about, "alarm", float(len(groups)))


def columns_left(names: Sequence[str]) -> Iterator[Finding]:
    """A note of the columns beside the jurors' that are not read, although nobody said to leave them out."""
    if names:
        message = f"not read, since {'it is' if len(names) == 1 else 'they are'} no juror's: {list_names(names)}"
        yield Finding("columns_left", f"{message} (--layout wide reads every column)", tuple(names))


# Jurors who speak otherwise than the rest, and labels that are hardly labels: numbers, free text, slips.


_MOST_LABELS = 1_000
_MANY_NUMBERS = 12
_RARE = 0.001
_LONG_TEXT = 60


def alphabets(votes: Votes, said: JurorLabelCounts) -> Iterator[Finding]:
    """Groups of jurors who share no label: one says 1 and 0 where the others say yes and no."""
    if not 0 < len(votes.labels) <= _MOST_LABELS or votes.scale == "interval":  # whoever measures speaks alone
        return
    heard = said.sum(axis=1, keepdims=True)
    speaks = (said > 0) & (said >= min(0.1, 0.5 / max(len(votes.labels), 1)) * heard)
    if speaks.all(axis=0).any():  # most juries: there is a word that everybody uses
        return
    able = np.flatnonzero((heard[:, 0] >= min(5, max(2, votes.total // 2))) & speaks.any(axis=1))
    spoken = speaks[able].astype(np.int64)
    kin = _tongues(spoken.T @ spoken > 0)[spoken.argmax(axis=1)]
    groups = [able[kin == tongue] for tongue in dict.fromkeys(kin.tolist())]
    if len(groups) < 2:
        return
    main = max(groups, key=len)
    mends = {
        k: _mapping(votes, g, main, np.flatnonzero(speaks[g].any(axis=0)), np.flatnonzero(speaks[main].any(axis=0)))
        for k, g in enumerate(groups)
        if g is not main
    }
    if len(groups) > max(2, len(able) // 2) and not all(mends.values()):
        shown = "; ".join(f"{votes.jurors[g[0]]} says {_few(votes, speaks[g].any(axis=0))}" for g in groups[:3])
        yield unlike_columns(shown, "alarm")
        return
    for k, mended in mends.items():
        group, strange, usual = groups[k], speaks[groups[k]].any(axis=0), speaks[main].any(axis=0)
        names = tuple(votes.jurors[k] for k in group.tolist())
        says, them = ("says", "this juror") if len(names) == 1 else ("say", "these jurors")
        message = f"{list_names(names)} {says} {_few(votes, strange)} where the others say {_few(votes, usual)}: "
        message += f"{mended}leave {them} out (--ignore COLUMN)"
        yield Finding("another_alphabet", message, names, "alarm", float(len(names)))


def unlike_columns(examples: str, level: Level) -> Finding:
    """That the jurors of a table are none, with what some of them say."""
    message = f"the jurors do not say the same labels ({examples}): a table of features, not of votes? "
    return Finding("unlike_columns", message + "Leave out what is no juror (--ignore COLUMN)", level=level)


def _tongues(near: NDArray[np.bool_]) -> NDArray[np.int64]:
    """For each label, which group of labels it belongs to, that somebody uses side by side."""
    tongue = np.empty(len(near), dtype=np.int64)
    for number, group in enumerate(components(near)):
        tongue[group] = number
    return tongue


def _mapping(votes: Votes, group: NDArray[Any], main: NDArray[Any], strange: NDArray[Any], usual: NDArray[Any]) -> str:
    """What each strange label most often stands for, by what the others say of the same items; empty if unclear."""
    if not votes.is_dense:
        return ""
    codes, counts = sample_codes(votes)
    theirs = np.stack([(codes[:, main] == label).sum(axis=1) for label in usual], axis=1)
    meant: dict[int, int] = {}
    for label in strange.tolist():
        where = (codes[:, group] == label).any(axis=1)
        meant[label] = int(usual[int(np.argmax((theirs[where] * counts[where, None]).sum(axis=0)))])
    if len(set(meant.values())) < len(meant):
        return ""  # no other words for the same, most likely
    return "write " + ", ".join(f"{votes.labels[new]} for {votes.labels[old]}" for old, new in meant.items()) + ", or "


def strange_numbers(votes: Votes, counts: NDArray[np.int64]) -> Iterator[Finding]:
    """Numbers among words or much smaller numbers, each said once or so: a line of totals; or scores, no labels.

    `counts` are votes by label.
    """
    sizes = np.array(numerals(votes.labels).sizes, dtype=np.float64)  # NaN where a label is no number
    numbers = ~np.isnan(sizes)
    if not numbers.any():
        return
    rare = numbers & (counts <= 2) & (counts > 0)
    if rare.any() and counts[~rare].sum() > 20 * counts[rare].sum() and _are_totals(sizes, rare, numbers):
        among = "far larger than the others" if numbers.all() else "among words"
        message = f"{_few(votes, rare)} {among}, said once or so: a line of totals? Take it out"
        about = tuple(votes.labels[k] for k in np.flatnonzero(rare).tolist())
        yield Finding("rare_numbers", message, about, "alarm", float(counts[rare].sum()))
    elif numbers.all() and len(votes.labels) > _MANY_NUMBERS and votes.scale != "interval":
        message = (
            f"{len(votes.labels):,} different numbers from {sizes.min():g} to {sizes.max():g} are scores, not labels: "
            "say --scale interval, or make labels of them (--threshold NUMBER, --bins ENDS)"
        )
        yield Finding("scores", message, level="warning", value=float(len(votes.labels)))


def _are_totals(sizes: NDArray[np.float64], rare: NDArray[np.bool_], numbers: NDArray[np.bool_]) -> bool:
    """Whether the rare numbers are the only ones, or far larger than all others."""
    if not numbers.all():
        return bool(rare.sum() == numbers.sum())
    return bool(abs(sizes[rare]).min() > 2 + 3 * abs(sizes[~rare]).max())


def odd_labels(votes: Votes, counts: NDArray[np.int64]) -> Iterator[Finding]:
    """Very many or very long labels; otherwise those that hardly anybody says. `counts` are votes by label."""
    labels, total = votes.labels, int(counts.sum())
    if None not in numerals(labels).sizes:
        return
    if len(labels) > max(20, total // 10) or any(len(str(label)) > _LONG_TEXT for label in labels):
        longest = max(map(str, labels), key=len)
        message = f"{len(labels):,} different labels, such as {longest[:40]!r}, look like free text"
        yield Finding("free_text", message, level="warning", value=float(len(labels)))
        return
    rare = [k for k, n in enumerate(counts.tolist()) if 0 < n < _RARE * total]
    if rare:
        shown = format_first_names((f"{labels[k]!r} ({counts[k]:,})" for k in rare), 6)
        message = f"fewer than one vote in a thousand says {shown}: a slip?"
        yield Finding("rare_labels", message, tuple(labels[k] for k in rare), value=float(len(rare)))


def _few(votes: Votes, which: NDArray[np.bool_]) -> str:
    names = [repr(votes.labels[k]) for k in np.flatnonzero(which)[:4].tolist()]
    return ", ".join(names) + (" …" if which.sum() > 4 else "")


# Rows that come again: a table put together with itself, one file under two names.


_ENOUGH = 12  #: tuples, before a common divisor of their counts says anything


def repeated_rows(votes: Votes, *, distinct: bool = False) -> Iterator[Finding]:
    """Every tuple of votes comes an even number of times, or three times as often: the rows were pasted twice.

    Not to be asked of counts that the user gave. `distinct`: no two rows are the same tuple.
    """
    if not votes.is_dense or votes.rows < _ENOUGH:
        return
    counts = votes.weights if distinct else tuple_counts(votes)
    times = int(np.gcd.reduce(counts))
    if times > 1 and len(counts) >= _ENOUGH:
        often = {2: "twice", 3: "three times"}.get(times, f"{times} times")
        message = f"every row of votes comes {often} (or a multiple of it): was the file put together with itself?"
        yield Finding("repeated_rows", message, level="alarm", value=float(times))


def same_files(paths: Sequence[Path]) -> tuple[int, int] | None:
    """Positions of two files that hold the same bytes; only files of one size are read."""
    by_size: dict[int, list[int]] = {}
    for k, path in enumerate(paths):
        by_size.setdefault(path.stat().st_size, []).append(k)
    seen: dict[str, int] = {}
    for k in (k for group in by_size.values() if len(group) > 1 for k in group):
        with paths[k].open("rb") as file:
            mark = hashlib.file_digest(file, "sha256").hexdigest()
        if mark in seen:
            return seen[mark], k
        seen[mark] = k
    return None


# What the votes side by side show: a column made from the others, copies, items that are not the same items.


_SIDE_BY_SIDE_ENOUGH = 20  #: votes, before a pattern of votes says anything
_MOST_COMPARED = 10_000
_MOST_JURORS = 64
_MADE = 0.97  #: of the contested items, on which a column says what most others say
_CONTESTED = 12
_FEW_JURORS = 8  #: up to here two who copy are a quarter of the jury


def side_by_side(votes: Votes, said: JurorLabelCounts, *, twins: bool = True) -> Iterator[Finding]:
    """What only the votes side by side show; of panels in which most jurors never meet, only who has the same votes.

    `twins` asks also for copies of whom nothing follows by itself; of three jurors there is nothing else to see.
    """
    same = list(_same_votes(votes, said)) if twins else []
    yield from same
    width, depth = len(votes.jurors), len(votes.labels)
    if not votes.is_dense or not (3 if twins else 4) <= width <= _MOST_JURORS or not 2 <= depth <= _MOST_JURORS:
        return
    codes, counts = sample_codes(votes, _MOST_COMPARED)
    tally = _tally(codes, depth)
    yield from _made(votes, codes, counts, tally)
    with single_threaded():  # a product of a few thousand rows is not worth a thread
        agree, both = _agreement(codes, counts, depth)
    varies = (said > 0).sum(axis=1) > 1
    alike = (agree > both - 0.5) & (both >= _SIDE_BY_SIDE_ENOUGH) & varies & varies[:, None]
    if not same:
        yield from (
            copy for copy in _never_differ(votes, codes, counts, tally, alike) if twins or copy.level == "alarm"
        )
    yield from _groups_apart(votes, said, agree, both)


def _tally(codes: NDArray[Any], labels: int) -> NDArray[np.int16]:
    """Rows x labels: how many say each."""
    place = np.arange(len(codes))[:, None] * (labels + 1) + codes + 1
    return (
        np.bincount(place.ravel(), minlength=len(codes) * (labels + 1)).reshape(-1, labels + 1)[:, 1:].astype(np.int16)
    )


def _made(votes: Votes, codes: NDArray[Any], counts: NDArray[np.int64], tally: NDArray[Any]) -> Iterator[Finding]:
    """A column that says what most of the others say wherever these disagree, and no other column does."""
    if len(votes.jurors) < 4:
        return
    shares = _follow_most(codes, counts, tally)
    able = np.flatnonzero(shares[:, 1] >= _CONTESTED)
    if not len(able):
        return
    best = able[np.argmax(shares[able, 0])]
    others = np.delete(shares[:, 0], best)
    if shares[best, 0] >= _MADE and others.max(initial=0) < shares[best, 0] - 0.02:
        name = votes.jurors[best]
        message = (
            f"{name!r} says what most others say on {shares[best, 0]:.1%} of the {int(shares[best, 1]):,} items on "
            "which they disagree: a column made from the others is no juror; leave it out "
            f"(--ignore {shlex.quote(name)})"
        )
        yield Finding("made_from_others", message, (name,), "alarm", float(shares[best, 0]))


def _follow_most(codes: NDArray[Any], counts: NDArray[np.int64], tally: NDArray[Any]) -> NDArray[Any]:
    """On which share of the contested items each column is with most of the others, and how many these are.

    The others' tally is that of all less one vote, so the three most said labels of all tell who leads it.
    """
    order = _three_most_said(tally)
    first, second = order[:, 0].astype(codes.dtype), order[:, 1].astype(codes.dtype)
    most, next_, third, *_ = (*np.take_along_axis(tally, order, axis=1).T, np.zeros(len(tally), dtype=tally.dtype))
    lower = np.maximum(next_ - 1, third)
    leads = (most - 1 > next_) & (next_ > 0)  # who said the first label is with most others
    tied = (most == next_) & (third < most) & (most > 1)  # who said it has left the lead to the second
    behind, below = (most > next_) & (next_ > 0), (most > lower) & (lower > 0)  # who said another label, or the second
    said_first, said_second, items = codes == first[:, None], codes == second[:, None], counts.astype(np.float64)
    with_most = items @ (said_first & leads[:, None])
    other = (codes >= 0) & ~said_first & np.where(said_second, below[:, None], behind[:, None])
    contested = with_most + items @ (other | (said_first & tied[:, None]))
    return np.column_stack(
        [np.divide(with_most, contested, where=contested > 0, out=np.zeros_like(contested)), contested]
    )


def _three_most_said(tally: NDArray[Any]) -> NDArray[np.int64]:
    """Rows x 3 (or as many labels as there are): the labels that are said most, of equals the first of them first."""
    left, rows = tally.copy(), np.arange(len(tally))
    order = np.empty((len(tally), min(3, tally.shape[1])), dtype=np.int64)
    for place in range(order.shape[1]):
        order[:, place] = left.argmax(axis=1)
        left[rows, order[:, place]] = -1
    return order


def _agreement(codes: NDArray[Any], counts: NDArray[np.int64], labels: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Jurors x jurors: on how many items two say the same, and on how many both vote."""
    weight = np.sqrt(counts.astype(np.float32))[:, None]
    agree = np.zeros((codes.shape[1],) * 2)
    for label in range(labels):
        said = (codes == label) * weight
        agree += said.T @ said
    voted = (codes >= 0) * weight
    return agree, voted.T @ voted


def _same_votes(votes: Votes, said: JurorLabelCounts) -> Iterator[Finding]:
    """Jurors who voted on the same items and said the same of each; who always says the same is told as that."""
    row, col, code = votes.triples()
    order = stable_argsort(col)  # rows are in order
    ends = np.searchsorted(col[order], np.arange(len(votes.jurors) + 1))
    alike: dict[bytes, list[int]] = {}
    for k in np.flatnonzero((said.sum(axis=1) >= _SIDE_BY_SIDE_ENOUGH) & ((said > 0).sum(axis=1) > 1)).tolist():
        mine = order[ends[k] : ends[k + 1]]
        alike.setdefault(row[mine].tobytes() + b"|" + code[mine].tobytes(), []).append(k)
    for group in alike.values():
        if len(group) > 1:
            yield _twice(tuple(votes.jurors[k] for k in group), int(said[group[0]].sum()), "warning")


def _twice(names: tuple[str, ...], items: int, level: Level) -> Finding:
    message = f"{list_names(names)} gave the same votes on the same {items:,} items: one juror twice?"
    return Finding("copies", message, names, level, float(items))


def _never_differ(
    votes: Votes, codes: NDArray[Any], counts: NDArray[np.int64], tally: NDArray[Any], alike: NDArray[np.bool_]
) -> Iterator[Finding]:
    """Two jurors who never differ although the others do; `alike` are those of whom some rows showed it."""
    for a, b in np.argwhere(np.triu(alike, 1))[:6].tolist():
        both = (codes[:, a] >= 0) & (codes[:, b] >= 0)
        if (codes[both, a] != codes[both, b]).any():
            continue
        rest = tally - (codes[:, [a]] == np.arange(tally.shape[1])) - (codes[:, [b]] == np.arange(tally.shape[1]))
        contested = counts[(np.sort(rest, axis=1)[:, -2] > 0) & both].sum()
        grave = contested >= _CONTESTED and 3 < len(votes.jurors) <= _FEW_JURORS
        yield _twice((votes.jurors[a], votes.jurors[b]), int(counts[both].sum()), "alarm" if grave else "warning")


def _groups_apart(votes: Votes, said: JurorLabelCounts, agree: NDArray[Any], both: NDArray[Any]) -> Iterator[Finding]:
    """Jurors who agree among themselves but across groups only by chance: items of one name that are not the same."""
    share = said / np.maximum(said.sum(axis=1, keepdims=True), 1)
    chance = share @ share.T
    error = np.sqrt(np.maximum(chance * (1 - chance), 1e-9) / np.maximum(both, 1))
    above = (agree / np.maximum(both, 1) - chance) / error
    np.fill_diagonal(above, 9.0)
    groups = components((above > 2.5) & (both >= _SIDE_BY_SIDE_ENOUGH))
    large = [g for g in groups if len(g) >= 2]
    if (
        len(large) < 2
        or len(large) < len(groups)
        or any((both[np.ix_(a, b)] < _SIDE_BY_SIDE_ENOUGH).any() for a in large for b in large)
    ):
        return
    shown = "; ".join(list_names([votes.jurors[k] for k in g.tolist()]) for g in large[:3])
    message = (
        f"jurors agree within groups ({shown}), but between them only by chance: are items of one name the same items?"
    )
    yield Finding("items_coincide", message, level="alarm", value=float(len(large)))


# `find_findings`: what some votes show, made once and said by every command.


_LEVELS = ("alarm", "warning", "note")
_MOST_CELLS = 20_000_000  #: jurors x labels that are counted


def find_findings(votes: Votes, *, weighted: bool = False, twins: bool = True) -> tuple[Finding, ...]:
    """Everything to know about the votes, with what their reader saw, the gravest first.

    `weighted` says that the counts are the user's own, and not those of rows; without `twins`, copies are told only
    where they are an alarm.

    Examples
    --------
    >>> rows = [["yes", "no", "1"], ["no", "no", "0"], ["yes", "yes", "1"]] * 5
    >>> [finding.kind for finding in find_findings(Votes.from_matrix(rows, jurors=("ann", "bob", "cy")))]
    ['another_alphabet']
    """
    if len(votes.jurors) * len(votes.labels) > _MOST_CELLS:
        return votes.findings
    said = count_labels_by_juror(votes)
    by_label = said.sum(axis=0)
    findings = (
        *votes.findings,
        *scale_finding(votes),
        *(() if votes.labels_told else ambiguous_words(votes.labels, by_label)),
        *similar_names("label", votes.labels),
        *similar_names("juror", votes.jurors),
        *alphabets(votes, said),
        *strange_numbers(votes, by_label),
        *(() if weighted else repeated_rows(votes)),
        *odd_labels(votes, by_label),
        *side_by_side(votes, said, twins=twins),
    )
    return tuple(sorted(dict.fromkeys(findings), key=lambda finding: _LEVELS.index(finding.level)))


# What only the reader of a table sees: cells taken for no vote, columns left out, what it assumed.


_MANY_JURORS = 20


@dataclass(frozen=True)
class Spelling:
    """Cells as labels (None: no label), which of them were taken for no vote, and which are abstentions."""

    labels: list[Any]
    absent: dict[int, str]  #: words for no vote, by their positions among the cells
    abstained: dict[int, str] = field(default_factory=dict)  #: words for abstaining, likewise
    assumed: frozenset[str] = frozenset()  #: those of them that nobody named

    @property
    def answers(self) -> list[Any]:
        """The labels, with `ABSTAINED` where a cell is an abstention."""
        if not self.abstained:
            return self.labels
        return [ABSTAINED if k in self.abstained else label for k, label in enumerate(self.labels)]

    @property
    def says_something(self) -> bool:
        """Whether there is anything to know about the cells."""
        return bool(self.absent or self.abstained)

    def findings(
        self, jurors: Sequence[str], juror: NDArray[Any], cell: NDArray[Any], times: NDArray[Any] | None = None
    ) -> tuple[Finding, ...]:
        """Notes of what was not voted: position k of the arrays is a cell of a juror, said so many times."""
        if not self.says_something:
            return ()
        said = np.bincount(cell[cell >= 0], None if times is None else times[cell >= 0], len(self.labels)).astype(int)
        words = list(dict.fromkeys(self.absent.values()))
        often = [sum(int(said[k]) for k, word in self.absent.items() if word == one) for one in words]
        who = np.isin(cell, list(self.abstained))
        by_juror = np.bincount(juror[who], None if times is None else times[who], len(jurors)).astype(np.int64)
        abstained = abstentions(jurors, by_juror, sorted(set(self.abstained.values())), sorted(self.assumed))
        return (*missing_words(words, often), *abstained)


def with_findings(votes: Votes, findings: Sequence[Finding]) -> Votes:
    """The votes with more to know about them."""
    return replace(votes, findings=tuple(dict.fromkeys((*votes.findings, *findings)))) if findings else votes


def table_findings(
    names: Sequence[str], layout: Layout, options: Reading, *, files: int = 1, items: int = 0
) -> Iterator[Finding]:
    """What is to know of a table with these columns: those not read, what several files were taken for."""
    if layout.kind != "long" and not text_columns(options.only):
        told = {*text_columns(options.ignore), *text_columns(options.drop), *(names[k] for k in layout.used)}
        yield from columns_left([name for name in names if name not in told])
    if layout.kind == "wide" and len(layout.votes) >= _MANY_JURORS and 3 <= items <= len(layout.votes) // 2:
        message = (
            f"{len(layout.votes):,} jurors and only {items:,} items: are the people in rows and the items in columns?"
        )
        yield Finding("transposed", message, level="alarm", value=float(len(layout.votes)))
    if files > 1 and layout.kind != "counts":
        message = "items of one name are taken for the same item, in whichever file they stand"
        if layout.item is None:
            message = "no column names the items: every row of every file is taken for an item of its own"
        yield Finding("items_across_files", message, value=float(files))
