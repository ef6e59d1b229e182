"""Adversaries as users write them: texts, TOML files, CSV files, and dictionaries.

``age=0.9,city=1`` is what one adversary knows; ``neighbour: age=0.9`` names her. A name with ``=``,
``:``, ``,`` or ``;`` stands in double quotes. ``*`` means all attributes that are not named.
"""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from qifsql.adversary.knowledge import Adversary, check_names, independent, mixture, of_shares
from qifsql.adversary.names import subset
from qifsql.commands.adversaries.spec import Knowledge
from qifsql.data.exact import exact
from qifsql.data.files import check_file, path_text, several_paths
from qifsql.data.toml_lines import Lines, parse
from qifsql.errors import InputError, did_you_mean, quoted

NAME = r'(?:"(?P<quoted>(?:[^"]|"")*)"|(?P<plain>[^"=:,;]*))'
HEAD = re.compile(rf"\s*{NAME}\s*:(?P<rest>.*)", re.S)
ITEM = re.compile(rf"\s*{NAME}\s*=(?P<value>[^\"=:,;]*)(?P<end>,|$)", re.S)
FILES = (".toml", ".csv")
OTHERS = "*"
MIXTURE = "mixture"
EXAMPLE = '"age=0.9,city=1"'
MOST_DIGITS = 18  # of the denominator of a probability

Mixed = tuple[Lines, Mapping[str, Fraction]]
"""The file of a mixture, and the shares of its members by name."""


@dataclass
class Notation:
    """Reader of adversaries for the attributes ``qids``; it collects remarks and files.

    ``unnamed`` maps adversaries to attributes that they name nowhere, which they do not know.
    """

    qids: Sequence[str]
    notes: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    unnamed: dict[str, list[str]] = field(default_factory=dict)

    def adversaries(self, knows: Knowledge) -> list[Adversary]:
        """Return all adversaries, those of mixtures last; InputError if one is not valid."""
        if isinstance(knows, Mapping):
            return check_names(self._of_mapping(knows))
        members: list[Adversary] = []
        mixtures: list[Mixed] = []
        for text in map(path_text, several_paths(knows)):
            name, rest = _split_name(text)
            file = rest.strip()
            ending = Path(file).suffix.casefold()
            # A text is age=0.9, or names a file: .csv has one adversary, .toml several.
            if "=" in rest or ending not in FILES:
                members.append(self._of_text(text))
            elif ending == ".csv":
                members.append(self._of_csv(file, name or Path(file).stem))
            elif name:
                raise InputError(f"{file} names its adversaries itself; leave {quoted(name)} out")
            else:
                named, mixed = self._of_toml(file)
                members += named
                mixtures += mixed
        members = check_names(members)
        return check_names([*members, *(_make_mixture(*mixed, members) for mixed in mixtures)])

    def _of_text(self, text: str) -> Adversary:
        """Return the adversary of a text ``NAME: age=0.9,city=1``."""
        name, rest = _split_name(text)
        probabilities: dict[str, Fraction] = {}
        for attribute, value, is_quoted in _parse_items(rest):
            if attribute != OTHERS or is_quoted:  # "*" in quotes is an attribute of that name
                self._check(attribute, _quotes_hint(text, self.qids))
            if attribute in probabilities:
                raise InputError(f"{quoted(attribute)} is named twice in --knows; name it once")
            probabilities[attribute] = probability(value, attribute)
        return self._independent(name or text.strip(), probabilities)

    def _of_mapping(self, knows: Mapping[str, Any]) -> Iterator[Adversary]:
        """Yield the adversary of a dictionary of probabilities, or those of several by name."""
        if not any(isinstance(value, Mapping) for value in knows.values()):
            text = ", ".join(f"{name}={value}" for name, value in knows.items())
            yield self._of_table(text, knows)
            return
        for name, table in knows.items():
            if not isinstance(table, Mapping):
                raise InputError(
                    f"{quoted(str(name))} has no probabilities; write {{NAME: {{...}}}}"
                )
            yield self._of_table(str(name), table)

    def _of_table(self, name: str, table: Mapping[str, Any]) -> Adversary:
        """Return the adversary ``name``, who knows attributes with the probabilities ``table``."""
        probabilities = {}
        for attribute, value in table.items():
            if attribute != OTHERS:
                self._check(str(attribute))
            probabilities[str(attribute)] = probability(value, str(attribute))
        return self._independent(name, probabilities)

    def _of_toml(self, file: str) -> tuple[list[Adversary], list[Mixed]]:
        """Return the adversaries of the tables of a file, and the mixtures of them."""
        data, lines = parse(file)
        self.files.append(file)
        members, mixtures = [], []
        for name, table in data.items():
            if not isinstance(table, dict):
                raise lines.wrong(
                    f"{quoted(name)} is in no table; write [NAME], then age = 0.9", name
                )
            try:
                if name == MIXTURE:
                    mixtures.append((lines, _read_shares(table)))
                else:
                    members.append(self._of_table(name, table))
            except InputError as e:
                raise lines.wrong(str(e), name) from e
        if not members:
            raise lines.wrong("there are no adversaries; write [NAME], then age = 0.9")
        return members, mixtures

    def _of_csv(self, file: str, name: str) -> Adversary:
        """Return the adversary who knows each subset in a file in proportion to its weight."""
        self.files.append(file)
        shares: dict[int, Fraction] = {}
        for line, (text, weight) in enumerate(_read_csv(file), 2):
            try:
                chosen = subset(text, self.qids) if text else 0  # 0: the empty set
                share = _share(weight, "the weight")
                if chosen in shares:
                    raise InputError("this set is listed a second time; list it once")
            except InputError as e:
                raise InputError(f"{file}, line {line}: {e}") from e
            shares[chosen] = share
        total = sum(shares.values())
        if not total:
            raise InputError(f"{file} has no set with a weight above 0")
        if total != 1:
            self.notes.append(
                f"the weights of {file} add up to {float(total):.6g}, not to 1; they are taken in "
                "proportion"
            )
        return of_shares(name, shares)

    def _independent(self, name: str, probabilities: Mapping[str, Fraction]) -> Adversary:
        """Return an adversary; what is not named has the probability of ``*``, or 0."""
        absent = [qid for qid in self.qids if qid not in probabilities]
        if absent and OTHERS not in probabilities:
            self.unnamed[name] = absent
        usual = probabilities.get(OTHERS, Fraction())
        return independent(name, [probabilities.get(qid, usual) for qid in self.qids])

    def _check(self, name: str, hint: str = "") -> None:
        if name not in self.qids:
            hint = hint or did_you_mean(name, self.qids)
            raise InputError(f"{quoted(name)} is no quasi-identifier of the sweep{hint}")


def probability(value: object, name: str) -> Fraction:
    """Return a probability exactly; InputError if it is not a number from 0 to 1."""
    share = number(value)
    if share is None or not 0 <= share <= 1:
        raise InputError(
            f"the probability of {quoted(name)} is not a number from 0 to 1; write, for example, "
            f"{quoted(name)[1:-1]}=0.9"
        )
    if share.denominator > 10**MOST_DIGITS:
        raise InputError(
            f"the probability of {quoted(name)} has more than {MOST_DIGITS} digits; round it"
        )
    return share


def number(value: object) -> Fraction | None:
    """Return a number exactly as it is written (0.9, 2/3); None if it is not a finite number."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | Fraction | Decimal):
        return None
    return exact(value)


def _split_name(text: str) -> tuple[str, str]:
    """Return the name of an adversary in front of a colon, empty without one, and the rest."""
    match = HEAD.match(text)
    if match is None:
        return "", text
    name = _unquoted_name(match).strip()
    if not name:
        raise InputError('the name in front of ":" is empty; write "neighbour: age=0.9"')
    return name, match["rest"]


def _parse_items(text: str) -> Iterator[tuple[str, str, bool]]:
    """Yield (attribute, value, is its name in quotes) of a text ``age=0.9,"home town"=1``."""
    position = 0
    while position < len(text) or not position:  # an empty text is an error, too
        match = ITEM.match(text, position)
        if match is None or not (_unquoted_name(match) or match["quoted"] is not None):
            piece = text[position:].split(",", maxsplit=1)[0].strip()
            example = f"{piece}=0.9" if re.fullmatch(r"[\w ]+", piece) else EXAMPLE
            raise InputError(
                f"{quoted(piece)} is not ATTRIBUTE=PROBABILITY; write, for example, {example}; a "
                "name with = : , or ; stands in double quotes"
            )
        yield _unquoted_name(match), match["value"], match["quoted"] is not None
        position = match.end()
        if match["end"] == "," and position == len(text):
            raise InputError(f"--knows ends in a comma; write, for example, {EXAMPLE}")


def _unquoted_name(match: re.Match[str]) -> str:
    if match["quoted"] is not None:
        return match["quoted"].replace('""', '"')
    return match["plain"].strip()


def _quotes_hint(text: str, qids: Sequence[str]) -> str:
    """Return a hint if a text names an attribute with a colon without double quotes."""
    unquoted = [qid for qid in qids if ":" in qid and qid in text and f'"{qid}"' not in text]
    if not unquoted:
        return ""
    return f"; a name with a colon stands in double quotes: '\"{quoted(unquoted[0])[1:-1]}\"=0.9'"


def _read_shares(table: Mapping[str, Any]) -> Mapping[str, Fraction]:
    shares = {name: _share(v, f"the share of {quoted(name)}") for name, v in table.items()}
    if not any(shares.values()):
        raise InputError("the mixture has no share above 0; write, for example, neighbour = 0.7")
    return shares


def _share(value: object, what: str) -> Fraction:
    share = number(value)
    if share is None or share < 0 or share.denominator > 10**MOST_DIGITS:
        raise InputError(f"{what} is not a number of 0 or more")
    return share


def _make_mixture(
    lines: Lines, shares: Mapping[str, Fraction], members: Sequence[Adversary]
) -> Adversary:
    """Return the adversary who is one of the members, with these shares by name."""
    names = [member.name for member in members]
    for name in shares:
        if name not in names:
            hint = did_you_mean(name, names)
            raise lines.wrong(f"there is no adversary {quoted(name)}{hint}", MIXTURE, name)
    return mixture(MIXTURE, shares, members)


def _read_csv(file: str) -> Iterator[tuple[str, str]]:
    """Yield the columns ``qids`` and ``weight`` of a CSV file."""
    check_file(file)
    try:
        with Path(file).open(encoding="utf-8-sig", newline="") as text:
            lines = csv.reader(text, strict=True)
            head = next(lines, [])
            if sorted(head) != ["qids", "weight"]:
                raise InputError(f"{file} has other columns than qids and weight; write these two")
            for line in lines:
                if len(line) != 2:
                    raise InputError(f"{file}, line {lines.line_num}: there are not two fields")
                row = dict(zip(head, line, strict=True))
                yield row["qids"], row["weight"]
    except UnicodeDecodeError as e:
        raise InputError(f"{file} is not UTF-8; save the file as UTF-8") from e
    except (csv.Error, OSError) as e:
        raise InputError(f"{file} cannot be read as CSV; write qids,weight in each line") from e
