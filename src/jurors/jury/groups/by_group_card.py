"""How grades by group read: one row per group and juror, then the decision tuples whose label differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from jurors.evaluate import Alarm, Evaluation
from jurors.evaluate.card import REAL, alarm_lines, percent, percent_range
from jurors.tables import Block, Columns, Notes, Table
from jurors.values import NumberGrades, NumberScores

if TYPE_CHECKING:
    from jurors.jury.groups.by_group import ByGroup

_MOST_LABELS = 4  # with more, only scores are shown
_MOST_ROWS = 60  # more groups and jurors than this are cut in text; CSV and JSON have them all
_MOST_RULES = 20
_MOST_COLUMNS = 6  # with more groups, rules list the groups of each label
_MOST_ALARMS = 10  # of one kind, in text


def _rules(by: ByGroup[Any]) -> list[Table]:
    rules = by.rules()
    if not rules:
        return []
    said = f"{', '.join(by.jurors)} said" if len(by.jurors) <= _MOST_COLUMNS else "jurors said"
    names = list(by.groups)
    labels = [label for label in by.labels if any(label in chosen.values() for _, chosen in rules)]
    if len(names) <= _MOST_COLUMNS:
        heads = (said, *(f"label in {_plain(group)}" for group in names))
    else:
        heads = (said, *(f"label {label} in" for label in labels))
    rows = []
    for decisions, chosen in rules[:_MOST_RULES]:
        front = ", ".join("–" if d is None else str(d) for d in decisions)
        if len(names) <= _MOST_COLUMNS:
            rows.append((front, *(chosen.get(group) for group in names)))
        else:
            rows.append((front, *(_few([g for g in names if chosen.get(g) == label]) for label in labels)))
    more = f" (the first {_MOST_RULES} of {len(rules):,})" if len(rules) > _MOST_RULES else ""
    return [Table(heads, tuple(rows), title=f"decision tuples whose label depends on the group{more}")]


def _few(groups: list[Any]) -> str:
    """Some groups by name, the others by number."""
    more = f" and {len(groups) - 4:,} more" if len(groups) > 4 else ""
    return ", ".join(map(_plain, groups[:4])) + more


def _plain(name: Any) -> str:
    """A name on one line."""
    return "".join(c if c.isprintable() else " " for c in str(name))


def _grades(by: ByGroup[Any]) -> Table:
    first = next(iter(by.groups.values()))
    if isinstance(first, NumberGrades | NumberScores):
        return _numbers(by)
    graded = isinstance(first, Evaluation)
    labels = by.labels if len(by.labels) <= _MOST_LABELS and not (graded and first.exam) else ()
    real = any(_real(result) is not None for result in by.groups.values())
    level = (f"{first.level * 100:g}%",) if graded else ()
    heads = [_plain(by.column), "items", *(f"{a} is" for a in labels), "juror"]
    heads += [f"score, {REAL}" if real else "score", *level, *(f"accuracy on {a}" for a in labels)]
    heads += ["if independent"] if real else []
    rows = [row for group, result in by.groups.items() for row in _group_rows(by, group, result, labels, heads)]
    right = tuple(k for k in range(1, len(heads)) if k != 2 + len(labels))  # all numbers: not the juror
    more = f" (the first {_MOST_ROWS} of {len(rows):,} rows)" if len(rows) > _MOST_ROWS else ""
    return Table(tuple(heads), tuple(rows[:_MOST_ROWS]), title=f"by {_plain(by.column)}{more}", right=right)


def _numbers(by: ByGroup[Any]) -> Table:
    """Of jurors who answer in numbers: a row per group and juror, with what the cards of one group have."""
    tables = {group: result.by_juror() for group, result in by.groups.items()}
    (_, *heads), right = next(iter(tables.values())).columns, next(iter(tables.values())).right
    rows: list[tuple[Any, ...]] = []
    for group, table in tables.items():
        for k, (juror, *cells) in enumerate(table.rows):
            front = (_plain(group), f"{by.sizes[group]:,}") if k == 0 else ("", "")
            rows.append((*front, juror, *cells))
    more = f" (the first {_MOST_ROWS} of {len(rows):,} rows)" if len(rows) > _MOST_ROWS else ""
    names = (_plain(by.column), "items", "juror", *heads)
    places = (1, *(place + 2 for place in right))
    return Table(names, tuple(rows[:_MOST_ROWS]), title=f"by {_plain(by.column)}{more}", right=places)


def _real(result: Any) -> Any:
    """The calibrated grades of a group; None against a key, and where errors were taken for independent."""
    return result.as_real if isinstance(result, Evaluation) else None


def _group_rows(by: ByGroup[Any], group: Any, result: Any, labels: Any, heads: list[str]) -> list[tuple[Any, ...]]:
    """One row per juror; the group and its prevalences stand in the first."""
    front: tuple[Any, ...] = (_plain(group), f"{by.sizes[group]:,}")
    real = _real(result)
    grades = real if real is not None else result.solution and result.solution.to_float()
    if grades is None:
        return [(*front, *("–",) * (len(heads) - 2))]
    front += tuple(percent(grades.prevalence.get(a)) for a in labels)
    rows = []
    for k, juror in enumerate(result.jurors):
        row = [*(front if k == 0 else ("",) * len(front)), juror, percent(grades.score[juror])]
        if isinstance(result, Evaluation):
            row.append(percent_range((real or result).interval_of("score", juror)))
        row += [percent(grades.accuracy[juror].get(a)) for a in labels]
        if len(row) < len(heads):
            row.append(percent(result.score.get(juror)))
        rows.append(tuple(row))
    return rows


def shown_alarms(alarms: Sequence[Alarm]) -> tuple[Alarm, ...]:
    """The alarms to read: of a kind that many groups have, the first few, and how many more there are."""
    shown: list[Alarm] = []
    many = Counter((alarm.level, alarm.kind) for alarm in alarms)
    seen: Counter[tuple[str, str]] = Counter()
    for alarm in alarms:
        kind = (alarm.level, alarm.kind)
        seen[kind] += 1
        if seen[kind] <= _MOST_ALARMS:
            shown.append(alarm)
        elif seen[kind] == many[kind]:
            more = f"so it is with {many[kind] - _MOST_ALARMS:,} more; --format json names them all"
            shown.append(replace(alarm, message=more, value=None, jurors=(), labels=(), pairs=()))
    return tuple(shown)


def group_columns(by: ByGroup[Any]) -> Columns:
    """The results' own columns, with the group in front."""
    columns: dict[str, list[Any]] = {"group": []}
    for group, result in by.groups.items():
        own = result._columns()
        columns["group"] += [group] * len(own["juror"])
        for name, values in own.items():
            columns.setdefault(name, []).extend(values)
    return columns


def group_blocks(by: ByGroup[Any]) -> list[Block]:
    """The grades, the rules that differ, and the alarms."""
    alarms = [Notes(alarm_lines(shown_alarms(by.alarms)))] if by.alarms else []
    return [_grades(by), *_rules(by), *alarms]
