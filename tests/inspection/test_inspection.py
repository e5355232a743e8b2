"""`jurors.inspect` tells the truth about every file, and the commands it suggests work."""

from __future__ import annotations

import gzip
import io
import itertools
import json
import shlex
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from command_line import run
from hypothesis import assume, given
from hypothesis import strategies as st
from other_tools import SAMPLES
from strategies import examples

import jurors
from jurors import Sketch, Votes, VotesError, inspect
from jurors.cli import main
from jurors.inspection.result import Inspection, find_overlap
from jurors.options import command_line
from jurors.votes.findings import find_findings

SETS = ("bluebirds", "cifar10n", "dogs", "faces", "llmbar_humanpref", "music_genre", "ntqr_bbm_arithmetic", "product",
        "rte", "sentiment_tweets", "triviaqa_judges_v1", "zencrowd_in")  # fmt: skip


def kinds(found: Inspection) -> list[str]:
    return [finding.kind for finding in found.findings]


def look(text: str, **reading: Any) -> Inspection:
    return inspect(io.StringIO(text), **reading)


def run_steps(found: Inspection, *, none: bool = False, pages: bool = False) -> None:
    """Run the commands that are suggested; pages, which take long, where they are the point."""
    assert found.steps or none
    for step in found.steps:
        program, *arguments = shlex.split(step.command)
        assert program == "jurors"
        if arguments[0] == "report" and not pages:
            continue
        with tempfile.TemporaryDirectory() as folder:
            words = [str(Path(folder) / word) if word == "report.html" else word for word in arguments]
            result = CliRunner().invoke(main, words)
        assert result.exit_code in (0, 3), (step.command, result.output, result.exception)


def wide(rows: int = 60, jurors: int = 4, labels: str = "ab", seed: int = 1) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, len(labels), rows)
    said = np.where(rng.random((rows, jurors)) < 0.8, truth[:, None], rng.integers(0, len(labels), (rows, jurors)))
    return [[labels[k] for k in row] for row in said]


def csv_of(names: str, rows: list[list[str]]) -> str:
    return names + "\n" + "\n".join(",".join(row) for row in rows) + "\n"


def inspected(folder: Path, names: str, rows: list[list[str]]) -> Inspection:
    (folder / "votes.csv").write_text(csv_of(names, rows))
    return inspect(folder / "votes.csv")


#: one vote per row: item, juror, label
LONG = [[str(i), f"j{j}", label] for i, row in enumerate(wide()) for j, label in enumerate(row)]


def commands(found: Inspection) -> list[str]:
    return [step.command.split()[1] for step in found.steps]


# -- the real data sets ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_the_numbers_of_real_sets_and_of_their_answer_keys_are_seen(name: str, shared_data: Path) -> None:
    stats = json.loads((shared_data / name / "stats.json").read_text())
    found = inspect(shared_data / name / "votes.csv.gz")
    assert (found.format, found.layout) == ("CSV", "long")
    assert found.columns == {"item": ("item",), "juror": ("juror",), "label": ("label",)}
    assert (found.items, len(found.jurors), found.votes) == (stats["items"], stats["jurors"], stats["votes"])
    assert sorted(map(str, found.labels)) == sorted(stats["label_names"])
    assert sum(found.labels.values()) == stats["votes"]
    assert found.votes_per_item is not None
    assert [found.votes_per_item.least, found.votes_per_item.most] == stats["votes_per_item_min_max"]
    assert found.density == pytest.approx(stats["density"] / stats["jurors"], rel=1e-3)
    assert (found.duplicates, found.fault, found.obstacles) == (0, None, ())
    odd = {"missing_words", "ambiguous_words", "scores", "free_text", "unlike_columns", "key_column"}
    assert not odd & set(kinds(found))
    assert commands(found) == ["grade", "check", "label", "report", "agreement"]
    found = inspect(shared_data / name / "truth.csv.gz")
    items = len(gzip.decompress((shared_data / name / "truth.csv.gz").read_bytes()).decode().splitlines()) - 1
    assert (found.layout, found.items) == ("key", items)
    shares = {str(label): count / items for label, count in found.labels.items()}
    assert shares == pytest.approx(stats["gold_prevalence"], abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "items", "jurors_", "labels"),
    [
        ("acs_table1", 20_000, 3, 2),
        ("uci_adult_single", 36_842, 3, 2),
        ("bigbench_mistake_llm_graders", 281, 3, 2),
        ("medqa_4llms", 295, 4, 5),
        ("online_consumer_q200_no_truth", 200, 3, 2),
        ("uci_adult_100", 2_237_300, 3, 2),
    ],
)
def test_counts_by_true_label_are_seen_as_such(
    name: str, items: int, jurors_: int, labels: int, shared_data: Path
) -> None:
    found = inspect(shared_data / "sketches" / f"{name}.json")
    assert (found.items, len(found.jurors), len(found.labels)) == (items, jurors_, labels)
    assert found.format.startswith("file of decision counts")
    assert ("true_labels" in kinds(found)) is (name != "online_consumer_q200_no_truth")
    assert ("experiments" in kinds(found)) is (name == "uci_adult_100")
    assert commands(found) == ["grade", "check", "label", "report", "agreement"]
    if name in ("acs_table1", "medqa_4llms"):
        run_steps(found, pages=True)


@pytest.mark.slow
def test_the_exam_of_four_llms_has_a_key_and_a_mark_for_no_answer(shared_data: Path) -> None:
    found = inspect(shared_data / "sketches" / "medQA4LLMsQ300.csv")
    assert (found.layout, found.items, len(found.jurors)) == ("wide", 300, 4)
    assert "gt" not in found.jurors
    assert found.assumed == {"ignore": ("gt",)}
    about = {finding.kind: finding.about for finding in found.findings}
    assert about == {"key_column": ("gt",), "ambiguous_words": ("N",)}
    assert found.labels["N"] == 5
    path = shlex.quote(str(shared_data / "sketches" / "medQA4LLMsQ300.csv"))
    assert found.steps[0].command == f"jurors grade {path} --ignore gt --missing N"
    assert found.steps[-1].command == f"jurors score {path} --missing N --key gt"
    run_steps(found)


@pytest.mark.parametrize("name", ["folktables2018_mobility_16features", "folktables2018_publiccoverage_15features"])
def test_census_records_are_no_votes(name: str, shared_data: Path) -> None:
    found = inspect(shared_data / "acs" / f"{name}.parquet")
    assert found.format == "Parquet"
    assert "unlike_columns" in kinds(found)
    assert found.obstacles
    assert found.steps == ()


# -- what it sees ---------------------------------------------------------------------------------------------


PROMPTS = [[f"prompt {i}", *row] for i, row in enumerate(wide())]
FOUR = {"jurors": ("ann", "bob", "cy", "dee"), "fault": None}
GUESSED = {"item": "thing", "juror": "worker", "label": "said"}
SEEN: dict[str, tuple[str, list[list[str]], dict[str, Any], str]] = {
    "duplicates": ("item,juror,label", [*LONG, ["3", "j1", "a"], ["4", "j2", "b"]],
                   {"duplicates": 2, "votes": 240, "assumed": {"duplicates": "first"}}, "--duplicates first"),
    "a key of long rows": ("item,juror,label,gold", [[*row, "ab"[int(row[0]) % 2]] for row in LONG], {}, "--key gold"),
    **{name: (f"ann,bob,cy,dee,{name}", [[*row, row[0]] for row in wide()], FOUR, f"--key {name}")
       for name in ("truth", "gt", "Ground_Truth")},
    "systems": ("question_id,model,ann,bob,cy,dee", [
                    [f"q{k // 2}", "AB"[k % 2], *({"a": "pass", "b": "fail"}[label] for label in row)]
                    for k, row in enumerate(wide())
                ], FOUR, "--system model"),
    "texts": ("prompt,ann,bob,cy,dee", PROMPTS, {**FOUR, "findings": (), "assumed": {}}, ""),
    "unknown names": ("thing,worker,said", LONG, {"items": 60, "votes": 240, "assumed": GUESSED},
                      "--item thing --juror worker --label said"),
    "an unknown juror": ("item,who,label", LONG, {"layout": "long", "assumed": {}, "votes": 240}, ""),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("case", SEEN)
def test_what_a_table_holds_is_seen_and_the_commands_say_so(case: str, tmp_path: Path) -> None:
    names, rows, expected, ending = SEEN[case]
    found = inspected(tmp_path, names, rows)
    assert {name: getattr(found, name) for name in expected} == expected
    assert any(step.command.endswith(ending) for step in found.steps)
    if "--key" in ending:
        assert found.columns["ignored"] == (ending.removeprefix("--key "),)
    run_steps(found)


def test_rows_that_are_not_long_are_wide_and_texts_beside_an_id_are_left() -> None:
    once = [[str(k), *row[:2]] for k, row in enumerate(wide())]
    assert look(csv_of("item,who,label", once)).layout == "wide"
    more = look(csv_of("text,id,ann,bob,cy,dee", [[row[0], str(k), *row[1:]] for k, row in enumerate(PROMPTS)]))
    assert (len(more.jurors), more.columns["item"], more.columns["ignored"]) == (4, ("id",), ("text",))
    assert kinds(more) == ["columns_left"]


@pytest.mark.slow
def test_marks_for_no_vote_are_taken_out_and_counted(tmp_path: Path) -> None:
    rows = wide()
    rows[3][1], rows[5][2], rows[7][0] = "N/A", "-", "?"
    found = inspected(tmp_path, "ann,bob,cy,dee", rows)
    assert {finding.kind: set(finding.about) for finding in found.findings} == {"missing_words": {"N/A", "-", "?"}}
    assert ("--missing" in found.steps[0].command, found.obstacles) == (False, ())
    run_steps(found)
    assert inspect(tmp_path / "votes.csv", missing=["N/A", "-", "?"]).findings == ()


def test_two_columns_for_the_item_are_told() -> None:
    rows = [[str(k), str(k), *row] for k, row in enumerate(wide())]
    found = look(csv_of("id,task,ann,bob,cy,dee", rows))
    assert found.assumed == {"item": "id", "ignore": ("task",)}
    assert kinds(found) == ["two_items"]


def test_jurors_who_are_silent_constant_or_copies_are_named() -> None:
    rows = [[*row, row[1], "a", ""] for row in wide()]
    found = look(csv_of("ann,bob,cy,dee,bob2,same,mute", rows))
    about = {finding.kind: finding.about for finding in found.findings}
    assert about["silent_jurors"] == ("mute",)
    assert about["constant_jurors"] == ("same",)
    assert about["copies"] == ("bob", "bob2")


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda k, j: " A" if k % 3 else "a", "similar_labels"),
        (lambda k, j: str((k * 7 + j) % 40), "scale"),  # the jurors' numbers lie near each other
        (lambda k, j: str(k * (j + 3) % 41), "scores"),
        (lambda k, j: f"a long answer of juror {j} to the question number {k} in many words", "free_text"),
    ],
)
def test_labels_that_are_no_labels_are_told(change: Any, kind: str) -> None:
    rows = [[change(k, j) for j in range(4)] for k in range(60)]
    assert kind in kinds(look(csv_of("ann,bob,cy,dee", rows)))


@pytest.mark.parametrize("width", [1, 2])
def test_too_few_jurors_can_be_audited(width: int) -> None:
    found = look(csv_of(",".join(("ann", "bob")[:width]), [row[:width] for row in wide(rows=60)]))
    assert found.obstacles
    assert "audit plan" in found.steps[-1].command


def test_a_slip_is_seen_among_thousands_of_votes() -> None:
    rows = wide(rows=600)
    rows[7][1] = "aa"
    about = {finding.kind: finding.about for finding in look(csv_of("ann,bob,cy,dee", rows)).findings}
    assert about == {"rare_labels": ("aa",)}
    (alarm,) = (alarm for alarm in jurors.grade(rows).alarms if alarm.kind == "rare_labels")
    assert (alarm.level, alarm.labels) == ("warning", ("aa",))
    assert "map={'aa': 'a'}, or leave it out with missing=['aa']" in alarm.message


@pytest.mark.parametrize(
    ("strange", "kind"),
    [("passs", "rare_labels"), ("pass.", "similar_labels"), ("**pass**", "similar_labels"),
     ("Error code: 429", "ambiguous_words"), ("I cannot judge this", "ambiguous_words"), ("partial", None)],
)  # fmt: skip
def test_one_vote_in_a_hundred_that_is_no_label_of_its_own_is_noticed(strange: str, kind: str | None) -> None:
    votes = (["pass"] * 60 + ["fail"] * 39 + [strange]) * 3
    found = find_findings(Votes.from_matrix([[vote] * 3 for vote in votes]))
    assert [f.kind for f in found if strange in f.about] == ([kind] if kind else [])


@pytest.mark.parametrize(
    "votes", [["yes", "no"] * 600 + ["?!"], ["a,b", "no"] * 600 + ["a,bb"], [f"label {k}" for k in range(1100)] * 5]
)
def test_a_rare_label_is_not_renamed_that_is_like_no_common_one_or_that_map_cannot_write(votes: list[str]) -> None:
    (found,) = (f for f in find_findings(Votes.from_matrix([[vote] * 3 for vote in votes])) if f.kind == "rare_labels")
    assert "map=" not in found.message


def test_items_without_a_vote_and_groups_that_never_meet_are_told() -> None:
    rows = [["a", "b", "a", "", "", ""], ["", "", "", "a", "b", "a"], ["", "", "", "", "", ""]] * 10
    found = look(csv_of("item," + "u,v,w,x,y,z", [[str(k), *row] for k, row in enumerate(rows)]))
    assert {"items_without_votes", "separate_groups"} <= set(kinds(found))
    assert found.overlap is not None
    assert (found.overlap.pairs_sharing, found.overlap.pairs) == (6, 15)
    assert found.overlap.groups == (("u", "v", "w"), ("x", "y", "z"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "obstacle"),
    [
        ("ann,bob\na,b\nb,b\n", "at least 3 jurors who vote, and there are 2"),
        ("ann,bob,cy\na,a,a\na,a,a\n", "every vote is for the same one"),
        ("ann,bob,cy\na,b,c\nd,e,f\n", "6 labels are more than 2 items can support"),
        ("item,ann,truth\n1,a,a\n2,b,b\n", "and there are 1"),
    ],
)
def test_where_grading_is_impossible_it_says_why(text: str, obstacle: str, tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text(text)
    found = inspect(tmp_path / "votes.csv")
    assert any(obstacle in reason for reason in found.obstacles)
    assert not any(step.command.startswith("jurors grade") for step in found.steps)
    if found.steps:
        run_steps(found)


# -- the law: what is suggested works -------------------------------------------------------------------------


SAMPLE_FILES = sorted(
    path
    for path in SAMPLES.rglob("*")
    if path.suffix not in (".py", ".pyc") and path.name != "__pycache__" and "agent_as_a_judge" not in path.parts
)


@pytest.mark.slow
@pytest.mark.parametrize("path", SAMPLE_FILES, ids=lambda path: str(path.relative_to(SAMPLES)))
def test_every_command_suggested_for_a_sample_works(path: Path) -> None:
    found = inspect(path)
    assert found.steps or found.obstacles or found.fault
    run_steps(found, none=True)


def test_a_program_that_keeps_notes_in_a_folder_changes_nothing(tmp_path: Path) -> None:
    for name in ("snorkel.npy", "cleanlab.npy"):
        (tmp_path / name).write_bytes((SAMPLES / "matrix" / name).read_bytes())
    before = inspect(tmp_path)
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "make.pyc").write_bytes(b"notes")
    assert inspect(tmp_path) == before


@pytest.mark.slow
@examples(25)
@given(
    st.integers(1, 5).flatmap(
        lambda width: st.lists(
            st.lists(st.sampled_from(["a", "a", "b", "c", ""]), min_size=width, max_size=width), min_size=1, max_size=12
        )
    )
)
def test_every_command_suggested_for_a_small_file_works(rows: list[list[str]]) -> None:
    names, numbered = ",".join(["item", *"vwxyz"[: len(rows[0])]]), [[str(k), *row] for k, row in enumerate(rows)]
    with tempfile.TemporaryDirectory() as folder, suppress(VotesError):
        run_steps(inspected(Path(folder), names, numbered), none=True)


@pytest.mark.slow
@given(st.lists(st.integers(0, 3), min_size=8, max_size=8))
def test_three_jurors_are_said_to_be_gradable_exactly_where_they_are(counts: list[int]) -> None:
    tuples = list(itertools.product("ab", repeat=3))
    rows = [said for said, count in zip(tuples, counts, strict=True) for _ in range(count)]
    assume(rows)
    votes = Votes.from_matrix(np.array(rows), labels=("a", "b"), jurors=("ann", "bob", "cy"))
    try:
        graded = jurors.grade(votes)
    except jurors.JurorsError:
        assert inspect(votes).obstacles
    else:  # where nobody disagrees, that is told as a result, and nobody has a grade
        is_single = [alarm.kind for alarm in graded.alarms] == ["single_label"]
        assert bool(inspect(votes).obstacles) == is_single


@pytest.mark.parametrize(
    ("sample", "obstacle"),
    [
        ("matrix/snorkel.npy", "no item was answered by all three"),
        ("label_studio/snapshot.json", "'annotator 2' always says 'right'"),
        ("mlflow/correct.parquet", "'ann' always says True, 'claude' always says True"),
    ],
)
def test_jurors_whose_answers_fix_nothing_are_named(sample: str, obstacle: str) -> None:
    found = inspect(SAMPLES / sample)
    assert any(obstacle in reason for reason in found.obstacles)
    assert set(commands(found)) <= {"agreement"}


# -- folders --------------------------------------------------------------------------------------------------


def test_shards_are_one_table_and_another_file_is_named(tmp_path: Path) -> None:
    for k, rows in enumerate((wide(seed=1), wide(seed=2))):
        (tmp_path / f"part{k}.csv").write_text(csv_of("ann,bob,cy,dee", rows))
    assert inspect(tmp_path).items == 120
    (tmp_path / "other.csv").write_text(csv_of("u,v,w,x", wide()))
    with pytest.raises(VotesError, match=r"other\.csv and .*part0\.csv have different columns"):
        inspect(tmp_path)


# -- what is no table of votes --------------------------------------------------------------------------------


def test_a_heading_does_not_look_like_a_table(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# My data\n\nThese are votes.\n")
    found = inspect(tmp_path / "README.md")
    assert (found.format, found.columns) == ("text", {})
    assert "does not look like a table" in str(found.fault)


@pytest.mark.parametrize(
    ("text", "columns", "fault"),
    [
        ("item,juror,label,count\n1,ann,a,3\n2,ann,b,4\n", ("item", "juror", "label", "count"), "cannot have counts"),
        ("ann,bob,count\na,b,x1\na,a,2\n", ("ann", "bob", "count"), "whole number"),
        ("item,juror,label\n1,,a\n", ("item", "juror", "label"), "the juror is empty"),
    ],
)
def test_what_cannot_be_read_is_still_described(text: str, columns: tuple[str, ...], fault: str) -> None:
    assert inspect(io.BytesIO(gzip.compress(text.encode()))).columns == {"columns": columns}
    found = look(text)
    assert found.columns == {"columns": columns}
    assert fault in str(found.fault)
    assert found.sample
    assert found.votes is None


@pytest.mark.parametrize(
    "content",
    [
        b"item,ann,bob\n1,a,b\n2,a\n",
        b'{"a": 1}\n{"a": \n',
        b"",
        b"\x00\x01\x02binary\xff\xfe" * 50,
        b"\x1f\x8b\x08broken",
    ],
)
def test_what_shows_nothing_at_all_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.dat").write_bytes(content)
    with pytest.raises(VotesError):
        inspect(tmp_path / "x.dat")
    with pytest.raises(VotesError, match="no such file"):
        inspect(tmp_path / "nowhere.csv")


LONG_FRAME = pl.DataFrame(LONG, schema=["item", "juror", "label"], orient="row")
VOTES = Votes.from_matrix(wide(), jurors=("ann", "bob", "cy", "dee"))
IN_MEMORY = {
    "Votes": (VOTES, Sketch.from_votes(VOTES)),
    "pandas DataFrame": (VOTES.to_frame(), pd.DataFrame(wide(), columns=list("wxyz")), LONG_FRAME.to_pandas()),
    "polars LazyFrame": (LONG_FRAME.lazy(),),
    "matrix": (wide(), tuple(wide()), np.array(wide()), np.array(wide(), dtype=object)),
}


@pytest.mark.parametrize("name", IN_MEMORY)
def test_what_is_in_memory_is_called_what_it_is_and_inspected_without_commands(name: str) -> None:
    for source in IN_MEMORY[name]:
        found = inspect(source)
        assert found.format == ("Sketch" if isinstance(source, Sketch) else name)
        assert (found.items, found.votes, len(found.jurors), found.steps) == (60, 240, 4, ())
        assert "240 of 240 possible" in str(found)
        assert "none" not in str(found)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (3, 3)])
def test_a_matrix_without_a_vote_is_inspected(shape: tuple[int, int]) -> None:
    found = inspect(np.full(shape, -1))
    assert (found.votes, found.labels) == (0, {})
    assert found.obstacles
    assert "None" not in str(found)


def test_standard_input_is_read_once() -> None:
    result = CliRunner().invoke(main, ["inspect", "-"], input=csv_of("ann,bob,cy", wide(jurors=3)))
    assert result.exit_code == 0
    assert "jurors grade - " in result.output


def test_every_form_says_the_same_and_names_are_text(tmp_path: Path) -> None:
    (tmp_path / "<b>.csv").write_text(csv_of("<i>,bob,cy,dee", wide()))
    found = inspect(tmp_path / "<b>.csv")
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["labels"] == [{"label": label, "count": n} for label, n in found.labels.items()]
    assert all(found.steps[0].command in text for text in (str(found), found.to_markdown()))
    assert "&lt;i&gt;" in found._repr_html_()
    assert "<i>" not in found._repr_html_()
    assert list(found.to_frame()["count"]) == list(found.labels.values())


# -- parts ----------------------------------------------------------------------------------------------------


@given(st.lists(st.lists(st.sampled_from(["a", "b", None]), min_size=4, max_size=4), min_size=1, max_size=8))
def test_overlaps_are_those_of_a_plain_count(rows: list[list[str | None]]) -> None:
    votes = Votes.from_matrix(np.array(rows, dtype=object), labels=("a", "b"))
    voted = [{j for j in range(4) if row[j] is not None} for row in rows]
    voting = sorted(set().union(*voted))
    pairs = list(itertools.combinations(voting, 2))
    found = find_overlap(votes)
    assert found.pairs == len(pairs)
    if len(voting) > 1:
        shared = [sum({i, j} <= item for item in voted) for i, j in pairs]
        assert found.pairs_sharing == sum(n > 0 for n in shared)
        assert (found.fewest, found.median) == (min(shared), sorted(shared)[len(shared) // 2])


def test_commands_are_quoted_for_the_shell() -> None:
    line = command_line("grade", ["a b.csv"], {"missing": ("-", "N/A"), "labels": ["x", "y z"], "duplicates": "error"})
    assert shlex.split(line) == ["jurors", "grade", "a b.csv", "--missing=-", "--missing", "N/A", "--labels", "x,y z"]


def test_numbers_of_different_fineness_are_no_table_of_features(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    truth = rng.uniform(0, 100, 100)
    fine = [(truth + rng.normal(0, 8, 100)).round(1) for _ in range(3)]
    rows = np.column_stack([*fine, np.where(truth > 50, 75.5, 25.5)]).tolist()
    lines = [",".join(map(str, (f"q{k}", *row))) for k, row in enumerate(rows)]
    (tmp_path / "votes.csv").write_text("\n".join(["item,ann,bob,cy,dee", *lines]))
    seen = inspect(tmp_path / "votes.csv")
    assert (seen.scale, seen.obstacles) == ("interval", ())
    assert commands(seen) == ["grade", "check", "label", "report", "agreement", "grade"]


def test_a_tie_beside_two_sides_is_an_answer() -> None:
    rows = [["model_a", "model_b", "tie"], ["model_a", "tie", "model_b"], ["model_b", "model_b", "model_a"]] * 5
    assert "ambiguous_words" not in kinds(inspect(rows))
    marks = [[cell.replace("model_a", "pass").replace("model_b", "fail") for cell in row] for row in rows]
    assert "ambiguous_words" in kinds(inspect(marks))


def test_a_file_of_items_and_truth_is_an_answer_key_and_no_juror(tmp_path: Path) -> None:
    path = tmp_path / "key.csv"
    path.write_text("item,truth\n" + "".join(f"{k},{'yn'[k % 2]}\n" for k in range(6)))
    found = jurors.inspect(path)
    assert found.layout == "key"
    path.write_text("model,answer\n" + "".join(f"m{k % 3},{'yn'[k % 2]}\n" for k in range(6)))
    for told in (run("inspect", path).stderr, run("inspect", path, "--format", "md").stdout):
        assert "name them with --item, --juror and --label" in " ".join(told.split())


def test_columns_of_confidences_are_listed_as_read(tmp_path: Path) -> None:
    rows = [
        f"{k},{judge},{'yn'[(k + place) % 2]},0.{k % 9 + 1},en" for k in range(20) for place, judge in enumerate("abc")
    ]
    path = tmp_path / "votes.csv"
    path.write_text("\n".join(["item,judge,label,confidence,language", *rows]) + "\n")
    columns = jurors.inspect(path).columns
    assert (columns["confidence"], columns["ignored"]) == (("confidence",), ("language",))
