"""Link rules: possible changes of a person's values from one release to the next.

``sex,birth_date; age:+1; city:stay=0.93; school:table=moves.csv``: semicolons separate rules (a
comma or semicolon inside double quotes belongs to the name), and each rule is about one column or
several. Columns without a colon match exactly. The others change: ``+1`` and ``-1`` are added from
one release to the next; ``stay=0.93`` keeps the value with that probability and otherwise draws it
again from the values of the next release, by their frequency, which may give the same value again;
``stay=?`` is the same with a probability learned from the data; ``table=FILE`` has the columns
from, to, probability. Source: M59 (PoPETs section 7 leaves the case as future work).
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from qifsql.adversary.rule_text import in_quotes, probability, split, unquoted
from qifsql.errors import InputError, quoted

Kind = Literal["exact", "shift", "stay", "table"]
WHAT = "the link rules"
FORMS = "sex,birth_date; age:+1; city:stay=0.93; school:table=moves.csv"


@dataclass(frozen=True)
class Rule:
    """A rule for the change of one column: exact match, shift, stay probability or table.

    ``stay`` is None if the probability is learned from the data.
    """

    column: str
    kind: Kind
    shift: Decimal = Decimal(0)
    stay: Fraction | None = None
    table: str = ""

    @property
    def drifts(self) -> bool:
        """Return whether one value can have several successors."""
        return self.kind in ("stay", "table")

    @property
    def law(self) -> str:
        """Return the rule as users write it after ``column:``; empty if it matches exactly."""
        if self.kind == "exact":
            return ""
        if self.kind == "shift":
            return f"{self.shift:+}"
        if self.kind == "table":
            return f"table={in_quotes(self.table)}"
        return f"stay={'?' if self.stay is None else float(self.stay)}"

    def plain(self) -> str:
        """Return the rule as users write it."""
        return f"{in_quotes(self.column)}:{self.law}".removesuffix(":")


def rules(text: str | Sequence[str]) -> tuple[Rule, ...]:
    """Return the rules in a text; raise InputError if it is invalid or names a column twice."""
    texts = [text] if isinstance(text, str) else text
    pieces = (piece for text in texts for piece in split(text, ";", WHAT) if piece)
    link_rules = [rule for piece in pieces for rule in _rule(piece)]
    if not link_rules:
        raise InputError(f"there are no link rules; write some, as in {quoted(FORMS)}")
    names = Counter(rule.column.casefold() for rule in link_rules)
    for rule in link_rules:
        if names[rule.column.casefold()] > 1:
            raise InputError(
                f"link rules name column {quoted(rule.column)} twice; each column has one rule"
            )
    return tuple(link_rules)


def _rule(piece: str) -> list[Rule]:
    """Return the rules of a text without semicolon (``city,school:stay=0.9``), one per column."""
    names, *laws = split(piece, ":", WHAT, limit=2)  # at the first colon outside double quotes
    columns = [unquoted(name) for name in split(names, ",", WHAT)]
    if not all(columns):
        raise InputError(f"the link rule {quoted(piece)} names no column; write it as in {FORMS}")
    rule = _of_law(laws[0], columns[0], piece) if laws else Rule(columns[0], "exact")
    return [replace(rule, column=column) for column in columns]


def _of_law(law: str, column: str, piece: str) -> Rule:
    """Return the rule of a column from the text after its colon; ``piece`` is all of it."""
    kind, equals, value = (part.strip() for part in law.partition("="))
    if re.fullmatch(r"[+-]\s*[0-9]+(\.[0-9]+)?", law):
        return Rule(column, "shift", shift=Decimal("".join(law.split())))
    if kind.casefold() == "stay" and equals:
        stay = None if value == "?" else probability(value, f"stay of column {quoted(column)}")
        return Rule(column, "stay", stay=stay)
    if kind.casefold() == "table" and value:
        return Rule(column, "table", table=unquoted(value))
    raise InputError(
        f"the link rule {quoted(piece)} is not understood: after the colon stands +1, stay=0.93, "
        "stay=? or table=FILE; a name with a colon is written in double quotes"
    )
