"""Server-sent events of a running server: votes and grades are told, and a listener does not keep it from ending."""

from __future__ import annotations

import signal
import subprocess
import sys
from itertools import islice
from pathlib import Path

import httpx
import pytest

from jurors import Client

pytestmark = pytest.mark.slow


def test_votes_are_told_and_the_server_ends_with_a_listener(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "jurors", "serve", "--store", str(tmp_path / "votes.db"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        try:
            with Client(address) as client, httpx.stream("GET", _made(client, address), timeout=120) as answer:
                # Without the lines between, and those that say on a slow machine that the connection lives.
                lines = (line for line in answer.iter_lines() if line and not line.startswith(":"))
                assert next(lines) == "event: votes"
                client.post_votes("shop", [("q1", "ann", "yes")])
                told = {line for line in islice(lines, 5) if line.startswith("event: ")}
                assert told == {"event: votes", "event: grade"}
                server.send_signal(signal.SIGTERM)
                assert list(lines) == []
            assert server.wait(60) == 0
        finally:
            server.kill()


def _made(client: Client, address: str) -> str:
    client.put_project("shop")
    return f"{address}/v1/projects/shop/events"
