"""The dashboard in a real browser, against a running server: projects, grades, alarms, the desk, the key."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browser.conftest import PATIENCE

from jurors import Client

pytestmark = pytest.mark.browser
EVIL = "</script><img src=x onerror=window.__pwned=1>"
JURORS = ("ann", "bob", EVIL, "dee", "eve")
_OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def votes(items: range, *, bad: str | None = None) -> list[tuple[str, str, str]]:
    """Five jurors who are right four times in five, but for one who has gone bad."""
    dice = random.Random(items.start)
    rows = []
    for item in items:
        truth = dice.choice(("yes", "no"))
        for juror in JURORS:
            right = dice.random() < (0.5 if juror == bad else 0.85)
            rows.append((f"q{item}", juror, truth if right else "no" if truth == "yes" else "yes"))
    return rows


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server whose stream has a juror that goes bad."""
    folder: Path = tmp_path_factory.mktemp("server")
    command = [sys.executable, "-m", "jurors", "serve", "--store", str(folder / "votes.db"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            address = re.search(r"http://\S+", next(line for line in process.stdout or () if "http://" in line))
            assert address is not None
            with Client(address[0]) as client:
                client.put_project("shop", window=300)
                client.put_project("empty")
                client.post_votes("shop", votes(range(600)))
                client.post_votes("shop", votes(range(600, 1500), bad="dee"))
            yield address[0]
        finally:
            process.terminate()


@pytest.fixture
def open_page(browser: Any, server: str) -> Iterator[Callable[..., Any]]:
    opened: list[Any] = []

    def opening(place: str = "", *, width: int = 1280, dark: bool = False) -> Any:
        page = browser.new_page(
            viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light", reduced_motion="reduce"
        )
        page.set_default_timeout(PATIENCE)
        opened.append(page)
        page.faults = []
        page.asked = []
        page.on("console", lambda message: page.faults.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: page.faults.append(str(error)))
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(f"{server}/{place}")
        page.wait_for_selector("html[data-shown]", state="attached")
        return page

    yield opening
    for page in opened:
        page.close()


def test_the_projects_are_listed_and_lead_to_their_grades(open_page: Any, server: str) -> None:
    page = open_page()
    assert page.locator("#project-rows tr").count() == 2
    page.click("text=shop")
    page.wait_for_selector("[data-chart=history][data-drawn] svg")
    assert page.locator("#grade-rows tr").count() == len(JURORS)
    assert page.locator("#history-rows tr").count() == 5
    assert page.faults == []
    assert all(url.startswith((server, "data:")) for url in page.asked)
    assert page.evaluate("window.__pwned") is None


def test_the_juror_who_went_bad_rings_is_marked_and_said_when(open_page: Any) -> None:
    page = open_page("#/shop")
    assert "dee" in page.inner_text("#alarms")
    assert "since item" in page.inner_text("#alarms")
    marked = page.locator("#grade-rows tr", has=page.locator(".tag"))
    assert marked.count() == 1
    assert "dee" in marked.first.inner_text()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_it_reads_on_a_phone_in_both_lights(open_page: Any, contrast: str, dark: bool) -> None:
    page = open_page("#/shop", width=375, dark=dark)
    page.wait_for_selector("[data-chart=prevalence][data-drawn]")
    assert page.evaluate(_OVERFLOW) == 0
    assert page.evaluate(contrast) == []


def test_a_person_labels_by_keyboard_and_the_server_keeps_it(open_page: Any, server: str) -> None:
    page = open_page("#/shop")
    page.wait_for_selector("#item:not([hidden])")
    with Client(server) as client:
        before = client.review("shop")
        first = page.inner_text("#item-name")
        page.focus("#item")
        with page.expect_response(lambda answer: answer.url.endswith("/gold")) as answered:
            page.keyboard.press("1")
        assert answered.value.status == 200
        page.wait_for_function("old => document.getElementById('item-name').innerText !== old", arg=first)
        assert client.review("shop")["gold"] == before["gold"] + 1
    assert page.evaluate("document.activeElement.id") == "item"


def test_a_project_without_votes_says_so(open_page: Any) -> None:
    page = open_page("#/empty")
    assert "No grades yet" in page.inner_text("#grades-note")
    assert page.faults == [] or all("40" in fault or "42" in fault for fault in page.faults)
