"""A filter as ``--where`` takes it."""

from __future__ import annotations

from merestone.types import JSON, AllOf, AnyOf, Comparison, Filter, NoneOf


def filter_text(where: Filter) -> str:
    """A text that reads as ``where`` again, as far as the language can say it: it has no word for
    an empty list of parts, and numbers that are not finite."""
    return _written(where, outer="or")


def _written(where: Filter, outer: str) -> str:
    match where:
        case Comparison():
            return _comparison(where)
        case NoneOf(part):
            return f"not {_written(part, 'not')}"
        case AllOf(parts) | AnyOf(parts) if len(parts) == 1:
            return _written(parts[0], outer)
        case AllOf(parts):
            text = " and ".join(_written(part, "and") for part in parts)
            return text if outer == "or" else f"({text})"
        case AnyOf(parts):
            text = " or ".join(_written(part, "any") for part in parts)
            return text if outer == "or" else f"({text})"


def _comparison(where: Comparison) -> str:
    name, operator, value = _name(where.field), where.operator, where.value
    if value is None and operator == "!=":
        return f"{name} exists"
    if operator == "in" and isinstance(value, list | tuple):
        return f"{name} in ({', '.join(map(_literal, value))})"
    if operator == "between" and isinstance(value, list | tuple) and len(value) == 2:
        return f"{name} between {_literal(value[0])} and {_literal(value[1])}"
    return f"{name} {operator} {_literal(value)}"


def _name(name: str) -> str:
    is_plain = name.replace(".", "").replace("_", "").isalnum() and not name[0].isdigit()
    is_word = name.lower() in ("not", "and", "or", "in", "like", "between", "exists")
    return name if is_plain and name[0] not in "._" and not is_word else _quoted(name)


def _literal(value: JSON) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:f}" if value == float(f"{value:f}") else repr(value)
    return str(value) if isinstance(value, int) else _quoted(str(value))


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
