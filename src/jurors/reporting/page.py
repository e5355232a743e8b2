"""The report page: one self-contained HTML file, its provenance, and the Vega runtime that draws its charts.

The verdict comes first, then evidence, the numbers, and where they come from. Nothing in the page can request anything
from the network: its policy forbids all requests and all scripts but the two it carries, named by their hashes. Names
and labels are text everywhere; templates escape, scripts use text nodes only.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import os
import platform
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Unpack, cast

from jurors._files import atomic_path, atomic_write, check_writable
from jurors.errors import JurorsError, OptionError, VotesError
from jurors.jury.kinds import LABELS, PREFERENCES, kind_of
from jurors.options import GradeOptions, GradingOptions, Label, column_names, command_line, text_columns, verb
from jurors.results import colours, compact_json, digest, escape_text, inert, interval_name, policy, without_secrets
from jurors.versions import VERSION
from jurors.votes.io.sources import are_files, is_served, is_there, matching_files

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup

    from jurors.evaluate.alarms import Alarm
    from jurors.evaluate.evaluation import Evaluation
    from jurors.pairwise.data import Preferences
    from jurors.reporting.sections import ChartSection
    from jurors.reporting.tables import IntervalRow, ReportFindings
    from jurors.sketch.sketch import Sketch
    from jurors.votes.key import ItemTexts, Key
    from jurors.votes.table import Votes


# -- what the pages of all kinds of answers share --


def check_drawable() -> None:
    """Raise JurorsError, in one line, if the libraries that make the page are missing."""
    missing = [package for package in ("altair", "jinja2", "vl_convert") if find_spec(package) is None]
    if missing:
        raise JurorsError(f"a report needs {', '.join(missing)}: pip install 'jurors[plot]'")


@cache  # compiling one takes longer than filling it
def template(name: str) -> Template:
    """Load a page's template, with the parts that all pages have.

    Returns
    -------
    jinja2.Template
    """
    from jinja2 import Environment

    from jurors.evaluate.card import percent
    from jurors.reporting import tables

    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, finalize=_escaped)
    environment.filters.update(
        name=tables.name, short=tables.with_short_names, percent=percent, range=tables.interval_text
    )
    environment.globals["bar"] = bar
    return environment.from_string(resource("parts.html.jinja") + resource(name))


def resource(name: str) -> str:
    """Read a file of the templates."""
    return (files("jurors.reporting") / "templates" / name).read_text(encoding="utf-8")


def style() -> str:
    """Make the page's style; the ink of charts, one for white and black pages alike, takes the page's own colour.

    Returns
    -------
    str
        CSS.
    """
    from jurors.reporting.charts.base import ORANGE, config

    inks = {config("both")["text"]["color"]: "ink", ORANGE: "warm"}
    rules = [f'.chart svg text[fill="{colour}"] {{ fill: var(--{name}); }}\n' for colour, name in inks.items()]
    return colours() + resource("report.css") + "".join(rules)


def _escaped(value: Any) -> Any:
    """Escape what the template prints: text is visible, and never changes the direction of its neighbours."""
    return escape_text(value) if type(value) is str else value


def bar(row: IntervalRow, low: float, high: float) -> Markup:
    """Draw a score on its interval, on an axis from `low` to `high`; hidden from screen readers.

    Returns
    -------
    Markup
        SVG.
    """
    from markupsafe import Markup

    def at(x: float) -> str:
        return f"{2 + 96 * (x - low) / (high - low):.1f}"

    parts = [Markup('<line class="track" x1="2" x2="98" y1="7" y2="7"/>')]
    if row.ends[0] == row.ends[0]:
        parts.append(Markup('<line class="range" x1="{}" x2="{}" y1="7" y2="7"/>').format(*map(at, row.ends)))
    if row.score is not None:
        parts.append(Markup('<rect class="dot" x="{}" y="2" width="2" height="10"/>').format(at(row.score)))
    if row.actual is not None and row.actual == row.actual:
        parts.append(Markup('<line class="true" x1="{0}" x2="{0}" y1="0" y2="14"/>').format(at(row.actual)))
    svg = Markup('<svg viewBox="0 0 100 14" preserveAspectRatio="none" aria-hidden="true">{}</svg>')
    return svg.format(Markup("").join(parts))


# -- the page --

_PLAIN = 250_000  # characters of numbers: above, the page carries them compressed
_MAX_PACKED = 450_000  # of the numbers, and of the charts
_LARGEST = ("partition", "solutions", "majority", "details", "confusion")  # what a page leaves out first
_MAX_LOUD = 4
_THESE = ", which these are"


@verb(GradeOptions)
def report(
    source: Any, path: str | os.PathLike[str], *, key: Any = None, by: Any = None, title: str | None = None,
    texts: ItemTexts | None = None, answers: Any = None, system: Any = None, good: Label | None = None,
    **options: Unpack[GradeOptions],
) -> Path:  # fmt: skip
    """Write a report on votes as one self-contained HTML file. An error leaves no partial file.

    Parameters
    ----------
    source
        As in `grade`.
    path
        The file to write.
    key
        True labels as in `score`, or the column of the file that has them, to show the truth next to the estimates.
    by
        Also show the grades of each group of items, as in `grade`.
    title
        The title of the page. By default, the name of the file, with its folder.
    texts
        Texts of the items that a person should check, from `jurors.audit.read_item_texts`.
    answers
        The labelled sheet of an audit. Its labels are gold, and the page shows what they guarantee.
    system, good
        Also compare systems, with these as `by` and `good` of `systems`.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> votes = [["yes", "yes", "no"]] * 30 + [["no", "no", "no"]] * 50 + [["yes", "no", "yes"]] * 10 + [
    ...          ["no", "yes", "yes"]] * 10
    >>> report(votes, f"{folder}/report.html").name
    'report.html'
    """
    target = Path(path)
    check_writable(target)
    about: dict[str, Any] = {"key": key, "by": by, "title": title, "texts": texts, "answers": answers}
    atomic_write(target, report_html(source, **about, system=system, good=good, **options))
    return target


def report_html(
    source: Any, *, key: Any = None, by: Any = None, title: str | None = None, command: str | None = None,
    texts: ItemTexts | None = None, answers: Any = None, system: Any = None, good: Label | None = None,
    **options: Any,
) -> str:  # fmt: skip
    """Make the page that `report` writes; `command` is the command line to show, where there was one.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> votes = [["yes", "yes", "no"]] * 30 + [["no", "no", "no"]] * 50 + [["yes", "no", "yes"]] * 10 + [
    ...          ["no", "yes", "yes"]] * 10
    >>> page = report_html(votes, title="Three judges")
    >>> page.startswith("<!doctype html>"), len(page) < 1_500_000
    (True, True)
    """
    check_drawable()
    from jurors.jury.groups import votes_and_groups
    from jurors.jury.inputs import read_data
    from jurors.reporting.tables import is_large_panel
    from jurors.votes.key import Key, as_key, read_votes_with_key

    grading = {name: options.pop(name) for name in column_names(GradingOptions) if name in options}
    is_named = isinstance(key, str) and isinstance(source, (str, Path)) and not is_there(key)
    inputs = [("votes", source), ("answer key", None if is_named else key), ("gold items", grading.get("gold")),
              ("answers", answers)]  # fmt: skip

    shown_options, systems, of_groups = dict(options), None, None
    if options.get("scale") == PREFERENCES.scale:  # commands on pairs take no scale
        del shown_options["scale"]
    reading = shown_options
    if is_named:
        shown_options = {**options, "key": f"column {key}"}
        reading = {**options, "ignore": (*text_columns(options.get("ignore") or ()), key)}
    if system is not None or by is not None:
        name = "by" if system is None else "system"
        if is_named:
            raise OptionError(
                f"with {name}=, key= is a file or a mapping, not a column", code="does_not_apply", name="key"
            )
        if system is not None and by is not None:
            raise OptionError("system= compares the groups of by=; give one of them", code="does_not_apply", name="by")
    if system is not None:
        source, groups, _ = votes_and_groups(source, system, "system", cast("Any", options))
        shown_options = {**options, "system": system if isinstance(system, str) else None, "good": good}
        options, systems = {}, (groups, good)
    elif by is not None:
        source, groups, column = votes_and_groups(source, by, "group", cast("Any", options))
        of_groups = replace(Key.from_array(groups), name=column)
        shown_options, options = {**options, "by": column}, {}

    def read() -> tuple[Any, Key | None]:
        if is_named:
            return read_votes_with_key(source, key, **options)
        by_item = key is not None or not is_large_panel([source])
        data = read_data(source, by_item=by_item, **cast("Any", options))
        return data, None if key is None else as_key(key)

    return make_page(
        read, inputs=inputs, title=title, command=command, grading=grading, texts=texts, answers=answers,
        shown_options=shown_options, reading=reading, systems=systems, groups=of_groups,
    ).html  # fmt: skip


@dataclass(frozen=True)
class Page:
    """The page, and its alarms."""

    html: str
    alarms: tuple[Alarm, ...]


def make_page(
    read: Callable[[], tuple[Votes | Sketch | Preferences, Key | None]],
    *,
    inputs: Sequence[tuple[str, Any]],
    title: str | None = None,
    command: str | None = None,
    grading: Mapping[str, Any],
    shown_options: Mapping[str, Any],
    reading: Mapping[str, Any],
    texts: ItemTexts | None = None,
    answers: Any = None,
    systems: tuple[Any, Any] | None = None,
    groups: Key | None = None,
) -> Page:
    """Make the page of the votes (and the key), or the preferences, that `read` gives.

    Parameters
    ----------
    read
        Called once the work on the page's other parts has started.
    inputs
        What is read, and as what: the votes first.
    title, command
        As in `report_html`.
    grading, shown_options
        The options of `grade`, and all others that the page should list.
    reading
        The options that say how the votes are read: the commands of the page repeat them.
    texts, answers
        What shows the items that a person should look at, and the sheets of an audit.
    systems
        The system of each row, and the good label.
    groups
        The group of each row, whose grades the page shows separately.

    Returns
    -------
    Page
    """
    check_drawable()
    from jurors.reporting.tables import find_findings, showing_short_names

    others = [f"an {what}" if what[0] == "a" else what for what, source in inputs[1:] if source is not None]
    with closing(RuntimeMaker()) as maker:
        checksums = start_checksums(inputs)
        data, key = read()
        for name, given in (("system", systems), ("by", groups)):
            if given is not None and kind_of(data) is not LABELS:
                message = f"{name}= of a report is for labels and ordered levels"
                raise OptionError(message, code="does_not_apply", name=name)
        gold = answers[0] if isinstance(answers, tuple) and len(answers) == 1 else grading.get("gold")
        kind, command_on = kind_of(data), command_writer(inputs[0][1], reading, {**grading, "gold": gold})
        heading = title or _title(inputs[0][1]) or "Report card"
        if kind is not LABELS:
            from jurors.reporting.numbers_and_pairs import PAGES, render_kind

            options, checked = kind.applicable(grading, others, where=_THESE), checksums()
            content = PAGES[kind](data, options["level"], command_on)
            about = provenance(checked, {**options, **shown_options, "scale": kind.scale}, command)
            with showing_short_names(getattr(data, "jurors", ())):
                return Page(render_kind(content, about, heading), content.alarms)
        findings = find_findings(
            cast("Votes | Sketch", data), key, texts=texts, answers=answers, systems=systems, groups=groups, **grading
        )
        e = findings.evaluation
        options = {**grading, "method": e.method, "target": e.target, "level": e.level, "seed": grading.get("seed", 0)}
        about = provenance(checksums(), {**options, **shown_options}, command)
        with showing_short_names(e.jurors):
            return Page(render(findings, about, maker, title=heading, command=command_on), e.alarms)


_GRADING = ("grade", "check", "label", "report")  # commands that take the options of grading


def command_writer(
    source: Any, reading: Mapping[str, Any], grading: Mapping[str, Any] = MappingProxyType({})
) -> Callable[..., str]:
    """Give a function that writes a command on the votes, with the options by which they are read, and are graded.

    Returns
    -------
    callable
        (name, *further words) -> a line to paste into a shell.

    Examples
    --------
    >>> command_writer("votes.csv", {"item": "q", "layout": "auto"})("check", "--quiet")
    'jurors check votes.csv --item q --quiet'
    """
    parts = source if isinstance(source, (list, tuple)) else (source,)
    is_named = bool(parts) and all(isinstance(part, (str, Path)) and str(part) != "-" for part in parts)
    files = [without_secrets(str(part)) for part in parts] if is_named else ["FILE"]
    home = os.path.join(os.path.expanduser("~"), "")
    of_files = {name: grading[name] for name in ("gold", "reference") if isinstance(grading.get(name), (str, Path))}
    grading = {**grading, "gold": None, "reference": None, **of_files}  # what is no file cannot be written

    def write(name: str, *more: str) -> str:
        line = command_line(name, files, {**reading, **grading} if name in _GRADING else reading, *more)
        for file in files:
            if len(home) > 2 and file.startswith(home):  # a shell extends ~ where it is not quoted
                line = line.replace(shlex.quote(file), f"~/{shlex.quote(file.removeprefix(home))}")
        return line

    return write


def render(
    findings: ReportFindings, about: Provenance, maker: RuntimeMaker, *, title: str, command: Callable[..., str]
) -> str:
    """Render the page of these findings; `command` writes a command on their votes.

    Returns
    -------
    str
        HTML.
    """
    from markupsafe import Markup

    from jurors.evaluate.card import footnotes, heading
    from jurors.reporting import tables
    from jurors.reporting.content import actions, first_and_last, people, ranking, shown_alarms, verdict
    from jurors.reporting.sections import systems_chart, tabs

    e, keyed, audit, compared = findings.evaluation, findings.keyed, findings.audit, findings.systems
    rows = ranking(e, keyed)
    alarms = shown_alarms(e.alarms)
    # Charts too large for a page are named, not drawn.
    all_tabs = tabs(findings)
    exhibits = {x.id: x for tab in all_tabs for x in tab.exhibits}
    if compared is not None:
        exhibits["systems"] = systems_chart(compared)
    unshown: list[ChartSection] = []
    while len(specs := _zipped(compact_json({id_: x.spec for id_, x in exhibits.items()}))) > _MAX_PACKED:
        largest = max(exhibits, key=lambda id_: len(compact_json(exhibits[id_].spec)))
        unshown.append(exhibits.pop(largest))
    fitting = [replace(tab, exhibits=tuple(x for x in tab.exhibits if x.id in exhibits)) for tab in all_tabs]
    shown_tabs = [tab for tab in fitting if tab.exhibits]
    numbers, numbers_type, numbers_note = _numbers(e)
    script = resource("report.js")
    runtime = maker.result()
    first, last = first_and_last(rows)
    by = "the lower end of the interval" if keyed is None else "actual accuracy"
    if e.ordered is not None:
        by = "how many levels they are off" + ", by the key" * (keyed is not None)
    if keyed is None and len(e.leaders) > 1:
        by += "; all with the rank 1 may be the best"
    # Every alarm, and the first warnings; the page folds the others.
    loud = [group for group in alarms if group[0].level != "note"]
    shown = max(_MAX_LOUD, sum(group[0].level == "alarm" for group in loud))
    scores = [x for r in rows for x in (r.score, *r.ends, r.actual)]
    known = [x for x in scores if x is not None and x == x]
    low, high = min([0.0, *known]), max([1.0, *known])  # grown if a score lies outside
    return template("report.html.jinja").render(
        title=title, heading=heading(e), about=about, policy=policy(digest(script), runtime.hash),
        css=Markup(style()), js=Markup(script),  # noqa: S704 - our own files
        verdict=verdict(e, keyed), loud=loud[:shown], more=loud[shown:],
        notes=[group for group in alarms if group[0].level == "note"], rows=rows, people=people(e, rows),
        first=first, last=last, left_out=len(rows) - len(first) - len(last), has_votes=bool(e.votes),
        can_rank=sum(row.is_ranked for row in rows), has_key=keyed is not None, has_gold=e.gold is not None,
        by=by, level=interval_name(e.level), low=low, high=high, axis=f"{low * 100:.0f} – {high * 100:.0f}%",
        actions=actions(e, findings.labelling, command, keyed=keyed), tabs=shown_tabs,
        proved=[] if audit is None else tables.audit_lines(audit),
        proofs=[] if audit is None else tables.audit_tables(audit),
        audit=Markup(inert(compact_json(audit.to_dict()))) if audit is not None else "",  # noqa: S704 - inert
        compared=[] if compared is None else compared.sentences(),
        system_tables=[] if compared is None else tables.system_tables(compared), system_chart=exhibits.get("systems"),
        method=tables.method_sentence(findings), footnotes=tables.sentences(footnotes(e)),
        tables=tables.number_tables(findings),
        numbers=numbers, numbers_type=numbers_type, numbers_note=numbers_note,
        specs=specs, vega=runtime.packed,
        unshown=[(x, command("report", "--chart", x.id.removesuffix("-key"), "-o", f"{x.id}.svg")) for x in unshown],
    )  # fmt: skip


def _title(source: Any) -> str | None:
    """Name the file with its folder, since many are called votes.csv, but not the user's home; None if none is one."""
    if isinstance(source, tuple) and len(source) == 1:
        source = source[0]
    if not isinstance(source, (str, Path)) or source == "-":
        return None
    path = Path(without_secrets(str(source)))
    is_informative = path.parent.name not in ("", "..") and path.parent.absolute() != Path.home()
    return f"{path.parent.name}/{path.name}" if is_informative else path.name


def _numbers(e: Evaluation) -> tuple[Markup, str, str]:
    """Embed what `jurors grade --format json` prints as a script element that runs nothing; compressed if large."""
    from markupsafe import Markup

    document = e.to_dict()
    text = compact_json(document)
    if len(text) <= _PLAIN:
        return Markup(inert(text)), "application/json", ""  # noqa: S704
    packed, left_out = _zipped(text), []
    for key in _LARGEST:
        if len(packed) > _MAX_PACKED and document.pop(key, None) is not None:
            left_out.append(key)
            packed = _zipped(compact_json(document))
    without = f" and without {', '.join(left_out)}: too large for a page" if left_out else ""
    return Markup(packed), "application/gzip;base64", f", compressed (gzip, then base64){without}"  # noqa: S704


def _zipped(text: str) -> str:
    return base64.b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode()


# -- provenance: which files (with checksums), which version, which options, when --

VOTES = "votes"
_MAX_FILES = 200  # of a folder or pattern; the others are counted


@dataclass(frozen=True)
class Input:
    """A file that was read."""

    role: str  #: "votes", "answer key", "gold items"
    name: str
    size: int | None = None
    sha256: str | None = None


@dataclass(frozen=True)
class Provenance:
    """Everything needed to make the page again."""

    inputs: tuple[Input, ...]
    options: dict[str, str]
    command: str | None
    time: str
    version: str
    python: str
    platform: str


def start_checksums(inputs: Sequence[tuple[str, Any]]) -> Callable[[], tuple[Input, ...]]:
    """Compute the inputs' checksums in a thread while the votes are graded.

    Returns
    -------
    callable
        Waits for the inputs, each with its size and checksum if it is a file.
    """
    pool = ThreadPoolExecutor(1)
    futures = [pool.submit(_inputs, role, source) for role, source in inputs]
    pool.shutdown(wait=False)
    return lambda: tuple(checked for future in futures for checked in future.result())


def _inputs(role: str, source: Any) -> list[Input]:
    if source is None:
        return []
    if role == VOTES and are_files(source):
        return [checked for file in source for checked in _inputs(role, file)]
    if isinstance(source, str) and source == "-":
        return [Input(role, "standard input")]
    if not isinstance(source, (str, Path)):
        return [Input(role, f"{type(source).__name__} in memory")]
    files = _files(source)
    inputs = [_checked(role, path) for path in files[:_MAX_FILES]]
    if len(files) > _MAX_FILES:
        inputs.append(Input(role, f"… and {len(files) - _MAX_FILES:,} more files"))
    return inputs or [Input(role, _short(str(source)))]


def _files(source: str | Path) -> list[Path]:
    """List the files that a path, a folder or a pattern names."""
    if is_served(source):
        return []
    try:
        return sorted(path for path in matching_files(str(source)) if path.is_file())
    except (OSError, VotesError):  # a name too long to be one, or a pattern that matches nothing
        return []


def _checked(role: str, path: Path) -> Input:
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            size = file.tell()
    except OSError as error:
        raise VotesError(f"cannot read {path}: {error.strerror or error}") from None
    return Input(role, path.name, size, digest)


def _short(text: str) -> str:
    """Remove the user's home folder from a path, and the password from an address."""
    home = os.path.expanduser("~")
    text = without_secrets(text)
    return text.replace(home + os.sep, f"~{os.sep}") if len(home) > 1 else text


def provenance(inputs: tuple[Input, ...], options: Mapping[str, Any], command: str | None) -> Provenance:
    """Record the provenance of a page made now; $SOURCE_DATE_EPOCH, if it is set, is "now".

    Returns
    -------
    Provenance
    """
    shown = {}
    for name, value in options.items():
        if value is None or value is False or (isinstance(value, (tuple, list)) and not value):
            continue  # not given
        if isinstance(value, (str, int, float, bool)):
            shown[name] = _short(str(value))
        elif isinstance(value, (list, tuple)) and len(value) <= 50:
            shown[name] = ", ".join(without_secrets(str(part)) for part in value)
        else:
            shown[name] = type(value).__name__
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = float(epoch) if epoch.isdigit() else time.time()
    return Provenance(
        inputs=inputs,
        options=shown,
        command=None if command is None else _short(command),
        time=time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(now)),
        version=VERSION,
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
    )


# -- the Vega runtime: made by vl-convert once, cached for the user, carried by every page --
#
# The page carries it compressed (300 KB instead of 900) and the browser unpacks it; the page's policy allows exactly
# this script, by its hash.

_SNIPPET = "window.vegaEmbed = vegaEmbed;"
_MAKE = f"import sys, vl_convert; sys.stdout.buffer.write(vl_convert.javascript_bundle({_SNIPPET!r}).encode())"


@dataclass(frozen=True)
class Runtime:
    """The script as the page carries it."""

    packed: str  #: gzip, then base64
    hash: str  #: as a content security policy writes it


class RuntimeMaker:
    """Start making the script at once, in parallel to other work; `result` waits for it.

    In a process of its own, because vl-convert holds Python's global lock for the second or two that it takes.
    """

    def __init__(self) -> None:
        self._cache = _cache_file()
        self._runtime = _read(self._cache)
        self._process: subprocess.Popen[bytes] | None = None
        if self._runtime is None and sys.executable:
            command = [sys.executable, "-c", _MAKE]
            with suppress(OSError):  # no second process available: `result` makes it here
                self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)  # noqa: S603

    def result(self) -> Runtime:
        """Get the script from the cache or the other process, or make it here."""
        if self._runtime is None:
            script = b""
            if self._process is not None:
                script, _ = self._process.communicate()
                script = script if self._process.returncode == 0 else b""
            if not script:
                import vl_convert

                script = vl_convert.javascript_bundle(_SNIPPET).encode()
            self._runtime = gzip.compress(script, 9, mtime=0), script
            if self._cache is not None:
                with suppress(OSError, VotesError):  # a page does not need this to succeed
                    self._cache.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                    with atomic_path(self._cache) as draft:
                        draft.write_bytes(self._runtime[0])
        packed, script = self._runtime
        return Runtime(base64.b64encode(packed).decode(), digest(script.decode()))

    def close(self) -> None:
        """End the other process, unless `result` has."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.communicate()


def _cache_file() -> Path | None:
    """Locate this version's script in the cache; None without a home."""
    from importlib.metadata import version

    folder = os.environ.get("XDG_CACHE_HOME", "")
    try:
        root = Path(folder) if os.path.isabs(folder) else Path.home() / ".cache"
    except RuntimeError:
        return None
    return root / "jurors" / f"vega-{version('vl-convert-python')}.js.gz"


def _read(path: Path | None) -> tuple[bytes, bytes] | None:
    """Read the packed and the plain script; None if there is none, or a broken one (gzip checks itself)."""
    try:
        packed = path.read_bytes() if path else b""
        script = gzip.decompress(packed)
    except (OSError, EOFError, ValueError):
        return None
    return (packed, script) if b"vegaEmbed" in script else None
