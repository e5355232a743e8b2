"""Gold: what a person said of some items, posted back from a review."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping

from jurors.serve.stores import Store


class KeptGold:
    """Gold labels of projects; the last word of a person on an item stands."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def put(self, project: int, labels: Mapping[str, str]) -> None:
        """Item -> label as JSON; another label corrects. What is computed from the votes is to be computed anew."""
        now = time.time()
        with self._store.writing() as session:
            session.many(
                "INSERT INTO gold (project, item, label, given) VALUES (?, ?, ?, ?)"
                " ON CONFLICT (project, item) DO UPDATE SET label = excluded.label, given = excluded.given",
                [(project, item, label, now) for item, label in labels.items()],
            )
            session.run("UPDATE projects SET version = version + 1 WHERE id = ?", project)

    def of(self, project: int, items: Iterable[str]) -> dict[str, str]:
        """Item -> label as JSON, of those of these items that have one."""
        with self._store.reading() as session:
            sql = "SELECT item, label FROM gold WHERE project = ? AND item IN ({names})"
            return dict(session.rows_in(sql, project, list(items)))

    def counts(self, project: int) -> Counter[tuple[bytes, str]]:
        """How many items of each decision tuple have each gold label; items without a vote have no tuple."""
        with self._store.reading() as session:
            rows = session.rows(
                "SELECT items.counted, gold.label, COUNT(*) FROM gold JOIN items ON items.project = gold.project"
                " AND items.item = gold.item WHERE gold.project = ? GROUP BY items.counted, gold.label", project,
            )  # fmt: skip
        return Counter({(bytes(key), label): int(times) for key, label, times in rows})

    def open_items(self, project: int, wanted: Mapping[bytes, int]) -> dict[bytes, list[str]]:
        """So many items of each decision tuple that nobody has labelled yet, the oldest first."""
        sql = (
            "SELECT counted, item FROM (SELECT counted, item, number,"
            " ROW_NUMBER() OVER (PARTITION BY counted ORDER BY number) AS nth FROM items"
            " WHERE project = ? AND counted IN ({names}) AND NOT EXISTS"
            " (SELECT 1 FROM gold WHERE gold.project = items.project AND gold.item = items.item)) AS numbered"
            f" WHERE nth <= {max(wanted.values(), default=0)} ORDER BY number"
        )
        items: dict[bytes, list[str]] = {key: [] for key in wanted}
        with self._store.reading() as session:
            for key, item in session.rows_in(sql, project, list(wanted)):
                items[bytes(key)].append(item)
        return items

    def total(self, project: int) -> int:
        """How many items have one."""
        with self._store.reading() as session:
            row = session.one("SELECT COUNT(*) FROM gold WHERE project = ?", project)
        return 0 if row is None else int(row[0])
