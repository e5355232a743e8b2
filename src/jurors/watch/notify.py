"""Alarm state, exec, webhook."""

from __future__ import annotations

import ipaddress
import json
import os
import shlex
import shutil
import socket
import ssl
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from jurors.errors import OptionError
from jurors.evaluate.alarms import KINDS
from jurors.jury import Verdict
from jurors.results import escape_text

# What rings: alarms of the stream and limits that are not kept, told once when they begin and once when they end.


Event = dict[str, Any]  # JSON's own types


@dataclass
class AlarmState:
    """Which alarms were told; `rung` compares them with what is so now.

    Examples
    --------
    >>> bell = AlarmState("votes.jsonl")
    >>> drifts = {"id": 1, "kind": "juror_drift", "level": "alarm", "message": "ann agrees less", "active": True}
    >>> [event["event"] for event in bell.rung([drifts], None)], bell.rung([drifts], None)
    (['raised'], [])
    >>> [event["event"] for event in bell.rung([drifts | {"active": False}], None)], bell.ringing
    (['cleared'], {})
    """

    source: str
    ringing: dict[str, Event] = field(default_factory=dict)  #: by what it is about
    told: int = 0  #: how many were raised since the beginning

    @property
    def loud(self) -> list[Event]:
        """What rings, without notes: those are shown, and wake nobody."""
        return [event for event in self.ringing.values() if event["level"] != "note"]

    def rung(self, alarms: Iterable[Mapping[str, Any]], verdict: Verdict | None) -> list[Event]:
        """What begins and what ends: alarms of the stream, and limits that a window does not keep."""
        events: list[Event] = []
        now = {f"stream {alarm['id']}": dict(alarm) for alarm in alarms}
        for key, alarm in now.items():
            if alarm["active"] and key not in self.ringing:
                events.append(self._raise(key, alarm))
            elif not alarm["active"] and key in self.ringing:
                events.append(self._clear(key))
        for gate in verdict.gates if verdict is not None else ():
            key = f"limit {gate.name}"
            if gate.outcome == "fail" and key not in self.ringing:
                advice = KINDS["gate_failed"].advice.format(who=gate.juror or "the jurors")
                jurors = [] if gate.juror is None else [gate.juror]
                about = {
                    "kind": "gate_failed",
                    "level": "alarm",
                    "message": " ".join(gate.line.split()),
                    "advice": advice,
                }
                events.append(self._raise(key, about | {"jurors": jurors, "value": gate.value, "limit": gate.limit}))
            elif gate.outcome == "pass" and key in self.ringing:
                events.append(self._clear(key))
        return events

    def _raise(self, key: str, about: Mapping[str, Any]) -> Event:
        self.told += 1
        event = {**about, "id": key, "event": "raised", "source": self.source, "at": _now()}
        self.ringing[key] = event
        return event

    def _clear(self, key: str) -> Event:
        return {**self.ringing.pop(key), "event": "cleared", "at": _now()}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


# Who is told when an alarm begins or ends: a program of yours, a web address of yours.
#
# An alarm's words hold names that strangers chose. They reach a program as JSON on its standard input and in
# environment variables, never as part of a command, and no shell is asked. An address is https, or http on this
# machine; its host is looked up once, addresses of private networks are refused unless the command line allows them,
# and nothing is followed. What could not be told is told again later, less and less often, and after a restart, too.


_SECONDS = 10.0  # that an address may take
_RUN_SECONDS = 60.0  # that a program may take
_TRIES = 12
_SLOWEST = 600.0


@dataclass(frozen=True)
class NotifyProgram:
    """A program that is started for each event, with its arguments; `--exec "notify --room jury"`."""

    command: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> NotifyProgram:
        """The program of a command line; OptionError where it cannot be run."""
        try:
            words = tuple(shlex.split(text))
        except ValueError as error:
            raise OptionError(f"--exec {text!r}: {error}", name="exec", value=text) from None
        if not words or shutil.which(words[0]) is None:
            raise OptionError(f"--exec {text!r}: there is no such program", name="exec", value=text)
        return cls(words)

    def __call__(self, event: Event) -> None:
        """Run it; OSError where it cannot be started, takes too long, or says that it failed."""
        document = json.dumps(event)
        about = {
            "JURORS_ALARM": document,
            **{f"JURORS_ALARM_{name.upper()}": _plain(event.get(name)) for name in ("event", "id", "kind", "level")},
            "JURORS_ALARM_MESSAGE": _plain(event.get("message")),
            "JURORS_ALARM_JURORS": json.dumps(event.get("jurors", [])),
        }
        try:
            subprocess.run(  # noqa: S603  # the user's own command line, without a shell
                self.command, input=document.encode(), env={**os.environ, **about}, stdout=subprocess.DEVNULL,
                timeout=_RUN_SECONDS, check=True,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise OSError(f"took longer than {_RUN_SECONDS:g} seconds") from None
        except subprocess.CalledProcessError as error:
            raise OSError(f"ended with status {error.returncode}") from None


def _plain(value: Any) -> str:
    """Text that an environment variable can hold."""
    return escape_text(str(value)).replace("\0", "")


@dataclass(frozen=True)
class Webhook:
    """A web address to which each event is posted as JSON."""

    scheme: str
    host: str
    port: int
    target: str
    private: bool = False  #: the command line allows addresses of private networks

    @classmethod
    def of(cls, url: str, *, private: bool = False) -> Webhook:
        """The address; OptionError where it is neither https nor http on this machine.

        >>> Webhook.of("https://example.org/hook?room=7").target
        '/hook?room=7'
        >>> Webhook.of("http://example.org/")
        Traceback (most recent call last):
            ...
        jurors.errors.OptionError: --webhook must be https, or http on this machine (localhost)
        """
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port
        except ValueError:
            parts, host, port = urlsplit(""), "", None
        if parts.scheme not in ("http", "https") or not host or (parts.scheme == "http" and not _is_here(host)):
            raise OptionError("--webhook must be https, or http on this machine (localhost)", name="webhook")
        if parts.username or any(mark <= " " or mark == "\x7f" for mark in url):
            raise OptionError("--webhook must be a plain address, without a password or blanks", name="webhook")
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        return cls(parts.scheme, host, port or (443 if parts.scheme == "https" else 80), target, private)

    def __call__(self, event: Event) -> None:
        """Post it; OSError where it is refused, moved, or not answered in time."""
        connection = self._connection(self._looked_up())
        try:
            body = json.dumps(event).encode()
            connection.request("POST", self.target, body, {"Content-Type": "application/json", "User-Agent": "jurors"})
            status = connection.getresponse().status
        except HTTPException as error:
            raise OSError(f"no HTTP: {error!r:.60}") from None
        finally:
            connection.close()
        if not 200 <= status < 300:  # redirects, too: who may send us elsewhere may send us anywhere
            raise OSError(f"answered with status {status}")

    def _looked_up(self) -> str:
        """The address of the host, looked up once, so that it cannot change between the check and the call."""
        every = [str(one[4][0]) for one in socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)]
        for one in every:
            address = ipaddress.ip_address(one.partition("%")[0])
            if not (address.is_loopback and _is_here(self.host)) and not address.is_global and not self.private:
                raise OSError(f"{self.host} is an address of a private network; allow it with --webhook-private")
        return every[0]

    def _connection(self, address: str) -> HTTPConnection:
        def connect(*_: Any, **__: Any) -> socket.socket:
            return socket.create_connection((address, self.port), _SECONDS)

        secure = self.scheme == "https"
        connection = (
            HTTPSConnection(self.host, self.port, timeout=_SECONDS, context=ssl.create_default_context())
            if secure
            else HTTPConnection(self.host, self.port, timeout=_SECONDS)
        )
        connection._create_connection = connect  # type: ignore[attr-defined]  # the certificate is still the host's
        return connection


def _is_here(host: str) -> bool:
    """Whether the name means this machine."""
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass
class Waiting:
    """An event that somebody is still to be told."""

    to: str
    event: Event
    tries: int = 0
    due: float = 0.0


@dataclass
class NotificationQueue:
    """The events that are still to be told, and to whom; a snapshot keeps them."""

    receivers: dict[str, Callable[[Event], None]]
    waiting: list[Waiting] = field(default_factory=list)
    news: list[str] = field(default_factory=list)

    def add(self, events: Sequence[Event]) -> None:
        """Tell everybody of these."""
        self.waiting += [Waiting(name, event) for event in events for name in self.receivers]

    def deliver(self) -> bool:
        """Tell what is due, and whether anybody was told or given up; what fails is due again later."""
        many = len(self.waiting)
        for one in [one for one in self.waiting if one.due <= monotonic()]:
            try:
                self.receivers[one.to](one.event)
            except (OSError, ValueError) as error:
                self._later(one, str(error) or type(error).__name__)
            else:
                self.waiting.remove(one)
        return len(self.waiting) < many

    def _later(self, one: Waiting, why: str) -> None:
        one.tries += 1
        one.due = monotonic() + min(2.0**one.tries, _SLOWEST)
        if one.tries in (1, _TRIES):
            left = "given up" if one.tries >= _TRIES else "will be tried again"
            self.news.append(f"--{one.to} was not told of {one.event['id']} ({one.event['event']}): {why}; {left}")
        if one.tries >= _TRIES:
            self.waiting.remove(one)

    def to_list(self) -> list[dict[str, Any]]:
        """JSON's own types."""
        return [{"to": one.to, "event": one.event} for one in self.waiting]

    def restore(self, state: Sequence[dict[str, Any]]) -> None:
        """The inverse of `to_list`, of those whom the command line still names."""
        self.waiting = [Waiting(one["to"], one["event"]) for one in state if one["to"] in self.receivers]
