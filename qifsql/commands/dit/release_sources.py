"""Sources of releases in files: the user, a command, or MDAV."""

from dataclasses import dataclass, replace
from pathlib import Path

from sqlglot import exp

from qifsql.adversary.spec import Attack, BoundAttack
from qifsql.commands.anonymise.anonymise import anonymise
from qifsql.commands.dit import black_box
from qifsql.commands.dit.spec import COMMAND, FILES, Question
from qifsql.counting.release_limits import ClassLimits
from qifsql.data.dataset import Schema
from qifsql.data.expressions import column
from qifsql.data.readers import numbered_rows
from qifsql.engine.progress import silent
from qifsql.engine.protocol import LocalEngine
from qifsql.engine.settings import Settings
from qifsql.query.plan import Plan
from qifsql.results import release


@dataclass(frozen=True)
class ReleaseSource:
    """A source of releases, one by one: the user's files, or new ones in the engine's folder."""

    engine: LocalEngine
    attack: BoundAttack
    spec: Attack
    schema: Schema
    question: Question
    settings: Settings
    limits: ClassLimits | None = None

    def release_without(self, record: int | None) -> Path:
        """Return the release without a record, by its position; None: that with everybody."""
        if self.question.method != FILES:
            what = "with everybody" if record is None else f"without record {record}"
            return self._make_release(record, what)
        if record is None:
            return Path(self.question.release or "")
        return black_box.path_of(self.question.without or "", record)

    def remove(self, path: Path) -> None:
        """Remove the file of a release, unless it is the user's."""
        if self.question.method != FILES:
            path.unlink(missing_ok=True)

    def _make_release(self, record: int | None, what: str) -> Path:
        """Write the release without a record (None: everybody), which errors call ``what``."""
        csv = self.attack.microdata.dataset.format == "csv" or self.spec.dataset.format == "csv"
        kind = ".csv" if csv and self.question.method == COMMAND else ".parquet"
        name = "everybody" if record is None else f"without_{record}"
        source = self.engine.scratch / f"{name}_input{kind}"
        target = self.engine.scratch / f"{name}_release{kind}"
        names = [c.name for c in self.schema.columns]
        plan, where = self._plan_records(record, kind), self.attack.microdata.dataset.name
        release.write_rows(self.engine, plan, source, names=names, kind=kind, where=where)
        try:
            if self.question.method == COMMAND:
                command = black_box.Command.of(self.question.command or "", self.question.timeout)
                command.run(source, target, what)
            else:
                self._anonymise_by_mdav(source, target)
        finally:
            source.unlink(missing_ok=True)
        return target

    def _anonymise_by_mdav(self, source: Path, target: Path) -> None:
        """Write the release of the records in ``source``, by MDAV, to ``target``."""
        assert self.limits is not None  # noqa: S101 - MDAV has limits
        limits = self.limits
        anonymise(
            source,
            target,
            method="mdav",
            k=limits.k,
            qids=self.spec.qids,
            keep=[c.name for c in self.schema.columns],
            cells="interval",
            secret=self.spec.secrets,
            l=limits.l,
            l_entropy=limits.l_entropy,
            l_recursive=None if limits.l_recursive is None else list(limits.l_recursive),
            t=limits.t,
            t_ordered=limits.t_ordered,
            suppress=limits.of_secret,
            settings=replace(self.settings, progress=silent),
        )
        target.with_name(f"{target.name}.manifest.json").unlink(missing_ok=True)

    def _plan_records(self, record: int | None, kind: str) -> Plan:
        """Return the query of the records under the filter, without ``record``, in their order.

        ``record`` is a position, from 1 (None: all stay); ``kind`` is the ending of the file.
        """
        dataset, where = self.attack.microdata.dataset, self.attack.microdata.where
        columns = {f"column_{i}": column(c) for i, c in enumerate(self.schema.columns, 1)}
        cells = [(exp.column(f"column_{i}"), c) for i, c in enumerate(self.schema.columns, 1)]
        records = numbered_rows(dataset, columns, where).subquery("numbered")
        query = exp.select(*release.written_cells(cells, kind)).from_(records)
        if record is not None:
            query = query.where(exp.column("position").neq(record))
        return Plan((), query.order_by("position"))
