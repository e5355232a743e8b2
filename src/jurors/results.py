"""Result: text, Markdown, HTML, JSON, CSV, frame; escaping."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from importlib.util import find_spec
from textwrap import fill
from typing import Any, ClassVar, TypeAlias

from jurors.errors import VotesError
from jurors.versions import DOCUMENT

# Names come from strangers: how they are written where they could be taken for something else.
#
# A terminal obeys control characters, Markdown and HTML have marks, a spreadsheet computes what begins like a formula.
# JSON and CSV keep every name exactly; what is for eyes shows it so that it can be seen.


# Control characters, marks that turn the direction of writing or take no room, halves of characters, ends of lines; and
# letters that draw nothing.
_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
# What most text is made of: Western letters, and dashes, quotation marks and the like.
_SEEN = " -~\xa1-\xac\xae-\u0300\u2010-\u2027"
_PLAIN = re.compile(f"[{_SEEN}]*")
# Two pictures that are joined are one, as in "health worker".
_JOINER = "\u200d"
_JOINT = f"(?<=[\u2190-\u2bff\ufe0f\U0001f000-\U0001faff]){_JOINER}(?=[\u2190-\u2bff\U0001f000-\U0001faff])"


def escape_text(text: str) -> str:
    r"""Text in which every character can be seen, as one line: a name can neither steer a terminal nor forge a line.

    >>> escape_text("ann\x1b[2J\nOK: no alarm rang"), escape_text("Zoë – 評価者")
    ('ann\\x1b[2J\\nOK: no alarm rang', 'Zoë – 評価者')
    """
    if _PLAIN.fullmatch(text):
        return text
    return _JOINER.join(map(_all_visible, re.split(_JOINT, text)))


def _all_visible(text: str) -> str:
    return "".join(c if _is_visible(c) else c.encode("unicode_escape").decode("ascii") for c in text)


def _is_visible(character: str) -> bool:
    return unicodedata.category(character) not in _UNSEEN and character not in _BLANK


_PERHAPS_UNSEEN = re.compile(f"[^\n{_SEEN}]")


def visible_json(text: str) -> str:
    r"""The same JSON, with what cannot be seen as `\uXXXX`: the names are exact, and safe to look at.

    >>> visible_json('{"juror": "Zoë\u202e"}')
    '{"juror": "Zoë\\u202e"}'
    """
    return _PERHAPS_UNSEEN.sub(lambda match: match[0] if _is_visible(match[0]) else json.dumps(match[0])[1:-1], text)


# -- Markdown ---------------------------------------------------------------------------------------------------

# What begins code, emphasis, a link, HTML, a cell or an entity; an underscore inside a word does not.
_MARK = re.compile(r"[\\`*\[|~]|<(?=[A-Za-z/!?])|(?<!\w)_|_(?!\w)|&(?=#?\w+;)")
_FIRST = re.compile(r"^(?:[#+>-](?=\s|$)|#(?=#)|[-=](?=[-=]*$))|(?<=^\d)[.)](?=\s|$)|(?<=^\d\d)[.)](?=\s|$)")
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")


def in_markdown(text: str) -> str:
    r"""Text of a stranger as Markdown that shows it.

    >>> print(in_markdown("a|b `c` <b>*d* snake_case _e_"))
    a\|b \`c\` \<b>\*d\* snake_case \_e\_
    """
    return _MARK.sub(r"\\\g<0>", escape_text(text))


def prose_in_markdown(text: str) -> str:
    r"""A line of ours as Markdown, in which `code` is marked; names in it are shown, and the line begins no block.

    >>> print(prose_in_markdown("# see `--by a_` of <script>"))
    \# see `--by a_` of \<script>
    """
    line, shown, end = escape_text(text), [], 0
    for code in _CODE.finditer(line):  # in which nothing is a mark
        shown += [in_markdown(line[end : code.start()]), code[0]]
        end = code.end()
    return _FIRST.sub(r"\\\g<0>", "".join([*shown, in_markdown(line[end:])]))


# -- CSV ----------------------------------------------------------------------------------------------------------

_LEADS = "'=+-@\t\r＝＋－＠"
_FORMULA = re.compile(r"'*[=+\-@\t\r＝＋－＠]")
_WORD = re.compile(r"'*(?:=*|[+\-@＋－＠][\w\s.,:%/-]*)")  # numbers, dates and names: nothing to compute


def without_formula(cell: str) -> str:
    """A cell of CSV that no spreadsheet computes: where it looks like a formula, an apostrophe is put in front.

    Numbers, "-", "+", "@ann" and the like stay as they are. `with_formula` takes the apostrophe away again.

    >>> [without_formula(cell) for cell in ("=1+1", "+cmd|'/C calc'!A1", "-1", "+", "@ann", "'=1+1")]
    ["'=1+1", "'+cmd|'/C calc'!A1", '-1', '+', '@ann', "''=1+1"]
    """
    return f"'{cell}" if _is_formula(cell) else cell


def with_formula(cell: str) -> str:
    """What the cell of CSV says.

    >>> with_formula("'=1+1"), with_formula("'tis")
    ('=1+1', "'tis")
    """
    return cell[1:] if cell.startswith("'") and _is_formula(cell) else cell


def _is_formula(cell: str) -> bool:
    return cell[:1] in _LEADS and _FORMULA.match(cell) is not None and _WORD.fullmatch(cell) is None


# -- secrets ----------------------------------------------------------------------------------------------------

_ADDRESS = re.compile(r"postgres(?:ql)?:/", re.IGNORECASE)
_USER = re.compile(r"(?<=:/)/?.*@", re.DOTALL)  # to the last @: a password that nobody escaped may hold anything
_USER_IN_TEXT = re.compile(r"(?<=(?:sql|res):/)/?\S*@", re.IGNORECASE)
_SECRET = re.compile(r"([?&][^=&\s]*(?:pass|secret|token|key)[^=&\s]*=)\S*?(?=&|::|\s|$)", re.IGNORECASE)


def without_secrets(text: str) -> str:
    """A name, an argument or a line in which addresses of databases say neither who logs in nor with what.

    >>> without_secrets("postgresql://me:pa@ss@db.example/votes?password=x&sslmode=require::judged")
    'postgresql://db.example/votes?password=…&sslmode=require::judged'
    """
    if _ADDRESS.search(text) is None:
        return text
    user = _USER if _ADDRESS.match(text) else _USER_IN_TEXT
    return _SECRET.sub(r"\1…", user.sub("/", text))


# How results leave: blocks to read and flat columns, from which text, Markdown, HTML, JSON, CSV and dataframes follow.
#
# Knows no jurors. A class of results derives from `Result` and says three things once: its document, its blocks, its
# columns.


Columns: TypeAlias = Mapping[str, Any]  #: name -> a list or an array; all of one length

#: format -> the method that gives it
FORMATS_OF_RESULTS = {"text": "to_text", "json": "to_json", "csv": "to_csv", "md": "to_markdown", "html": "to_html"}


class Result(ABC):
    r"""A result that becomes text, JSON, CSV, Markdown, HTML and a dataframe, all from what it says of itself once.

    Examples
    --------
    >>> class Harvest(Result):
    ...     def _columns(self) -> Columns:
    ...         return {"fruit": ["apple", "pear"], "kilos": [3.5, float("nan")]}
    ...
    ...     def _blocks(self) -> Iterable[Block]:
    ...         return [Table.of(self._columns()), Notes(("pears were not weighed",))]
    >>> print(Harvest())
      fruit  kilos
      apple  3.5
      pear   –
    <BLANKLINE>
    pears were not weighed
    <BLANKLINE>
    >>> Harvest().to_csv(), Harvest().to_dict()[1]
    ('fruit,kilos\napple,3.5\npear,\n', {'fruit': 'pear', 'kilos': None})
    """

    __slots__ = ()

    #: whether text and Markdown are a bare table, so that what is to be known beside it has to be told elsewhere
    _is_bare: ClassVar[bool] = False

    def _document(self) -> Any:
        """What JSON holds; values as they are (`json_ready` follows). Unless said otherwise, the rows."""
        return row_documents(self._columns())

    @abstractmethod
    def _blocks(self) -> Iterable[Block]:
        """What text, Markdown and HTML show."""

    @abstractmethod
    def _columns(self) -> Columns:
        """What CSV and the dataframe hold."""

    def to_dict(self) -> Any:
        """The result as JSON's own types: text keys, no NaN; a mapping starts with the version of its `schema`."""
        document = json_ready(self._document())
        return {"schema": DOCUMENT, **document} if isinstance(document, dict) else document

    def to_json(self) -> str:
        """The result as strict JSON."""
        return json_text(self.to_dict())

    def to_text(self) -> str:
        """The result for a terminal."""
        return "\n\n".join(_block(block).to_text() for block in self._blocks()) + "\n"

    def to_markdown(self) -> str:
        """The same as Markdown."""
        return "\n\n".join(_block(block).to_markdown() for block in self._blocks()) + "\n"

    def to_html(self) -> str:
        """The same as HTML, in which every name is text, never markup."""
        return "".join(_block(block).to_html() for block in self._blocks())

    def to_csv(self) -> str:
        """The result as comma separated values, full precision."""
        columns = self._columns()
        return csv_text(tuple(columns), zip(*map(_plain, columns.values()), strict=True))

    def to_frame(self) -> Any:
        """The rows of the CSV as a dataframe (pandas; else polars or pyarrow)."""
        return data_frame(self._columns())

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.to_html()


class Drawable(Result):
    """A result that `jurors.plot` has charts of."""

    __slots__ = ()

    def plot(self, kind: str | None = None, *arguments: Any, **options: Any) -> Any:
        """A chart of this result: a name in `jurors.plot.KINDS`, or the one that shows it best.

        Arguments and options as in the function of that name. Needs altair (`pip install 'jurors[plot]'`).
        """
        # By name and late: results must load without altair, and what lies below may not import a room.
        return import_module("jurors.plot").draw(self, kind, *arguments, **options)


# -- blocks: what can be read ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Prose:
    """A paragraph; in text, in lines no longer than `width`."""

    text: str
    width: int | None = None

    def to_text(self) -> str:
        """One line, or several."""
        return escape_text(self.text) if self.width is None else fill(escape_text(self.text), self.width)

    def to_markdown(self) -> str:
        """A paragraph."""
        return prose_in_markdown(self.text)

    def to_html(self) -> str:
        """A paragraph."""
        return _paragraph(self.text)


@dataclass(frozen=True)
class Table:
    """A title, column names and cells; the columns `right` are set to the right."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    title: str = ""
    right: tuple[int, ...] = ()
    headless: bool = False  #: text leaves the names of the columns out; Markdown and HTML need them
    is_prose: bool = False  #: cells are sentences of ours, in which `code` is marked for Markdown

    @classmethod
    def of(cls, columns: Columns) -> Table:
        """A table of columns as they are."""
        return cls(tuple(columns), tuple(zip(*map(_plain, columns.values()), strict=True)))

    def to_text(self) -> str:
        """Columns aligned by spaces."""
        from rich.cells import cell_len

        cells = [[_shown(cell) for cell in row] for row in self.rows]
        lines = cells if self.headless else [tuple(map(escape_text, self.columns)), *cells]
        widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
        return "\n".join([escape_text(self.title)] * bool(self.title) + [self._line(row, widths) for row in lines])

    def _line(self, row: Sequence[str], widths: Sequence[int]) -> str:
        from rich.cells import cell_len

        padded = []
        for k, (cell, width) in enumerate(zip(row, widths, strict=True)):
            space = " " * (width - cell_len(cell))
            padded.append(space + cell if k in self.right else cell + space)
        return "  " + "  ".join(padded).rstrip()

    def to_markdown(self) -> str:
        """A GitHub-flavoured table."""
        rule = ["---:" if k in self.right else "---" for k in range(len(self.columns))]
        shown = prose_in_markdown if self.is_prose else in_markdown
        rows = [[shown(_shown(cell)) for cell in row] for row in self.rows]
        lines = ["| " + " | ".join(row) + " |" for row in (list(map(in_markdown, self.columns)), rule, *rows)]
        return _titled(self.title) + "\n".join(lines)

    def to_html(self) -> str:
        """An HTML table; every cell is text, never markup."""
        heads = "".join(f"<th>{_escaped(c)}</th>" for c in self.columns)
        body = "".join(
            "<tr>" + "".join(self._cell(k, cell) for k, cell in enumerate(row)) + "</tr>" for row in self.rows
        )
        caption = f"<caption>{_escaped(self.title)}</caption>" if self.title else ""
        return f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"

    def _cell(self, column: int, cell: Any) -> str:
        style = ' style="text-align:right"' if column in self.right else ""
        return f"<td{style}>{_escaped(_shown(cell))}</td>"


@dataclass(frozen=True)
class Notes:
    """Short lines, one point each."""

    lines: Sequence[str]
    title: str = ""
    mark: str = ""  #: what stands before a line in text

    def to_text(self) -> str:
        """A line each, below the title."""
        lines = [self.mark + escape_text(line) for line in self.lines]
        return "\n".join([escape_text(self.title)] * bool(self.title) + lines)

    def to_markdown(self) -> str:
        """A list."""
        return (_titled(self.title) + "\n".join(f"- {prose_in_markdown(line)}" for line in self.lines)).rstrip("\n")

    def to_html(self) -> str:
        """A list."""
        items = "".join(f"<li>{_escaped(line)}</li>" for line in self.lines)
        return _paragraph(self.title) * bool(self.title) + f"<ul>{items}</ul>" * bool(items)


@dataclass(frozen=True)
class Listing:
    """Lines to be copied as they are: commands, the content of a file."""

    lines: Sequence[str]
    title: str = ""
    language: str = "text"

    def to_text(self) -> str:
        """Indented below the title."""
        return Notes(self.lines, self.title, "  ").to_text()

    def to_markdown(self) -> str:
        """A fenced block."""
        lines = list(map(escape_text, self.lines))
        fence = "`" * max([3, *(len(run) + 1 for line in lines for run in re.findall("`+", line))])
        return _titled(self.title) + "\n".join([f"{fence}{self.language}", *lines, fence])

    def to_html(self) -> str:
        """Preformatted."""
        return _paragraph(self.title) * bool(self.title) + f"<pre>{chr(10).join(map(_escaped, self.lines))}</pre>"


Block: TypeAlias = "str | Prose | Table | Notes | Listing"


def _block(block: Block) -> Prose | Table | Notes | Listing:
    return Prose(block) if isinstance(block, str) else block


def _titled(title: str) -> str:
    return f"**{in_markdown(title)}**\n\n" if title else ""


def _paragraph(text: str) -> str:
    return f"<p>{_escaped(text)}</p>"


def _escaped(text: str) -> str:
    return html.escape(escape_text(text))


def _shown(cell: Any) -> str:
    return "–" if cell is None or (isinstance(cell, float) and cell != cell) else escape_text(str(cell))


# -- data --------------------------------------------------------------------------------------------------


def columns_of(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, list[Any]]:
    """Rows as columns.

    >>> columns_of(("juror", "score"), [("ann", 0.9), ("bob", 0.8)])
    {'juror': ['ann', 'bob'], 'score': [0.9, 0.8]}
    """
    return {name: [row[k] for row in rows] for k, name in enumerate(names)}


def row_documents(columns: Columns) -> list[dict[str, Any]]:
    """Each row by the names of its columns."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*map(_plain, columns.values()), strict=True)]


def _plain(values: Any) -> list[Any]:
    return values.tolist() if hasattr(values, "tolist") else list(values)


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Comma separated values, full precision; nothing where there is no value, and no formula."""
    return "".join(",".join(map(_csv_cell, row)) + "\n" for row in (columns, *rows))


def _csv_cell(cell: Any) -> str:
    """Python's own writer leaves a carriage return unquoted, which then ends a row."""
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, (int, float)):
        return str(cell)
    text = without_formula(str(cell))
    return '"' + text.replace('"', '""') + '"' if _CSV_MARK.search(text) else text


_CSV_MARK = re.compile('[",\r\n]')


def json_ready(value: Any) -> Any:
    """Mappings with text keys; NaN, infinities and None as null; complex numbers as two parts; results as documents."""
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(k): json_ready(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_ready(v) for v in value]
    if isinstance(value, complex):
        return {"real": value.real, "imaginary": value.imag}
    if isinstance(value, Fraction):
        return float(value)
    if isinstance(value, Result):  # a part of another document, which says the schema once
        return json_ready(value._document())
    if hasattr(value, "tolist"):  # numpy's, which is not imported here: `--help` need not wait for it
        return json_ready(value.tolist())
    return value.to_dict() if hasattr(value, "to_dict") else value


def json_text(document: Any, **layout: Any) -> str:
    """Strict JSON: no NaN, no surprises."""
    return visible_json(json.dumps(document, ensure_ascii=False, allow_nan=False, **{"indent": 1, **layout}))


def data_frame(columns: Columns) -> Any:
    """These columns as a pandas frame, or a polars frame or an arrow table where pandas is not installed."""
    if find_spec("pandas"):
        return import_module("pandas").DataFrame(dict(columns))
    plain = {name: _plain(values) for name, values in columns.items()}
    if find_spec("polars"):
        return import_module("polars").DataFrame(plain, strict=False)
    if find_spec("pyarrow"):
        return import_module("pyarrow").table(plain)
    raise VotesError("a dataframe needs pandas, polars or pyarrow: pip install 'jurors[frames]'")


# What our pages share: colours by day and by night, a policy that forbids all requests, data that do nothing.


COLOURS = """\
:root {
  --page: #f6f7f9; --card: #ffffff; --ink: #1c2530; --muted: #52606d; --line: #d9dfe6; --grid: #c3cbd4;
  --link: #0b5cad; --alarm: #a8200d; --warning: #855000; --quiet: #17663f;
  --alarm-back: #fdf0ee; --warning-back: #fdf6e7; --quiet-back: #edf7f1;
  --mark: #0b5cad; --mark-soft: #a9c8e8; --warm: #a84600; --shade: rgb(0 0 0 / .38);
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #12161b; --card: #1a2027; --ink: #e8ebef; --muted: #a9b4c0; --line: #323b46; --grid: #46515d;
    --link: #86bdf5; --alarm: #ff9f92; --warning: #f2c06f; --quiet: #86d6aa;
    --alarm-back: #331c1a; --warning-back: #2f2716; --quiet-back: #16291f;
    --mark: #86bdf5; --mark-soft: #3d5f82; --warm: #ffa264; --shade: rgb(255 255 255 / .42);
  }
}
"""


def digest(text: str) -> str:
    """How a policy names a script or a style that it allows."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def policy(*scripts: str, style: str = "'unsafe-inline'") -> str:
    """Nothing may be requested; of scripts, only these may run, named by their digests. Styles cannot fetch either."""
    return f"default-src 'none'; script-src {' '.join(scripts)}; style-src {style}; base-uri 'none'; form-action 'none'"


def compact_json(document: Any) -> str:
    """Strict JSON without blanks."""
    return json_text(document, indent=None, separators=(",", ":"))


def inert(text: str) -> str:
    r"""JSON for an element of the page that runs nothing.

    A `<` inside JSON is always inside a string: escaped, neither `</script>` nor `<!--` can end the element.

    >>> inert('{"a":"</script>"}')
    '{"a":"\\u003c/script\\u003e"}'
    """
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
