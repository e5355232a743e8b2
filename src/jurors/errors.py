"""The tree of exceptions, and the names that people type: which known one was meant.

An *error* is about the input and is raised; an *alarm* is about the jurors and is returned.

* JurorsError
  + VotesError              the file, the rows or the columns are not votes
  + SketchError             these counts cannot be evaluated as requested
    - DegenerateSketchError   the counts fix no answer (a juror who answers regardless of the truth, say)
  + OptionError             an option that does not exist, or a value that it cannot have
  + OutputError             a result that cannot be written
  + ServerError             a server of `jurors serve` refused a request, or cannot be reached

Each has a `code`, one word of `Code`, and details in `about`: programs decide by these, never by the message, which is
for people.
"""

from __future__ import annotations

import ast
import copy
import difflib
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, ClassVar, Literal, Self, TypeAlias, TypedDict, Unpack

#: What an error is about in one word; that of its class where no finer distinction is worthwhile.
Code: TypeAlias = Literal[
    # the input as a whole, votes, counts, options, output: nothing finer
    "input", "votes", "sketch", "option", "output", "server",
    # names and options
    "unknown_name", "unknown_option", "out_of_range", "does_not_apply",
    # files
    "no_file", "empty", "damaged", "too_large", "several_questions", "bad_row",
    # the columns and cells of a table
    "key_column", "two_items", "no_label_column", "two_readings", "no_votes_table", "pairs", "repeated_votes",
    "same_files", "different_columns", "many_columns",
    # what can be graded
    "no_items", "few_jurors", "few_labels", "many_labels", "numbers", "degenerate",
    # what the server stores
    "no_project", "bad_vote", "many_jurors", "many_votes", "many_projects", "store_down", "disk_full",
    # requests to the server
    "no_key", "bad_key", "forbidden", "wrong_host", "wrong_origin", "too_many_requests", "bad_request", "bad_path",
    "bad_name", "bad_body", "not_json", "slow_body", "no_route", "fault",
]  # fmt: skip


class ErrorDetails(TypedDict, total=False):
    """What an error is about; only what applies is there."""

    name: Any  #: the name that was not found, or of the option
    what: str  #: what the name is of: "column", "juror", "method" …
    known: Sequence[Any]  #: the names there are
    value: Any  #: what an option was given
    file: str  #: the file, as the user calls it
    row: int  #: of a table, from 1
    column: str
    columns: tuple[str, ...]
    jurors: tuple[str, ...]
    labels: tuple[Any, ...]
    item: str
    repeated: int  #: how many votes repeat a juror's vote on an item
    needed: int  #: how many there must be (or, of labels, may be)
    given: int  #: how many there are
    items: int  #: how many items there are
    tool: str  #: `--from NAME:QUESTION` that would help
    outcome: str  #: of a degenerate sketch, why it fixes no answer
    status: int  #: the HTTP status of a server's answer
    reason: str  #: the code that a server gave


# -- options in messages: arguments of Python, or flags of the command line -----------------------------------------

OPTIONS: dict[str, Any] = {}  #: argument -> its `Option`; `jurors.options` enters them
#: where messages name options by their flags: names in the data that look like an option, such as `seed=1`
_no_options: ContextVar[set[str] | None] = ContextVar("no_options", default=None)


@contextmanager
def speaking_flags(is_command_line: bool = True) -> Iterator[None]:
    """Let messages name options by their flags, as a user of the command line types them, and not by arguments."""
    token = _no_options.set(set() if is_command_line else None)
    try:
        yield
    finally:
        _no_options.reset(token)


def keep_names(names: Iterable[Any]) -> None:
    """Keep names of the data as they are in messages, even where they look like an option."""
    if (kept := _no_options.get()) is not None:
        kept.update(name for name in map(str, names) if re.match("[a-z_]+=", name))


_WORDS = """(?:'[^']*'|"[^"]*"|[^{}'"])*"""  # in quotation marks, brackets are text
_LITERAL = r"\[" + _WORDS.replace("{}", "]") + r"\]|\{" + _WORDS.replace("{}", "}") + r"\}"  # a list, or a mapping


def spell_options(message: str) -> str:
    """Write the options of a message, which names them as arguments; on the command line, as flags.

    Where the flag has another name than the argument, the message gives both: `item= (--key-item)`.

    Returns
    -------
    str

    Examples
    --------
    >>> import jurors.options
    >>> message = "use scale='nominal', name the key's with item= (--key-item), or leave trust= out"
    >>> spell_options(message)
    "use scale='nominal', name the key's with item=, or leave trust= out"
    >>> with speaking_flags():
    ...     spell_options(message)
    ...     spell_options("use map={'Y': 'yes'}, missing=['-', '?'] or labels=['a', 'b']")
    "use --scale nominal, name the key's with --key-item, or leave --trust out"
    "use --map Y=yes, --missing=- --missing '?' or --labels a,b"
    """
    if (kept := _no_options.get()) is None:
        return re.sub(r"(?<==) \(--[^()]*\)", "", message).replace("full=True", "to_text(full=True)")
    if found := next((name for name in sorted(kept, key=len, reverse=True) if name in message), None):
        return found.join(map(spell_options, message.split(found)))

    def spell(match: re.Match[str]) -> str:
        option, following = OPTIONS.get(match[1]), match[2]
        if option is None:
            return match[0]
        return f"{option.flag} {following}" if re.match(r"[\w\"'\[{]", following) else f"{option.flag}{following}"

    once = re.sub(r"(?<![\w=.-])[a-z_]+= \((--[^()]*)\)", r"\1", message)
    once = re.sub(rf"(?<![\w=.-])([a-z_]+)=({_LITERAL})", _spell_several, once)
    once = re.sub(r"(?<![\w=.-])([a-z_]+)=('-[^']*')", _spell_several, once)
    flags = re.sub(r"(?<![\w=.'-])([a-z_]+)=(.?)", spell, once)
    unquoted = re.sub(r"(--[a-z-]+) '([\w.,:=-]+)'", r"\1 \2", flags)
    switches = {option.flag for option in OPTIONS.values() if option.kind is bool}
    return re.sub(r"(--[a-z-]+) True\b", lambda found: found[1] if found[1] in switches else found[0], unquoted)


def _spell_several(match: re.Match[str]) -> str:
    """The words of an option that is given a list or a mapping, or a value that could be taken for a flag."""
    try:
        option, given = OPTIONS[match[1]], ast.literal_eval(match[2])
    except (KeyError, ValueError, SyntaxError):
        return match[0]
    if isinstance(given, dict):
        given = [f"{old}={','.join(new) if isinstance(new, (list, tuple)) else new}" for old, new in given.items()]
    texts = [given] if isinstance(given, str) else list(map(str, given))
    words = [",".join(texts)] if option.several in ("commas", "lists") else texts
    return " ".join(f"{option.flag}{'=' if word.startswith('-') else ' '}{shlex.quote(word)}" for word in words)


class JurorsError(ValueError):
    """Input that `jurors` cannot work with. The message states the problem, its place, and what to do.

    Examples
    --------
    >>> error = VotesError("row 3 has no item", code="bad_row", row=3).in_file("votes.csv")
    >>> error.code, error.about["row"], error.about["file"], str(error)
    ('bad_row', 3, 'votes.csv', 'votes.csv: row 3 has no item')
    """

    default: ClassVar[Code] = "input"
    fault: str  #: the message without the file's name in front

    def __init__(self, message: str, *, code: Code | None = None, **about: Unpack[ErrorDetails]) -> None:
        super().__init__(message)
        self.code: Code = code or self.default
        self.about: ErrorDetails = about
        self.fault = message

    def __str__(self) -> str:
        return spell_options(super().__str__())

    def in_file(self, name: str) -> Self:
        """The same error, as one line with the name of the file in front."""
        error = copy.copy(self)
        error.fault = " ".join(self.args[0].split())
        error.args = (f"{name}: {error.fault}",)
        error.about = {**self.about, "file": name}
        return error

    def after(self, front: str) -> Self:
        """The same error with a text in front of its message."""
        error = copy.copy(self)
        error.fault = f"{front}{self.args[0]}"
        error.args = (error.fault,)
        return error


class VotesError(JurorsError):
    """The votes cannot be read. The message names the file, row or column, and what to do."""

    default: ClassVar[Code] = "votes"


class SketchError(JurorsError):
    """The counts cannot be evaluated as requested."""

    default: ClassVar[Code] = "sketch"


class DegenerateSketchError(SketchError):
    """The counts fix no answer. `outcome` names the reason, `jurors` those concerned."""

    default: ClassVar[Code] = "degenerate"

    @property
    def outcome(self) -> str:
        """The reason, in one word."""
        return self.about.get("outcome", "")

    @property
    def jurors(self) -> tuple[str, ...]:
        """The jurors concerned."""
        return self.about.get("jurors", ())


class OptionError(JurorsError):
    """An option that does not exist or cannot have this value, such as a misspelt method or a level of 95."""

    default: ClassVar[Code] = "option"


class OutputError(JurorsError):
    """A result that cannot be written: where, and why."""

    default: ClassVar[Code] = "output"


class ServerError(JurorsError):
    """A server refused a request, with the server's own message, or cannot be reached (without a status)."""

    default: ClassVar[Code] = "server"

    @property
    def status(self) -> int | None:
        """The HTTP status."""
        return self.about.get("status")

    @property
    def reason(self) -> str:
        """The server's code for what was wrong; "" where it gave none."""
        return self.about.get("reason", "")


@contextmanager
def optional_import(message: str) -> Iterator[None]:
    """Raise JurorsError with this message, in which `{}` is the package, if what the block imports is not installed."""
    try:
        yield
    except ImportError as error:
        if "{}" in message and not isinstance(error, ModuleNotFoundError):  # it is there, and does not work
            raise
        raise JurorsError(message.format(error.name)) from None


def name_positions(known: Sequence[Any], names: Sequence[Any]) -> list[int]:
    """The position of each juror among the known names; VotesError suggests the nearest for an unknown one."""
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise VotesError(f"juror {repeated[0]!r} is named twice", name=repeated[0], what="juror")
    place = {name: k for k, name in enumerate(known)}
    return [place[name] if name in place else place[match_name(name, known, "juror")] for name in names]


_LONG = 12  # characters of a beginning that ends at - _ | or a blank: that of judge_1 and gpt-4o is part of the name


@lru_cache(maxsize=64)
def short_names(names: tuple[Any, ...]) -> dict[Any, str]:
    """What people read of the jurors' names: without the beginning that all share, if that ends at a separator.

    Parts of versions stay: what is left begins with letters, or is a number after a beginning without digits.

    >>> short_names(("worker-number-17", "worker-number-4"))
    {'worker-number-17': '17', 'worker-number-4': '4'}
    >>> short_names(("qa:claude", "qa:gpt-5")), short_names(("judge_1", "judge_2"))
    ({'qa:claude': 'claude', 'qa:gpt-5': 'gpt-5'}, {'judge_1': 'judge_1', 'judge_2': 'judge_2'})
    """
    texts = {name: str(name) for name in names}
    shared, last = min(texts.values(), default=""), max(texts.values(), default="")
    length = next((k for k, letter in enumerate(shared) if not last.startswith(letter, k)), len(shared))
    for end in range(length if len(texts) > 1 else 0, 0, -1):
        left = {name: text[end:].strip() for name, text in texts.items()}
        is_name = all(text[:1].isalpha() for text in left.values())
        is_name |= all(map(str.isdecimal, left.values())) and not re.search(r"\d", shared[:end])
        is_end = shared[end - 1] in ":/" or (shared[end - 1] in "-_| " and end >= _LONG and is_name)
        shown = set(left.values()) - {""}
        if is_end and len(shown) == len(left) and not shown & {*texts.values()}:
            return left
    return texts


def match_name(
    name: Any, known: Sequence[Any], what: str, *, error: type[JurorsError] = VotesError, code: Code = "unknown_name"
) -> Any:
    """The known name written like `name` (1 for "1"); an error with a suggestion if there is none.

    >>> match_name("1", [1, 2], "label")
    1
    >>> match_name("openai/gpt-4o", ["gpt-4o", "gpt-5"], "juror")
    'gpt-4o'
    >>> match_name("an", ["ann", "bob"], "juror")
    Traceback (most recent call last):
        ...
    jurors.errors.VotesError: there is no juror 'an'. Did you mean 'ann'? There are: ann, bob
    """
    by_text = {str(k): k for k in known}
    if str(name) in by_text:
        return by_text[str(name)]
    if what == "juror":
        # as cards and pages call it; or a name in full, where the reader of a log shortened all of them
        shown = {short: juror for juror, short in short_names(tuple(known)).items()}
        shortened = [juror for text, juror in by_text.items() if str(name).endswith((f":{text}", f"/{text}"))]
        if str(name) in shown or len(shortened) == 1:
            return shown.get(str(name), shortened[0] if shortened else None)
    close = closest_name(str(name), by_text)
    hint = "" if close is None else f" Did you mean {close!r}?"
    message = f"there is no {what} {str(name)!r}.{hint} There are: {format_names(by_text, 12)}"
    raise error(message, code=code, name=name, what=what, known=tuple(known))


def closest_name(name: str, known: Iterable[str], *, cutoff: float = 0.4) -> str | None:
    """The known name most like this one, whatever its case; None where none is.

    >>> closest_name("Lable", ["item", "label"]), closest_name("xyz", ["item", "label"])
    ('label', None)
    """
    names = list(known)
    if same := [other for other in names if other.lower() == name.lower()]:
        return same[0]
    return next(iter(difflib.get_close_matches(name, names, n=1, cutoff=cutoff)), None)


def check_choice(value: Any, known: Sequence[Any], what: str) -> Any:
    """The value of an option, which must be one of the known; OptionError suggests the nearest."""
    return match_name(value, known, what, error=OptionError)


def format_names(names: Iterable[Any], most: int, between: str = ", ") -> str:
    """The first names, and dots for the others.

    >>> format_names(["ann", "bob", "cy"], 2), format_names(["ann"], 2)
    ('ann, bob …', 'ann')
    """
    shown = list(map(str, names))
    return between.join(shown[:most]) + (" …" if len(shown) > most else "")


def format_first_names(names: Iterable[Any], most: int) -> str:
    """The first names, and how many more there are.

    >>> format_first_names(["ann", "bob", "cy"], 2), format_first_names(["ann"], 2)
    ('ann, bob and 1 more', 'ann')
    """
    shown = list(map(str, names))
    return ", ".join(shown[:most]) + (f" and {len(shown) - most} more" if len(shown) > most else "")
