"""The page in a real browser, from a file: it draws, asks for nothing, runs nothing foreign, and fits a phone."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import panels
import pytest

import jurors

pytestmark = pytest.mark.browser
EVIL = (
    "<img src=x onerror=window.__pwned=1>", "'\"><script>window.__pwned=1</script>", "قاضٍ أوّل", "😀 judge", "x" * 200,
    "</script><svg onload=window.__pwned=1>",
)  # fmt: skip
DIRECTIONS = ("north", "east", "south", "west")


SIXTEEN = {"prevalence": (1 / 16,) * 16, "low": 0.3, "high": 0.7}


def _votes(name: str) -> tuple[Any, dict[str, Any]]:
    """What a report is about, and its options."""
    if name == "llm with key":
        votes, key = jurors.load_example("llm_graders")
        return votes, {"key": key, "title": "LLM graders"}
    if name == "four labels":
        panel = panels.simulate(1_000, 5, seed=1, prevalence=(0.4, 0.3, 0.2, 0.1))
        votes = jurors.Votes.from_matrix(panel.votes, labels=DIRECTIONS)
        return votes, {"key": np.array(DIRECTIONS)[panel.truth].tolist()}
    if name == "hostile":
        labels = ("<img src=x onerror=window.__pwned=1>", "عادل & 'no'")
        votes = jurors.Votes.from_matrix(panels.simulate(400, 6, seed=3).votes, jurors=EVIL, labels=labels)
        return votes, {"title": "<script>window.__pwned=1</script>"}
    if name == "census":
        return jurors.load_example("census")[0], {"title": "Census"}
    sizes: dict[str, tuple[int, int, Any]] = {
        "panel": (2_000, 11, {}), "crowd": (1_000, 150, {"density": 0.2}), "sixteen labels": (600, 9, SIXTEEN),
    }  # fmt: skip
    items, jury, more = sizes[name]
    return panels.simulate(items, jury, seed=1, **more).votes, {}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, visit: Any) -> Callable[..., Any]:
    """A report by name in a window of some width, each written and opened once."""
    folder = tmp_path_factory.mktemp("reports")

    @cache
    def open_report(name: str, **options: Any) -> Any:
        path = folder / f"{name}.html"
        if not path.exists():
            votes, about = _votes(name)
            jurors.report(votes, path, **about)
        wait = "html[data-charts]" if options.get("java_script_enabled", True) else "main"
        return visit(path.as_uri(), wait, **options)

    return open_report


_SIZES = """[...document.querySelectorAll('[data-chart]')].map(box => {
    const svg = box.querySelector('svg, canvas');
    return svg === null ? 0 : +svg.getAttribute('width') * +svg.getAttribute('height');
})"""


def _check_drawn(found: Any) -> None:
    """All charts are there, and nothing was asked for or run that is not in the page."""
    assert found.js("document.documentElement.dataset.charts") == "drawn"
    sizes = found.js(_SIZES)
    assert len(sizes) >= 5
    assert min(sizes) > 1_000
    assert (found.errors, len(found.requests)) == ([], 1)
    assert found.js("typeof window.__pwned") == "undefined"


@pytest.mark.parametrize(
    "name", ["census", "llm with key", "four labels", "panel", "crowd", "sixteen labels", "hostile"]
)
def test_on_a_phone_everything_is_drawn_and_nothing_scrolls_sideways(name: str, report: Any) -> None:
    found = report(name, width=375)
    _check_drawn(found)
    for tab in reversed(found.page.query_selector_all("[role=tab]")):
        tab.click()
        assert found.overflow() <= 0


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", ["llm with key", "panel", "census"])
def test_on_a_desk_everything_is_drawn_and_text_stands_out_in_both_schemes(name: str, dark: bool, report: Any) -> None:
    found = report(name, dark=dark)
    _check_drawn(found)
    assert found.overflow() <= 0
    assert found.faint_texts() == []
    assert found.is_dark() == dark


def test_on_a_phone_captions_are_whole_and_wide_boxes_say_that_they_scroll(report: Any) -> None:
    found = report("llm with key", width=375)
    ends = found.js(
        "[...document.querySelectorAll('caption > span')].map((one) => one.getBoundingClientRect().right)"
        ".filter((right) => right > document.documentElement.clientWidth)"
    )
    assert ends == []
    boxes = found.js(
        "[...document.querySelectorAll('.scroll, .chart')].filter((box) => box.offsetParent)"
        ".map((box) => [box.scrollWidth > box.clientWidth + 4, box.previousElementSibling.classList.contains('on')])"
    )
    assert any(wide for wide, _ in boxes)
    assert all(wide == said for wide, said in boxes)


def test_tabs_follow_the_pointer_and_the_keyboard(report: Any) -> None:
    found = report("panel")
    page = found.page
    tabs = page.query_selector_all("[role=tab]")
    assert len(tabs) >= 4

    def selected() -> list[int]:
        return [k for k, tab in enumerate(tabs) if tab.get_attribute("aria-selected") == "true"]

    def shown() -> list[int]:
        panels_ = page.query_selector_all("[role=tabpanel]")
        return [k for k, panel in enumerate(panels_) if panel.is_visible()]

    assert selected() == shown() == [0]
    tabs[2].click()
    assert selected() == shown() == [2]
    for key, place in (("ArrowRight", 3), ("ArrowLeft", 2), ("End", len(tabs) - 1), ("ArrowRight", 0), ("Home", 0)):
        page.keyboard.press(key)
        assert selected() == shown() == [place], key
        assert found.js("document.activeElement.getAttribute('role')") == "tab"
    assert [tab.get_attribute("tabindex") for tab in tabs].count("0") == 1
    page.keyboard.press("Tab")
    assert found.js("document.activeElement.closest('[role=tabpanel]') !== null")


def test_the_first_stop_of_the_keyboard_skips_to_the_verdict(report: Any) -> None:
    found = report("census")
    found.page.keyboard.press("Tab")
    assert found.js("document.activeElement.className") == "skip"
    assert found.page.query_selector(".skip").bounding_box()["x"] >= 0  # seen once it has the focus
    assert found.js("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    found.page.keyboard.press("Enter")
    found.page.wait_for_function("document.activeElement.id === 'main'")  # with the next frame


def _hover_points(found: Any, chart: str) -> list[str]:
    """What the hint says over each point of a chart."""
    found.page.query_selector(f"#chart-{chart}").scroll_into_view_if_needed()
    said = []
    for mark in found.page.query_selector_all(f"#chart-{chart} .mark-symbol path")[:40]:
        box = mark.bounding_box()
        if box is None:
            continue
        found.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        if found.page.query_selector("#tip.on") is not None:
            said.append(found.page.inner_text("#tip"))
    return said


def test_a_hint_appears_on_a_point_and_goes_away(report: Any) -> None:
    found = report("census")
    said = _hover_points(found, "accuracy")
    shown = jurors.grade(jurors.load_example("census")[0])
    assert any(f"{shown.accuracy['i']['A']:.1%}" in text for text in said)  # as the table has it
    found.page.mouse.move(2, 2)
    found.page.wait_for_selector("#tip", state="hidden")


def test_hostile_names_are_text_in_hints_too_cut_but_whole_and_in_their_own_direction(report: Any) -> None:
    found = report("hostile")
    said = " ".join(_hover_points(found, "accuracy"))
    assert EVIL[0] in said
    assert found.page.query_selector("#tip img, #tip script, #tip svg") is None
    _check_drawn(found)
    cell = found.page.query_selector(f'#ranking .name[title="{"x" * 200}"]')
    assert cell.bounding_box()["width"] < 300
    assert cell.inner_text() == "x" * 200
    assert found.js("getComputedStyle(document.querySelector('bdi')).unicodeBidi").startswith("isolate")


def test_paper_shows_every_chart_and_table(report: Any) -> None:
    found = report("panel", dark=True)
    found.page.emulate_media(media="print")
    assert all(panel.is_visible() for panel in found.page.query_selector_all(".panel"))
    assert not found.page.is_visible(".tablist")
    assert found.js("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    hidden = "[...document.querySelectorAll('table')].filter(t => !t.checkVisibility()).map(t => t.id)"
    assert found.js(hidden) == []
    assert len(found.page.pdf()) > 20_000
    found.page.emulate_media(media="screen")  # for the other tests of this page


def test_without_scripts_the_numbers_are_there_and_the_page_says_what_is_missing(report: Any) -> None:
    found = report("census", java_script_enabled=False)
    assert "charts need JavaScript" in found.page.inner_text("#evidence")
    assert found.page.is_visible("#table-scores")
    assert found.page.is_visible("#ranking")


def test_a_link_to_a_folded_table_unfolds_it(report: Any) -> None:
    found = report("crowd", width=375)
    assert not found.page.is_visible("#table-scores")
    found.page.click('a[href="#table-scores"]')
    found.page.wait_for_selector("#table-scores", state="visible")
