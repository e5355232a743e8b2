"""Request hardening."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import math
import time
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from jurors.errors import Code, JurorsError, OptionError
from jurors.serve.auth import ApiKey, KeyStore, Rate, ServerLimits, check_key, required_scope
from jurors.serve.errors import ApiError, error_document, status_of

# Where a server listens and who it believes to be: loopback, hosts, origins.
#
# Without keys the address is the credential: whoever reaches loopback may do everything. A page in a browser reaches
# it, too, so a request must name a loopback host (against names that are rebound to it) and come from no other origin.


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a host.

    >>> [is_loopback(host) for host in ("localhost", "127.0.0.1", "::1", "0.0.0.0", "example.org")]
    [True, True, True, False, False]
    """
    if host.lower() in ("localhost", "localhost."):
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_bind_address(host: str, keys: int) -> None:
    """OptionError where strangers could reach a server that asks for no key."""
    if not is_loopback(host) and not keys:
        raise OptionError(
            f"--host {host} lets others in, and there is no key: make one with `jurors keys create --scope admin "
            "--store …`, or leave --host out",
            code="does_not_apply", name="host", value=host,
        )  # fmt: skip


def host_of(header: str) -> str | None:
    """The host of a Host header, without its port; None where it is no host.

    >>> host_of("[::1]:8000"), host_of("localhost"), host_of("a@b"), host_of("a b")
    ('::1', 'localhost', None, None)
    """
    if any(mark in header for mark in " \t/\\@?#,") or not header.isascii():
        return None
    try:
        parts = urlsplit(f"//{header}")
        return parts.hostname if parts.port is None or parts.port > 0 else None
    except ValueError:
        return None


def is_own_origin(origin: str, host: str) -> bool:
    """Whether a page's origin is the host that was asked, port and all; `null` is nobody's.

    >>> is_own_origin("http://127.0.0.1:8000", "127.0.0.1:8000"), is_own_origin("null", "127.0.0.1:8000")
    (True, False)
    """
    scheme, mark, place = origin.partition("://")
    return bool(mark) and scheme in ("http", "https") and place.lower() == host.lower()


# The shield: what every request passes before anything reads it, and what every answer carries.
#
# A plain ASGI layer, cheap things first (headers, host, key, rate). Then the body, which is read here, counted while it
# arrives and given so much time: what lies behind sees whole bodies of allowed size only.


Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]

#: what an answer carries unless it says otherwise: a page of ours has a policy of its own, in which it may do more
HEADERS = {
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
_HEADERS = tuple((name.encode(), value.encode()) for name, value in HEADERS.items())
_ONCE = (b"host", b"authorization", b"content-length", b"content-type", b"origin", b"transfer-encoding")
_EVERY = 1.0  #: seconds between looks whether there is a key
_WRITING = ("POST", "PUT", "PATCH")
_TRICKS = (b"%2f", b"%5c", b"%00", b"\\", b"//", b"/../", b"/./")


@dataclass
class SecurityMiddleware:
    """An app that is asked only what it may be asked."""

    app: App
    keys: KeyStore
    limits: ServerLimits = field(default_factory=ServerLimits)
    needs_key: bool = False  #: where others than this machine can reach it, or once a key was made
    rate: Rate = field(init=False)
    _asked: float = -math.inf  # when it was last looked whether there is a key

    def __post_init__(self) -> None:
        self.rate = Rate(self.limits.rate, self.limits.burst)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        send = _with_headers(send)
        try:
            headers = _single(scope["headers"])
            _check_path(scope)
            key = await self._check_caller(scope, headers)
            _check_form(scope["method"], headers)
            body = await self._body(headers, receive)
        except JurorsError as refusal:
            await _refuse(refusal, send, scope["method"])
            return
        scope.setdefault("state", {})["key"] = key
        await self.app(scope, _replay(body, receive), send)

    async def _check_caller(self, scope: Message, headers: dict[bytes, str]) -> ApiKey | None:
        """The key, where one is needed; without keys, the address is what is believed, so it must be right."""
        address = str((scope.get("client") or ("",))[0])
        need = required_scope(scope["method"], scope["path"])
        if need.scope != "open":
            await self._look_for_keys()
        if not self.needs_key:
            _check_address(headers)
        if need.scope == "open" or not self.needs_key:
            self._slow_down(address)
            return None
        header, wanted = headers.get(b"authorization"), need.scope
        try:
            key = await asyncio.to_thread(check_key, self.keys, header, wanted, need.project, any=need.any_project)
        except ApiError:
            self._slow_down(address)
            raise
        self._slow_down(key.id)
        return key

    async def _look_for_keys(self) -> None:
        """A key that is made while the server runs closes it within a second."""
        if not self.needs_key and time.monotonic() - self._asked > _EVERY:
            self.needs_key = await asyncio.to_thread(self.keys.any_key)
            self._asked = time.monotonic()

    def _slow_down(self, caller: str) -> None:
        if seconds := self.rate.wait(caller):
            told = f"more than {self.limits.rate:g} requests per second; wait, and send more votes per request"
            raise ApiError(429, "too_many_requests", told).with_headers(Retry_After=str(int(seconds) + 1))

    async def _body(self, headers: dict[bytes, str], receive: Receive) -> bytes:
        if not headers.keys() & {b"content-length", b"transfer-encoding"}:
            return b""
        if int(headers.get(b"content-length", 0)) > self.limits.body:
            raise _too_large(self.limits)
        try:
            async with asyncio.timeout(self.limits.body_seconds):
                return await self._arriving(receive)
        except TimeoutError:
            told = f"the body took longer than {self.limits.body_seconds:g} s to arrive; send it in smaller parts"
            raise _closing(408, "slow_body", told) from None

    async def _arriving(self, receive: Receive) -> bytes:
        parts, size, more = [], 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ApiError(400, "bad_request", "the body ended before its end")
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            more = message.get("more_body", False)
            if size > self.limits.body:
                raise _too_large(self.limits)
        return b"".join(parts)


def _closing(status: int, code: Code, message: str) -> ApiError:
    """What follows on this connection cannot be told apart from what was refused."""
    return ApiError(status, code, message).with_headers(Connection="close")


def _too_large(limits: ServerLimits) -> ApiError:
    told = f"the body is larger than {limits.body:,} bytes; send the votes in several requests"
    return _closing(413, "too_large", told)


# -- before the body ------------------------------------------------------------------------------------------------


def _single(headers: list[tuple[bytes, bytes]]) -> dict[bytes, str]:
    """Headers by name. What decides is said once: two readers must never see two requests in one."""
    names = [name for name, _ in headers if name in _ONCE]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise _closing(400, "bad_request", f"the header {twice.decode()} is there twice")
    if b"content-length" in names and b"transfer-encoding" in names:
        told = "a request has content-length or transfer-encoding, not both"
        raise _closing(400, "bad_request", told)
    length = dict(headers).get(b"content-length", b"0")
    if not length.isdigit() or len(length) > 18:
        raise _closing(400, "bad_request", "content-length is no number")
    return {name: value.decode("latin-1") for name, value in headers}


def _check_path(scope: Message) -> None:
    """A path that says one thing to us and another to whoever stands before us is refused."""
    raw = (scope.get("raw_path") or scope["path"].encode()).lower()
    is_trick = any(trick in raw for trick in _TRICKS) or raw.endswith((b"/..", b"/."))
    if is_trick or any(ord(mark) < 32 for mark in scope["path"]):
        raise ApiError(400, "bad_path", "the path holds '..', '//', a backslash, a control character or an encoded '/'")


def _check_address(headers: dict[bytes, str]) -> None:
    host = host_of(headers.get(b"host", ""))
    if host is None or not is_loopback(host):
        told = "without keys this server answers to localhost alone; ask for http://127.0.0.1, or make a key"
        raise ApiError(403, "wrong_host", told)
    origin = headers.get(b"origin")
    foreign = origin is not None and not is_own_origin(origin, headers[b"host"])
    if foreign or headers.get(b"sec-fetch-site") in ("cross-site", "same-site"):
        raise ApiError(403, "wrong_origin", "a page of another origin may not ask this server")


def _check_form(method: str, headers: dict[bytes, str]) -> None:
    """A body is JSON, and says so: a form of a page elsewhere cannot."""
    is_empty = headers.get(b"content-length", "0") == "0" and b"transfer-encoding" not in headers
    if method not in _WRITING or (is_empty and method == "PUT"):  # no form and no page elsewhere can send a PUT
        return
    kind = headers.get(b"content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        told = f"the body must be JSON: send the header `Content-Type: application/json`, not {kind or 'nothing'!r}"
        raise ApiError(415, "not_json", told)
    if headers.get(b"content-encoding", "identity").lower() != "identity":
        raise ApiError(415, "not_json", "send the body as it is, not packed (Content-Encoding)")


# -- the answer -----------------------------------------------------------------------------------------------------


def _replay(body: bytes, receive: Receive) -> Receive:
    """The body that was read, in one piece; then whatever else comes (that the caller went away)."""
    pending = [True]

    async def again() -> Message:
        if not pending:
            return await receive()
        pending.clear()
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            there = {name.lower() for name, _ in message.get("headers", ())}
            more = [(name, value) for name, value in _HEADERS if name not in there]
            message["headers"] = [*message.get("headers", ()), *more]
        await send(message)

    return sending


async def _refuse(refusal: JurorsError, send: Send, method: str) -> None:
    document = error_document(refusal.code, str(refusal))
    body = json.dumps(document, ensure_ascii=False).encode("utf-8", "backslashreplace")
    more = refusal.headers if isinstance(refusal, ApiError) else {}
    headers = {"content-type": "application/json", "content-length": str(len(body)), **more}
    pairs = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status_of(refusal), "headers": pairs})
    await send({"type": "http.response.body", "body": b"" if method == "HEAD" else body})


# HTTP whose requests must begin in time: a connection that sends its headers for ever is closed.
#
# uvicorn ends connections that stay silent between requests, but waits without end for the rest of a request's head;
# the time for bodies is the shield's.


HEAD_SECONDS = 15.0
ENDING = asyncio.Event()  #: this process was asked to end: answers without an end of their own (events) end


class HeaderTimeoutProtocol(H11Protocol):
    """uvicorn's own protocol, with a limit to how long the head of a request may take."""

    _limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """The first request must begin in time, too."""
        super().connection_made(transport)
        self._heed()

    def data_received(self, data: bytes) -> None:
        """Some bytes: the head may be whole now, or the next one may have begun."""
        super().data_received(data)
        self._heed()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing to wait for any more."""
        self._forget()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """The server ends."""
        ENDING.set()
        super().shutdown()

    def _heed(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._forget()
        elif self._limit is None:
            self._limit = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _forget(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None

    def _give_up(self) -> None:
        self._limit = None
        if self.conn.their_state is h11.IDLE:
            self.transport.close()
