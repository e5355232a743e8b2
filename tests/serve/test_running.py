"""The socket that the server listens on, and what it does by itself."""

from __future__ import annotations

import socket
import time

import pytest

from jurors.errors import OptionError
from jurors.serve.app import Settings, Upkeep, _listener


def test_answers_do_not_wait_for_acknowledgements() -> None:
    listener = _listener(Settings(port=0))
    assert listener.proto == socket.IPPROTO_TCP  # asyncio turns Nagle's delay off for these alone
    listener.close()


def test_a_port_that_is_taken_is_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OptionError, match="cannot listen on 127"):
        _listener(Settings(port=taken.getsockname()[1]))


def test_a_fault_that_nobody_thought_of_does_not_end_the_upkeep() -> None:
    looks: list[int] = []

    class Broken:
        def waiting(self) -> list[int]:
            looks.append(1)
            raise ZeroDivisionError

    upkeep = Upkeep(Broken(), every=0.01)  # type: ignore[arg-type]
    deadline = time.monotonic() + 60
    while len(looks) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    upkeep.close()
    assert len(looks) >= 3
