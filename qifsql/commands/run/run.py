"""Run a study: reuse the results that have not changed, and compute all others."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from qifsql.commands.attack import attack
from qifsql.commands.check import check
from qifsql.commands.report.report import report
from qifsql.commands.run import outputs
from qifsql.commands.run.cache import Cache, Identity, digest_of_files
from qifsql.commands.run.outputs import Outputs
from qifsql.commands.run.result import Outcome, State, StudyResult
from qifsql.commands.suda import suda
from qifsql.commands.sweep import sweep
from qifsql.commands.sweep.result import Sweep
from qifsql.commands.synthetic import synthetic
from qifsql.commands.tables import tables
from qifsql.data.files import MANIFEST
from qifsql.engine.progress import silent
from qifsql.engine.settings import Settings
from qifsql.engine.temporary import remove
from qifsql.errors import (
    InputError,
    InternalError,
    Interrupted,
    OutputError,
    QifError,
    plural,
    quoted,
)
from qifsql.presentation.language import speaking
from qifsql.results.result import Display, Result
from qifsql.results.storage import Origin
from qifsql.study.entries import NAME_OF_ALL
from qifsql.study.entry import Entry
from qifsql.study.entry_files import policy_of
from qifsql.study.spec import Study

Tell = Callable[[str], None]
MODULES = {m.__name__.rpartition(".")[2]: m for m in (attack, sweep, tables, synthetic, suda)}
"""The modules of the kinds of entries, each with its function of that name and ``rehearse``."""
REPORT = ".report"  # its name in the list of files; no entry has such a name


def run(
    study: str | Path | Study,
    *,
    dry_run: bool = False,
    fresh: bool = False,
    folder: str | Path | None = None,
    told: Tell | None = None,
    settings: Settings | None = None,
) -> StudyResult:
    """Run a study, from attacks to checks; write results and a report.

    Finished results are stored under a digest of all that determines them, sealed with a key of
    the user, and reused; those that another user has kept are computed again. Sweeps resume. Only
    new files and results are written, and no link is followed.

    Args:
        study: Study file (TOML), or a Study.
        dry_run: Check everything and list what would run; write nothing.
        fresh: Compute everything again, also what has not changed.
        folder: Folder of results instead of that of the study, which lies beside or below the
            study; this one may be anywhere.

    Returns:
        A StudyResult. frame: the rows of all attacks. details: sweeps, borders, tables, synthetic,
        suda, checks and entries. met: all checks are met, and all bounds of other entries hold.

    Raises:
        InputError: Something is wrong with the study; one line per error, with the file and the
            line. Nothing was run.
        EngineError: Memory or disk ran out.
        Interrupted: The same call resumes.

    Example:
        >>> _ = qifsql.init("study.toml")
        >>> qifsql.run("study.toml", dry_run=True).details["entries"].height > 0
        True

    Source: the format of studies, docs/reference/studies.md.

    """
    spec = study if isinstance(study, Study) else Study.load(study)
    settings = settings or Settings()
    if settings.seed is None:
        settings = replace(settings, seed=spec.seed)
    if folder is not None:
        spec = spec.written_to(Path(folder))
    running = _Run(spec, settings, told or silent, fresh=fresh, anywhere=folder is not None)
    running.check()
    return running.plan() if dry_run else running.run()


class _Run:
    """One run of a study.

    An entry, such as an attack, has an identity: the digest of all that determines its result. The
    ``cache`` keeps results by it.
    """

    def __init__(
        self, study: Study, settings: Settings, tell: Tell, *, fresh: bool, anywhere: bool
    ) -> None:
        """Find what determines each entry; ``anywhere``: the folder may lie outside the study's."""
        self.study = study
        self.fresh = fresh
        self.anywhere = anywhere
        self.settings = settings
        self.tell = tell
        self.cache = Cache(study.folder)
        self.origin = Origin.now(settings, "run")
        self.identities: dict[str, Identity] = {}  # by name of the entry, like kept_results
        self.kept_results: dict[str, Result] = {}
        digest = digest_of_files()
        for entry in study.entries:
            with _naming_entry(study, entry):
                self.identities[entry.name] = Identity.of(entry, digest, settings.seed)

    def check(self) -> None:
        """Check the names in all entries that must run; raise InputError with a line per entry.

        OutputError if something would be written elsewhere, or in place of what is no result.
        """
        self._check_folder()
        mistakes = []
        try:
            with speaking(self.study.reader.get("lang", "en")):
                pass  # refuses an unknown language
        except InputError as e:
            mistakes.append(str(self.study.lines.wrong(str(e), "report", "lang")))
        for entry in self.study.entries:
            if self._find_kept(entry) is None:
                try:
                    with _naming_entry(self.study, entry):
                        rehearse(entry, self.settings)
                except InputError as e:
                    mistakes.append(str(e))
        if mistakes:
            raise InputError("\n".join(mistakes))

    def _check_folder(self) -> None:
        """Refuse a folder that lies elsewhere, leads elsewhere, or has other files."""
        folder, home = self.study.folder, self.study.path.parent
        if not self.anywhere and not folder.resolve().is_relative_to(home.resolve()):
            raise OutputError(
                f"the study would write to {folder}, which is not in its own folder; if that is "
                f"what you want, say so: --folder {folder}"
            )
        self.cache.check(folder if self.anywhere else home)
        page = self.study.report
        paths = [] if page is None else [page, page.with_name(page.name + MANIFEST)]
        for name in (NAME_OF_ALL, *self.identities):  # the tables that are written in any case
            paths += [folder / f"{name}.{ending}" for ending in self.study.formats]
        Outputs(folder, self.study.formats).check(paths)

    def plan(self) -> StudyResult:
        """Return the results that a run would reuse, and the entries that it would compute."""
        outcomes = []
        for entry in self.study.entries:
            kept_result = self._find_kept(entry)
            state: State = "to do" if kept_result is None else "unchanged"
            outcomes.append(Outcome(entry, self._digest(entry), state, kept_result))
        return StudyResult.of(outcomes, self._origin())

    def run(self) -> StudyResult:
        """Run all entries, one after the other."""
        outcomes: list[Outcome] = []
        try:
            with self.cache.lock():
                tables = Outputs(self.study.folder, self.study.formats)
                for place, entry in enumerate(self.study.entries, 1):
                    title = f"{place} of {len(self.study.entries)}, {entry.kind} {entry.name}"
                    with _naming_entry(self.study, entry):
                        outcomes.append(self._run_entry(entry, title, tables))
                return self._write_study(outcomes, tables)
        except (Interrupted, KeyboardInterrupt) as e:
            raise Interrupted(
                f"interrupted; {len(outcomes)} of {len(self.study.entries)} are done and kept in "
                f"{self.cache.folder}: run the same command again to resume"
            ) from e

    def _run_entry(self, entry: Entry, title: str, tables: Outputs) -> Outcome:
        """Return the kept or computed result of an entry; write its tables to the folder."""
        identity, digest = self.identities[entry.name], self._digest(entry)
        if (kept_result := self._find_kept(entry)) is not None:
            self.tell(f"{title}: unchanged")
            if not tables.are_current(entry.name, digest):
                tables.write(entry.name, digest, outputs.display(entry, kept_result))
            return Outcome(entry, digest, "unchanged", kept_result)
        why = ": its stored result is damaged, incomplete, or of another user, so it runs again"
        self.tell(f"{title}{why if self.cache.is_damaged(identity) else ''}")
        result = self._compute(entry, identity)
        display = outputs.display(entry, result)
        if isinstance(result, Sweep) and not result.complete:
            tables.write(entry.name, "", display)
            return Outcome(entry, digest, "incomplete", result)
        files = self.cache.files(entry, identity, result)
        tables.write(entry.name, digest, display, files)
        self.cache.seal(identity, files)
        remove(self.cache.workspace(identity))  # of a sweep, which is complete now
        return Outcome(entry, digest, "done", result)

    def _compute(self, entry: Entry, identity: Identity) -> Result:
        """Return the result of an entry, which its command computes."""
        if entry.kind == "check":
            policy, baseline = policy_of(entry.options), entry.options.get("baseline")
            verdict = check.judge(policy, entry.source, baseline=baseline, settings=self.settings)
            if "policy" in entry.options:
                return verdict
            # the rules are in the study, so it is named as the policy
            spec = {**verdict.origin.spec, "policy": str(self.study.path)}
            return replace(verdict, origin=replace(verdict.origin, spec=spec))
        subjects, options = _arguments(entry)
        if entry.kind == "sweep":
            options |= {"workspace": self.cache.workspace(identity), "told": self.tell}
        command: Callable[..., Result] = getattr(MODULES[entry.kind], entry.kind)
        result = command(*subjects, **options, settings=self.settings)
        return _with_study_names(result, entry) if entry.kind in ("attack", "tables") else result

    def _write_study(self, outcomes: Sequence[Outcome], tables: Outputs) -> StudyResult:
        """Return all results in one; write its tables and its report, unless they are there.

        A table or report is current if the file says that it was made of results of these digests;
        where an entry is incomplete, both are written in any case.
        """
        result = StudyResult.of(outcomes, self._origin())
        digests = [outcome.digest for outcome in outcomes if outcome.state != "incomplete"]
        is_complete = len(digests) == len(outcomes)
        digest = " ".join([*self.identities, *digests])
        if not is_complete or not tables.are_current(NAME_OF_ALL, digest):
            title = f"qifsql: {self.study.path.name}"
            tables.write(
                NAME_OF_ALL, digest, Display(result=result, title=title, aside=("entries",))
            )
        page = self.study.report if result.results else None
        if page is not None:
            report_digest = f"{digest} {page.name} {sorted(self.study.reader.items())}"
            if not is_complete or not tables.are_current(REPORT, report_digest):
                report(result, page, **self.study.reader)
                manifest = page.with_name(page.name + MANIFEST)
                tables.enter(REPORT, report_digest if is_complete else "", [page, manifest])
        files = [path for name in (*self.identities, NAME_OF_ALL) for path in tables.files(name)]
        notes = (*result.notes, *self._note_leftovers(tables))
        return replace(result, files=tuple(files), notes=notes, report=page)

    def _note_leftovers(self, tables: Outputs) -> Iterator[str]:
        """Yield remarks on results of earlier runs that are not used and are not removed."""
        unused_names = [
            n for n in tables.records if n not in (NAME_OF_ALL, REPORT, *self.identities)
        ]
        if unused_names:
            names = ", ".join(map(quoted, unused_names))
            yield f"no longer in the study, but with files in {self.study.folder}: {names}"
        results, sweeps = self.cache.find_unused(list(self.identities.values()))
        if results:
            yield (
                f"{plural(len(results), 'result')} of before that this study does not use stay in "
                f"{self.cache.folder}, for when they are asked for again"
            )
        for path in sweeps:
            size = path.stat().st_size // 2**20
            yield f"an unfinished sweep of before stays in {path} ({size:,} MiB)"

    def _find_kept(self, entry: Entry) -> Result | None:
        """Return the kept result of an entry, from an earlier run or from an equal entry."""
        if entry.name not in self.kept_results and not self.fresh:
            result = self.cache.find(entry, self.identities[entry.name])
            if result is not None:
                self.kept_results[entry.name] = result
        return self.kept_results.get(entry.name)

    def _digest(self, entry: Entry) -> str:
        return self.identities[entry.name].digest

    def _origin(self) -> Origin:
        """Return where the result of the study is from: its entries, by their digests."""
        spec = {"study": self.study.path.name, "entries": {}}
        spec["entries"] = {e.name: self._digest(e) for e in self.study.entries}
        return self.origin.about(spec, (str(self.study.path),))


def rehearse(entry: Entry, settings: Settings | None = None) -> None:
    """Check every name of an entry against its data; raise InputError if one does not fit."""
    if entry.kind == "check":
        check.rehearse(entry.source, policy_of(entry.options), settings)
        return
    subjects, options = _arguments(entry)
    MODULES[entry.kind].rehearse(*subjects, settings, **options)


def _arguments(entry: Entry) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the positional arguments and the options of the command of an entry."""
    options = dict(entry.options)
    if entry.kind == "attack":
        return (entry.models, entry.source), options
    if entry.kind == "tables":  # None: the tables are files, and there are no records
        return (next(iter(entry.datasets), None),), options
    if entry.kind == "synthetic":
        return (entry.source, options.pop("releases")), options
    return (entry.source,), options


def _with_study_names(result: Result, entry: Entry) -> Result:
    """Return a copy in which options name files as the study does, without its folder."""
    if not entry.written:
        return result
    spec, frame = dict(result.origin.spec), result.frame
    for name in ("gains", "link", "knows"):
        if name in spec:
            spec[name] = [entry.as_written(text) for text in spec[name]]
    if "gain" in frame.columns:
        frame = frame.with_columns(pl.col("gain").replace(dict(entry.written)))
    if "knows" in frame.columns:
        texts = [entry.as_written(text) for text in frame["knows"]]
        frame = frame.with_columns(pl.Series("knows", texts))
    notes = tuple(map(entry.as_written, result.notes))
    return replace(result, frame=frame, origin=replace(result.origin, spec=spec), notes=notes)


@contextmanager
def _naming_entry(study: Study, entry: Entry) -> Iterator[None]:
    """Add the place of an entry in the study to errors about it."""
    try:
        yield
    except (Interrupted, InternalError):
        raise
    except QifError as e:
        message = study.located(entry, entry.as_written(str(e)))
        raise type(e)(message, detail=e.detail) from e
