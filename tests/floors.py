"""Every command with the lowest versions that pyproject.toml allows, and with the newest: `make floors`.

For each Python that is named (`python tests/floors.py python3.11 python3.13`), environments in a temporary folder: what
`pip` would install at least, and at most, with our extras, and with those that live inside another program (which asks
for higher versions than we do). uv finds the lowest; only wheels are taken.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import tomllib
from itertools import product
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OWN = ("excel", "frames", "lab", "plot", "postgres", "serve", "zstd")
HOSTED = ("inspect", "mcp")
SAMPLES = ROOT / "tests" / "votes" / "readers" / "samples"
JSON = [{"item": k, "ann": "y", "bob": "yn"[k % 3 == 0], "cy": "yn"[k % 2], "dan": "yn"[k % 5 == 0]} for k in range(40)]

#: command -> what it is run with; it must exit with 0, or 3 for an alarm
RUNS: dict[str, tuple[str, ...]] = {
    "simulate": ("--items 200 --jurors 4 -o votes.csv",),
    "demo": ("",),
    "inspect": ("votes.csv", "votes.jsonl", "votes.json"),
    "convert": (
        "votes.csv -o votes.parquet",
        "votes.csv -o long.csv.gz --to long",
        "votes.csv -o one.sketch.json",
        "votes.jsonl -o two.sketch.json.gz",
        "one.sketch.json -o sum.sketch.json",
    ),
    "grade": ("votes.csv", "votes.jsonl --format json", "votes.json", "votes.parquet --memory 1GB"),
    "check": ("votes.csv",),
    "label": ("votes.csv", "long.csv.gz"),
    "score": ("votes.csv --key votes.truth.csv",),
    "rank": ("pairs.csv",),
    "compare": ("votes.csv",),
    "systems": ("systems.json --system system --good y",),
    "audit": ("plan votes.csv -n 10 -o sheet.csv",),
    "bounds": ("votes.csv",),
    "agreement": ("votes.csv",),
    "report": ("votes.csv -o page.html", "votes.csv --chart accuracy -o chart.svg"),
    "plan": ("--jurors 3",),
    "watch": ("votes.csv --once --state watched.json.gz",),
    **dict.fromkeys(("serve", "store", "mcp"), ("--help",)),
}
FRAMES = (
    "import jurors, pandas, pyarrow.parquet as pq; t = pq.read_table('votes.parquet'); "
    "assert jurors.grade(t).score == jurors.grade(t.to_pandas()).score == jurors.grade('votes.parquet').score"
)
SERVING = """
import signal, subprocess, sys, jurors
command = [sys.executable, "-m", "jurors", "serve", "--store", "served.db", "--port", "0"]
server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
try:
    with jurors.Client(server.stdout.readline().strip(), retries=0) as client:
        client.put_project("floors")
        votes = jurors.read_votes("votes.csv")
        assert client.post_votes("floors", votes) == 4 * 200
        assert [one["name"] for one in client.projects()] == ["floors"]
finally:
    server.send_signal(signal.SIGTERM)
    status = server.wait(60)
assert status == 0, status
"""


EXCEL = """
import csv, openpyxl, jurors
book = openpyxl.Workbook()
for row in csv.reader(open("votes.csv")):
    book.active.append(row)
book.save("votes.xlsx")
assert jurors.grade("votes.xlsx").score == jurors.grade("votes.csv").score
"""
_PANELS = "from pathlib import Path; import make_inspect_jury; make_inspect_jury.main(Path('jury'))"
#: inside Inspect AI, which writes logs of panels that the plug-in graded; and the tools for assistants
HOSTS = (
    ("-c", f"import sys; sys.path.insert(0, {str(SAMPLES)!r}); {_PANELS}"),
    ("-m", "jurors", "grade", "jury/learnt"),
    ("-c", "from jurors.integrations.mcp import server; server(['jury/learnt'])"),
    ("-m", "jurors", "mcp", "--help"),
)


def required(extras: tuple[str, ...]) -> list[str]:
    """What the package and these extras need."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return [*project["dependencies"], *(one for name in extras for one in project["optional-dependencies"][name])]


def _own_commands(folder: Path) -> list[list[str]]:
    """Every command, on files that are made here."""
    (folder / "votes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in JSON))
    (folder / "votes.json").write_text(json.dumps(JSON))
    (folder / "pairs.csv").write_text("juror,left,right,winner\nann,x,y,x\nbob,y,x,tie\nbob,z,x,left\n")
    (folder / "systems.json").write_text(json.dumps([{"system": "ab"[k % 7 > 3], **row} for k, row in enumerate(JSON)]))
    commands = [["-m", "jurors", name, *run.split()] for name, runs in RUNS.items() for run in runs if name != "mcp"]
    return [*commands, ["-c", FRAMES], ["-c", EXCEL], ["-c", SERVING]]


def smoke(python: Path, folder: Path, extras: tuple[str, ...]) -> list[str]:
    """What fails of what these extras are for: the command and its last line."""
    failed = []
    for words in _own_commands(folder) if extras == OWN else [list(words) for words in HOSTS]:
        run = subprocess.run(
            [str(python), *words], cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT / "src")}, text=True,
            capture_output=True, check=False,
        )  # fmt: skip
        if run.returncode not in (0, 3) or "Traceback" in run.stderr:
            failed.append(f"{' '.join(words)[:60]}: {(run.stderr or run.stdout).strip().splitlines()[-1:]}")
    return failed


def main(pythons: list[str]) -> int:
    """Try them all; say which versions were tried, and what fails."""
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="jurors-floors-") as home:
        subprocess.run([sys.executable, "-m", "venv", f"{home}/tools"], check=True)
        subprocess.run([f"{home}/tools/bin/pip", "install", "-q", "uv"], check=True)
        uv = [f"{home}/tools/bin/uv", "-q"]
        for number, python in enumerate(pythons or [sys.executable]):
            for extras, how in product((OWN, HOSTED), ("lowest-direct", "highest")):
                place = Path(home) / f"{number}-{extras[0]}-{how}"
                own = place / "bin" / "python"
                wanted = required(extras)
                subprocess.run([*uv, "venv", "--python", python, str(place)], check=True)
                wheels = ["--only-binary", ":all:", "--resolution", how]
                subprocess.run([*uv, "pip", "install", "--python", str(own), *wheels, *wanted], check=True)
                subprocess.run([*uv, "pip", "install", "--python", str(own), "--no-deps", str(ROOT)], check=True)
                names = {one.split(">")[0].split("=")[0].split("[")[0] for one in wanted}
                listed = subprocess.run(
                    [*uv, "pip", "freeze", "--python", str(own)], capture_output=True, text=True, check=True
                )
                versions = [line for line in listed.stdout.split() if line.split("==")[0] in names]
                (place / "work").mkdir()
                failed = smoke(own, place / "work", extras)
                sys.stdout.write(f"{python}, {how}, {'+'.join(extras)}: {' '.join(versions)}\n")
                sys.stdout.writelines(f"  fails: {one}\n" for one in failed or ["nothing"])
                sys.stdout.flush()
                wrong += len(failed)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
