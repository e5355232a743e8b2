"""Backup and restore: a store, or one project of it, as lines of JSON.

The first line names the format, each further one holds some rows of a table, the last one their number and a checksum
of all lines before it. A project gets a new number when it is restored; everything else is as it was.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import zlib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from jurors.errors import VotesError
from jurors.serve.database import MIGRATIONS, Session
from jurors.serve.errors import ApiError, NoProject
from jurors.serve.store import SqlStore
from jurors.votes.io.sources import PIECES, in_bytes, unpacked

_FORMAT = "jurors backup"
_ROWS = 500  #: in a line
_AGAIN = "create a new backup"


def _tables() -> dict[str, tuple[str | None, str | None]]:
    """The tables as migrations made them, those that others refer to first.

    Of each the column that the database numbers, and that of the project to which a row belongs and with which it goes.
    """
    tables = {}
    for statement in chain.from_iterable(MIGRATIONS):
        made = re.match(r"CREATE TABLE (\w+)", statement)
        if made is not None and made[1] != "leases":  # of servers that run now
            serial = re.search(r"(\w+) \{serial\}", statement)
            owner = "id" if made[1] == "projects" else "project" if "REFERENCES projects" in statement else None
            tables[made[1]] = serial and serial[1], owner
    return tables


def export_lines(store: SqlStore, project: str | None = None) -> Iterator[str]:
    """The lines of a backup of a store, or of one project, at one moment, with all votes acknowledged before.

    Returns
    -------
    iterator of str
        JSON lines, each with its line end.
    """
    with store.reading(seconds=math.inf) as session:
        projects = session.rows("SELECT id, name FROM projects ORDER BY id")
        selected = {name: number for number, name in projects if project in (None, name)}
        if project is not None and not selected:
            raise NoProject(project)
        digest, rows = hashlib.sha256(), 0
        for document in _documents(session, selected, is_complete=project is None):
            line = json.dumps(document, ensure_ascii=True, separators=(",", ":")) + "\n"
            digest.update(line.encode())
            rows += len(document.get("rows", ()))
            yield line
        yield json.dumps({"end": rows, "checksum": f"sha256:{digest.hexdigest()}"}) + "\n"


def _documents(session: Session, selected: dict[str, int], *, is_complete: bool) -> Iterator[dict[str, Any]]:
    yield {"format": _FORMAT, "version": len(MIGRATIONS), "projects": list(selected)}
    for table, (serial, owner) in _tables().items():
        order = f" ORDER BY {serial}" if serial else ""
        owners = [f" WHERE {owner} = {int(number)}{order}" for number in selected.values()]
        for condition in owners if owner else [""] * is_complete:
            columns, parts = session.parts(f"SELECT * FROM {table}{condition}", _ROWS)
            for part in parts:
                rows = [
                    [{"hex": bytes(value).hex()} if isinstance(value, bytes | memoryview) else value for value in row]
                    for row in part
                ]
                yield {"table": table, "columns": columns, "rows": rows}


# -- restoring --------------------------------------------------------------------------------------------------------


def import_backup(store: SqlStore, path: Path, project: str | None = None, unpack: str | None = None) -> list[str]:
    """Restore all projects of a backup, or one; nothing where something is wrong.

    `unpack` allows a larger size than a compressed backup usually has, such as "10GB".

    Returns
    -------
    list of str
        The names of the restored projects.
    """
    try:
        allowed = in_bytes(unpack, "unpack")
        for _ in _read_documents(path, allowed):  # to its end, before anything is written
            pass
        documents = _read_documents(path, allowed)
        head = next(documents, {})
        if head.get("format") != _FORMAT:
            raise VotesError("this file is not a backup; create one with `jurors store export`")
        if head["version"] > len(MIGRATIONS):
            raise VotesError("this backup was written by a newer version of jurors; update jurors")
        names: list[str] = head["projects"]
        selected = [name for name in names if project in (None, name)]
        if project is not None and not selected:
            message = f"the backup has no project {project!r}; it has {', '.join(names) or 'none'}"
            raise VotesError(message, code="unknown_name")
        tables = _tables()
        numbers: dict[int, int] = {}  # of projects: in the backup -> in this store
        with store.writing(seconds=math.inf) as session:
            for document in documents:
                serial, owner = tables[document["table"]]
                if document["table"] == "projects":
                    _restore_projects(session, document, selected, numbers)
                elif owner or project is None:
                    _restore_rows(session, document, serial, owner, numbers)
        return selected
    except VotesError as error:
        raise error.in_file(str(path)) from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        if isinstance(error, ApiError):
            raise
        raise VotesError(f"the content of this backup is inconsistent; {_AGAIN}", code="damaged").in_file(
            str(path)
        ) from None


def _restore_projects(session: Session, document: dict[str, Any], selected: list[str], numbers: dict[int, int]) -> None:
    for values in document["rows"]:
        row = dict(zip(document["columns"], values, strict=True))
        number, name = row.pop("id"), row["name"]
        if name not in selected:
            continue
        if session.one("SELECT id FROM projects WHERE name = ?", name) is not None:
            message = f"project {name!r} already exists; delete it first, or restore into another store"
            raise ApiError(409, "input", message, name=name)
        made = session.one(f"{_insertion('projects', list(row))} RETURNING id", *row.values())
        numbers[number] = (made or (0,))[0]


def _restore_rows(
    session: Session, document: dict[str, Any], serial: str | None, project: str | None, numbers: dict[int, int]
) -> None:
    columns = document["columns"]
    stored = [k for k, column in enumerate(columns) if column != serial]
    owner = columns.index(project) if project else -1
    rows = [
        [
            numbers[row[k]] if k == owner else bytes.fromhex(row[k]["hex"]) if isinstance(row[k], dict) else row[k]
            for k in stored
        ]
        for row in document["rows"]
        if owner < 0 or row[owner] in numbers
    ]
    clash = "" if project else " ON CONFLICT DO NOTHING"
    session.many(_insertion(document["table"], [columns[k] for k in stored]) + clash, rows)


def _insertion(table: str, columns: list[str]) -> str:
    """The statement that inserts a row; names of columns are checked: a backup may come from anywhere."""
    for column in columns:
        if not re.fullmatch(r"[a-z_]+", column):
            raise VotesError(f"{column!r:.40} is not a column of the store; {_AGAIN}", code="damaged")
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


def _read_documents(path: Path, allowed: int | None) -> Iterator[dict[str, Any]]:
    """The documents of a backup; VotesError where it is cut short or was changed."""
    digest, rows, is_intact = hashlib.sha256(), 0, False
    try:
        with path.open("rb") as raw:
            is_gzip = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            for line in unpacked(raw, PIECES, allowed) if is_gzip else raw:
                document = json.loads(line)
                if "end" in document:
                    is_intact = document == {"end": rows, "checksum": f"sha256:{digest.hexdigest()}"}
                    break
                digest.update(line)
                rows += len(document.get("rows", ()))
                yield document
    except FileNotFoundError:
        raise VotesError("the file does not exist", code="no_file") from None
    except VotesError:
        raise
    except (OSError, EOFError, zlib.error, ValueError):  # of JSON, of a number with too many digits, of UTF-8
        is_intact = False
    if not is_intact:
        raise VotesError(f"this backup is incomplete or was modified; {_AGAIN}", code="damaged")
