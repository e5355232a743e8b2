"""Where a module can be broken by one small change, and the module so broken.

Each site is one node of the syntax tree and one change to it: a comparison turned, a sum made a difference, a number
moved by one, a condition denied, a statement left out. Annotations, docstrings and texts are left alone: no test should
depend on them.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_TURNED: list[tuple[type[ast.cmpop], type[ast.cmpop]]] = [
    (ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.Is, ast.IsNot), (ast.In, ast.NotIn),
]  # fmt: skip
COMPARISONS = dict(_TURNED) | {after: before for before, after in _TURNED}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult, ast.MatMult: ast.Add, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.Mod: ast.Add,
}  # fmt: skip
_SKIPPED_FIELDS = {"annotation", "returns", "decorator_list", "type_params", "bases"}


@dataclass(frozen=True)
class Site:
    """One possible change of one module: the place in its tree, and what is done there."""

    line: int
    change: str
    number: int
    """How many sites of the module come before it."""


def sites(source: str) -> list[Site]:
    """All sites of a module, in the order of its tree.

    >>> [site.change for site in sites("def half(n: int) -> float:\\n    return n / 2\\n")]
    ['returns None', 'Div becomes Mult', '2 becomes 3']
    """
    tree = ast.parse(source)
    return [Site(node.lineno, change, number) for number, (node, change, _) in enumerate(_changes(tree))]


def mutated(source: str, number: int) -> str:
    """The module with the change of one site made.

    >>> print(mutated("def half(n: int) -> float:\\n    return n / 2\\n", 1))
    def half(n: int) -> float:
        return n * 2
    """
    tree = ast.parse(source)
    for place, (_, _, make) in enumerate(_changes(tree)):
        if place == number:
            make()
            return ast.unparse(ast.fix_missing_locations(tree))
    raise IndexError(number)


_Change = tuple[ast.expr | ast.stmt, str, Callable[[], None]]


def _changes(tree: ast.AST) -> Iterator[_Change]:
    for node in _walk(tree):
        yield from _changes_of(node)


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for field, value in ast.iter_fields(node):
        if field in _SKIPPED_FIELDS:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _only_for_readers(child):
                yield from _walk(child)


def _only_for_readers(node: ast.AST) -> bool:
    """Texts, imports for the type checker and the list of public names: not what the module does."""
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets)
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _changes_of(node: ast.AST) -> Iterator[_Change]:
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in COMPARISONS:
            turned = COMPARISONS[type(operator)]
            yield node, _becomes(type(operator), turned), lambda: setattr(node, "ops", [turned()])
        case ast.BinOp(op=operator) | ast.AugAssign(op=operator) if type(operator) in OPERATORS:
            other = OPERATORS[type(operator)]
            yield node, _becomes(type(operator), other), lambda: setattr(node, "op", other())
        case ast.BoolOp(op=operator):
            either: type[ast.boolop] = ast.Or if isinstance(operator, ast.And) else ast.And
            yield node, _becomes(type(operator), either), lambda: setattr(node, "op", either())
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert()):
            yield node, f"{type(node.op).__name__} left out", lambda: setattr(node, "op", ast.UAdd())
        case ast.Constant(value=bool() as truth):
            yield node, f"{truth} becomes {not truth}", lambda: setattr(node, "value", not truth)
        case ast.Constant(value=int() | float() as number):
            yield node, f"{number} becomes {number + 1}", lambda: setattr(node, "value", number + 1)
        case ast.If() | ast.IfExp() | ast.While():
            yield node, "condition denied", lambda: _deny(node)
        case ast.Return(value=ast.expr()) if not _is_none(node.value):
            yield node, "returns None", lambda: setattr(node, "value", ast.Constant(value=None))
        case ast.Expr(value=ast.Call()) | ast.Continue() | ast.Break():
            yield node, "statement left out", lambda: _leave_out(node)
        case _:
            return


def _becomes(before: type[ast.AST], after: type[ast.AST]) -> str:
    return f"{before.__name__} becomes {after.__name__}"


def _deny(node: ast.If | ast.IfExp | ast.While) -> None:
    node.test = ast.UnaryOp(op=ast.Not(), operand=copy.deepcopy(node.test))


def _is_none(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _leave_out(node: ast.Expr | ast.Continue | ast.Break) -> None:
    """Turn the statement into `pass` where it stands."""
    node.__class__ = ast.Pass  # type: ignore[assignment]
    node.__dict__.pop("value", None)
