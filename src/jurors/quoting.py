"""Names come from strangers: how they are written where they could be taken for something else.

A terminal obeys control characters, Markdown and HTML have marks, a spreadsheet computes what begins like a formula.
JSON and CSV keep every name exactly; what is for eyes shows it so that it can be seen.
"""

from __future__ import annotations

import json
import re
import unicodedata

# Control characters, marks that turn the direction of writing or take no room, halves of characters, ends of lines; and
# letters that draw nothing.
_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
# What most text is made of: Western letters, and dashes, quotation marks and the like.
_SEEN = " -~\xa1-\xac\xae-\u0300\u2010-\u2027"
_PLAIN = re.compile(f"[{_SEEN}]*")
# Two pictures that are joined are one, as in "health worker".
_JOINER = "\u200d"
_JOINT = f"(?<=[\u2190-\u2bff\ufe0f\U0001f000-\U0001faff]){_JOINER}(?=[\u2190-\u2bff\U0001f000-\U0001faff])"


def visible(text: str) -> str:
    r"""Text in which every character can be seen, as one line: a name can neither steer a terminal nor forge a line.

    >>> visible("ann\x1b[2J\nOK: no alarm rang"), visible("Zoë – 評価者")
    ('ann\\x1b[2J\\nOK: no alarm rang', 'Zoë – 評価者')
    """
    if _PLAIN.fullmatch(text):
        return text
    return _JOINER.join(map(_all_visible, re.split(_JOINT, text)))


def _all_visible(text: str) -> str:
    return "".join(c if _is_visible(c) else c.encode("unicode_escape").decode("ascii") for c in text)


def _is_visible(character: str) -> bool:
    return unicodedata.category(character) not in _UNSEEN and character not in _BLANK


_PERHAPS_UNSEEN = re.compile(f"[^\n{_SEEN}]")


def visible_json(text: str) -> str:
    r"""The same JSON, with what cannot be seen as `\uXXXX`: the names are exact, and safe to look at.

    >>> visible_json('{"juror": "Zoë\u202e"}')
    '{"juror": "Zoë\\u202e"}'
    """
    return _PERHAPS_UNSEEN.sub(lambda match: match[0] if _is_visible(match[0]) else json.dumps(match[0])[1:-1], text)


# -- Markdown ---------------------------------------------------------------------------------------------------

# What begins code, emphasis, a link, HTML, a cell or an entity; an underscore inside a word does not.
_MARK = re.compile(r"[\\`*\[|~]|<(?=[A-Za-z/!?])|(?<!\w)_|_(?!\w)|&(?=#?\w+;)")
_FIRST = re.compile(r"^(?:[#+>-](?=\s|$)|#(?=#)|[-=](?=[-=]*$))|(?<=^\d)[.)](?=\s|$)|(?<=^\d\d)[.)](?=\s|$)")
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")


def in_markdown(text: str) -> str:
    r"""Text of a stranger as Markdown that shows it.

    >>> print(in_markdown("a|b `c` <b>*d* snake_case _e_"))
    a\|b \`c\` \<b>\*d\* snake_case \_e\_
    """
    return _MARK.sub(r"\\\g<0>", visible(text))


def prose_in_markdown(text: str) -> str:
    r"""A line of ours as Markdown, in which `code` is marked; names in it are shown, and the line begins no block.

    >>> print(prose_in_markdown("# see `--by a_` of <script>"))
    \# see `--by a_` of \<script>
    """
    line, shown, end = visible(text), [], 0
    for code in _CODE.finditer(line):  # in which nothing is a mark
        shown += [in_markdown(line[end : code.start()]), code[0]]
        end = code.end()
    return _FIRST.sub(r"\\\g<0>", "".join([*shown, in_markdown(line[end:])]))


# -- CSV ----------------------------------------------------------------------------------------------------------

_LEADS = "'=+-@\t\r＝＋－＠"
_FORMULA = re.compile(r"'*[=+\-@\t\r＝＋－＠]")
_WORD = re.compile(r"'*(?:=*|[+\-@＋－＠][\w\s.,:%/-]*)")  # numbers, dates and names: nothing to compute


def without_formula(cell: str) -> str:
    """A cell of CSV that no spreadsheet computes: where it looks like a formula, an apostrophe is put in front.

    Numbers, "-", "+", "@ann" and the like stay as they are. `with_formula` takes the apostrophe away again.

    >>> [without_formula(cell) for cell in ("=1+1", "+cmd|'/C calc'!A1", "-1", "+", "@ann", "'=1+1")]
    ["'=1+1", "'+cmd|'/C calc'!A1", '-1', '+', '@ann', "''=1+1"]
    """
    return f"'{cell}" if _is_formula(cell) else cell


def with_formula(cell: str) -> str:
    """What the cell of CSV says.

    >>> with_formula("'=1+1"), with_formula("'tis")
    ('=1+1', "'tis")
    """
    return cell[1:] if cell.startswith("'") and _is_formula(cell) else cell


def _is_formula(cell: str) -> bool:
    return cell[:1] in _LEADS and _FORMULA.match(cell) is not None and _WORD.fullmatch(cell) is None


# -- secrets ----------------------------------------------------------------------------------------------------

_ADDRESS = re.compile(r"postgres(?:ql)?:/", re.IGNORECASE)
_USER = re.compile(r"(?<=:/)/?.*@", re.DOTALL)  # to the last @: a password that nobody escaped may hold anything
_USER_IN_TEXT = re.compile(r"(?<=(?:sql|res):/)/?\S*@", re.IGNORECASE)
_SECRET = re.compile(r"([?&][^=&\s]*(?:pass|secret|token|key)[^=&\s]*=)\S*?(?=&|::|\s|$)", re.IGNORECASE)


def without_secrets(text: str) -> str:
    """A name, an argument or a line in which addresses of databases say neither who logs in nor with what.

    >>> without_secrets("postgresql://me:pa@ss@db.example/votes?password=x&sslmode=require::judged")
    'postgresql://db.example/votes?password=…&sslmode=require::judged'
    """
    if _ADDRESS.search(text) is None:
        return text
    user = _USER if _ADDRESS.match(text) else _USER_IN_TEXT
    return _SECRET.sub(r"\1…", user.sub("/", text))
