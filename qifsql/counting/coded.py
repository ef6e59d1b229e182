"""The people and records of all files as codes and counts, and the cells of a set of columns.

Each attribute has a dictionary of the values that it has in any file. The codes of all
quasi-identifiers of a record are packed into words of 63 bits, so that a subset of them is a mask.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from qifsql.counting.compared_files import CONTROL, ORIGINAL, Files
from qifsql.engine.tables import Tables
from qifsql.query import microdata_steps
from qifsql.query.columns import number, union
from qifsql.query.plan import Plan
from qifsql.query.shapes import Shape
from qifsql.query.splice import splice

BITS_OF_WORD = 63
POOLED_RELEASE = 0  # the number of all releases together


@dataclass(frozen=True)
class Field:
    """The place of the code of a quasi-identifier: its word from 1, its lowest bit, its width."""

    word: int
    shift: int
    width: int

    @property
    def mask(self) -> int:
        """Return the bits of the code in its word."""
        return ((1 << self.width) - 1) << self.shift


@dataclass(frozen=True)
class Coded:
    """The table ``coded``: a row per different record of all files, with its counts in each.

    ``fields`` are the places of the quasi-identifiers, ``values`` how many values each has, and
    ``secret_values`` how many each secret has.
    """

    tables: Tables
    fields: tuple[Field, ...]
    values: tuple[int, ...]
    secret_values: tuple[int, ...]
    releases: tuple[int, ...]

    @property
    def words(self) -> int:
        """Return the number of words of a tuple of quasi-identifiers."""
        return max(field.word for field in self.fields)

    def cells(
        self, secret: int, subset: Iterable[int] | None = None, table: str = "coded"
    ) -> exp.Select:
        """Return the query of the cells of a subset of the quasi-identifiers, counted in each file.

        ``subset`` has their numbers from 0 (None: all); ``secret`` is the number of a secret from
        1, or 0 for none. One row per combination of their values: ``word_1 ..`` (packed codes),
        ``secret`` (its code; always 0 for none), and the columns ``counts``. They are summed from
        ``coded``, or from ``table``: the cells of a larger subset, which are fewer rows.
        """
        words = self.masked(range(len(self.fields)) if subset is None else subset)
        # cells have the one secret that they are about, records have all
        name = "secret" if table != "coded" else f"secret_{secret}"
        value = exp.alias_(exp.column(name) if secret else number(0), "secret")
        query = exp.select(*words, value, *map(_sum_of, self.counts)).from_(exp.table_(table))
        key_columns = len(words) + 1
        return query.group_by(*(exp.Literal.number(i + 1) for i in range(key_columns)))

    @property
    def counts(self) -> list[str]:
        """Return the columns of counts."""
        return ["original", "control", *(f"synthetic_{r}" for r in self.releases)]

    def code_of(self, place: int, table: str) -> exp.Expr:
        """Return the code of a quasi-identifier, by its number from 0, in a row of a table."""
        return self._code_in_word(place, exp.column(f"word_{self.fields[place].word}", table))

    def code_of_key(self, place: int, key: exp.Expr) -> exp.Expr:
        """Return the code of a quasi-identifier in a ``key``, which is that of a subset with it."""
        if self.words == 1:
            return self._code_in_word(place, key)
        at = number(self.fields[place].word)
        return self._code_in_word(place, exp.Anonymous(this="list_extract", expressions=[key, at]))

    def key(self, subset: Iterable[int]) -> exp.Expr:
        """Return one value for the codes of a subset: its word, or a list of its words."""
        words = [word.this for word in self.masked(subset)]
        return words[0] if len(words) == 1 else exp.Array(expressions=words)

    def _code_in_word(self, place: int, word: exp.Expr) -> exp.Expr:
        """Return the code of the attribute at a place, from the word that holds it."""
        field = self.fields[place]
        bits = exp.paren(exp.BitwiseAnd(this=word, expression=number(field.mask)))
        if not field.shift:
            return bits
        return exp.paren(exp.BitwiseRightShift(this=bits, expression=number(field.shift)))

    def drop(self) -> None:
        """Drop the table and the dictionaries, so that other files can be coded."""
        columns = len(self.values) + len(self.secret_values)
        self.tables.drop("coded", *(f"dictionary_{i}" for i in range(1, columns + 1)))

    def missing_code(self, place: int) -> int:
        """Return the code of a missing value of a quasi-identifier; -1 if it has none."""
        query = exp.select("code").from_(exp.table_(f"dictionary_{place + 1}"))
        rows = self.tables.rows(query.where(exp.column("value").is_(exp.null())))
        return int(rows[0][0]) if rows else -1

    def masked(self, subset: Iterable[int]) -> list[exp.Expr]:
        """Return the columns ``word_1 ..`` with the bits of a subset (numbers from 0), else 0."""
        masks = [0] * self.words
        for i in subset:
            masks[self.fields[i].word - 1] |= self.fields[i].mask
        names = [f"word_{i}" for i in range(1, self.words + 1)]
        return [
            exp.BitwiseAnd(this=exp.column(name), expression=number(mask)).as_(name)
            for name, mask in zip(names, masks, strict=True)
        ]


def make(tables: Tables, files: Files) -> Coded:
    """Create the table ``coded`` of all files, and the table ``dictionary_i`` of each attribute i.

    Attributes have numbers from 1: quasi-identifiers, secrets, and the group if there is one. A
    dictionary has a row per value that occurs in any file, with its code.
    """
    for n, file in enumerate(files.files, 1):
        microdata = file.coded_microdata
        query = splice("synthetic/people", width=file.column_count)
        if file.microdata.person is not None:
            shape = {"qids": files.width, "secrets": len(files.secrets)}
            query = splice("synthetic/people_of_records", shape=shape)
        plan = microdata_steps.plan(microdata, microdata_steps.steps(microdata), query)
        tables.doing("reading", file.title).make(f"people_{n}", plan)
    qids, last_secret = files.width, files.width + len(files.secrets)
    values = []  # how many values each attribute has
    for i in range(1, last_secret + (files.by is not None) + 1):
        tables.make(f"dictionary_{i}", _dictionary(files, i), "encoding values")
        values.append(tables.count(f"dictionary_{i}"))
    fields = _packed(values[:qids])
    pooled = [POOLED_RELEASE] if len(files.releases) > 1 else []
    releases = (*range(1, len(files.releases) + 1), *pooled)
    coded = splice("synthetic/coded_files", shape=_shape(files, fields, releases))
    tables.make("coded", coded, "encoding records")
    tables.drop(*(f"people_{n}" for n in range(1, len(files.files) + 1)))
    return Coded(tables, fields, tuple(values[:qids]), tuple(values[qids:last_secret]), releases)


def _dictionary(files: Files, i: int) -> Plan:
    """Return the plan of the values of attribute ``i`` in all files that have it, with codes."""
    numbers = [n for n, file in enumerate(files.files, 1) if i <= file.column_count]
    value = exp.alias_(exp.column(f"qid_{i}"), "value")
    queries = [exp.select(value.copy()).from_(exp.table_(f"people_{n}")) for n in numbers]
    query = splice("synthetic/dictionary")
    for table in list(query.find_all(exp.Table)):
        if table.name == "listed":  # a placeholder of the SQL file for the values
            table.replace(exp.alias_(union(queries).subquery(), "listed", table=True))
    return Plan((), query)


def _packed(values: Sequence[int]) -> tuple[Field, ...]:
    """Return the place of the code of each attribute; ``values`` has their numbers of values."""
    fields: list[Field] = []
    word, used_bits = 1, 0
    for number_of_values in values:
        width = max(1, (number_of_values - 1).bit_length())  # codes are from 0 on
        if used_bits + width > BITS_OF_WORD:  # a code is not split over two words
            word, used_bits = word + 1, 0
        fields.append(Field(word, used_bits, width))
        used_bits += width
    return tuple(fields)


def _sum_of(count: str) -> exp.Expr:
    """Return the sum of a column of counts, under its name."""
    return exp.alias_(exp.cast(exp.Sum(this=exp.column(count)), "BIGINT"), count)


def _shape(files: Files, fields: Sequence[Field], releases: Sequence[int]) -> dict[str, Shape]:
    """Return the shape of the view ``coded_files``, which explains its parts.

    ``releases`` are the numbers of the releases; ``POOLED_RELEASE`` counts the records of all.
    """
    counts = []
    release = 0  # the number of the release, in the order of the files
    for file in files.files:
        is_release = file.role not in (ORIGINAL, CONTROL)
        release += is_release
        counted = [is_release and r in (release, POOLED_RELEASE) for r in releases]
        counts.append([file.role == ORIGINAL, file.role == CONTROL, *counted])
    last_secret = files.width + len(files.secrets)
    return {
        "columns": [file.column_count for file in files.files],
        "counts": counts,
        "words": fields_of_words(fields),
        "secrets": range(files.width + 1, last_secret + 1),
        "group": 0 if files.by is None else last_secret + 1,
        "releases": releases,
    }


def fields_of_words(fields: Sequence[Field]) -> list[list[list[int]]]:
    """Return the quasi-identifiers of each word: their numbers from 1, and their lowest bits."""
    return [
        [[i, field.shift] for i, field in enumerate(fields, 1) if field.word == word]
        for word in range(1, max(field.word for field in fields) + 1)
    ]
