"""The other end of `jurors serve`: `Client`, and `AsyncClient` for programs that wait for many things at once."""

from jurors.client.asynchronous import AsyncClient
from jurors.client.synchronous import Client

__all__ = ["AsyncClient", "Client"]
