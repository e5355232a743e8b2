"""What of a file or a database is meant: `book.xlsx::Sheet2`, `votes.db::judged`, `postgresql://host/db::judged`."""

from __future__ import annotations

import os
import re
from urllib.parse import parse_qsl, urlencode

BETWEEN = "::"
_SERVED = ("postgresql://", "postgres://")


def is_served(source: object) -> bool:
    """Whether a source is the address of a database that a server keeps.

    >>> is_served("postgresql://db.example/votes"), is_served("votes.db")
    (True, False)
    """
    return isinstance(source, str) and source.startswith(_SERVED)


def split_inside(name: str) -> tuple[str, str]:
    """The file and what of it is meant, "" where nothing is said; a file of this very name is meant as a whole.

    >>> split_inside("book.xlsx::Sheet 2!B3"), split_inside("votes.csv")
    (('book.xlsx', 'Sheet 2!B3'), ('votes.csv', ''))
    """
    if BETWEEN not in name or os.path.exists(name):
        return name, ""
    file, _, inside = name.partition(BETWEEN)
    return file, inside


def split_address(url: str) -> tuple[str, str]:
    """The address as PostgreSQL knows it and the table, which stands behind `::` or in `?table=`.

    >>> split_address("postgresql://db.example/votes::judged")
    ('postgresql://db.example/votes', 'judged')
    >>> split_address("postgresql://db.example/votes?sslmode=require&table=judged")
    ('postgresql://db.example/votes?sslmode=require', 'judged')
    """
    # an address of the sixth version, [2001::1], has colons of its own
    match = re.fullmatch(r"(.*[^\[\]:]|.*\])::([^\]]+)", url, re.DOTALL)
    address, table = (match[1], match[2]) if match and not match[2].endswith("]") else (url, "")
    place, mark, query = address.partition("?")
    told = parse_qsl(query, keep_blank_values=True)
    named = [value for name, value in told if name == "table"]
    if not named:
        return address, table
    rest = urlencode([(name, value) for name, value in told if name != "table"])
    return f"{place}{mark if rest else ''}{rest}", table or named[-1]


def is_there(name: str) -> bool:
    """Whether a file, a table of one or an address is named, and not something else, such as a column.

    >>> is_there("postgresql://db.example/votes::truth"), is_there("gold")
    (True, False)
    """
    try:
        return is_served(name) or os.path.exists(split_inside(name)[0])
    except ValueError:  # what can be no name is none
        return False
