"""The census experiment on a small made-up census, and a few tests of the real ones."""

from __future__ import annotations

import json
import re
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from census import write_census
from click.testing import CliRunner, Result

import jurors
from jurors.cli.main import main
from jurors.errors import VotesError
from jurors.lab import Experiment, experiment_acs
from jurors.lab import acs_jury as training
from jurors.lab.acs import load_census
from jurors.lab.acs_jury import training_records
from jurors.lab.draws import second_label_votes
from jurors.lab.experiment import Settings
from jurors.lab.experiment_report import report_markdown, report_text
from jurors.lab.experiment_store import read_sketches

SMALL: dict[str, Any] = {
    "tests": 30, "items": 400, "train": 300, "prevalences": (Fraction(1, 10), Fraction(4, 10)),
}  # fmt: skip
FLAGS = ["--tests", "30", "--items", "400", "--train", "300"]


@pytest.fixture(scope="module")
def census(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_census(tmp_path_factory.mktemp("census") / "census.parquet")


@pytest.fixture(scope="module")
def kept(census: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Experiment]:
    folder = tmp_path_factory.mktemp("kept")
    return folder, experiment_acs(census, folder=folder, **SMALL)


def _same(one: Experiment, other: Experiment) -> bool:
    pairs = zip(one.results, other.results, strict=True)
    return all(np.array_equal(a.sketches, b.sketches) for a, b in pairs) and one.jury.to_dict() == other.jury.to_dict()


def _run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["experiment", "acs", *map(str, arguments)])


def _refused(*arguments: str | Path) -> str:
    """The one line that the command prints before it exits with status 2."""
    result = _run(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    return line


def test_every_test_has_the_asked_prevalence_and_size(kept: tuple[Path, Experiment]) -> None:
    for result in kept[1].results:
        totals = result.sketches.sum(axis=2)
        assert (totals[:, 0] == 400 * result.prevalence).all()
        assert (totals.sum(axis=1) == 400).all()
        assert set(result.trios) == {(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)}


def test_the_jurors_are_tested_on_nobody_who_trained_one(census: Path, kept: tuple[Path, Experiment]) -> None:
    totals = load_census(census).totals
    assert kept[1].jury.pool.sum(axis=1).tolist() == [total - 4 * 150 for total in totals]
    for groups in kept[1].jury.groups.values():
        assert (np.sum(list(groups.values()), axis=0) == kept[1].jury.pool).all()


def test_the_pool_is_what_the_networks_say_to_each_person(census: Path) -> None:
    people = load_census(census)
    jury, rest = training._train(people, 300, 0, None)
    columns = [c for own in people.feature_sets for c in own]
    everybody = np.stack([people.codes[c][rest] for c in columns], axis=1).astype(float)
    votes = jury.votes(everybody).codes.astype(bool)
    answers = np.stack(list(training._answers(people, jury, rest)), axis=1)
    assert (votes == answers).all()
    assert training.network()[-1].hidden_layer_sizes == (9,) * 5
    trained = np.setdiff1d(np.arange(len(people)), rest)
    assert people.employed[trained].mean() == 0.5


def test_the_same_seed_gives_the_same_experiment_and_another_seed_another(
    census: Path, kept: tuple[Path, Experiment]
) -> None:
    again = experiment_acs(census, **SMALL)
    assert _same(again, kept[1])
    other = experiment_acs(census, seed=1, **SMALL)
    assert (other.results[0].sketches != again.results[0].sketches).any()


def test_tests_that_are_done_are_not_repeated(
    census: Path, kept: tuple[Path, Experiment], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(kept[0], folder)

    def fail(*_: Any, **__: Any) -> None:
        raise AssertionError("done already")

    monkeypatch.setattr("jurors.lab.experiment.train_jury", fail)
    more = experiment_acs(census, folder=folder, **SMALL | {"tests": 130})
    assert (more.results[0].sketches[:30] == kept[1].results[0].sketches).all()
    monkeypatch.setattr("jurors.lab.experiment.draw_tests", fail)
    assert _same(experiment_acs(census, folder=folder, **SMALL), kept[1])
    fewer = experiment_acs(census, folder=folder, **SMALL | {"tests": 12})
    assert (fewer.results[1].sketches == kept[1].results[1].sketches[:12]).all()
    for other in ({"items": 200}, {"draw": "separate"}):
        with pytest.raises(AssertionError):
            experiment_acs(census, folder=folder, **SMALL | other)
    with pytest.raises(AssertionError):
        experiment_acs(census, folder=folder, **SMALL | {"train": 200})


def test_a_spoilt_file_is_made_again(census: Path, kept: tuple[Path, Experiment], tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(kept[0], folder)
    for path in folder.rglob("*.json"):
        path.write_text(path.read_text()[: path.stat().st_size // 2])
    assert _same(experiment_acs(census, folder=folder, **SMALL), kept[1])


def test_sketches_are_read_back_by_jurors(kept: tuple[Path, Experiment]) -> None:
    path = kept[0] / "shared" / "pa0p4byTrueLabelTestSketches.json"
    document = json.loads(path.read_text())
    assert (read_sketches(document) == kept[1].results[1].sketches).all()
    assert document["true_label_totals"] == {"a": 160, "b": 240}
    votes = jurors.read_votes(path)
    assert votes.total == 30 * 400
    assert votes.jurors == kept[1].jurors
    counted = jurors.Sketch.from_votes(votes).table().ravel()
    assert (counted == kept[1].results[1].sketches.sum(axis=(0, 1))).all()
    assert CliRunner().invoke(main, ["grade", str(path)]).exit_code == 0


def test_separate_draws_keep_the_jurors_and_lose_the_correlation(census: Path, kept: tuple[Path, Experiment]) -> None:
    separate = experiment_acs(census, folder=None, **SMALL | {"tests": 300, "draw": "separate"})
    pool = kept[1].jury.pool
    assert (separate.jury.pool == pool).all()
    expected = second_label_votes(pool) / pool.sum(axis=1, keepdims=True)
    for result in separate.results:
        said = second_label_votes(result.sketches) / result.sketches.sum(axis=2)[..., None]
        assert np.abs(said.mean(axis=0) - expected).max() < 0.03
        for tests in result.trios.values():
            error = tests.pair_correlation.std(axis=0) / np.sqrt(300)
            assert (np.abs(tests.pair_correlation.mean(axis=0)) < 5 * error).all()


def test_the_report_says_who_how_and_with_what(kept: tuple[Path, Experiment]) -> None:
    text = str(kept[1])
    said = ("6,000 persons", "AGEP, SEX, RAC1P are hidden", "every column of the paper is there", "Draw: shared",
            "30 tests of 400 records", "seed 0", "NN(SCHL,MIG,DREM)", "largest |Γ|", "best possible")  # fmt: skip
    assert [words for words in said if words not in text] == []
    assert "<table>" in kept[1]._repr_html_()
    frame = kept[1].to_frame()
    assert len(frame) == 2 * 4 * 7 * 2
    document = kept[1].to_dict()
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    row = document["results"][5]
    tests = kept[1].results[1].trios[(0, 1, 3)]
    assert row["trio"] == [1, 2, 4]
    assert row["labelling_errors"]["majority"] == pytest.approx(tests.errors["majority"].mean())
    assert row["correlation"]["largest"] == pytest.approx(tests.largest_correlation.mean())


def test_small_groups_carry_a_warning(kept: tuple[Path, Experiment]) -> None:
    groups = kept[1].to_dict()["groups"]
    assert {entry["column"] for entry in groups} == {"SEX", "RAC1P", "AGEP"}
    small = [entry for entry in groups if entry["items"] < 1_000]
    assert small
    assert all(any(w.startswith("too small") for w in entry["warnings"]) for entry in small)


def test_the_command_writes_report_sketches_and_figures(census: Path, tmp_path: Path) -> None:
    folder, every = tmp_path / "out", tmp_path / "all.json"
    result = _run("--data", census, *FLAGS, "-o", folder, "--by-true-label", every, "--format", "json",
                  "--prevalence", "1/4", "--draw", "separate")  # fmt: skip
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert document["settings"]["prevalences"] == ["1/4"]
    assert json.loads((folder / "separate" / "report.json").read_text()) == document
    assert "independent by construction" in (folder / "separate" / "report.md").read_text()
    assert len(json.loads(every.read_text())["by_true_label"]) == 30
    assert jurors.read_votes(every).total == 30 * 400
    for name in ("prevalence", "accuracy", "labels", "correlation"):
        assert (folder / "separate" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "independent by construction" in (folder / "separate" / f"{name}.svg").read_text()
        assert (folder / "separate" / f"{name}.html").stat().st_size > 100_000
    assert not list(folder.rglob(".*"))


def test_markdown_and_text_have_the_same_numbers(kept: tuple[Path, Experiment]) -> None:
    document = kept[1].to_dict()
    numbers = re.compile(r"\d+\.\d+%")
    assert numbers.findall(report_text(document)) == numbers.findall(report_markdown(document))


def test_quiet_prints_nothing_on_stderr(census: Path) -> None:
    result = _run("--data", census, *FLAGS, "--prevalence", "1/10", "--quiet")
    assert result.exit_code == 0
    assert result.stderr == ""
    assert "Draw: shared" in result.stdout


def test_stand_ins_are_named_and_used(tmp_path: Path) -> None:
    path = write_census(tmp_path / "other.parquet", 400, without=("RELP", "ANC"), extra=("RELPX", "LANX", "ESP"))
    people = load_census(path)
    assert people.feature_sets[2] == ("RELPX", "DIS", "LANX")
    assert people.stand_ins == {"RELP": "RELPX", "ANC": "LANX"}
    assert not {"AGEP", "SEX", "RAC1P"} & {c for own in people.feature_sets for c in own}


def test_younger_persons_are_left_out(census: Path) -> None:
    people = load_census(census, min_age=16)
    assert people.codes["AGEP"].min() == 16
    assert "younger than 16 left out" in people.population
    assert people.digest != load_census(census).digest


def test_training_leaves_half_of_the_rarer_label(tmp_path: Path) -> None:
    people = load_census(write_census(tmp_path / "census.parquet", 20_000))
    assert 4 * training_records(people) // 2 <= min(people.totals) / 2
    assert training_records(people) == 2_000


def test_folktables_files_become_its_employment_task(tmp_path: Path) -> None:
    import duckdb

    pytest.importorskip("folktables")
    folder = tmp_path / "data" / "2018" / "1-Year"
    folder.mkdir(parents=True)
    parquet = write_census(tmp_path / "census.parquet", 500, extra=("ESP",))
    for state in ("01", "02"):
        cells = "* REPLACE (CASE WHEN MIL = 1 THEN NULL ELSE MIL END AS MIL), 'x' AS SERIALNO"
        duckdb.execute(f"COPY (SELECT {cells} FROM '{parquet}') TO '{folder / f'psam_p{state}.csv'}' (HEADER)")
    people = load_census(tmp_path / "data")
    assert len(people) == 1_000
    assert "folktables' ACSEmployment: everyone in 2 states" in people.population
    assert people.missing == 0  # folktables means -1, but np.nan_to_num(x, -1) fills with 0
    assert people.totals == tuple(2 * n for n in load_census(parquet).totals)
    assert set(np.unique(people.codes["MIL"]).tolist()) == {0, 2, 3, 4}


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--tests", "0"], "needs one test or more, got 0"),
        (["--prevalence", "some"], "--prevalence some is no share; write 1/10, 0.1 or 10%"),
        (["--prevalence", "1/0"], "is no share"),
        (["--prevalence", "1"], "a prevalence lies between 0 and 1, got 10/10"),
        (["--prevalence", "1/3"], "1/3 of 20,000 records is no whole number; take a multiple of 3 records"),
        (["--items", "0"], "1/10 of 0 records"),
        (["--train", "20000"], "need 40,000 of each label"),
        (["--train", "0"], "need 0 of each label"),
        (["--train", "300", "--prevalence", "9/10", "--items", "4000"], "needs 3,600 persons who are not employed"),
        (["--min-age", "120"], "of 0 persons, 0 are employed; need both"),
        (["--seed", "-1"], "a seed is not negative"),
    ],
)  # fmt: skip
def test_wrong_settings_get_one_line(census: Path, flags: list[str], message: str) -> None:
    assert message in _refused("--data", census, *flags)


def test_wrong_data_get_one_line(tmp_path: Path, census: Path) -> None:
    assert "there is no file or folder" in _refused("--data", tmp_path / "nowhere")
    assert "fits no census data" in _refused("--data", tmp_path)
    (tmp_path / "votes.txt").write_text("x")
    assert "is no Parquet file" in _refused("--data", tmp_path / "votes.txt")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and nothing more")
    assert "cannot read broken.parquet" in _refused("--data", tmp_path / "broken.parquet")
    lacking = write_census(tmp_path / "lacking.parquet", 50, without=("DEYE",))
    assert "lacking.parquet has no column DEYE; it has AGEP, ANC" in _refused("--data", lacking)
    lacking = write_census(tmp_path / "lacking.parquet", 50, without=("RELP",))
    assert "no column RELP, nor RELPX or RELSHIPP or ESP to stand in for it" in _refused("--data", lacking)
    assert "fits 2 extracts: broken.parquet, lacking.parquet" in _refused("--data", tmp_path)
    other = tmp_path / "downloads" / "2019" / "1-Year"
    other.mkdir(parents=True)
    assert "holds 2019/1-Year, not 2018/1-Year/psam_p*.csv" in _refused("--data", tmp_path / "downloads")


def test_an_unknown_draw_is_refused() -> None:
    assert _run("--draw", "both").exit_code == 2
    with pytest.raises(VotesError, match="there is no draw 'both'; there are: shared, separate"):
        Settings(draw="both")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("extract", "stand_ins", "missing"),
    [
        ("folktables2018_mobility_16features", {}, None),
        ("folktables2018_publiccoverage_15features", {"RELP": "ESP"}, 0),
        ("acs2024_1yr_49states", {"RELP": "RELPX", "ANC": "LANX"}, -1),
    ],
)
def test_the_real_extracts_are_told_apart(
    shared_data: Path, extract: str, stand_ins: dict[str, str], missing: int | None
) -> None:
    people = load_census(shared_data / "acs" / f"{extract}.parquet")
    assert people.stand_ins == stand_ins
    assert people.missing == missing
    assert ("2024" if "2024" in extract else "2018") in people.population
    assert "does not tell" not in people.population


def test_real_jurors_on_the_same_records_err_together(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JURORS_DATA", str(shared_data))
    found = experiment_acs("mobility", tests=20, train=4_000, prevalences=(Fraction(4, 10),))
    for tests in found.results[0].trios.values():
        # Far beyond what chance gives to unrelated draws of 20,000 records.
        assert tests.largest_correlation.min() > 0.02
    assert found.to_dict()["results"][0]["correlation"]["added_over_signal"] > 1
