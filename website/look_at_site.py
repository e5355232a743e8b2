"""The site in a real browser: `make look`, or `python website/look_at_site.py [FOLDER-FOR-PICTURES]`.

Pages are opened from the disk, on a wide and a narrow screen, light and dark. Said in a line each: whatever goes wrong
in the browser, asks the network, moves under the reader's eyes, is wider than the screen, or has no text for who does
not see it; and whether search and the chart work.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

SITE = Path(__file__).resolve().parents[1] / "build" / "site"
PAGES = (
    "index.html", "tutorial.html", "what-independence-means.html", "guides/reports.html", "gallery/llm-judges.html",
    "guides/annotators.html", "guides/other-tools.html", "notebooks/llm-judges.html", "cli.html", "api.html",
    "alarms.html", "columns.html", "reference/jury.html", "calibration.html", "theory.html", "project/CHANGELOG.html",
)  # fmt: skip
WIDE, NARROW = 1280, 375
LEGIBLE = 10  # px: the least height of a line of letters in a chart
SMALLEST = """() => Math.min(
  ...[...document.querySelectorAll('#independence svg text')].map(text => text.getBoundingClientRect().height))"""
MOST_SHIFT = 0.1  # of the layout: what counts as good for https://web.dev/cls
WATCHED = """window.shifted = 0; new PerformanceObserver(list => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
}).observe({type: 'layout-shift', buffered: true});"""
FOUND = """() => ({
  "moves": window.shifted,
  "wide": document.documentElement.scrollWidth - document.documentElement.clientWidth,
  "nameless": [...document.images].filter(image => !image.alt).length,
  "tables": [...document.querySelectorAll('article table')].filter(
    table => table.scrollWidth > table.clientWidth + 1 && !table.closest('.printed')).length,
  "headings": document.querySelectorAll('h1').length,
})"""


def main(pictures: Path | None) -> int:
    """Look at every page in every way; how many things are wrong."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        wrong = [line for width in (WIDE, NARROW) for line in _looked_at(browser, width, pictures)]
        wrong += _tried(browser)
        browser.close()
    print(*wrong, sep="\n")
    print(f"{len(PAGES)} pages, 2 widths, light and dark: {len(wrong)} things wrong")
    return 1 if wrong else 0


def _looked_at(browser: Browser, width: int, pictures: Path | None) -> Iterator[str]:
    for scheme in ("light", "dark"):
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
        context.add_init_script(WATCHED)
        for name in PAGES:
            page = context.new_page()
            said = _heard(page)
            page.goto((SITE / name).as_uri(), wait_until="load")
            page.wait_for_timeout(600)  # for what moves late
            if pictures:
                page.screenshot(path=pictures / f"{name.replace('/', '_')}-{width}-{scheme}.png")
            yield from (
                f"{name}, {width} px, {scheme}: {what}" for what in [*said, *_faults(page.evaluate(FOUND), width)]
            )
            page.close()
        context.close()


def _heard(page: Page) -> list[str]:
    """What the browser will complain of, and what the page will ask the network for."""
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda sent: said.append(f"asks {sent.url}") if sent.url.startswith("http") else None)
    return said


def _faults(found: dict[str, Any], width: int) -> Iterator[str]:
    if found["moves"] > MOST_SHIFT:
        yield f"moves under the reader's eyes ({found['moves']:.2f})"
    if found["wide"] > 0:
        yield f"{found['wide']} px wider than the screen"
    if found["tables"] and width == WIDE:
        yield f"{found['tables']} tables wider than the page"
    if found["nameless"]:
        yield f"{found['nameless']} pictures without a text"
    if found["headings"] != 1:
        yield f"{found['headings']} first headings"


def _tried(browser: Browser) -> Iterator[str]:
    """Search and the chart of independence, used as a reader would."""
    page = browser.new_page(viewport={"width": WIDE, "height": 800})
    page.goto((SITE / "index.html").as_uri())
    page.keyboard.press("Control+k")
    page.wait_for_timeout(500)
    page.keyboard.type("gold items")
    if not _appears(page, "Gold items"):
        yield "search: 'gold items' does not find 'Gold items'"
    page.goto((SITE / "what-independence-means.html").as_uri())
    before = page.locator("#independence .said").inner_text()
    page.locator("#independence input").last.fill("60")
    if page.locator("#independence .said").inner_text() == before:
        yield "the chart of independence does not follow its slider"
    page.set_viewport_size({"width": NARROW, "height": 800})
    page.wait_for_timeout(300)
    if (small := page.evaluate(SMALLEST)) < LEGIBLE:
        yield f"the letters of the chart of independence are {small:.0f} px high on a phone"


def _appears(page: Page, text: str) -> bool:
    """Whether a text can be seen after a while, whatever marks stand in it."""
    seen = "text => document.body.innerText.replace(/\\s+/g, ' ').includes(text) || [...document.querySelectorAll('*')]"
    seen += ".some(e => e.shadowRoot && e.shadowRoot.textContent.replace(/\\s+/g, ' ').includes(text))"
    for _ in range(20):
        if page.evaluate(seen, text):
            return True
        page.wait_for_timeout(250)
    return False


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else None))
