"""What the pages of all kinds of answers share: templates, style, bars of intervals."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from importlib.util import find_spec
from types import CodeType
from typing import TYPE_CHECKING, Any, Protocol

from jurors.errors import JurorsError
from jurors.pages import COLOURS
from jurors.quoting import visible

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup

# Templates by name: compiling one takes longer than filling it. Filters are looked up by name when it is filled.
_COMPILED: dict[str, CodeType] = {}


class Barred(Protocol):
    """A value on its interval, what stands beside it, and the true one."""

    @property
    def score(self) -> float | None:
        """The value."""

    @property
    def ends(self) -> tuple[float, float]:
        """Its interval."""

    @property
    def beside(self) -> float | None:
        """What stands beside it."""

    @property
    def beside_ends(self) -> tuple[float, float]:
        """And the interval of that."""

    @property
    def actual(self) -> float | None:
        """The true value, where it is known."""


def check_drawable() -> None:
    """One clear line where the libraries that make the page are missing."""
    missing = [package for package in ("altair", "jinja2", "vl_convert") if find_spec(package) is None]
    if missing:
        raise JurorsError(f"a report needs {', '.join(missing)}: pip install 'jurors[plot]'")


def template(name: str, filters: Mapping[str, Any]) -> Template:
    """A page's template, with the parts that all have."""
    from jinja2 import Environment, Template

    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, finalize=seen)
    environment.filters.update(filters)
    if name not in _COMPILED:
        _COMPILED[name] = environment.compile(resource("parts.html.jinja") + resource(name))
    return Template.from_code(environment, _COMPILED[name], environment.make_globals(None))


def resource(name: str) -> str:
    """A file of the templates."""
    return (files("jurors.report") / "templates" / name).read_text(encoding="utf-8")


def style() -> str:
    """The page's style. Charts come in one ink for white and black pages alike; here it takes the page's own colour."""
    from jurors.report.charts.theme import ORANGE, config

    inks = {config("both")["text"]["color"]: "ink", ORANGE: "warm"}
    rules = [f'.chart svg text[fill="{colour}"] {{ fill: var(--{name}); }}\n' for colour, name in inks.items()]
    return COLOURS + resource("report.css") + "".join(rules)


def seen(value: Any) -> Any:
    """What the template prints: text can be seen, and never turns the direction of what stands beside it."""
    return visible(value) if type(value) is str else value


def bar(row: Barred, low: float, high: float) -> Markup:
    """A score on its interval: a picture of the numbers beside it, hidden from screen readers."""
    from markupsafe import Markup

    def at(x: float) -> str:
        return f"{2 + 96 * (x - low) / (high - low):.1f}"

    parts = [Markup('<line class="track" x1="2" x2="98" y1="7" y2="7"/>')]
    if row.ends[0] == row.ends[0]:
        parts.append(Markup('<line class="range" x1="{}" x2="{}" y1="7" y2="7"/>').format(*map(at, row.ends)))
    if row.score is not None:
        parts.append(Markup('<rect class="dot" x="{}" y="2" width="2" height="10"/>').format(at(row.score)))
    if row.beside is not None and row.beside_ends[0] == row.beside_ends[0]:
        thin = Markup('<line class="beside" x1="{}" x2="{}" y1="7" y2="7"/>')
        parts.append(thin.format(*map(at, row.beside_ends)))
    if row.actual is not None and row.actual == row.actual:
        parts.append(Markup('<line class="true" x1="{0}" x2="{0}" y1="0" y2="14"/>').format(at(row.actual)))
    svg = Markup('<svg viewBox="0 0 100 14" preserveAspectRatio="none" aria-hidden="true">{}</svg>')
    return svg.format(Markup("").join(parts))
