"""The summary table: by kind of input and by command, and what failed, by signature."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from fuzz.pool import Result

_HEAD = ("", "cases", "exit 0", "exit 2", "exit 3", "tracebacks", "hangs", "blow-ups", "other", "slowest s", "peak MB")


def print_summary(results: Sequence[Result]) -> int:
    """Print it; the exit status is 1 where a case failed."""
    print("\nby kind of input")
    _print_table(results, lambda one: str(one["kind"]))
    print("\nby command")
    _print_table(results, lambda one: str(one["command"]))
    bad = [one for one in results if one["faults"]]
    for signature, ones in sorted(_grouped(bad, lambda one: str(one["signature"])).items(), key=lambda s: -len(s[1])):
        print(f"{len(ones):6} x {signature}   (cases {', '.join(str(one['number']) for one in ones[:4])})")
    print(f"\n{len(results):,} cases, {len(bad):,} failed")
    return 1 if bad else 0


def _grouped(results: Sequence[Result], by: Callable[[Result], str]) -> dict[str, list[Result]]:
    groups: dict[str, list[Result]] = defaultdict(list)
    for one in results:
        groups[by(one)].append(one)
    return groups


def _print_table(results: Sequence[Result], by: Callable[[Result], str]) -> None:
    rows = [_row(name, ones) for name, ones in sorted(_grouped(results, by).items())]
    rows.append(_row("all", results))
    widths = [max(len(row[k]) for row in (_HEAD, *rows)) for k in range(len(_HEAD))]
    for row in (_HEAD, *rows):
        first, *rest = (
            cell.ljust(width) if k == 0 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        print("  ".join((first, *rest)))


def _row(name: str, ones: Sequence[Result]) -> tuple[str, ...]:
    exits = [sum(one["status"] == status for one in ones) for status in (0, 2, 3)]
    words = [one["faults"][0] for one in ones if one["faults"]]
    told = [
        sum(word == "traceback" or word == "crash" for word in words),
        sum(word in ("hang", "slow") for word in words),
        words.count("memory"),
    ]
    slowest, peak = max(one["seconds"] for one in ones), max(one["peak"] for one in ones)
    numbers = (len(ones), *exits, *told, len(words) - sum(told))
    return (name, *(f"{number:,}" if number else "0" for number in numbers), f"{slowest:.1f}", str(peak >> 20))
