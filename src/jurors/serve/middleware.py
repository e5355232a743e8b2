"""What every request passes before a route sees it: hardening, access control, request log, metrics.

One ASGI middleware does it all, the cheap checks first: headers, path, host, key, rate. Only then the body is read,
counted while it arrives and within a time limit, so that routes see nothing but whole bodies of an allowed size.
`HeaderTimeoutProtocol` closes connections that never finish the head of a request.

Each route declares who may call it (`OPEN`, `READ`, `READ_ANY`, `WRITE`, `ADMIN`) as a FastAPI dependency. The
middleware looks the declaration up and enforces it, not the dependency: FastAPI reads and parses a body before it
resolves dependencies, and a caller without a key must not make the server do that.
"""

from __future__ import annotations

import asyncio
import ipaddress
import math
import re
import secrets
import time
import traceback
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal, cast
from urllib.parse import urlsplit

import h11
from fastapi import Request, Security
from fastapi.params import Security as SecurityDependency
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from jurors.errors import Code, JurorsError, OptionError
from jurors.serve.auth import ApiKey, KeyScope, Rate, ServerLimits, check_key
from jurors.serve.errors import ApiError
from jurors.serve.observability import ServerMetrics, log_event
from jurors.serve.responses import error_response
from jurors.serve.store import SqlStore

# Without keys the address is the credential: whoever reaches loopback may do everything. A page in a browser reaches
# it, too, so a request must name a loopback host (against DNS rebinding) and come from no other origin.


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a host.

    Returns
    -------
    bool
        False for a name that is not known to be local.

    Examples
    --------
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
    """Raise OptionError where strangers could reach a server that needs no key."""
    if not is_loopback(host) and not keys:
        raise OptionError(
            f"--host {host} lets other machines connect, which requires an API key: create one with "
            "`jurors store keys create --scope admin --store …`, or omit --host",
            code="does_not_apply", name="host", value=host,
        )  # fmt: skip


def host_of(header: str) -> str | None:
    """The host of a Host header, without its port; None where it is no host.

    Returns
    -------
    str or None
        A name or an address, without brackets.

    Examples
    --------
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
    """Whether a page's origin is the host of the request, including the port; `null` never is.

    Returns
    -------
    bool
        Whether scheme, host and port are ours.

    Examples
    --------
    >>> is_own_origin("http://127.0.0.1:8000", "127.0.0.1:8000"), is_own_origin("null", "127.0.0.1:8000")
    (True, False)
    """
    scheme, mark, place = origin.partition("://")
    return bool(mark) and scheme in ("http", "https") and place.lower() == host.lower()


# -- access: declared at the routes, looked up here --------------------------------------------------------------------


async def accepted_key(request: Request) -> ApiKey | None:
    """The key that the middleware accepted for this request; None where none is needed."""
    key: ApiKey | None = request.state.key
    return key


OPEN = Security(accepted_key, scopes=["open"])  #: pages and probes, which hold no vote: no key
READ = Security(accepted_key, scopes=["read"])  #: a key that may read the path's project (all, where it names none)
READ_ANY = Security(accepted_key, scopes=["read", "any project"])  #: a key for any one project; the answer is about it
WRITE = Security(accepted_key, scopes=["write"])
ADMIN = Security(accepted_key, scopes=["admin"])

_PROJECT = re.compile(r"/v1/projects/([^/]+)(?:/.*)?")
_PLAIN = re.compile(r"[\w.-]+")


def declared_scopes(route: Route) -> list[str]:
    """The scopes that a route declares, its key scope or "open" first; empty where it declares none."""
    declared = (each for each in getattr(route, "dependencies", ()) if isinstance(each, SecurityDependency))
    return [scope for each in declared if each.dependency is accepted_key for scope in each.scopes or ()]


def required_access(routes: Sequence[Route], scope: Scope) -> tuple[KeyScope | Literal["open"], str | None, bool]:
    """What a request needs: as its route declares; where no route serves it, the most that its path could need.

    Parameters
    ----------
    routes
        All routes of the application.
    scope
        The ASGI scope of the request. HEAD needs what GET needs.

    Returns
    -------
    scope : str
        That of the key, or "open". A path that is not served still needs a key before it is answered with 404 or 405:
        `admin`, or under `/v1/projects/NAME/` a key of that project, `read` to GET and `admin` to do anything else.
    project : str or None
        That the key must be for; None: all of them.
    any_project : bool
        Whether a key for one project is enough; the answer is about that one.
    """
    is_reading = scope["method"] in ("GET", "HEAD")
    method, path = "GET" if is_reading else scope["method"], scope["path"]
    for route in routes:
        match = route.path_regex.fullmatch(path)
        if match is None or method not in (route.methods or ()) or not (scopes := declared_scopes(route)):
            continue
        values = match.groupdict()
        if scopes[0] != "open":
            return cast(KeyScope, scopes[0]), values.get("name"), "any project" in scopes
        if all(map(_PLAIN.fullmatch, values.values())):  # an open route serves plain file names and nothing else
            return "open", None, False
    place = _PROJECT.fullmatch(path)
    return "read" if is_reading and place else "admin", place and place[1], False


# -- the middleware ----------------------------------------------------------------------------------------------------


#: what an answer carries unless it says otherwise: our own pages have policies of their own, which allow more
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
_SMALL = 1 << 16  #: bytes of a body that is accepted however many others arrive
_AMBIGUOUS = (b"%2f", b"%5c", b"%00", b"\\", b"//", b"/../", b"/./")


@dataclass
class ServerMiddleware:
    """Checks every request before the application gets it, and logs and counts it afterwards, refused or not.

    Starlette's `TrustedHostMiddleware` cannot do the host check: it refuses with 400 and plain text (here 403 and
    JSON), knows names and wildcards but no address range (127.0.0.0/8), splits `[::1]:8000` at its first colon, and
    always checks, while here a host no longer matters once there is a key.
    """

    app: ASGIApp
    store: Callable[[], SqlStore]  #: a function, because the application opens it when it starts
    routes: Sequence[Route]
    limits: ServerLimits = field(default_factory=ServerLimits)
    metrics: ServerMetrics = field(default_factory=ServerMetrics)
    needs_key: bool = False  #: where others than this machine can reach it, or once a key was made
    rate: Rate = field(init=False)
    _checked: float = -math.inf  # when it was last checked whether there is a key

    _bytes: int = 0  # of bodies that are arriving or being worked on

    def __post_init__(self) -> None:
        self.rate = Rate(self.limits.rate, self.limits.burst)
        self._turns = asyncio.Semaphore(self.limits.turns)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; connections of another kind (WebSocket) are dropped."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        begun, status, method = time.perf_counter(), 0, scope["method"]
        name, held = secrets.token_hex(8), [0]
        if method == "HEAD":
            scope = {**scope, "method": "GET"}

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                given = [*message.get("headers", ()), (b"x-request-id", name.encode())]
                if scope["path"].startswith("/v1/") and status == 200 and (age := self.store().age()) is not None:
                    warning = b'110 - "The disk of the store is full: later votes are not counted yet"'
                    given += [(b"age", b"%d" % age), (b"warning", warning)]
                names = {name.lower() for name, _ in given}
                message["headers"] = [*given, *(header for header in _HEADERS if header[0] not in names)]
                await send(message)
                if method == "HEAD":
                    await send({"type": "http.response.body", "body": b""})
            elif method != "HEAD":
                await send(message)

        try:
            headers = _check_head(scope)
            key = await self._check_caller(scope, headers)
            _check_content_type(method, headers)
            body = await self._read_body(headers, receive, held)
            scope.setdefault("state", {})["key"] = key
            async with self._turn(scope):
                await self.app(scope, _replay(body, receive), sending)
        except JurorsError as error:
            if not status:
                await error_response(error)(scope, receive, sending)
        except Exception as error:  # the details go to the log, not to the caller
            trace = "".join(traceback.format_exception(error))
            fault = f"{type(error).__name__}: {error}"
            log_event("fault", "error", id=name, path=scope["path"], error=fault, trace=trace)
            if not status:
                message = f"an internal error occurred; the server's log has the details of request {name}"
                await error_response(ApiError(500, "fault", message))(scope, receive, sending)
        finally:
            self._bytes -= held[0]
            seconds = time.perf_counter() - begun
            self.metrics.count(method, getattr(scope.get("route"), "path", "(none)"), status or 500, seconds)
            facts = {"method": method, "path": scope["path"], "status": status or 500, "ms": round(1e3 * seconds, 2)}
            log_event("request", id=name, **facts)

    @asynccontextmanager
    async def _turn(self, scope: Scope) -> AsyncIterator[None]:
        """Let few requests at a time do what may take long, so that posts and probes never wait for a thread."""
        path, is_post = scope["path"], scope["method"] == "POST"
        if not path.startswith("/v1/") or (is_post and path.endswith("/votes")):
            yield
            return
        try:
            async with asyncio.timeout(self.limits.turn_seconds):
                await self._turns.acquire()
        except TimeoutError:
            message = f"no turn within {self.limits.turn_seconds:g} s: too many requests for results; try again later"
            raise ApiError(503, "too_many_requests", message).with_headers(Retry_After="5") from None
        try:
            yield
        finally:
            self._turns.release()

    async def _check_caller(self, scope: Scope, headers: dict[bytes, str]) -> ApiKey | None:
        """The key, where one is needed. Without keys the address is what is trusted, so it must be right."""
        address = str((scope.get("client") or ("",))[0])
        level, project, any_project = required_access(self.routes, scope)
        if level != "open" and not self.needs_key and time.monotonic() - self._checked > 1.0:
            # A key that is made while the server runs closes it within a second.
            self.needs_key = await asyncio.to_thread(self.store().any_key)
            self._checked = time.monotonic()
        if not self.needs_key:
            host = host_of(headers.get(b"host", ""))
            if host is None or not is_loopback(host):
                advice = "use http://127.0.0.1, or create a key"
                raise ApiError(403, "wrong_host", f"without API keys this server answers only to localhost; {advice}")
            origin = headers.get(b"origin")
            is_foreign = origin is not None and not is_own_origin(origin, headers[b"host"])
            if is_foreign or headers.get(b"sec-fetch-site") in ("cross-site", "same-site"):
                raise ApiError(403, "wrong_origin", "this server refuses requests from pages of another origin")
        if level == "open" or not self.needs_key:
            self._limit_rate(address)
            return None
        header = headers.get(b"authorization")
        try:
            key = await asyncio.to_thread(check_key, self.store().key, header, level, project, any=any_project)
        except ApiError:
            self._limit_rate(address)
            raise
        self._limit_rate(key.id)
        return key

    def _limit_rate(self, caller: str) -> None:
        if seconds := self.rate.wait(caller):
            message = f"more than {self.limits.rate:g} requests per second; wait, then send more votes per request"
            raise ApiError(429, "too_many_requests", message).with_headers(Retry_After=str(int(seconds) + 1))

    async def _read_body(self, headers: dict[bytes, str], receive: Receive, held: list[int]) -> bytes:
        """The whole body; `held` gets its bytes, which count until the request ends."""
        if not headers.keys() & {b"content-length", b"transfer-encoding"}:
            return b""
        too_large = f"the body is larger than {self.limits.body:,} bytes; send the votes in several requests"
        if int(headers.get(b"content-length", 0)) > self.limits.body:
            raise _closing(413, "too_large", too_large)
        parts, size, more = [], 0, True
        try:
            async with asyncio.timeout(self.limits.body_seconds):
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise ApiError(400, "bad_request", "the connection closed before the whole body arrived")
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    held[0], self._bytes = size, self._bytes + len(parts[-1])
                    more = message.get("more_body", False)
                    if size > self.limits.body:
                        raise _closing(413, "too_large", too_large)
                    if size > _SMALL and self._bytes > self.limits.bytes:
                        full = "too many large bodies at once; send smaller ones, or try again later"
                        raise _closing(503, "too_many_requests", full, Retry_After="2")
        except TimeoutError:
            late = f"the body took longer than {self.limits.body_seconds:g} s to arrive; send it in smaller parts"
            raise _closing(408, "slow_body", late) from None
        return b"".join(parts)


def _closing(status: int, code: Code, message: str, **headers: str) -> ApiError:
    """A refusal that ends the connection: where the refused request ends on it is not known."""
    return ApiError(status, code, message).with_headers(Connection="close", **headers)


def _check_head(scope: Scope) -> dict[bytes, str]:
    """Headers by name; refused is what means one thing here and another to a proxy in front.

    Headers that decide may occur once: two readers must never see two requests in one.
    """
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    names = [name for name, _ in headers if name in _ONCE]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise _closing(400, "bad_request", f"the header {twice.decode()} occurs twice")
    if b"content-length" in names and b"transfer-encoding" in names:
        raise _closing(400, "bad_request", "send content-length or transfer-encoding, not both")
    length = dict(headers).get(b"content-length", b"0")
    if not length.isdigit() or len(length) > 18:
        raise _closing(400, "bad_request", "content-length is not a number")
    raw = (scope.get("raw_path") or scope["path"].encode()).lower()
    is_ambiguous = any(part in raw for part in _AMBIGUOUS) or raw.endswith((b"/..", b"/."))
    if is_ambiguous or any(ord(mark) < 32 for mark in scope["path"]):
        wrong = "'..', '//', a backslash, a control character or an encoded '/'"
        raise ApiError(400, "bad_path", f"the path contains {wrong}")
    return {name: value.decode("latin-1") for name, value in headers}


def _check_content_type(method: str, headers: dict[bytes, str]) -> None:
    """A body is JSON and declared as such, which a form of a page elsewhere cannot do."""
    is_empty = headers.get(b"content-length", "0") == "0" and b"transfer-encoding" not in headers
    # No form and no page elsewhere can send a PUT.
    if method not in ("POST", "PUT", "PATCH") or (is_empty and method == "PUT"):
        return
    kind = headers.get(b"content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        message = f"the body must be JSON: send the header `Content-Type: application/json`, not {kind or 'nothing'!r}"
        raise ApiError(415, "not_json", message)
    if headers.get(b"content-encoding", "identity").lower() != "identity":
        raise ApiError(415, "not_json", "send the body uncompressed, without Content-Encoding")


def _replay(body: bytes, receive: Receive) -> Receive:
    """The body that was read, in one piece; then whatever else comes (that the caller disconnected)."""
    pending = [True]

    async def replayed() -> Message:
        if not pending:
            return await receive()
        pending.clear()
        return {"type": "http.request", "body": body, "more_body": False}

    return replayed


# -- the protocol ------------------------------------------------------------------------------------------------------

# uvicorn closes connections that stay silent between requests, but waits without end for the rest of a request's head;
# the time limit of bodies is the middleware's.

HEAD_SECONDS = 15.0


class HeaderTimeoutProtocol(H11Protocol):
    """uvicorn's own protocol, with a limit to how long the head of a request may take."""

    _limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock for the first request."""
        super().connection_made(transport)
        self._set_limit()

    def data_received(self, data: bytes) -> None:
        """Take some bytes: the head may be complete now, or the next one may have begun."""
        super().data_received(data)
        self._set_limit()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        self._cancel_limit()
        super().connection_lost(exc)

    def _set_limit(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._cancel_limit()
        elif self._limit is None:
            self._limit = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _cancel_limit(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None

    def _give_up(self) -> None:
        self._limit = None
        if self.conn.their_state is h11.IDLE:
            self.transport.close()
