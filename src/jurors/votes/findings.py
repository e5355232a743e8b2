"""Data-quality checks: what labels, names and votes side by side show.

Votes come in, `Finding`s go out (`find_findings`), the gravest first, made once and printed by every command. Checks,
in this order: the scale that was detected; labels that may mean no vote; names that look alike; jurors who use other
labels than the rest; numbers that are totals or scores; rows that come again (a table pasted twice); labels that are
free text or slips; and what only votes side by side show: a column made from the others, copies, and items of one name
that are not the same items. `Spelling` and `table_findings` report what only the reader of a table sees.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import are_connected, single_threaded, stable_argsort
from jurors.errors import closest_name, format_first_names, format_names
from jurors.options import Label, Reading, text_columns
from jurors.votes.codes import Finding, Level, is_misspelt, list_names, may_mean_missing, numerals
from jurors.votes.layout import Layout
from jurors.votes.pair_columns import FIRST, SECOND, TIE, side_of
from jurors.votes.scale import FEWEST_LEVELS, STREAMS_HAVE_LABELS
from jurors.votes.table import ABSTAINED, JurorLabelCounts, Votes, count_labels_by_juror, group_rows

_MOST_ROWS = 50_000

# -- labels and names -------------------------------------------------------------------------------------------------


def scale_finding(votes: Votes) -> Iterator[Finding]:
    """A note of the scale that was detected; nothing where the caller gave it, or where labels are plain words.

    Examples
    --------
    >>> [finding.message for finding in scale_finding(Votes.from_matrix([["low", "high"], ["mid", "high"]]))]
    ["taken for ordered levels, low < mid < high (words of an ordered scale); if they have no order: scale='nominal'"]
    """
    if votes.scale_told or not votes.scale_why or len(votes.labels) < FEWEST_LEVELS:
        return
    if votes.is_ordinal:
        levels = format_names(votes.labels, 12, between=" < ")
        what, otherwise = f"ordered levels, {levels}", "if they have no order: scale='nominal'"
    elif votes.is_interval:
        what, otherwise = "numbers", "if they name classes: scale='nominal'"
    elif None not in numerals(votes.labels).texts:
        what, otherwise = "labels without order", "if they are levels: scale='ordinal'"
    else:
        return
    otherwise = "" if votes.scale_why == STREAMS_HAVE_LABELS else f"; {otherwise}"
    yield Finding("scale", f"taken for {what} ({votes.scale_why}){otherwise}", value=float(len(votes.labels)))


def ambiguous_words(labels: Sequence[Label], counts: NDArray[np.int64]) -> Iterator[Finding]:
    """An alarm about labels that may be an answer, or mean that none was given; `counts` are votes by label."""
    total = max(int(counts.sum()), 1)
    odd = [k for k, label in enumerate(labels) if may_mean_missing(label, labels, counts[k] / total)]
    sure = [label for k, label in enumerate(labels) if k not in odd]
    if sorted(side_of(str(label)) or 0 for label in sure) == [SECOND, FIRST]:  # a tie is an answer beside two sides
        odd = [k for k in odd if side_of(str(labels[k])) != TIE]
    if not odd or len(labels) - len(odd) < 2:
        return
    shown = ", ".join(f"{labels[k]!r} ({counts[k]:,})" for k in odd)
    texts, every = [str(labels[k]) for k in odd], list(map(str, labels))
    message = (
        f"label {shown} may be an answer, or mean that no answer was given: use missing={texts} to drop it, "
        f"abstain={texts} to count it as an abstention, or labels={every} to keep it"
    )
    yield Finding("ambiguous_words", message, tuple(labels[k] for k in odd), "alarm", float(counts[odd].sum()))


_MARKS = "*_.,;:!\"'` "
_SYNONYMS = ({"pass", "passed", "true", "yes"}, {"fail", "failed", "false", "no"})  # of one answer, by convention


def _folded(name: Any) -> str:
    """A name without case, width, surplus blanks and how letters are composed."""
    return " ".join(unicodedata.normalize("NFKC", str(name)).split()).casefold()


def _alike(values: Iterable[Any], key: Callable[[Any], Any]) -> list[list[Any]]:
    """Groups of two values or more with the same key, in order of appearance."""
    groups: dict[Any, list[Any]] = {}
    for value in values:
        groups.setdefault(key(value), []).append(value)
    return [group for group in groups.values() if len(group) > 1]


def one_label(labels: Sequence[Label], counts: NDArray[np.int64]) -> list[list[Label]]:
    """Labels that are names of one: written differently, or words for the same answer; the commonest first.

    Returns
    -------
    list of list
        Of two names or more each. A word that may mean that no answer was given is no synonym.
    """
    total = max(int(counts.sum()), 1)

    def meaning(k: int) -> str:
        text = _folded(labels[k])
        text = text.strip(_MARKS) or text  # **pass** and "pass." of language models
        group = next((group for group in _SYNONYMS if text in group), None)
        return text if group is None or may_mean_missing(labels[k], labels, counts[k] / total) else min(group)

    groups = _alike(range(len(labels)), meaning)
    return [[labels[k] for k in sorted(group, key=lambda k: -counts[k])] for group in groups]


def merging_options(groups: Sequence[Sequence[Label]]) -> dict[str, Any]:
    """The option that makes one label of the names in each group: that for case, where they differ only by it."""
    if all(len({str(name).casefold() for name in group}) == 1 for group in groups):
        return {"ignore_case": True}
    return {"map": {name: group[0] for group in groups for name in group[1:]}}


def similar_labels(labels: Sequence[Label], counts: NDArray[np.int64]) -> Iterator[Finding]:
    """An alarm about labels that are names of one label; `counts` are votes by label.

    Examples
    --------
    >>> [finding.message for finding in similar_labels(["pass", "passed", "fail"], np.array([9, 3, 8]))]
    ["'pass' and 'passed' look like one label and count as different ones: merge them with map={'passed': 'pass'}"]
    """
    if not (groups := one_label(labels, counts)):
        return
    shown = "; ".join(" and ".join(map(repr, group)) for group in groups[:6])
    fix = ", ".join(f"{name}={value}" for name, value in merging_options(groups).items())
    one = "one label" if len(groups) == 1 else "one label each"
    message = f"{shown} look like {one} and count as different ones: merge them with {fix}"
    yield Finding("similar_labels", message, tuple(x for group in groups for x in group), "alarm", float(len(groups)))


def similar_jurors(names: Sequence[str]) -> Iterator[Finding]:
    """An alarm about jurors whose names differ only by case, blanks, width or how a letter is composed."""
    if groups := _alike(names, _folded):
        shown = "; ".join(" and ".join(map(repr, group)) for group in groups[:6])
        message = f"jurors differ only by case or spaces and count as different jurors: {shown}"
        about = tuple(name for group in groups for name in group)
        yield Finding("similar_jurors", message, about, "alarm", float(len(groups)))


# -- jurors with other labels than the rest, and labels that are hardly labels -----------------------------------------

_MOST_LABELS = 1_000
_MANY_NUMBERS = 12
_RARE, _SLIPS = 0.001, 0.02  # shares of the votes: of any label, and of one that is written like a commoner one
_FAR_COMMONER = 20
_LONG_TEXT = 60
_FEWEST_OF_RULE = 5  # votes that show that a juror gives one label only
_FEWEST_RULES, _MOSTLY = 3, 0.8  # jurors that are rules: so many, and such a share of those with enough votes


def vocabularies(votes: Votes, counts: JurorLabelCounts) -> Iterator[Finding]:
    """Alarms about groups of jurors who share no label: one says 1 and 0 where the others say yes and no.

    A juror uses a label where it is a share of their votes that is not negligible; two labels belong to one group where
    a juror uses both.
    """
    if not 0 < len(votes.labels) <= _MOST_LABELS or votes.is_interval:  # measurements need not share a value
        return
    n_votes = counts.sum(axis=1, keepdims=True)
    place = {label: k for k, label in enumerate(votes.labels)}
    for first, *others in one_label(votes.labels, counts.sum(axis=0)):  # which has an alarm of its own
        same = [place[label] for label in (first, *others)]
        counts = counts.copy()
        counts[:, same] = counts[:, same].sum(axis=1, keepdims=True)
    uses = (counts > 0) & (counts >= min(0.1, 0.5 / max(len(votes.labels), 1)) * n_votes)
    if uses.all(axis=0).any() or are_rules(counts, votes.total):  # most juries: there is a label that all jurors use
        return
    able = np.flatnonzero((n_votes[:, 0] >= min(5, max(2, votes.total // 2))) & uses.any(axis=1))
    used = uses[able].astype(np.int64)
    one, two = np.nonzero(used.T @ used)
    group_of_label = are_connected(one, two, len(votes.labels))
    group_of_juror = group_of_label[used.argmax(axis=1)]
    groups = [able[group_of_juror == number] for number in dict.fromkeys(group_of_juror.tolist())]
    if len(groups) < 2:
        return
    main = max(groups, key=len)
    usual = uses[main].any(axis=0)
    translations = {k: _translation(votes, g, main, uses) for k, g in enumerate(groups) if g is not main}
    if len(groups) > max(2, len(able) // 2) and not all(translations.values()):
        shown = "; ".join(f"{votes.jurors[g[0]]} votes {_few(votes, uses[g].any(axis=0))}" for g in groups[:3])
        yield unlike_columns(shown, "alarm")
        return
    for k, translation in translations.items():
        names = tuple(votes.jurors[j] for j in groups[k].tolist())
        says, them = ("votes", "this juror") if len(names) == 1 else ("vote", "these jurors")
        strange = _few(votes, uses[groups[k]].any(axis=0))
        message = f"{list_names(names)} {says} {strange} where the others vote {_few(votes, usual)}: "
        message += f"{translation}leave {them} out (drop=)"
        yield Finding("another_alphabet", message, names, "alarm", float(len(names)))


def are_rules(counts: JurorLabelCounts, items: int) -> bool:
    """Whether jurors are rules: nearly all give one label only and abstain otherwise, and not all the same label.

    Jurors with fewer than 5 votes show nothing. A rule set may hold a few jurors that give several labels.

    Returns
    -------
    bool

    Examples
    --------
    >>> are_rules(np.array([[9, 0], [7, 0], [0, 8]]), 20), are_rules(np.array([[9, 1], [7, 2], [0, 8]]), 20)
    (True, False)
    """
    n_votes = counts.sum(axis=1)
    able = n_votes >= _FEWEST_OF_RULE
    rules = able & ((counts > 0).sum(axis=1) == 1) & (n_votes < items)
    number = int(rules.sum())
    return number >= max(_FEWEST_RULES, _MOSTLY * int(able.sum())) and bool(counts[rules].any(axis=0).sum() > 1)


def unlike_columns(examples: str, level: Level) -> Finding:
    """That the jurors of a table are none, with examples of their labels."""
    message = f"the columns do not share labels ({examples}), so they may be features and not votes; "
    return Finding("unlike_columns", message + "leave out columns that are not jurors (ignore=)", level=level)


def _translation(votes: Votes, group: NDArray[Any], main: NDArray[Any], uses: NDArray[np.bool_]) -> str:
    """What each label of a group most often stands for, by the others' votes on the same items; "" if unclear."""
    if not votes.is_dense:
        return ""
    codes, counts = sample_codes(votes)
    usual = np.flatnonzero(uses[main].any(axis=0))
    others = np.stack([(codes[:, main] == label).sum(axis=1) for label in usual], axis=1)
    meant: dict[int, int] = {}
    for label in np.flatnonzero(uses[group].any(axis=0)).tolist():
        where = (codes[:, group] == label).any(axis=1)
        meant[label] = int(usual[int(np.argmax((others[where] * counts[where, None]).sum(axis=0)))])
    if len(set(meant.values())) < len(meant):
        return ""  # no other words for the same, most likely
    renamed = {str(votes.labels[old]): str(votes.labels[new]) for old, new in meant.items()}
    return f"rename labels with map={renamed}, or "


def strange_numbers(votes: Votes, counts: NDArray[np.int64]) -> Iterator[Finding]:
    """An alarm about a line of totals, or a warning of scores that are no labels; `counts` are votes by label.

    Totals are numbers among words, or far larger than the others, each with a vote or two.
    """
    sizes = np.array(numerals(votes.labels).sizes, dtype=np.float64)  # NaN where a label is no number
    numbers = ~np.isnan(sizes)
    if not numbers.any():
        return
    rare = numbers & (counts <= 2) & (counts > 0)
    are_totals = rare.any() and counts[~rare].sum() > 20 * counts[rare].sum()
    if are_totals and numbers.all():
        are_totals = (abs(sizes[rare]).min() - 2) / 3 > abs(sizes[~rare]).max()
    elif are_totals:
        are_totals = rare.sum() == numbers.sum()
    if are_totals:
        among = "far larger than the others" if numbers.all() else "among words"
        message = f"{_few(votes, rare)} {among}, each with one or two votes, may be a line of totals; remove that line"
        about = tuple(votes.labels[k] for k in np.flatnonzero(rare).tolist())
        yield Finding("rare_numbers", message, about, "alarm", float(counts[rare].sum()))
    elif numbers.all() and len(votes.labels) > _MANY_NUMBERS and not votes.is_interval:
        message = (
            f"{len(votes.labels):,} different numbers from {sizes.min():g} to {sizes.max():g} look like scores, not "
            "labels: use scale='interval', or group them into labels (threshold= or bins=)"
        )
        yield Finding("scores", message, level="warning", value=float(len(votes.labels)))


def odd_labels(votes: Votes, counts: NDArray[np.int64]) -> Iterator[Finding]:
    """A warning of very many or very long labels, or of very rare ones; `counts` are votes by label."""
    labels, total = votes.labels, int(counts.sum())
    if None not in numerals(labels).sizes:
        return
    if len(labels) > max(20, total // 10) or any(len(str(label)) > _LONG_TEXT for label in labels):
        longest = max(map(str, labels), key=len)
        message = f"{len(labels):,} different labels, such as {longest[:40]!r}, look like free text"
        yield Finding("free_text", message, level="warning", value=float(len(labels)))
        return
    often = {str(labels[k]): n for k, n in enumerate(counts.tolist()) if n >= _FAR_COMMONER * _RARE * total}

    def is_slip(label: str, n: int) -> bool:
        return n < _SLIPS * total and any(m > _FAR_COMMONER * n and is_misspelt(label, o) for o, m in often.items())

    rare = [k for k, n in enumerate(counts.tolist()) if n > 0 and (n < _RARE * total or is_slip(str(labels[k]), n))]
    if rare:
        shown = format_first_names((f"{labels[k]!r} ({counts[k]:,})" for k in rare), 6)
        common = [str(label) for k, label in enumerate(labels) if k not in rare]
        near = {str(labels[k]): closest_name(str(labels[k]), common, cutoff=0.6) for k in rare[:6]}
        # --map cannot write a label with = or a comma
        meant = {x: other for x, other in near.items() if other is not None and {"=", ","}.isdisjoint(x + other)}
        message = (
            f"few votes are for {shown}, which may be a typing error: "
            f"{f'correct it with map={meant}, or ' if meant else ''}leave it out with missing={list(near)}"
        )
        yield Finding("rare_labels", message, tuple(labels[k] for k in rare), "warning", float(len(rare)))


def _few(votes: Votes, which: NDArray[np.bool_]) -> str:
    names = [repr(votes.labels[k]) for k in np.flatnonzero(which)[:4].tolist()]
    return ", ".join(names) + (" …" if which.sum() > 4 else "")


# -- rows that come again ---------------------------------------------------------------------------------------------

_ENOUGH = 12  #: tuples, before a common divisor of their counts says anything


def repeated_rows(votes: Votes) -> Iterator[Finding]:
    """An alarm where the counts of all tuples of votes have a common divisor: the rows were pasted twice.

    Not for counts that the user gave.
    """
    if not votes.is_dense or votes.rows < _ENOUGH:
        return
    counts = group_rows(votes.codes, votes.weights)[1]
    times = int(np.gcd.reduce(counts))
    if times > 1 and len(counts) >= _ENOUGH:
        often = {2: "twice", 3: "three times"}.get(times, f"{times} times")
        message = f"every row of votes occurs {often} (or a multiple of that): the file may be duplicated"
        yield Finding("repeated_rows", message, level="alarm", value=float(times))


def same_files(paths: Sequence[Path]) -> tuple[int, int] | None:
    """Find two files that hold the same bytes; only files of one size are read.

    Returns
    -------
    tuple or None
        Their positions.
    """
    seen: dict[str, int] = {}
    for k in chain.from_iterable(_alike(range(len(paths)), lambda k: paths[k].stat().st_size)):
        with paths[k].open("rb") as file:
            mark = hashlib.file_digest(file, "sha256").hexdigest()
        if mark in seen:
            return seen[mark], k
        seen[mark] = k
    return None


# -- votes side by side -----------------------------------------------------------------------------------------------

_FEWEST_COMPARED = 20  #: votes, before a pattern of votes says anything
_MOST_COMPARED = 10_000
_MOST_JURORS = 64
_MADE = 0.97  #: of the contested items, on which a column says what most others say
_CONTESTED = 12
_FEW_JURORS = 8  #: up to here two who copy are a quarter of the jury


def side_by_side(votes: Votes, by_juror: JurorLabelCounts, *, twins: bool = True) -> Iterator[Finding]:
    """What only votes side by side show; of panels in which most jurors share no items, only equal jurors.

    Parameters
    ----------
    by_juror
        Jurors x labels: how often each juror votes each label.
    twins
        Whether also copies are reported from which nothing follows by itself; of three jurors there is nothing else to
        see.
    """
    same = list(_same_votes(votes, by_juror)) if twins else []
    yield from same
    width, depth = len(votes.jurors), len(votes.labels)
    if not votes.is_dense or not (3 if twins else 4) <= width <= _MOST_JURORS or not 2 <= depth <= _MOST_JURORS:
        return
    codes, counts = sample_codes(votes, _MOST_COMPARED)
    tally = np.stack([(codes == label).sum(axis=1) for label in range(depth)], axis=1)  # votes by item and label
    yield from _made_from_others(votes, codes, counts, tally)
    with single_threaded():  # a product of a few thousand rows is not worth a thread
        weight = np.sqrt(counts.astype(np.float32))[:, None]
        agree = np.zeros((width, width))  # on how many items two jurors vote alike
        for label in range(depth):
            votes_for = (codes == label) * weight
            agree += votes_for.T @ votes_for
        voted = (codes >= 0) * weight
        both = voted.T @ voted  # on how many items both vote
    varies = (by_juror > 0).sum(axis=1) > 1
    alike = (agree > both - 0.5) & (both >= _FEWEST_COMPARED) & varies & varies[:, None]
    if not same:
        copies = _never_differ(votes, codes, counts, tally, alike)
        yield from (copy for copy in copies if twins or copy.level == "alarm")
    # jurors who agree among themselves, but across groups only by chance: items of one name that are not the same
    share = by_juror / np.maximum(by_juror.sum(axis=1, keepdims=True), 1)
    chance = share @ share.T
    error = np.sqrt(np.maximum(chance * (1 - chance), 1e-9) / np.maximum(both, 1))
    above = (agree / np.maximum(both, 1) - chance) / error
    np.fill_diagonal(above, 9.0)
    one, two = np.nonzero((above > 2.5) & (both >= _FEWEST_COMPARED))
    group_of_juror = are_connected(one, two, width)
    groups = [np.flatnonzero(group_of_juror == number) for number in range(group_of_juror.max() + 1)]
    is_split = len(groups) >= 2 and min(map(len, groups)) >= 2
    if is_split and all((both[np.ix_(a, b)] >= _FEWEST_COMPARED).all() for a in groups for b in groups):
        shown = "; ".join(list_names([votes.jurors[k] for k in g.tolist()]) for g in groups[:3])
        message = f"jurors agree within groups ({shown}), but across groups only by chance"
        reason = "items with the same name may be different items"
        yield Finding("items_coincide", f"{message}: {reason}", level="alarm", value=float(len(groups)))


def _made_from_others(
    votes: Votes, codes: NDArray[Any], counts: NDArray[np.int64], tally: NDArray[Any]
) -> Iterator[Finding]:
    """A column that says what most of the others say wherever these disagree, and no other column does."""
    if len(votes.jurors) < 4:
        return
    shares, contests = np.zeros(len(votes.jurors)), np.zeros(len(votes.jurors))
    for k, mine in enumerate(codes.T):
        others = tally - (mine[:, None] == np.arange(tally.shape[1]))
        second, first = np.partition(others, -2, axis=1)[:, -2:].T
        contested = (mine >= 0) & (first > second) & (second > 0)
        contests[k] = counts[contested].sum()
        shares[k] = counts[contested & (others.argmax(axis=1) == mine)].sum() / max(contests[k], 1)
    best = np.argmax(np.where(contests >= _CONTESTED, shares, -1.0))
    others_share = np.delete(shares, best).max()
    if contests[best] >= _CONTESTED and shares[best] >= _MADE and others_share < shares[best] - 0.02:
        name = votes.jurors[best]
        message = (
            f"{name!r} votes with the majority of the others on {shares[best]:.1%} of the {int(contests[best]):,} "
            "items on which they disagree, so it may be a consensus of them and not a juror; leave it out "
            f"(ignore={[name]})"
        )
        yield Finding("made_from_others", message, (name,), "alarm", float(shares[best]))


def _same_votes(votes: Votes, by_juror: JurorLabelCounts) -> Iterator[Finding]:
    """Jurors who voted on the same items and gave each the same label; a juror with one label is another finding."""
    row, col, code = votes.triples()
    order = stable_argsort(col)  # rows are in order
    ends = np.searchsorted(col[order], np.arange(len(votes.jurors) + 1))

    def own_votes(k: int) -> bytes:
        mine = order[ends[k] : ends[k + 1]]
        return bytes(row[mine].tobytes() + b"|" + code[mine].tobytes())

    able = np.flatnonzero((by_juror.sum(axis=1) >= _FEWEST_COMPARED) & ((by_juror > 0).sum(axis=1) > 1))
    for group in _alike(able.tolist(), own_votes):
        yield _copies(tuple(votes.jurors[k] for k in group), int(by_juror[group[0]].sum()), "warning")


def _copies(names: tuple[str, ...], items: int, level: Level) -> Finding:
    message = f"{list_names(names)} gave the same votes on the same {items:,} items and may be one juror"
    return Finding("copies", message, names, level, float(items))


def _never_differ(
    votes: Votes, codes: NDArray[Any], counts: NDArray[np.int64], tally: NDArray[Any], alike: NDArray[np.bool_]
) -> Iterator[Finding]:
    """Two jurors who never differ although the others do; `alike` are the candidates by their agreement."""
    for a, b in np.argwhere(np.triu(alike, 1))[:6].tolist():
        both = (codes[:, a] >= 0) & (codes[:, b] >= 0)
        if (codes[both, a] != codes[both, b]).any():
            continue
        rest = tally - (codes[:, [a]] == np.arange(tally.shape[1])) - (codes[:, [b]] == np.arange(tally.shape[1]))
        contested = counts[(np.sort(rest, axis=1)[:, -2] > 0) & both].sum()
        grave = contested >= _CONTESTED and 3 < len(votes.jurors) <= _FEW_JURORS
        yield _copies((votes.jurors[a], votes.jurors[b]), int(counts[both].sum()), "alarm" if grave else "warning")


def sample_codes(votes: Votes, most: int = _MOST_ROWS) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Sample rows at even distances.

    Returns
    -------
    codes
        At most `most` rows x jurors.
    weights
        How many items each row stands for.
    """
    rows = np.arange(votes.rows) if votes.rows <= most else np.linspace(0, votes.rows - 1, most).astype(np.int64)
    return votes.codes[rows], votes.weights[rows]


# -- all checks -------------------------------------------------------------------------------------------------------

_LEVELS = ("alarm", "warning", "note")
_MOST_CELLS = 20_000_000  #: jurors x labels that are counted


def find_findings(votes: Votes, *, weighted: bool = False, twins: bool = True) -> tuple[Finding, ...]:
    """Run all checks.

    Parameters
    ----------
    weighted
        Whether the counts are the user's own, and not those of rows.
    twins
        Whether copies are reported also where they are no alarm.

    Returns
    -------
    tuple of Finding
        With those of the reader, the gravest first.

    Examples
    --------
    >>> rows = [["yes", "no", "1"], ["no", "no", "0"], ["yes", "yes", "1"]] * 5
    >>> [finding.kind for finding in find_findings(Votes.from_matrix(rows, jurors=("ann", "bob", "cy")))]
    ['another_alphabet']
    """
    if len(votes.jurors) * len(votes.labels) > _MOST_CELLS:
        return votes.findings
    counts = count_labels_by_juror(votes)
    by_label = counts.sum(axis=0)
    findings = (
        *votes.findings,
        *scale_finding(votes),
        *vocabularies(votes, counts),
        *(() if votes.labels_told else ambiguous_words(votes.labels, by_label)),
        *similar_labels(votes.labels, by_label),
        *similar_jurors(votes.jurors),
        *strange_numbers(votes, by_label),
        *(() if weighted else repeated_rows(votes)),
        *odd_labels(votes, by_label),
        *side_by_side(votes, counts, twins=twins),
    )
    return tuple(sorted(dict.fromkeys(findings), key=lambda finding: _LEVELS.index(finding.level)))


# -- what only the reader of a table sees -----------------------------------------------------------------------------

_MANY_JURORS = 20


@dataclass(frozen=True)
class Spelling:
    """Cells as labels (None: no label), which of them were read as missing votes, and which are abstentions."""

    labels: list[Any]
    absent: dict[int, str]  #: words for no vote, by their positions among the cells
    abstained: dict[int, str] = field(default_factory=dict)  #: words for abstaining, likewise
    assumed: frozenset[str] = frozenset()  #: those of them that the caller did not name

    @property
    def answers(self) -> list[Any]:
        """The labels, with `ABSTAINED` where a cell is an abstention."""
        if not self.abstained:
            return self.labels
        return [ABSTAINED if k in self.abstained else label for k, label in enumerate(self.labels)]

    def findings(
        self, jurors: Sequence[str], juror: NDArray[Any], cell: NDArray[Any], times: NDArray[Any] | None = None
    ) -> tuple[Finding, ...]:
        """Notes of cells that are no votes and of abstentions.

        Parameters
        ----------
        jurors
            The jurors' names.
        juror, cell
            The juror and the cell (a position in `labels`, -1 for an empty one) of each vote.
        times
            How many items each vote stands for.

        Returns
        -------
        tuple of Finding
        """
        notes: list[Finding] = []
        otherwise = "; if this is an answer, name all labels (labels=)"
        if self.absent:
            often = dict.fromkeys(self.absent.values(), 0)
            for k, word in self.absent.items():
                often[word] += int((cell == k).sum() if times is None else times[cell == k].sum())
            shown = ", ".join(f"{word!r} ({n:,})" for word, n in often.items())
            message = f"read as missing votes: {shown}{otherwise}"
            notes.append(Finding("missing_words", message, tuple(often), value=float(sum(often.values()))))
        if self.abstained:
            abstains = np.isin(cell, list(self.abstained))
            weights = None if times is None else times[abstains]
            by_juror = np.bincount(juror[abstains], weights, len(jurors)).astype(np.int64)
            order = [int(k) for k in np.argsort(-by_juror, kind="stable") if by_juror[k]]
            if order:
                shown = format_names((f"{jurors[k]!r} {by_juror[k]:,}" for k in order), 8)
                words = ", ".join(map(repr, sorted(set(self.abstained.values()))))
                message = f"{words}: {by_juror.sum():,} abstentions, which are never a true label ({shown})"
                message += otherwise if self.assumed else ""
                about = tuple(jurors[k] for k in order)
                notes.append(Finding("abstentions", message, about, value=float(by_juror.sum())))
        return tuple(notes)


def table_findings(
    names: Sequence[str], layout: Layout, options: Reading, *, files: int = 1, items: int = 0, joint: Sequence[str] = ()
) -> Iterator[Finding]:
    """Findings about a table: columns that are not read although the caller did not leave them out, and the like.

    `joint` are the columns that were detected to name the item together.
    """
    if layout.kind != "long" and not text_columns(options.only):
        known = {*text_columns(options.ignore), *text_columns(options.drop), *(names[k] for k in layout.kept)}
        if left := [name for name in names if name not in known]:
            which = "it does" if len(left) == 1 else "they do"
            message = f"not read, because {which} not look like votes: {list_names(left)}"
            otherwise = "" if layout.texts else "; layout='wide' reads every column"
            yield Finding("columns_left", f"{message}{otherwise}", tuple(left))
    if joint:
        message = f"the columns {list_names(joint)} together name the item; use item= to choose another column"
        yield Finding("joint_item", message)
    if layout.kind == "wide" and (width := len(layout.votes)) >= _MANY_JURORS and 3 <= items <= width // 2:
        message = f"{width:,} jurors and only {items:,} items: the table may have jurors in rows and items in columns"
        yield Finding("transposed", message, level="alarm", value=float(width))
    if files > 1 and layout.kind != "counts":
        message = "items with the same name are taken for the same item across files"
        if layout.item is None:
            message = "no column names the items, so every row of every file is a separate item"
        yield Finding("items_across_files", message, value=float(files))
