"""The files of a release agree: one version, the same requirements, workflows that name what is there."""

from __future__ import annotations

import importlib.util
import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import dist
import pytest
import yaml  # type: ignore[import-untyped]
from command_line import run
from floors import HOSTED, OWN, ROOT, RUNS, required

import jurors
from jurors.cli.main import COMMANDS
from jurors.serve.database import MIGRATIONS
from jurors.uncertainty.reference import shipped_juries
from jurors.versions import INTERFACE, TABLES, versions

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FOR_DEVELOPERS = {"dev", "bench", "site"}
IN_CONDA = {"duckdb": "python-duckdb"}  # what conda-forge calls it
REQUIRED = re.compile(r"([\w.-]+)(?:\[\w+\])?\s*(\S*)")


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def parsed(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("CITATION.cff", r"^version: (.+)$"),
        ("recipe/recipe.yaml", r'^  version: "(.+)"$'),
        ("docs/guides/ci.md", r"\bv(\d+\.\d+\.\d+)\b"),
        ("docs/cli.md", r"^jurors (\d+\.\d+\.\d+)$"),
    ],
)
def test_the_version_is_the_same_everywhere(name: str, pattern: str) -> None:
    found = re.findall(pattern, read(name), flags=re.MULTILINE)
    assert found
    assert set(found) == {jurors.__version__}


def test_the_changelog_has_a_dated_section_of_the_version_and_one_for_what_comes() -> None:
    headings = re.findall(r"^## (.+)$", read("CHANGELOG.md"), flags=re.MULTILINE)
    assert headings[0] == "Unreleased"
    date = re.fullmatch(rf"{re.escape(jurors.__version__)} — (\d{{4}}-\d\d-\d\d)", headings[1])
    assert date is not None
    assert f"date-released: {date[1]}\n" in read("CITATION.cff")


def test_the_changelog_says_everything_once() -> None:
    lines = re.findall(r"^\* .+$", read("CHANGELOG.md"), flags=re.MULTILINE)
    assert [line for line in dict.fromkeys(lines) if lines.count(line) > 1] == []


def test_the_conda_recipe_needs_what_the_package_needs() -> None:
    recipe = parsed(ROOT / "recipe" / "recipe.yaml")
    wanted = [found.groups() for one in PROJECT["dependencies"] if (found := REQUIRED.match(one))]
    run = [f"{IN_CONDA.get(name, name)} {floor}" for name, floor in wanted]
    assert recipe["requirements"]["run"] == [f"python {PROJECT['requires-python']}", *run]
    assert recipe["build"]["python"]["entry_points"] == [
        f"{name} = {what}" for name, what in PROJECT["scripts"].items()
    ]
    about = recipe["about"]
    assert (about["summary"], about["license"]) == (PROJECT["description"], PROJECT["license"])


def test_every_python_that_is_promised_is_tested() -> None:
    promised = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    jobs = parsed(ROOT / ".github" / "workflows" / "ci.yml")["jobs"]
    first = [step["with"]["python-version"] for step in jobs["everything"]["steps"] if "with" in step]
    assert [*first, *jobs["quick"]["strategy"]["matrix"]["python-version"]] == promised
    assert PROJECT["requires-python"] == f">={promised[0]}"


@pytest.mark.parametrize("path", [*WORKFLOWS, ROOT / "action.yml"], ids=lambda path: path.name)
def test_workflows_run_what_is_there(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    jobs = (parsed(path).get("jobs") or {"action": parsed(path)["runs"]}).values()
    steps = [step for job in jobs for step in job["steps"]]
    assert all(("uses" in step) != ("run" in step) for step in steps)
    assert all(re.search(r"@(v\d+|release/v\d+)$", step["uses"]) for step in steps if "uses" in step)
    targets = set(re.findall(r"^([\w-]+):", read("Makefile"), flags=re.MULTILINE))
    assert set(re.findall(r"\bmake ([\w-]+)", "\n".join(step.get("run", "") for step in steps))) <= targets
    named = re.findall(r"(?<![\w/$}])(?:tests|website|\.ci)/[\w./-]+", text)
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_readme_lists_every_extra() -> None:
    install = re.search(r"^## Install\n(.*?)^## ", read("README.md"), flags=re.MULTILINE | re.DOTALL)
    assert install is not None
    assert set(re.findall(r"`(\w+)` \|", install[1])) == set(PROJECT["optional-dependencies"]) - FOR_DEVELOPERS


@pytest.mark.parametrize("path", [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))], ids=lambda path: path.name)
def test_no_page_leaves_a_blank_to_be_filled_in(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert re.findall(r"OWNER/|git clone …|repo: …|YOUR-|example\.com/jurors|TODO|FIXME", text) == []


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """`hatch_build.py`, without the builder that loads it."""
    interface = ModuleType("interface")
    interface.MetadataHookInterface = object  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "hatchling.metadata.plugin.interface", interface)
    for name in ("hatchling", "hatchling.metadata", "hatchling.metadata.plugin"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    found = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert found
    assert found.loader
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_what_github_publishes_names_its_repository_and_the_readme_leads_there(hook: ModuleType) -> None:
    tag = {"GITHUB_REF_TYPE": "tag", "GITHUB_REF_NAME": "v1"}
    home, ref = hook.repository({"GITHUB_REPOSITORY": "us/jurors", "GITHUB_SERVER_URL": "https://github.com", **tag})
    assert hook.addresses(home, ref)["Changelog"] == "https://github.com/us/jurors/blob/v1/CHANGELOG.md"
    page = hook.with_addresses(read("README.md"), home, ref)
    assert "](https://github.com/us/jurors/raw/v1/docs/guides/pictures/report.png)" in page
    assert not re.findall(r"\]\((?!https:)", page)


def test_what_is_built_elsewhere_names_no_address(hook: ModuleType) -> None:
    assert hook.repository({}) == ("", "HEAD")
    assert hook.addresses("", "HEAD") == {}
    assert hook.with_addresses("[x](docs/cli.md)", "", "HEAD") == "[x](docs/cli.md)"


def test_the_image_has_what_the_build_reads() -> None:
    copied = re.search(r"^COPY (pyproject.toml .*) \./$", read("deploy/Dockerfile"), flags=re.MULTILINE)
    assert copied is not None
    assert {"pyproject.toml", "hatch_build.py", "README.md", "LICENSE"} <= set(copied[1].split())


# -- versions: one place knows them all, and `--version` shows them at once -----------------------------------------


def test_the_first_line_is_the_version_and_the_others_those_of_the_formats() -> None:
    first, *others = run("--version").output.splitlines()
    assert first == f"jurors {jurors.__version__}"
    assert [re.split(r" {2,}", line) for line in others] == [list(one) for one in versions().items()]


def test_a_step_of_the_tables_is_a_version() -> None:
    assert len(MIGRATIONS) == TABLES


def test_the_servers_paths_begin_with_the_interfaces_version() -> None:
    prefixes = re.findall(
        r'prefix="/(v\d+)', "".join(path.read_text() for path in (ROOT / "src" / "jurors" / "serve").glob("*.py"))
    )
    assert set(prefixes) == {f"v{INTERFACE}"}


def test_the_reference_juries_are_counted() -> None:
    assert versions()["reference juries"].startswith(f"{len(shipped_juries())}, sha256 ")


# -- `make floors` runs every command; that takes minutes, so only that none is left out is tested here -------------


def test_every_command_is_run_with_the_lowest_and_the_newest_versions() -> None:
    assert set(RUNS) == set(COMMANDS)


def test_every_requirement_has_a_floor() -> None:
    assert [one for one in required((*OWN, *HOSTED)) if ">=" not in one] == []


def test_every_extra_that_is_not_for_developers_is_tried() -> None:
    assert {*OWN, *HOSTED} == set(PROJECT["optional-dependencies"]) - FOR_DEVELOPERS


# -- `make dist` builds and installs, which takes a minute; here, only what it packs --------------------------------


def test_the_source_has_data_templates_and_the_mark_of_types() -> None:
    files = set(dist.source_files())
    assert {"py.typed", "data/reference_juries.csv", "data/llm_graders.csv"} <= files
    assert any(name.startswith("reporting/templates/") for name in files)


def test_what_the_sdist_must_have_is_there() -> None:
    assert [name for name in dist.IN_SDIST if not (dist.ROOT / name).exists()] == []
