"""`jurors sketch`, `merge`, `inspect` and `convert` from the command line."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import refused, run

from jurors import Sketch, read_votes, simulate

COUNTS = "ann,bob,cy,count\npass,pass,pass,496\npass,fail,pass,143\nfail,pass,pass,66\nfail,fail,fail,97\n"
VOTES = "item,ann,bob,cy\n" + "".join(f"{k},{','.join(said)}\n" for k, said in enumerate(["xxy", "xyy", "yyy", "xxx"]))


@pytest.fixture
def counts(tmp_path: Path) -> Path:
    path = tmp_path / "counts.csv"
    path.write_text(COUNTS)
    return path


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    path = tmp_path / "votes.csv"
    path.write_text(VOTES)
    return path


def sketched(path: Path, name: str, *options: object) -> Path:
    out = path.with_name(name)
    result = run("convert", path, "-o", out, *options, "--quiet")
    assert (result.exit_code, result.output) == (0, "")
    return out


# -- sketch ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("command", ["grade", "check", "agreement", "bounds", "compare"])
def test_a_sketch_file_gives_the_result_of_the_file_it_counted(command: str, counts: Path) -> None:
    out = sketched(counts, "day.sketch.json.gz")
    first, second = run(command, counts), run(command, out)
    assert first.exit_code == second.exit_code
    assert first.exit_code in (0, 3)
    shown = re.sub(r"(jurors audit plan)\s+\S+counts\.csv", r"\1 FILE", first.output)  # a sketch has no items to draw
    assert shown.split() == second.output.split()


def test_a_sketch_names_no_item(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("item,ann,bob,cy\nsecret-1,a,b,a\nsecret-2,b,b,a\n")
    assert "secret" not in run("convert", path, "--to", "sketch").stdout


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("497", "1").replace("496", "495"), "add up"),
        (lambda text: text.replace('"ann"', '"amy"'), "checksum does not match"),
        (lambda text: text.replace('"version": 1', '"version": 2'), "newer jurors (version 2); update jurors"),
        (lambda text: text[: len(text) // 2], "broken or cut short"),
        (lambda text: text.replace("[97", "[-97"), "must not be negative"),
        (lambda text: text.replace("[97", "[NaN"), "must be a whole number"),
    ],
)
@pytest.mark.parametrize("command", ["grade", "convert"])
def test_a_damaged_sketch_file_is_refused_in_one_line(counts: Path, command: str, change, message: str) -> None:  # type: ignore[no-untyped-def]
    out = sketched(counts, "day.sketch.json")
    out.write_text(change(out.read_text()))
    line = refused(command, out)
    assert message in line
    assert "day.sketch.json" in line


# -- several sketches ---------------------------------------------------------------------------------------


def test_shards_merge_to_the_sketch_of_the_whole(tmp_path: Path) -> None:
    rows = VOTES.splitlines()
    for name, part in (("a", rows[1:3]), ("b", rows[3:]), ("all", rows[1:])):
        (tmp_path / f"{name}.csv").write_text("\n".join([rows[0], *part]) + "\n")
        sketched(tmp_path / f"{name}.csv", f"{name}.sketch.json", "--labels", "x,y")
    merged = run("convert", tmp_path / "a.sketch.json", tmp_path / "b.sketch.json", "--to", "sketch")
    assert (merged.exit_code, merged.stderr) == (0, "")
    assert merged.stdout == (tmp_path / "all.sketch.json").read_text()
    again = run("convert", tmp_path / "b.sketch.json", tmp_path / "a.sketch.json", "--to", "sketch")
    assert again.stdout == merged.stdout


def test_a_pattern_names_several_sketch_files(counts: Path) -> None:
    sketched(counts, "day1.sketch.json")
    counts.write_text(counts.read_text() + counts.read_text().partition("\n")[2])
    sketched(counts, "day2.sketch.json")
    result = run("convert", counts.parent / "day*.sketch.json", "--to", "sketch", "--quiet")
    assert Sketch.from_json(result.stdout).items == 3 * 802


def test_different_labels_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("ann,bob,count\nx,y,3\n")
    (tmp_path / "b.csv").write_text("ann,bob,count\nx,z,5\n")
    paths = [sketched(tmp_path / f"{name}.csv", f"{name}.sketch.json") for name in "ab"]
    message = refused("convert", *paths, "--to", "sketch")
    assert "a.sketch.json: y; only in " in message
    assert "name all labels when counting with --labels" in message


# -- convert --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv.gz", "jsonl", "parquet"])
@pytest.mark.parametrize("layout", ["long", "wide", "counts"])
def test_converted_votes_grade_like_the_votes(votes: Path, ending: str, layout: str) -> None:
    out = votes.with_name(f"out.{ending}")
    result = run("convert", votes, "--to", layout, "-o", out, "--quiet")
    assert (result.exit_code, result.output) == (0, "")
    assert run("agreement", out).output == run("agreement", votes).output


def test_convert_to_a_sketch_is_sketch(counts: Path) -> None:
    out = counts.with_name("x.sketch.json")
    assert run("convert", counts, "-o", out).exit_code == 0
    assert out.read_text() == run("convert", counts, "--to", "sketch").stdout
    back = run("convert", out)
    assert back.stdout.splitlines()[0] == "ann,bob,cy,count"
    assert Sketch.from_votes(read_votes(out)) == Sketch.from_votes(read_votes(counts))


def test_convert_zips_the_same_bytes_every_time(votes: Path) -> None:
    first, second = votes.with_name("a.csv.gz"), votes.with_name("b.csv.gz")
    run("convert", votes, "-o", first)
    run("convert", votes, "-o", second)
    assert first.read_bytes() == second.read_bytes()
    assert gzip.decompress(first.read_bytes()).decode() == run("convert", votes).stdout


# -- inspect --------------------------------------------------------------------------------------------------


def test_inspect_says_what_cannot_be_read_and_exits_with_status_2(tmp_path: Path) -> None:
    (tmp_path / "broken.csv").write_text("item,ann,bob\n1,a,b\n2,a\n")
    result = run("inspect", tmp_path / "broken.csv")
    assert result.exit_code == 2
    assert result.stderr == f"jurors: {tmp_path / 'broken.csv'}: line 3 has 2 fields where the header has 3; " + (
        "fill or remove cells\n"
    )
    (tmp_path / "counts.csv").write_text("item,juror,label,count\n1,ann,a,3\n2,ann,b,4\n")
    result = run("inspect", tmp_path / "counts.csv")
    assert "1, ann, a, 3" in result.stdout
    assert ("have counts" in result.stdout, result.stderr.count("have counts")) == (False, 1)
    assert "have counts" in run("inspect", tmp_path / "counts.csv", "--format", "json").stdout
    (tmp_path / "empty.csv").write_text("")
    assert run("inspect", tmp_path / "empty.csv").exit_code == 2
    missing = run("inspect", tmp_path / "nowhere.csv")
    assert missing.exit_code == 2
    assert missing.stderr.count("\n") == 1


def test_inspect_refuses_a_folder_without_votes_as_grade_does(tmp_path: Path) -> None:
    empty, prose = tmp_path / "empty", tmp_path / "prose"
    empty.mkdir()
    prose.mkdir()
    (prose / "readme.txt").write_text("hello\n")
    for folder in (empty, prose):
        for command in ("inspect", "grade"):
            assert "holds no file" in refused(command, folder)


def test_inspect_refuses_a_shard_that_is_cut_short(tmp_path: Path) -> None:
    packed = gzip.compress(VOTES.encode() * 50)
    (tmp_path / "a.csv").write_text(VOTES)
    (tmp_path / "b.csv.gz").write_bytes(packed[: len(packed) // 2])
    message = refused("inspect", tmp_path)
    assert "b.csv.gz" in message
    assert "cut short" in message


def test_a_file_called_like_an_option_is_suggested_as_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("-dash.csv").write_text(VOTES)
    assert "jurors agreement ./-dash.csv" in run("inspect", "--", "-dash.csv").stdout


# -- labels of Parquet files ----------------------------------------------------------------------------------


def test_labels_of_a_large_parquet_file_are_written_inside_duckdb_as_those_of_a_small_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    votes = simulate(300, jurors=4, votes_per_item=3, labels=["no", "yes"], seed=3).votes
    rows = [(f"q{i}", votes.jurors[j], votes.labels[c]) for i, j, c in zip(*votes.triples(), strict=True)]
    path, small, large = tmp_path / "votes.parquet", tmp_path / "small.parquet", tmp_path / "large.parquet"
    rows = [rows[k * 7 % len(rows)] for k in range(len(rows))]  # in no order of names
    table = pa.table(dict(zip(("item", "juror", "label"), map(list, zip(*rows, strict=True)), strict=True)))
    pq.write_table(table, path)
    assert run("label", path, "-o", small).exit_code == 0
    monkeypatch.setattr("jurors.jury.label._MOST_READ", 100)
    monkeypatch.setattr("jurors.votes.read.read_votes", None)
    done = run("label", path, "-o", large, "--ignore-alarm", "too_few_jurors", "--fail-on", "alarm")
    assert (done.exit_code, done.stdout) == (0, "")
    expected, written = (pq.read_table(file) for file in (small, large))
    assert written.schema.names == ["item", "label", "probability"]
    assert {str(kind) for kind in (written["label"].type, expected["label"].type)} == {"string"}
    assert written["item"].to_pylist() == expected["item"].to_pylist() != sorted(expected["item"].to_pylist())
    assert written["label"].to_pylist() == expected["label"].to_pylist()
    assert written["probability"].to_pylist() == pytest.approx(expected["probability"].to_pylist(), abs=1e-12)
    assert len(written) == 300
    monkeypatch.undo()
    pairs, by_pair = tmp_path / "pairs.parquet", ("--item", "question, model")
    item = [row[0] for row in rows]
    models = {"question": [name[:-1] for name in item], "model": [f"m{name[-1]}" for name in item]}
    pq.write_table(table.drop_columns("item").append_column("question", [models["question"]])
                   .append_column("model", [models["model"]]), pairs)  # fmt: skip
    assert run("label", pairs, "-o", small, *by_pair).exit_code == 0
    monkeypatch.setattr("jurors.jury.label._MOST_READ", 100)
    assert run("label", pairs, "-o", large, *by_pair).exit_code == 0
    expected, written = map(pq.read_table, (small, large))
    assert written.schema.names == expected.schema.names == ["item", "question", "model", "label", "probability"]
    assert written.drop_columns("probability").to_pylist() == expected.drop_columns("probability").to_pylist()
    crowd = tmp_path / "crowd.parquet"  # of too many jurors: its votes are read
    table = pa.table({"item": [k // 5 for k in range(1000)], "juror": [f"w{k * 7 % 150}" for k in range(1000)],
                      "label": ["yes" if k % 3 else "no" for k in range(1000)]})  # fmt: skip
    pq.write_table(table, crowd)
    monkeypatch.undo()
    monkeypatch.setattr("jurors.jury.label._MOST_READ", 100)
    assert run("label", crowd, "-o", large).exit_code == 0
    assert len(pq.read_table(large)) == 200
