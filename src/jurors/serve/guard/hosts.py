"""Where a server listens and who it believes to be: loopback, hosts, origins.

Without keys the address is the credential: whoever reaches loopback may do everything. A page in a browser reaches it,
too, so a request must name a loopback host (against names that are rebound to it) and come from no other origin.
"""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from jurors.errors import OptionError


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


def check_reach(host: str, keys: int) -> None:
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
