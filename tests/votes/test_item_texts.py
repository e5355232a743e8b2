"""What shows an item: out of tables and logs, joined by the item's name."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd
import pytest
from other_tools import SAMPLES

from jurors.errors import VotesError
from jurors.votes.key import read_item_texts, read_votes_with_texts

LINES = '{"id": 7, "q": [{"role": "user", "content": "2 + 2?"}]}\n{"id": "x", "q": "why?"}\n'


def test_a_table_of_items_may_be_csv_json_lines_or_parquet(tmp_path: Path) -> None:
    frame = pd.DataFrame({"item": [1.0, 2.0, None], "q": ["one\nline", "zwei", "none"], "a": ["x", None, "y"]})
    frame.to_parquet(tmp_path / "items.parquet")
    frame.to_csv(tmp_path / "items.csv", index=False)
    expected = {"q": ("zwei", "one\nline"), "a": ("", "x")}
    assert read_item_texts(str(tmp_path / "items.parquet"), ["q", "a"]).of([2, 1]) == expected
    assert read_item_texts(str(tmp_path / "items.csv"), ["q", "a"]).of(["2.0", "1.0"]) == expected
    (tmp_path / "items.jsonl").write_text(LINES)
    assert read_item_texts(str(tmp_path / "items.jsonl"), "q").of(["x", "7"]) == {"q": ("why?", "user: 2 + 2?")}


def test_nested_columns_of_parquet_are_shown(tmp_path: Path) -> None:
    chat = [{"role": "user", "content": "hm"}, {"role": "bot", "content": "ah"}]
    pd.DataFrame({"item": ["a"], "chat": [chat]}).to_parquet(tmp_path / "items.parquet")
    shown = read_item_texts(str(tmp_path / "items.parquet"), "chat").of(["a"])
    assert shown == {"chat": ("user: hm\n\nbot: ah",)}


def test_a_column_of_the_votes_own_file_is_no_juror() -> None:
    wide = "item,question,ann,bob\n1,why?,yes,no\n2,how?,no,no\n"
    votes, texts = read_votes_with_texts(io.StringIO(wide), "question")
    assert votes.jurors == ("ann", "bob")
    assert texts is not None
    assert texts.of([2]) == {"question": ("how?",)}
    long = "item,juror,label,question\n1,ann,yes,why?\n1,bob,no,why?\n2,ann,no,how?\n"
    _, texts = read_votes_with_texts(io.StringIO(long), "question")
    assert texts is not None
    assert texts.of([1, 2]) == {"question": ("why?", "how?")}


def test_what_looks_like_a_formula_is_read_as_csv_writes_it() -> None:
    assert read_item_texts(io.StringIO("item,q\n'=1+1,'=2+2\n"), "q").of(["=1+1"]) == {"q": ("=2+2",)}


def test_items_without_a_text_are_told() -> None:
    with pytest.raises(VotesError, match=r"2 of the 3 items to show have no text, such as 8"):
        read_item_texts(io.StringIO("item,q\n7,one\n9,\n"), "q").of([7, 8, 9])


@pytest.mark.parametrize(
    ("sample", "item", "expected"),
    [
        ("promptfoo/results.json", "test 0, prompt 0, parrot", dict.fromkeys(("question", "answer"), "Say: apple pie")),
        ("label_studio/json.json", 1, {"text": "Paris is in France."}),
        ("argilla/nested.json", "q1", {"text": "Paris is in France."}),
        ("argilla/flat.jsonl", "q1", {"text": "Paris is in France.", "source": "hand"}),
    ],
    ids=["promptfoo", "label studio", "argilla", "argilla flat"],
)
def test_a_log_shows_what_it_holds(sample: str, item: object, expected: dict[str, str]) -> None:
    texts = read_item_texts(SAMPLES / sample)
    assert {name: values[0] for name, values in texts.of([item]).items()} == expected


def test_other_logs_show_the_question() -> None:
    _, minimal = read_votes_with_texts(SAMPLES / "label_studio" / "json_min.json", tool="label-studio:verdict")
    assert minimal is not None
    assert minimal.of([1]) == {"text": ("Paris is in France.",)}
    for name in ("traces.json", "traces.jsonl"):
        _, traces = read_votes_with_texts(SAMPLES / "mlflow" / name, tool="mlflow:correct")
        assert traces is not None
        assert traces.columns == ("question", "answer")
        assert next(iter(traces.by_item.values())) == ('{\n "question": "q0"\n}', "Q0")
    for task in ("colours", "words"):
        _, asked = read_votes_with_texts(SAMPLES / "lm_eval", tool=f"lm-eval:{task}")
        assert asked is not None
        assert asked.of([f"{task}/0"]) == {"question": ("Q: Which colour has grass?\nA:",)}


def test_a_log_without_texts_says_so() -> None:
    with pytest.raises(VotesError, match="there is no column 'reply'"):
        read_item_texts(SAMPLES / "promptfoo" / "results.json", "reply")
    with pytest.raises(VotesError, match="holds no text of its items"):
        read_item_texts(SAMPLES / "matrix" / "snorkel.npy", "question")
