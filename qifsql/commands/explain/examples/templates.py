"""Worked examples: templates of ``measures.toml`` filled in with the counts of a small table.

A template names what it shows: a property of the sample (``sample.py``), a function of
``qifsql/reference/``, or of a module beside this one where an example needs more than that. Every
number is computed, so the lines are true for any table. The last number of the last line is the
measure itself. ``macros.jinja`` has what several examples share.
"""

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

from qifsql.commands.explain.examples import attacks, linking, releases, subsets, tables
from qifsql.commands.explain.examples.sample import Blocks, Sample, Values
from qifsql.reference import (
    channel,
    entropies,
    naive_bayes,
    quasi_identifier_sets,
    sample_uniques,
    success,
    sure_claims,
    syntactic_levels,
)

PROPERTIES = [name for name, member in vars(Sample).items() if isinstance(member, property)]
HEAD = """
{% import "macros.jinja" as parts with context %}
{{ people|persons }}; {{ qid }} is known, {{ secret }} is the secret
{{ parts.table(blocks) }}
"""


def lines(template: str, sample: Sample) -> tuple[str, ...]:
    """Return the lines of an example, made by its template from the counts of the sample.

    A line of the template that begins with a blank continues the line before.
    """
    names = {name: getattr(sample, name) for name in (*PROPERTIES, "qid", "by", "secret", "cells")}
    text: str = _compiled(template).render(names, sample=sample)
    return tuple(line for line in re.sub(r"\n+ +", " ", text).splitlines() if line)


@cache
def _compiled(template: str) -> Any:
    return _environment().from_string(HEAD + template)


@cache
def _environment() -> Any:
    """Return the environment of Jinja with all that templates name: modules, functions, filters."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # takes 30 ms

    environment = Environment(  # noqa: S701 - plain text
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
        **{"attacks": attacks, "linking": linking, "releases": releases},
        **{"subsets": subsets, "tables": tables},
        **{"bayes": naive_bayes, "claims": sure_claims, "channel": channel, "entropies": entropies},
        **{"levels": syntactic_levels, "sets": quasi_identifier_sets, "success": success},
        **{"suda": sample_uniques, "fraction": Fraction, "ln": math.log, "over": over, "zip": zip},
    }
    functions = (
        *(number, plus, added, phrases, counted, persons),
        *(total, tops, products, bits, tries),
    )
    environment.filters |= {function.__name__: function for function in functions}
    environment.filters |= {
        "argmax": lambda numbers: max(numbers, key=numbers.__getitem__),  # the first name
        "argmin": lambda numbers: min(numbers, key=numbers.__getitem__),
        "best_tries": channel.tries_vulnerability,
        "log2": math.log2,
        "add": operator.add,
        "distance": lambda n, m: abs(n - m),
        "part_of": lambda n, total: total / n,
        "of": lambda name, mapping: mapping.get(name, 0),
        "vulnerability": channel.vulnerability,
    }
    return environment


def over(parts: Iterable[Any], divisor: int) -> str:
    """Return a sum over a divisor, with its value: ``(3 + 2 + 1)/10 = 6/10 = 0.6``."""
    terms = list(parts)
    before = f"({plus(terms)})/{divisor} = " if len(terms) > 1 else ""
    return f"{before}{sum(terms)}/{divisor} = {number(Fraction(sum(terms), divisor))}"


def number(value: Fraction | float) -> str:
    """Return a number as a short decimal."""
    return f"{round(float(value), 12) + 0.0:.6g}"


def plus(parts: Iterable[object]) -> str:
    """Return the terms of a sum: ``3 + 2 + 1``."""
    return " + ".join(map(str, parts))


def added(parts: Iterable[int]) -> str:
    """Return a sum: ``3 + 1 = 4``, ``3``, or ``0``."""
    terms = list(parts)
    return f"{plus(terms)} = {sum(terms)}" if len(terms) > 1 else str(sum(terms))


class _Phrases(Formatter):
    """The formats of a template: ``{}`` as it is, ``{:number}`` and ``{:people}``."""

    def format_field(self, value: Any, format_spec: str) -> str:
        """Return a value in one of the formats."""
        formats: dict[str, Callable[[Any], str]] = {"": str, "number": number, "people": persons}
        return formats[format_spec](value)


def phrases(members: Iterable[Any], form: str, between: str = ", ") -> str:
    """Return the members (of a mapping, its pairs) in a format such as ``{0} of {1:people}``."""
    listed = members.items() if isinstance(members, Mapping) else members
    tuples = (member if isinstance(member, tuple) else (member,) for member in listed)
    return between.join(_Phrases().vformat(form, fields, {}) for fields in tuples)


def counted(values: Values) -> str:
    """Return how many people have each value: ``3 yes, 2 no``."""
    return phrases(values, "{1} {0}")


def persons(n: int) -> str:
    """Return a number of people: ``1 person``, ``4 people``."""
    return "1 person" if n == 1 else f"{n} people"


def total(blocks: Blocks) -> int:
    """Return the people of all these blocks."""
    return sum(sum(values.values()) for values in blocks.values())


def tops(counts: Iterable[Mapping[Any, Any]] | Blocks) -> list[Any]:
    """Return the greatest number of each of these counts."""
    members = counts.values() if isinstance(counts, Mapping) else counts
    return [max(values.values()) for values in members]


def products(pairs: Iterable[tuple[Any, Any]]) -> Any:
    """Return the sum of the products of pairs."""
    return sum(first * second for first, second in pairs)


def bits(values: Values) -> float:
    """Compute Shannon entropy of the values, in bits."""
    return entropies.entropy(syntactic_levels.shares(values))


def tries(values: Values) -> Fraction:
    """Return the guesses that all these people need together, the most frequent value first."""
    return sum(values.values()) * entropies.guessing(syntactic_levels.shares(values))
