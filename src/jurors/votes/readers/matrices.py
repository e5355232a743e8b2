"""Votes as bare numbers: numpy matrices, and counts of decision tuples.

Matrices (`.npy`, `.npz`) as snorkel, cleanlab and numpy hold them: items x jurors, integers, -1 or NaN for no vote. An
`.npz` archive may name what its matrix holds: `jurors` (or `annotators`), `items`, and `classes`, of which a cell is
then a position. Nothing pickled is ever loaded.

Counts of decision tuples by true label, as in the paper's Data S1 to S4, where the truth is in the file:

    {"jurors": ["i", "j", "k"], "labels": ["a", "b"],
     "by_true_label": {"a": {"aab": 168, …}, "b": {"aab": 385, …}}}

or a list of such experiments; or only the inner part, {"a": {"aab": 168}, …}; or {"observed": {"aab": 553, …}} where
the truth is not known. A decision tuple is written with one character per juror, or with commas: "yes,no,yes".
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.errors import VotesError
from jurors.options import Label
from jurors.votes.codes import ordered_labels
from jurors.votes.io.local_files import first_line
from jurors.votes.io.sources import PIECES
from jurors.votes.readers.base import Files, Node, Reader, shorten_value
from jurors.votes.table import Votes

# -- numpy matrices -------------------------------------------------------------------------------------------

_NUMPY, _ZIP, _GZIP = b"\x93NUMPY", b"PK\x03\x04", b"\x1f\x8b"
_MATRIX_NAMES = ("votes", "L", "labels")
_NAMES = {"jurors": ("jurors", "annotators"), "items": ("items",), "labels": ("classes",)}
_BLOCK = 1 << 22  # cells checked at a time, so that a huge file needs no second copy in memory
_HIGHEST = 2**31 - 1


def _is_array(files: Files, path: Path) -> bool:
    """Whether a file is an array, or an archive whose first member is one."""
    head = files.head(path)
    if head.startswith(_ZIP):
        return head[30 : 30 + int.from_bytes(head[26:28], "little")].endswith(b".npy")
    return head.startswith(_NUMPY)


def _recognises_matrix(files: Files) -> bool:
    """Whether the first file, or one that the user named, is an array: beside tables, one may hold anything."""
    return any(_is_array(files, path) for path in (*files.paths[:1], *files.named))


def _read_matrix(files: Files) -> Votes:
    paths = files.own(lambda path: _is_array(files, path), MATRIX.TITLE, tables=False) or files.paths
    if len(paths) > 1:
        names = ", ".join(path.name for path in paths[:3])
        raise VotesError(f"{len(paths)} files ({names} …); a matrix is read from one: name it")
    arrays = _load_arrays(files, paths[0])
    matrices = {name: array for name, array in arrays.items() if array.ndim == 2}
    candidates = list(matrices) if len(matrices) == 1 else [name for name in _MATRIX_NAMES if name in matrices]
    if len(arrays) == 1 and not matrices:
        (array,) = arrays.values()
        raise VotesError(f"the matrix needs 2 dimensions (items x jurors), this one has the shape {array.shape}")
    if len(candidates) != 1:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in list(arrays.items())[:8]) or "none"
        raise VotesError(
            f"it is not clear which array holds the votes: {shapes}; call the matrix (items x jurors) 'votes'"
        )
    cells = matrices[candidates[0]]
    axes: dict[str, Any] = {}
    if len(arrays) > 1:
        for axis, known in _NAMES.items():
            name = next((name for name in known if name in arrays and arrays[name].ndim == 1), None)
            axes[axis] = None if name is None else arrays[name].tolist()
    if cells.dtype.names is not None or cells.dtype.kind not in "biuf":
        raise VotesError(f"the matrix holds {cells.dtype} cells; expected whole numbers (labels as text: save a CSV)")
    if not cells.size:
        raise VotesError(f"the matrix is empty: {cells.shape[0]} items x {cells.shape[1]} jurors")
    if cells.dtype.kind == "f":
        codes = np.empty(cells.shape, dtype=np.int32)  # -1 for NaN
        step = max(1, _BLOCK // cells.shape[1])
        for start in range(0, len(cells), step):
            block = np.asarray(cells[start : start + step], dtype=np.float64)
            given = np.where(np.isnan(block), -1.0, block)
            wrong = (given != np.rint(given)) | (given < -1) | (given > _HIGHEST)
            if wrong.any():
                raise _bad_cell(block, wrong, "expected whole numbers of at least 0, or -1 or NaN for no vote", start)
            codes[start : start + step] = given
        cells = codes
    elif cells.dtype.kind == "i" and cells.min() < -1:
        raise _bad_cell(cells, cells < -1, "a label is 0 or more, and only -1 means a missing vote")
    votes = Votes.from_matrix(cells, **axes)
    if not votes.n_votes:
        raise VotesError(f"this {MATRIX.TITLE} holds no votes: every cell is -1 or NaN")
    return votes


def _load_arrays(files: Files, path: Path) -> dict[str, NDArray[Any]]:
    """Every array of the file by its name; the only one of an `.npy` is called votes."""
    start = b""
    try:
        with path.open("rb") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # numpy warns of files from Python 2
            start = file.read(6)
            file.seek(0)
            content: Any = file
            if start.startswith(_GZIP):
                with files.open(path, PIECES) as packed:
                    content = io.BytesIO(packed.read())
            is_array = start.startswith(_NUMPY[:2])  # only by its name can a file be mapped into memory
            loaded = np.load(path if is_array else content, mmap_mode="r" if is_array else None, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                return {"votes": np.asarray(loaded)}
            with loaded:
                unpacked = sum(member.file_size for member in loaded.zip.infolist())
                PIECES.check(unpacked, path.stat().st_size, files.allowed)
                members = {name: loaded[name] for name in loaded.files}
        return {name: array for name, array in members.items() if isinstance(array, np.ndarray)}  # others are bytes
    except VotesError:
        raise
    except Exception as error:  # a damaged header fails in numpy's, zip's or even Python's own parser, each in its way
        if "Object arrays" in str(error) or "Python objects" in str(error):
            raise VotesError(
                "it holds Python objects, which are never loaded; save whole numbers: np.save(path, votes.astype(int))"
            ) from None
        if not start.startswith((_NUMPY, _ZIP[:2], _GZIP)) or "pickle" in str(error):
            raise VotesError(
                f"this is not a valid {MATRIX.TITLE} (.npy or .npz); save one with np.save(path, votes)"
            ) from None
        reason = first_line(error)[:80]
        message = f"the {MATRIX.TITLE} is broken or cut short ({reason}); write or download the file again"
        raise VotesError(message, code="damaged") from None


def _bad_cell(cells: NDArray[Any], wrong: NDArray[np.bool_], why: str, start: int = 0) -> VotesError:
    row, column = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    return VotesError(f"cell [{start + row}, {column}] of the matrix is {cells[row, column]}: {why}")


MATRIX = Reader("numpy matrix", _recognises_matrix, _read_matrix)


# -- counts of decision tuples --------------------------------------------------------------------------------

_NAMED = re.compile(rb'"(?:by_true_label|observed)"\s*:\s*[{\[]')
_BARE = re.compile(rb'\[?\s*\{\s*"(?:[^"]"\s*:\s*\{\s*"[^",]{2,}|[^"]+"\s*:\s*\{\s*"[^",]+,[^"]+)"\s*:\s*\d+\s*[,}]')


def _recognises_counts(files: Files) -> bool:
    """Whether the file begins with counts by true label; a record per line, {"q": {"id": 7}, …}, may look alike."""
    head = files.head()
    if len(files.paths) != 1 or files.holds_lines():
        return False
    return _NAMED.search(head) is not None or _BARE.match(head.lstrip()) is not None


def by_true_label(document: Any) -> Votes:
    """Read counts of decision tuples from a parsed JSON document.

    Returns
    -------
    Votes
        One weighted row per entry: the sum over the true labels, and over the experiments where there are several.

    Examples
    --------
    >>> votes = by_true_label({"a": {"aab": 2, "abb": 1}, "b": {"aab": 3}})
    >>> votes.total, votes.counts.tolist()
    (6, [2, 1, 3])
    """
    entries = [entry for experiment in experiments(document) for entry in _entries(experiment)]
    if not entries:
        raise VotesError("there are no counts in this file")
    header = document if isinstance(document, Mapping) else {}
    for part in ("jurors", "labels"):
        names = header.get(part, [])
        if not isinstance(names, list) or not all(isinstance(name, (str, int)) for name in names):
            raise VotesError(f'"{part}" must be a list of names, found {shorten_value(names)}')
        for name in names:
            Node(name, path=part).single()
    rows = [tuple(key.split(",")) if "," in key else tuple(key) for _, key, _ in entries]
    jurors = header.get("jurors")
    width = len(rows[0]) if jurors is None else len(jurors)
    for row in rows:
        if len(row) != width:
            key = "".join(row) if all(len(value) == 1 for value in row) else ",".join(row)
            raise VotesError(f"decision tuple {key!r} has {len(row)} decisions, but there are {width} jurors")
    given = {value for row in rows for value in row} | {label for label, _, _ in entries if label is not None}
    labels = tuple(map(str, header["labels"])) if "labels" in header else ordered_labels(given)
    if unknown := sorted(given - set(labels)):
        raise VotesError(f"label {unknown[0]!r} is counted, but is not among the labels {', '.join(map(str, labels))}")
    place = {label: k for k, label in enumerate(labels)}
    codes = np.array([[place[value] for value in row] for row in rows])
    juror_names = None if jurors is None else [str(name) for name in jurors]
    return Votes.from_matrix(codes, jurors=juror_names, labels=labels, counts=[count for _, _, count in entries])


def experiments(document: Any) -> list[Any]:
    """List the experiments of a document with counts by true label.

    Returns
    -------
    list
        Of mappings from true label (None where it is unknown) to counts by decision tuple, not yet checked.
    """
    if isinstance(document, list):
        return document
    if not isinstance(document, Mapping):
        raise VotesError(f"counts by true label are a JSON object, not {shorten_value(document)}")
    part = document.get("by_true_label", document.get("observed", document))
    if isinstance(part, list):
        return part
    return [part if part is not document.get("observed") else {None: part}]


def _entries(experiment: Any) -> Iterator[tuple[Label | None, str, int]]:
    """The true label, the decision tuple and the count of each entry."""
    if not isinstance(experiment, Mapping):
        raise VotesError(f"an experiment maps each true label to counts, found {shorten_value(experiment)}")
    for label, counts in experiment.items():
        Node(label, path="the true label").single()
        if not isinstance(counts, Mapping):
            raise VotesError(f"the counts of true label {label!r} must be an object, found {shorten_value(counts)}")
        for key, count in Node(counts).entries():
            if type(count.value) is not int or count.value < 0:
                raise VotesError(
                    f"the count of {key!r} must be a whole number, 0 or more; found {shorten_value(count.value)}"
                )
            yield label, key, count.value


BY_TRUE_LABEL = Reader(
    "file of decision counts (by true label, where it is known)",
    _recognises_counts,
    lambda files: by_true_label(files.document().value),
)
