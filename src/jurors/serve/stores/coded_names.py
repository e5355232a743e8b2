"""Names of jurors and labels, and their codes: given in the order in which they came, never twice."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from jurors.serve.stores.session import Session

Names = Literal["jurors", "labels"]  #: the tables; a label is kept as JSON, so that 1 and "1" are two


def names(session: Session, project: int, kind: Names) -> list[str]:
    """The names, in the order of their codes."""
    return [row[0] for row in session.rows(f"SELECT name FROM {kind} WHERE project = ? ORDER BY code", project)]


def add_names(session: Session, project: int, kind: Names, new: Iterable[str]) -> dict[str, int]:
    """The code of every name, the new ones behind the others; the project must be locked."""
    codes = {name: code for code, name in enumerate(names(session, project, kind))}
    fresh = [name for name in dict.fromkeys(new) if name not in codes]
    rows = [(project, code, name) for code, name in enumerate(fresh, len(codes))]
    session.many(f"INSERT INTO {kind} (project, code, name) VALUES (?, ?, ?)", rows)
    return codes | {name: code for _, code, name in rows}
