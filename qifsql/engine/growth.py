"""The size of the values of an expression, told before it runs.

The engine computes an expression for thousands of rows at once, outside its memory limit, and hears
no interruption meanwhile. So an expression whose values may be longer than ``LONGEST``, or whose
comparisons and patterns may take longer than ``MAX_COMPARED`` for one row, is refused.
"""

import re
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from qifsql.data.types import NUMBERS
from qifsql.errors import ExpressionError

LONGEST = 100_000  # characters, or items, of a value
STATED = 1_000  # the largest length, or number, that an expression may state
MAX_COMPARED = 4_000_000  # pairs of characters of two texts that are compared
UNKNOWN = 200  # characters of a value of a column that was not looked at
SMALL = 40  # characters of a number, a date, a name of a field

LENGTH_ARGUMENTS = {
    **{"repeat": 1, "lpad": 1, "rpad": 1, "list_resize": 1, "array_resize": 1},
    **{"bitstring": 1, "to_base": 2},
}
"""Functions whose value is as long as an argument says, and which one."""
RANGES = ("range", "generate_series")
FACTORS = {
    **dict.fromkeys(("bin", "to_binary"), 8),
    **dict.fromkeys(("url_encode", "json_quote", "to_json", "array_to_json", "row_to_json"), 6),
    **dict.fromkeys(("json_object", "json_array", "json_pretty", "json_structure"), 6),
    **dict.fromkeys(("hex", "to_hex", "base64", "to_base64", "regexp_escape", "encode"), 4),
}
"""Functions whose values are so many times as long as their arguments."""
PAIRED = (
    *("levenshtein", "editdist3", "damerau_levenshtein"),
    *("jaccard", "jaro_similarity", "jaro_winkler_similarity"),
)
"""Functions that compare each character of one text with each of another."""
PATTERNS = (
    *("regexp_extract", "regexp_extract_all", "regexp_full_match", "regexp_matches"),
    *("regexp_replace", "regexp_split_to_array", "str_split_regex", "string_split_regex"),
    *("~", "!~"),
)
"""Functions whose second argument is a regular expression."""
ARITHMETIC = frozenset(("-", "*", "/", "//", "%", "abs", "ceil", "floor", "round", "trunc"))
"""Functions whose values are numbers, or dates."""
WRITTEN = ("format", "printf", "strftime")
GROWING = frozenset((*LENGTH_ARGUMENTS, *RANGES, *FACTORS, *PAIRED, *PATTERNS, *WRITTEN, "replace"))
"""Functions for which the lengths of the columns matter."""

Node = Mapping[str, Any]


def check(nodes: Sequence[Node], what: str, lengths: Mapping[str, int] | None = None) -> None:
    """Raise ExpressionError for an expression whose values may be too long, or take too long.

    ``nodes`` are the engine's parse tree, ``what`` names the expression in messages, ``lengths``
    are those of the longest values by column.
    """
    for node in nodes:
        _size(node, what, lengths or {})


def _size(node: object, what: str, lengths: Mapping[str, int]) -> int:
    """Return how many characters or items the value of a node of DuckDB's parse tree has at most.

    ExpressionError if they are more than is allowed. See ``check`` for the arguments.
    """
    if isinstance(node, list):
        return sum(_size(child, what, lengths) for child in node)
    if not isinstance(node, Mapping):
        return 0
    kind = node.get("class")
    if kind == "CONSTANT":
        return len(_literal(node))
    if kind == "COLUMN_REF":
        names = [name for name in node["column_names"] if name in lengths]
        return lengths[names[0]] if names else UNKNOWN
    if kind == "FUNCTION":
        return _size_of_function(node, what, lengths)
    size = _check_size(sum(_size(child, what, lengths) for child in node.values()), what)
    if kind != "CAST":
        return size
    type_name = (node.get("type_expr") or {}).get("type_name")
    # a text may have four characters for each byte of a BLOB
    return SMALL if type_name in NUMBERS else _check_size(size * 4, what)


def _size_of_function(node: Node, what: str, lengths: Mapping[str, int]) -> int:
    """Return how long the value of a call is at most; refuse slow patterns and comparisons."""
    name = str(node["function_name"])
    arguments = [argument["expression"] for argument in node["arguments"]]
    sizes = [_size(argument, what, lengths) for argument in arguments]
    if name in PATTERNS and len(arguments) > 1:
        _check_pattern(arguments[1], what)
    if name in PAIRED and prod(sizes[:2]) > MAX_COMPARED:
        raise ExpressionError(
            f"{what}: {name} would compare texts of up to {max(sizes[:2]):,} characters; shorten "
            "them, as in left(NAME, 1000)"
        )
    return _check_size(_size_of_call(name, arguments, sizes, what), what)


def _size_of_call(name: str, arguments: Sequence[Node], sizes: Sequence[int], what: str) -> int:
    """Return how long the value of a function is at most, from the sizes of its arguments."""
    if name in LENGTH_ARGUMENTS and len(arguments) > LENGTH_ARGUMENTS[name]:
        stated = _stated_length(arguments[LENGTH_ARGUMENTS[name]], name, what)
        if name == "repeat":
            return sizes[0] * stated
        is_filled = name.endswith("_resize") and len(sizes) > 2  # with copies of the last argument
        return max(*sizes, stated) + (stated * sizes[2] if is_filled else 0)
    if name in RANGES:
        return SMALL * _count_items(arguments, name, what)
    if name in ("left", "right", "left_grapheme", "right_grapheme") and len(arguments) == 2:
        text_size, _ = sizes
        number = _written_number(arguments[1])  # below 0: all characters but so many
        return text_size if number is None or number < 0 else min(text_size, number)
    if name in ("replace", "regexp_replace") and len(sizes) > 2:
        text_size, _, replacement_size, *_ = sizes
        # An empty pattern matches before every character and at the end, and they all stay.
        return text_size + (text_size + 1) * replacement_size
    if name in WRITTEN:
        return _formatted_length(arguments, sizes, what)
    if name in ARITHMETIC:
        return SMALL
    return sum(sizes) * FACTORS.get(name, 1) + SMALL


def _check_size(size: int, what: str) -> int:
    """Return the size of a value; refuse one that is too long."""
    if size > LONGEST:
        raise ExpressionError(
            f"{what} may have values of more than {LONGEST:,} characters or items, which are made "
            "for thousands of rows at once; shorten what it is made of, as in left(NAME, 100)"
        )
    return size


def _literal(node: Node) -> str:
    """Return the text of a constant, empty without one (NULL)."""
    return str((node.get("literal") or {}).get("text", ""))


def _written_number(node: Node) -> int | None:
    """Return the value of a whole number that is written out; None for all else."""
    text = _literal(node) if node.get("class") == "CONSTANT" else ""
    return int(text) if re.fullmatch(r"-?\d{1,18}", text) else None


def _stated_length(node: Node, name: str, what: str) -> int:
    """Return the length that an argument states; refuse it unless it is written out and small."""
    number = _written_number(node)
    if number is None or number > STATED:
        raise ExpressionError(
            f"{what}: the length that {name} is told must be a number up to {STATED:,}, written out"
        )
    return max(0, number)


def _count_items(arguments: Sequence[Node], name: str, what: str) -> int:
    """Return how many items ``range(end)`` or ``range(first, end, step)`` has; refuse many."""
    numbers = [number for number in map(_written_number, arguments) if number is not None]
    step = numbers[2] if len(numbers) > 2 else 1
    if len(numbers) < len(arguments) or not numbers or step == 0:
        raise ExpressionError(f"{what}: the ends of {name} must be numbers, written out")
    first, last = (0, numbers[0]) if len(numbers) == 1 else numbers[:2]
    items = abs(last - first) // abs(step) + 1
    if items > STATED:
        raise ExpressionError(f"{what}: {name} may have at most {STATED:,} items")
    return items


def _check_pattern(node: Node, what: str) -> None:
    """Refuse a regular expression that is not written out, or has large repetitions."""
    if node.get("class") != "CONSTANT":
        raise ExpressionError(f"{what}: a regular expression must be written out, in quotes")
    text = _literal(node)
    repetitions = [  # the larger number of each {2,5}; nested ones multiply
        max(map(int, re.findall(r"\d+", m))) for m in re.findall(r"\{([\d,]{1,20})\}", text)
    ]
    if len(text) > STATED or prod(max(1, n) for n in repetitions) > STATED:
        raise ExpressionError(
            f"{what}: a regular expression may have at most {STATED:,} characters, and repeat a "
            f"part {STATED:,} times"
        )


def _formatted_length(arguments: Sequence[Node], sizes: Sequence[int], what: str) -> int:
    """Return how long a formatted text is; refuse a format that is not written out, or wide."""
    texts = [_literal(node) for node in arguments if node.get("class") == "CONSTANT"]
    if not texts:
        raise ExpressionError(f"{what}: a format must be written out, in quotes")
    # a width of four digits, or one that is another argument: * or a field in a field
    if any(re.search(r"\d{4}|\*|\{[^{}]*\{", text) and re.search("[%{]", text) for text in texts):
        raise ExpressionError(f"{what}: a format may have fields of at most 999 characters")
    widths = [int(n) for text in texts for n in re.findall(r"\d+", text)]
    fields = sum(text.count("%") + text.count("{") for text in texts)
    return sum(sizes) + fields * max([SMALL, *widths])
