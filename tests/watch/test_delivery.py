"""Who is told of alarms, and what is refused."""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from jurors.errors import OptionError
from jurors.monitor import notify as delivery
from jurors.monitor.notify import NotificationQueue, NotifyProgram, Webhook, receivers_of

EVENT = {
    "event": "raised", "id": "stream 1", "kind": "k", "level": "alarm", "message": "$(touch x); `id`\0\n",
    "jurors": ["a'b"],
}  # fmt: skip


class _Hook(BaseHTTPRequestHandler):
    bodies: list[Any]
    statuses: list[int]

    def do_POST(self) -> None:
        self.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        status = self.statuses.pop(0) if self.statuses else 204
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "http://169.254.169.254/")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def hook() -> Iterator[tuple[str, type[_Hook]]]:
    handler = type("Hook", (_Hook,), {"bodies": [], "statuses": []})
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/hook", handler
        server.shutdown()
        thread.join()


def test_a_program_gets_the_alarm_as_json_and_no_shell_sees_it(tmp_path: Path) -> None:
    script = tmp_path / "told.py"
    script.write_text(
        "import json, os, sys\n"
        "told = {k: v for k, v in os.environ.items() if k.startswith('JURORS_ALARM')}\n"
        "open(sys.argv[1], 'w').write(json.dumps([json.load(sys.stdin), told, sys.argv[2:]]))\n"
    )
    out = tmp_path / "out.json"
    NotifyProgram.of(f"{sys.executable} {script} {out} '$HOME'")(EVENT)
    given, told, arguments = json.loads(out.read_text())
    assert given == EVENT == json.loads(told["JURORS_ALARM"])
    assert told["JURORS_ALARM_KIND"] == "k"
    assert "\0" not in told["JURORS_ALARM_MESSAGE"]
    assert json.loads(told["JURORS_ALARM_JURORS"]) == ["a'b"]
    assert arguments == ["$HOME"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.json", "told.py"]


def test_a_program_that_is_not_there_is_refused_before_anything_is_read() -> None:
    for command in ("no-such-program-anywhere --x", "", "'unclosed"):
        with pytest.raises(OptionError, match="--exec"):
            NotifyProgram.of(command)


def test_an_address_is_posted_to_and_redirects_are_not_followed(hook: tuple[str, type[_Hook]]) -> None:
    url, handler = hook
    Webhook.of(url)(EVENT)
    assert handler.bodies == [EVENT]
    handler.statuses = [302]
    with pytest.raises(OSError, match="status 302"):
        Webhook.of(url)(EVENT)


def test_what_fails_is_sent_again_kept_in_a_snapshot_and_given_up_in_the_end(
    hook: tuple[str, type[_Hook]], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, handler = hook
    handler.statuses = [500, 503]
    clock = [0.0]
    monkeypatch.setattr(delivery, "monotonic", lambda: clock[0])
    post = NotificationQueue(receivers_of(webhooks=[url]))
    post.add([EVENT])
    post.deliver()
    assert len(post.pending) == 1
    assert "status 500; retrying" in post.notices[0]
    post.deliver()  # not due yet
    assert len(handler.bodies) == 1
    later = NotificationQueue(receivers_of(webhooks=[url]))
    later.restore(json.loads(json.dumps(post.to_list())))
    later.deliver()
    clock[0] = 100.0
    later.deliver()
    assert not later.pending
    assert len(handler.bodies) == 3
    handler.statuses = [500] * 20
    later.add([EVENT])
    for _ in range(20):
        later.deliver()
        clock[0] += 1000
    assert not later.pending
    assert [line.rpartition("; ")[2] for line in later.notices] == ["retrying"] * 2 + ["giving up"]


def test_each_receiver_gets_its_kinds_and_levels_and_a_digest_holds_all_of_a_while(
    hook: tuple[str, type[_Hook]], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, handler = hook
    clock = [0.0]
    monkeypatch.setattr(delivery, "monotonic", lambda: clock[0])
    monkeypatch.setattr(delivery, "time", lambda: clock[0])
    receivers = receivers_of(webhooks=[f"juror_drift,alarm={url}?pager", f"warning={url}?chat", f"gate_failed={url}"])
    queue = NotificationQueue(receivers, digest=600.0)
    at = {"at": "1970-01-01T00:00:00+00:00", "source": "votes", "message": "m"}
    drift = {"event": "raised", "id": "1", "kind": "drift", "reason": "juror_drift", "level": "warning", **at}
    queue.add([drift, {**drift, "reason": "prevalence_drift", "id": "2", "jurors": ["bob"]}, {**drift, "id": "3"}])
    queue.deliver()
    clock[0] = 300.0
    queue.add([{**drift, "event": "cleared", "at": "1970-01-01T00:05:00+00:00"}])
    again = NotificationQueue(receivers, digest=600.0)  # a restart does not begin the while anew
    again.restore(json.loads(json.dumps(queue.to_list())))
    clock[0] = 599.0
    again.deliver()
    assert handler.bodies == []
    clock[0] = 600.0
    handler.statuses = [500]
    again.deliver()
    clock[0] = 700.0
    again.deliver()
    _failed, chat, pager = handler.bodies
    assert [[event["id"] for event in body["alarms"]] for body in (pager, chat)] == [
        ["1", "3", "1"],
        ["1", "2", "3", "1"],
    ]
    assert (chat["event"], chat["level"], chat["jurors"], chat["message"]) == (
        "digest", "warning", ["bob"], "3 alarms raised, 1 cleared: m",
    )  # fmt: skip
    assert again.pending == []
    with pytest.raises(OptionError, match=r"'juror_dirft' is neither a kind nor a level"):
        receivers_of(webhooks=[f"juror_dirft={url}"])


@pytest.mark.parametrize(
    "url",
    ["http://example.org/", "ftp://localhost/", "file:///etc/passwd", "//x", "https://a:b@example.org/",
     "https://e.org/ x", "http://[::1", "http://127.0.0.1.example.org/", "http://localhost.example.org/"],
)  # fmt: skip
def test_other_addresses_are_refused(url: str) -> None:
    with pytest.raises(OptionError, match="--webhook"):
        Webhook.of(url)


@pytest.mark.parametrize(
    "address",
    ["10.0.0.1", "192.168.1.1", "169.254.169.254", "127.0.0.1", "fd00::1", "::ffff:10.0.0.1", "0.0.0.0", "100.64.0.1"],
)
def test_a_name_that_leads_into_a_private_network_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def looked_up(*_: Any, **__: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("8.8.8.8", 443)), (0, 0, 0, "", (address, 443))]

    monkeypatch.setattr(socket, "getaddrinfo", looked_up)
    with pytest.raises(OSError, match="--webhook-private"):
        Webhook.of("https://rebound.example.org/")(EVENT)
    assert Webhook.of("https://rebound.example.org/", private=True)._resolve() == "8.8.8.8"
