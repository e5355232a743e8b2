"""The dashboard in a real browser, against a running server: projects, grades, alarms, the desk, the key."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from jurors import Client

pytestmark = pytest.mark.browser
EVIL = "</script><img src=x onerror=window.__pwned=1>"
JURORS = ("ann", "bob", EVIL, "dee", "eve")


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
    store = str(tmp_path_factory.mktemp("server") / "votes.db")
    command = [sys.executable, "-m", "jurors", "serve", "--store", store, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        try:
            with Client(address) as client:
                client.put_project("shop", window=300)
                client.put_project("empty")
                client.post_votes("shop", votes(range(600)))
                client.post_votes("shop", votes(range(600, 1500), bad="dee"))
            yield address
        finally:
            process.terminate()


@pytest.fixture
def open_page(visit: Any, server: str) -> Callable[..., Any]:
    def opening(place: str = "", **options: Any) -> Any:
        return visit(f"{server}/{place}", "html[data-shown]", reduced_motion="reduce", **options)

    return opening


def test_the_projects_are_listed_and_lead_to_their_grades_and_alarms(open_page: Any, server: str) -> None:
    found = open_page()
    page = found.page
    assert page.locator("#project-rows tr").count() == 2
    page.click("text=shop")
    page.wait_for_selector("[data-chart=history][data-drawn] svg")
    assert page.locator("#grade-rows tr").count() == len(JURORS)
    assert page.locator("#history-rows tr").count() == 5
    for text in ("dee", "since item"):
        assert text in page.inner_text("#alarms")
    assert "dee" in page.locator("#grade-rows tr", has=page.locator(".tag")).inner_text()  # the only one marked
    assert found.errors == []
    assert all(url.startswith((server, "data:")) for url in found.requests)
    assert found.js("window.__pwned") is None


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_it_reads_on_a_phone_in_both_lights(open_page: Any, dark: bool) -> None:
    found = open_page("#/shop", width=375, dark=dark)
    found.page.wait_for_selector("[data-chart=prevalence][data-drawn]")
    found.js("document.querySelector('#grade-rows .tag').textContent = 'juror constant × 12'")
    assert (found.overflow(), found.faint_texts()) == (0, [])
    cut_off = "e => e.checkVisibility() && e.scrollWidth > e.clientWidth"
    assert found.js(f"[...document.querySelectorAll('.scroll, .chart')].filter({cut_off}).length") == 0


def test_accuracy_and_interval_are_those_of_the_grade_route(open_page: Any, server: str) -> None:
    page = open_page("#/shop").page
    page.wait_for_selector("#grade-rows tr")
    with Client(server) as client:
        grade = client.grade("shop")
    shown = {row[0].split()[0]: row[1:] for row in page.evaluate(
        "[...document.querySelectorAll('#grade-rows tr')].map(row => [...row.cells].map(cell => cell.innerText))"
    )}  # fmt: skip
    low, high = grade["interval"]["score"]["ann"]
    assert shown["ann"] == [f"{grade['score']['ann']:.0%}", f"{100 * low:.0f} – {high:.0%}", "1,500"]


def test_the_key_of_a_digit_is_the_digit(open_page: Any, server: str) -> None:
    with Client(server) as client:
        client.put_project("digits")
        named = {"yes": "1", "no": "0"}
        client.post_votes("digits", [(item, juror, named[label]) for item, juror, label in votes(range(60))])
    page = open_page("#/digits").page
    page.wait_for_selector("#item:not([hidden])")
    assert sorted(page.locator("#choices button").all_inner_texts()) == ["0 0", "1 1"]


def test_a_person_labels_by_keyboard_and_the_server_keeps_it(open_page: Any, server: str) -> None:
    page = open_page("#/shop").page
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
    found = open_page("#/empty")
    assert "No grades yet" in found.page.inner_text("#grades-note")
    assert all("40" in error or "42" in error for error in found.errors)


def test_an_alarm_is_acknowledged_snoozed_and_accepted_and_its_juror_retired(open_page: Any, server: str) -> None:
    with Client(server) as client:
        client.put_project("handled", window=300)
        client.post_votes("handled", votes(range(600)))
        client.post_votes("handled", votes(range(600, 1500), bad="dee"))
        assert client.alarms("handled")["pending"] >= 1
        page = open_page("#/handled").page
        assert "at most 5%. This assumes independent items" in page.inner_text("#rate")
        page.locator("#alarms button", has_text="Grades since").first.click()
        page.wait_for_selector("#alarms p:has-text('Since the change: ')")
        for action, event in (("Acknowledge", "acknowledged"), ("Snooze", "snoozed"), ("Accept", "accepted")):
            if event != "acknowledged":
                page.locator("#alarms summary").first.click()
                page.locator("#alarms input").first.fill(f"why {event}")
            with page.expect_response(lambda answer: "/alarms/" in answer.url) as answered:
                page.locator("#alarms button", has_text=action).first.click()
            assert answered.value.status == 200
            page.wait_for_selector(f"li:has-text('{event}')", state="attached")
        assert page.locator("#alarms button", has_text="Acknowledge").count() == 0
        done = [(entry["event"], entry["note"]) for entry in client.alarms("handled")["alarms"][0]["history"]]
        assert done == [("acknowledged", None), ("snoozed", "why snoozed"), ("accepted", "why accepted")]
        assert "past alarm" in page.inner_text("#past-title")
        client.post_votes("handled", votes(range(1500, 2100)))
        client.post_votes("handled", votes(range(2100, 3000), bad="eve"))
        page.wait_for_selector("#alarms li:has-text('eve')")
        page.wait_for_timeout(4000)  # until all is counted: nothing else makes the page look again
        form = page.locator("#alarms summary").first
        form.click()
        shown = page.get_attribute("html", "data-shown")
        client.handle_alarm("handled", client.alarms("handled")["alarms"][0]["id"], "acknowledge", note="meanwhile")
        page.wait_for_function("shown => document.documentElement.dataset.shown !== shown", arg=shown)
        form.click()  # the form is closed: what came meanwhile is shown
        page.wait_for_selector("#alarm-section li:has-text('meanwhile')", state="attached")
        page.locator("#alarms summary").first.click()
        with page.expect_response(lambda answer: answer.url.endswith("/retired")):
            page.locator("#alarms button", has_text="Retire eve").first.click()
        page.wait_for_selector("#grade-rows .tag:has-text('retired')")
        assert client.alarms("handled")["retired"] == ["eve"]
        page.locator("summary", has_text="Announce a juror").click()
        page.fill("#newcomer", "eve")
        page.locator("#announce button").click()
        page.wait_for_selector("#announced:has-text('eve is announced.')")
        page.wait_for_selector("#grade-rows .tag:has-text('retired')", state="detached")
        assert client.alarms("handled")["retired"] == []
