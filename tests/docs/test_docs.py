"""Every example in the documents runs and prints what it says."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SITE = (ROOT / "website" / "make_site.py").read_text(encoding="utf-8")
PAGES = sorted([*ROOT.glob("docs/**/*.md"), *ROOT.glob("README.md")])


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_example_of_the_page_runs(page: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)  # a page may write files
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, _ = doctest.testfile(str(page), module_relative=False, optionflags=options, encoding="utf-8")
    assert failed == 0


def test_the_theory_has_examples() -> None:
    text = (ROOT / "docs" / "theory.md").read_text(encoding="utf-8")
    assert text.count(">>>") > 20


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_the_page_leads_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if "://" in link:
            continue
        if link.startswith("gallery/"):  # pages that the site makes
            assert f'"{link.removeprefix("gallery/")}"' in SITE
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in _anchors(target), link


def _anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
