"""The shield: what never reaches the app, and what every answer carries."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx
import pytest
from served import KeysInMemory
from starlette.types import Receive, Scope, Send

from jurors.serve.app import Settings, create_app
from jurors.serve.auth import ServerLimits, make_key
from jurors.serve.middleware import HEADERS, ServerMiddleware, declared_scopes, required_access
from jurors.serve.routes import ROUTERS

ADDRESS = "http://127.0.0.1:8000"
JSON = {"Content-Type": "application/json"}
ROUTES: list[Any] = [route for router in ROUTERS for route in router.routes]


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Tells how many bytes arrived."""
    size, more = 0, True
    while more:
        message = await receive()
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": json.dumps({"size": size}).encode()})


def asked(
    shield: ServerMiddleware, method: str = "GET", url: str = "/healthz", *, content: Any = None,
    headers: Mapping[str, str] | list[tuple[str, str]] | None = None, base: str = ADDRESS,
) -> httpx.Response:  # fmt: skip
    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app=shield)
        async with httpx.AsyncClient(transport=transport, base_url=base) as client:
            return await client.request(method, url, content=content, headers=headers)

    return asyncio.run(ask())


def code_of(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


@pytest.fixture
def shield() -> ServerMiddleware:
    return ServerMiddleware(echo, KeysInMemory(), ROUTES, ServerLimits(body=1000))


@pytest.fixture
def keyed() -> tuple[ServerMiddleware, str]:
    keys = KeysInMemory()
    token, key = make_key("write", "shop")
    keys.add_key(key)
    return ServerMiddleware(echo, keys, ROUTES, needs_key=True), token


def test_every_answer_carries_the_headers(shield: ServerMiddleware) -> None:
    for answer in (asked(shield), asked(shield, "POST", "/v1/projects/shop/votes")):
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS


@pytest.mark.parametrize("base", ["http://evil.example:8000", "http://127.0.0.1.evil.example", "http://10.0.0.1"])
def test_a_name_rebound_to_loopback_is_refused(shield: ServerMiddleware, base: str) -> None:
    assert code_of(asked(shield, base=base)) == (403, "wrong_host")


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:8001", "file://127.0.0.1:8000"])
def test_a_page_of_another_origin_is_refused(shield: ServerMiddleware, origin: str) -> None:
    headers = {**JSON, "Origin": origin}
    assert code_of(asked(shield, "POST", "/v1/projects/shop/votes", headers=headers)) == (403, "wrong_origin")
    assert asked(shield, headers={"Origin": ADDRESS}).status_code == 200


@pytest.mark.parametrize(
    "kind", ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonp"]
)
def test_what_a_form_could_send_is_refused(shield: ServerMiddleware, kind: str) -> None:
    answer = asked(shield, "POST", "/v1/projects/shop/votes", content=b"{}", headers={"Content-Type": kind})
    assert code_of(answer) == (415, "not_json")


def test_a_body_of_the_allowed_size_arrives_and_one_byte_more_does_not(shield: ServerMiddleware) -> None:
    assert asked(shield, "POST", "/v1/projects/a/votes", content=b"x" * 1000, headers=JSON).json() == {"size": 1000}
    answer = asked(shield, "POST", "/v1/projects/a/votes", content=b"x" * 1001, headers=JSON)
    assert code_of(answer) == (413, "too_large")


def test_a_body_without_a_length_is_counted_while_it_arrives(shield: ServerMiddleware) -> None:
    sent = []

    async def endless() -> AsyncIterator[bytes]:
        while True:
            sent.append(1)
            yield b"x" * 100

    answer = asked(shield, "POST", "/v1/projects/a/votes", content=endless(), headers=JSON)
    assert code_of(answer) == (413, "too_large")
    assert len(sent) < 15


def test_a_body_that_takes_for_ever_is_given_up() -> None:
    shield = ServerMiddleware(echo, KeysInMemory(), ROUTES, ServerLimits(body_seconds=0.2))

    async def slow() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.sleep(60)

    assert code_of(asked(shield, "POST", "/v1/projects/a/votes", content=slow(), headers=JSON)) == (408, "slow_body")


@pytest.mark.parametrize(
    "path",
    ["/v1/projects/a%2Fgrade", "/v1//projects", "/v1/projects/..%2f..%2fetc", "/v1/%5c..", "/v1/projects/a%00b",
     "/v1/projects/a%0ab", "/v1/projects/%2e%2e%2fx"],
    ids=["slash", "double", "dots", "backslash", "nul", "newline", "encoded"],
)  # fmt: skip
def test_paths_that_mean_two_things_are_refused(shield: ServerMiddleware, path: str) -> None:
    assert code_of(asked(shield, "GET", path)) == (400, "bad_path")


@pytest.mark.parametrize("name", ["Host", "Authorization", "Content-Type"])
def test_what_decides_is_said_once(shield: ServerMiddleware, name: str) -> None:
    assert code_of(asked(shield, headers=[(name, "a"), (name, "b")])) == (400, "bad_request")


def test_two_lengths_are_refused(shield: ServerMiddleware) -> None:
    headers = {**JSON, "Content-Length": "4", "Transfer-Encoding": "chunked"}
    assert code_of(asked(shield, "POST", "/v1/projects/a/votes", headers=headers)) == (400, "bad_request")


def test_too_many_requests_are_told_when_to_come_back() -> None:
    shield = ServerMiddleware(echo, KeysInMemory(), ROUTES, ServerLimits(rate=0.1, burst=2))
    assert [asked(shield).status_code for _ in range(3)] == [200, 200, 429]
    assert int(asked(shield).headers["retry-after"]) >= 1


def test_guesses_of_keys_are_counted_too(keyed: tuple[ServerMiddleware, str]) -> None:
    shield = ServerMiddleware(echo, keyed[0].keys, ROUTES, ServerLimits(rate=0.1, burst=2), needs_key=True)
    assert [asked(shield, url="/v1/projects").status_code for _ in range(3)] == [401, 401, 429]


def test_with_keys_the_key_decides_not_the_address(keyed: tuple[ServerMiddleware, str]) -> None:
    shield, token = keyed
    bearer = {**JSON, "Authorization": f"Bearer {token}"}
    base = "https://votes.example"
    assert asked(shield, base=base).status_code == 200
    assert asked(shield, "POST", "/v1/projects/shop/votes", headers=bearer, base=base).status_code == 200
    assert asked(shield, "GET", "/v1/projects", headers=bearer, base=base).status_code == 200
    assert code_of(asked(shield, "POST", "/v1/projects/shop/votes", headers=JSON, base=base)) == (401, "no_key")
    assert code_of(asked(shield, "GET", "/v1/projects/bank/grade", headers=bearer, base=base)) == (403, "forbidden")
    assert code_of(asked(shield, "DELETE", "/v1/projects/shop", headers=bearer, base=base)) == (403, "forbidden")
    assert code_of(asked(shield, "GET", "/metrics", headers=bearer, base=base)) == (403, "forbidden")
    assert code_of(asked(shield, "GET", "/not/there", headers=bearer, base=base)) == (403, "forbidden")


def test_a_put_without_a_body_needs_no_content_type(shield: ServerMiddleware) -> None:
    assert asked(shield, "PUT", "/v1/projects/shop").status_code == 200
    assert code_of(asked(shield, "PUT", "/v1/projects/shop", content=b"{}")) == (415, "not_json")


@pytest.mark.parametrize("path", ["/", "/v1/projects/"], ids=["root", "trailing"])
def test_a_path_may_end_in_a_slash(shield: ServerMiddleware, path: str) -> None:
    assert asked(shield, "GET", path).status_code == 200


def test_every_route_declares_who_may_call_it() -> None:
    assert [
        route for route in ROUTES if declared_scopes(route)[:1] not in (["open"], ["read"], ["write"], ["admin"])
    ] == []
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
        ("POST", "/v1/projects/shop/votes", ("write", "shop")), ("POST", "/v1/projects/shop/gold", ("write", "shop")),
        ("GET", "/v1/projects/shop/nothing", ("read", "shop")), ("GET", "/anything/else", ("admin", None)),
    ],
)  # fmt: skip
def test_a_path_that_is_not_served_needs_the_most_it_could(method: str, path: str, access: tuple[str, Any]) -> None:
    needed = required_access(ROUTES, {"type": "http", "method": method, "path": path})
    assert ((needed.scope, needed.project), needed.any_project) == (access, path == "/v1/projects")
