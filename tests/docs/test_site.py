"""The site: its navigation names pages that are there, notebooks become pages, and a broken link is found."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import check_links
import make_site
import pytest
from report_pages import contrast

ROOT = Path(__file__).resolve().parents[2]


def test_the_navigation_names_every_page_of_the_docs() -> None:
    settings = tomllib.loads((ROOT / "website" / "zensical.toml").read_text(encoding="utf-8"))
    named = {page for part in settings["project"]["nav"] for pages in part.values() for page in pages}
    folders = {page.removesuffix("*.md") for page in named if page.endswith("*.md")}
    pages = {page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")}
    made = {f"notebooks/{path.stem}.md" for path in (ROOT / "docs" / "notebooks").glob("*.ipynb")}
    assert {page for page in named if not page.endswith("*.md")} <= pages | made
    assert {page for page in pages | made if page not in named and not page.startswith(tuple(folders))} == set()


def test_no_page_links_to_what_the_site_does_not_have() -> None:
    docs = ROOT / "docs"
    for page in docs.rglob("*.md"):
        for link in re.findall(r"\]\(([^)#:]+)", page.read_text(encoding="utf-8")):
            target = (page.parent / link).resolve()
            assert target.is_relative_to(docs) or target.name in make_site.PROJECT, f"{page.name}: {link}"


def test_the_gallery_has_a_heading_and_votes_for_every_report() -> None:
    page = (ROOT / "docs" / "guides" / "reports.md").read_text(encoding="utf-8")
    for title, (name, votes, options) in make_site.GALLERY.items():
        assert f"### {title}\n" in page
        assert f"`{' '.join(['jurors report', votes, *options])} -o {name}.html`" in page
        assert votes == "photos.csv" or (ROOT / "src" / "jurors" / "data" / votes).exists()


@pytest.mark.parametrize(
    ("link", "why"),
    [
        ("other.html", None),
        ("other.html#there", None),
        ("folder/", None),
        ("https://elsewhere.example/", None),
        ("other.html#gone", "no such anchor"),
        ("#gone", "no such anchor"),
        ("gone.html", "no such file"),
        ("picture.png", "no such file"),
    ],
)
def test_a_link_that_leads_nowhere_is_named(link: str, why: str | None, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(f'<a href="{link}">x</a>')
    (tmp_path / "other.html").write_text('<h2 id="there">x</h2>')
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "index.html").write_text("")
    assert list(check_links.broken_links(tmp_path)) == ([] if why is None else [f"page.html: {link}: {why}"])


@pytest.mark.parametrize(("scheme", "page"), [(":root", "#ffffff"), ('[data-md-color-scheme="slate"]', "#0c0d10")])
def test_the_words_of_the_interactive_chart_can_be_read_on_either_page(scheme: str, page: str) -> None:
    style = (ROOT / "website" / "assets" / "site.css").read_text(encoding="utf-8")
    colours = re.search(re.escape(scheme) + r" \{ --claimed: (#\w{6}); --true: (#\w{6}); \}", style)
    assert colours is not None
    for colour in colours.groups():
        assert contrast(colour, page) >= 4.5, colour  # as WCAG asks of text
