"""Items on which some jurors may still vote: whoever judges them now would take a slow juror for a silent one."""

from __future__ import annotations

import time
from collections import Counter

from jurors.serve.kept.counted_votes import CountedVotes
from jurors.serve.stores import Store

SETTLE = 60.0  #: seconds without a new vote until an item counts as it is, where the project says nothing
_NEWEST = 100_000  #: items among which open ones are looked for


def unsettled(store: Store, counted: CountedVotes) -> Counter[tuple[int, bytes]] | None:
    """(pane, key) -> items that lack votes and were voted on a moment ago; None where the counts are old by now.

    An item on which every juror of the project voted waits for nobody.
    """
    project = counted.project
    settle = project.settings.get("settle", SETTLE)
    sql = "SELECT pane, counted, COUNT(*) FROM items WHERE project = ? AND number >= ? AND updated > ? GROUP BY 1, 2"
    with store.reading() as session:
        row = session.one("SELECT version FROM projects WHERE id = ?", project.id)
        if row is None or row[0] != project.version:
            return None
        rows = session.rows(sql, project.id, project.numbered - _NEWEST, time.time() - settle) if settle else []
    whole = len(counted.panes.jurors)
    keys = ((pane, bytes(key), times) for pane, key, times in rows)
    return Counter({(pane, key): times for pane, key, times in keys if len(key) - key.count(0) < whole})
