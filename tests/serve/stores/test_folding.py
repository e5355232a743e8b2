"""Stream = batch: whatever the order, batches, repeats, corrections and restarts, the counts are those of one read."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from jurors.serve.batch import batch_of
from jurors.serve.stores import open_store

ITEMS, JURORS, LABELS = ("q1", "q2", "q3", "q4"), ("ann", "bob", "cy"), ("yes", "no", 1)
VOTES = st.fixed_dictionaries(
    {"item": st.sampled_from(ITEMS), "juror": st.sampled_from(JURORS), "label": st.sampled_from(LABELS)},
    optional={"time": st.integers(0, 50)},
)


def shared_memory() -> str | None:
    """A folder that takes no time to sync, where there is one."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


def stands(votes: list[dict[str, Any]]) -> dict[tuple[str, str], Any]:
    """Which label stands for each item and juror: the later own time, else the later arrival."""
    said: dict[tuple[str, str], tuple[Any, Any]] = {}
    for vote in votes:
        who, time = (vote["item"], vote["juror"]), vote.get("time")
        _, before = said.get(who, (None, None))
        if before is None or time is None or time >= before:
            said[who] = vote["label"], time
    return {who: label for who, (label, _) in said.items()}


def tuples(votes: list[dict[str, Any]]) -> Counter[frozenset[tuple[str, Any]]]:
    """Decision tuples, by one read of what stands."""
    standing = stands(votes)
    items = {item for item, _ in standing}
    return Counter(frozenset((j, label) for (i, j), label in standing.items() if i == item) for item in items)


@settings(max_examples=40)
@given(
    batches=st.lists(st.lists(VOTES, max_size=6), max_size=6), most=st.sampled_from([1, 5, 100]),
    restart=st.booleans(), window=st.sampled_from([{"items": 2}, {"seconds": 10}]),
)  # fmt: skip
def test_the_counts_are_those_of_one_read(
    batches: list[list[dict[str, Any]]], most: int, restart: bool, window: dict[str, int]
) -> None:
    with tempfile.TemporaryDirectory(dir=shared_memory()) as folder:
        place = str(Path(folder) / "votes.db")
        store = open_store(place)
        project, _ = store.put_project("p", {"window": window})
        for number, batch in enumerate(batches):
            store.append([(project.id, batch_of(batch))])
            if number % 2:
                store.fold(project.id, most)
            if restart:
                store.close()
                store = open_store(place)
        while store.fold(project.id, most):
            pass
        votes = [vote for batch in batches for vote in batch]
        jurors = store.names(project.id, "jurors")
        labels = [json.loads(label) for label in store.names(project.id, "labels")]
        counted: Counter[frozenset[tuple[str, Any]]] = Counter()
        for key, times in store.counts(project.id).items():
            counted[frozenset((jurors[k], labels[code - 1]) for k, code in enumerate(key) if code)] += times
        assert counted == tuples(votes)
        after = store.project("p")
        assert (after.items, after.votes) == (sum(counted.values()), len(stands(votes)))
        store.close()
