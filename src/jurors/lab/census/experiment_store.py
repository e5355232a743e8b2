"""What an experiment keeps: the trained jury, and its tests as counts by true label, like the paper's Data S1 to S4."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from jurors._files import atomic_write
from jurors._numeric import Integers
from jurors.errors import VotesError
from jurors.lab.census.acs import LABEL_MEANING, LABELS
from jurors.lab.census.acs_jury import CensusJury


class ExperimentStore:
    """A folder for the jury, with one inside for each way of drawing; or nothing at all, where there is no folder.

    Used in a `with`: folders that it made and that nothing was written to are gone afterwards.
    """

    def __init__(self, folder: Path | None, draw: str) -> None:
        self.folder = folder
        self.inside = None if folder is None else folder / draw
        self._made: list[Path] = []

    def __enter__(self) -> ExperimentStore:
        if self.inside is not None:
            self._made = [path for path in (self.inside, *self.inside.parents) if not path.exists()]
            try:
                self.inside.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                self._tidy()
                raise VotesError(f"cannot make the folder {self.inside}: {error.strerror or error}") from None
        return self

    def __exit__(self, *_: object) -> None:
        self._tidy()

    def _tidy(self) -> None:
        for path in self._made:  # the innermost first
            with suppress(OSError):  # something is in it
                path.rmdir()

    def jury(self, fingerprint: str) -> CensusJury | None:
        """The jury that was trained with the same records and settings; another one is refused, not written over."""
        document = None if self.folder is None else _document(self.folder / "jury.json")
        if document is None:
            return None
        try:
            jury = CensusJury.from_dict(document)
        except (KeyError, TypeError, ValueError):
            return None  # not ours after all: train again
        if jury.fingerprint != fingerprint:
            raise VotesError(
                f"{self.folder} holds the jury of another experiment (other --data, --min-age, --train or --seed, or "
                "an earlier version of jurors): name another folder with -o, or remove this one"
            )
        return jury

    def keep_jury(self, jury: CensusJury) -> None:
        """Remember the jury."""
        if self.folder is not None:
            atomic_write(self.folder / "jury.json", json.dumps(jury.to_dict(), indent=1))

    def tests(self, prevalence: Fraction, about: Mapping[str, Any], items: int) -> Integers | None:
        """The tests that were drawn with the same jury and settings, (T, 2, 2^N)."""
        document = None if self.inside is None else _document(self.inside / sketches_name(prevalence))
        if document is None or document.get("Q") != items or any(document.get(k) != v for k, v in about.items()):
            return None
        try:
            return read_sketches(document)
        except (KeyError, TypeError, ValueError):
            return None

    def keep_tests(
        self, prevalence: Fraction, about: Mapping[str, Any], items: int, jurors: Sequence[str], sketches: Integers
    ) -> None:
        """Remember the tests."""
        if self.inside is not None:
            document = sketches_document(about, items, jurors, sketches)
            atomic_write(self.inside / sketches_name(prevalence), document_text(document))


def sketches_name(prevalence: Fraction) -> str:
    """The paper's file names.

    Examples
    --------
    >>> sketches_name(Fraction(1, 10)), sketches_name(Fraction(1, 3))
    ('pa0p1byTrueLabelTestSketches.json', 'pa1of3byTrueLabelTestSketches.json')
    """
    decimal = f"{float(prevalence):.6g}"
    exact = Fraction(decimal) == prevalence and "e" not in decimal
    share = decimal.replace(".", "p") if exact else f"{prevalence.numerator}of{prevalence.denominator}"
    return f"pa{share}byTrueLabelTestSketches.json"


def sketches_document(
    about: Mapping[str, Any], items: int, jurors: Sequence[str], sketches: Integers
) -> dict[str, Any]:
    """Counts by true label of many tests: for each test, true label -> decision tuple -> how many items."""
    names = ["".join(said) for said in product(LABELS, repeat=len(jurors))]
    totals = sketches.sum(axis=2)
    same = bool((totals == totals[:1]).all())
    return {
        "name": "acs_employment",
        **about,
        "jurors": list(jurors),
        "labels": list(LABELS),
        "label_meaning": LABEL_MEANING,
        "n_experiments": len(sketches),
        "true_label_totals": dict(zip(LABELS, totals[0].tolist(), strict=True)) if same else None,
        "Q": items,
        "by_true_label": [
            {label: dict(zip(names, row, strict=True)) for label, row in zip(LABELS, test, strict=True)}
            for test in sketches.tolist()
        ],
    }


def read_sketches(document: Mapping[str, Any]) -> Integers:
    """The counts of such a document, (T, 2, 2^N)."""
    names = ["".join(said) for said in product(document["labels"], repeat=len(document["jurors"]))]
    rows = [
        [[test[label][name] for name in names] for label in document["labels"]] for test in document["by_true_label"]
    ]
    return np.array(rows, dtype=np.int64).reshape(-1, 2, len(names))


def document_text(document: Mapping[str, Any]) -> str:
    """JSON with one test per line."""
    tests = ",\n".join("  " + json.dumps(test, separators=(",", ":")) for test in document["by_true_label"])
    head = json.dumps({k: v for k, v in document.items() if k != "by_true_label"}, ensure_ascii=False, indent=1)
    return f'{head[:-2]},\n "by_true_label": [\n{tests}\n ]\n}}\n'


def _document(path: Path) -> dict[str, Any] | None:
    """A JSON document, or None where there is none that can be read: it is made again."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return document if isinstance(document, dict) else None
