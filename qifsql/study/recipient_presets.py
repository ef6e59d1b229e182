"""Presets of recipients: values of a published text, with their places in it.

The file beside this module has the values and its source. A key that a recipient has itself
replaces the value of the preset.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path
from typing import Any

from qifsql.errors import InputError, quoted

FILE = Path(__file__).with_suffix(".toml")
DOCUMENT = (
    "Information and Privacy Commissioner of Ontario, De-identification Guidelines for Structured "
    "Data, June 2016"
)


@dataclass(frozen=True)
class Preset:
    """The chance of an attempt and the limits, with the places of those that are from the text.

    ``places`` has the keys ``attempt``, ``maximum`` and ``average`` of these values. ``note`` is
    what the chance of the text does not contain; empty if the recipient has a chance.
    """

    name: str
    attempt: float
    limits: Mapping[str, float]
    places: Mapping[str, str]
    note: str

    def plain(self) -> dict[str, Any]:
        """Return all of this but the values as plain data, for the manifest."""
        places = dict(self.places)
        return {"name": self.name, "document": DOCUMENT, "places": places, "note": self.note}


def preset(name: object, attempt: float | None, limits: Mapping[str, float]) -> Preset:
    """Return the preset of a name; ``attempt`` and ``limits`` of the recipient replace its values.

    Raises InputError if there is none of this name.
    """
    presets = tomllib.loads(FILE.read_text("utf-8"))
    if not isinstance(name, str) or name not in presets:
        near = get_close_matches(str(name), presets, n=1)
        hint = f"; did you mean {quoted(near[0])}?" if near else ""
        raise InputError(f"preset is one of {', '.join(map(quoted, presets))}{hint}")
    values = presets[name]
    chance = float(values["attempt"]["value"] if attempt is None else attempt)
    success = values.get("success")
    if success is not None:
        limit = Fraction(str(chance)) * Fraction(success["value"])
        values["maximum"] = success | {"value": float(limit)}
    replaced = {*limits, *(() if attempt is None else ("attempt",))}
    keys = [key for key in ("attempt", "maximum", "average") if key in values]
    places = {key: values[key]["place"] for key in keys if key not in replaced}
    bounds = {risk: values[risk]["value"] for risk in keys[1:]}
    note = values.get("note", "") if attempt is None else ""
    return Preset(name, chance, {**bounds, **limits}, places, note)
