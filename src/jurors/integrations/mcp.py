"""`jurors mcp`: inspect, grade, check, label and audit as tools of an assistant, over the Model Context Protocol.

What an assistant requests may have been injected by a stranger's text. So the tools write nothing, and read only the
files that were named when the server was started, or that lie in the folders among them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_type_hints

import jurors
from jurors.errors import JurorsError, OptionError, VotesError, match_name, optional_import
from jurors.options import LimitOptions, TableOptions, check_known, column_names
from jurors.results import FORMATS_OF_RESULTS, Result
from jurors.votes.io.sources import TABLE_SEPARATOR, matching_files, split_inside

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer


Form = Literal["md", "json"]
Options = dict[str, Any]

_INSTRUCTIONS = """Grades jurors (LLM judges, annotators, classifiers) from their votes, without an answer key. Start
with `inspect`. Then use `grade` for the accuracy of each juror, `check` for limits, and `label` for one label per item.
`options` say how to read the file: item, juror, label, layout and others. Always quote a score with its interval. If
there is an alarm, say so, and do not rely on the grades. The absence of alarms proves nothing: `audit_plan` draws items
for a person to label, and `audit_result` reports what those labels show."""


class NamedFiles:
    """The files and folders that may be read, as named on the command line; VotesError where one does not exist."""

    def __init__(self, files: Sequence[str]) -> None:
        for file in files:
            if not Path(file).exists():
                raise VotesError(
                    f"{file}: this file or folder does not exist; name the files that the assistant may read"
                )
        self.roots = tuple(Path(file).resolve() for file in files)

    def path(self, file: str) -> str:
        """The real path of a file, folder or pattern; VotesError where it matches a file that lies elsewhere."""
        if "\0" in file:
            raise VotesError("the file name contains NUL")
        name, inside = split_inside(file)
        real = Path(name).resolve()
        self._check_allowed(file, [real])  # first: a folder that may not be read may not be listed, either
        self._check_allowed(file, [path.resolve() for path in matching_files(str(real))])
        return f"{real}{TABLE_SEPARATOR}{inside}" if inside else str(real)

    def _check_allowed(self, file: str, paths: Sequence[Path]) -> None:
        if not all(any(path.is_relative_to(root) for root in self.roots) for path in paths):
            allowed = ", ".join(map(str, self.roots))
            raise VotesError(
                f"{file}: this file was not named when the server was started; the server may read {allowed}"
            )


def server(files: Sequence[str]) -> MCPServer[Any]:
    """Make the server, which reads these files and folders alone.

    Returns
    -------
    MCPServer
        JurorsError where the protocol's library is missing.
    """
    with optional_import("the MCP server needs {}: pip install 'jurors[mcp]'"):
        from mcp.server.mcpserver import MCPServer
        from mcp.types import ToolAnnotations

    named = NamedFiles(files)
    tools = {tool.__name__: tool for tool in _tools(named)}

    class Strict(MCPServer[Any]):  # type: ignore[misc]
        """The protocol's own server ignores arguments that a tool lacks: a limit given so would seem to be checked."""

        async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
            if name in tools:
                _in_one_line(_check_arguments)(tools[name], arguments)
            return await super().call_tool(name, arguments, context)

    made = Strict("jurors", instructions=_INSTRUCTIONS, version=jurors.__version__, log_level="WARNING")
    for tool in tools.values():
        kind = ToolAnnotations(read_only_hint=True, open_world_hint=False)
        made.add_tool(_in_one_line(tool), annotations=kind, structured_output=False)
    return made


def _check_arguments(tool: Callable[..., str], given: Options) -> None:
    """OptionError where an argument is given that the tool does not take, with the argument that it belongs into."""
    known = tuple(signature(tool).parameters)
    for home, inside in (("limits", LimitOptions), ("options", TableOptions)):
        for name in given:
            if name not in known and home in known and name in column_names(inside):
                shown = json.dumps({home: {name: given[name]}})
                message = f"{name!r} is not an argument of this tool; pass {shown}"
                raise OptionError(message, code="unknown_option", name=name, known=known)
    for name in given:
        match_name(name, known, "argument", error=OptionError, code="unknown_option")


# The docstrings of the tools are what assistants read of them.


def _tools(named: NamedFiles) -> tuple[Callable[..., str], ...]:
    """The tools; the same draw for an audit is made again from its seed, so that no file is stored."""

    def inspect(file: str, options: Options | None = None, format: Form = "md") -> str:
        """Describe a file of votes or a log: how it is read, what looks wrong, and which commands work on it."""
        return _shown(jurors.inspect(named.path(file), **_checked(options)), format)

    def grade(file: str, gold: str | None = None, options: Options | None = None, format: Form = "md") -> str:
        """Estimate how often each juror is right, with intervals and alarms. `gold`: a file with columns item,label.

        Jurors that give numbers are graded by reliability, jurors that compare two answers by their preferences.
        """
        return _shown(_grade(named, file, gold, options), format)

    def check(
        file: str, limits: Options | None = None, gold: str | None = None, options: Options | None = None,
        format: Form = "md",
    ) -> str:  # fmt: skip
        """Check limits and alarms. `limits`: {"min_score": 0.7, "max_wrong": 0.1, "allow_unknown": true}.

        For numbers: {"min_reliability": 0.3}.
        """
        others = ("baseline", "votes", "min_difference", "max_regression")  # need another file, or systems
        given = _checked(limits, LimitOptions, others)
        return _shown(jurors.check(_grade(named, file, gold, options), **given), format)

    def label(file: str, options: Options | None = None, format: Form = "md") -> str:
        """Estimate one label per item and the probability that it is right; for numbers, a value with its interval."""
        return _shown(jurors.label(named.path(file), **_checked(options)), format)

    def audit_plan(file: str, n: int = 30, seed: int | None = None, options: Options | None = None) -> str:
        """Draw n items for a PERSON to label, as CSV. Ask the person about each; do not label them yourself."""
        return jurors.audit.plan(named.path(file), n, seed=seed, **_checked(options)).to_csv()

    def audit_result(
        file: str, labels: dict[str, str], seed: int, n: int = 30, options: Options | None = None,
        format: Form = "md",
    ) -> str:  # fmt: skip
        """What a person's labels (item -> label) of the items of `audit_plan` prove; n and seed as in its sheet."""
        votes = jurors.read_votes(named.path(file), **_checked(options))
        sheet = jurors.audit.plan(votes, n, seed=seed)
        drawn = [str(item) for item in sheet.items]
        if unknown := [item for item in labels if item not in drawn]:
            raise OptionError(f"labels: item {unknown[0]!r} was not drawn with n={n} and seed={seed}")
        names = {str(label): label for label in votes.labels}
        given = tuple(names.get(labels[item], labels[item]) if item in labels else None for item in drawn)
        return _shown(jurors.audit.result(votes, replace(sheet, labels=given)), format)

    return inspect, grade, check, label, audit_plan, audit_result


def _grade(named: NamedFiles, file: str, gold: str | None, options: Options | None) -> Any:
    known: Any = {} if gold is None else {"gold": named.path(gold)}
    return jurors.grade(named.path(file), **known, **_checked(options))


def _checked(given: Options | None, options: type = TableOptions, left_out: Sequence[str] = ()) -> Any:
    """The options as given; OptionError for one that is unknown, or whose value has another type than it takes.

    What a client sends is unchecked. No option of reading tables names a file.
    """
    from pydantic import TypeAdapter, ValidationError

    kinds = {name: kind for name, kind in get_type_hints(options).items() if name not in left_out}
    check_known(given or {}, tuple(kinds))
    for name, value in (given or {}).items():
        try:
            TypeAdapter(kinds[name]).validate_python(value, strict=True)
        except ValidationError as error:
            raise OptionError(f"{name}: {error.errors()[0]['msg']}, got {json.dumps(value)}") from None
    return given or {}


def _shown(result: Result, form: Form) -> str:
    text: str = getattr(result, FORMATS_OF_RESULTS[form])()
    return text


def _in_one_line(tool: Callable[..., Any]) -> Callable[..., Any]:
    """The tool with errors as the assistant reads them: one line that says what to do."""
    from mcp.server.mcpserver.exceptions import ToolError

    @wraps(tool)
    def wrapper(*args: Any, **given: Any) -> Any:
        try:
            return tool(*args, **given)
        except JurorsError as error:
            raise ToolError(" ".join(str(error).split())) from None

    return wrapper
