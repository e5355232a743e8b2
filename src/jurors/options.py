"""Every option of the package, declared once: its name, type and default, its flag on the command line, and its help.

The `TypedDict`s are signatures (`**options: Unpack[ReadingOptions]`), each option annotated with its `Option`.
`Reading`, `PairReading`, `Grading` and `Limits` hold the values of one call, with defaults for those that were not
given, and validate them. `read_votes`, `grade` and their like, the commands (`flags_of`) and a test of the docs all
take them from here.
"""

import inspect
import itertools
import math
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import wraps
from importlib import import_module
from types import SimpleNamespace
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias, TypedDict, TypeVar, cast, get_args, get_origin

from jurors.errors import OPTIONS, OptionError, check_choice, match_name, spell_options

Label: TypeAlias = str | int | float | bool
LayoutName: TypeAlias = Literal["auto", "long", "wide", "counts"]
Duplicates: TypeAlias = Literal["error", "first", "last", "join"]
Format: TypeAlias = Literal["csv", "tsv", "json", "jsonl", "parquet", "xlsx", "sqlite", "duckdb", "postgresql"]
Scale: TypeAlias = Literal["auto", "nominal", "ordinal", "interval", "pairs"]
KnownScale: TypeAlias = Literal["nominal", "ordinal", "interval"]  #: of votes that are read
Target: TypeAlias = Literal["test", "population"]
Progress: TypeAlias = Callable[[float], None]  #: called with the share that is done, from 0 to 1

#: the tools whose logs are read, in the order in which their readers are tried
TOOLS = (
    "sketch", "inspect", "lm-eval", "promptfoo", "mlflow", "langfuse", "langsmith", "deepeval", "opik",
    "braintrust", "weave", "openinference", "label-studio", "argilla", "prodigy", "doccano", "trec",
    "matrix", "by-true-label",
)  # fmt: skip


@dataclass(frozen=True)
class Option:
    """How the command line spells an option."""

    help: str
    metavar: str | None = None
    several: Literal["", "repeated", "commas", "lists"] = ""  #: how several values are given; lists: both ways
    within: tuple[float | None, float | None] | None = None  #: the least and the largest number, where there are limits
    flag: str = ""  #: as the option is called, unless given
    is_python_only: bool = False  #: not on the command line
    default: Any = None  #: unless given, what stands for nothing: False, no values, or None
    # What its declaration says; `declared_options` enters it.
    name: str = ""
    kind: Any = None  #: its Python type


FileFormat: TypeAlias = Annotated[
    Format | None, Option("The format of the file, if its name and content do not show it.", is_python_only=True)
]
MemoryLimit: TypeAlias = Annotated[
    str | None, Option("Memory to use before reading spills to disk, such as 2GB.", "SIZE")
]
UnpackLimit: TypeAlias = Annotated[
    str | None, Option("Maximum size of a compressed file that you trust, once unpacked, such as 10GB.", "SIZE")
]
ProgressCallback: TypeAlias = Annotated[
    Progress | None, Option("A function to call with the share that is read, from 0 to 1.", is_python_only=True)
]


# -- reading ------------------------------------------------------------------------------------------------------


class TableOptions(TypedDict, total=False):
    """How to read a table of votes, be it a file or a dataframe."""

    layout: Annotated[LayoutName, Option("Layout of FILE.", default="auto")]
    item: Annotated[
        str | Sequence[str] | None,
        Option(
            "The column that names the item, several columns joined by commas, or a field such as sample.id.", "COLUMN"
        ),
    ]
    juror: Annotated[str | None, Option("The column that names the juror (long layout).", "COLUMN")]
    label: Annotated[str | None, Option("The column that holds the vote (long layout).", "COLUMN")]
    count: Annotated[str | None, Option("The column that holds the number of items (counts layout).", "COLUMN")]
    confidence: Annotated[
        str | None, Option("The column that says how sure the juror is of the vote (long layout).", "COLUMN")
    ]
    ignore: Annotated[Sequence[str], Option("A column that is not a juror; repeatable.", "COLUMN", "repeated")]
    transpose: Annotated[
        bool, Option("Read jurors from rows and items from columns; juror= names the column of jurors.")
    ]
    missing: Annotated[Sequence[Any], Option("A value that means no vote; repeatable.", "VALUE", "repeated")]
    abstain: Annotated[
        Sequence[Any],
        Option("Values that mean that a juror abstained, such as unsure,n/a; repeatable.", "VALUES", "lists"),
    ]
    labels: Annotated[Sequence[Label] | None, Option("The labels, in the order to show them.", "A,B", "commas")]
    duplicates: Annotated[Duplicates, Option("Rule for a juror that votes twice on an item.", default="error")]
    repeat: Annotated[
        str | None,
        Option("The column that numbers the repetitions; the votes of a juror on an item become one vote.", "COLUMN"),
    ]
    join: Annotated[
        Sequence[str],
        Option("Treat several names as one juror: judge joins judge_1, judge_2 …; repeatable.", "NAMES", "lists"),
    ]
    scale: Annotated[
        Scale,
        Option(
            "Kind of votes: labels (nominal), ordered levels (ordinal), numbers (interval), preferences between two "
            "(pairs), or detected (auto).",
            default="auto",
        ),
    ]
    map: Annotated[
        Mapping[Any, Label] | Sequence[str],
        Option("Rename labels: Yes=yes,Y=yes; repeatable.", "OLD=NEW", "lists", default=()),
    ]
    ignore_case: Annotated[bool, Option("Merge labels that differ only by case.")]
    threshold: Annotated[
        float | str | None, Option("Turn numbers into `pass` (this number or more) and `fail`.", "NUMBER")
    ]
    bins: Annotated[
        int | Sequence[Any] | None,
        Option("Turn numbers into ordered levels with these ends (0,3,7,10), or into this many (5).", "ENDS", "commas"),
    ]
    only: Annotated[Sequence[str], Option("Read only these jurors (ann,bob); repeatable.", "JURORS", "repeated")]
    drop: Annotated[Sequence[str], Option("Leave out these jurors (ann,bob); repeatable.", "JURORS", "repeated")]


class FileOptions(TableOptions, total=False):
    """How to read files of votes."""

    format: FileFormat
    tool: Annotated[
        str | None,
        Option(
            "The tool that wrote FILE, if its content does not show it: "
            f"{', '.join(TOOLS)}. Use NAME:QUESTION to choose a question.",
            "NAME",
            flag="--from",
        ),
    ]
    memory: MemoryLimit
    unpack: UnpackLimit


class ReadingOptions(FileOptions, total=False):
    """How to read files of votes, and what to call with the progress."""

    progress: ProgressCallback


class AnyFileOptions(FileOptions, total=False):
    """How to read whatever holds votes: those of files and tables, and those of a matrix (with `labels`)."""

    items: Annotated[
        Sequence[Any] | None, Option("The items' names, one for each row of a matrix.", is_python_only=True)
    ]
    jurors: Annotated[
        Sequence[Any] | None, Option("The jurors' names, one for each column of a matrix.", is_python_only=True)
    ]
    counts: Annotated[Any, Option("The number of items that each row of a matrix stands for.", is_python_only=True)]


class SourceOptions(AnyFileOptions, total=False):
    """How to read whatever holds votes, and what to call with the progress."""

    progress: ProgressCallback


def declared_options(options: type) -> list[Option]:
    """List the options of a `TypedDict`, each with its name, type, default and flag.

    Returns
    -------
    list of Option
        In the order of the declaration, which is that of `--help`.
    """
    declared = []
    for name, annotation in options.__annotations__.items():
        kind, option = get_args(annotation)
        default = option.default
        if default is None and (kind is bool or get_origin(kind) is Sequence):
            default = False if kind is bool else ()
        flag = option.flag or f"--{name.replace('_', '-')}"
        declared.append(replace(option, name=name, kind=kind, default=default, flag=flag))
    return declared


class _Values(SimpleNamespace):
    """The values of the options that a `TypedDict` declares, with defaults for those that are not given."""

    _options: ClassVar[type]
    _defaults: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls) -> None:
        cls._defaults = cls._defaults | {option.name: option.default for option in declared_options(cls._options)}

    def __init__(self, **given: Any) -> None:
        check_known(given, tuple(self._defaults))
        super().__init__(**(self._defaults | given))
        self._check()

    @classmethod
    def of(cls, given: Mapping[str, Any], known: type | None = None) -> Self:
        """Collect options that were given; OptionError names the nearest one for an unknown name."""
        check_known(given, column_names(known or cls._options))
        return cls(**given)

    def but(self, **changes: Any) -> Self:
        """Copy the options with other values of some."""
        return type(self)(**(vars(self) | changes))

    def _check(self) -> None:
        """Raise OptionError for a value that an option cannot have."""


class Reading(_Values):
    """The values of the options of reading (see `read_votes`)."""

    _options: ClassVar[type] = ReadingOptions

    def _check(self) -> None:
        check_choice(self.layout, get_args(LayoutName), "layout")
        check_choice(self.duplicates, get_args(Duplicates), "rule for duplicates")
        check_choice(self.scale, get_args(Scale), "scale")
        if self.format is not None:
            check_choice(self.format, get_args(Format), "format")
        for name in ("item", "label", "count", "repeat", "confidence"):
            if self.transpose and getattr(self, name) is not None:
                message = f"{name}= (--{name}) does not apply to a transposed table, whose columns are items"
                raise OptionError(message, code="does_not_apply", name=name)
        labels = () if self.labels is None else text_columns(self.labels)
        if repeated := [label for label in labels if labels.count(label) > 1]:
            message = f"labels= names {repeated[0]!r} twice"
            raise OptionError(message, code="out_of_range", name="labels", value=self.labels)
        if self.threshold is not None and self.bins is not None:
            raise OptionError("threshold= and bins= exclude each other; give one")
        _ = self.names, self.cut, self.ends  # raises here, before anything is read

    @property
    def names(self) -> dict[str, Label]:
        """Each renamed label and its new name."""
        if isinstance(self.map, Mapping):
            return {str(old): new for old, new in self.map.items()}
        given = self.map.split(",") if isinstance(self.map, str) else self.map
        pairs = [str(pair).rpartition("=") for pair in given]
        for old, equals, new in pairs:
            _in_range(bool(old and equals and new), "map", f"{old}{equals}{new}", "is written OLD=NEW (Y=yes)")
        return {old: new for old, _, new in pairs}

    @property
    def cut(self) -> str | None:
        """The threshold as text."""
        if self.threshold is None:
            return None
        _in_range(is_number(self.threshold), "threshold", self.threshold, "must be a number")
        return str(self.threshold).strip()

    @property
    def ends(self) -> tuple[str, ...]:
        """The ends of the bins as text, rising; a single number is how many bins there are."""
        if self.bins is None:
            return ()
        ends = tuple(
            text.strip() for text in text_columns(self.bins if isinstance(self.bins, Iterable) else [self.bins])
        )
        rule = "must be at least two increasing numbers (0,3,7,10), or a whole number from 2 to 100 (5)"
        _in_range(bool(ends) and all(map(is_number, ends)), "bins", self.bins, rule)
        numbers = [float(end) for end in ends]
        is_rising = all(low < high for low, high in itertools.pairwise(numbers))
        is_valid = is_rising if len(numbers) > 1 else numbers[0].is_integer() and 2 <= numbers[0] <= 100
        _in_range(is_valid, "bins", self.bins, rule)
        return ends

    def without(self, *columns: str) -> Self:
        """Copy the options, with more columns ignored."""
        return self.but(ignore=tuple(dict.fromkeys((*text_columns(self.ignore), *columns))))


class PairOptions(TypedDict, total=False):
    """How to read preferences between two objects."""

    left: Annotated[str | None, Option("The column of the first of two objects (pairs).", "COLUMN")]
    right: Annotated[str | None, Option("The column of the second of two objects (pairs).", "COLUMN")]
    winner: Annotated[str | None, Option("The column that names the winner (pairs).", "COLUMN")]
    juror: Annotated[str | None, Option("The column that names the juror.", "COLUMN")]
    item: Annotated[str | None, Option("The column that names what the two objects were compared on.", "COLUMN")]
    map: Annotated[
        Mapping[Any, Label] | Sequence[str],
        Option("Meaning of answers: 1=first,0=second (or tie); repeatable.", "OLD=NEW", "lists", default=()),
    ]
    missing: Annotated[Sequence[Any], Option("A value that means no answer; repeatable.", "VALUE", "repeated")]
    format: FileFormat
    memory: MemoryLimit
    unpack: UnpackLimit
    progress: ProgressCallback


class PairReading(Reading):
    """The values of the options of reading preferences (see `read_pairs`), and the defaults of the others."""

    _options = PairOptions

    def files(self) -> Reading:
        """Extract the options that apply to files of any kind."""
        return Reading(format=self.format, memory=self.memory, unpack=self.unpack, progress=self.progress)


def item_name(item: str | Sequence[str] | None) -> str | None:
    """Name the column or columns that identify items, joined by commas.

    Returns
    -------
    str or None

    Examples
    --------
    >>> item_name("sample.id"), item_name(["question_id", "model"]), item_name(None)
    ('sample.id', 'question_id,model', None)
    """
    return item if item is None or isinstance(item, str) else ",".join(map(str, item))


def text_columns(values: Any) -> tuple[str, ...]:
    """Convert one value or several to a tuple of text.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> text_columns("NA"), text_columns(["NA", -1])
    (('NA',), ('NA', '-1'))
    """
    return (values,) if isinstance(values, str) else tuple(str(value) for value in values)


# -- grading ------------------------------------------------------------------------------------------------------


class GradingOptions(TypedDict, total=False):
    """How to grade."""

    method: Annotated[str, Option("Method of grading; `jurors compare` shows all of them.", default="auto")]
    trust: Annotated[str | None, Option("A juror that you know is right more often than wrong.", "JUROR")]
    common: Annotated[Label | None, Option("The label that you know is the most common.", "LABEL")]
    gold: Annotated[Any, Option("A few items with their true labels (item,label).", "FILE")]
    family: Annotated[
        Mapping[str, Sequence[str]] | Sequence[str],
        Option("Jurors that may share errors: gpt=gpt-4o,gpt-4.1; repeatable.", "NAME=JURORS", "repeated", default=()),
    ]
    target: Annotated[
        Target,
        Option("What intervals describe: these items (test) or the population that they come from.", default="test"),
    ]
    level: Annotated[float, Option("Confidence level of the intervals.", default=0.95)]
    errors: Annotated[
        float | str,
        Option(
            "Errors of jurors: correlated as on reference juries (real), independent, or with this shared error.",
            "real|independent|RHO",
            default="real",
        ),
    ]
    reference: Annotated[Any, Option("Your own reference juries, made with `jurors score --reference`.", "FILE")]
    seed: Annotated[int, Option("Seed of random numbers.", default=0)]
    exam: Annotated[bool, Option("Report scores only, for exams whose choices differ between questions.")]


class GradeOptions(GradingOptions, SourceOptions, total=False):
    """How to grade, and how to read what is graded."""


class Grading(_Values):
    """The values of the options of grading (see `grade`)."""

    _options = GradingOptions

    def __init__(self, **given: Any) -> None:
        errors = given.get("errors")
        if isinstance(errors, str):
            with suppress(ValueError):  # the command line passes numbers as text
                given["errors"] = float(errors)
        super().__init__(**given)

    def _check(self) -> None:
        _in_range(0 < self.level < 1, "level", self.level, "must lie between 0 and 1")
        _in_range(self.seed >= 0, "seed", self.seed, "must not be negative")
        _in_range(self.target in get_args(Target), "target", self.target, "must be 'test' or 'population'")
        is_word = self.errors in ("real", "independent")
        is_share = isinstance(self.errors, (int, float)) and 0 <= self.errors < float("inf")
        _in_range(is_word or is_share, "errors", self.errors, "must be 'real', 'independent' or a number of at least 0")
        if not self.families:  # parsed here, before anything is read
            return
        for name, plain in (("method", ("auto", "latent")), ("errors", ("real",))):
            value = getattr(self, name)
            if value not in plain and not isinstance(value, (int, float)):
                message = f"family= has a model of its own, and {name}={value!r} another; leave one out"
                raise OptionError(message, code="does_not_apply", name="family")

    @property
    def families(self) -> dict[str, tuple[str, ...]]:
        """Each declared family and its jurors."""
        if isinstance(self.family, Mapping):
            return {str(name): text_columns(members) for name, members in self.family.items()}
        families: dict[str, tuple[str, ...]] = {}
        for text in text_columns(self.family):
            name, equals, members = text.partition("=")
            _in_range(
                bool(name and equals and members), "family", text, "is written NAME=JUROR,JUROR (gpt=gpt-a,gpt-b)"
            )
            _in_range(name not in families, "family", text, f"names {name!r} twice; give all its jurors at once")
            families[name] = tuple(member.strip() for member in members.split(","))
        return families


# No two parts match the same digits, or a cell of thousands of digits would take minutes.
_NUMBER = re.compile(r"\s*[+-]?(\d{1,999}(\.\d{0,999})?|\.\d{1,999})([eE][+-]?\d{1,3})?\s*")


def is_number(value: Any) -> bool:
    """Whether a value is written as a finite number, with a decimal point.

    Returns
    -------
    bool

    Examples
    --------
    >>> [is_number(value) for value in (3, "-2.5", ".5e-3", True, "inf", "1_000", "0,5")]
    [True, True, True, False, False, False, False]
    """
    return not isinstance(value, bool) and _NUMBER.fullmatch(str(value)) is not None


def _in_range(holds: bool, name: str, value: Any, rule: str) -> None:
    if not holds:
        raise OptionError(f"{name} {rule}, got {value!r}", code="out_of_range", name=name, value=value)


# -- limits, for CI -----------------------------------------------------------------------------------------------


class LimitOptions(TypedDict, total=False):
    """Limits that a panel is checked against."""

    min_score: Annotated[
        Any, Option("Require this accuracy of every juror, or of this one; repeatable.", "[JUROR:]X", "repeated")
    ]
    min_reliability: Annotated[
        Any,
        Option(
            "Require this reliability of every juror, or of this one (numbers); repeatable.", "[JUROR:]X", "repeated"
        ),
    ]
    min_accuracy: Annotated[
        Any, Option("Require this accuracy on items of this label; repeatable.", "[JUROR:]LABEL:X", "repeated")
    ]
    min_prevalence: Annotated[
        Any, Option("Require at least this share of items with this label; repeatable.", "LABEL:X", "repeated")
    ]
    max_prevalence: Annotated[
        Any, Option("Require at most this share of items with this label; repeatable.", "LABEL:X", "repeated")
    ]
    max_wrong: Annotated[Any, Option("Require at most this share of wrong labels.", "X", "repeated")]
    baseline: Annotated[
        Any,
        Option(
            "Require scores no lower than in an earlier run: JSON of `grade`, `systems` or `check`, or its votes.",
            "FILE",
        ),
    ]
    votes: Annotated[Any, Option("The graded votes, to pair with those of the baseline.", is_python_only=True)]
    max_drop: Annotated[
        float, Option("Largest allowed drop of a score below the baseline.", "X", within=(0, 1), default=0.0)
    ]
    min_difference: Annotated[
        Any, Option("Require system B to be better than A by this much; repeatable.", "B-A:X", "repeated")
    ]
    max_regression: Annotated[
        float | None, Option("Largest allowed drop of a system's rate below the baseline.", "X", within=(0, None))
    ]
    allow_unknown: Annotated[bool, Option("Do not fail if a limit is not known.")]
    max_correlation: Annotated[
        float | None,
        Option("Raise an alarm if the mean correlation of errors (-1 to 1) is larger.", "R", within=(-1, 1)),
    ]
    min_effective: Annotated[
        float | None, Option("Raise an alarm if the effective number of jurors is smaller.", "N", within=(1, None))
    ]


class Limits(_Values):
    """The values of the limits of a panel (see `check`)."""

    _options = LimitOptions

    def _check(self) -> None:
        _in_range(0 <= self.max_drop <= 1, "max_drop", self.max_drop, "must be a share from 0 to 1")
        drop = self.max_regression
        is_allowed = drop is None or (is_number(drop) and 0 <= float(drop) < math.inf)
        _in_range(is_allowed, "max_regression", drop, "must be a number of at least 0, such as 0.02")


# -- which option is which ----------------------------------------------------------------------------------------

DEFAULTS = PairReading._defaults | Limits._defaults | Grading._defaults


def column_names(options: type) -> tuple[str, ...]:
    """List the names of the options of a `TypedDict`.

    Returns
    -------
    tuple of str
    """
    return tuple(options.__annotations__)


def check_known(given: Iterable[str], known: Sequence[str]) -> None:
    """Raise OptionError, with the nearest known name, if one of the names given is not an option."""
    for name in given:
        if name not in known:
            match_name(name, known, "option", error=OptionError, code="unknown_option")


def check_applies(given: Mapping[str, Any], known: Sequence[str], what: str) -> dict[str, Any]:
    """Check that options are for this kind of source.

    Returns
    -------
    dict
        The options that are.

    Raises
    ------
    OptionError
        If another is given; None counts as not given.
    """
    check_known(given, column_names(GradeOptions))
    for name, value in given.items():
        if value is not None and name not in known:
            takes = f"use {', '.join(known)}" if known else "nothing is read"
            message = f"{name}= does not apply to {what}: {takes}"
            raise OptionError(message, code="does_not_apply", name=name, known=tuple(known))
    return {name: value for name, value in given.items() if name in known}


def changed_options(given: Mapping[str, Any]) -> list[str]:
    """List the options whose value differs from the default.

    Returns
    -------
    list of str
        In the order given.

    Examples
    --------
    >>> changed_options({"method": "latent", "level": 0.95})
    ['method']
    """
    return [name for name, value in given.items() if value != DEFAULTS[name]]


def split_options(given: Mapping[str, Any]) -> tuple[GradingOptions, SourceOptions]:
    """Split options into those of grading and those of reading; OptionError for any other.

    Returns
    -------
    (GradingOptions, SourceOptions)

    Examples
    --------
    >>> split_options({"method": "latent", "layout": "wide"})
    ({'method': 'latent'}, {'layout': 'wide'})
    """
    check_known(given, column_names(GradeOptions))
    grading = {name: value for name, value in given.items() if name in column_names(GradingOptions)}
    reading = {name: value for name, value in given.items() if name not in grading}
    return cast(GradingOptions, grading), cast(SourceOptions, reading)


Function = TypeVar("Function", bound=Callable[..., Any])


_MEANT = ("system", "systems", "group", "groups")  # what people write for `by`


def verb(options: type | None = None, *, splits: bool = False) -> Callable[[Function], Function]:
    """Complete a public function that takes `**options`: its signature, its docstring, and the check of its options.

    Parameters
    ----------
    options
        The `TypedDict` that declares them, if there are any; `help` and an editor list them from there.
    splits
        Whether `by=` calls the function on each group of items, and the results become a `ByGroup`.

    Returns
    -------
    callable
        A decorator. The function refuses an option that does not exist, with the nearest name.
    """

    def decorate(function: Function) -> Function:
        own = inspect.signature(function)
        shown = {p.name: p for p in own.parameters.values() if p.kind is not p.VAR_KEYWORD}
        every = [] if options is None else declared_options(options)
        declared = [option for option in every if option.name not in shown]
        places = [name for name, p in shown.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
        for option in declared:
            shown[option.name] = inspect.Parameter(
                option.name, inspect.Parameter.KEYWORD_ONLY, default=option.default, annotation=option.kind
            )

        @wraps(function)
        def checked(*arguments: Any, **given: Any) -> Any:
            for name, value in given.items():
                if name in shown or name not in (*_MEANT, "by"):
                    continue
                instead = "pass it to the verbs that take votes, such as grade and check"
                if "by" in shown:
                    instead = f"write by={value!r}" if isinstance(value, str) else "give it as by="
                message = f"{function.__name__} has no option {name}=; {instead}"
                raise OptionError(message, code="unknown_option", name=name)
            check_known(given, tuple(shown))
            if not splits or given.get("by") is None:
                return function(*arguments, **given)
            given |= dict(zip(places, arguments, strict=False))
            # By name and late: groups are formed by a layer above some of the verbs.
            return import_module("jurors.jury.groups").each_group(function, given.pop("source"), **given)

        checked.__signature__ = own.replace(parameters=list(shown.values()))  # type: ignore[attr-defined]
        checked.__doc__ = _with_options(function.__doc__ or "", declared)
        return cast(Function, checked)

    return decorate


def _with_options(docstring: str, declared: Sequence[Option]) -> str:
    """A docstring with a section about these options, those apart that it explains itself."""
    text = inspect.cleandoc(docstring)
    explained = {name for line in re.findall(r"^(\w[\w, ]*)$", text, re.MULTILINE) for name in line.split(", ")}
    lines = ["Other Parameters", "----------------"]
    for option in declared:
        if option.name not in explained:
            kind = inspect.formatannotation(option.kind).replace("collections.abc.", "").replace("typing.", "")
            about = spell_options(option.help.replace("; repeatable", "").replace("FILE", "the source"))
            lines += [f"{option.name} : {kind}, default {option.default!r}", f"    {about}"]
    before, returns, after = text.partition("Returns\n-------\n")
    return "\n".join([before + "\n".join([*lines, "", ""]) + returns + after]) if len(lines) > 2 else text


def flags_of(options: type) -> list[Option]:
    """List the options of a `TypedDict` that have a flag on the command line.

    Returns
    -------
    list of Option
        In the order of the declaration, which is that of `--help`.
    """
    return [option for option in declared_options(options) if not option.is_python_only]


_OF_COMMANDS = (
    "by", "between", "review", "items", "text", "key", "answers", "system", "good", "covariate", "adjust", "top",
    "sort", "min_votes", "correlation",
)  # fmt: skip
OPTIONS |= {name: Option("", flag=f"--{name.replace('_', '-')}") for name in _OF_COMMANDS}
OPTIONS["full"] = Option("", flag="--full", kind=bool)
for _options in (PairOptions, LimitOptions, GradingOptions, ReadingOptions):
    OPTIONS |= {option.name: option for option in flags_of(_options)}

# -- commands as lines to paste into a shell -----------------------------------------------------------------------

_WRITTEN = [option.name for kind in (ReadingOptions, PairOptions, GradingOptions) for option in flags_of(kind)]


def command_line(name: str, files: Sequence[str], given: Mapping[str, Any], *more: str) -> str:
    """Write a command as a line to paste into a shell.

    Parameters
    ----------
    name, files
        The command and its arguments.
    given
        Options of reading and grading, of which those that are not the defaults are written.
    more
        Further words.

    Returns
    -------
    str
        Quoted for a POSIX shell.

    Examples
    --------
    >>> command_line("grade", ["my votes.csv"], {"missing": ("NA", "?"), "layout": "auto"})
    "jurors grade 'my votes.csv' --missing NA --missing '?'"
    """
    words = ["jurors", *name.split()]
    words += [f"./{file}" if file.startswith("-") and file != "-" else file for file in files]
    for option in (OPTIONS[name] for name in dict.fromkeys(_WRITTEN) if name != "memory"):
        value = given.get(option.name)
        if value is None or value == option.default or value == []:
            continue
        if option.kind is bool:
            words.append(option.flag)
            continue
        if isinstance(value, Mapping):
            value = [f"{old}={','.join(new) if isinstance(new, (list, tuple)) else new}" for old, new in value.items()]
        if option.several == "commas":
            value = value if isinstance(value, (str, int)) else ",".join(map(str, value))
        for word in text_columns([value] if isinstance(value, (int, float)) else value):
            words += [f"{option.flag}={word}"] if word.startswith("-") else [option.flag, word]
    return shlex.join([*words, *more])
