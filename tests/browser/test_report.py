"""The page in a real browser, from a file: it draws, asks for nothing, runs nothing foreign, and fits a phone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import panels
import pytest

import jurors
from jurors.reporting.page import write_report

pytestmark = pytest.mark.browser
EVIL = (
    "<img src=x onerror=window.__pwned=1>", "'\"><script>window.__pwned=1</script>", "قاضٍ أوّل", "😀 judge", "x" * 200,
    "</script><svg onload=window.__pwned=1>",
)  # fmt: skip
DIRECTIONS = ("north", "east", "south", "west")


def _census(folder: Path) -> Path:
    return write_report(jurors.load_example("census")[0], folder / "census.html", title="Census")


def _llm_with_key(folder: Path) -> Path:
    votes, key = jurors.load_example("llm_graders")
    return write_report(votes, folder / "llm.html", key=key, title="LLM graders")


def _four_labels(folder: Path) -> Path:
    panel = panels.simulate(1_000, 5, seed=1, prevalence=(0.4, 0.3, 0.2, 0.1))
    votes = jurors.Votes.from_matrix(panel.votes, labels=DIRECTIONS)
    return write_report(votes, folder / "four.html", key=np.array(DIRECTIONS)[panel.truth].tolist())


def _panel(folder: Path) -> Path:
    return write_report(panels.simulate(2_000, 11, seed=1).votes, folder / "panel.html")


def _crowd(folder: Path) -> Path:
    return write_report(panels.simulate(1_000, 150, seed=1, density=0.2).votes, folder / "crowd.html")


def _sixteen_labels(folder: Path) -> Path:
    votes = panels.simulate(600, 9, seed=1, prevalence=(1 / 16,) * 16, low=0.3, high=0.7).votes
    return write_report(votes, folder / "sixteen.html")


def _hostile(folder: Path) -> Path:
    votes = jurors.Votes.from_matrix(
        panels.simulate(400, 6, seed=3).votes,
        jurors=EVIL,
        labels=("<img src=x onerror=window.__pwned=1>", "عادل & 'no'"),
    )
    return write_report(votes, folder / "hostile.html", title="<script>window.__pwned=1</script>")


MAKERS: dict[str, Callable[[Path], Path]] = {
    "census": _census, "llm with key": _llm_with_key, "four labels": _four_labels, "panel": _panel, "crowd": _crowd,
    "sixteen labels": _sixteen_labels, "hostile": _hostile,
}  # fmt: skip


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory, browser: Any) -> Callable[[str], Path]:
    """A report by name, made when first asked for; nothing is made where there is no browser."""
    folder = tmp_path_factory.mktemp("reports")
    made: dict[str, Path] = {}

    def get(name: str) -> Path:
        if name not in made:
            made[name] = MAKERS[name](folder)
        return made[name]

    return get


_SIZES = """[...document.querySelectorAll('[data-chart]')].map(box => {
    const svg = box.querySelector('svg, canvas');
    return svg === null ? 0 : +svg.getAttribute('width') * +svg.getAttribute('height');
})"""
_OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.mark.parametrize("name", MAKERS)
def test_the_page_draws_everything_and_asks_for_nothing(name: str, reports: Any, visit: Any) -> None:
    found = visit(reports(name), width=375 if name in ("census", "hostile") else 1280)
    assert found.js("document.documentElement.dataset.charts") == "drawn"
    sizes = found.js(_SIZES)
    assert len(sizes) >= 5
    assert min(sizes) > 1_000
    assert found.errors == []
    assert found.requests == [reports(name).as_uri()]
    assert found.js("typeof window.__pwned") == "undefined"
    assert found.js(_OVERFLOW) <= 0


def test_on_a_phone_captions_are_whole_and_wide_boxes_say_that_they_scroll(reports: Any, visit: Any) -> None:
    found = visit(reports("llm with key"), width=375)
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


@pytest.mark.parametrize("name", [name for name in MAKERS if name not in ("census", "hostile")])
def test_a_phone_needs_no_sideways_scrolling(name: str, reports: Any, visit: Any) -> None:
    found = visit(reports(name), width=375)
    for tab in found.page.query_selector_all("[role=tab]"):
        tab.click()
        assert found.js(_OVERFLOW) <= 0


def test_tabs_follow_the_pointer_and_the_keyboard(reports: Any, visit: Any) -> None:
    found = visit(reports("panel"))
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


def test_the_first_stop_of_the_keyboard_skips_to_the_verdict(reports: Any, visit: Any) -> None:
    found = visit(reports("census"))
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


def test_a_hint_appears_on_a_point_and_goes_away(reports: Any, visit: Any) -> None:
    found = visit(reports("census"))
    said = _hover_points(found, "accuracy")
    shown = jurors.grade(jurors.load_example("census")[0]).calibrated
    assert shown is not None
    assert any(f"{shown.accuracy['i']['A']:.1%}" in text for text in said)  # as the table has it
    found.page.mouse.move(2, 2)
    found.page.wait_for_selector("#tip", state="hidden")


def test_hostile_names_are_text_in_hints_too(reports: Any, visit: Any) -> None:
    found = visit(reports("hostile"))
    said = " ".join(_hover_points(found, "accuracy"))
    assert EVIL[0] in said
    assert found.page.query_selector("#tip img, #tip script, #tip svg") is None
    assert found.js("typeof window.__pwned") == "undefined"
    assert found.errors == []


def test_long_names_are_cut_but_whole_in_the_hint(reports: Any, visit: Any) -> None:
    found = visit(reports("hostile"))
    cell = found.page.query_selector(f'#ranking .name[title="{"x" * 200}"]')
    assert cell.bounding_box()["width"] < 300
    assert cell.inner_text() == "x" * 200


def test_right_to_left_names_keep_their_direction(reports: Any, visit: Any) -> None:
    found = visit(reports("hostile"))
    assert found.js("getComputedStyle(document.querySelector('bdi')).unicodeBidi").startswith("isolate")


def test_paper_shows_every_chart_and_table(reports: Any, visit: Any) -> None:
    found = visit(reports("panel"), dark=True)
    found.page.emulate_media(media="print")
    assert all(panel.is_visible() for panel in found.page.query_selector_all(".panel"))
    assert not found.page.is_visible(".tablist")
    assert found.js("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    hidden = "[...document.querySelectorAll('table')].filter(t => !t.checkVisibility()).map(t => t.id)"
    assert found.js(hidden) == []
    assert len(found.page.pdf()) > 20_000


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", ["llm with key", "panel", "census"])
def test_text_stands_out_in_both_schemes(name: str, dark: bool, reports: Any, visit: Any, contrast: str) -> None:
    found = visit(reports(name), dark=dark)
    assert found.js(contrast) == []
    back = found.js("getComputedStyle(document.body).backgroundColor")
    assert (sum(int(x) for x in back[4:-1].split(",")) < 200) == dark


def test_without_scripts_the_numbers_are_there_and_the_page_says_what_is_missing(reports: Any, visit: Any) -> None:
    found = visit(reports("census"), java_script_enabled=False)
    assert "charts need JavaScript" in found.page.inner_text("#evidence")
    assert found.page.is_visible("#table-scores")
    assert found.page.is_visible("#ranking")


def test_a_link_to_a_folded_table_unfolds_it(reports: Any, visit: Any) -> None:
    found = visit(reports("crowd"), wait=False)
    assert not found.page.is_visible("#table-scores")
    found.page.click('a[href="#table-scores"]')
    found.page.wait_for_selector("#table-scores", state="visible")
