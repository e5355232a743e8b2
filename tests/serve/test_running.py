"""The socket that the server listens on."""

from __future__ import annotations

import socket

import pytest

from jurors.errors import OptionError
from jurors.serve.running import _listener
from jurors.serve.settings import Settings


def test_answers_do_not_wait_for_acknowledgements() -> None:
    listener = _listener(Settings(port=0))
    assert listener.proto == socket.IPPROTO_TCP  # asyncio turns Nagle's delay off for these alone
    listener.close()


def test_a_port_that_is_taken_is_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OptionError, match="cannot listen on 127"):
        _listener(Settings(port=taken.getsockname()[1]))
