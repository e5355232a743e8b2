"""The page of numbers and of preferences: the verdict first, then who and what, the numbers, where they come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jurors.errors import OptionError
from jurors.evaluate.alarm import Alarm, loudest
from jurors.evaluate.catalogue import KINDS
from jurors.options import Grading, GradingOptions, spelled
from jurors.pages import compact_json, inert, policy
from jurors.report.kinds.shell import bar, style, template
from jurors.report.method import PageTable
from jurors.report.summary import Verdict, shown_alarms
from jurors.report.wording import counted, name
from jurors.tables import Result, Table
from jurors.values.number_grades import shown

if TYPE_CHECKING:
    from jurors.report.provenance import Provenance

_AT_ONCE, _FOLDED = 12, 25  # rows of a long list that are shown at once, and from how many on it is long
_NO_PROOF = "That is no proof: what all jurors are taken in by alike shows nowhere."


@dataclass(frozen=True)
class Row:
    """A juror or an object on its interval."""

    rank: int
    name: str
    text: str  #: the value as it is printed
    range: str
    score: float | None
    ends: tuple[float, float]
    beside: float | None = None
    beside_ends: tuple[float, float] = (float("nan"), float("nan"))
    more: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    actual: float | None = None


@dataclass(frozen=True)
class Bars:
    """Rows in order, with a picture of each interval."""

    id: str
    title: str
    caption: str
    what: str  #: what a row is: juror, object
    value: str  #: what its number is
    level: str
    rows: tuple[Row, ...]
    more: tuple[str, ...] = ()
    least: tuple[float, float] = (float("inf"), float("-inf"))  #: what the axis shows at least
    note: str = ""

    @property
    def parts(self) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
        """What is shown at once, and what is folded away."""
        cut = _AT_ONCE if len(self.rows) > _FOLDED else len(self.rows)
        return self.rows[:cut], self.rows[cut:]

    @property
    def domain(self) -> tuple[float, float]:
        """The ends of the axis: it grows where an estimate lies outside."""
        drawn = [x for r in self.rows for x in (r.score, *r.ends, r.beside, *r.beside_ends)]
        known = [x for x in (*drawn, *self.least) if x is not None and abs(x) < float("inf")]
        low, high = min(known, default=0.0), max(known, default=1.0)
        return (low, high) if low < high else (low - 0.5, high + 0.5)

    @property
    def axis(self) -> str:
        """The ends in words."""
        low, high = self.domain
        return f"{shown(low)} – {shown(high)}"


@dataclass(frozen=True)
class Shown:
    """What a page tells of answers that are no labels."""

    kind: str
    heading: str
    alarms: tuple[Alarm, ...]
    bars: tuple[Bars, ...]
    actions: tuple[tuple[str, str], ...]  #: what to do, and by which command
    method: str
    remarks: tuple[str, ...]
    tables: tuple[PageTable, ...]
    document: Mapping[str, Any]  #: as JSON has it


def render_kind(told: Shown, about: Provenance, title: str) -> str:
    """The page as one self-contained file; it runs no script at all."""
    from markupsafe import Markup

    rung = shown_alarms(told.alarms)
    filters = {"name": name, "bar": lambda row, bars: bar(row, *bars.domain)}
    return template("kind.html.jinja", filters).render(
        title=title, shown=told, about=about, policy=policy("'none'"), css=Markup(style()),  # noqa: S704 - our own
        verdict=_verdict(told.alarms), loud=[a for a in rung if a.level != "note"],
        notes=[a for a in rung if a.level == "note"],
        numbers=Markup(inert(compact_json(told.document))),  # noqa: S704 - inert
    )  # fmt: skip


def only_level(kind: str, grading: Mapping[str, Any], inputs: Sequence[tuple[str, Any]]) -> float:
    """How sure the intervals are; OptionError where something is asked that is for labels alone."""
    usual = {one.name: one.default for one in spelled(GradingOptions, Grading)}
    odd = [f"{name}=" for name, value in grading.items() if name != "level" and value != usual[name]]
    odd += [f"an {what}" if what[0] == "a" else what for what, source in inputs[1:] if source is not None]
    if odd:
        instead = "make labels of them (threshold=, bins=)" if kind == "numbers" else "say scale='nominal'"
        message = f"{odd[0]} does not apply to {kind}, which these are: leave it out, or {instead}"
        raise OptionError(message, code="does_not_apply")
    return float(grading.get("level", Grading.level))


def card_parts(result: Result) -> tuple[str, tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """The first line of a result as it is printed, and the heads and rows of its table."""
    blocks = list(result._blocks())
    title = next(block for block in blocks if isinstance(block, str))
    table = next(block for block in blocks if isinstance(block, Table))
    return title, table.columns, tuple(tuple(map(str, row)) for row in table.rows)


def _verdict(alarms: tuple[Alarm, ...]) -> Verdict:
    """Can these grades be trusted: by the loudest alarm."""
    level = loudest(alarms)
    rang = counted(sum(a.level == level for a in alarms), str(level))
    if level == "alarm":
        line = f"{rang} rang. The numbers below are shown as they were found, as evidence, not as grades to act on."
        return Verdict("alarm", "No: do not trust these grades.", (line,))
    if level == "warning":
        return Verdict("warning", "With care: look at the warnings first.", (f"No alarm rang, but {rang} did.",))
    return Verdict("quiet", "No alarm rang.", (f"Nothing in the answers speaks against these grades. {_NO_PROOF}",))


def remarks_of(juror: str, alarms: Sequence[Alarm]) -> tuple[str, ...]:
    """What alarms say of a juror, in a few words each."""
    kinds = dict.fromkeys(a.kind for a in alarms if a.level != "note" and juror in a.jurors)
    return tuple(KINDS[kind].remark for kind in kinds if kind in KINDS and KINDS[kind].remark)
