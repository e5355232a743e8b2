"""Names, labels and values to try: ordinary ones, and those that break readers, terminals and pages."""

from __future__ import annotations

import random
from typing import Any

#: What a forged line would begin with: no line of a terminal may.
FORGED = "FORGED: no alarm rang"

PLAIN = ("ann", "bob", "cy", "dee", "eve", "gpt-4", "claude 3", "Müller", "法官", "judge_7", "a.b", "x")
LABELS = (
    ("no", "yes"), ("A", "B", "C"), ("0", "1"), ("1", "2", "3", "4", "5"), ("true", "false"), ("pos", "neg", "neu"),
)  # fmt: skip
COLUMN_WORDS = (
    "item", "item_id", "juror", "worker", "label", "vote", "count", "n", "gold", "key", "text", "time", "id", "model",
    "answer", "truth", "score", "majority", "freq", "image_id", "winner", "split",
)  # fmt: skip
HOSTILE = (
    "\x1b[2J\x1b[31mred", "\x1b]0;title\x07", "\x1b]8;;http://x.test\x07link\x1b]8;;\x07", "\x9b31m",
    "\u202eevil\u202c", f"ann\n{FORGED}", f"ann\r{FORGED}", f"ann\r\n{FORGED}", f"ann\u2028{FORGED}",
    f"ann\x85{FORGED}", f"ann\x0b{FORGED}", "=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)",
    "<script>alert(1)</script>", "</script><b>", "&amp;&lt;", "a|b|c", "`code`", "[x](javascript:alert(1))",
    "**bold**", "[red]rich[/red]", "[/]", "{{7*7}}", "{0}", "%s%n", "$HOME", "\\", "a\\", "'", '"', '""', "a'b\"c",
    "a,b", "a;b", "a\tb", " ", "", "\u00a0", "\u200b", "\x00", "a\x00b", "\x7f", "\ufeff", "\ud800", "é", "e\u0301",
    "ß", "İ", "\U0001f600", "null", "None", "NaN", "N/A", "-", "?", "nan", "inf", "-inf", "1e400", "0x10", "1_000",
    "01", "1.0", "True", "-1", "x" * 300, "ü" * 5_000, "item", "count", "label", "juror", "..", "../../etc/passwd",
    "con", "-h", "--help", "@file", "a:b", "a>=b", "a=b", "A/B", "__proto__", "constructor",
)  # fmt: skip
NUMBERS = (
    0, 1, -1, 2, 7, 100, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**64, 10**30, 0.5, -0.0, 1e-320, 1e308, 1.5, float("nan"),
    float("inf"), float("-inf"),
)  # fmt: skip
OTHERS: tuple[Any, ...] = (
    None, True, False, "", "text", [], {}, [[]], [None], {"a": 1}, ["a", 1], {"": {}}, "1", "0.5",
)  # fmt: skip


def name(rng: random.Random, *, wild: float) -> str:
    """A name; with this chance a hostile one."""
    return rng.choice(HOSTILE) if rng.random() < wild else rng.choice(PLAIN)


def names(rng: random.Random, count: int, *, wild: float) -> list[str]:
    """Distinct names."""
    chosen: dict[str, None] = {}
    for k in range(count):
        one = name(rng, wild=wild)
        chosen[one if one not in chosen else f"{one}{k}"] = None
    return list(chosen)


def value(rng: random.Random) -> Any:
    """Any value that JSON or a cell could hold."""
    return rng.choice(rng.choice((HOSTILE, NUMBERS, OTHERS)))
