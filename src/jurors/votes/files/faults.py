"""What DuckDB says about a bad file, as one line that a person can act on."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from jurors.errors import VotesError
from jurors.options import Format
from jurors.votes.files.fetch import HEAD, not_utf8

INTERRUPTED_FIT = "Training interrupted by user"
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")  # two that belong together are one character to Python
_TOO_DEEP = "the JSON is nested too deeply to hold votes"


def row_fault(row: int, what: str) -> VotesError:
    """A fault in one row of a table (from 1), which a table of several files can say in which of them it is."""
    return VotesError(f"row {row}, {what}", code="bad_row", row=row, what=what)


def is_interrupt(error: Exception) -> bool:
    """Whether DuckDB, or a network of scikit-learn, means Ctrl-C."""
    return str(error) == "Query interrupted" or str(error).startswith(INTERRUPTED_FIT)


def first_line(error: Exception) -> str:
    """What a library says, without what it adds below."""
    return str(error).split("\n")[0]


def file_fault(error: Exception, path: Path, format: Format) -> VotesError:
    """What is wrong with a file, told from the error that reading it raised."""
    text = str(error)
    if type(error).__name__ == "OutOfMemoryException":
        return VotesError("reading needs more memory than it was allowed; allow more with memory= (--memory SIZE)")
    if format == "parquet":
        return damaged_parquet(error)
    return VotesError(_json_fault(path, format, text) if format in ("json", "jsonl") else _csv_fault(text))


def _csv_fault(text: str) -> str:
    line = match[1] if (match := re.search(r"Error on Line: (\d+)", text)) else "?"
    if widths := re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text):
        return f"line {line} has {widths[2]} fields where the header has {widths[1]}; fill or remove cells"
    if size := re.search(r"Maximum line size of (\d+) bytes exceeded.*?Actual Size:\s*(\d+)", text, re.DOTALL):
        return (
            f"line {line} is longer than {int(size[1]):,} bytes, the limit of a line ({int(size[2]):,} were read): "
            "is a quotation mark not closed, or a column no label?"
        )
    if "utf-8" in text or "unicode" in text:
        return not_utf8(line)
    if "unterminated quote" in text:
        return f"line {line} has a quotation mark that is not closed, or stands inside a cell; double it inside a cell"
    return f"{f'line {line}: ' if match else ''}{_first_line(text)}"


def damaged_parquet(error: Exception) -> VotesError:
    """What to say of a Parquet file that DuckDB cannot read, without the path that it puts in its messages.

    >>> damaged_parquet(ValueError("Invalid Input Error: No magic bytes found at end of file '/tmp/votes.parquet'"))
    VotesError('the Parquet file is damaged (No magic bytes found at end of file); fetch or write it again')
    """
    reason = _first_line(str(error))
    message = f"the Parquet file is damaged ({reason[:120].rstrip(' :.')}); fetch or write it again"
    return VotesError(message, code="damaged")


def matrix_holds(error: Exception) -> str | None:
    """What NumPy refused to load, from what it says: "objects" of Python, a "pickle"; None for other faults."""
    reason = str(error)
    if "Object arrays" in reason or "Python objects" in reason:
        return "objects"
    return "pickle" if "pickle" in reason else None


def _json_fault(path: Path, format: Format, text: str) -> str:
    """What is wrong with the JSON, by line; only after reading it has failed."""
    if format == "json" and first_byte(path) == b"[":
        try:
            records = json.loads(path.read_bytes())
        except RecursionError:
            return _TOO_DEEP
        except ValueError as error:
            return f"the JSON is broken: {_first_line(str(error))}"
        return _not_records(records) or _first_line(text)
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                record = json.loads(line) if line.strip() else {}
            except UnicodeDecodeError:
                return not_utf8(number)
            except RecursionError:
                return _TOO_DEEP
            except ValueError as error:
                return f"line {number} is not a JSON record ({error}); write one {{…}} a line, or an array of them"
            if not isinstance(record, dict):
                return f"line {number} is not a JSON record but {str(record)[:30]!r}; write one {{…}} a line"
            if half := _LONE_SURROGATE.search(json.dumps(record, ensure_ascii=False)):
                return f"line {number} holds half a character ({half[0]!a}, a lone surrogate); take it out"
            if not record and line.strip():
                return f"line {number} is an empty record ({{}}): it holds no vote"
    return _first_line(text)


def _not_records(records: list[Any]) -> str | None:
    for number, record in enumerate(records, 1):
        if not isinstance(record, dict):
            return f'row {number} of the JSON array is {str(record)[:30]!r}, not a record such as {{"item": …}}'
    return "the JSON array has no records" if not records else None


def _first_line(text: str) -> str:
    """What DuckDB says first, without the path that it puts in its messages."""
    line = re.sub(r"^[\w ]+ Error: ", "", text).strip().split("\n")[0].rstrip(". ")
    return re.sub(r"(?: in file)?\s*[\"'](?:/|[A-Za-z]:\\)[^\"']*[\"'],?", "", line)


def first_byte(path: Path) -> bytes:
    """The first byte that is no blank."""
    with path.open("rb") as file:
        return file.read(HEAD).lstrip()[:1]
