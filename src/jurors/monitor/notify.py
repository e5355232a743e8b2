"""Which alarms are active, and who is notified when one is raised or cleared: a program, or a webhook.

An alarm's text holds names that strangers chose. They reach a program as JSON on its standard input and in environment
variables, never as part of a command, and without a shell. A webhook is https, or http on this machine; its host is
resolved once, addresses of private networks are refused unless the command line allows them, and redirects are not
followed. A notification that failed is sent again with exponential backoff, after a restart, too. A receiver gets all
alarms or those of some kinds and levels, one by one or together as a digest.
"""

from __future__ import annotations

import ipaddress
import json
import os
import re
import shlex
import shutil
import socket
import ssl
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from math import inf
from time import monotonic, time
from typing import Any
from urllib.parse import urlsplit

from jurors.errors import OptionError
from jurors.evaluate.alarms import KINDS, LEVELS, Alarm
from jurors.jury.check import Verdict
from jurors.results import escape_text

Event = dict[str, Any]  #: an alarm that was raised or cleared, JSON-serialisable


@dataclass
class AlarmState:
    """The active alarms: those of the stream, and the limits that a window fails.

    Examples
    --------
    >>> state = AlarmState("votes.jsonl")
    >>> drift = {"id": 1, "kind": "drift", "level": "alarm", "message": "ann agrees less", "active": True}
    >>> [event["event"] for event in state.update([drift], None)], state.update([drift], None)
    (['raised'], [])
    >>> [event["event"] for event in state.update([drift | {"active": False}], None)], state.active
    (['cleared'], {})
    """

    source: str
    active: dict[str, Event] = field(default_factory=dict)  #: by the alarm's id
    raised: int = 0  #: how many were raised since the beginning
    recent: tuple[float, float] = (0.0, 0.0)  #: lines of late, and those of them that could not be read

    @property
    def above_notes(self) -> list[Event]:
        """The active alarms that are notified: notes are only shown."""
        return [event for event in self.active.values() if event["level"] != "note"]

    def update(self, alarms: Iterable[Mapping[str, Any]], verdict: Verdict | None) -> list[Event]:
        """Take in the present alarms of the stream and the verdict on the limits.

        Returns
        -------
        list of dict
            One event for each alarm that is raised or cleared by them.
        """
        events: list[Event] = []
        for alarm in alarms:
            key = f"stream {alarm['id']}"
            if alarm["active"] and key not in self.active:
                events.append(self._raise(key, alarm))
            elif not alarm["active"] and key in self.active:
                events.append(self._clear(key))
        for gate in verdict.gates if verdict is not None else ():
            key = f"limit {gate.name}"
            if gate.outcome == "fail" and key not in self.active:
                jurors = () if gate.juror is None else (gate.juror,)
                failed = Alarm("gate_failed", "alarm", " ".join(gate.line.split()), gate.value, jurors)
                events.append(self._raise(key, {**failed.to_dict(), "limit": gate.limit}))
            elif gate.outcome == "pass" and key in self.active:
                events.append(self._clear(key))
        return events

    def check_source(self, lines: int, refused: int) -> list[Event]:
        """Take in how many lines a poll read, and how many of them are no votes.

        Of the last 1,000 to 2,000 lines, more than 10% (and at least 10) raise an alarm; less than 5% clear it.

        Returns
        -------
        list of dict
            The event, if the alarm is raised or cleared.

        Examples
        --------
        >>> state = AlarmState("votes.jsonl")
        >>> [len(state.check_source(lines, refused)) for lines, refused in ((100, 9), (100, 91), (1000, 0), (900, 0))]
        [0, 1, 0, 1]
        """
        read, bad = self.recent[0] + lines, self.recent[1] + refused
        fade = min(1.0, _RECENT_LINES / max(read, 1)) if read > 2 * _RECENT_LINES else 1.0
        self.recent = read * fade, bad * fade
        share, key = bad / max(read, 1), "source"
        if key not in self.active and bad >= _FEWEST_UNREADABLE and share > _MOST_UNREADABLE:
            message = f"{share:.0%} of the last {read:,.0f} lines of {self.source} are not votes and are not counted"
            return [self._raise(key, Alarm("source_unreadable", "alarm", message, share).to_dict())]
        if key in self.active and lines and share < _MOST_UNREADABLE / 2:
            return [self._clear(key)]
        return []

    def _raise(self, key: str, alarm: Mapping[str, Any]) -> Event:
        self.raised += 1
        self.active[key] = {**alarm, "id": key, "event": "raised", "source": self.source, "at": _now()}
        return self.active[key]

    def _clear(self, key: str) -> Event:
        return {**self.active.pop(key), "event": "cleared", "at": _now()}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


_RECENT_LINES = 1000.0
_MOST_UNREADABLE, _FEWEST_UNREADABLE = 0.1, 10  # a share, and lines
_SECONDS = 10.0  # that an address may take
_RUN_SECONDS = 60.0  # that a program may take
_TRIES = 12
_MOST_MESSAGES = 5  # in the line of a digest


@dataclass(frozen=True)
class NotifyProgram:
    """A program that is started for each event, with its arguments; `--exec "notify --room jury"`."""

    command: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> NotifyProgram:
        """Parse a command line; OptionError where it cannot be run."""
        try:
            words = tuple(shlex.split(text))
        except ValueError as error:
            raise OptionError(f"--exec {text!r}: {error}", name="exec", value=text) from None
        if not words or shutil.which(words[0]) is None:
            raise OptionError(f"--exec {text!r}: the program does not exist", name="exec", value=text)
        return cls(words)

    def __call__(self, event: Event) -> None:
        """Run it; OSError where it cannot be started, takes too long, or fails."""
        document = json.dumps(event)
        variables = {"JURORS_ALARM": document, "JURORS_ALARM_JURORS": json.dumps(event.get("jurors", []))}
        for name in ("event", "id", "kind", "level", "message"):
            variables[f"JURORS_ALARM_{name.upper()}"] = escape_text(str(event.get(name))).replace("\0", "")
        try:
            subprocess.run(  # noqa: S603  # the user's own command line, without a shell
                self.command, input=document.encode(), env={**os.environ, **variables}, stdout=subprocess.DEVNULL,
                timeout=_RUN_SECONDS, check=True,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise OSError(f"the program ran longer than {_RUN_SECONDS:g} seconds") from None
        except subprocess.CalledProcessError as error:
            raise OSError(f"the program ended with status {error.returncode}") from None


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
        """Parse an address; OptionError where it is neither https nor http on this machine.

        Examples
        --------
        >>> Webhook.of("https://example.org/hook?room=7").target
        '/hook?room=7'
        >>> Webhook.of("http://example.org/")
        Traceback (most recent call last):
            ...
        jurors.errors.OptionError: --webhook must be an https address, or http on this machine (localhost)
        """
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port
        except ValueError:
            parts, host, port = urlsplit(""), "", None
        if parts.scheme not in ("http", "https") or not host or (parts.scheme == "http" and not _is_local(host)):
            raise OptionError("--webhook must be an https address, or http on this machine (localhost)", name="webhook")
        if parts.username or any(mark <= " " or mark == "\x7f" for mark in url):
            raise OptionError("--webhook must be an address without a password and without spaces", name="webhook")
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        return cls(parts.scheme, host, port or (443 if parts.scheme == "https" else 80), target, private)

    def __call__(self, event: Event) -> None:
        """Post it; OSError where it is refused, moved, or not answered in time."""
        address = self._resolve()

        def connect(*_: Any, **__: Any) -> socket.socket:
            return socket.create_connection((address, self.port), _SECONDS)

        connection = (
            HTTPSConnection(self.host, self.port, timeout=_SECONDS, context=ssl.create_default_context())
            if self.scheme == "https"
            else HTTPConnection(self.host, self.port, timeout=_SECONDS)
        )
        connection._create_connection = connect  # type: ignore[attr-defined]  # the certificate is still the host's
        try:
            body = json.dumps(event).encode()
            connection.request("POST", self.target, body, {"Content-Type": "application/json", "User-Agent": "jurors"})
            status = connection.getresponse().status
        except HTTPException as error:
            raise OSError(f"the response is not HTTP: {error!r:.60}") from None
        finally:
            connection.close()
        if not 200 <= status < 300:  # redirects, too: they could lead anywhere
            raise OSError(f"the response has status {status}")

    def _resolve(self) -> str:
        """The address of the host, resolved once, so that it cannot change between the check and the call."""
        entries = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        addresses = [str(entry[4][0]) for entry in entries]
        for text in addresses:
            address = ipaddress.ip_address(text.partition("%")[0])
            if not (address.is_loopback and _is_local(self.host)) and not address.is_global and not self.private:
                raise OSError(f"{self.host} is in a private network; allow it with --webhook-private")
        return addresses[0]


def _is_local(host: str) -> bool:
    """Whether the name means this machine."""
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True)
class Receiver:
    """Who is notified, and of which kinds and levels of alarms; of all, where none are named."""

    send: Callable[[Event], None]
    only: frozenset[str] = frozenset()

    def takes(self, event: Event) -> bool:
        """Whether it is notified of this alarm."""
        return not self.only or not self.only.isdisjoint((event["level"], event["kind"], event.get("reason")))


def receivers_of(
    programs: Sequence[str] = (), webhooks: Sequence[str] = (), *, private: bool = False
) -> dict[str, Receiver]:
    """The receivers that a command line names; OptionError where one cannot be used.

    Parameters
    ----------
    programs, webhooks
        Each a command or an address, perhaps after the kinds and levels of alarms that it gets:
        "alarm,juror_silent=https://example.org/".
    private
        Whether webhooks may be in a private network.

    Returns
    -------
    dict
        Receiver by option and, from the second one on, its place.

    Examples
    --------
    >>> hooks = receivers_of(webhooks=["alarm=https://example.org/pager", "https://example.org/chat"])
    >>> [(name, sorted(receiver.only)) for name, receiver in hooks.items()]
    [('webhook', ['alarm']), ('webhook 2', [])]
    """
    known = {*LEVELS, *KINDS, *(kind.name for kind in KINDS.values())}
    receivers = {}
    for option, texts in (("exec", programs), ("webhook", webhooks)):
        for place, text in enumerate(texts, 1):
            names, sign, rest = text.partition("=")
            only = frozenset(names.split(",")) if sign and re.fullmatch("[a-z_,]+", names) else frozenset()
            if unknown := sorted(only - known):
                problem = f"--{option}: {unknown[0]!r:.60} is neither a kind nor a level of alarms"
                raise OptionError(f"{problem}; write KIND,LEVEL=… or nothing before it", name=option, value=text)
            target = rest if only else text
            send = NotifyProgram.of(target) if option == "exec" else Webhook.of(target, private=private)
            receivers[option if place == 1 else f"{option} {place}"] = Receiver(send, only)
    return receivers


def digest_of(events: Sequence[Event]) -> Event:
    """One event for several, which it holds as `alarms`; of the most severe level among them.

    Returns
    -------
    dict
        JSON-serialisable.

    Examples
    --------
    >>> alarm = {"level": "alarm", "message": "ann is silent", "jurors": ["ann"], "source": "votes.csv"}
    >>> digest_of([{"event": "raised", **alarm}, {"event": "cleared", **alarm}])["message"]
    '1 alarm raised, 1 cleared: ann is silent'
    """
    raised = [event for event in events if event["event"] == "raised"]
    messages = list(dict.fromkeys(event["message"] for event in raised or events))
    more = f"; {len(messages) - _MOST_MESSAGES} more" if len(messages) > _MOST_MESSAGES else ""
    counted = f"{len(raised)} alarm{'s' * (len(raised) != 1)} raised, {len(events) - len(raised)} cleared"
    return {
        "event": "digest", "id": "digest", "kind": "digest",
        "level": max((event["level"] for event in events), key=LEVELS.index),
        "message": f"{counted}: {'; '.join(messages[:_MOST_MESSAGES])}{more}",
        "jurors": sorted({juror for event in events for juror in event.get("jurors", ())}),
        "source": ", ".join(sorted({event["source"] for event in events})), "at": _now(), "alarms": list(events),
    }  # fmt: skip


@dataclass
class PendingNotification:
    """An event that a receiver has not got yet."""

    to: str
    event: Event
    due: float  #: by the monotonic clock
    tries: int = 0


@dataclass
class NotificationQueue:
    """The notifications that are still to be delivered; `to_list` is stored in snapshots."""

    receivers: Mapping[str, Receiver]
    digest: float = 0.0  #: seconds for which events are collected; 0: each is sent at once
    pending: list[PendingNotification] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)  #: what failed, for people

    def add(self, events: Sequence[Event]) -> None:
        """Notify every receiver of those that it takes."""
        takes = [(name, event) for event in events for name, each in self.receivers.items() if each.takes(event)]
        self.pending += [PendingNotification(name, event, self._due(event)) for name, event in takes]

    def _due(self, event: Event) -> float:
        if not self.digest:
            return monotonic()
        return monotonic() + max(0.0, datetime.fromisoformat(event["at"]).timestamp() + self.digest - time())

    def deliver(self, seconds: float = inf) -> bool:
        """Deliver what is due, in a digest with all else that its receiver has not got; what fails is due again later.

        After so many seconds, the rest waits for the next call.

        Returns
        -------
        bool
            Whether any notification was delivered or given up.
        """
        size, now = len(self.pending), monotonic()
        due = [[pending] for pending in self.pending if pending.due <= now]
        if self.digest:
            names = dict.fromkeys(pending.to for (pending,) in due)
            due = [[pending for pending in self.pending if pending.to == name] for name in names]
        for parcel in due:
            if monotonic() - now > seconds:
                break
            first, tries = parcel[0], max(pending.tries for pending in parcel) + 1
            event = digest_of([pending.event for pending in parcel]) if self.digest else first.event
            is_over = True
            try:
                self.receivers[first.to].send(event)
            except (OSError, ValueError) as error:
                is_over, why = tries >= _TRIES, str(error) or type(error).__name__
                for pending in parcel:
                    pending.tries, pending.due = tries, monotonic() + min(2.0**tries, 600.0)
                if tries in (1, _TRIES):
                    failed = f"notification of {event['id']} ({event['event']}) failed: {why}"
                    self.notices.append(f"--{first.to}: {failed}; {'giving up' if is_over else 'retrying'}")
            if is_over:
                sent = {id(pending) for pending in parcel}
                self.pending = [pending for pending in self.pending if id(pending) not in sent]
        return len(self.pending) < size

    def to_list(self) -> list[dict[str, Any]]:
        """JSON-serialisable state."""
        return [{"to": pending.to, "event": pending.event} for pending in self.pending]

    def restore(self, state: Iterable[dict[str, Any]]) -> None:
        """Restore what `to_list` returned, for the receivers that the command line still names."""
        known = [entry for entry in state if entry["to"] in self.receivers]
        self.pending = [PendingNotification(entry["to"], entry["event"], self._due(entry["event"])) for entry in known]
