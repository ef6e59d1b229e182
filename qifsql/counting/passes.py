"""Passes: statements about a coded release, sent many times over internal tables of the engine.

One stream sends them; its thread works while the main thread listens for Ctrl-C. The text of a
statement is written once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from qifsql.counting.cuts import refused_parts
from qifsql.counting.release_limits import ClassLimits
from qifsql.counting.scales import Owners, Reading, Secret, own_name, own_table
from qifsql.data.readers import LOADED
from qifsql.engine.connections import Stream
from qifsql.query import render
from qifsql.query.columns import number
from qifsql.query.plan import Plan, as_plan
from qifsql.query.splice import Numbers, splice

TABLES = (
    *("coded", "refused", "done", "classes"),  # of all methods
    *("branches", "extents", "forks", "chosen", "cuts", "halves"),  # of Mondrian
    *("carried", "poles", "groups", "holders"),  # of MDAV
)


@dataclass(frozen=True)
class Coded:
    """The table ``coded``: its dataset, numbers of quasi-identifiers and records, and secrets.

    Secrets without a limit are not in the table, so they are not listed here. ``owners`` are the
    people of whom some have several records. ``stratum``: the last place is that of a column whose
    values no class mixes; it is no quasi-identifier, but counts in ``width``. ``trees`` are the
    numbers of the quasi-identifiers that are cut along hierarchies.
    """

    name: str
    width: int
    records: int
    secrets: tuple[Secret, ...] = ()
    owners: Owners | None = None
    stratum: bool = False
    trees: tuple[int, ...] = ()

    @property
    def first_parts(self) -> dict[str, str]:
        """Return the column with the part of a record before any cut, if there are strata."""
        return {"own_stratum": f"place_{self.width}"} if self.stratum else {}

    @property
    def carried(self) -> int:
        """Return the number of columns ``secrets_1 ..``."""
        return len(self.secrets) if self.owners is None else self.owners.carried

    @property
    def people(self) -> int:
        """Return how many people there are: one for each record, if nobody has several."""
        return self.records if self.owners is None else self.owners.people

    @property
    def person_column(self) -> dict[str, str]:
        """Return the column that stands for a person in views, if people have several records."""
        return {} if self.owners is None else {"person": self.owners.person}

    def judges(self, limits: ClassLimits) -> bool:
        """Return whether the sizes of classes do not tell which of them break a limit."""
        return limits.of_secret or self.owners is not None

    def refused(self, limits: ClassLimits, sides: exp.Select) -> Plan:
        """Return the plan of the parts that a cut may not halve: one half would break a limit.

        The parts are its column ``part``; ``sides`` is the query that puts people into halves
        (``refused_parts``). Limits are those on secrets, and with ``owners`` also that on the
        number of different people.
        """
        if self.owners is not None:
            owners = self.owners
            return refused_parts(limits, owners.readings, sides, person=owners.person)
        readings: list[Reading] = []
        for j, secret in enumerate(self.secrets, 1):
            readings += secret.readings(j, self.records)
        return refused_parts(limits, readings, sides)


@dataclass
class Passes:
    """Statements about a coded release; ``statements`` has each once.

    Unlike ``Tables``, this class sends them over one connection, thousands of times. ``look``
    receives the number of records in open parts; ``names`` are the tables that SQL files name.
    """

    stream: Stream
    coded: Coded
    look: Callable[[int], None]
    names: Sequence[str] = TABLES
    statements: dict[str, None] = field(default_factory=dict)
    _texts: dict[tuple[object, ...], str] = field(default_factory=dict)

    def query(
        self,
        file: str,
        numbers: Numbers | None = None,
        shape: Mapping[str, bool] | None = None,
        /,
        **tables: str,
    ) -> exp.Select:
        """Return the query of a view of ``sql/``; a name without / is one of ``sql/anonymise``.

        In it, names are replaced: those in ``numbers`` by whole numbers, tables by the internal
        tables that ``tables`` names (else of the same name). ``shape`` chooses a form of the view.
        """
        places = range(1, self.coded.width + 1)
        # 1 for each quasi-identifier that is cut along a hierarchy, 0 for others
        fixed: dict[str, int | Sequence[int]] = {
            "by_tree": [int(i in self.coded.trees) for i in places]
        }
        if not self.coded.stratum:
            fixed["own_stratum"] = 1  # all records are in one part before any cut
        return splice(
            file if "/" in file else f"anonymise/{file}",
            places=places,
            secrets=self.coded.carried,
            columns=self.coded.person_column | self.coded.first_parts,
            tables={name: own_name(tables.get(name, name)) for name in (*self.names, *tables)},
            numbers=fixed | dict(numbers or {}),
            shape=shape,
        )

    def make(
        self,
        name: str,
        file: str,
        numbers: Numbers | None = None,
        shape: Mapping[str, bool] | None = None,
        /,
        **tables: str,
    ) -> int:
        """Create the internal table ``name`` from a view (``query``); return its number of rows."""
        return self._send_file(render.keeping, name, file, numbers, shape, **tables)

    def add(self, name: str, file: str, numbers: Numbers | None = None, **tables: str) -> int:
        """Add the rows of a SQL file to an internal table; return their number."""
        return self._send_file(render.adding, name, file, numbers, **tables)

    def _send_file(
        self,
        write: Callable[[Plan, str, str], str],
        name: str,
        file: str,
        numbers: Numbers | None,
        shape: Mapping[str, bool] | None = None,
        /,
        **tables: str,
    ) -> int:
        """Send a statement that fills the internal table ``name``; return the number of its rows.

        ``write`` makes its text from the plan of the view ``file`` (see ``query``), the table and
        its catalog. The text is kept, as the same statement is sent thousands of times.
        """
        key = (write, name, file, str(numbers), str(shape), *tables.items())
        if key not in self._texts:
            plan = Plan((), self.query(file, numbers, shape, **tables))
            self._texts[key] = write(plan, name, LOADED)
        return self._send(self._texts[key])

    def keep(self, name: str, tree: exp.Query | Plan) -> int:
        """Create an internal table from a query; return its number of rows."""
        return self._send(render.keeping(as_plan(tree), name, LOADED))

    def replace(self, name: str, tree: exp.Query | Plan) -> int:
        """Replace an internal table, or make it, by the rows of a query, which may read it."""
        return self._send(render.keeping(as_plan(tree), name, LOADED, again=True))

    def keep_empty(self, name: str, columns: Sequence[str]) -> None:
        """Create an internal table without rows, with columns of whole numbers."""
        zero = exp.cast(exp.Literal.number(0), "BIGINT")
        zeros = [exp.alias_(zero.copy(), column, quoted=True) for column in columns]
        self.keep(name, exp.select(*zeros).where("FALSE"))

    def plan(self, file: str, numbers: Numbers | None = None, /, **tables: str) -> Plan:
        """Return the query of a SQL file as a plan."""
        return Plan((), self.query(file, numbers, **tables))

    def append(self, name: str, tree: exp.Query | Plan) -> int:
        """Add the rows of a query to an internal table; return their number."""
        return self._send(render.adding(as_plan(tree), name, LOADED))

    def row(self, tree: exp.Query | Plan) -> tuple[int, ...]:
        """Return the one row of a query or plan."""
        return self.stream.rows(render.statement(as_plan(tree)))[0]

    def people(self, name: str) -> int:
        """Return the sum of the column ``people`` of an internal table; 0 without rows."""
        (people,) = self.row(exp.select("coalesce(sum(people), 0)").from_(own_table(name)))
        return int(people)

    def set(self, name: str, value: int) -> None:
        """Set a variable of the session."""
        self.stream.rows(render.setting(name, number(value), variable=True))

    def drop(self, *names: str) -> None:
        """Drop internal tables."""
        for name in names:
            self.stream.rows(render.dropping(own_name(name)))

    def judge(self, limits: ClassLimits, sides: str, **tables: str) -> None:
        """Create the table ``refused``: the parts with a side that breaks a limit on a secret.

        ``sides`` is the view that puts people on sides; ``tables`` are the tables that it reads.
        ``refused`` is empty if no limit is on a secret, and nobody has several records.
        """
        if not self.coded.judges(limits):
            self.keep_empty("refused", ["part"])
            return
        key = ("judge", sides, *tables.items())
        if key not in self._texts:
            plan = self.coded.refused(limits, self.query(sides, None, **tables))
            self._texts[key] = render.keeping(plan, "refused", LOADED)
        self._send(self._texts[key])

    def broken(self, limits: ClassLimits) -> int:
        """Return in how many strata a class of all their records breaks a limit.

        Such a stratum cannot be released. Without strata, all records are one.
        """
        plan = self.coded.refused(limits, self.query("everybody"))
        return len(self.stream.rows(render.statement(plan)))

    def _send(self, sql: str) -> int:
        """Run a statement, which is recorded; return the number of rows that it wrote."""
        self.statements[sql] = None
        return self.stream.count(sql)
