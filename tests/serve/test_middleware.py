"""Keys, and what never reaches a route; what every answer carries; who may call which route."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from served import ADDRESS, error_of
from starlette.types import Receive, Scope, Send

from jurors.serve.app import Settings, create_app
from jurors.serve.auth import ServerLimits, check_key, make_key
from jurors.serve.errors import ApiError
from jurors.serve.middleware import HEADERS, ServerMiddleware, declared_scopes, required_access
from jurors.serve.observability import LogLines
from jurors.serve.routes import ROUTERS
from jurors.serve.store import SqlStore, open_store

JSON = {"Content-Type": "application/json"}
ROUTES: list[Any] = [route for router in ROUTERS for route in router.routes]
VOTES = "/v1/projects/shop/votes"


@pytest.fixture
def keys(tmp_path: Path) -> Iterator[SqlStore]:
    store = open_store(str(tmp_path / "votes.db"))
    yield store
    store.close()


def _token(keys: SqlStore, *about: Any) -> str:
    token, key = make_key(*about)
    keys.add_key(key)
    return token


# -- keys -------------------------------------------------------------------------------------------------------------


def test_a_key_that_is_nearly_right_is_refused(keys: SqlStore) -> None:
    token = _token(keys, "admin")
    other = "A" if token[-1] != "A" else "B"
    wrong = [token[:-1] + other, token[:-1], token + "A", token.upper(), f"jk_{'0' * 12}_{token[16:]}", "", "jk_", "é"]
    for header in (None, "Basic x", "Bearer", *(f"Bearer {text}" for text in wrong)):
        with pytest.raises(ApiError) as refused:
            check_key(keys.key, header, "read", None)
        assert (refused.value.status, refused.value.headers) == (401, {"WWW-Authenticate": "Bearer"})
        assert token not in str(refused.value)


def test_a_revoked_key_is_refused_as_one_that_never_was(keys: SqlStore) -> None:
    token, unknown = _token(keys, "admin"), make_key("admin")[0]
    assert token[16:] not in repr(keys.all_keys())  # what is stored does not hold the secret
    assert check_key(keys.key, f"bearer  {token}", "write", "shop").scope == "admin"
    assert keys.revoke_key(token[3:15], time.time())
    refusals = []
    for header in (token, unknown):
        with pytest.raises(ApiError) as refused:
            check_key(keys.key, f"Bearer {header}", "read", None)
        refusals.append((str(refused.value), refused.value.code))
    assert refusals[0] == refusals[1]


# -- requests ---------------------------------------------------------------------------------------------------------


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with how many bytes arrived."""
    size, more = 0, True
    while more:
        message = await receive()
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": json.dumps({"size": size}).encode()})


def request(
    app: ServerMiddleware, method: str = "GET", url: str = "/healthz", *, base: str = ADDRESS, **more: Any
) -> httpx.Response:
    async def send() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=base) as client:
            return await client.request(method, url, **more)

    return asyncio.run(send())


@pytest.fixture
def app(keys: SqlStore) -> ServerMiddleware:
    return ServerMiddleware(echo, lambda: keys, ROUTES, ServerLimits(body=1000))


def test_every_answer_carries_the_headers(app: ServerMiddleware) -> None:
    for answer in (request(app), request(app, url="/v1/projects/"), request(app, "POST", VOTES)):
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS


@pytest.mark.parametrize("base", ["http://evil.example:8000", "http://127.0.0.1.evil.example", "http://10.0.0.1"])
def test_a_name_rebound_to_loopback_is_refused(app: ServerMiddleware, base: str) -> None:
    assert error_of(request(app, base=base)) == (403, "wrong_host")


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:8001", "file://127.0.0.1:8000"])
def test_a_page_of_another_origin_is_refused(app: ServerMiddleware, origin: str) -> None:
    assert error_of(request(app, "POST", VOTES, headers={**JSON, "Origin": origin})) == (403, "wrong_origin")
    assert request(app, headers={"Origin": ADDRESS}).status_code == 200


@pytest.mark.parametrize(
    "kind", ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonp"]
)
def test_what_a_form_could_send_is_refused(app: ServerMiddleware, kind: str) -> None:
    answer = request(app, "POST", VOTES, content=b"{}", headers={"Content-Type": kind})
    assert error_of(answer) == (415, "not_json")
    assert request(app, "PUT", "/v1/projects/shop").status_code == 200  # which no form can send, and without a body


def test_a_body_of_the_allowed_size_arrives_and_one_byte_more_does_not(app: ServerMiddleware) -> None:
    assert request(app, "POST", VOTES, content=b"x" * 1000, headers=JSON).json() == {"size": 1000}
    assert error_of(request(app, "POST", VOTES, content=b"x" * 1001, headers=JSON)) == (413, "too_large")
    sent = []  # without a length it is counted while it arrives

    async def endless() -> AsyncIterator[bytes]:
        while True:
            sent.append(1)
            yield b"x" * 100

    assert error_of(request(app, "POST", VOTES, content=endless(), headers=JSON)) == (413, "too_large")
    assert len(sent) < 15


def test_too_many_requests_and_guesses_of_keys_must_wait(keys: SqlStore) -> None:
    app = ServerMiddleware(echo, lambda: keys, ROUTES, ServerLimits(rate=0.1, burst=2))
    assert [request(app).status_code for _ in range(3)] == [200, 200, 429]
    assert int(request(app).headers["retry-after"]) >= 1
    guessed = ServerMiddleware(echo, lambda: keys, ROUTES, ServerLimits(rate=0.1, burst=2), needs_key=True)
    assert [request(guessed, url="/v1/projects").status_code for _ in range(3)] == [401, 401, 429]


def test_an_internal_error_is_found_in_the_log_by_the_id_of_its_answer(
    keys: SqlStore, capsys: pytest.CaptureFixture[str]
) -> None:
    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        raise ZeroDivisionError("secret of ours")

    answer = request(ServerMiddleware(broken, lambda: keys, ROUTES))
    assert (*error_of(answer), answer.headers["cache-control"]) == (500, "fault", "no-store")
    name = answer.headers["x-request-id"]
    assert name in answer.text
    assert "secret" not in answer.text
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [(line["event"], line["id"]) for line in lines] == [("fault", name), ("request", name)]
    assert "in broken" in lines[0]["trace"]
    assert lines[1]["status"] == 500


def test_head_is_get_without_a_body(app: ServerMiddleware) -> None:
    for path in ("/healthz", "/v1/projects"):
        head, get = request(app, "HEAD", path), request(app, "GET", path)
        assert (head.status_code, head.content, get.status_code) == (200, b"", 200)


def test_the_bytes_of_bodies_that_arrive_are_bounded_and_small_ones_pass(keys: SqlStore) -> None:
    app = ServerMiddleware(echo, lambda: keys, ROUTES, ServerLimits(bytes=200_000))
    received: list[int] = []

    async def attempt() -> list[Any]:
        everything = asyncio.Event()

        async def stalled() -> AsyncIterator[bytes]:
            yield b"x" * 100_000
            received.append(1)
            if len(received) >= 4:
                everything.set()
            await everything.wait()

        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=ADDRESS) as client:
            large = [asyncio.ensure_future(client.post(VOTES, content=stalled(), headers=JSON)) for _ in range(4)]
            while len(received) < 2:
                await asyncio.sleep(0.01)
            small = await client.post(VOTES, content=b"{}", headers=JSON)
            for _ in range(200):
                if sum(each.done() for each in large) == 2:
                    break
                await asyncio.sleep(0.01)
            everything.set()
            return [small, *await asyncio.gather(*large)]

    small, *large = asyncio.run(attempt())
    assert small.status_code == 200
    assert sorted(answer.status_code for answer in large) == [200, 200, 503, 503]
    assert {answer.headers.get("retry-after") for answer in large} == {None, "2"}
    assert app._bytes == 0


def test_posts_and_probes_do_not_wait_for_requests_for_results(keys: SqlStore) -> None:
    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        while scope["path"].endswith("/grade") and not ended:
            await asyncio.sleep(0.01)
        await echo(scope, receive, send)

    ended: list[bool] = []
    app = ServerMiddleware(slow, lambda: keys, ROUTES, ServerLimits(turns=2, turn_seconds=0.1))

    async def attempt() -> tuple[list[int], list[int]]:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=ADDRESS) as client:
            heavy = [asyncio.ensure_future(client.get("/v1/projects/shop/grade")) for _ in range(3)]
            quick = [await client.get("/readyz"), await client.post(VOTES, content=b"{}", headers=JSON)]
            await asyncio.wait(heavy, return_when=asyncio.FIRST_COMPLETED)
            ended.append(True)
            return [each.status_code for each in quick], sorted([(await each).status_code for each in heavy])

    assert asyncio.run(attempt()) == ([200, 200], [200, 200, 503])


def test_a_message_that_repeats_is_one_line_a_minute(capsys: pytest.CaptureFixture[str]) -> None:
    lines = LogLines()
    for _ in range(1_000):
        lines.emit(logging.makeLogRecord({"msg": "out of system resource", "levelno": logging.ERROR}))
    assert len(capsys.readouterr().err.splitlines()) == 1
    lines._MINUTE = 0.0
    lines.emit(logging.makeLogRecord({"msg": "out of system resource", "levelno": logging.ERROR}))
    assert json.loads(capsys.readouterr().err)["repeated"] == 999


# -- access -----------------------------------------------------------------------------------------------------------


def test_with_keys_the_key_decides_not_the_address(keys: SqlStore) -> None:
    bearer = {**JSON, "Authorization": f"Bearer {_token(keys, 'write', 'shop')}"}
    app, base = ServerMiddleware(echo, lambda: keys, ROUTES, needs_key=True), "https://votes.example"
    assert request(app, base=base).status_code == 200
    assert error_of(request(app, "POST", VOTES, headers=JSON, base=base)) == (401, "no_key")
    for method, path in (("POST", VOTES), ("GET", "/v1/projects")):
        assert request(app, method, path, headers=bearer, base=base).status_code == 200


def test_every_route_declares_who_may_call_it() -> None:
    levels = (["open"], ["read"], ["write"], ["admin"])
    assert [route.path for route in ROUTES if declared_scopes(route)[:1] not in levels] == []
    app = create_app(Settings())  # serves these routes and no other
    served = {(path, method) for path, methods in app.openapi()["paths"].items() for method in methods}
    declared = {(route.path, method.lower()) for route in ROUTES if route.include_in_schema for method in route.methods}
    assert served == declared
    assert len(app.routes) in (len(ROUTERS), len(ROUTES))  # newer and older versions of FastAPI


@pytest.mark.parametrize(
    ("method", "path", "access"),
    [
        ("GET", "/", ("open", None)), ("HEAD", "/healthz", ("open", None)), ("GET", "/openapi.json", ("open", None)),
        ("GET", "/assets/vega.js", ("open", None)), ("GET", "/assets/a b", ("admin", None)),
        ("GET", "/metrics", ("read", None)), ("POST", "/metrics", ("admin", None)),
        ("GET", "/v1/projects", ("read", None)), ("PUT", "/v1/projects/shop", ("admin", "shop")),
        ("HEAD", "/v1/projects/shop/grade", ("read", "shop")), ("POST", "/v1/projects/shop/grade", ("admin", "shop")),
        ("POST", VOTES, ("write", "shop")), ("POST", "/v1/projects/shop/gold", ("write", "shop")),
        ("GET", "/v1/projects/shop/nothing", ("read", "shop")), ("GET", "/anything/else", ("admin", None)),
    ],
)  # fmt: skip
def test_a_path_that_is_not_served_needs_the_most_it_could(method: str, path: str, access: tuple[str, Any]) -> None:
    needed = required_access(ROUTES, {"type": "http", "method": method, "path": path})
    assert needed == (*access, path == "/v1/projects")
