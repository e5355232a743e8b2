"""Stream = batch: whatever the order, the batches, repeats, corrections and restarts, the same sketch."""

from __future__ import annotations

import random
from collections import Counter

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from jurors import Monitor, Sketch
from jurors.monitor.windows import Window
from jurors.options import Label

Vote = tuple[str, str, str, float]

WINDOWS = (4, "8/2", "10s", "20s/5s")


@st.composite
def streams(draw: st.DrawFn) -> list[Vote]:
    """Votes with times of their own, some of them cast several times; no two of one juror on an item at one time."""
    cells = draw(
        st.lists(
            st.tuples(st.integers(0, 11), st.sampled_from(["ann", "bob", "cy", "dee"]), st.integers(0, 60)),
            min_size=1, max_size=60, unique=True,
        )
    )  # fmt: skip
    return [(f"q{item}", juror, draw(st.sampled_from("ABC")), float(time)) for item, juror, time in cells]


def final(votes: list[Vote]) -> list[Vote]:
    """The last vote of each juror on each item."""
    return list({vote[:2]: vote for vote in sorted(votes, key=lambda vote: vote[3])}.values())


def sketch_of(votes: list[Vote]) -> Sketch:
    """One read of the final votes, counted by hand."""
    kept = {(item, juror): label for item, juror, label, _ in final(votes)}
    jurors, items = sorted({juror for _, juror in kept}), {item for item, _ in kept}
    counts = Counter(tuple(kept.get((item, juror)) for juror in jurors) for item in items)
    return Sketch.from_counts(counts, jurors=jurors, labels=sorted(set(kept.values())))


def learnt(votes: list[Vote], rng: random.Random, window: int | str) -> Monitor:
    """The votes one by one or in batches of all sorts, with restarts in between."""
    monitor, rest = Monitor(window), list(votes)
    while rest:
        size = rng.randint(1, len(rest))
        batch, rest = rest[:size], rest[size:]
        if size == 1:
            monitor.learn_one(*batch[0])
        elif rng.random() < 0.5:
            monitor.learn_many(pd.DataFrame(batch, columns=["item", "juror", "label", "time"]))
        else:
            monitor.learn_many(batch)
        if rng.random() < 0.3:
            monitor = Monitor.from_dict(monitor.to_dict())
    return monitor


@given(streams(), st.sampled_from(WINDOWS), st.randoms(use_true_random=False))
@examples(30)
def test_any_order_batches_repeats_and_restarts_give_the_sketch_of_one_read(
    votes: list[Vote], window: int | str, rng: random.Random
) -> None:
    again = [*votes, *rng.choices(votes, k=len(votes) // 3)]
    rng.shuffle(again)
    monitor = learnt(again, rng, window)
    frame = pd.DataFrame(final(votes), columns=["item", "juror", "label", "time"])
    assert monitor.sketch() == sketch_of(votes) == Sketch.from_frame(frame, layout="long", ignore=["time"])
    assert (monitor.votes, monitor.late) == (len(final(votes)), 0)
    assert monitor.items == len({item for item, *_ in votes})


@pytest.mark.slow
@given(streams(), st.sampled_from(["10s", "20s/5s"]), st.randoms(use_true_random=False))
@examples(30)
def test_windows_by_time_do_not_depend_on_the_order_of_arrival(
    votes: list[Vote], window: str, rng: random.Random
) -> None:
    shuffled = rng.sample(votes, len(votes))
    one, two = learnt(votes, rng, window), learnt(shuffled, rng, window)
    assert [span for span in one.windows() if span.items] == [span for span in two.windows() if span.items]
    for span in one.windows():
        sketch = one.sketch(span.number)
        assert sketch.to_counts() == two.sketch(span.number).take(sketch.jurors).to_counts()


@given(streams(), st.randoms(use_true_random=False))
@examples(30)
def test_renaming_jurors_and_labels_commutes(votes: list[Vote], rng: random.Random) -> None:
    jurors = dict(zip(["ann", "bob", "cy", "dee"], rng.sample(["w", "x", "y", "z"], 4), strict=True))
    labels: dict[Label, Label] = dict(zip("ABC", rng.sample("ABC", 3), strict=True))
    renamed = [(item, jurors[juror], str(labels[label]), time) for item, juror, label, time in votes]
    plain, other = learnt(votes, rng, 5).sketch(), learnt(renamed, rng, 5).sketch()
    wanted = plain.rename(jurors).relabel(labels)
    assert other.take(wanted.jurors).to_counts() == wanted.to_counts()


@given(streams(), st.randoms(use_true_random=False))
@examples(20)
def test_without_times_the_later_arrival_corrects(votes: list[Vote], rng: random.Random) -> None:
    untimed = [vote[:3] for vote in votes]
    monitor = Monitor(5)
    for item, juror, label in untimed:
        monitor.learn_one(item, juror, label)
    whole = Monitor(5)
    whole.learn_many(untimed)
    numbered = [(*vote, float(k)) for k, vote in enumerate(untimed)]
    assert monitor.sketch() == whole.sketch() == sketch_of(numbered)
    assert monitor.panes.to_dict() == whole.panes.to_dict()


@given(streams(), st.randoms(use_true_random=False))
@examples(30)
def test_a_stream_in_order_counts_each_vote_in_the_window_of_its_item(votes: list[Vote], rng: random.Random) -> None:
    monitor = Monitor("20s/5s")
    monitor.learn_many(votes)
    first = {item: min(time for one, _, _, time in votes if one == item) for item, *_ in votes}
    for span in monitor.windows():
        inside = [vote for vote in votes if span.start <= first[vote[0]] < span.end]
        assert (span.items, span.votes) == (len({item for item, *_ in inside}), len(final(inside)))
        if inside:
            wanted = sketch_of(inside)
            assert monitor.sketch(span.number).take(wanted.jurors).to_counts() == wanted.to_counts()


@pytest.mark.parametrize("text", ["1000", "1000/100", "90s", "1h/5m", "1.5h", "2w"])
def test_a_window_is_written_as_it_was_told(text: str) -> None:
    assert Window.of(str(Window.of(text))) == Window.of(text)
