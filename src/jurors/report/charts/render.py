"""A chart as a file: PNG and SVG without a browser, a page that needs no network, or the Vega-Lite specification."""

from __future__ import annotations

import base64
import gzip
import html
import io
import json
from importlib import import_module
from typing import Any, Literal, TypeAlias, get_args

from jurors.errors import JurorsError
from jurors.report.charts.theme import Chart, Theme, config, themed
from jurors.report.vega import RuntimeMaker

Format: TypeAlias = Literal["png", "svg", "html", "json"]
FORMATS: tuple[Format, ...] = get_args(Format)

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>body {{ margin: 1rem; {style} }}</style>
</head>
<body>
<div id="chart" role="img" aria-label="{title}"></div>
<script>{library}</script>
<script type="application/json" id="spec">{spec}</script>
<script>
const spec = JSON.parse(document.getElementById("spec").textContent);
const actions = {{export: true, source: false, compiled: false, editor: false}};
vegaEmbed("#chart", spec, {{renderer: "canvas", actions: actions}});
</script>
</body>
</html>
"""


def render(chart: Chart, format: Format, *, theme: Theme = "light", scale: float = 2) -> bytes:
    """The bytes of a file.

    Parameters
    ----------
    chart
        What a chart function returned.
    format
        "png", "svg", "html" (one file, no network) or "json" (Vega-Lite).
    theme
        "light" and "dark" paint the background; "both" leaves it out.
    scale
        PNG: pixels a point.
    """
    if format not in FORMATS:
        raise JurorsError(f"charts are written as {', '.join(FORMATS)}, not as {format!r}")
    dressed = themed(chart, theme)
    if format == "json":
        return json.dumps(dressed.to_dict(), ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    _check_converter()
    if format == "html":
        return _page(dressed, theme).encode()
    out: Any = io.BytesIO() if format == "png" else io.StringIO()
    dressed.save(out, format=format, **({"scale_factor": scale} if format == "png" else {}))
    drawn = out.getvalue()
    return drawn if isinstance(drawn, bytes) else drawn.encode()


def _check_converter() -> None:
    try:
        import_module("vl_convert")
    except ImportError:
        raise JurorsError("pictures of charts need vl-convert: pip install 'jurors[plot]'") from None


def _page(chart: Chart, theme: Theme) -> str:
    spec = chart.to_dict()
    title = spec["title"]["text"] if isinstance(spec.get("title"), dict) else "chart"
    background = config(theme)["background"]
    scheme = "light dark" if theme == "both" else theme
    style = f"color-scheme: {scheme};" + ("" if theme == "both" else f" background: {background};")
    # "</script>" inside a name must not end the script: every "<" is written as an escape.
    text = json.dumps(spec, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    library = gzip.decompress(base64.b64decode(RuntimeMaker().result().packed)).decode()
    library = library.replace("</script", "<\\/script")
    return _PAGE.format(title=html.escape(str(title)), style=style, library=library, spec=text)
