"""Attacks that were tried, each refused: a server on a real socket, with keys."""

from __future__ import annotations

import io
import json
import re
import socket
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import httpx
import pytest
from served import error_of, running

import jurors
from jurors.serve import middleware
from jurors.serve.auth import KeyScope, ServerLimits, make_key
from jurors.serve.store import open_store

EVIL = [
    "'; DROP TABLE items; --", '<script>alert("1")</script>', '=HYPERLINK("http://evil")', "a\r\nX-Evil: 1", "\x1b[2J",
]  # fmt: skip


@dataclass
class Target:
    """A server, its store and keys."""

    url: str
    store: Path
    keys: dict[str, str]

    def ask(self, method: str, path: str, key: str | None = "admin", **rest: Any) -> httpx.Response:
        headers = {} if key is None else {"Authorization": f"Bearer {self.keys.get(key, key)}"}
        return httpx.request(method, f"{self.url}{path}", headers=headers | rest.pop("headers", {}), timeout=99, **rest)

    def raw(self, text: bytes, seconds: float = 60) -> bytes:
        """Bytes as they are, and what comes back until the server closes."""
        place = urlsplit(self.url)
        with socket.create_connection((place.hostname, place.port), timeout=seconds) as connection:
            connection.sendall(text)
            answer = b""
            while part := connection.recv(65_536):
                answer += part
        return answer


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    place = tmp_path_factory.mktemp("target") / "votes.db"
    scopes: list[tuple[str, KeyScope, str | None]] = [
        ("admin", "admin", None), ("reader", "read", "shop"), ("writer", "write", "shop"), ("bank", "admin", "bank"),
    ]  # fmt: skip
    keys = {name: _key(place, scope, project) for name, scope, project in scopes}
    with running(str(place), ServerLimits(votes=500, jurors=40, labels=20)) as url:
        target = Target(url, place, keys)
        assert target.ask("PUT", "/v1/projects/shop", json={}).status_code == 201
        yield target


def _key(place: Path, scope: KeyScope, project: str | None) -> str:
    store = open_store(str(place))
    token, key = make_key(scope, project)
    store.add_key(key)
    store.close()
    return token


def test_without_a_key(target: Target) -> None:
    routes = "GET , PUT /x, DELETE /shop, POST /shop/votes, GET /shop/grade"
    for method, path in [route.split(" ") for route in routes.split(", ")]:
        assert error_of(target.ask(method, f"/v1/projects{path}", None)) == (401, "no_key")
    assert error_of(target.ask("GET", "/metrics", None)) == (401, "no_key")


@pytest.mark.slow
def test_a_key_of_another_project(target: Target) -> None:
    for method, path in (("GET", "grade"), ("POST", "votes"), ("GET", "labels"), ("POST", "gold")):
        assert target.ask(method, f"/v1/projects/shop/{path}", "bank").status_code == 403
    for method, path in (("DELETE", "/v1/projects/shop"), ("GET", "/metrics"), ("GET", "/x/y")):
        assert error_of(target.ask(method, path, "bank")) == (403, "forbidden")
    assert target.ask("GET", "/v1/projects", "bank").json() == {"projects": []}
    assert target.ask("POST", "/v1/projects/shop/votes", "reader", json={"votes": []}).status_code == 403
    assert target.ask("DELETE", "/v1/projects/shop", "writer").status_code == 403


def test_more_than_a_project_may_have(target: Target) -> None:
    vote = {"item": "q", "juror": "ann", "label": "yes"}
    for votes, error in (
        ([{**vote, "juror": f"j{k}"} for k in range(41)], (409, "many_jurors")),
        ([{**vote, "label": f"l{k}"} for k in range(21)], (409, "many_labels")),
        ([vote] * 501, (413, "many_votes")),
        ([{**vote, "item": "x" * 501}], (422, "bad_vote")),
    ):
        assert error_of(target.ask("POST", "/v1/projects/shop/votes", json={"votes": votes})) == error


@pytest.mark.parametrize(
    "path", ["/v1/projects/..%2f..%2fetc%2fpasswd/grade", "/v1/projects/shop%2fvotes", "/assets/..%2f..%2fapp.py",
             "/v1//projects/shop/grade", "/v1/projects/shop%00/grade", "/v1/projects/bank/../shop/grade", "/v1/%5c..",
             "/v1/projects/a%0ab", "/v1/projects/%2e%2e%2fx"],
    ids=["dots", "slash", "assets", "double", "nul", "plain", "backslash", "newline", "encoded"],
)  # fmt: skip
def test_paths_that_lead_elsewhere(target: Target, path: str) -> None:
    head = f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer {target.keys['bank']}"
    answer = target.raw(f"{head}\r\n\r\n".encode())
    assert b" 400 " in answer.split(b"\r\n")[0]
    assert b'"bad_path"' in answer


@pytest.mark.slow
def test_sql_and_html_in_names(target: Target) -> None:
    for evil in EVIL:
        for method, path in (("PUT", ""), ("GET", ""), ("GET", "/grade")):
            place = f"/v1/projects/{quote(evil, safe='')}{path}"
            answer = target.ask(method, place, json={} if method == "PUT" else None)
            assert answer.status_code in (400, 404, 422), (evil, method)
            assert answer.headers["content-type"] == "application/json"
            assert "x-evil" not in answer.headers
    rows = [{"item": i, "juror": j, "label": EVIL[k % 2]} for k, (i, j) in enumerate(product(EVIL, EVIL))]
    assert target.ask("POST", "/v1/projects/shop/votes", json={"votes": rows}).json() == {"accepted": 25}
    graded = target.ask("GET", "/v1/projects/shop/grade").json()
    assert {*EVIL} <= {*graded["jurors"]}
    page = target.ask("GET", "/v1/projects/shop/report").text
    assert "<script>alert" not in page
    with closing(sqlite3.connect(target.store)) as connection:
        assert connection.execute("SELECT COUNT(*) FROM items").fetchone()[0] >= 5


def test_a_body_or_a_head_that_never_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server of its own: on a busy machine a good request may take longer than these limits."""
    place = tmp_path / "votes.db"
    key = _key(place, "write", "shop").encode()
    head = b"POST /v1/projects/shop/votes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + key
    body = head + b"\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{"
    with running(str(place), ServerLimits(body_seconds=0.5)) as url:
        impatient, begun = Target(url, place, {}), time.monotonic()
        assert b" 408 " in impatient.raw(body).split(b"\r\n")[0]
        assert time.monotonic() - begun < 30  # by this limit, not by that of every server
        monkeypatch.setattr(middleware, "HEAD_SECONDS", 0.5)
        begun = time.monotonic()
        assert impatient.raw(head) == b""
        assert time.monotonic() - begun < 15  # and again


@pytest.mark.parametrize(
    "more",
    [b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", b"Content-Length: 5\r\nContent-Length: 6\r\n",
     b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", b"Transfer-Encoding: xchunked\r\n",
     b"Content-Length: +5\r\n", b"Content-Length : 5\r\n", b"Host: y\r\n", b"Authorization: Bearer x\r\n",
     b"Content-Type: text/plain\r\n", b"Content-Length: 99999999\r\n"],
    ids=["both", "two", "twice", "unknown", "sign", "space", "host", "key", "type", "larger than allowed"],
)  # fmt: skip
def test_headers_that_hide_a_request(target: Target, more: bytes) -> None:
    key, admin = target.keys["writer"].encode(), target.keys["admin"].encode()
    head = b"POST /v1/projects/shop/votes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    head += b"Authorization: Bearer " + key
    hidden = b"GET /v1/projects HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + admin + b"\r\n\r\n"
    answer = target.raw(head + b"\r\n" + more + b"\r\n0\r\n\r\n" + hidden)
    assert re.match(rb"HTTP/1\.1 (400|413|501) ", answer), answer
    assert answer.count(b"HTTP/1.1") == 1


def test_a_formula_in_csv(target: Target) -> None:
    target.ask("PUT", "/v1/projects/sums", json={})
    votes = jurors.simulate(60, jurors=3, prevalence="0.3", seed=1).votes
    triples = zip(*(part.tolist() for part in votes.triples()), strict=True)
    rows = [{"item": f"=1+{i}", "juror": f"@{j}", "label": votes.labels[k]} for i, j, k in triples]
    target.ask("POST", "/v1/projects/sums/votes", json={"votes": rows})
    answer = target.ask("GET", "/v1/projects/sums/labels?format=csv")
    assert answer.headers["content-type"].startswith("text/csv")
    assert all(line.startswith("'=1+") for line in answer.text.splitlines()[1:])
    assert len(answer.text.splitlines()) == 61


@pytest.mark.slow
def test_an_address_or_a_file_that_the_server_is_to_open(target: Target) -> None:
    """No request makes the server ask or read anything: what could name an address or a file is refused unread."""
    with socket.create_server(("127.0.0.1", 0)) as trap:
        trap.settimeout(0.3)
        place = f"http://127.0.0.1:{trap.getsockname()[1]}/"
        files = ({"thresholds": {"spec": "/etc/passwd"}}, {"reference": "/etc/passwd"})
        for settings in ({"webhook": place}, {"thresholds": {"baseline": place}}, {"window": place}, *files):
            answer = target.ask("PUT", "/v1/projects/shop", json=settings)
            assert answer.status_code in (400, 422)
            assert "root:" not in answer.text
        span = {"resourceSpans": [{"scopeSpans": [{"spans": [{"name": place, "attributes": []}]}]}], "$ref": place}
        log = {"version": 2, "eval": {"dataset": {"location": place}}, "samples": place, "status": "success"}
        for body in (span, log, {"votes": {"$ref": place}}):
            assert target.ask("POST", "/v1/projects/shop/votes", json=body).status_code in (400, 422)
        with pytest.raises(TimeoutError):
            trap.accept()


def test_secrets_are_in_no_log(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    log = io.StringIO()
    monkeypatch.setattr(sys, "stderr", log)
    token = target.keys["admin"]
    target.ask("GET", f"/v1/projects/{token}/grade?key={token}")
    target.ask("GET", "/v1/projects", f"{token}x")
    target.ask("PUT", "/v1/projects/shop", json={"labels": token})
    deadline = time.monotonic() + 60
    while '"status": 422' not in log.getvalue() and time.monotonic() < deadline:  # a line follows its answer
        time.sleep(0.01)
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    requests = [(line["path"], line["status"]) for line in lines if line["event"] == "request"]
    assert requests[-2:] == [("/v1/projects", 401), ("/v1/projects/shop", 422)]
    assert not any("?" in path for path, _ in requests)
    assert token[16:] not in log.getvalue()
