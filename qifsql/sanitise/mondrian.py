"""Mondrian: parts are cut at medians as long as both sides keep every limit.

Strict multidimensional partitioning of LeFevre, DeWitt and Ramakrishnan (ICDE 2006, figure 3): a
part is cut by its widest quasi-identifier, measured by what share of the whole scale it spans; of
equally wide ones by the first. The cut is the one nearest to the median: equal values stay on one
side, and of two cuts as near the one that leaves more below is taken. Where a side would break a
limit, the next widest quasi-identifier is tried; a part that none can cut is a class.

For k alone this finds a cut wherever any value of any quasi-identifier allows one, because the cut
nearest to the median is the last to leave a side too small.

All open parts are cut at once, by a few statements per pass over those of their people that are
different; finished parts leave the table.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from qifsql import dialect
from qifsql.engine.duckdb import DuckDB
from qifsql.plan import Plan
from qifsql.relation import LOADED
from qifsql.sanitise.judging import refused
from qifsql.sanitise.scales import Secret, own_name, own_table
from qifsql.sanitise.spreading import query
from qifsql.sanitise.wishes import Wishes

CUTTING = "cutting"
TABLES = (
    *("coded", "chosen", "cuts", "refused", "done", "classes"),  # of Mondrian, and of all methods
    *("carried", "poles", "groups"),  # of MDAV
)


@dataclass(frozen=True)
class Coded:
    """The table ``coded``: of which dataset, how many quasi-identifiers and records, its secrets.

    Nothing is kept of secrets that no limit is about, so they are not here.
    """

    name: str
    width: int
    records: int
    secrets: tuple[Secret, ...] = ()

    @property
    def places(self) -> list[str]:
        """The columns of the places."""
        return [f"place_{i}" for i in range(1, self.width + 1)]


class Passes:
    """Statements about a coded release, most of them sent many times; ``sent`` has each once.

    ``look`` is told how many records are in open parts.
    """

    def __init__(self, engine: DuckDB, coded: Coded, look: Callable[[int], None]) -> None:
        self.engine = engine
        self.coded = coded
        self.look = look
        self.sent: dict[str, None] = {}
        self._queries: dict[tuple[object, ...], exp.Select] = {}

    def query(
        self, file: str, wanted: Mapping[str, int | Sequence[int]] | None = None, **tables: str
    ) -> exp.Select:
        """The query of a file, with numbers for names; ``tables`` stand in for tables it names."""
        key = (file, str(wanted), *tables.items())
        if key not in self._queries:
            named = {name: own_name(tables.get(name, name)) for name in (*TABLES, *tables)}
            coded = self.coded
            self._queries[key] = query(
                file,
                width=coded.width,
                secrets=len(coded.secrets),
                tables=named,
                wanted=wanted,
            )
        return self._queries[key]

    def make(self, name: str, tree: exp.Query | Plan) -> None:
        """Make a table of the engine's own."""
        plan = tree if isinstance(tree, Plan) else Plan((), tree)
        self.sent[dialect.keeping(plan, name, LOADED)] = None
        self.engine.keep(name, plan, CUTTING, self.coded.name, catalog=LOADED)

    def add(self, name: str, tree: exp.Query) -> None:
        """Add rows to a table of the engine's own."""
        self.sent[dialect.adding(Plan((), tree), name, LOADED)] = None
        self.engine.add(name, Plan((), tree), CUTTING, self.coded.name, catalog=LOADED)

    def total(self, name: str, column: str | None = None) -> int:
        """The rows of a table, or the sum of a column of it."""
        counted: exp.Expr = exp.Count(this=exp.Star())
        if column is not None:
            added = exp.Sum(this=exp.column(column))
            counted = exp.func("coalesce", added, exp.Literal.number(0))
        tree = exp.select(counted).from_(own_table(name))
        return int(self.engine.rows(Plan((), tree), CUTTING, self.coded.name)[0][0])

    def parts(self) -> int:
        """How many parts there are in the table ``done``."""
        counted = exp.Count(this=exp.Distinct(expressions=[exp.column("part")]))
        tree = exp.select(counted).from_(own_table("done"))
        return int(self.engine.rows(Plan((), tree), CUTTING, self.coded.name)[0][0])

    def drop(self, *names: str) -> None:
        """Drop tables of the engine's own."""
        for name in names:
            self.engine.drop(name, LOADED)

    def partition(self, wishes: Wishes, *, small: int = 0) -> None:
        """Cut until no part can be cut: make the table ``done`` of parts, places and people.

        A part of at most ``small`` different people is not cut further.
        """
        now, then = "people_1", "people_2"
        self.make(now, self.query("people"))
        nothing = exp.select("part", *self.coded.places, "people").from_(own_table(now))
        self.make("done", nothing.where("FALSE"))
        wanted = {"wanted_k": wishes.k}
        while self.total(now):
            self.make("chosen", self.query("chosen", wanted | {"wanted_rows": small}, people=now))
            self.add("done", self.query("done", people=now))
            self.make("cuts", self.query("cuts", wanted, people=now))
            self.judge(wishes, now)
            self.make(then, self.query("people_next", people=now))
            self.drop(now, "chosen", "cuts", "refused")
            now, then = then, now
            self.look(self.total(now, "people"))
        self.drop(now)

    def judge(self, wishes: Wishes, people: str) -> None:
        """Make the table of the parts whose cut is refused."""
        if wishes.of_secret:
            sides = self.query("sides", people=people)
            coded = self.coded
            self.make("refused", refused(wishes, coded.secrets, sides, records=coded.records))
        else:
            self.make("refused", exp.select("part").from_(own_table("cuts")).where("FALSE"))

    def broken(self, wishes: Wishes) -> bool:
        """Whether a class of all records breaks a limit on the secret."""
        coded = self.coded
        everybody = refused(wishes, coded.secrets, self.query("everybody"), records=coded.records)
        return bool(self.engine.rows(everybody, CUTTING, coded.name))

    def refuse(self, wishes: Wishes) -> None:
        """Make the table of the classes that break a limit on the secret."""
        sides, coded = self.query("sides_of_classes"), self.coded
        self.make("refused", refused(wishes, coded.secrets, sides, records=coded.records))

    def refuse_none(self) -> None:
        """Make the table of refused parts, of which there is none."""
        self.make("refused", exp.select("part").from_(own_table("done")).where("FALSE"))
