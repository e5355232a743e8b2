"""How grades by group read: one row a group and juror, then the decision tuples whose label differs."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from jurors.evaluate import Evaluation
from jurors.evaluate.card import alarm_lines, csv_rows, percent, percent_range
from jurors.evaluate.key_card import score_rows
from jurors.tables import Table

if TYPE_CHECKING:
    from jurors.jury.by_group import ByGroup

_MOST_LABELS = 4  # with more, only scores are shown
_MOST_RULES = 20


def group_tables(by: ByGroup[Any]) -> list[Table]:
    """The grades, and the rules that differ."""
    tables = [_grades(by)] if by.groups else []
    rules = by.rules()
    if rules:
        heads = ("jurors said", *(f"label in {group}" for group in by.groups))
        rows = tuple(
            (", ".join("–" if d is None else str(d) for d in decisions), *(by_group.get(g) for g in by.groups))
            for decisions, by_group in rules[:_MOST_RULES]
        )
        more = f" (the first {_MOST_RULES} of {len(rules)})" if len(rules) > _MOST_RULES else ""
        tables.append(Table(heads, rows, title=f"decision tuples whose label depends on the group{more}"))
    return tables


def _grades(by: ByGroup[Any]) -> Table:
    first = next(iter(by.groups.values()))
    labels = first.labels if len(first.labels) <= _MOST_LABELS else ()
    level = f"{first.level * 100:g}%" if isinstance(first, Evaluation) else ""
    heads = [by.column, "items", *(f"{a} is" for a in labels), "juror", *(f"accuracy on {a}" for a in labels), "score"]
    rows = []
    for group, result in by.groups.items():
        if result.solution is None:
            rows.append((str(group), f"{by.sizes[group]:,}", *("–" for _ in heads[2:]), "–"))
            continue
        numbers = result.solution.to_float()
        for k, juror in enumerate(result.jurors):
            front = (str(group), f"{by.sizes[group]:,}", *(percent(numbers.prevalence[a]) for a in labels))
            row = [*(front if k == 0 else ("",) * len(front)), juror]
            row += [percent(numbers.accuracy[juror][a]) for a in labels]
            row += [percent(numbers.score[juror])]
            row.append(percent_range(result.interval_of("score", juror)) if isinstance(result, Evaluation) else "")
            rows.append(tuple(row))
    right = tuple(k for k in range(1, len(heads) + 1) if k != 2 + len(labels))  # all numbers: not the juror
    return Table((*heads, level), tuple(rows), title=f"by {by.column}", right=right)


def group_rows(by: ByGroup[Any]) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Rows for CSV: the results' own, with the group in front."""
    columns: tuple[str, ...] = ("group",)
    rows: list[tuple[Any, ...]] = []
    for group, result in by.groups.items():
        names, own = csv_rows(result) if isinstance(result, Evaluation) else score_rows(result)
        columns = ("group", *names)
        rows += [(group, *row) for row in own]
    return columns, rows


def text_card(by: ByGroup[Any]) -> str:
    """For a terminal."""
    blocks = [table.to_text() for table in group_tables(by)]
    blocks += ["\n".join(alarm_lines(by.alarms))] * bool(by.alarms)
    return "\n\n".join(blocks) + "\n"


def markdown_card(by: ByGroup[Any]) -> str:
    """As Markdown."""
    blocks = [table.to_markdown() for table in group_tables(by)]
    blocks += ["\n".join(f"- {line}" for line in alarm_lines(by.alarms))] * bool(by.alarms)
    return "\n\n".join(blocks) + "\n"


def html_card(by: ByGroup[Any]) -> str:
    """For a notebook."""
    lines = "".join(f"<li>{html.escape(line)}</li>" for line in alarm_lines(by.alarms))
    return "".join(table.to_html() for table in group_tables(by)) + (f"<ul>{lines}</ul>" if lines else "")
