"""Votes on their way to the disk: whoever waits at the same moment shares one commit."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from queue import Empty, Full, Queue
from threading import Thread

from jurors.serve.batch import Batch
from jurors.serve.refused import NoProject, StoreDown
from jurors.serve.stores import Store

_MOST_WAITING = 10_000
_MOST_VOTES = 20_000  #: in one commit

_Waiting = tuple[int, Batch, "Future[None]"]


class Journal:
    """One thread that writes; each batch's future is done when the batch is durable, or says why it is not."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._queue: Queue[_Waiting | None] = Queue(_MOST_WAITING)
        self._thread = Thread(target=self._write, name="journal", daemon=True)
        self._thread.start()

    def append(self, project: int, batch: Batch) -> Future[None]:
        """Put a batch in line."""
        future: Future[None] = Future()
        try:
            self._queue.put_nowait((project, batch, future))
        except Full:
            future.set_exception(StoreDown("too many requests wait"))
        return future

    def close(self) -> None:
        """Write what waits, then end."""
        self._queue.put(None)
        self._thread.join()

    def _write(self) -> None:
        is_open = True
        while is_open:
            group, is_open = self._group()
            if group:
                self._keep(group)

    def _group(self) -> tuple[list[_Waiting], bool]:
        """All that waits, up to a size; and whether more may come."""
        group: list[_Waiting] = []
        votes, one = 0, self._queue.get()
        while one is not None:
            group.append(one)
            votes += len(one[1])
            if votes >= _MOST_VOTES:
                return group, True
            try:
                one = self._queue.get_nowait()
            except Empty:
                return group, True
        return group, False

    def _keep(self, group: Sequence[_Waiting]) -> None:
        try:
            self._store.append([(project, batch) for project, batch, _ in group])
        except NoProject as error:
            if len(group) == 1:
                group[0][2].set_exception(error)
            else:  # only those of that project fail
                for one in group:
                    self._keep([one])
        except Exception as error:
            for _, _, future in group:
                future.set_exception(error)
        else:
            for _, _, future in group:
                future.set_result(None)
