"""The reader of the attacks, sweeps, tables, synthetic releases and checks of a study."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from qifsql.adversary import sets
from qifsql.adversary.models import Model, model
from qifsql.adversary.options import MATCH_ANY
from qifsql.data.toml_lines import Route
from qifsql.errors import InputError, quoted
from qifsql.study.entry import Entry, Kind
from qifsql.study.entry_files import Files
from qifsql.study.forms import ENTRIES, JOINED, ROLES, of_entry
from qifsql.study.read import Reader
from qifsql.study.sources import Source, Sources

NAME_OF_ALL = "study"  # the name of the table of all entries
REQUIRED = {"attack": ("model",), "synthetic": ("releases",)}
"""Keys that an entry of a kind must have besides its name."""
ABOUT_EVERYBODY = ("by", "histogram", "thresholds", "quantiles", "store")
NO_RECORDS = ("weight", "wave", "null", "person")
RECORD_COUNTING: Mapping[object, tuple[str, str, tuple[str, ...]]] = {
    "tables": ("tables count", "tables are made of one dataset", NO_RECORDS),
    "synthetic": (
        "synthetic releases are compared by counting",
        "releases are made from one dataset",
        ("weight", "wave", "null"),
    ),
    "suda": ("suda counts", "suda takes one dataset", ("weight", "wave")),
}
"""Entries that count every record once: two phrases for messages, and the roles they lack."""
COMPARED_ALIKE = {
    "where": "one condition (where) holds",
    "person": "one column says whose record it is (person)",
}
"""Roles that are the same in all files of a comparison."""
WITHOUT_HOUSEHOLDS = ("weight", "prior", "link", "knows", "people", "learn", "store", "progressive")
"""Roles and options beside which the risk of households is not measured."""
NAME_PATTERN = re.compile(r"\w[\w-]*")
LONGEST_NAME = 80  # letters of a name, which is also used for files


class Entries:
    """The reader of the entries of a study, in the order of the file."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.sources = Sources(reader)
        self.files = Files(reader, self.sources)
        self.names: dict[str, Route] = {}

    def read(self) -> tuple[Entry, ...]:
        """Return all entries that are complete; note the errors of the others."""
        reader = self.reader
        tables = {place: table for kind in ENTRIES for place, table in reader.listed(kind)}
        if not any(reader.data.get(kind) for kind in ENTRIES):
            *others, last = (f"[[{kind}]]" for kind in ENTRIES)
            reader.wrong(f"there is nothing to run; write {', '.join(others)} or {last}")
        places = sorted(tables, key=lambda place: reader.lines.of(*place))
        entries = [self._entry(tables[place], place) for place in places]
        return tuple(entry for entry in entries if entry is not None)

    def _entry(self, content: Any, place: Route) -> Entry | None:
        """Return an entry with all its options; None, with errors noted, if it is not complete.

        ``content`` is its table as written, ``place`` its position: its kind and number from 0. The
        entry is the table's options, the roles of its dataset, and the files that they name.
        """
        kind = cast("Kind", place[0])
        required = ["name", *REQUIRED.get(kind, ())]
        table = self.reader.table(content, of_entry(kind), *place, required=required)
        if table is None:
            return None
        # The reader has noted and left out options that do not fit.
        unfit = [n for n in content if n in of_entry(kind) and n not in table]
        name, source = table.pop("name", None), self._source(content, table, place)
        if name is not None:
            self._check_name(name, (*place, "name"))
        models = self._models(table.pop("model", None), (*place, "model"))
        if source is None or name is None or models is None or unfit:
            return None
        others = [option for option in REQUIRED.get(kind, ()) if option != "model"]  # read above
        if not all(table.get(option) for option in others):  # ``reader.table`` has noted it
            return None
        if kind in RECORD_COUNTING:
            self._check_records(source, place)
        options = {n: v for n, v in table.items() if v is not False and v not in ("", ())}
        places: dict[str, Route] = {n: (*place, n) for n in (*options, "model", "dataset")}
        acronyms = tuple(m.acronym for m in models)
        entry = Entry(kind, name, source.datasets, acronyms, options, place, places)
        entry = self._with_roles(entry, source, table, models)
        if kind == "synthetic":
            self._check_compared(entry)
        return self._complete(entry, models)

    def _with_roles(
        self, entry: Entry, source: Source, table: Mapping[str, Any], models: tuple[Model, ...]
    ) -> Entry:
        """Return the entry with those roles of its dataset that it and its policy do not name."""
        options, places = dict(entry.options), dict(entry.places)
        names = {*table, *self.files.policy_keys(entry)}
        for role in (r for r in (*ROLES, *JOINED) if source.roles.get(r) and r not in names):
            if _uses(role, source, table, models, entry.kind):
                options[role] = source.roles[role]
                places[role] = source.places.get(role, entry.place)
        return replace(entry, options=options, places=places)

    def _complete(self, entry: Entry, models: tuple[Model, ...]) -> Entry | None:
        """Return the entry with its files; None, with an error noted, if something is missing."""
        entry_with_files = self.files.of(entry)
        if entry_with_files is None:
            return None
        options = entry_with_files.options
        if entry.kind == "check":
            judged = self.files.policy(entry_with_files)
            if judged is None:
                return None
            policy, files = judged
            entry_with_files = replace(entry_with_files, files=(*entry_with_files.files, *files))
            options, models = policy.adversary, policy.models
        if entry.kind != "tables":
            self._check_missing(entry_with_files, options, models)
        return entry_with_files

    def _source(self, content: Any, table: dict[str, Any], place: Route) -> Source | None:
        """Return the source of an entry, by default the only dataset of the study.

        ``content`` is the table as written, ``table`` its checked options: ``dataset`` is removed
        from them. None, with an error noted, if no dataset is named, or it does not fit.
        """
        named = self.sources.named
        if "dataset" in content:
            names = table.pop("dataset", None)
            return None if names is None else self.sources.of(names, *place, "dataset")
        if place[0] == "tables" and {"published", "release"} & content.keys():  # need no records
            return Source(())
        if len(named) == 1:
            return next(iter(named.values()))
        what = "name one" if named else "write [datasets.NAME] with its path"
        self.reader.wrong(f"{place[0]} {int(place[-1]) + 1} has no dataset; {what}", *place)
        return None

    def _check_records(self, source: Source, place: Route) -> None:
        """Refuse several datasets, and roles that an entry ignores: it counts each record once."""
        who, problem, unusable_roles = RECORD_COUNTING[place[0]]
        if len(source.datasets) > 1:
            self.reader.wrong(f"{problem}; name one", *place, "dataset")
        for role in unusable_roles:
            if source.roles.get(role, "distinct") != "distinct":  # null = "distinct" is usual
                what = f"{who} every record once, and the dataset has {role}"
                at = source.places.get(role, place)
                self.reader.wrong(f"{what}; name a dataset without it", *at)

    def _check_compared(self, entry: Entry) -> None:
        """Refuse releases and a control with roles that the comparison would not keep."""
        options = entry.options
        compared: dict[Route, str] = {("releases", i): t for i, t in enumerate(options["releases"])}
        if "control" in options:
            compared[("control",)] = options["control"]
        for at, text in compared.items():
            if (source := self.sources.named.get(text)) is None:
                continue  # a path, which has no roles
            self._check_records(Source((), source.roles, source.places), entry.place)
            for role, rule in COMPARED_ALIKE.items():
                here = source.roles.get(role)
                if here and here != options.get(role):
                    what = f"{rule} for the original, the releases and the control"
                    hint = f"{quoted(text)} has another one; write {role} in this entry"
                    self.reader.wrong(f"{what}, and {hint}", *entry.place, *at)

    def _check_name(self, name: str, place: Route) -> None:
        """Note the error of a name that cannot be that of a file, or is taken."""
        wrong = self.reader.wrong
        is_long = len(name) > LONGEST_NAME or len(name.encode()) > 2 * LONGEST_NAME
        if is_long or not NAME_PATTERN.fullmatch(name):
            what = f"use letters, digits, - and _, at most {LONGEST_NAME}"
            excerpt = quoted(name[:LONGEST_NAME])
            wrong(f"the name {excerpt} cannot be that of a file; {what}", *place)
            return
        key = unicodedata.normalize("NFC", name).casefold()
        if key == NAME_OF_ALL:
            wrong(f"{quoted(name)} is the name of the table of all; use another", *place)
        elif key in self.names:
            before = self.reader.lines.of(*self.names[key])
            wrong(f"{quoted(name)} is the name of the entry in line {before}; use another", *place)
        self.names.setdefault(key, place)

    def _models(self, names: tuple[str, ...] | None, place: Route) -> tuple[Model, ...] | None:
        """Return the models that texts such as "crs,cas" list; () for entries other than attacks.

        None, with an error noted, if there is no model or one is unknown.
        """
        if place[0] != "attack":
            return ()
        if names is None:  # the reader has noted that they are missing
            return None
        if not names:
            self.reader.wrong('there is no model; write model = "crs"', *place)
        try:
            models = [model(name.strip()) for name in ",".join(names).split(",")] if names else []
        except InputError as e:
            self.reader.wrong(str(e), *place)
            return None
        return tuple(dict.fromkeys(models)) or None

    def _check_missing(
        self, entry: Entry, options: Mapping[str, Any], models: tuple[Model, ...]
    ) -> None:
        """Refuse an entry that lacks options it needs, or has options its models cannot use."""
        wrong, is_individual = self.reader.wrong, any(m.individual for m in models)
        if not (options.get("qids") or options.get("target")):
            wrong("there are no quasi-identifiers; write qids = [...]", *entry.place)
        for m in models:
            if m.goal == "attribute inference" and not options.get("secret"):
                wrong(f"{m.acronym} infers a secret; write secret = [...]", *entry.place)
                break
        for name in ABOUT_EVERYBODY if is_individual else ():
            if options.get(name):
                what = "is about everybody; leave it out, or use a collective model"
                wrong(f"{name} {what}", *entry.place, name)
        for name in ("presence", "truth", "one_to_one") if "link" not in options else ():
            if name in options:
                what = 'is about links without a key; write link = ["..."]'
                wrong(f"{name} {what}", *entry.place, name)
        if "draws" in options and "knows" not in options:
            what = 'is about noisy knowledge; write knows = "age:+-2"'
            wrong(f"draws {what}", *entry.place, "draws")
        if options.get("search") and "threshold" not in options:
            wrong("a search needs a threshold; write threshold = 0.5", *entry.place, "search")


def _uses(
    role: str, source: Source, options: Mapping[str, Any], models: tuple[Model, ...], kind: Kind
) -> bool:
    """Return whether an entry uses a role of its dataset (as ``key``) that it does not name.

    The kinds tables, synthetic and suda take few roles. Others take all, except a household where
    it is not measured, quasi-identifiers beside a target, a secret without a model that infers one,
    and a key that nothing is joined by.
    """
    if kind == "tables":
        return role in ("secret", "where")
    if kind == "synthetic":
        return role in ("qids", "secret", "where", "person")
    if kind == "suda":
        return role in ("qids", "where", "null", "person")
    if role == "household":
        present = {**source.roles, **options}
        is_measured = kind in ("attack", "check") and present.get("null") != MATCH_ANY
        is_measured = is_measured and not any(present.get(name) for name in WITHOUT_HOUSEHOLDS)
        return is_measured and all(map(sets.takes_sets, models))
    if role == "qids":
        return not options.get("target")
    if role == "secret":
        return kind != "attack" or any(m.goal == "attribute inference" for m in models)
    if role == "key" and options.get("link"):
        return any("?" in rule for rule in options["link"])  # stay=? is learned by keys
    if role == "key":
        wave = options.get("wave", source.roles.get("wave"))
        return kind != "sweep" or len(source.datasets) > 1 or bool(wave)
    return True
