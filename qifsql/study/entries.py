"""Reading the attacks, sweeps and checks of a study."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from qifsql.errors import InputError, quoted
from qifsql.models import Model, model
from qifsql.study.entry import Entry, Kind
from qifsql.study.files import Files
from qifsql.study.forms import ENTRIES, JOINED, ROLES
from qifsql.study.reading import Reader
from qifsql.study.sources import Source, Sources
from qifsql.toml_lines import Route

WHOLE = "study"  # the name of the table of all entries
ABOUT_EVERYBODY = ("by", "histogram", "thresholds", "quantiles", "store")
NAME = re.compile(r"\w[\w-]*")
LONGEST = 80  # letters of a name, which becomes that of files


class Entries:
    """From the tables of a study to its entries, in the order in which they are written."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.sources = Sources(reader)
        self.files = Files(reader, self.sources)
        self.names: dict[str, Route] = {}

    def read(self) -> tuple[Entry, ...]:
        """All entries that are complete; what is wrong with the others is told."""
        reader = self.reader
        tables = [found for kind in ENTRIES for found in reader.listed(kind)]
        if not any(reader.data.get(kind) for kind in ENTRIES):
            reader.wrong("there is nothing to run; write [[attack]], [[sweep]] or [[check]]")
        tables.sort(key=lambda found: reader.lines.of(*found[0]))
        entries = [self._entry(given, place) for place, given in tables]
        return tuple(entry for entry in entries if entry is not None)

    def _entry(self, given: Any, place: Route) -> Entry | None:
        kind = cast("Kind", place[0])
        required = ["name", "model"] if kind == "attack" else ["name"]
        table = self.reader.table(given, ENTRIES[kind], *place, required=required)
        if table is None:
            return None
        known = {*table}
        name, source = table.pop("name", None), self._source(given, table, place)
        if name is not None:
            self._check_name(name, (*place, "name"))
        models = self._models(table.pop("model", None), (*place, "model"))
        told = [n for n in given if n in ENTRIES[kind] and n not in known]
        if source is None or name is None or models is None or told:
            return None
        options = {n: v for n, v in table.items() if v is not False and v not in ("", ())}
        places: dict[str, Route] = {n: (*place, n) for n in (*options, "model", "dataset")}
        acronyms = tuple(m.acronym for m in models)
        entry = Entry(kind, name, source.datasets, acronyms, options, place, places)
        entry = self._with_roles(entry, source, table, models)
        return self._complete(entry, models)

    def _with_roles(
        self, entry: Entry, source: Source, table: Mapping[str, Any], models: tuple[Model, ...]
    ) -> Entry:
        """The entry with the roles of its dataset about which neither it nor its policy speaks."""
        options, places = dict(entry.options), dict(entry.places)
        said = {*table, *self.files.said(entry)}
        for role in (r for r in (*ROLES, *JOINED) if source.roles.get(r) and r not in said):
            if _uses(role, source, table, models, entry.kind):
                options[role] = source.roles[role]
                places[role] = source.places.get(role, entry.place)
        return replace(entry, options=options, places=places)

    def _complete(self, entry: Entry, models: tuple[Model, ...]) -> Entry | None:
        """The entry with its files; None, told, where something is missing."""
        found = self.files.of(entry)
        if found is None:
            return None
        asked = found.options
        if entry.kind == "check":
            judged = self.files.policy(found)
            if judged is None:
                return None
            found = replace(found, files=(*found.files, *judged.files))
            asked, models = judged.adversary, judged.models
        self._check_missing(found, asked, models)
        return found

    def _source(self, given: Any, table: dict[str, Any], place: Route) -> Source | None:
        """What the entry is about; where the study has one dataset, that."""
        named = self.sources.named
        if "dataset" in given:
            names = table.pop("dataset", None)
            return None if names is None else self.sources.of(names, *place, "dataset")
        if len(named) == 1:
            return next(iter(named.values()))
        what = "name one" if named else "write [datasets.NAME] with its path"
        self.reader.wrong(f"{place[0]} {int(place[-1]) + 1} has no dataset; {what}", *place)
        return None

    def _check_name(self, name: str, place: Route) -> None:
        wrong = self.reader.wrong
        if not NAME.fullmatch(name) or len(name) > LONGEST or len(name.encode()) > 2 * LONGEST:
            what = f"use letters, digits, - and _, at most {LONGEST}"
            wrong(f"the name {quoted(name[:LONGEST])} cannot be that of a file; {what}", *place)
            return
        key = unicodedata.normalize("NFC", name).casefold()
        if key == WHOLE:
            wrong(f"{quoted(name)} is the name of the table of all; use another", *place)
        elif key in self.names:
            before = self.reader.lines.of(*self.names[key])
            wrong(f"{quoted(name)} is the name of the entry in line {before}; use another", *place)
        self.names.setdefault(key, place)

    def _models(self, names: tuple[str, ...] | None, place: Route) -> tuple[Model, ...] | None:
        """The models; None, told, where one is unknown. Only attacks have some."""
        if place[0] != "attack" or names is None:
            return () if place[0] != "attack" else None
        if not names:
            self.reader.wrong('there is no model; write model = "crs"', *place)
        found: list[Model] = []
        for name in (part.strip() for given in names for part in given.split(",")):
            try:
                found.append(model(name))
            except InputError as e:
                self.reader.wrong(str(e), *place)
                return None
        return tuple(dict.fromkeys(found)) or None

    def _check_missing(
        self, entry: Entry, asked: Mapping[str, Any], models: tuple[Model, ...]
    ) -> None:
        """What is known and wanted must be said, here or with the dataset."""
        wrong, individual = self.reader.wrong, any(m.individual for m in models)
        if not (asked.get("qids") or asked.get("target")):
            wrong("there are no quasi-identifiers; write qids = [...]", *entry.place)
        for m in models:
            if m.goal == "attribute inference" and not asked.get("secret"):
                wrong(f"{m.acronym} infers a secret; write secret = [...]", *entry.place)
                break
        for name in ABOUT_EVERYBODY if individual else ():
            if asked.get(name):
                what = "is about everybody; leave it out, or use a collective model"
                wrong(f"{name} {what}", *entry.place, name)
        for name in ("presence", "truth", "one_to_one") if "link" not in asked else ():
            if name in asked:
                what = 'is about links without a key; write link = ["..."]'
                wrong(f"{name} {what}", *entry.place, name)
        if asked.get("search") and "threshold" not in asked:
            wrong("a search needs a threshold; write threshold = 0.5", *entry.place, "search")


def _uses(
    role: str, source: Source, asked: Mapping[str, Any], models: tuple[Model, ...], kind: Kind
) -> bool:
    """Whether an entry uses a role of its dataset when it says nothing about it."""
    if role == "qids":
        return not asked.get("target")
    if role == "secret":
        return kind != "attack" or any(m.goal == "attribute inference" for m in models)
    if role == "key" and asked.get("link"):
        return any("?" in rule for rule in asked["link"])  # it is there to learn from
    if role == "key":
        wave = asked.get("wave", source.roles.get("wave"))
        return kind != "sweep" or len(source.datasets) > 1 or bool(wave)
    return True
