"""What SQLite and PostgreSQL do differently: how to open one, how a transaction begins, and what its errors mean."""

from __future__ import annotations

from typing import Any, Protocol

from jurors.serve.refused import Refused


class Dialect(Protocol):
    """One database."""

    shown: str  #: what messages and logs call it; no password
    placeholder: str
    begin_read: str
    begin_write: str
    lock_project: str  #: keeps other folds of a project waiting until the transaction ends
    lock_schema: str
    words: dict[str, str]  #: for the `{…}` of the tables

    def connect(self) -> Any:
        """A new connection, on which transactions begin and end by statements."""

    def fault(self, error: Exception) -> Refused | None:
        """What a driver's error means for whoever asked; None for an error of ours."""

    def is_orphan(self, error: Exception) -> bool:
        """Whether a row belongs to a project that is not there (any more)."""
