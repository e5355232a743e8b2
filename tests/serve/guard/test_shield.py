"""The shield: what never reaches the app, and what every answer carries."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx
import pytest
from served import KeysInMemory

from jurors.serve.auth import ServerLimits, make_key
from jurors.serve.security import HEADERS, Message, Receive, SecurityMiddleware, Send

ADDRESS = "http://127.0.0.1:8000"
JSON = {"Content-Type": "application/json"}


async def echo(scope: Message, receive: Receive, send: Send) -> None:
    """Tells how many bytes arrived."""
    size, more = 0, True
    while more:
        message = await receive()
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": json.dumps({"size": size}).encode()})


def asked(
    shield: SecurityMiddleware, method: str = "GET", url: str = "/healthz", *, content: Any = None,
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
def shield() -> SecurityMiddleware:
    return SecurityMiddleware(echo, KeysInMemory(), ServerLimits(body=1000))


@pytest.fixture
def keyed() -> tuple[SecurityMiddleware, str]:
    keys = KeysInMemory()
    token, key = make_key("write", "shop")
    keys.add_key(key)
    return SecurityMiddleware(echo, keys, needs_key=True), token


def test_every_answer_carries_the_headers(shield: SecurityMiddleware) -> None:
    for answer in (asked(shield), asked(shield, "POST", "/v1/projects/shop/votes")):
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS


@pytest.mark.parametrize("base", ["http://evil.example:8000", "http://127.0.0.1.evil.example", "http://10.0.0.1"])
def test_a_name_rebound_to_loopback_is_refused(shield: SecurityMiddleware, base: str) -> None:
    assert code_of(asked(shield, base=base)) == (403, "wrong_host")


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:8001", "file://127.0.0.1:8000"])
def test_a_page_of_another_origin_is_refused(shield: SecurityMiddleware, origin: str) -> None:
    headers = {**JSON, "Origin": origin}
    assert code_of(asked(shield, "POST", "/v1/projects/shop/votes", headers=headers)) == (403, "wrong_origin")
    assert asked(shield, headers={"Origin": ADDRESS}).status_code == 200


@pytest.mark.parametrize(
    "kind", ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonp"]
)
def test_what_a_form_could_send_is_refused(shield: SecurityMiddleware, kind: str) -> None:
    answer = asked(shield, "POST", "/v1/projects/shop/votes", content=b"{}", headers={"Content-Type": kind})
    assert code_of(answer) == (415, "not_json")


def test_a_body_of_the_allowed_size_arrives_and_one_byte_more_does_not(shield: SecurityMiddleware) -> None:
    assert asked(shield, "POST", "/v1/projects/a/votes", content=b"x" * 1000, headers=JSON).json() == {"size": 1000}
    answer = asked(shield, "POST", "/v1/projects/a/votes", content=b"x" * 1001, headers=JSON)
    assert code_of(answer) == (413, "too_large")


def test_a_body_without_a_length_is_counted_while_it_arrives(shield: SecurityMiddleware) -> None:
    sent = []

    async def endless() -> AsyncIterator[bytes]:
        while True:
            sent.append(1)
            yield b"x" * 100

    answer = asked(shield, "POST", "/v1/projects/a/votes", content=endless(), headers=JSON)
    assert code_of(answer) == (413, "too_large")
    assert len(sent) < 15


def test_a_body_that_takes_for_ever_is_given_up() -> None:
    shield = SecurityMiddleware(echo, KeysInMemory(), ServerLimits(body_seconds=0.2))

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
def test_paths_that_mean_two_things_are_refused(shield: SecurityMiddleware, path: str) -> None:
    assert code_of(asked(shield, "GET", path)) == (400, "bad_path")


@pytest.mark.parametrize("name", ["Host", "Authorization", "Content-Type"])
def test_what_decides_is_said_once(shield: SecurityMiddleware, name: str) -> None:
    assert code_of(asked(shield, headers=[(name, "a"), (name, "b")])) == (400, "bad_request")


def test_two_lengths_are_refused(shield: SecurityMiddleware) -> None:
    headers = {**JSON, "Content-Length": "4", "Transfer-Encoding": "chunked"}
    assert code_of(asked(shield, "POST", "/v1/projects/a/votes", headers=headers)) == (400, "bad_request")


def test_too_many_requests_are_told_when_to_come_back() -> None:
    shield = SecurityMiddleware(echo, KeysInMemory(), ServerLimits(rate=0.1, burst=2))
    assert [asked(shield).status_code for _ in range(3)] == [200, 200, 429]
    assert int(asked(shield).headers["retry-after"]) >= 1


def test_guesses_of_keys_are_counted_too(keyed: tuple[SecurityMiddleware, str]) -> None:
    shield = SecurityMiddleware(echo, keyed[0].keys, ServerLimits(rate=0.1, burst=2), needs_key=True)
    assert [asked(shield, url="/v1/projects").status_code for _ in range(3)] == [401, 401, 429]


def test_with_keys_the_key_decides_not_the_address(keyed: tuple[SecurityMiddleware, str]) -> None:
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


def test_a_put_without_a_body_needs_no_content_type(shield: SecurityMiddleware) -> None:
    assert asked(shield, "PUT", "/v1/projects/shop").status_code == 200
    assert code_of(asked(shield, "PUT", "/v1/projects/shop", content=b"{}")) == (415, "not_json")


@pytest.mark.parametrize("path", ["/", "/v1/projects/"], ids=["root", "trailing"])
def test_a_path_may_end_in_a_slash(shield: SecurityMiddleware, path: str) -> None:
    assert asked(shield, "GET", path).status_code == 200
