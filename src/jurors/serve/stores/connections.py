"""Open connections, kept for the next who needs one; one that broke is never used again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from queue import Empty, LifoQueue
from threading import BoundedSemaphore
from typing import Any

from jurors.serve.refused import StoreDown
from jurors.serve.stores.dialect import Dialect
from jurors.serve.stores.session import Session

_WAIT = 30.0


class Connections:
    """At most `most` at a time; whoever comes later waits."""

    def __init__(self, dialect: Dialect, most: int = 8) -> None:
        self.dialect = dialect
        self._idle: LifoQueue[Any] = LifoQueue()
        self._free = BoundedSemaphore(most)

    @contextmanager
    def transaction(self, begin: str) -> Iterator[Session]:
        """All that the block does happens, or nothing; a driver's error comes out as what it means."""
        if not self._free.acquire(timeout=_WAIT):
            raise StoreDown("too many requests at once")
        try:
            with self._begun(begin) as session:
                yield session
        except Exception as error:
            fault = self.dialect.fault(error)
            if fault is None:
                raise
            raise fault from error
        finally:
            self._free.release()

    @contextmanager
    def _begun(self, begin: str) -> Iterator[Session]:
        connection = self._begin(begin)
        try:
            yield Session(connection, self.dialect.placeholder)
            connection.execute("COMMIT")
        except BaseException as error:
            self._give_back(connection, is_sound=self._rolled_back(connection, error))
            raise
        self._give_back(connection, is_sound=True)

    def _begin(self, begin: str) -> Any:
        """A connection with a transaction; one that was kept may have died with its server: take another then."""
        with suppress(Empty):
            connection = self._idle.get_nowait()
            try:
                connection.execute(begin)
            except Exception as error:
                _close(connection)
                if self.dialect.fault(error) is None:
                    raise
                self.close()  # the others are no younger
            else:
                return connection
        connection = self.dialect.connect()
        connection.execute(begin)
        return connection

    def _rolled_back(self, connection: Any, error: BaseException) -> bool:
        if isinstance(error, Exception) and self.dialect.fault(error) is not None:
            return False
        try:
            connection.execute("ROLLBACK")
        except Exception:
            return False
        return True

    def _give_back(self, connection: Any, *, is_sound: bool) -> None:
        if is_sound:
            self._idle.put(connection)
        else:
            _close(connection)

    def close(self) -> None:
        """Close those that nobody uses."""
        with suppress(Empty):
            while True:
                _close(self._idle.get_nowait())


def _close(connection: Any) -> None:
    with suppress(Exception):
        connection.close()
