"""The page: one self-contained HTML file. The verdict first, then evidence, the numbers, and where they come from.

Nothing in it can ask the network for anything: its policy forbids all requests and all scripts but the two it carries,
named by their hashes. Names and labels are text everywhere; templates escape, scripts use text nodes only.
"""

from __future__ import annotations

import base64
import gzip
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jurors.errors import VotesError
from jurors.options import Grading, GradingOptions, names_of
from jurors.pages import compact_json, digest, inert, policy
from jurors.quoting import without_secrets
from jurors.report.kinds.shell import bar, check_drawable, resource, style, template
from jurors.votes.files.inside import is_there
from jurors.whole import check_writable, write_whole

if TYPE_CHECKING:
    from markupsafe import Markup

    from jurors.evaluate import Alarm, Evaluation
    from jurors.pairs import Preferences
    from jurors.report.evidence import Exhibit, Tab
    from jurors.report.findings import Findings
    from jurors.report.provenance import Checksums, Provenance
    from jurors.report.ranking import Ranked
    from jurors.report.summary import Rung
    from jurors.report.vega import RuntimeMaker
    from jurors.sketch import Sketch
    from jurors.votes import Key, Votes
    from jurors.votes.item_texts import ItemTexts

__all__ = ["report_html", "write_report"]

_MOST_RANKED = 12  # above, the first screen shows the first and the last
_ENDS = 6
_PLAIN = 250_000  # characters of numbers: above, the page carries them compressed
_MOST_PACKED = 450_000  # of the numbers, and of the charts
_LARGEST = ("partition", "solutions", "majority", "details", "confusion")  # what a page leaves out first
_MOST_LOUD = 4


def write_report(source: Any, path: str | os.PathLike[str], **options: Any) -> Path:
    """Write the report of some votes as one HTML file, whole or not at all; options as in `report_html`.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> votes = [["yes", "yes", "no"]] * 30 + [["no", "no", "no"]] * 50 + [["yes", "no", "yes"]] * 10 + [
    ...          ["no", "yes", "yes"]] * 10
    >>> write_report(votes, f"{folder}/report.html").name
    'report.html'
    """
    target = Path(path)
    check_writable(target)
    write_whole(target, report_html(source, **options))
    return target


def report_html(
    source: Any, *, key: Any = None, title: str | None = None, command: str | None = None,
    texts: ItemTexts | None = None, answers: Any = None, **options: Any,
) -> str:  # fmt: skip
    """The report of some votes as one self-contained HTML page.

    Parameters
    ----------
    source
        Votes, a Sketch, a dataframe, an items x jurors matrix, or the path of a file.
    key
        True labels as in `score`, or the name of a column of the file: actual numbers beside the estimated ones.
    title
        The page's title; else the name of the file, with its folder.
    command
        The command line to show, where there was one.
    texts
        What shows the items that a person should look at, as `jurors.audit.read_item_texts` reads it.
    answers
        The sheet of an audit with its labels: what it guarantees stands beside the grades, whose gold it is.
    options
        As in `grade`: how to grade, and how to read a file.

    Examples
    --------
    >>> votes = [["yes", "yes", "no"]] * 30 + [["no", "no", "no"]] * 50 + [["yes", "no", "yes"]] * 10 + [
    ...          ["no", "yes", "yes"]] * 10
    >>> page = report_html(votes, title="Three judges")
    >>> page.startswith("<!doctype html>"), len(page) < 1_500_000
    (True, True)
    """
    from jurors.pairs import Preferences
    from jurors.report import findings

    grading = {name: options.pop(name) for name in names_of(GradingOptions) if name in options}
    is_named = isinstance(key, str) and isinstance(source, (str, Path)) and not is_there(key)
    inputs = [("votes", source), ("answer key", None if is_named else key), ("gold items", grading.get("gold")),
              ("answers", answers)]  # fmt: skip
    asked = {**options, **({"key": f"column {key}"} if is_named else {})}
    if isinstance(source, Preferences) or options.get("scale") == "pairs":
        return _pairs_page(source, inputs, title, command, grading, options).html
    try:
        return make_page(
            lambda: findings.read(source, key, **options), inputs=inputs, title=title, command=command, grading=grading,
            asked=asked, texts=texts, answers=answers,
        ).html  # fmt: skip
    except VotesError as error:
        if error.code != "pairs" or hasattr(source, "read"):  # a stream gives its content only once
            raise
        return _pairs_page(source, inputs, title, command, grading, options).html


def _pairs_page(
    source: Any,
    inputs: Sequence[tuple[str, Any]],
    title: str | None,
    command: str | None,
    grading: Mapping[str, Any],
    options: Mapping[str, Any],
) -> Page:
    """The page of preferences; whatever is not about them is refused by its name."""
    from jurors.pairs import read_pairs
    from jurors.report.kinds.kind_page import only_level

    reading = {name: value for name, value in options.items() if name != "scale"}
    level = only_level("pairs", grading, inputs)
    return make_pairs_page(
        lambda: read_pairs(source, **reading), inputs=inputs[:1], title=title, command=command, level=level,
        asked=reading,
    )  # fmt: skip


@dataclass(frozen=True)
class Page:
    """The page, and what rang while it was made."""

    html: str
    alarms: tuple[Alarm, ...]


def make_page(
    read: Callable[[], tuple[Votes | Sketch, Key | None]],
    *,
    inputs: Sequence[tuple[str, Any]],
    title: str | None = None,
    command: str | None = None,
    grading: Mapping[str, Any],
    asked: Mapping[str, Any],
    texts: ItemTexts | None = None,
    answers: Any = None,
) -> Page:
    """The page of the votes (and the key) that `read` gives.

    Parameters
    ----------
    read
        Called once the page's other parts are on their way.
    inputs
        What is read, and as what: the votes first.
    title, command
        As in `report_html`.
    grading, asked
        The options of `grade`, and all others that the page should tell.
    texts, answers
        What shows the items that a person should look at, and the sheets of an audit.
    """
    check_drawable()
    from jurors.report.findings import find
    from jurors.report.kinds.kind_page import only_level
    from jurors.report.provenance import Checksums, provenance
    from jurors.report.vega import RuntimeMaker
    from jurors.sketch import Sketch

    maker = RuntimeMaker()
    try:
        checksums = Checksums(inputs)
        votes, key = read()
        if (votes.tuples if isinstance(votes, Sketch) else votes).scale == "interval":
            level = only_level("numbers", grading, inputs)
            return _numbers_page(votes, checksums, title or _title(inputs[0][1]), command, level, asked)
        findings = find(votes, key, texts=texts, answers=answers, **grading)
        e = findings.evaluation
        told = {**grading, "method": e.method, "target": e.target, "level": e.level, "seed": grading.get("seed", 0)}
        about = provenance(checksums.result(), {**told, **asked}, command)
        name = _file_name(inputs[0][1])
        html = render(findings, about, maker, title=title or _title(inputs[0][1]) or "Report card", file=name or "FILE")
        return Page(html, e.alarms)
    finally:
        maker.close()


def make_pairs_page(
    read: Callable[[], Preferences],
    *,
    inputs: Sequence[tuple[str, Any]],
    title: str | None = None,
    command: str | None = None,
    level: float = Grading.level,
    asked: Mapping[str, Any],
) -> Page:
    """The page of preferences: who compared how, and which object is better."""
    check_drawable()
    from jurors.report.kinds.kind_page import render_kind
    from jurors.report.kinds.shown_pairs import pairs_shown
    from jurors.report.provenance import Checksums, provenance

    checksums = Checksums(inputs)
    shown = pairs_shown(read(), level, shlex.quote(_file_name(inputs[0][1]) or "FILE"))
    about = provenance(checksums.result(), {"level": level, **asked, "scale": "pairs"}, command)
    return Page(render_kind(shown, about, title or _title(inputs[0][1]) or "Report card"), shown.alarms)


def _numbers_page(
    votes: Votes | Sketch,
    checksums: Checksums,
    title: str | None,
    command: str | None,
    level: float,
    asked: Mapping[str, Any],
) -> Page:
    """The page of votes that are numbers."""
    from jurors.report.kinds.kind_page import render_kind
    from jurors.report.kinds.shown_numbers import numbers_shown
    from jurors.report.provenance import provenance

    inputs = checksums.result()
    shown = numbers_shown(votes, level, shlex.quote(inputs[0].name if inputs else "FILE"))
    about = provenance(inputs, {"level": level, **asked, "scale": "interval"}, command)
    return Page(render_kind(shown, about, title or "Report card"), shown.alarms)


def render(findings: Findings, about: Provenance, maker: RuntimeMaker, *, title: str, file: str) -> str:
    """The page of these findings."""
    from markupsafe import Markup

    from jurors.evaluate.card import footnotes, heading
    from jurors.report.advice import actions
    from jurors.report.beside_truth import audit_lines, audit_tables
    from jurors.report.evidence import tabs
    from jurors.report.method import method_sentence, number_tables
    from jurors.report.ranking import people, ranking
    from jurors.report.summary import shown_alarms, verdict
    from jurors.report.wording import sentences

    e, keyed, audit = findings.evaluation, findings.keyed, findings.audit
    rows = ranking(e, keyed)
    alarms = shown_alarms(e.alarms)
    shown_tabs, specs, unshown = _fitting(tabs(findings))
    numbers, numbers_type, numbers_note = _numbers(e)
    script = resource("report.js")
    runtime = maker.result()
    many = len(rows) > _MOST_RANKED
    last = _last(rows) if many else []
    return template("report.html.jinja", _filters(rows)).render(
        title=title, heading=heading(e), about=about, policy=policy(digest(script), f"'{runtime.hash}'"),
        css=Markup(style()), js=Markup(script),  # noqa: S704 - our own files
        verdict=verdict(e, keyed), loud=_first_loud(alarms), more=_first_loud(alarms, more=True),
        notes=[a for a in alarms if a.level == "note"], rows=rows, people=people(e, rows), has_key=keyed is not None,
        has_both=e.as_real is not None and e.solution is not None,
        first=rows[:_ENDS] if many else rows, last=last, left_out=len(rows) - _ENDS - len(last) if many else 0,
        level=f"{e.level * 100:g}% interval", axis=_axis(rows),
        actions=actions(e, findings.labelling, shlex.quote(file), keyed=keyed), tabs=shown_tabs,
        proved=[] if audit is None else audit_lines(audit), proofs=[] if audit is None else audit_tables(audit),
        audit=Markup(inert(compact_json(audit.to_dict()))) if audit is not None else "",  # noqa: S704 - inert
        method=method_sentence(findings), footnotes=sentences(footnotes(e)), tables=number_tables(findings),
        numbers=numbers, numbers_type=numbers_type, numbers_note=numbers_note,
        specs=specs, vega=runtime.packed, unshown=unshown,
    )  # fmt: skip


def _last(rows: list[Ranked]) -> list[Ranked]:
    """The weakest of those who can be judged; all others are in the tables."""
    return [row for row in rows[_ENDS:] if not row.is_open][-_ENDS:] or rows[-_ENDS:]


def _first_loud(alarms: list[Rung], *, more: bool = False) -> list[Rung]:
    """Every alarm, and the first warnings; or the warnings left over, which the page folds."""
    loud = [a for a in alarms if a.level != "note"]
    shown = max(_MOST_LOUD, sum(a.level == "alarm" for a in loud))
    return loud[shown:] if more else loud[:shown]


def _fitting(all_tabs: list[Tab]) -> tuple[list[Tab], str, list[Exhibit]]:
    """The tabs, their charts packed, and the charts that are too large for a page: they are named, not drawn."""
    exhibits = {x.id: x for tab in all_tabs for x in tab.exhibits}
    unshown: list[Exhibit] = []
    packed = _packed({name: x.spec for name, x in exhibits.items()})
    while len(packed) > _MOST_PACKED:
        largest = max(exhibits, key=lambda name: len(compact_json(exhibits[name].spec)))
        unshown.append(exhibits.pop(largest))
        packed = _packed({name: x.spec for name, x in exhibits.items()})
    kept = [replace(tab, exhibits=tuple(x for x in tab.exhibits if x.id in exhibits)) for tab in all_tabs]
    return [tab for tab in kept if tab.exhibits], packed, unshown


def _file_name(source: Any) -> str | None:
    """How a reader would name the votes; None where they have no name of their own."""
    if isinstance(source, tuple) and len(source) == 1:
        source = source[0]
    return Path(without_secrets(str(source))).name if isinstance(source, (str, Path)) and source != "-" else None


def _title(source: Any) -> str | None:
    """The file with its folder, since many are called votes.csv; a home folder's name is nobody's business."""
    name = _file_name(source)
    if name is None:
        return None
    folder = Path(without_secrets(str(source[0] if isinstance(source, tuple) else source))).parent
    is_telling = folder.name not in ("", "..") and folder.absolute() != Path.home()
    return f"{folder.name}/{name}" if is_telling else name


def _numbers(e: Evaluation) -> tuple[Markup, str, str]:
    """What `jurors grade --format json` says, as a script element that runs nothing; compressed where it is large."""
    from markupsafe import Markup

    document = e.to_dict()
    text = compact_json(document)
    if len(text) <= _PLAIN:
        return Markup(inert(text)), "application/json", ""  # noqa: S704
    packed, left_out = _zipped(text), []
    for key in _LARGEST:
        if len(packed) > _MOST_PACKED and document.pop(key, None) is not None:
            left_out.append(key)
            packed = _packed(document)
    without = f" and without {', '.join(left_out)}: too large for a page" if left_out else ""
    return Markup(packed), "application/gzip;base64", f", compressed (gzip, then base64){without}"  # noqa: S704


def _packed(document: Any) -> str:
    return _zipped(compact_json(document))


def _zipped(text: str) -> str:
    return base64.b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode()


def _filters(rows: list[Ranked]) -> dict[str, Any]:
    from jurors.evaluate.card import percent, percent_range
    from jurors.report.wording import name

    low, high = _domain(rows)
    return {
        "name": name,
        "percent": percent,
        "range": lambda ends: percent_range(ends) or "–",
        "bar": lambda row: bar(row, low, high),
    }


def _domain(rows: list[Ranked]) -> tuple[float, float]:
    """[0, 1], grown where a score lies outside."""
    shown = [x for r in rows for x in (r.score, *r.ends, r.beside, *r.beside_ends, r.actual)]
    known = [x for x in shown if x is not None and x == x]
    return min([0.0, *known]), max([1.0, *known])


def _axis(rows: list[Ranked]) -> str:
    low, high = _domain(rows)
    return f"{low * 100:.0f} – {high * 100:.0f}%"
