"""What of the metadata depends on where it is built: on GitHub the project's addresses; elsewhere none are known.

A package that GitHub publishes names the repository it comes from, and the links of its README lead there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"\]\((?![a-z]+:|#)([^)\s]+)\)")  # to a file of the repository
_PICTURES = (".png", ".svg")


class Addresses(MetadataHookInterface):
    """Fills in `urls` and `readme`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """The addresses of the repository that builds, where one does, and a README whose links lead there."""
        home, ref = repository(os.environ)
        readme = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": with_addresses(readme, home, ref)}
        metadata["urls"] = addresses(home, ref)


def repository(environment: Mapping[str, str]) -> tuple[str, str]:
    """The address of the repository whose workflow runs, and the tag that is built; "" where none runs."""
    name, server = environment.get("GITHUB_REPOSITORY", ""), environment.get("GITHUB_SERVER_URL", "")
    tag = environment.get("GITHUB_REF_NAME") if environment.get("GITHUB_REF_TYPE") == "tag" else None
    return f"{server}/{name}" if name and server else "", tag or "HEAD"


def addresses(home: str, ref: str) -> dict[str, str]:
    """What PyPI shows beside the package."""
    if not home:
        return {}
    pages = {"Documentation": "docs/index.md", "Changelog": "CHANGELOG.md"}
    return {"Source": home, "Issues": f"{home}/issues"} | {
        name: f"{home}/blob/{ref}/{path}" for name, path in pages.items()
    }


def with_addresses(readme: str, home: str, ref: str) -> str:
    """The README with links that hold elsewhere, too; as it is where no address is known."""

    def link(found: re.Match[str]) -> str:
        kind = "raw" if found[1].endswith(_PICTURES) else "blob"
        return f"]({home}/{kind}/{ref}/{found[1]})"

    return _LINK.sub(link, readme) if home else readme
