"""A real Chromium, started once per module; without one the browser tests are skipped, with the reason."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_ARGUMENTS = [
    "--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
    "--disable-gpu",
]  # fmt: skip

PATIENCE = 120_000  #: milliseconds, for a machine that is busy with other things


_CONTRAST = """(() => {
    const shade = colour => {
        const parts = colour.match(/[\\d.]+/g).slice(0, 3).map(x => x / 255);
        const [r, g, b] = parts.map(x => x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = element => {
        for (let up = element; up; up = up.parentElement) {
            const colour = getComputedStyle(up).backgroundColor;
            if (!colour.startsWith('rgba(0, 0, 0, 0')) return colour;
        }
        return 'rgb(255, 255, 255)';
    };
    const found = [];
    const texts = 'h1, h2, h3, p, li, th, td, dt, dd, span, a, button, code, summary, caption, .chart .role-mark text,'
        + '.chart .role-axis-label text, .chart .role-axis-title text, .chart .role-legend-label text';
    for (const element of document.querySelectorAll(texts)) {
        if (!element.textContent.trim() || !element.checkVisibility()) continue;
        const style = getComputedStyle(element);
        const ink = shade(element.namespaceURI.endsWith('svg') ? style.fill : style.color);
        const page = shade(behind(element));
        const ratio = (Math.max(ink, page) + 0.05) / (Math.min(ink, page) + 0.05);
        const name = element.className.baseVal ?? element.className;
        const what = `${element.tagName} ${name} ${element.textContent.slice(0, 20)} ${ratio.toFixed(2)}`;
        if (ratio < 4.5) found.push(what);
    }
    return [...new Set(found)];
})()"""


@dataclass
class Visit:
    """An open page, and everything it complained about or asked for."""

    page: Any
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def js(self, expression: str) -> Any:
        """The value of an expression in the page."""
        return self.page.evaluate(expression)

    def overflow(self) -> int:
        """How far the page scrolls sideways."""
        return int(self.js("document.documentElement.scrollWidth - document.documentElement.clientWidth"))

    def faint_texts(self) -> list[str]:
        """The texts which stand out too little from what is behind them."""
        return list(self.js(_CONTRAST))

    def is_dark(self) -> bool:
        """Whether the page is dark."""
        back = self.js("getComputedStyle(document.body).backgroundColor")
        return sum(int(x) for x in back[4:-1].split(",")) < 200


@pytest.fixture(scope="module")  # no longer: while it runs, no other test of this process can have an event loop
def browser() -> Iterator[Any]:
    """The browser of the module."""
    found = next((path for name in _NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"no Chromium on the PATH (looked for {', '.join(_NAMES)})")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=found, args=_ARGUMENTS, timeout=PATIENCE)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def visit(browser: Any) -> Callable[..., Visit]:
    """Open an address in a window of its own, which the browser closes in the end, and wait for a part of the page."""

    def open_page(address: str, wait: str, *, width: int = 1280, dark: bool = False, **options: Any) -> Visit:
        scheme = "dark" if dark else "light"
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme, **options)
        page.set_default_timeout(PATIENCE)
        found = Visit(page)
        page.on("console", lambda message: found.errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: found.errors.append(str(error)))
        page.on("request", lambda request: found.requests.append(request.url))
        page.goto(address)
        page.wait_for_selector(wait, state="attached")
        return found

    return open_page
