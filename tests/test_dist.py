"""`make dist` builds and installs, which takes a minute (CI does it, `.ci/run`); here, that it sees what is wrong."""

from __future__ import annotations

import dist

INFO = f"jurors-{dist.version()}.dist-info"
WHEEL = ["jurors/py.typed", f"{INFO}/METADATA", f"{INFO}/entry_points.txt", f"{INFO}/licenses/LICENSE"]


def test_the_source_has_data_templates_and_the_mark_of_types() -> None:
    files = set(dist.source_files())
    assert {"py.typed", "data/reference_juries.csv", "data/llm_graders.csv"} <= files
    assert any(name.startswith("reporting/templates/") for name in files)


def test_what_the_sdist_must_have_is_there() -> None:
    assert [name for name in dist.IN_SDIST if not (dist.ROOT / name).exists()] == []
