"""Assertions in the code of a script: a small part of Python, evaluated by its syntax tree.

Nothing of a script is executed: only assertions, assignments, numbers, names of the state,
comparisons, arithmetic and the formatting of messages are known.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from burstlab.oracle.packetdrill.events import Differs, NotModelled

_COMPARE: Mapping[type, Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}

_COMBINE: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
}


def check(text: str, state: Mapping[str, Any], variables: dict[str, Any]) -> None:
    """Evaluate the code of a script.

    Parameters
    ----------
    text
        The code.
    state
        The values of ``tcpi_*`` and of the names of the kernel.
    variables
        The variables of the script; assignments are added.

    Raises
    ------
    Differs
        If an assertion does not hold.
    NotModelled
        If the code has something else, or asks for a part of the state that there is not.
    """
    try:
        tree = ast.parse(_unindented(text))
    except SyntaxError as error:
        raise NotModelled(f"code that is no Python: {error.msg}") from None
    for statement in tree.body:
        try:
            _run(statement, state, variables)
        except (TypeError, ValueError, ArithmeticError) as error:
            raise NotModelled(f"code that has no value: {error}") from None


def _unindented(text: str) -> str:
    lines = text.replace("\\\n", " ").split("\n")
    return "\n".join(line.strip().removesuffix(";") for line in lines)


def _run(statement: ast.stmt, state: Mapping[str, Any], variables: dict[str, Any]) -> None:
    def value(node: ast.expr) -> Any:
        return _value(node, state, variables)

    match statement:
        case ast.Assert(test=test):
            if not value(test):
                raise Differs(f"{ast.unparse(test)} does not hold: {_found(test, value)}")
        case ast.Assign(targets=[ast.Name(id=name)], value=node):
            variables[name] = value(node)
        case ast.AugAssign(target=ast.Name(id=name), op=op, value=node) if type(op) in _COMBINE:
            before = value(ast.Name(name))
            variables[name] = _COMBINE[type(op)](before, value(node))
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"))):
            pass
        case _:
            raise NotModelled(f"the code {ast.unparse(statement)!r}")


def _found(test: ast.expr, value: Callable[[ast.expr], Any]) -> str:
    names = [node for node in ast.walk(test) if isinstance(node, ast.Name)]
    return ", ".join(f"{node.id} is {value(node)}" for node in names)


def _value(node: ast.expr, state: Mapping[str, Any], variables: Mapping[str, Any]) -> Any:
    def value(node: ast.expr) -> Any:
        return _value(node, state, variables)

    match node:
        case ast.Constant(value=constant):
            return constant
        case ast.Name(id=name):
            if name in variables:
                return variables[name]
            found = state.get(name)
            if found is None:
                raise NotModelled(f"{name} in an assertion")
            return found
        case ast.Compare(left=left, ops=ops, comparators=right):
            values = [value(left), *map(value, right)]
            pairs = zip(ops, values, values[1:], strict=False)
            return all(_COMPARE[type(op)](one, two) for op, one, two in pairs)
        case ast.BoolOp(op=op, values=parts):
            results = (bool(value(part)) for part in parts)
            return all(results) if isinstance(op, ast.And) else any(results)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not value(operand)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _COMBINE:
            return _COMBINE[type(op)](value(left), value(right))
        case ast.Tuple(elts=parts):
            return tuple(value(part) for part in parts)
    raise NotModelled(f"the code {ast.unparse(node)!r}")
