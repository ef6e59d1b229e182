"""The target of an individual model: its values, as texts that fit the quasi-identifiers."""

import re
from collections.abc import Mapping, Sequence

from qifsql.catalog import Catalog
from qifsql.errors import TargetError, quoted
from qifsql.models import Model
from qifsql.spec import INTEGERS, Attribute, family


def bind(
    kind: Model, target: Mapping[str, object], qids: Sequence[Attribute], catalog: Catalog
) -> dict[str, str | None]:
    """The target's values in the order of the quasi-identifiers, as texts that fit their types."""
    if not kind.individual:
        if target:
            raise TargetError(
                f"model {kind.acronym} attacks everybody and takes no target; "
                f"use i{kind.acronym[1:]} for one person"
            )
        return {}
    given: dict[str, object] = {}
    for name, value in target.items():
        found = [q for q in qids if q.name == name]
        found = found or [q for q in qids if q.name.casefold() == name.casefold()]
        if len(found) != 1:
            raise TargetError(f"the target names {quoted(name)}, which is no quasi-identifier")
        given[found[0].name] = value
    if missing := [q.name for q in qids if q.name not in given]:
        raise TargetError(
            f"the target has no value for {', '.join(map(quoted, missing))}; "
            "give --target COLUMN=VALUE for every quasi-identifier"
        )
    return {q.name: _fitting(q, given[q.name], catalog) for q in qids}


def _fitting(qid: Attribute, value: object, catalog: Catalog) -> str | None:
    if value is None:
        return None
    text = str(value)
    if isinstance(value, bytes):
        text = "".join(f"\\x{byte:02X}" for byte in value)
    if not (_is_exact(text, qid.type) and catalog.fits(text, qid.type)):
        raise TargetError(
            f"the target's value for {quoted(qid.name)} does not fit its type {family(qid.type)}"
        )
    return text


def _is_exact(text: str, type_: str) -> bool:
    """Whether reading the text as that type would neither round it nor cut it."""
    text, kind = text.strip(), family(type_)
    if kind == "DECIMAL":
        scale = int(type_.rstrip(")").split(",")[1])
        found = re.fullmatch(r"[-+]?\d*(?:\.(\d*?)0*)?", text)
        return found is not None and len(found[1] or "") <= scale
    if kind == "DATE":
        return re.fullmatch(r"[-+]?\d+-\d\d?-\d\d?|-?infinity", text) is not None
    if kind.startswith("TIME"):
        fraction = re.search(r"\.(\d*?)0*(?:[^\d.].*)?$", text)
        digits = {"TIMESTAMP_S": 0, "TIMESTAMP_MS": 3, "TIMESTAMP_NS": 9}.get(kind, 6)
        return fraction is None or len(fraction[1]) <= digits
    return kind not in INTEGERS or re.fullmatch(r"[-+]?\d+", text) is not None
