"""One thread for small products, and as many as before afterwards, whoever works at the same time."""

from __future__ import annotations

from threading import Event, Thread

import pytest

from jurors import _numeric as threads
from jurors._numeric import single_threaded


class Library:
    """A linear algebra library that counts how often it is set."""

    def __init__(self, count: int) -> None:
        self.count, self.times = count, 0

    def get_num_threads(self) -> int:
        """As it is now."""
        return self.count

    def set_num_threads(self, count: int) -> None:
        """For the whole process."""
        self.count, self.times = count, self.times + 1


@pytest.fixture
def libraries(monkeypatch: pytest.MonkeyPatch) -> tuple[Library, Library]:
    many, single = Library(4), Library(1)
    monkeypatch.setattr(threads, "_libraries", lambda: [many, single])
    return many, single


def test_threads_come_back_after_the_outermost_block(libraries: tuple[Library, Library]) -> None:
    many, single = libraries
    with single_threaded():
        with pytest.raises(ValueError, match="stop"), single_threaded():
            raise ValueError("stop")
        assert many.count == 1
    assert (many.count, many.times) == (4, 2)
    assert single.times == 0  # it had one thread all the time


def test_blocks_of_two_threads_may_overlap(libraries: tuple[Library, Library]) -> None:
    """The first that began ends first: what was before both of them comes back, not what was in between."""
    began, may_end = Event(), Event()

    def other() -> None:
        with single_threaded():
            began.set()
            may_end.wait(10)

    with single_threaded():
        beside = Thread(target=other)
        beside.start()
        assert began.wait(10)
    assert libraries[0].count == 1  # the other is still at it
    may_end.set()
    beside.join(10)
    assert libraries[0].count == 4


def test_the_libraries_at_hand_are_found() -> None:
    found = threads._libraries()
    assert found
    before = [one.get_num_threads() for one in found]
    with single_threaded():
        assert {one.get_num_threads() for one in found} == {1}
    assert [one.get_num_threads() for one in found] == before
