"""The catalog of a dataset: questions about its columns and values, which the engine answers."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from sqlglot import exp

from qifsql.data.dataset import Dataset, Schema


@dataclass(frozen=True)
class Repeated:
    """A column that numbers people: ``values`` different numbers in ``records`` that have one.

    Both are 0 for a large file, which is not counted.
    """

    column: str
    values: int = 0
    records: int = 0

    @property
    def numbers_people(self) -> bool:
        """Return whether people repeat; few values in many records number something else."""
        return self.values < self.records <= self.values**2


class Spelling(NamedTuple):
    """The number of texts of a column, and of those that differ without case and outer blanks.

    ``decimals``: most fields are numbers with a decimal comma, or with points between thousands.
    """

    values: int
    folded: int
    decimals: bool


class UsualWords(NamedTuple):
    """The usual words for missing values in a column, and the number of records with one of them.

    ``is_part``: only the first records of the file were read.
    """

    words: list[str]
    records: int
    is_part: bool


class PeopleColumns(Protocol):
    """Questions about the columns of one dataset that are about people."""

    def names_of_people(
        self, names: Container[str], where: exp.Expr | None
    ) -> tuple[Repeated, ...]:
        """Return the columns, but ``names``, that look like names of people."""

    def repeats(
        self, names: Sequence[str], where: exp.Expr | None, keys: Container[str]
    ) -> tuple[Repeated, ...]:
        """Return those of the columns that number people, of whom some have several records."""

    def households(self, names: Sequence[str], where: exp.Expr | None) -> tuple[Repeated, ...]:
        """Return those of the columns that number households of people who differ."""


class Catalog(Protocol):
    """Questions about one dataset, which the engine answers during binding."""

    @property
    def schema(self) -> Schema:
        """Return the columns of the dataset."""

    @property
    def people(self) -> PeopleColumns:
        """Return the answers about columns of people."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return notes on the spelling of fields in the columns that were used so far."""

    def usual_words(
        self, names: Sequence[str], where: exp.Expr | None, *, of_first: bool = False
    ) -> dict[str, UsualWords]:
        """Return the usual words for missing values in columns, with the number of records."""

    def spellings(self, names: Sequence[str], where: exp.Expr | None) -> dict[str, Spelling]:
        """Return columns of categories equal but for case or blanks, and of numbers as text."""

    def types(self, expressions: Sequence[exp.Expr], whats: Sequence[str]) -> list[str]:
        """Return the types of expressions; ``whats`` names them in messages."""

    def condition(self, tree: exp.Expr) -> None:
        """Refuse an expression that is not true or false."""

    def fits(self, value: str, type_: str) -> bool:
        """Return whether a text can be read as a value of that type."""

    def beside(self, path: str) -> tuple[Dataset, Schema]:
        """Return a small file of the user, with CSV read as text, and its columns."""

    def check_number(self, tree: exp.Expr, columns: Mapping[str, str], what: str) -> None:
        """Refuse an expression over columns of these types that is not a number."""
