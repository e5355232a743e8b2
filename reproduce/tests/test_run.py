"""The census experiment on a small made-up census, and a few tests of the real ones."""

from __future__ import annotations

import json
import re
import shutil
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

import jurors
from jurors.cli.main import main
from jurors.errors import VotesError
from reproduce import guide
from reproduce.__main__ import main as reproduce
from reproduce.acs import data as training
from reproduce.acs.data import load_census, second_label_votes, training_records
from reproduce.acs.report import against_majority, drowned_settings
from reproduce.acs.run import Experiment, ExperimentSettings, experiment_acs, read_sketches
from reproduce.acs.trials import evaluate_groups
from reproduce.paper import TABLE_1, computed_table_1
from reproduce.tests.made_census import write_census

pytestmark = pytest.mark.slow  # trains and draws, over and over

ROOT = Path(__file__).resolve().parents[2]
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


def _run(folder: Path, *arguments: str | Path) -> Result:
    return CliRunner().invoke(reproduce, ["-o", str(folder), *map(str, arguments)])


def _refused(folder: Path, *arguments: str | Path) -> str:
    """The one line that the command prints before it exits with status 2."""
    result = _run(folder, *arguments)
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

    monkeypatch.setattr("reproduce.acs.run.train_jury", fail)
    more = experiment_acs(census, folder=folder, **SMALL | {"tests": 130})
    assert (more.results[0].sketches[:30] == kept[1].results[0].sketches).all()
    monkeypatch.setattr("reproduce.acs.run.draw_tests", fail)
    assert _same(experiment_acs(census, folder=folder, **SMALL), kept[1])
    fewer = experiment_acs(census, folder=folder, **SMALL | {"tests": 12})
    assert (fewer.results[1].sketches == kept[1].results[1].sketches[:12]).all()
    for other in ({"items": 200}, {"draw": "separate"}):
        with pytest.raises(AssertionError):
            experiment_acs(census, folder=folder, **SMALL | other)


@pytest.mark.parametrize("other", [{"seed": 1}, {"train": 200}, {"min_age": 16}], ids=str)
def test_a_folder_with_another_jury_is_refused_and_stays_as_it_is(
    census: Path, kept: tuple[Path, Experiment], other: dict[str, int]
) -> None:
    before = {path: path.read_bytes() for path in kept[0].rglob("*") if path.is_file()}
    with pytest.raises(VotesError, match="holds the jury of another experiment"):
        experiment_acs(census, folder=kept[0], **SMALL | other)
    assert {path: path.read_bytes() for path in kept[0].rglob("*") if path.is_file()} == before


def test_a_run_that_fails_at_the_start_leaves_no_folder(
    census: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = tmp_path / "new" / "inside"
    _refused(inside, "--data", census, "--train", "20000")
    monkeypatch.setitem(sys.modules, "reproduce.independence", None)
    assert "needs scikit-learn" in _refused(inside, "--data", census, *FLAGS)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    assert "cannot make the folder" in _refused(tmp_path / "file" / "x", "--data", census, *FLAGS)


def test_an_interrupted_training_ends_the_run_and_keeps_nothing(
    census: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sklearn.neural_network import MLPClassifier

    original, calls = MLPClassifier._backprop, []

    def interrupted(*arguments: Any) -> Any:
        calls.append(1)
        if len(calls) == 20:
            raise KeyboardInterrupt  # as Ctrl-C does, in the loop where scikit-learn catches it
        return original(*arguments)

    monkeypatch.setattr(MLPClassifier, "_backprop", interrupted)
    result = _run(tmp_path / "out", "--data", census, *FLAGS)
    assert result.exit_code == 130
    assert result.stdout == ""
    assert result.stderr.startswith("reproduce: interrupted")
    assert len(result.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []
    assert len(calls) == 20


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


def test_the_report_has_the_numbers_of_the_tests_and_begins_with_the_verdict(kept: tuple[Path, Experiment]) -> None:
    document = kept[1].to_dict()
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    row, tests = document["results"][5], kept[1].results[1].trios[(0, 1, 3)]
    assert row["trio"] == [1, 2, 4]
    assert row["labelling_errors"]["majority"] == pytest.approx(tests.errors["majority"].mean())
    assert row["correlation"]["largest"] == pytest.approx(tests.largest_correlation.mean())
    assert len(kept[1].to_frame()) == 2 * 4 * 7 * 2
    assert "AE against MV: closer" in " ".join(str(kept[1]).split())
    errors = [r["prevalence_of_a"] for r in document["results"]]
    closer = sum(e["algebraic"]["typical"] < e["majority"]["typical"] for e in errors)
    assert against_majority(document["results"]).startswith(f"closer to the prevalence in {closer} of 8 settings")


def test_a_group_whose_errors_go_together_carries_a_warning_where_no_number_is_impossible() -> None:
    # Jurors 1 and 2 err together on both labels; AE is a fair-looking number far from the truth.
    a = [300, 60, 40, 40, 40, 40, 60, 420]
    b = [150, 20, 20, 30, 20, 30, 60, 670]
    counts = np.array([a, b])
    (row,) = evaluate_groups({"AGEP": {"65+": counts}}, draw="shared", trios=[(0, 1, 2)], labels=("a", "b"))
    assert 0 < row["prevalence"]["algebraic"] < 1
    low, high = row["prevalence"]["interval"]
    assert low <= row["prevalence"]["algebraic"] <= high < 1
    (warning,) = row["warnings"]
    assert warning == f"error correlations add {row['added_over_signal']:.1f}x the signal"
    assert row["added_over_signal"] > 1
    assert np.shape(row["accuracy"]["interval"]) == (2, 3, 2)


def test_independent_errors_give_a_group_no_warning() -> None:
    right = np.array([[0.8, 0.7, 0.75], [0.7, 0.8, 0.85]])
    said = (np.arange(8)[:, None] >> np.arange(3)[::-1]) & 1
    shares = [np.where(said == label, right[label], 1 - right[label]).prod(axis=1) for label in (0, 1)]
    counts = np.rint(np.array([40_000, 60_000])[:, None] * shares).astype(np.int64)
    (row,) = evaluate_groups({"SEX": {"male": counts}}, draw="shared", trios=[(0, 1, 2)], labels=("a", "b"))
    assert row["warnings"] == []
    assert row["accuracy"]["algebraic"] == [pytest.approx(pair, abs=1e-3) for pair in right.T.tolist()]


def test_small_groups_carry_a_warning(kept: tuple[Path, Experiment]) -> None:
    groups = kept[1].to_dict()["groups"]
    assert {entry["column"] for entry in groups} == {"SEX", "RAC1P", "AGEP"}
    small = [entry for entry in groups if entry["items"] < 1_000]
    assert small
    assert all(any(w.startswith("too small") for w in entry["warnings"]) for entry in small)


def test_the_command_writes_page_reports_sketches_and_figures(
    census: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    result = _run(tmp_path, "--data", census, *FLAGS, "--prevalence", "1/4", "--prevalence", "40%", "--quiet")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    assert result.stdout == f"{tmp_path / 'index.html'}: open it in a browser\n"
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "all 56 numbers as the paper prints them" in page
    assert "\\n" not in page
    linked = set(re.findall(r'(?:src|href)="([^"#]+)"', page))
    assert {name for name in linked if not (tmp_path / name).is_file()} == set()
    for draw, words in (("shared", "the same records for all jurors"), ("separate", "independent by construction")):
        folder = tmp_path / "census" / draw
        document = json.loads((folder / "report.json").read_text())
        assert document["settings"]["prevalences"] == ["1/4", "4/10"]
        assert words in (folder / "report.md").read_text()
        for name in ("prevalence", "accuracy", "labels", "correlation"):
            assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
            assert words in (folder / f"{name}.svg").read_text()
    assert not list(tmp_path.rglob(".*"))
    monkeypatch.setattr(sys, "argv", ["guide", str(tmp_path / "census")])
    guide.main()
    printed = capsys.readouterr().out
    assert len(re.findall(r"^\| (?:1/4|4/10) \| \d \d \d \|", printed, re.MULTILINE)) == 2 * 2 * 4
    assert drowned_settings(document["results"]) in printed


def test_without_a_census_file_the_rest_is_made_and_two_lines_say_how_to_get_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JURORS_DATA", str(tmp_path / "none"))
    result = _run(tmp_path / "paper")
    assert result.exit_code == 0, result.output
    assert len(result.stderr.splitlines()) == 2
    assert "make paper DATA=data" in result.stderr
    page = (tmp_path / "paper" / "index.html").read_text(encoding="utf-8")
    assert "231 are right by AE (82.2%)" in page
    assert "No census file is at hand" in page


def test_table_1_is_the_papers_to_the_last_number() -> None:
    assert computed_table_1() == TABLE_1


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
        (["--prevalence", "2"], "both excluded; got 2"),
        (["--prevalence", "1/3"], "1/3 of 20,000 records is no whole number; take a multiple of 3 records"),
        (["--items", "0"], "a test needs one record or more, got 0"),
        (["--train", "20000"], "need 40,000 of each label"),
        (["--train", "300", "--prevalence", "9/10", "--items", "4000"], "needs 3,600 persons who are not employed"),
        (["--min-age", "120"], "of 0 persons, 0 are employed; need both"),
        (["--seed", "-1"], "a seed is not negative"),
    ],
)  # fmt: skip
def test_wrong_settings_get_one_line(census: Path, tmp_path: Path, flags: list[str], message: str) -> None:
    assert message in _refused(tmp_path, "--data", census, *flags)


def test_wrong_data_get_one_line(tmp_path: Path) -> None:
    assert "there is no file or folder" in _refused(tmp_path / "out", "--data", tmp_path / "nowhere")
    assert "fits no census data" in _refused(tmp_path / "out", "--data", tmp_path)
    with pytest.raises(VotesError, match="there is no draw 'both'; there are: shared, separate"):
        ExperimentSettings(draw="both")  # type: ignore[arg-type]
    (tmp_path / "votes.txt").write_text("x")
    assert "is no Parquet file" in _refused(tmp_path / "out", "--data", tmp_path / "votes.txt")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and nothing more")
    assert "cannot read broken.parquet" in _refused(tmp_path / "out", "--data", tmp_path / "broken.parquet")
    lacking = write_census(tmp_path / "lacking.parquet", 50, without=("DEYE",))
    assert "lacking.parquet has no column DEYE; it has AGEP, ANC" in _refused(tmp_path / "out", "--data", lacking)
    lacking = write_census(tmp_path / "lacking.parquet", 50, without=("RELP",))
    assert "no column RELP, nor RELPX or RELSHIPP or ESP to stand in for it" in _refused(
        tmp_path / "out", "--data", lacking
    )
    assert "fits 2 extracts: broken.parquet, lacking.parquet" in _refused(tmp_path / "out", "--data", tmp_path)
    other = tmp_path / "downloads" / "2019" / "1-Year"
    other.mkdir(parents=True)
    assert "holds 2019/1-Year, not 2018/1-Year/psam_p*.csv" in _refused(
        tmp_path / "out", "--data", tmp_path / "downloads"
    )


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
    result = experiment_acs("mobility", tests=20, train=4_000, prevalences=(Fraction(4, 10),))
    for tests in result.results[0].trios.values():
        # Far beyond what chance gives to unrelated draws of 20,000 records.
        assert tests.largest_correlation.min() > 0.02
    assert result.to_dict()["results"][0]["correlation"]["added_over_signal"] > 1


def test_the_readme_lists_exactly_the_options() -> None:
    page = (ROOT / "reproduce" / "README.md").read_text(encoding="utf-8")
    named = {
        flag for cell in re.findall(r"^\| (`-.*?`) \|", page, re.MULTILINE) for flag in re.findall(r"`(-[\w-]+)`", cell)
    }
    assert named == {flag for option in reproduce.params for flag in option.opts}
