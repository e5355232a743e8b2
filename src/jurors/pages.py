"""What our pages share: colours by day and by night, a policy that forbids all requests, data that do nothing."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

from jurors.tables import json_text

COLOURS = """\
:root {
  --page: #f6f7f9; --card: #ffffff; --ink: #1c2530; --muted: #52606d; --line: #d9dfe6; --grid: #c3cbd4;
  --link: #0b5cad; --alarm: #a8200d; --warning: #855000; --quiet: #17663f;
  --alarm-back: #fdf0ee; --warning-back: #fdf6e7; --quiet-back: #edf7f1;
  --mark: #0b5cad; --mark-soft: #a9c8e8; --warm: #a84600; --shade: rgb(0 0 0 / .38);
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #12161b; --card: #1a2027; --ink: #e8ebef; --muted: #a9b4c0; --line: #323b46; --grid: #46515d;
    --link: #86bdf5; --alarm: #ff9f92; --warning: #f2c06f; --quiet: #86d6aa;
    --alarm-back: #331c1a; --warning-back: #2f2716; --quiet-back: #16291f;
    --mark: #86bdf5; --mark-soft: #3d5f82; --warm: #ffa264; --shade: rgb(255 255 255 / .42);
  }
}
"""


def digest(text: str) -> str:
    """How a policy names a script or a style that it allows."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def policy(*scripts: str, style: str = "'unsafe-inline'") -> str:
    """Nothing may be requested; of scripts, only these may run, named by their digests. Styles cannot fetch either."""
    return f"default-src 'none'; script-src {' '.join(scripts)}; style-src {style}; base-uri 'none'; form-action 'none'"


def compact_json(document: Any) -> str:
    """Strict JSON without blanks."""
    return json_text(document, indent=None, separators=(",", ":"))


def inert(text: str) -> str:
    r"""JSON for an element of the page that runs nothing.

    A `<` inside JSON is always inside a string: escaped, neither `</script>` nor `<!--` can end the element.

    >>> inert('{"a":"</script>"}')
    '{"a":"\\u003c/script\\u003e"}'
    """
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
