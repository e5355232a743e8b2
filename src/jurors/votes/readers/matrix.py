"""Integer matrices as snorkel, cleanlab and numpy keep them: items x jurors, -1 or NaN for no vote (`.npy`, `.npz`).

An `.npz` archive may name what its matrix holds: `jurors` (or `annotators`), `items`, and `classes`, of which a cell is
then a position. Nothing pickled is ever loaded.
"""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.errors import VotesError
from jurors.votes.io.local_files import first_line, matrix_holds
from jurors.votes.io.sources import PIECES
from jurors.votes.readers.base import Files
from jurors.votes.table import Votes

TITLE = "numpy matrix"
_NUMPY, _ZIP, _GZIP = b"\x93NUMPY", b"PK\x03\x04", b"\x1f\x8b"
_MATRIX_NAMES = ("votes", "L", "labels")
_NAMES = {"jurors": ("jurors", "annotators"), "items": ("items",), "labels": ("classes",)}
_BLOCK = 1 << 22  # cells looked at together, so that a huge file needs no second copy of itself
_HIGHEST = 2**31 - 1


def recognises(files: Files) -> bool:
    """Whether the first file is an array, or an archive whose first member is one."""
    return any(_is_array(files, path) for path in files.telling)


def _is_array(files: Files, path: Path) -> bool:
    head = files.head(path)
    if head.startswith(_ZIP):
        return head[30 : 30 + int.from_bytes(head[26:28], "little")].endswith(b".npy")
    return head.startswith(_NUMPY)


def read(files: Files) -> Votes:
    """The matrix of the one file there is."""
    paths = files.own(lambda path: _is_array(files, path), TITLE, tables=False) or files.paths
    if len(paths) > 1:
        names = ", ".join(path.name for path in paths[:3])
        raise VotesError(f"{len(paths)} files ({names} …); a matrix is read from one: name it")
    arrays = _load(files, paths[0])
    cells = _matrix(arrays)
    named: dict[str, Any] = {key: _named(arrays, names) for key, names in _NAMES.items()} if len(arrays) > 1 else {}
    votes = Votes.from_matrix(_checked(cells), **named)
    if not votes.n_votes:
        raise VotesError(f"this {TITLE} holds no votes: every cell is -1 or NaN")
    return votes


def _load(files: Files, path: Path) -> dict[str, NDArray[Any]]:
    """Every array of the file by its name; the only one of an `.npy` is called votes."""
    try:
        with path.open("rb") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # numpy's own, of files from Python 2
            start = file.read(2)
            if start == _NUMPY[:2]:
                return {"votes": np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))}
            if start == _GZIP:
                with files.reading(path, PIECES) as packed:
                    return _arrays(io.BytesIO(packed.read()), path.stat().st_size, files.allowed)
            file.seek(0)
            return _arrays(file, path.stat().st_size, files.allowed)
    except VotesError:
        raise
    except Exception as error:  # a damaged header fails in numpy's, zip's or even Python's own parser, each in its way
        raise _fault(path, error) from None


def _arrays(stream: Any, packed: int, allowed: int | None) -> dict[str, NDArray[Any]]:
    loaded = np.load(stream, allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        return {"votes": loaded}
    with loaded:
        PIECES.check(sum(member.file_size for member in loaded.zip.infolist()), packed, allowed)
        members = {name: loaded[name] for name in loaded.files}
    return {name: one for name, one in members.items() if isinstance(one, np.ndarray)}  # others come as bytes


def _fault(path: Path, error: Exception) -> VotesError:
    if (holds := matrix_holds(error)) == "objects":
        return VotesError(
            "it holds Python objects, which are never loaded; save whole numbers: np.save(path, votes.astype(int))"
        )
    with path.open("rb") as file:
        if not file.read(6).startswith((_NUMPY, _ZIP[:2], _GZIP)) or holds == "pickle":
            return VotesError(f"this is no {TITLE} (.npy or .npz); save one with np.save(path, votes)")
    reason = first_line(error)[:80]
    message = f"the {TITLE} is broken or cut short ({reason}); write or fetch the file again"
    return VotesError(message, code="damaged")


def _matrix(arrays: dict[str, NDArray[Any]]) -> NDArray[Any]:
    """The array that holds the votes."""
    flat = {name: array for name, array in arrays.items() if array.ndim == 2}
    if len(arrays) == 1:
        (array,) = arrays.values()
        if array.ndim != 2:
            raise VotesError(f"the matrix needs 2 dimensions (items x jurors), this one has the shape {array.shape}")
        return array
    usual = [name for name in _MATRIX_NAMES if name in flat]
    candidates = list(flat) if len(flat) == 1 else usual
    if len(candidates) != 1:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in list(arrays.items())[:8]) or "none"
        raise VotesError(
            f"it is not clear which array holds the votes: {shapes}; call the matrix (items x jurors) 'votes'"
        )
    return flat[candidates[0]]


def _named(arrays: dict[str, NDArray[Any]], names: tuple[str, ...]) -> list[Any] | None:
    first = next((name for name in names if name in arrays and arrays[name].ndim == 1), None)
    return None if first is None else arrays[first].tolist()


def _checked(cells: NDArray[Any]) -> NDArray[Any]:
    """The matrix as integers; VotesError where it cannot be votes."""
    if cells.dtype.names is not None or cells.dtype.kind not in "biuf":
        raise VotesError(f"the matrix holds {cells.dtype} cells; expected whole numbers (labels as text: save a CSV)")
    if not cells.size:
        raise VotesError(f"the matrix is empty: {cells.shape[0]} items x {cells.shape[1]} jurors")
    if cells.dtype.kind == "f":
        return _whole(cells)
    if cells.dtype.kind == "i" and cells.min() < -1:
        raise _bad_cell(cells, cells < -1, "a label is 0 or more, and only -1 means no vote")
    return cells


def _whole(cells: NDArray[Any]) -> NDArray[np.int32]:
    codes = np.empty(cells.shape, dtype=np.int32)
    step = max(1, _BLOCK // cells.shape[1])
    for start in range(0, len(cells), step):
        block = np.asarray(cells[start : start + step], dtype=np.float64)
        given = np.where(np.isnan(block), -1.0, block)
        wrong = (given != np.rint(given)) | (given < -1) | (given > _HIGHEST)
        if wrong.any():
            raise _bad_cell(block, wrong, "expected whole numbers from 0 on, and -1 or NaN for no vote", start)
        codes[start : start + step] = given
    return codes


def _bad_cell(cells: NDArray[Any], wrong: NDArray[np.bool_], why: str, start: int = 0) -> VotesError:
    row, column = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    return VotesError(f"cell [{start + row}, {column}] of the matrix is {cells[row, column]}: {why}")
