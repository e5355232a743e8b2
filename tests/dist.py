"""What is published, built and tried as a stranger would have it: `make dist`, or `python tests/dist.py --quick`.

Builds the wheel and the sdist into dist/, looks at what is in them, installs each into clean environments of every
Python that is named (`python tests/dist.py python3.11 python3.13`), and runs the commands of a first day there. Then
`uvx` and `pipx run` from the wheel, and the SBOM beside it. `--quick`, for CI, tries the Python that runs it without
extras, and no more; with the versions of constraints.txt, so that nobody else's release turns CI red.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
SBOM = ROOT / "build" / "sbom"  # not in dist/: whatever lies there is uploaded
MOST_MEGABYTES = 300  #: installed without extras; what Python compiles of it comes on top
#: in the sdist: what it takes to build, to test, and to know what one has
IN_SDIST = ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "SECURITY.md", "Makefile",
            "constraints.txt", "hatch_build.py", "src/jurors/py.typed", "tests/dist.py", "docs/cli.md",
            "recipe/recipe.yaml", "reproduce/__main__.py")  # fmt: skip
#: the first day, with the package alone; each must exit with 0, or 3 for an alarm
FIRST_DAY = (
    ("demo",),
    ("simulate", "--items", "300", "--jurors", "4", "-o", "votes.csv"),
    ("inspect", "votes.csv"),
    ("grade", "votes.csv"),
    ("check", "votes.csv"),
    ("label", "votes.csv", "--format", "csv", "-o", "labels.csv"),
)
#: and what needs the extra `plot`: refused without it in a line that names it
DRAWN = ("report", "votes.csv", "-o", "page.html")


def version() -> str:
    """The version of the source."""
    found = re.search(r'^VERSION = "(.+?)"', (ROOT / "src/jurors/versions.py").read_text(), flags=re.MULTILINE)
    if found is None:
        raise ValueError("src/jurors/versions.py names no version")
    return found[1]


# -- what is in them -----------------------------------------------------------------------------------------------


def wheel_faults(members: Iterable[str], source: Iterable[str]) -> Iterator[str]:
    """What a wheel lacks of the package's source, and what it should not have."""
    packed, wanted = set(members), {f"jurors/{name}" for name in source}
    info = f"jurors-{version()}.dist-info"
    needed = {f"{info}/METADATA", f"{info}/entry_points.txt", f"{info}/licenses/LICENSE"}
    yield from (f"the wheel lacks {name}" for name in sorted((wanted | needed) - packed))
    strange = (name for name in packed - wanted if not name.startswith(f"{info}/"))
    yield from (f"the wheel has {name}" for name in sorted(strange))


def sdist_faults(members: Iterable[str]) -> Iterator[str]:
    """What an sdist lacks, and what no one should get."""
    packed = {name.partition("/")[2] for name in members}
    yield from (f"the sdist lacks {name}" for name in IN_SDIST if name not in packed)
    yield from (
        f"the sdist has {name}" for name in sorted(packed) if re.search(r"(^|/)(\.venv|__pycache__)(/|$)", name)
    )


def source_files() -> list[str]:
    """The files of the package, as its folder has them."""
    package = ROOT / "src" / "jurors"
    files = (path.relative_to(package) for path in package.rglob("*") if path.is_file())
    return [path.as_posix() for path in files if "__pycache__" not in path.parts]


def _faults(wheel: Path, sdist: Path) -> Iterator[str]:
    with zipfile.ZipFile(wheel) as packed:
        yield from wheel_faults(packed.namelist(), source_files())
    with tarfile.open(sdist) as tar:
        yield from sdist_faults(tar.getnames())


# -- building and installing ---------------------------------------------------------------------------------------


def _run(*words: str | Path, cwd: Path | None = None, allowed: tuple[int, ...] = (0,)) -> str:
    """What a command prints, without this shell's Python settings; SystemExit says which failed, and how."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    run = subprocess.run([str(word) for word in words], cwd=cwd, env=clean, capture_output=True, text=True, check=False)
    if run.returncode not in allowed or "Traceback" in run.stderr:
        shown = " ".join(str(word) for word in words)
        raise SystemExit(f"{shown}: status {run.returncode}\n{(run.stderr or run.stdout)[-2000:]}")
    return run.stdout + run.stderr


def _environment(python: str | Path, place: Path, *wanted: str) -> Path:
    """A new environment with that in it; the folder of its programs."""
    _run(python, "-m", "venv", place)
    _install(place / "bin", *wanted)
    return place / "bin"


def _install(programs: Path, *wanted: str) -> None:
    """As pip does it; a word that begins with a dash is an option of its."""
    _run(programs / "python", "-m", "pip", "install", "-q", "--no-compile", *wanted)


def build(tools: Path) -> tuple[Path, Path]:
    """The wheel and the sdist; the wheel is built from the sdist, so that it can be."""
    for old in DIST.glob("jurors-*"):
        old.unlink()
    _run(tools / "python", "-m", "build", "--outdir", DIST, ROOT)
    return next(DIST.glob("*.whl")), next(DIST.glob("*.tar.gz"))


#: what an environment's packages take, by name, as they know themselves which files are theirs
SIZES = """import json; from importlib.metadata import distributions
places = {one.name: [file.locate() for file in one.files or ()] for one in distributions()}
sizes = {name: sum(place.stat().st_size for place in own if place.is_file()) for name, own in places.items()}
print(json.dumps({name: size for name, size in sizes.items() if name not in ("pip", "setuptools")}))"""


# -- trying --------------------------------------------------------------------------------------------------------


def says_version(programs: Path, folder: Path) -> None:
    """That what is installed says the version of the source."""
    told = _run(programs / "jurors", "--version", cwd=folder).splitlines()[0]
    if told != f"jurors {version()}":
        raise SystemExit(f"jurors --version says {told!r}, the source {version()}")


def first_day(programs: Path, folder: Path, *, drawn: bool) -> None:
    """The commands of a first day; with `drawn`, the report as well, else the line that says what it needs."""
    folder.mkdir(exist_ok=True)
    says_version(programs, folder)
    for words in FIRST_DAY:
        _run(programs / "jurors", *words, cwd=folder, allowed=(0, 3))
    said = _run(programs / "jurors", *DRAWN, cwd=folder, allowed=(0,) if drawn else (2,))
    if drawn != (folder / "page.html").exists() or (not drawn and "jurors[plot]" not in said):
        raise SystemExit(f"jurors {' '.join(DRAWN)}: {said}")


def _try_plain(python: str | Path, home: Path, wheel: Path, sdist: Path, pins: Iterable[str]) -> Path:
    """The wheel without extras, its size, and the sdist in its place."""
    plain = _environment(python, home / "plain", *pins, str(wheel))
    sizes = json.loads(_run(plain / "python", "-c", SIZES))
    size = sum(sizes.values()) / 1e6
    first_day(plain, home / "work", drawn=False)
    _run(plain / "python", "-m", "pip", "uninstall", "-q", "-y", "jurors")
    _install(plain, *pins, str(sdist))
    says_version(plain, home / "work")
    _run(plain / "jurors", "grade", "votes.csv", cwd=home / "work")
    name = _run(plain / "python", "--version").strip()
    allowed = f"at most {MOST_MEGABYTES}, before Python compiles it; most of it {max(sizes, key=sizes.get)}"
    _say(f"{name}: wheel and sdist installed and tried; {size:.0f} MB without extras ({allowed})")
    if size > MOST_MEGABYTES:
        raise SystemExit("the installed package grew past what it may take")
    return plain


def _try_drawing(python: str | Path, home: Path, wheel: Path, sdist: Path) -> None:
    for number, packed in enumerate((wheel, sdist)):
        drawing = _environment(python, home / f"drawing{number}", f"{packed}[plot]")
        first_day(drawing, home / f"drawn{number}", drawn=True)
    _run(drawing / "python", "-m", "pip", "check")
    _say("  with [plot]: the report is drawn")


def _try_runners(tools: Path, home: Path, wheel: Path) -> None:
    """Without installing: `uvx jurors` and `pipx run jurors`, from the wheel that PyPI would give them."""
    os.environ.update(PIPX_HOME=str(home / "pipx"), UV_TOOL_DIR=str(home / "uv"))
    _run(tools / "uvx", "--python", sys.executable, "--from", wheel, "jurors", "demo", cwd=home)
    _run(tools / "pipx", "run", "--spec", wheel, "jurors", "demo", cwd=home)
    _say("uvx and pipx run jurors demo")


def write_sbom(tools: Path, environment: Path, path: Path) -> None:
    """What is installed with the package, as CycloneDX; where it lay on this machine is nobody's matter."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _run(tools / "cyclonedx-py", "environment", environment / "python", "--pyproject", ROOT / "pyproject.toml",
         "--output-reproducible", "--of", "JSON", "-o", path)  # fmt: skip
    bom = of_package(json.loads(path.read_text(encoding="utf-8")))
    text = json.dumps(bom, indent=2, ensure_ascii=False) + "\n"
    if str(ROOT) in text or str(Path.home()) in text or "file:" in text:
        raise SystemExit(f"{path.name} names a path of this machine")
    path.write_text(text, encoding="utf-8")
    _say(f"{path.name}: {len(bom['components'])} components")


def of_package(bom: dict[str, Any]) -> dict[str, Any]:
    """An environment's bill of materials as the package's: its version, and no installer."""
    bom["metadata"]["component"]["version"] = version()
    bom["components"] = [one for one in bom["components"] if one["name"] not in ("jurors", "pip", "setuptools")]
    known = {bom["metadata"]["component"]["bom-ref"], *(one["bom-ref"] for one in bom["components"])}
    bom["dependencies"] = [one for one in bom["dependencies"] if one["ref"] in known]
    return bom


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(words: list[str]) -> int:
    """Build, look, install, try; 1 where the files are not as they should be."""
    if words == ["--version"]:
        _say(version())
        return 0
    quick, pythons = "--quick" in words, [word for word in words if word != "--quick"]
    with tempfile.TemporaryDirectory(prefix="jurors-dist-") as scratch:
        home = Path(scratch)
        wanted = ["build"] if quick else ["build", "twine", "uv", "pipx", "cyclonedx-bom"]
        tools = _environment(sys.executable, home / "tools", *wanted)
        wheel, sdist = build(tools)
        faults = list(_faults(wheel, sdist))
        _say("\n".join([*faults, f"{wheel.name} and {sdist.name}: {len(faults)} things wrong with what is in them"]))
        if faults:
            return 1
        if not quick:
            _run(tools / "twine", "check", "--strict", wheel, sdist)
        for number, python in enumerate(pythons or [sys.executable]):
            place, found = home / str(number), shutil.which(python) or python
            place.mkdir()
            plain = _try_plain(found, place, wheel, sdist, ("-c", str(ROOT / "constraints.txt")) if quick else ())
            if not quick:
                _try_drawing(found, place, wheel, sdist)
        if not quick:
            _try_runners(tools, home, wheel)
            write_sbom(tools, plain, SBOM / f"jurors-{version()}.cdx.json")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
