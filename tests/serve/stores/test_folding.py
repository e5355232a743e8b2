"""Stream = batch: whatever the order, batches, repeats, corrections and restarts, the counts are those of one read."""

from __future__ import annotations

import tempfile
from collections import Counter
from math import inf
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from jurors.serve.grading import ProjectReader
from jurors.serve.store import batch_of, open_store

ITEMS, JURORS, LABELS = ("q1", "q2", "q3", "q4"), ("ann", "bob", "cy"), ("yes", "no", 1)
VOTES = st.fixed_dictionaries(
    {"item": st.sampled_from(ITEMS), "juror": st.sampled_from(JURORS), "label": st.sampled_from(LABELS)},
    optional={"time": st.integers(0, 50)},
)


def shared_memory() -> str | None:
    """A folder that takes no time to sync, where there is one."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


def stands(votes: list[dict[str, Any]], untimed: float) -> dict[tuple[str, str], Any]:
    """Which label stands for each item and juror: the later own time, else the later arrival."""
    said: dict[tuple[str, str], tuple[Any, float]] = {}
    for vote in votes:
        who, time = (vote["item"], vote["juror"]), vote.get("time", untimed)
        if who not in said or time >= said[who][1]:
            said[who] = vote["label"], time
    return {who: label for who, (label, _) in said.items()}


def tuples(standing: dict[tuple[str, str], Any]) -> Counter[frozenset[tuple[str, Any]]]:
    """Decision tuples, by one read of what stands."""
    items = {item for item, _ in standing}
    return Counter(frozenset((j, label) for (i, j), label in standing.items() if i == item) for item in items)


@settings(max_examples=40)
@given(
    batches=st.lists(st.lists(VOTES, max_size=6), max_size=6), most=st.sampled_from([1, 5, 100]),
    restart=st.booleans(), look=st.booleans(), window=st.sampled_from([2, "4/2", "10s"]),
)  # fmt: skip
def test_the_counts_are_those_of_one_read(
    batches: list[list[dict[str, Any]]], most: int, restart: bool, look: bool, window: int | str
) -> None:
    with tempfile.TemporaryDirectory(dir=shared_memory()) as folder:
        place = str(Path(folder) / "votes.db")
        store = open_store(place)
        project, _ = store.put_project("p", {"window": window})
        counts = ProjectReader(store)
        for number, batch in enumerate(batches):
            store.append([(project.id, batch_of(batch))])
            if number % 2:
                store.aggregate(project.id, most)
            if look and not restart:
                counts.latest("p")
            if restart:
                store.close()
                store = open_store(place)
                counts = ProjectReader(store)
        while store.aggregate(project.id, most):
            pass
        votes = [vote for batch in batches for vote in batch]
        panes = counts.latest("p").panes
        counted: Counter[frozenset[tuple[str, Any]]] = Counter()
        for key, times in panes.counts().items():
            counted[frozenset((panes.jurors[k], panes.labels[code - 1]) for k, code in enumerate(key) if code)] += times
        standing = stands(votes, untimed=inf if window == "10s" else -inf)  # by time, arrival is a vote's time
        assert counted == tuples(standing)
        after = store.project("p")
        assert (after.items, after.votes) == (sum(counted.values()), len(standing))
        store.close()
