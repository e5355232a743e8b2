"""`.plot()` on results: a plug point for charts, which live in a higher folder and need altair."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class Drawable:
    """A result that `jurors.plot` has charts of."""

    def plot(self, kind: str | None = None, *arguments: Any, **options: Any) -> Any:
        """A chart of this result: a name in `jurors.plot.KINDS`, or the one that shows it best.

        Arguments and options as in the function of that name. Needs altair (`pip install 'jurors[plot]'`).
        """
        # By name and late: results must load without altair, and this folder may not import a higher one.
        return import_module("jurors.plot").draw(self, kind, *arguments, **options)
