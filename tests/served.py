"""What tests of the server share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from jurors.serve.guard.api_keys import ApiKey


@dataclass
class KeysInMemory:
    """Where keys are kept, without a database."""

    kept: dict[str, ApiKey] = field(default_factory=dict)

    def add_key(self, key: ApiKey) -> None:
        self.kept[key.id] = key

    def key(self, id: str) -> ApiKey | None:
        return self.kept.get(id)

    def all_keys(self) -> Iterable[ApiKey]:
        return list(self.kept.values())

    def revoke_key(self, id: str, when: float) -> bool:
        there = self.kept.get(id)
        if there is None or there.revoked is not None:
            return False
        self.kept[id] = replace(there, revoked=when)
        return True

    def any_key(self) -> bool:
        return bool(self.kept)
