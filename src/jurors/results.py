"""How results leave the package: one statement of a result, printed as text, Markdown, HTML, JSON, CSV and dataframes.

A class of results derives from `Result` and defines three things once: its document (JSON), its blocks (what people
read: `Prose`, `Table`, `Notes`, `Listing`) and its columns (CSV and dataframes). Every output format follows from
these. The module knows nothing about jurors.

Names of jurors, labels and items are untrusted text. A terminal obeys control characters, Markdown and HTML have
markup, and a spreadsheet evaluates what begins like a formula. JSON and CSV keep every name exactly; output for people
escapes it. The last section holds what the HTML pages share: colours, a content security policy, inert JSON.
"""

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
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from textwrap import fill
from typing import Any, ClassVar, TypeAlias

from jurors.errors import VotesError, short_names, spell_options
from jurors.versions import DOCUMENT

# -- escaping ----------------------------------------------------------------------------------------------------

# Control characters, direction and zero-width marks, lone surrogates, line separators; and letters that draw nothing.
_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
# What most text consists of: Western letters, dashes, quotation marks and the like.
_SEEN = " -~\xa1-\xac\xae-\u0300\u2010-\u2027"
_PLAIN = re.compile(f"[{_SEEN}]*")
# Emoji that are joined are one picture, as in "health worker".
_JOINER = "\u200d"
_JOINT = f"(?<=[\u2190-\u2bff\ufe0f\U0001f000-\U0001faff]){_JOINER}(?=[\u2190-\u2bff\U0001f000-\U0001faff])"


def escape_text(text: str) -> str:
    r"""Make every character visible, on one line: a name can neither steer a terminal nor forge a line of output.

    Returns
    -------
    str
        The text, with each invisible character as a Python escape.

    Examples
    --------
    >>> escape_text("ann\x1b[2J\nOK: no alarm"), escape_text("Zoë – 評価者")
    ('ann\\x1b[2J\\nOK: no alarm', 'Zoë – 評価者')
    """
    if _PLAIN.fullmatch(text):
        return text
    return _JOINER.join(
        "".join(c if _is_visible(c) else c.encode("unicode_escape").decode("ascii") for c in part)
        for part in re.split(_JOINT, text)
    )


def _is_visible(character: str) -> bool:
    return unicodedata.category(character) not in _UNSEEN and character not in _BLANK


_PERHAPS_UNSEEN = re.compile(f"[^\n{_SEEN}]")


def visible_json(text: str) -> str:
    r"""Escape invisible characters in JSON text as `\uXXXX`: names stay exact, and are safe to look at.

    Returns
    -------
    str
        JSON of the same document.

    Examples
    --------
    >>> visible_json('{"juror": "Zoë\u202e"}')
    '{"juror": "Zoë\\u202e"}'
    """
    return _PERHAPS_UNSEEN.sub(lambda match: match[0] if _is_visible(match[0]) else json.dumps(match[0])[1:-1], text)


# -- Markdown ---------------------------------------------------------------------------------------------------

# What starts code, emphasis, a link, HTML, a cell or an entity; an underscore inside a word does not.
_MARK = re.compile(r"[\\`*\[|~]|<(?=[A-Za-z/!?])|(?<!\w)_|_(?!\w)|&(?=#?\w+;)")
_FIRST = re.compile(r"^(?:[#+>-](?=\s|$)|#(?=#)|[-=](?=[-=]*$))|(?<=^\d)[.)](?=\s|$)|(?<=^\d\d)[.)](?=\s|$)")
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")


def in_markdown(text: str) -> str:
    r"""Escape untrusted text for Markdown.

    Returns
    -------
    str
        Markdown that renders as the text itself.

    Examples
    --------
    >>> print(in_markdown("a|b `c` <b>*d* snake_case _e_"))
    a\|b \`c\` \<b>\*d\* snake_case \_e\_
    """
    return _MARK.sub(r"\\\g<0>", escape_text(text))


def prose_in_markdown(text: str) -> str:
    r"""Escape a line of our own for Markdown: `code` stays code, names are text, and the line starts no block.

    Returns
    -------
    str
        One line of Markdown.

    Examples
    --------
    >>> print(prose_in_markdown("# see `--by a_` of <script>"))
    \# see `--by a_` of \<script>
    """
    line, parts, end = escape_text(text), [], 0
    for code in _CODE.finditer(line):  # inside code nothing is markup
        parts += [in_markdown(line[end : code.start()]), code[0]]
        end = code.end()
    return _FIRST.sub(r"\\\g<0>", "".join([*parts, in_markdown(line[end:])]))


# -- CSV ----------------------------------------------------------------------------------------------------------

_LEADS = "'=+-@\t\r＝＋－＠"
_FORMULA = re.compile(r"'*[=+\-@\t\r＝＋－＠]")
_PLAIN_CELL = re.compile(r"'*(?:[=+\-@]|[+-](?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?%?)")  # one sign alone, or a number


def without_formula(cell: str) -> str:
    """Put an apostrophe before every CSV cell that starts as a formula does: with `=`, `+`, `-` or `@`.

    Numbers and single signs stay as they are. `with_formula` is the inverse.

    Returns
    -------
    str
        A cell that no spreadsheet evaluates.

    Examples
    --------
    >>> [without_formula(cell) for cell in ("=1+1", "+cmd|'/C calc'!A1", "-1", "+", "@ann", "'=1+1")]
    ["'=1+1", "'+cmd|'/C calc'!A1", '-1', '+', "'@ann", "''=1+1"]
    """
    return f"'{cell}" if _is_formula(cell) else cell


def with_formula(cell: str) -> str:
    """Undo `without_formula`.

    Returns
    -------
    str
        The text that the CSV cell stands for.

    Examples
    --------
    >>> with_formula("'=1+1"), with_formula("'tis")
    ('=1+1', "'tis")
    """
    return cell[1:] if cell.startswith("'") and _is_formula(cell) else cell


def _is_formula(cell: str) -> bool:
    return cell[:1] in _LEADS and _FORMULA.match(cell) is not None and _PLAIN_CELL.fullmatch(cell) is None


# -- secrets ----------------------------------------------------------------------------------------------------

_ADDRESS = re.compile(r"postgres(?:ql)?:/", re.IGNORECASE)
_USER = re.compile(r"(?<=:/)/?.*@", re.DOTALL)  # up to the last @: an unescaped password may contain anything
_USER_IN_TEXT = re.compile(r"(?<=(?:sql|res):/)/?\S*@", re.IGNORECASE)
_SECRET = re.compile(r"([?&][^=&\s]*(?:pass|secret|token|key)[^=&\s]*=)\S*?(?=&|::|\s|$)", re.IGNORECASE)


def without_secrets(text: str) -> str:
    """Remove user names, passwords and tokens from database addresses in a name, an argument or a line.

    Returns
    -------
    str
        The text without credentials.

    Examples
    --------
    >>> without_secrets("postgresql://me:pa@ss@db.example/votes?password=x&sslmode=require::judged")
    'postgresql://db.example/votes?password=…&sslmode=require::judged'
    """
    if _ADDRESS.search(text) is None:
        return text
    user = _USER if _ADDRESS.match(text) else _USER_IN_TEXT
    return _SECRET.sub(r"\1…", user.sub("/", text))


# -- results -----------------------------------------------------------------------------------------------------

Columns: TypeAlias = Mapping[str, Any]  #: name -> a list or an array; all of one length

#: format -> the method that renders it
FORMATS_OF_RESULTS = {"text": "to_text", "json": "to_json", "csv": "to_csv", "md": "to_markdown", "html": "to_html"}


class Result(ABC):
    r"""A result that is rendered as text, JSON, CSV, Markdown, HTML and a dataframe from one definition.

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

    #: whether text and Markdown are a bare table, so that alarms and remarks have to go elsewhere (stderr)
    _is_bare: ClassVar[bool] = False

    #: what the JSON document calls itself: the command that prints it, or else the class
    _kind: ClassVar[str] = ""
    _version: ClassVar[int] = DOCUMENT

    def __init_subclass__(cls, **about: Any) -> None:
        super().__init_subclass__(**about)
        if not cls._kind and cls.__name__ != "Drawable":
            cls._kind = re.sub("(?<!^)(?=[A-Z])", "_", cls.__name__).lower()

    def _document(self) -> Any:
        """What JSON holds, before `json_ready`. By default the rows of `_columns`."""
        return row_documents(self._columns())

    def _attributes(self, *names: str) -> dict[str, Any]:
        """These attributes by name, in this order: parts of a document."""
        return {name: getattr(self, name) for name in names}

    @abstractmethod
    def _blocks(self) -> Iterable[Block]:
        """What text, Markdown and HTML show."""

    @abstractmethod
    def _columns(self) -> Columns:
        """What CSV and the dataframe hold."""

    def main_table(self) -> Table:
        """Get the table that results by group show: the first of the text.

        Returns
        -------
        Table
        """
        return next(block for block in self._blocks() if isinstance(block, Table))

    def to_dict(self) -> Any:
        """Convert the result to plain JSON types: text keys, no NaN; a mapping starts with the version of its `schema`.

        Returns
        -------
        dict or list
            What `to_json` writes.
        """
        document = json_ready(self._document())
        return (
            {"schema": f"jurors.{self._kind}/{self._version}", **document} if isinstance(document, dict) else document
        )

    def to_json(self) -> str:
        """Render as strict JSON."""
        return json_text(self.to_dict())

    def to_text(self, **show: Any) -> str:
        """Render for a terminal; results with many jurors take `full`, `top`, `sort` and `min_votes`."""
        blocks: Any = self._blocks
        return "\n\n".join(_block(block).to_text() for block in blocks(**show)) + "\n"

    def to_markdown(self, **show: Any) -> str:
        """Render as Markdown; options as in `to_text`."""
        blocks: Any = self._blocks
        return "\n\n".join(_block(block).to_markdown() for block in blocks(**show)) + "\n"

    def to_html(self) -> str:
        """Render as HTML, in which every name is text, never markup."""
        return "".join(_block(block).to_html() for block in self._blocks())

    def to_csv(self) -> str:
        """Render as comma separated values, full precision."""
        columns = self._columns()
        return csv_text(tuple(columns), zip(*map(_plain, columns.values()), strict=True))

    def to_frame(self) -> Any:
        """Build a dataframe with the rows of the CSV (pandas; else polars or pyarrow)."""
        return data_frame(self._columns())

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.to_html()


class Drawable(Result):
    """A result that `jurors.plot` has charts of."""

    __slots__ = ()

    def plot(self, kind: str | None = None, *arguments: Any, **options: Any) -> Any:
        """Draw a chart of this result: a name in `jurors.plot.KINDS`, or the chart that shows it best.

        Arguments and options as in the function of that name. Needs altair (`pip install 'jurors[plot]'`).
        """
        # By name and late: results load without altair, and this layer may not import a higher one.
        return import_module("jurors.plot").draw(self, kind, *arguments, **options)


# -- blocks: what people read ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Prose:
    """A paragraph; in text, in lines no longer than `width`."""

    text: str
    width: int | None = None

    def to_text(self) -> str:
        """Render one line, or several."""
        return escape_text(self.text) if self.width is None else fill(escape_text(self.text), self.width)

    def to_markdown(self) -> str:
        """Render a paragraph."""
        return prose_in_markdown(self.text)

    def to_html(self) -> str:
        """Render a paragraph."""
        return _paragraph(self.text)


@dataclass(frozen=True)
class Table:
    """A title, column names and cells; the columns `right` are right-aligned."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    title: str = ""
    right: tuple[int, ...] = ()
    width: int | None = None  #: text shortens names in the middle so that lines are no longer than this

    @classmethod
    def of(cls, columns: Columns) -> Table:
        """Build a table from columns as they are."""
        return cls(tuple(columns), tuple(zip(*map(_plain, columns.values()), strict=True)))

    def to_text(self) -> str:
        """Render columns aligned by spaces."""
        from rich.cells import cell_len

        rows = [[_cell_text(cell) for cell in row] for row in (self.columns, *self.rows)]
        lines = [escape_text(self.title)] if self.title else []
        widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
        if self.width is not None:
            widths = _shrunk(widths, self.right, self.width)
            rows = [[shorten(cell, width) for cell, width in zip(row, widths, strict=True)] for row in rows]
        for row in rows:
            spaces = [" " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
            padded = [
                space + cell if k in self.right else cell + space
                for k, (cell, space) in enumerate(zip(row, spaces, strict=True))
            ]
            lines.append("  " + "  ".join(padded).rstrip())
        return "\n".join(lines)

    def to_markdown(self) -> str:
        """Render a GitHub-flavoured table."""
        rule = ["---:" if k in self.right else "---" for k in range(len(self.columns))]
        rows = [[in_markdown(_cell_text(cell)) for cell in row] for row in self.rows]
        lines = ["| " + " | ".join(row) + " |" for row in (list(map(in_markdown, self.columns)), rule, *rows)]
        return _titled(self.title) + "\n".join(lines)

    def to_html(self) -> str:
        """Render an HTML table; every cell is text, never markup."""
        styles = [' style="text-align:right"' if k in self.right else "" for k in range(len(self.columns))]
        header = "".join(f"<th>{_escaped(column)}</th>" for column in self.columns)
        body = ""
        for row in self.rows:
            cells = [f"<td{style}>{_escaped(_cell_text(cell))}</td>" for style, cell in zip(styles, row, strict=True)]
            body += f"<tr>{''.join(cells)}</tr>"
        caption = f"<caption>{_escaped(self.title)}</caption>" if self.title else ""
        return f"<table>{caption}<thead><tr>{header}</tr></thead><tbody>{body}</tbody></table>"


@dataclass(frozen=True)
class Notes:
    """Short lines, one point each."""

    lines: Sequence[str]
    title: str = ""
    mark: str = ""  #: what precedes each line in text
    width: int | None = None  #: of the text; longer lines are folded
    hanging: str = ""  #: what precedes the rest of a folded line

    def to_text(self) -> str:
        """Render a line each, below the title."""
        lines = [self.mark + escape_text(line) for line in self.lines]
        if self.width is not None:
            lines = [fill(line, self.width, subsequent_indent=self.hanging, break_on_hyphens=False) for line in lines]
        title = escape_text(self.title) if self.width is None else fill(escape_text(self.title), self.width)
        return "\n".join([title] * bool(self.title) + lines)

    def to_markdown(self) -> str:
        """Render a list."""
        return (_titled(self.title) + "\n".join(f"- {prose_in_markdown(line)}" for line in self.lines)).rstrip("\n")

    def to_html(self) -> str:
        """Render a list."""
        items = "".join(f"<li>{_escaped(line)}</li>" for line in self.lines)
        return _paragraph(self.title) * bool(self.title) + f"<ul>{items}</ul>" * bool(items)


@dataclass(frozen=True)
class Listing:
    """Lines to copy as they are: commands, the content of a file."""

    lines: Sequence[str]
    title: str = ""
    language: str = "text"

    def to_text(self) -> str:
        """Render indented below the title."""
        return Notes(self.lines, self.title, "  ").to_text()

    def to_markdown(self) -> str:
        """Render a fenced block."""
        lines = list(map(escape_text, self.lines))
        fence = "`" * max([3, *(len(run) + 1 for line in lines for run in re.findall("`+", line))])
        return _titled(self.title) + "\n".join([f"{fence}{self.language}", *lines, fence])

    def to_html(self) -> str:
        """Render preformatted."""
        return _paragraph(self.title) * bool(self.title) + f"<pre>{chr(10).join(map(_escaped, self.lines))}</pre>"


Block: TypeAlias = "str | Prose | Table | Notes | Listing"


LONGEST_NAME = 30  #: columns of a juror's name


def shorten(text: str, width: int = LONGEST_NAME) -> str:
    """Replace the middle of a long text by an ellipsis.

    Returns
    -------
    str

    Examples
    --------
    >>> shorten("a-very-long-name-of-a-model", 12), shorten("short", 12)
    ('a-very…model', 'short')
    """
    if text.isascii() and len(text) <= width:
        return text
    from rich.cells import cell_len, set_cell_size

    if cell_len(text) <= width:
        return text
    tail = text[len(text) - (width - 1) // 2 :]
    while cell_len(tail) > (width - 1) // 2:
        tail = tail[1:]
    return f"{set_cell_size(text, width - 1 - cell_len(tail)).rstrip()}…{tail}"


_NARROWEST = 10  # columns that a shortened name keeps


def _shrunk(widths: list[int], right: tuple[int, ...], most: int) -> list[int]:
    """The widths of columns of names made smaller, the widest first, until a line is short enough."""
    widths, names = list(widths), [k for k in range(len(widths)) if k not in right]
    while sum(widths) + 2 * len(widths) > most:
        widest = max(names, key=lambda k: widths[k], default=None)
        if widest is None or widths[widest] <= _NARROWEST:
            break
        widths[widest] -= 1
    return widths


def _block(block: Block) -> Prose | Table | Notes | Listing:
    """A block whose sentences name options as arguments in Python, as flags on the command line."""
    block = Prose(block) if isinstance(block, str) else block
    if isinstance(block, Prose):
        return replace(block, text=spell_options(block.text))
    if isinstance(block, Table):
        return replace(block, title=spell_options(block.title))
    if isinstance(block, Notes):
        return replace(block, lines=list(map(spell_options, block.lines)), title=spell_options(block.title))
    return block


def _titled(title: str) -> str:
    return f"**{in_markdown(title)}**\n\n" if title else ""


def _paragraph(text: str) -> str:
    return f"<p>{_escaped(text)}</p>"


def _escaped(text: str) -> str:
    return html.escape(escape_text(text))


def _cell_text(cell: Any) -> str:
    return "–" if cell is None or (isinstance(cell, float) and cell != cell) else escape_text(str(cell))


# -- words ----------------------------------------------------------------------------------------------------


def count_noun(number: int, noun: str) -> str:
    """Write a number with its noun in the singular or plural.

    Returns
    -------
    str

    Examples
    --------
    >>> count_noun(1, "juror"), count_noun(1204, "item")
    ('1 juror', '1,204 items')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def interval_name(level: float) -> str:
    """Name the column of an interval by its level.

    Returns
    -------
    str

    Examples
    --------
    >>> interval_name(0.95)
    '95% interval'
    """
    return f"{level * 100:g}% interval"


# -- data --------------------------------------------------------------------------------------------------


def columns_of(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, list[Any]]:
    """Transpose rows into named columns.

    Returns
    -------
    dict
        Name -> list of values.

    Examples
    --------
    >>> columns_of(("juror", "score"), [("ann", 0.9), ("bob", 0.8)])
    {'juror': ['ann', 'bob'], 'score': [0.9, 0.8]}
    """
    return {name: [row[k] for row in rows] for k, name in enumerate(names)}


def row_documents(columns: Columns) -> list[dict[str, Any]]:
    """Turn columns into one mapping per row.

    Returns
    -------
    list of dict
        Column name -> value.
    """
    return [dict(zip(columns, row, strict=True)) for row in zip(*map(_plain, columns.values()), strict=True)]


def _plain(values: Any) -> list[Any]:
    return values.tolist() if hasattr(values, "tolist") else list(values)


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Write comma separated values, full precision; missing values are empty, and no cell is a formula.

    Returns
    -------
    str
        A header and one line per row.
    """
    return "".join(",".join(map(_csv_cell, row)) + "\n" for row in (columns, *rows))


def _csv_cell(cell: Any) -> str:
    """One cell; the csv module leaves a carriage return unquoted, which then ends a row."""
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, (int, float)):
        return str(cell)
    text = without_formula(str(cell))
    return '"' + text.replace('"', '""') + '"' if _CSV_MARK.search(text) else text


_CSV_MARK = re.compile('[",\r\n]')


def json_ready(value: Any) -> Any:
    """Convert to plain JSON types.

    Mappings get text keys; NaN and infinities become null; a complex number becomes its two parts, a `Result` its
    document. Another object is converted by its `to_dict`, or else, if it is a dataclass, field by field.

    Returns
    -------
    None, bool, int, float, str, list or dict
    """
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
    if isinstance(value, Result):  # a part of another document, which holds the schema once
        return json_ready(value._document())
    if hasattr(value, "tolist"):  # numpy's; not imported here, so that `--help` need not wait for it
        return json_ready(value.tolist())
    if hasattr(value, "to_dict"):
        return json_ready(value.to_dict())
    return json_ready(field_values(value)) if is_dataclass(value) else value


def field_values(instance: Any, *left_out: str) -> dict[str, Any]:
    """Map the fields of a dataclass to their values, in order: what a `_document` or a `to_dict` starts from.

    Parameters
    ----------
    instance
        Of any dataclass.
    left_out
        Fields to omit.

    Returns
    -------
    dict
        Field name -> value as it is; `json_ready` converts it.

    Examples
    --------
    >>> field_values(Prose("Two jurors agree."), "width")
    {'text': 'Two jurors agree.'}
    """
    return {field.name: getattr(instance, field.name) for field in fields(instance) if field.name not in left_out}


def json_text(document: Any, **layout: Any) -> str:
    """Write strict JSON: no NaN; `layout` are options of `json.dumps`.

    Returns
    -------
    str
    """
    return visible_json(json.dumps(document, ensure_ascii=False, allow_nan=False, **{"indent": 1, **layout}))


def data_frame(columns: Columns) -> Any:
    """Build a dataframe.

    Returns
    -------
    pandas.DataFrame, polars.DataFrame or pyarrow.Table
        The first of these libraries that is installed.
    """
    if find_spec("pandas"):
        return import_module("pandas").DataFrame(dict(columns))
    plain = {name: _plain(values) for name, values in columns.items()}
    if find_spec("polars"):
        return import_module("polars").DataFrame(plain, strict=False)
    if find_spec("pyarrow"):
        return import_module("pyarrow").table(plain)
    raise VotesError("a dataframe needs pandas, polars or pyarrow: pip install 'jurors[frames]'")


# -- HTML pages: colours for light and dark screens, a policy that forbids all requests, data that runs nothing -----


def colours() -> str:
    """Read the colours of all pages, for light and for dark screens.

    Returns
    -------
    str
        CSS.
    """
    return (files("jurors") / "data" / "colours.css").read_text(encoding="utf-8")


def digest(text: str) -> str:
    """Hash a script or a style as a content security policy names it.

    Returns
    -------
    str
        'sha256-…', with the quotation marks.
    """
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def policy(*scripts: str, style: str = "'unsafe-inline'") -> str:
    """Write a content security policy: no requests at all, and only these scripts (by `digest`) may run.

    Returns
    -------
    str
        The content of the policy's `<meta>` element or header.
    """
    return f"default-src 'none'; script-src {' '.join(scripts)}; style-src {style}; base-uri 'none'; form-action 'none'"


def compact_json(document: Any) -> str:
    """Write strict JSON without blanks.

    Returns
    -------
    str
    """
    return json_text(document, indent=None, separators=(",", ":"))


def inert(text: str) -> str:
    r"""Escape JSON for a `<script type="application/json">` element.

    A `<` in JSON is always inside a string: escaped, neither `</script>` nor `<!--` can end the element.

    Returns
    -------
    str
        JSON of the same document.

    Examples
    --------
    >>> inert('{"a":"</script>"}')
    '{"a":"\\u003c/script\\u003e"}'
    """
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


# -- names that fit -----------------------------------------------------------------------------------------------


def shorten_names(names: Sequence[str], width: int) -> dict[str, str]:
    """Names that fit a column: without the beginning that all share, and where that is not enough, their middle.

    Returns
    -------
    dict
        Name -> what to print. Names that become equal are numbered.

    Examples
    --------
    >>> shorten_names(["openrouter/meta/llama-4", "openrouter/openai/gpt-5"], 16)
    {'openrouter/meta/llama-4': 'meta/llama-4', 'openrouter/openai/gpt-5': 'openai/gpt-5'}
    >>> shorten_names(["a-very-long-name-of-one-juror"], 16)
    {'a-very-long-name-of-one-juror': 'a-very-l…e-juror'}
    """
    shown = short_names(tuple(names))
    cut = {name: shorten(text, width) for name, text in shown.items()}
    if len(set(cut.values())) == len(cut):
        return cut
    marks = [f"#{k + 1}" for k in range(len(shown))]
    return {j: shorten(text, width - len(mark)) + mark for (j, text), mark in zip(shown.items(), marks, strict=True)}


def replace_names(text: str, names: Mapping[str, str]) -> str:
    """A sentence in which jurors are called as the table does.

    Returns
    -------
    str
    """
    longest = sorted((name for name, shown in names.items() if shown != name), key=lambda name: -len(name))
    return re.sub("|".join(map(re.escape, longest)), lambda found: names[found[0]], text) if longest else text
