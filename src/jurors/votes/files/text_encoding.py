"""Text that is not UTF-8, as spreadsheets save it: UTF-16 and Windows-1252 through a copy, where it is surely that."""

from __future__ import annotations

import codecs
import re
import shutil
from pathlib import Path

from jurors.errors import VotesError

_BLOCK = 1 << 20
_LITTLE, _BIG = codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE
_FEWEST, _LOOKED_AT = 16, 4096
_FOREIGN = re.compile(r"[^\x00-\x7f]+")
_INSIDE = "‘’–—·°®™ªº²³"  #: what may stand between two letters, beside letters


def utf16_of(head: bytes) -> str | None:
    r"""Which UTF-16 this is: by its mark, or because every other byte is zero, as in Western text; None for others.

    >>> utf16_of("yes;no\n".encode("utf-16")), utf16_of("yes;no;yes;no\n".encode("utf-16-be")), utf16_of(b"yes;no\n")
    ('utf-16', 'utf-16-be', None)
    """
    if head.startswith((_LITTLE + b"\0\0", b"\0\0" + _BIG)):
        raise VotesError("the text is UTF-32; save it as UTF-8")
    if head.startswith((_LITTLE, _BIG)):
        return "utf-16"
    some = head[: min(_LOOKED_AT, len(head) // 2 * 2)]
    zeros = some[0::2].count(0), some[1::2].count(0)
    if len(some) < _FEWEST or min(zeros) or max(zeros) < 0.45 * len(some):
        return None
    return "utf-16-be" if zeros[0] else "utf-16-le"


def is_windows_text(head: bytes) -> bool:
    """Whether text that is not UTF-8 reads as Western European text of Windows does, and as no other.

    Letters stand among others of their case, few side by side; a Mac's é would be a Ž within a small word, Cyrillic or
    Chinese a run of accents.

    >>> [is_windows_text("naïve café, „weiß“".encode(code)) for code in ("cp1252", "mac_roman", "utf-8")]
    [True, False, False]
    >>> is_windows_text("да;нет".encode("cp1251"))
    False
    """
    try:
        text = head.decode("cp1252")
    except UnicodeDecodeError:
        return False
    return all(_is_western(text, match.start(), match.end()) for match in _FOREIGN.finditer(text))


def _is_western(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    letters = text[start:end]
    if len(letters) > 2 or any(c < "\xa0" for c in letters):  # control characters beyond ASCII
        return False
    if before.islower() and letters[0].isupper():
        return False
    return not (before.isalpha() and after.isalpha()) or all(c.isalpha() or c in _INSIDE for c in letters)


def recoded(path: Path, target: Path, encoding: str) -> Path:
    """The same text in UTF-8."""
    try:
        with path.open(encoding=encoding, newline="") as file, target.open("w", encoding="utf-8", newline="") as out:
            shutil.copyfileobj(file, out, _BLOCK)
    except UnicodeError as error:
        raise VotesError(f"the text is {encoding.upper()}, and broken ({str(error)[-60:]}); save it as UTF-8") from None
    return target
