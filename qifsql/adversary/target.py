"""The target of an individual model: its values, as texts that fit the quasi-identifiers."""

import re
from collections.abc import Mapping, Sequence

from qifsql.adversary.models import Model
from qifsql.adversary.spec import Attribute
from qifsql.data.collection import ABSENT
from qifsql.data.column_questions import Catalog
from qifsql.data.types import INTEGERS, NOTHING, family
from qifsql.errors import TargetError, quoted

FORMS = {
    "DATE": "YEAR-MONTH-DAY: 1969-10-06 is 6 October 1969",
    "TIMESTAMP": "YEAR-MONTH-DAY HOUR:MINUTE:SECOND: 1969-10-06 14:30:00",
    "TIME": "HOUR:MINUTE:SECOND: 14:30:00",
}
"""The form of values of a type, by the start of its name."""


def bind(
    kind: Model, target: Mapping[str, object], qids: Sequence[Attribute], catalog: Catalog
) -> dict[str, str | None]:
    """Return the target's value of each quasi-identifier by its name, in the order of ``qids``.

    A value is a text that fits the type, None if it is missing, ABSENT if the target is not in that
    dataset. Models of everybody (``kind``) have no target: the result is empty.
    """
    if not kind.individual:
        if target:
            raise TargetError(
                f"model {kind.acronym} attacks everybody and takes no target; "
                f"use i{kind.acronym[1:]} for one person"
            )
        return {}
    values = _assign(target, qids)
    if missing := [q.name for q in qids if q.name not in values]:
        raise TargetError(
            f"the target has no value for {', '.join(map(quoted, missing))}; "
            "give --target COLUMN=VALUE for every quasi-identifier" + _if_absent(qids)
        )
    return {q.name: _fitting(q, values[q.name], catalog) for q in qids}


def _assign(target: Mapping[str, object], qids: Sequence[Attribute]) -> dict[str, object]:
    """Return the value for each quasi-identifier, by its name.

    A value for one dataset (``2:school``) overrides a value for all datasets (``school``). Raises
    TargetError if a name is not a quasi-identifier, or if two names mean the same one.
    """
    of_dataset: dict[str, object] = {}
    of_all: dict[str, object] = {}
    for name, value in target.items():
        matches = _named(name, {q.name: q for q in qids})
        values = of_dataset if matches else of_all
        matches = matches or _of_every_dataset(name, qids)
        if not matches:
            raise TargetError(f"the target names {quoted(name)}, which is not a quasi-identifier")
        if any(q.name in values for q in matches):
            raise TargetError(f"the target's {quoted(name)} is given twice; give it once")
        values |= {q.name: value for q in matches}
    return of_all | of_dataset


def _of_every_dataset(name: str, qids: Sequence[Attribute]) -> list[Attribute]:
    """Return the quasi-identifiers of a name without tag: the column of every dataset."""
    matches: list[Attribute] = []
    for number in sorted({q.number for q in qids}):
        of_number = [q for q in _tagged(qids) if q.number == number]
        matches += _named(name, {q.name.partition(":")[2]: q for q in of_number})
    return matches


def _named(name: str, qids: Mapping[str, Attribute]) -> list[Attribute]:
    """Return the quasi-identifier with this name, else one that differs only in case, if any."""
    matches = {name: qids[name]} if name in qids else {}
    matches = matches or {k: q for k, q in qids.items() if k.casefold() == name.casefold()}
    if len(matches) > 1:
        raise TargetError(
            f"the target names {quoted(name)}, which could be {', '.join(map(quoted, matches))}; "
            "write the exact name"
        )
    return list(matches.values())


def _if_absent(qids: Sequence[Attribute]) -> str:
    """Return a hint on how to write absence from a dataset; empty without a collection."""
    if not _tagged(qids):
        return ""
    word = "absent" if any(q.there is not None for q in qids) else "null"
    return f', "COLUMN is {word}" for a dataset that the person is not in'


def _tagged(qids: Sequence[Attribute]) -> list[Attribute]:
    """Return the quasi-identifiers of a collection, whose names have tags."""
    return [q for q in qids if q.name.startswith(f"{q.number}:")]


def _fitting(qid: Attribute, value: object, catalog: Catalog) -> str | None:
    """Return the target's value as a text that fits the type; None: missing, ABSENT: no record."""
    if value is None:
        return None
    if value is ABSENT:
        if qid.there is None:
            raise TargetError(
                f"the target is absent for {quoted(qid.name)}, but not being in a dataset is not "
                "told from a missing value here: write COLUMN is null, or ask for --absent distinct"
            )
        return ABSENT
    if qid.type == NOTHING:
        raise TargetError(
            f"column {quoted(qid.name)} has no type, because every value is missing; write "
            "COLUMN is null, or leave it out"
        )
    text = str(value)
    if isinstance(value, bytes):
        text = "".join(f"\\x{byte:02X}" for byte in value)
    if not (is_exact(text, qid.type) and catalog.fits(text, qid.type)):
        raise TargetError(
            f"the target's value for {quoted(qid.name)} does not fit its type {family(qid.type)}"
            f"{_of_label(qid.name, text, catalog) or _form(family(qid.type))}"
        )
    return text


def _of_label(name: str, text: str, catalog: Catalog) -> str:
    """Return what to write in place of the label of a value (SPSS, Stata); empty for others."""
    labelled = catalog.schema.find(name)
    codes = [v for v, label in labelled.value_labels.items() if label == text] if labelled else []
    if not codes:
        return ""
    return f"; it is the label of {codes[0]}: write that, or read labels with --all-varchar"


def _form(kind: str) -> str:
    """Return a hint how a value of a type is written; empty for types that are no dates or times.

    The example has no value of the file.
    """
    form = next((form for start, form in FORMS.items() if kind.startswith(start)), "")
    return f"; write it as {form}" if form else ""


def is_exact(text: str, type_: str) -> bool:
    """Return whether a text can be read as that type without rounding or cutting."""
    text, kind = text.strip(), family(type_)
    if kind == "DECIMAL":
        scale = int(type_.rstrip(")").split(",")[1])  # 2 of DECIMAL(9,2)
        match = re.fullmatch(r"[-+]?\d*(?:\.(\d*?)0*)?", text)  # decimals but zeros at the end
        return match is not None and len(match[1] or "") <= scale
    if kind == "DATE":
        return re.fullmatch(r"[-+]?\d+-\d\d?-\d\d?|-?infinity", text) is not None
    if kind.startswith("TIME"):
        fraction = re.search(r"\.(\d*?)0*(?:[^\d.].*)?$", text)  # of a second; then maybe a zone
        digits = {"TIMESTAMP_S": 0, "TIMESTAMP_MS": 3, "TIMESTAMP_NS": 9}.get(kind, 6)
        return fraction is None or len(fraction[1]) <= digits
    return kind not in INTEGERS or re.fullmatch(r"[-+]?\d+", text) is not None
