"""The list of keys, as a result like any other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from jurors.serve.guard.api_keys import ApiKey
from jurors.tables import Block, Columns, Result, Table, columns_of

_COLUMNS = ("key", "scope", "project", "note", "created", "revoked")


@dataclass(frozen=True)
class KeyList(Result):
    """Keys by name: what each is good for, and since when."""

    keys: tuple[ApiKey, ...]

    def _columns(self) -> Columns:
        rows = [
            (key.id, key.scope, key.project, key.note, _moment(key.created), _moment(key.revoked)) for key in self.keys
        ]
        return columns_of(_COLUMNS, rows)

    def _blocks(self) -> Iterable[Block]:
        return [Table.of(self._columns())] if self.keys else ["there is no key"]


def _moment(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
