"""The labelling page in a real browser, from a file: labelled by keyboard and mouse, saved, and read back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser.conftest import PATIENCE

import jurors
from jurors.audit import Sheet, plan, read_sheet
from jurors.audit.export import label_page
from jurors.votes.key import ItemTexts

pytestmark = pytest.mark.browser
EVIL = "</script><img src=x onerror=window.__pwned=1>"

_random = np.random.default_rng(4)
TRUTH = np.array(["no", "yes"])[(_random.random(150) < 0.4).astype(int)]
RIGHT = _random.random((150, 4)) < (0.9, 0.85, 0.8, 0.75)
SAID = np.where(RIGHT, TRUTH[:, None], np.where(TRUTH == "yes", "no", "yes")[:, None])
ITEMS = [f"item {k}, “{k}”" for k in range(150)]
VOTES = jurors.Votes.from_matrix(SAID, items=ITEMS, jurors=["ann", "bob", "cy", "dee"])
ANSWERS = dict(zip(ITEMS, TRUTH.tolist(), strict=True))
TEXTS = ItemTexts(("question", "answer"), {item: (f"What is {item}?", f"line one\nof {item}") for item in ITEMS})


@pytest.fixture
def desk(tmp_path: Path, visit: Any) -> Callable[..., Any]:
    """The page of a sheet, open in the browser."""

    def open_page(sheet: Sheet, title: str = "Is it so?", **options: Any) -> Any:
        path = tmp_path / "page.html"
        path.write_text(label_page(sheet, title=title), encoding="utf-8")
        found = visit(path.as_uri(), "main", **options)
        found.page.on("dialog", lambda dialog: dialog.accept())  # "leave without saving?"
        found.page.wait_for_selector("main")  # it comes into sight with what was done before
        return found

    return open_page


def _saved(page: Any, path: Path) -> Path:
    with page.expect_download() as download:
        page.click("#save")
    assert download.value.suggested_filename == "answers.csv"
    download.value.save_as(path)
    return path


def _count(page: Any) -> str:
    return str(page.inner_text("#count"))


def test_a_hundred_items_are_labelled_by_keyboard_saved_and_graded(desk: Any, tmp_path: Path) -> None:
    sheet = plan(VOTES, 100, texts=TEXTS, seed=0)
    found = desk(sheet)
    page = found.page
    for item in sheet.items:
        assert page.inner_text("#name") == item
        page.keyboard.press("2" if ANSWERS[item] == "yes" else "1")
    assert page.inner_text("#end-title") == "All 100 items are labelled."
    assert found.js("document.activeElement.id") == "end"
    answers = read_sheet(str(_saved(page, tmp_path / "answers.csv")))
    assert (answers.items, answers.chance, answers.checksum) == (sheet.items, sheet.chance, sheet.checksum)
    assert answers.labels == tuple(ANSWERS[item] for item in sheet.items)
    proved = jurors.audit.result(VOTES, str(tmp_path / "answers.csv"))
    assert (proved.labelled, proved.gaps) == (100, 0)
    low, high = proved.of("score", "ann").interval
    assert low <= RIGHT[:, 0].mean() <= high
    assert len(plan(VOTES, 10, after=str(tmp_path / "answers.csv"), seed=0)) == 10
    assert (found.errors, found.requests) == ([], [(tmp_path / "page.html").as_uri()])


def test_one_can_go_back_change_skip_and_clear_and_a_reload_loses_nothing(desk: Any) -> None:
    found = desk(plan(VOTES, 8, texts=TEXTS, seed=0))
    page, items = found.page, plan(VOTES, 8, seed=0).items

    def pressed() -> list[str]:
        return [button.inner_text() for button in page.query_selector_all("#choices [aria-pressed=true]")]

    for key in ("1", "2", "ArrowRight", "1"):  # the third is skipped
        page.keyboard.press(key)
    assert (_count(page), page.inner_text("#name")) == ("3 of 8 labelled", items[4])
    for key, place in (("Backspace", 3), ("ArrowLeft", 2), ("ArrowLeft", 1)):
        page.keyboard.press(key)
        assert page.inner_text("#name") == items[place]
    assert [text.split()[-1] for text in pressed()] == ["yes"]
    page.keyboard.press("1")  # changed; on to the next that has no label
    assert page.inner_text("#name") == items[2]
    page.reload()
    page.wait_for_selector("main")
    assert (_count(page), page.inner_text("#name")) == ("3 of 8 labelled", items[2])
    page.keyboard.press("ArrowLeft")
    assert [text.split()[-1] for text in pressed()] == ["no"]
    page.keyboard.press("Delete")
    assert (_count(page), page.inner_text("#name"), pressed()) == ("2 of 8 labelled", items[1], [])
    page.keyboard.down("2")
    page.keyboard.down("2")  # held down: one item, not many
    page.keyboard.up("2")
    assert _count(page) == "3 of 8 labelled"
    assert "Item 3 of 8" in page.inner_text("#say")
    assert found.errors == []


def test_a_digit_chooses_the_label_of_its_name(desk: Any) -> None:
    votes = jurors.Votes.from_matrix([[0, 1, 1], [0, 0, 1]] * 6)
    found = desk(plan(votes, 3, seed=0))
    page = found.page
    assert [button.inner_text().split() for button in page.query_selector_all("#choices button")] == [
        ["0", "0"],
        ["1", "1"],
    ]
    for key in ("1", "0", "2", "1"):  # no label has the key 2
        page.keyboard.press(key)
    assert [label.text_content() for label in page.query_selector_all("#list .said")] == ["1", "0", "1"]


def test_the_mouse_does_all_that_keys_do(desk: Any, tmp_path: Path) -> None:
    found = desk(plan(VOTES, 3, texts=TEXTS, seed=0))
    page = found.page
    assert page.is_disabled("#back")
    assert page.is_disabled("#save")
    page.click("#choices button:has-text('yes')")
    page.click("#next")
    page.click("#choices button:has-text('no')")
    assert page.inner_text("#end-title") == "The end: 1 item without a label."
    page.click("#first-open")
    page.click("#choices button:has-text('no')")
    page.click("#all summary")
    assert [line.inner_text().split()[-1] for line in page.query_selector_all("#list li")] == ["yes", "no", "no"]
    page.click("#list li:first-child button")
    page.click("#clear")
    assert _count(page) == "2 of 3 labelled"
    assert "not saved to a file yet" in page.inner_text("#kept")
    assert read_sheet(str(_saved(page, tmp_path / "a.csv"))).labels == (None, "no", "no")
    assert "All labels are saved to a file" in page.inner_text("#kept")
    page.click("#over")
    assert _count(page) == "0 of 3 labelled"
    assert found.errors == []


def test_a_saved_file_is_gone_on_from_and_bad_ones_are_a_line(desk: Any, tmp_path: Path) -> None:
    sheet = plan(VOTES, 4, texts=TEXTS, seed=0)
    found = desk(sheet)
    page = found.page

    def load(content: str, name: str = "file.csv") -> str:
        page.set_input_files("#load", {"name": name, "mimeType": "text/csv", "buffer": content.encode()})
        page.wait_for_selector("#files[aria-busy=false]")
        return str(page.inner_text("#trouble")) if page.is_visible("#trouble") else ""

    page.keyboard.press("1")
    filled = sheet.to_frame()
    filled["label"] = ["yes", None, "no", None]
    csv = filled.to_csv(index=False)
    for bad, said in (
        ("", 'the column "draw" is missing'),
        ("\x00\x01PK", 'the column "draw" is missing'),
        ("item,label\n1,yes\n", 'the column "draw" is missing'),
        (csv.replace(sheet.checksum, "v000000000000"), "line 2: it was drawn from other votes (v000000000000)"),
        (csv.replace(",yes,", ",maybe,"), 'line 2: "maybe" is none of the labels no, yes'),
        (csv.replace(str(sheet.items[0]).split(",")[0], EVIL), "line 2: draw 1 is item"),
        ('draw,item,label,drawn_from\n1,"x,yes', "line 2 has a quotation mark that is out of place"),
        ("draw,item,label,drawn_from\n", "none of its items is on this page"),
    ):
        assert said in load(bad), bad
        assert _count(page) == "1 of 4 labelled"
    assert load(csv, "saved.csv") == ""
    assert _count(page) == "2 of 4 labelled"
    assert page.inner_text("#kept") == "2 labels read from saved.csv; 1 replaced another label."
    assert page.inner_text("#name") == sheet.items[1]
    by_semicolons = "\ufeff" + filled.to_csv(index=False, sep=";", lineterminator="\r\n").replace(";no;", ";yes;")
    assert load(by_semicolons) == ""
    page.keyboard.press("1")
    assert read_sheet(str(_saved(page, tmp_path / "a.csv"))).labels == ("yes", "no", "yes", None)
    assert found.errors == []


def test_hostile_names_and_texts_are_text(desk: Any, tmp_path: Path) -> None:
    items = [f"{EVIL}{k}" for k in range(5)] + ["=HYPERLINK(1)"]
    votes = jurors.Votes.from_matrix(
        [["=1+1", EVIL, "قاضٍ"]] * 6, items=items, jurors=[EVIL, "'\"><script>window.__pwned=1</script>", "x" * 300]
    )
    texts = ItemTexts(("q", EVIL), dict.fromkeys(items, ("y" * 500, EVIL)))
    sheet = plan(votes, 6, texts=texts, seed=0).open()
    found = desk(sheet, title=EVIL, width=375)
    page = found.page
    assert page.inner_text("h1") == page.title() == EVIL
    assert [cell.inner_text() for cell in page.query_selector_all("#votes td")] == ["=1+1", EVIL, "قاضٍ"]
    page.click("#all summary")
    for _ in range(6):
        page.keyboard.press("1")
        assert found.overflow() <= 0
    answers = read_sheet(str(_saved(page, tmp_path / "a.csv")))
    assert (answers.items, answers.labels) == (sheet.items, (str(votes.labels[0]),) * 6)
    assert ",=" not in (tmp_path / "a.csv").read_text()  # nothing that a spreadsheet would compute
    page.click("#over")
    page.set_input_files("#load", tmp_path / "a.csv")
    page.wait_for_selector("#end")
    assert _count(page) == "6 of 6 labelled"
    assert found.js("typeof window.__pwned") == "undefined"
    assert page.query_selector("img") is None
    assert (found.errors, len(found.requests)) == ([], 1)


@pytest.mark.parametrize(("width", "dark"), [(375, True), (1280, False)], ids=["phone by night", "desk by day"])
def test_it_fits_a_phone_and_stands_out_in_both_schemes(desk: Any, width: int, dark: bool) -> None:
    labels = np.array([f"category number {k}" for k in range(16)])
    many = jurors.Votes.from_matrix(labels[_random.integers(0, 16, (40, 3))], items=ITEMS[:40])
    for sheet in (plan(VOTES, 5, texts=TEXTS, seed=0), plan(many, 5, seed=0).open()):
        found = desk(sheet, width=width, dark=dark)
        found.page.keyboard.press("1")
        found.page.keyboard.press("ArrowLeft")
        assert found.overflow() <= 0
        assert (found.faint_texts(), found.is_dark()) == ([], dark)
        assert found.page.query_selector("#desk").bounding_box()["height"] < 0.6 * 900
        assert found.page.is_visible("#item")


def test_more_than_ten_labels_have_letters_for_keys(desk: Any, tmp_path: Path) -> None:
    labels = [f"label {k:02}" for k in range(16)]
    votes = jurors.Votes.from_matrix([[labels[k % 16], labels[k // 3]] for k in range(48)])
    found = desk(plan(votes, 3, seed=0))
    for key in ("0", "f", "z"):  # z is none
        found.page.keyboard.press(key)
    assert read_sheet(str(_saved(found.page, tmp_path / "a.csv"))).labels == ("label 09", "label 15", None)


def test_tab_reaches_every_button_and_each_has_a_name(desk: Any) -> None:
    found = desk(plan(VOTES, 3, texts=TEXTS, seed=0))
    page = found.page
    seen = []
    for _ in range(8):
        page.keyboard.press("Tab")
        seen.append(found.js("document.activeElement.id || document.activeElement.innerText"))
    assert seen[:2] == ["1 no", "2 yes"]
    assert {"next", "load"} <= set(seen)
    page.focus("#choices button")
    page.keyboard.press("Enter")
    assert found.js("document.activeElement.innerText") == "1 no"  # one may go on with Enter alone
    named = "[...document.querySelectorAll('button, input')].every((one) => (one.labels?.[0] ?? one).textContent)"
    assert found.js(named)
    assert page.get_attribute("#say", "aria-live") == "polite"


@pytest.fixture
def open_tab(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Opens the page of three items in a tab of one person's browser, which runs a script before the page's own."""
    (tmp_path / "page.html").write_text(label_page(plan(VOTES, 3, seed=0)), encoding="utf-8")
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)

    def opening(script: str = "", *, wait: bool = True) -> Any:
        if script:
            context.add_init_script(script)
        page = context.new_page()
        page.on("dialog", lambda dialog: dialog.accept())
        page.goto((tmp_path / "page.html").as_uri())
        if wait:
            page.wait_for_selector("main")
        return page

    yield opening
    context.close()


@pytest.mark.parametrize(
    ("store", "is_like"),
    [("localStorage", "get() { throw new Error('no'); }"), ("sessionStorage", "get() { throw new Error('no'); }"),
     ("localStorage", "value: { getItem: () => null, setItem() {} }")],
    ids=["no local", "no session", "forgets"],  # the last as Chromium's does in a page that asked for it too early
)  # fmt: skip
def test_without_a_place_to_keep_things_a_reload_loses_nothing_and_the_page_says_so(
    open_tab: Any, store: str, is_like: str
) -> None:
    page = open_tab(f"Object.defineProperty(window, '{store}', {{ {is_like} }})")
    for key in "12":
        page.keyboard.press(key)
    page.reload()
    page.wait_for_selector("main")
    assert (_count(page), page.inner_text("#place")) == ("2 of 3 labelled", "3 of 3")  # by the other road
    assert "save them before you close it" in page.inner_text("#kept")


def test_labels_outlive_the_tab(open_tab: Any) -> None:
    page = open_tab()
    page.keyboard.press("1")
    assert "without losing labels" in page.inner_text("#kept")
    page.close()
    page = open_tab()
    assert (_count(page), page.inner_text("#place")) == ("1 of 3 labelled", "2 of 3")


def test_nothing_is_asked_of_the_store_before_the_browser_has_answered(open_tab: Any) -> None:
    script = """
        const [store, wait] = [Storage.prototype.getItem, window.setTimeout];
        window.asked = 0;
        window.setTimeout = (does, after) => wait(does, after * 1000); // the page's own limit is far away
        Storage.prototype.getItem = function (key) { window.asked += 1; return store.call(this, key); };
        navigator.locks.query = () => new Promise((answer) => { window.answer = answer; });
    """
    page = open_tab(script, wait=False)
    page.keyboard.press("1")  # nothing is in sight yet: no label
    assert (page.evaluate("asked"), page.is_visible("main")) == (0, False)
    page.evaluate("answer()")
    page.wait_for_selector("main")
    assert (page.evaluate("asked"), _count(page)) == (2, "0 of 3 labelled")


def test_a_browser_that_never_answers_does_not_keep_the_page_shut(open_tab: Any) -> None:
    page = open_tab("""
        const wait = window.setTimeout;
        window.setTimeout = (does, after) => wait(does, after / 10); // the page's own limit is for busy machines
        navigator.locks.query = () => new Promise(() => {});
    """)
    page.keyboard.press("1")
    assert _count(page) == "1 of 3 labelled"
