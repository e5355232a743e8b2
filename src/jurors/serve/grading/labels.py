"""Labels of items, from the label of each decision tuple; and the items where a person's label would teach most."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from jurors.evaluate import Evaluation
from jurors.jury import Labelling, label
from jurors.jury.review import Teaching
from jurors.numbers.arrays import Integers
from jurors.serve.kept.counted_votes import CountedVotes
from jurors.serve.kept.kept_gold import KeptGold
from jurors.serve.stores import Store
from jurors.votes import Label, Votes


@dataclass
class Labelled:
    """A row for each decision tuple, apart for items that have gold, each with its label."""

    counted: CountedVotes
    evaluate: Callable[[], Evaluation]

    @cached_property
    def rows(self) -> list[tuple[bytes, str | None, int]]:
        """(key, gold label as JSON or None, items)."""
        known: dict[bytes, int] = defaultdict(int)
        for (key, _), times in self.counted.gold.items():
            known[key] += times
        counts = self.counted.panes.counts()
        rest = [(key, None, times - known[key]) for key, times in sorted(counts.items()) if times > known[key]]
        return [
            *rest,
            *((key, text, times) for (key, text), times in sorted(self.counted.gold.items()) if key in counts),
        ]

    @cached_property
    def votes(self) -> Votes:
        """The rows as votes."""
        return self.counted.panes.to_votes([key for key, _, _ in self.rows], [times for _, _, times in self.rows])

    @property
    def gold(self) -> list[Label | None]:
        """The gold label of each row."""
        return [None if text is None else json.loads(text) for _, text, _ in self.rows]

    @cached_property
    def labelling(self) -> Labelling:
        """The label of each row."""
        if self.counted.gold:
            return label(self.votes, gold=self.gold)
        return label(self.votes, evaluation=self.evaluate())

    @cached_property
    def _place(self) -> dict[tuple[bytes, str | None], int]:
        return {(key, text): row for row, (key, text, _) in enumerate(self.rows)}

    def of_items(self, items: Iterable[tuple[str, bytes]], gold: dict[str, str]) -> list[dict[str, Any]]:
        """The label of each item, by its key and what a person said of it."""
        labels, chances = self.labelling.label.tolist(), self.labelling.probability.tolist()
        listed = []
        for item, key in items:
            row = self._place.get((key, gold.get(item)), self._place.get((key, None)))
            chance = None if row is None or chances[row] != chances[row] else chances[row]
            listed.append({"item": item, "label": None if row is None else labels[row], "probability": chance})
        return listed

    # -- review -------------------------------------------------------------------------------------------------------

    def for_review(self, limit: int, store: Store) -> list[dict[str, Any]]:
        """The items to look at first: what each is labelled, what a label would teach and why, and who said what."""
        listed, reasons = self._first(limit)
        wanted = Counter(self.rows[row][0] for row in listed.tolist())
        waiting = KeptGold(store).open_items(self.counted.project.id, wanted)
        chances = self.labelling.probability.tolist()
        labels = self.labelling.label.tolist()
        shown = []
        for place, row in enumerate(listed.tolist()):
            key = self.rows[row][0]
            if not waiting[key]:  # its votes went by, or it changed a moment ago
                continue
            chance = None if chances[row] != chances[row] else chances[row]
            about = {name: values[place] for name, values in reasons.items()}
            said = self.counted.said(key)
            shown.append(
                {"item": waiting[key].pop(0), "label": labels[row], "probability": chance, **about, "votes": said}
            )
        return shown

    def _first(self, limit: int) -> tuple[Integers, dict[str, Any]]:
        """Rows, one for each item that is listed, and the reasons. A row is there as often as it can be listed."""
        often = [0 if text is not None else min(times, limit) for _, text, times in self.rows]
        at = np.repeat(np.arange(len(self.rows)), often)
        teaching = self.labelling.taught
        if teaching is None:
            chances = np.nan_to_num(self.labelling.probability[at], nan=-1.0)
            return at[np.argsort(chances, kind="stable")[:limit]], {}
        each = Teaching(teaching.own[at], teaching.others[at], teaching.alike[at], teaching.kind[at])
        first, taught = each.first(limit)
        return at[first], {"teaches": taught.tolist(), "why": each.why(first)}
