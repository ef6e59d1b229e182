"""The further files of an entry: gains, beliefs, people, releases, a policy, published tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from qifsql.adversary.laws import Law, laws
from qifsql.adversary.transitions import Rule, rules
from qifsql.data.dataset import Dataset
from qifsql.data.toml_lines import LineError, Lines, Step, parse
from qifsql.errors import InputError
from qifsql.query.protections import split
from qifsql.study import baseline, policy, table_rules
from qifsql.study.entry import Entry
from qifsql.study.policy import Policy
from qifsql.study.read import Reader
from qifsql.study.sources import Sources, gain_file, resolved

PEOPLE = ("population", "people", "learn", "original", "control")
"""Options that name a further dataset of people."""
OF_CHECKS = ("policy", "rule", "unnamed", "unit", "baseline")
"""Options of a check that its attacks do not have."""
WITH_TABLES: Mapping[str, Callable[[str], Sequence[Rule | Law]]] = {"link": rules, "knows": laws}
"""Options whose texts are rules about columns, which may name tables."""


@dataclass
class Collected:
    """The files that an entry names: the paths of each, None for one that is missing.

    ``written`` has a text as it is in the study, by the same text with a resolved path.
    """

    paths: list[tuple[str, ...] | None] = field(default_factory=list)
    written: dict[str, str] = field(default_factory=dict)


class Files:
    """Look-up of the files that entries name; the reader notes all errors."""

    def __init__(self, reader: Reader, sources: Sources) -> None:
        self.reader = reader
        self.sources = sources

    def of(self, entry: Entry) -> Entry | None:
        """Return the entry with all its files, and options that have their resolved paths.

        None, with an error noted, if a file is missing.
        """
        options, place, folder = dict(entry.options), entry.place, self.reader.folder
        files = Collected()  # grows with each option that names a file
        resolve = {"gain": self._gain, "link": self._with_table, "knows": self._with_table}
        resolve |= {"published": self._published, "release": self._published}
        for name in filter(options.__contains__, resolve):  # texts in which a file is only a part
            texts = enumerate(options[name])
            options[name] = tuple(resolve[name](text, files, *place, name, i) for i, text in texts)
        files.paths += self._open_datasets(options, entry)
        for name in ("prior", "possible", "ledger", "store", "policy", "baseline"):  # paths alone
            if name in ("prior", "possible", "ledger") and name in options:
                files.paths.append(self._there(options[name], *place, name))
            if name in options:
                options[name] = resolved(folder, options[name])
        if "hierarchies" in options:
            paths_by_name = options["hierarchies"].items()
            files.paths += [self._there(p, *place, "hierarchies") for _, p in paths_by_name]
            options["hierarchies"] = {name: resolved(folder, p) for name, p in paths_by_name}
        if "preset" in options:
            self._take_preset(options, files, *place)
        if None in files.paths:
            return None
        paths = tuple(path for paths in files.paths for path in paths or ())
        return replace(entry, options=options, files=paths, written=files.written)

    def _gain(self, text: str, files: Collected, *place: Step) -> str:
        """Return a gain function with the resolved path of its file, added to ``files``."""
        gain = self.sources.gain(text, *place)
        if gain is None:  # the error is noted
            files.paths.append(None)
            return text
        if (file := gain_file(gain)) is not None:  # worth:FILE
            files.paths.append(self._there(file, *place))
            gain = f"{gain.partition(':')[0].strip()}:{resolved(self.reader.folder, file)}"
            files.written[gain] = self.sources.gains.get(text) or text
        return gain

    def _open_datasets(self, options: dict[str, Any], entry: Entry) -> list[tuple[str, ...] | None]:
        """Replace names and paths in ``options`` by opened datasets; return the files of each.

        Both are None for a dataset that could not be opened; the reader has noted the error.
        """
        opened = []
        for name in (name for name in PEOPLE if name in options):
            options[name] = self.sources.dataset(options[name], *entry.place, name)
            opened.append(options[name])
        if entry.kind == "synthetic":
            place = (*entry.place, "releases")
            texts = enumerate(options["releases"])
            options["releases"] = tuple(self.sources.dataset(text, *place, i) for i, text in texts)
            opened += options["releases"]
        return [None if dataset is None else dataset.paths for dataset in opened]

    def _take_preset(self, options: dict[str, Any], files: Collected, *place: Step) -> None:
        """Replace a preset in ``options`` by the file of its policy."""
        name = options.pop("preset")
        try:
            if "policy" in options or "rule" in options:
                raise InputError("a preset replaces policy and [[check.rule]]; name one of them")
            options["policy"] = str(policy.preset(name))
        except InputError as e:
            self.reader.wrong(str(e), *place, "preset")
            files.paths.append(None)

    def policy_keys(self, entry: Entry) -> tuple[str, ...]:
        """Return the keys of the adversary in a check's policy: they precede roles of datasets."""
        if "policy" not in entry.options:
            return ()
        try:
            data, _ = parse(resolved(self.reader.folder, entry.options["policy"]))
        except InputError:
            return ()  # the error is noted when the policy is read
        adversary = data.get("adversary")
        return tuple(adversary) if isinstance(adversary, dict) else ()

    def policy(self, entry: Entry) -> tuple[Policy, list[str]] | None:
        """Return the policy of a check, or that of its rules, and the files that it names.

        None, with an error noted, if the policy is wrong. Paths in ``entry`` must be resolved.
        """
        options, wrong = entry.options, self.reader.wrong
        if ("policy" in options) == ("rule" in options):
            what = "both a policy and rules" if "policy" in options else "no policy"
            hint = 'write policy = "FILE.toml", preset = "k5" or [[check.rule]]'
            wrong(f"check {int(entry.place[-1]) + 1} has {what}; {hint}", *entry.place)
            return None
        key = "policy" if "policy" in options else "rule"
        for name in ("unnamed", "unit") if key == "policy" else ():
            if name in options:
                wrong(f"{name} stands in the policy itself; write it there", *entry.place, name)
                return None
        try:
            levels = policy_of(options)
            of_policy = {n: v for n, v in levels.adversary.items() if n not in options}
            names = [of_policy[name] for name in ("prior", *PEOPLE) if name in of_policy]
            names += [file for recipient in levels.recipients for file in recipient.files]
            files = [options["policy"]] if key == "policy" else []
            files += [path for name in names for path in Dataset.open(name).paths]
            files += table_rules.files(levels.tables)
        except InputError as e:
            inside = e.route[1:] if key == "rule" and isinstance(e, LineError) else ()
            wrong(str(e), *entry.place, key, *inside)
            return None
        baseline_files = self._baseline_files(entry, levels)
        return None if baseline_files is None else (levels, [*files, *baseline_files])

    def _baseline_files(self, entry: Entry, levels: Policy) -> Sequence[str] | None:
        """Return the files of the baseline of a check; None, with an error noted, without any."""
        last = entry.options.get("baseline", levels.baseline)
        if last is None and any(rule.drifts for rule in levels.rules):
            self.reader.wrong('a rule needs a baseline; write baseline = "FILE"', *entry.place)
            return None
        try:
            return () if last is None else baseline.read(last).files
        except InputError as e:
            names = (name for name in ("baseline", "policy") if name in entry.options)
            self.reader.wrong(str(e), *entry.place, next(names, "rule"))
            return None

    def _with_table(self, text: str, files: Collected, *place: Step) -> str:
        """Return rules about columns with the resolved paths of their tables, added to ``files``.

        ``place`` ends with the option (``link`` or ``knows``) and the number of the rules there.
        """
        try:
            law = WITH_TABLES[str(place[-2])](text)
        except InputError as e:
            self.reader.wrong(str(e), *place)
            files.paths.append(None)
            return text
        pieces = []
        for rule in law:
            moved: Rule | Law = rule
            if rule.table:
                files.paths.append(self._there(rule.table, *place))
                moved = replace(rule, table=resolved(self.reader.folder, rule.table))
                files.written[moved.law] = rule.law
            pieces.append(moved.plain())
        return "; ".join(pieces)

    def _published(self, text: str, files: Collected, *place: Step) -> str:
        """Return ``FILE[:PROTECTION]`` with the resolved path of the file, added to ``files``.

        A microdata release may end in its columns, ``FILE:COLUMNS``.
        """
        moved = resolved(self.reader.folder, text)
        file = text
        if not Path(moved).exists() and place[-2] == "release":
            file = text.rpartition(":")[0] or text
        elif not Path(moved).exists():  # then it may end in a protection
            try:
                file, _ = split(text)
            except InputError as e:
                self.reader.wrong(str(e), *place)
                files.paths.append(None)
                return text
        files.paths.append(self._there(file, *place))
        files.written[moved] = text
        return moved

    def _there(self, text: str, *place: str | int) -> tuple[str, ...] | None:
        """Return the files of a dataset at a path; None, with an error noted, if it is missing."""
        opened = self.sources.opened(text, {}, *place)
        return None if opened is None else opened.paths


def policy_of(options: Mapping[str, Any]) -> Policy:
    """Return the policy that the options of a check name, or the policy of its rules."""
    adversary = {n: v for n, v in options.items() if n not in OF_CHECKS}
    if "policy" in options:
        return policy.read(options["policy"], **adversary)
    data = {name: options[name] for name in ("rule", "unnamed", "unit") if name in options}
    return policy.parsed(data | {"rule": list(data["rule"])}, Lines(""), Path(), **adversary)
