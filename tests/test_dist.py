"""`make dist` builds and installs, which takes a minute (CI does it, `.ci/run`); here, that it sees what is wrong."""

from __future__ import annotations

import dist

INFO = f"jurors-{dist.version()}.dist-info"
WHEEL = ["jurors/py.typed", f"{INFO}/METADATA", f"{INFO}/entry_points.txt", f"{INFO}/licenses/LICENSE"]


def test_a_wheel_has_the_package_and_nothing_else() -> None:
    assert list(dist.wheel_faults(WHEEL, ["py.typed"])) == []
    assert list(dist.wheel_faults(WHEEL, ["py.typed", "data/census.csv"])) == ["the wheel lacks jurors/data/census.csv"]
    assert list(dist.wheel_faults([*WHEEL, "tests/x.py"], ["py.typed"])) == ["the wheel has tests/x.py"]
    assert list(dist.wheel_faults(WHEEL[:-1], ["py.typed"])) == [f"the wheel lacks {WHEEL[-1]}"]


def test_the_source_has_data_templates_and_the_mark_of_types() -> None:
    files = set(dist.source_files())
    assert {"py.typed", "data/reference_juries.csv", "data/llm_graders.csv"} <= files
    assert any(name.startswith("reporting/templates/") for name in files)


def test_an_sdist_has_what_it_takes_to_build_and_test() -> None:
    whole = [f"jurors-1/{name}" for name in dist.IN_SDIST]
    assert list(dist.sdist_faults(whole)) == []
    assert list(dist.sdist_faults(whole[1:])) == [f"the sdist lacks {dist.IN_SDIST[0]}"]
    assert list(dist.sdist_faults([*whole, "jurors-1/.venv/bin/python"])) == ["the sdist has .venv/bin/python"]


def test_what_the_sdist_must_have_is_there() -> None:
    assert [name for name in dist.IN_SDIST if not (dist.ROOT / name).exists()] == []


def test_the_bill_of_materials_is_the_packages_and_not_the_environments() -> None:
    parts = [{"name": name, "bom-ref": f"{name}==1"} for name in ("numpy", "pip", "jurors")]
    needs = [{"ref": "root"}, *({"ref": part["bom-ref"]} for part in parts)]
    bom = dist.of_package({"metadata": {"component": {"bom-ref": "root"}}, "components": parts, "dependencies": needs})
    assert bom["metadata"]["component"]["version"] == dist.version()
    assert [part["name"] for part in bom["components"]] == ["numpy"]
    assert bom["dependencies"] == [{"ref": "root"}, {"ref": "numpy==1"}]
