"""Run the notebooks of the docs: `python tests/docs/notebooks.py` writes what they print today, then read the diff."""

from __future__ import annotations

from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def executed(path: Path) -> Any:
    """The notebook, run from top to bottom in a kernel of its own; an error in a cell is raised."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    NotebookClient(
        notebook, kernel_name="python3", record_timing=False,
        timeout=300, startup_timeout=300, iopub_timeout=300,  # seconds, on a machine that is busy with other things
    ).execute()  # fmt: skip
    return notebook


def texts(notebook: Any) -> list[list[str]]:
    """What each cell printed, as text; pictures are left out."""
    return [
        [_text(output) for output in cell.get("outputs", ()) if "image/svg+xml" not in output.get("data", {})]
        for cell in notebook.cells
    ]


def _text(output: Any) -> str:
    found = output.get("text") or output.get("data", {}).get("text/plain", "")
    return "".join(found) if isinstance(found, list) else str(found)


if __name__ == "__main__":
    import nbformat

    for path in NOTEBOOKS:
        notebook = executed(path)
        notebook.metadata.pop("language_info", None)
        nbformat.write(notebook, path)  # type: ignore[no-untyped-call]
        print(f"ran {path.relative_to(ROOT)}")  # noqa: T201
