"""What a server does by itself: count votes and look for alarms, each second; drop votes past their time, each hour."""

from __future__ import annotations

import time
from threading import Event, Thread

from jurors.errors import JurorsError
from jurors.serve.grading.alarm_watch import AlarmWatch
from jurors.serve.log_lines import note
from jurors.serve.stores import Store

_HOURLY = 3_600.0


class Upkeep:
    """A thread beside the requests; several workers and hosts may each have one on the same store."""

    def __init__(
        self, store: Store, keep: float | None = None, watch: AlarmWatch | None = None, every: float = 1.0
    ) -> None:
        self._store, self._keep, self._watch, self._every = store, keep, watch, every
        self._ended, self._swept = Event(), -_HOURLY
        self._thread = Thread(target=self._run, name="upkeep", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End after what is being done now."""
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        is_down = False
        while not self._ended.wait(self._every):
            try:
                self._step()
            except Exception as error:  # told once, and tried again: a thread that died would count no more votes
                if not is_down:
                    kind = "store" if isinstance(error, JurorsError) else "upkeep"
                    note(kind, "error", message=f"{type(error).__name__}: {error}")
                is_down = True
            else:
                if is_down:
                    note("store", "info", message="upkeep goes on")
                is_down = False

    def _step(self) -> None:
        for project in self._store.waiting():
            while not self._ended.is_set() and self._store.fold(project):
                pass
        if self._watch is not None:
            self._watch.look_at_all(self._ended.is_set)
        if self._keep is not None and time.monotonic() - self._swept > _HOURLY:
            gone = sum(self._forget(one.id, time.time() - self._keep) for one in self._store.projects())
            self._swept = time.monotonic()
            if gone:
                note("retention", "info", items=gone)

    def _forget(self, project: int, before: float) -> int:
        """In steps, so that nobody waits long."""
        gone = 0
        while not self._ended.is_set() and (some := self._store.forget(project, before)):
            gone += some
        return gone
