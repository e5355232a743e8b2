"""Build the site from docs/, without a network: `make site`, then open build/site/index.html.

Pages are copied to build/pages and joined there by those that are made: one per group of public names (from their
docstrings), the notebooks with what they printed, and a gallery of report pages. Then every link is followed.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from check_links import broken_links

import jurors

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "build" / "pages"
SITE = ROOT / "build" / "site"
PROJECT = ("CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md")  # pages of the project's root
TEXT = {  # of a chart; a chart of several panels has a title each, and its own is the last
    kind: re.compile(rf".*aria-label=\"{kind} text '([^\"]*)'\"", re.DOTALL) for kind in ("Title", "Subtitle")
}
FETCHED = re.compile(r'(<script src=")https://[^"]*/iframe-worker/[^"]*"')
FOLDER = re.compile(r'"(\w+)/\*\.md"')  # in the navigation: every page of the folder that is not named beside it
ANNOTATORS = (  # nine made-up people, two of whom guess, on photos of which some are harder
    "simulate --items 3000 --jurors ann,bob,cy,dee,eve,fay,gil,hal,ida --labels cat,dog --prevalence 0.6 "
    "--accuracy 0.9 --accuracy 0.85 --accuracy 0.8 --accuracy 0.8 --accuracy 0.75 --accuracy 0.9/0.7 "
    "--accuracy 0.7/0.9 --accuracy 0.55 --accuracy 0.5 --difficulty 0.04 --missing 0.4"
)
GALLERY = {  # a heading of guides/reports.md: the report's name, its votes, and how they are read
    "Three LLMs grade chains of thought": ("llm-judges", "llm_graders.csv", ["--key", "truth"]),
    "Three classifiers of the census": ("census", "census.csv", ["--key", "truth"]),
    "Nine people and 3,000 photos": ("annotators", "photos.csv", []),
}


def main() -> None:
    """Make the pages, render them, and end with status 1 where a link leads nowhere."""
    shutil.rmtree(ROOT / "build" / "pages", ignore_errors=True)
    shutil.copytree(ROOT / "docs", PAGES, ignore=shutil.ignore_patterns("*.ipynb"))
    shutil.copytree(ROOT / "website" / "assets", PAGES / "assets")
    for made in (make_reference, make_notebooks, make_gallery, make_project):
        made(PAGES)
    settings = (ROOT / "website" / "zensical.toml").read_text(encoding="utf-8")
    (PAGES.parent / "zensical.toml").write_text(FOLDER.sub(_listed, settings), encoding="utf-8")
    command = ["zensical", "build", "--clean"]
    rendered = subprocess.run(command, cwd=PAGES.parent, check=False, capture_output=True, text=True)
    if rendered.returncode:
        sys.exit(f"zensical could not render the pages:\n{rendered.stdout}{rendered.stderr}")
    for page in SITE.rglob("*.html"):
        page.write_text(_alone(page), encoding="utf-8")
    broken = list(broken_links(SITE))
    print(*broken, sep="\n")
    print(f"{len(list(SITE.rglob('*.html')))} pages in {SITE.relative_to(ROOT)}, {len(broken)} broken links")
    sys.exit(1 if broken else 0)


# -- what is made --------------------------------------------------------------------------------------------------


def make_reference(pages: Path) -> None:
    """A page per room of the public names: signature and docstring of each, from the source."""
    rooms: dict[str, list[str]] = {}
    for name in jurors.__all__:
        home = getattr(getattr(jurors, name), "__module__", f"jurors.{name}").split(".")
        rooms.setdefault(home[1] if len(home) > 1 else name, []).append(name)
    folder = pages / "reference"
    folder.mkdir()
    for room, names in sorted(rooms.items()):
        parts = [f"# {room}", *(f"::: jurors.{name}" for name in sorted(names))]
        (folder / f"{room}.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def make_notebooks(pages: Path) -> None:
    """Every notebook as a page, with what its cells printed and drew."""
    folder = pages / "notebooks"
    folder.mkdir(exist_ok=True)
    for path in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        blocks = [block for k, cell in enumerate(cells) for block in _blocks(cell, folder, f"{path.stem}-{k}")]
        (folder / f"{path.stem}.md").write_text("\n\n".join(blocks) + "\n", encoding="utf-8")


def _blocks(cell: dict[str, Any], folder: Path, name: str) -> Iterator[str]:
    """The Markdown of a cell and of its outputs; pictures become files of that name."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
        return
    yield f"```python\n{source}\n```"
    for output in cell["outputs"]:
        data = {kind: "".join(text) for kind, text in output.get("data", {}).items()}
        if "image/svg+xml" in data:
            (folder / f"{name}.svg").write_text(data["image/svg+xml"], encoding="utf-8")
            yield f"![{_described(data['image/svg+xml'])}]({name}.svg)"
        elif "text/html" in data:
            lines = (line for line in data["text/html"].splitlines() if line.strip())
            yield '<div class="printed">\n' + "\n".join(lines) + "\n</div>"
        elif text := data.get("text/plain") or "".join(output.get("text", "")):
            yield f"```text\n{text.rstrip()}\n```"


def make_gallery(pages: Path) -> None:
    """The reports that guides/reports.md names, and below each heading a chart that leads to its report."""
    folder, page = pages / "gallery", pages / "guides" / "reports.md"
    folder.mkdir()
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as scratch:
        for votes in ("llm_graders.csv", "census.csv"):
            shutil.copy(ROOT / "src" / "jurors" / "data" / votes, scratch)
        _jurors(*ANNOTATORS.split(), "-o", str(Path(scratch) / "photos.csv"))
        for title, (name, votes, options) in GALLERY.items():
            read = [str(Path(scratch) / votes), *options]
            _jurors("report", *read, "--title", title, "-o", str(folder / f"{name}.html"))
            _jurors("report", *read, "--chart", "accuracy", "-o", str(folder / f"{name}.svg"))
            text = text.replace(f"### {title}\n", f"### {title}\n\n{_preview(folder, name)}\n")
    page.write_text(text, encoding="utf-8")


def _preview(folder: Path, name: str) -> str:
    shown = (folder / f"{name}.svg").read_text(encoding="utf-8")
    return f"[![{_described(shown)}](../gallery/{name}.svg)<br>Open the report](../gallery/{name}.html)"


def _described(svg: str) -> str:
    """What a chart shows, for who does not see it: its title and what stands below it."""
    said = [html.unescape(found[1]) for kind in ("Title", "Subtitle") if (found := TEXT[kind].search(svg))]
    return ". ".join(said).translate({ord("["): "(", ord("]"): ")", ord("\n"): " "}) or "A chart"


def make_project(pages: Path) -> None:
    """The pages of the project's root, below project/, with links to and from them as they are there."""
    names = "|".join(map(re.escape, PROJECT))
    for page in pages.rglob("*.md"):
        up = "../" * len(page.relative_to(pages).parents[1:])
        text = page.read_text(encoding="utf-8")
        page.write_text(re.sub(rf"\]\((?:\.\./)+({names})", rf"]({up}project/\1", text), encoding="utf-8")
    (pages / "project").mkdir()
    for name in PROJECT:
        if (ROOT / name).exists():
            text = (ROOT / name).read_text(encoding="utf-8").replace("](docs/", "](../")
            (pages / "project" / name).write_text(text, encoding="utf-8")


def _alone(page: Path) -> str:
    """The text of a rendered page without the one script that the theme would fetch from elsewhere: ours does it."""
    up = "../" * len(page.relative_to(SITE).parents[1:])
    return FETCHED.sub(rf'\g<1>{up}assets/worker.js"', page.read_text(encoding="utf-8"))


def _listed(match: re.Match[str]) -> str:
    """The pages of a folder, as the navigation names them."""
    settings = match.string
    pages = (page.relative_to(PAGES).as_posix() for page in sorted((PAGES / match[1]).glob("*.md")))
    return ", ".join(f'"{page}"' for page in pages if f'"{page}"' not in settings)


def _jurors(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "jurors", *words, "--quiet"], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
