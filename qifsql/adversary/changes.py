"""Planned changes to a release, as users write them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from qifsql.adversary.rule_text import quoted_name, unquoted
from qifsql.adversary.spec import Attribute
from qifsql.data.exact import exact
from qifsql.data.option import as_tuple
from qifsql.errors import ColumnError, InputError, did_you_mean, quoted

HOW = "drop=NAME, NAME:5, NAME:month, NAME:@1, top(NAME)=90, NAME=EXPRESSION or sample=0.1"


@dataclass(frozen=True)
class Change:
    """One change: its text, kind, quasi-identifier and argument.

    ``kind`` is ``drop``, ``top``, ``bottom``, ``coarser``, ``level``, ``expression`` or ``sample``.
    ``qid`` is the number of the quasi-identifier, 0 for a sample; ``how`` is the argument.
    """

    text: str
    kind: str
    qid: int
    how: str

    @property
    def rate(self) -> Fraction:
        """Return the share of the records that a sample keeps."""
        return Fraction(self.how)


def read(text: str, qids: Sequence[Attribute]) -> Change:
    """Return the change that a text describes, such as ``age:5``, ``drop=age`` or ``sample=0.1``.

    ``qids`` are the quasi-identifiers, which a change has by number, from 1. Raises InputError if
    the text describes no change, ColumnError if it names another column.
    """
    if match := re.fullmatch(r"\s*sample\s*=\s*(.*)", text, re.S):
        return Change(text=text, kind="sample", qid=0, how=str(_rate(match[1])))
    if match := re.fullmatch(r"\s*drop\s*=(.*)", text, re.S):
        return Change(text=text, kind="drop", qid=_number(match[1], text, qids), how="")
    if match := re.fullmatch(r"\s*(top|bottom)\((.*)\)\s*=\s*(.*)", text, re.S):
        return Change(text, match[1], _number(match[2], text, qids), match[3].strip())
    return _read_named(text, qids)


def changed_names(texts: str | Sequence[str]) -> tuple[str, ...]:
    """Return the columns that changes name, where these have no quasi-identifiers to look them up.

    >>> changed_names(["age:5", "zip=left(zip, 2)", 'top("a:b")=90'])
    ('age', 'zip', 'a:b')
    """
    names = []
    for text in as_tuple(texts):
        match = re.fullmatch(r"\s*(?:drop\s*=\s*(.*)|(?:top|bottom)\((.*)\)\s*=.*)", text, re.S)
        in_quotes = re.match(r'\s*("(?:[^"]|"")*")\s*[=:]', text)
        if match:
            name = match[1] or match[2]
        else:
            name = in_quotes[1] if in_quotes else re.split(r"[=:]", text, maxsplit=1)[0]
        names += [] if name.strip() == "sample" else [unquoted(name.strip())]
    return tuple(dict.fromkeys(names))


def _read_named(text: str, qids: Sequence[Attribute]) -> Change:
    """Return a change that begins with the quasi-identifier: ``age:5``, ``zip:@1``, ``age=...``.

    Names may contain = and :, so both are tried as the end of the name; the longest name counts.
    """
    # ``_beginning`` returns the length of the name before the sign, and the number of the
    # quasi-identifier with this name; 0, 0 if there is none.
    (length, qid_number), sign = max((_beginning(text, sign, qids), sign) for sign in "=:")
    if qid_number:  # 0: the text begins with no quasi-identifier
        how = text[text.index(sign, length) + 1 :].strip()  # what follows the sign
        if sign == "=":
            return Change(text, "expression", qid_number, how)
        return Change(text, "level" if how.startswith("@") else "coarser", qid_number, how)
    name = re.split(r"[=:]", text, maxsplit=1)[0].strip()
    if name == text:  # neither sign is in it
        raise InputError(f"{quoted(text)} is not a change; write {HOW}")
    raise ColumnError(
        f"change {quoted(text)} is of {quoted(name)}, which is not a quasi-identifier"
        f"{did_you_mean(name, (q.name for q in qids))}"
    )


def _beginning(text: str, sign: str, qids: Sequence[Attribute]) -> tuple[int, int]:
    """Return (length of the name before the sign, number of its quasi-identifier from 1).

    ``sign`` is ``=`` or ``:``. Among several names the longest counts; case is ignored only if no
    name matches with it. (0, 0): the text begins with no quasi-identifier.
    """
    names = [(form, i) for i, q in enumerate(qids, 1) for form in (q.name, quoted_name(q.name))]
    for with_case in (str, str.casefold):
        matches = [
            (len(name), i)
            for name, i in names
            if with_case(text).startswith(with_case(name))
            and text[len(name) :].lstrip().startswith(sign)
        ]
        if matches:
            return max(matches)
    return 0, 0


def _number(name: str, text: str, qids: Sequence[Attribute]) -> int:
    """Return the number of the quasi-identifier of that name, from 1; ``text`` is the change."""
    for form in (name, name.strip(), unquoted(name.strip())):
        for with_case in (str, str.casefold):
            numbers = [i for i, q in enumerate(qids, 1) if with_case(q.name) == with_case(form)]
            if len(numbers) == 1:
                return numbers[0]
    hint = did_you_mean(name.strip(), (q.name for q in qids))
    raise ColumnError(
        f"change {quoted(text)} is of {quoted(name.strip())}, which is not a quasi-identifier{hint}"
    )


def _rate(text: str) -> Fraction:
    """Return the share of records that ``sample=SHARE`` keeps, above 0 and at most 1."""
    rate = exact(text)
    if rate is None:
        raise InputError(
            f"sample={quoted(text)[1:-1]} is not a share; write one such as sample=0.1"
        )
    if not 0 < rate <= 1:
        raise InputError(
            "a sample keeps a share above 0 and at most 1; expected, for example, sample=0.1"
        )
    return rate
