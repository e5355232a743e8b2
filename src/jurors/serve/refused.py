"""What the server says no to: one line, a code, and the HTTP status it goes out with."""

from __future__ import annotations

from typing import Unpack

from jurors.errors import About, Code, JurorsError


class Refused(JurorsError):  # noqa: N818 - an answer, not a fault of the server
    """A request that cannot be served: what was found, what to do, and the status that says whose fault it is."""

    def __init__(self, status: int, code: Code, message: str, /, **about: Unpack[About]) -> None:
        super().__init__(message, code=code, **about)
        self.status = status


class StoreDown(Refused):
    """The store cannot be reached or is busy; nothing of this request was acknowledged, and trying again is safe."""

    def __init__(self, reason: str) -> None:
        super().__init__(503, "store_down", f"the store does not answer ({reason}); send it again, which is safe")


class StoreFull(Refused):
    """The store's disk takes no more; what was acknowledged before is safe."""

    def __init__(self, reason: str) -> None:
        super().__init__(507, "disk_full", f"the store takes no more ({reason}); free some room, then send it again")


class NoProject(Refused):
    """No project has this name (any more)."""

    def __init__(self, name: str) -> None:
        message = f"there is no project {name!r}; make it with PUT /v1/projects/NAME"
        super().__init__(404, "no_project", message, name=name, what="project")
