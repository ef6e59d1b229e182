"""The work of anonymisation: the checks before it, its steps, and its summary."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, replace
from fractions import Fraction
from itertools import zip_longest
from typing import Any

import polars as pl
from sqlglot import exp

from qifsql.adversary.spec import Microdata
from qifsql.commands.anonymise import kept_records, mdav, mondrian, node_search, recoded_release
from qifsql.commands.anonymise.fewest_cells import fewest_cells
from qifsql.commands.anonymise.generalise import (
    Cells,
    Content,
    make_cells,
    make_values,
    measure_loss,
)
from qifsql.commands.anonymise.generalise import Loss as ColumnLoss
from qifsql.commands.anonymise.lattice import Node
from qifsql.commands.anonymise.node_counts import NodeCounts
from qifsql.commands.anonymise.one_per.draw import Records
from qifsql.commands.anonymise.recode import Recoding
from qifsql.commands.anonymise.release_request import Request, numbers_of, required_combinations
from qifsql.commands.anonymise.value_steps import RequestedSteps, StepLoss, ValueStep
from qifsql.commands.anonymise.writing import PLAIN, writing_of
from qifsql.counting import scales
from qifsql.counting.cuts import check_secret_limits
from qifsql.counting.passes import Coded, Passes
from qifsql.counting.scales import Scale, Secret, own_table
from qifsql.data.dataset import Dataset
from qifsql.data.hierarchy import Hierarchy
from qifsql.engine.catalog import Catalog
from qifsql.engine.connections import Stream
from qifsql.engine.progress import Meter
from qifsql.engine.protocol import LocalEngine
from qifsql.errors import InputError, InternalError, no_records, plural, quoted
from qifsql.query.plan import Plan
from qifsql.results import release
from qifsql.study import bounds

SUMMARY: dict[str, pl.DataType] = {
    "method": pl.String(),
    **dict.fromkeys(("records", "blocks", "classes", "smallest_class"), pl.Int64()),
    "average_class": pl.Float64(),
    **dict.fromkeys(("largest_class", "suppressed"), pl.Int64()),
    **dict.fromkeys(("generalised", "certainty_penalty", "penalty"), pl.Float64()),
    "steps": pl.List(pl.Int64()),
    "optimal": pl.Boolean(),
    "seconds": pl.Float64(),
}
"""One row: the records that are written; ``blocks``, the classes before records were suppressed;
``classes``, those that are left, without that of the suppressed records, which stand for everybody;
how many records are suppressed. ``generalised`` is the share of the cells of quasi-identifiers that
stand for several values, ``certainty_penalty`` the mean of their normalised certainty penalty (see
``qifsql.commands.anonymise.generalise.Loss``), both in [0, 1] and over all records: a suppressed
cell stands for all values. ``penalty`` is ``certainty_penalty`` by the name under which lattice
minimises it. ``steps``: the step of each quasi-identifier, in their order (recode: the
number of its changes); ``optimal``: whether no other node of the lattice loses less (false: the
best that was found in time). Both are NULL where the method has none."""

COLUMNS: dict[str, pl.DataType] = {
    "quasi_identifier": pl.String(),
    "values": pl.Int64(),
    "cells": pl.String(),
    **dict.fromkeys(("generalised", "certainty_penalty"), pl.Float64()),
    "changes": pl.List(pl.String()),
    "suppressed_cells": pl.Int64(),
}
"""One row per quasi-identifier: its different values, what its cells are (``intervals``, ``sets``,
``centroids``, ``bounds``, ``midpoints``, ``labels``, ``values`` as they are, ``suppressed`` in all
records, ``left out``), the same two shares, the changes that make them (recode, lattice), and the
cells that are suppressed beside those of whole records (NULL unless it is asked for)."""


class Work:
    """The work on one release: the tables in the engine, from ``coded`` to ``cells``.

    ``coded`` has a row per record, in which a value is its place on the scale of its column;
    ``done`` the people by class and places; ``refused`` the classes to suppress; ``classes`` the
    size and the ends of each; ``membership`` the class of each record; ``cells`` those of a class.
    """

    def __init__(
        self,
        engine: LocalEngine,
        catalog: Catalog,
        microdata: Microdata,
        request: Request,
        meter: Meter,
    ) -> None:
        """Check the names in the options; ``run`` makes the release.

        ``run`` fills ``scales`` (of the quasi-identifiers), ``places`` (the scales of all columns
        that make classes), ``cells``, ``details`` and ``idle_changes`` (those that merge no
        values, by the number of their quasi-identifier), and adds to ``notes``.
        """
        self.engine = engine
        self.catalog = catalog
        self.microdata = replace(microdata, person=None, by=None)
        self.person = microdata.person
        self.strata = () if microdata.by is None else (microdata.by,)
        self.request = request
        qids = [q.name for q in microdata.qids]
        self.suppression_order = numbers_of(request.suppress_cells, qids)
        self.combinations = required_combinations(request, qids)
        secrets = [s.name for s in microdata.secrets]
        self.rules = [bounds.read_bound(text, secrets) for text in request.until]
        self.meter = meter
        self.name = microdata.dataset.name
        self.scales: list[Scale] = []
        self.places: list[Scale] = []
        self.coded = self.microdata
        self.notes = bounds.remarks(self.rules)
        self.cells: list[Cells] = []
        self.details: dict[str, pl.DataFrame] = {}
        self.idle_changes: dict[int, str] = {}
        self.writing = PLAIN

    def run(self, ending: str) -> dict[str, Any]:
        """Make the tables ``membership`` (class of each record) and ``cells`` (of each class).

        The work is sent from another thread, so that Ctrl-C is heard. Return the row of ``SUMMARY``
        without seconds. Raises InputError where no release can keep the limits.
        """
        requested = RequestedSteps(self.engine, self.catalog, self.microdata, self.request)
        by_tree = self.request.method == "mondrian"  # which cuts along hierarchies
        coded = self._code_people(requested.changed.hierarchies if by_tree else {})
        self._check_limits(coded)
        steps = requested.steps()
        self.notes += requested.changed.remarks
        stream = self.engine.stream(self.name)
        self.passes = Passes(stream, coded, self._progress_reporter(coded.records))
        if release.is_csv(ending) and isinstance(self.catalog.dataset, Dataset):
            self.writing = writing_of(self.engine, self.catalog.dataset, self.microdata.qids)
        row: dict[str, Any] = {"method": self.request.method, "records": coded.records}

        def make_classes(_stream: Stream) -> None:
            row.update(self._recode(steps, ending) if steps else self._make_local_classes(ending))

        try:
            self.engine.together([stream], make_classes, self.meter.show)
        finally:
            stream.close()
        # Quasi-identifiers with suppressed cells: of whole records, or (recode) single ones.
        starred = [c for c in self.cells if row["suppressed"] or (c.by_step and c.starred)]
        if ambiguous := [quoted(c.scale.attribute.name) for c in starred if c.ambiguous]:
            self.notes.append(
                f"a suppressed cell of {', '.join(ambiguous)} is empty (NULL), as a missing value "
                "is; to tell them apart, write CSV or texts (--cells text)"
            )
        if coded.owners is not None:  # some people have several records
            self.notes.append(
                f"the {plural(coded.records, 'record')} are those of "
                f"{plural(coded.people, 'person')}: limits are about different people in a class, "
                "of whom the adversary knows one record; for one who knows all, see qifsql attack"
            )
            row |= {"people": coded.people, "known_records": "one"}
        return row

    def _make_local_classes(self, ending: str) -> dict[str, Any]:
        """Make the classes of Mondrian or MDAV and their cells; return the row of the summary."""
        passes, coded = self.passes, self.passes.coded
        if self.strata:
            self._check_strata(quoted(self.strata[0].name))
        elif coded.secrets and passes.broken(self.request.limits):
            raise InputError(
                f"not even one class of all {plural(coded.records, 'record')} of {self.name} "
                f"keeps {self.request.limits.diversity}: the most frequent values of the secret "
                "are too frequent; ask for less"
            )
        self._partition()  # makes ``done`` and ``refused``
        self.meter.inside(0.8, "writing cells")
        passes.make("classes", "classes", {"missing": [s.missing for s in self.places]})
        sizes = self._class_sizes()
        losses, written = [], []
        for i, scale in enumerate(self.scales, 1):
            content: Content = "interval" if scale.interval else "set"
            column = Cells(i, scale, content, self.request.cells, ending, writing=self.writing)
            self.cells.append(column)
            make_values(passes, column)
            loss = measure_loss(passes, column, suppressed=sizes["suppressed"])
            losses.append(loss)
            written.append(column if loss.generalised else column.of_single_values)
        make_cells(passes, written)
        passes.make("membership", "membership")
        passes.drop("coded", "done", "classes", "refused")
        return self._summary(sizes, losses)

    def _check_strata(self, name: str) -> None:
        """Refuse strata that break a limit as one class, so that no part of them can be a class.

        ``name`` is that of their column. MDAV may suppress strata that break a limit on a secret.
        """
        passes, limits, coded = self.passes, self.request.limits, self.passes.coded
        shape = {"people": coded.owners is not None}
        # How many strata there are, and how many of them have fewer than k records or people.
        total, broken = passes.row(passes.query("strata", {"wanted_k": limits.k}, shape))
        limit = f"k={limits.k}"
        if not broken and coded.secrets:  # k is kept by all: look at the limit on the secret
            broken, limit = passes.broken(limits), limits.diversity
            if self.request.method == "mdav" and broken < total:
                return
        if broken:
            raise InputError(
                f"{broken:,} of the {total:,} groups of {name} break {limit} even as one class; "
                "merge groups with NAME=EXPRESSION, ask for less, or suppress their records "
                "(--method recode or lattice, --suppress)"
            )

    def _class_sizes(self) -> dict[str, Any]:
        """Return the columns of ``SUMMARY`` about classes; refuse too many suppressed records."""
        coded, passes = self.passes.coded, self.passes
        sizes = passes.row(passes.query("sizes"))
        blocks, classes, released, smallest, largest, suppressed = sizes
        if released + suppressed != coded.records:
            raise InternalError("some records are in no class; please report this")
        people = released
        if coded.owners is not None:  # sizes count different people, not records
            smallest, largest, people = passes.row(passes.query("crowds"))
        if suppressed > self.request.suppress * coded.records:
            share = math.ceil(Fraction(suppressed * 10_000, coded.records)) / 10_000
            raise InputError(
                f"{plural(suppressed, 'record')} of {coded.records:,} ({100 * share:.2f} %) are in "
                f"classes that break a limit; allow their suppression (--suppress {share}), or "
                "generalise more"
            )
        return {
            "blocks": blocks,
            "classes": classes,
            "suppressed": suppressed,
            "smallest_class": smallest,
            "average_class": people / classes if classes else None,
            "largest_class": largest,
        }

    def _summary(
        self,
        sizes: dict[str, Any],
        losses: Sequence[ColumnLoss],
        *,
        changes: Sequence[Sequence[str]] = (),
        hidden: Sequence[int] = (),
        steps: Sequence[int] | None = None,
        optimal: bool | None = None,
    ) -> dict[str, Any]:
        """Return a row of ``SUMMARY``, without method, records, time; add a table to the details.

        The table is ``COLUMNS``, a row per quasi-identifier. ``losses``, ``changes`` and
        ``hidden``, the number of suppressed cells, have an entry for each of these; the last two
        are empty for Mondrian and MDAV. ``sizes`` are columns about classes. ``steps`` (of a node)
        and ``optimal`` are None for methods without any.
        """
        words = {column.number: column.words for column in self.cells}
        columns = zip_longest(self.scales, losses, changes, hidden)
        rows = [
            (s.attribute.name, s.values, words.get(i, "left out"), *astuple(loss), texts, n)
            for i, (s, loss, texts, n) in enumerate(columns, 1)
        ]
        table = pl.DataFrame(rows, schema=COLUMNS, orient="row")
        self.details = {"quasi_identifiers": table, **self.details}
        penalty = math.fsum(table["certainty_penalty"]) / len(losses)
        return {
            **sizes,
            "generalised": math.fsum(table["generalised"]) / len(losses),
            "certainty_penalty": penalty,
            "penalty": penalty,
            "steps": steps,
            "optimal": optimal,
        }

    def _recode(self, steps: Sequence[Sequence[ValueStep]], ending: str) -> dict[str, Any]:
        """Make the classes and cells of recode, lattice or suppress; return the row of the summary.

        ``steps`` are the generalisations of each quasi-identifier, finest first. A node has the
        number of a step of each: recode takes the last steps, lattice the best node that it finds.
        Suppress leaves the values as the last steps have them, and suppresses single cells. The
        tables ``membership`` and of cells remain for writing; ``details`` and ``notes`` get more.
        """
        passes, request = self.passes, self.request
        for i in self.suppression_order:
            if steps[i - 1][-1].content == "everything":
                name = quoted(self.scales[i - 1].attribute.name)
                raise InputError(f"{name} is dropped and has no cells; leave it out of one of them")
        recoding = Recoding(passes, self.scales, steps, request.limits)
        if self.combinations:  # their k takes the place of that of classes
            limits = replace(request.limits, k=1)
            recoding = replace(recoding, limits=limits, combinations=self.combinations)
        recoding.make_steps(nested=request.method == "lattice")
        step_losses = [recoding.losses(i) for i in recoding.qids]
        node, optimal = recoding.heights, None  # recode: the last step is all its changes
        if request.method == "lattice":
            node, optimal = self._search_lattice(recoding, step_losses)
        if request.method != "suppress":  # which draws lots by the values in records of equal cells
            # Make ``coded`` again, with one place for all values of a group at the node's steps.
            recoding.make_bases(node, request.cells)
            passes.drop("coded")
            coding = scales.coding_plan(self.coded, passes.coded.secrets, "bases_{}".format)
            passes.keep("coded", coding)
        self.meter.inside(0.8, "writing cells")
        recoded_release.make_release(recoding, node, self.suppression_order)
        if request.method == "suppress":
            optimal = self._suppress_fewest(recoding)
        else:
            passes.make("membership", "membership")
        passes.make("own_classes", "classes", {"missing": [s.missing for s in self.places]})
        recoded_release.widen_intervals(recoding)
        sizes = self._class_sizes()
        hides_cells = request.suppress_cells or request.method == "suppress"
        hidden = recoded_release.suppressed_cells(recoding) if hides_cells else []
        # Whether a quasi-identifier has suppressed cells: of whole records, or single ones.
        single_cells = hidden or [0 for _ in node]
        starred = [bool(sizes["suppressed"] or cells) for cells in single_cells]
        losses = self._make_recoded_cells(recoding, node, starred, ending)
        if self.combinations:
            self.details["combinations"] = kept_records.rows_of_combinations(recoding)
            self._note_small_classes(sizes["smallest_class"])
        recoding.drop()
        passes.drop("coded", "done", "classes", "refused")
        changes = [of_qid[s].texts for of_qid, s in zip(steps, node, strict=True)]
        for i, (s, texts) in enumerate(zip(node, changes, strict=True), 1):
            if texts and step_losses[i - 1][s].idle:  # its changes merge no values
                self.idle_changes[i] = ", ".join(texts)
        heights = list(node) if request.method == "lattice" else list(map(len, changes))
        return self._summary(
            sizes, losses, changes=changes, hidden=hidden, steps=heights, optimal=optimal
        )

    def _note_small_classes(self, smallest: int | None) -> None:
        """Note that the smallest class by all quasi-identifiers has fewer than k, if it has.

        Only some combinations of quasi-identifiers have a k. None: all records are suppressed.
        """
        if smallest is not None and smallest < max(c.k for c in self.combinations):
            unit = "record" if self.person is None else "person"
            self.notes.append(
                f"{self.request.words_of_k}: by all quasi-identifiers together, the smallest class "
                f"has {plural(smallest, unit)}"
            )

    def _suppress_fewest(self, recoding: Recoding) -> bool:
        """Suppress as few cells as possible; return whether no release can have fewer.

        The tables ``done``, ``refused`` and ``membership`` are made again for the new classes.
        """
        last_steps = [of_qid[-1] for of_qid in recoding.steps]
        columns = [i for i, step in enumerate(last_steps, 1) if step.content != "everything"]
        if not columns:
            raise InputError("all quasi-identifiers are dropped; leave one as it is")
        dataset, seed = self.microdata.dataset, self.engine.settings.seed or 0
        assert isinstance(dataset, Dataset)  # noqa: S101 - it is no collection
        records = Records(dataset, self.catalog.schema.columns, key=None, where=None)
        seconds = self.request.time_budget
        row, optimal, notes = fewest_cells.suppress(recoding, columns, records, seconds, seed)
        self.details["suppression"] = row
        self.notes += notes
        return optimal

    def _search_lattice(
        self, recoding: Recoding, step_losses: Sequence[Sequence[StepLoss]]
    ) -> tuple[Node, bool]:
        """Return the best node that is found in time, and whether no other can be better.

        Drop ``coded``, which is made again for the node; add the frontier and notes.
        """
        counts = NodeCounts(recoding)
        counts.make_tuples()
        self.passes.drop("coded")
        best = node_search.search(counts, step_losses, self.request, self.rules, self.meter)
        self.details["frontier"] = best.frontier
        self.notes += best.notes
        counts.drop()
        return best.node, best.optimal

    def _make_recoded_cells(
        self, recoding: Recoding, node: Node, starred: Sequence[bool], ending: str
    ) -> list[ColumnLoss]:
        """Make the table of cells of all classes at a node; return the loss of each column.

        ``starred`` says for each quasi-identifier whether some of its cells are suppressed. A
        column that recode drops has no cells. Also fills ``self.cells``, how each is written.
        """
        losses, written = [], []
        for i, (s, is_starred) in enumerate(zip(node, starred, strict=True), 1):
            step = recoding.steps[i - 1][s]
            loss = recoded_release.measure_loss(recoding, i, s)
            losses.append(loss)
            if self.request.method != "lattice" and step.content == "everything":
                continue  # recode drops the column; on a lattice its cells are suppressed
            label = step.form if step.content == "label" else None
            column = Cells(
                i,
                self.scales[i - 1],
                step.content,
                self.request.cells,
                ending,
                by_step=True,
                type="VARCHAR" if label is None else label.type,
                interval=step.interval,
                writing=self.writing,
                starred=is_starred,
            )
            recoded_release.make_cell_values(recoding, column, step, s)
            self.cells.append(column)
            written.append(column if loss.generalised else column.of_single_values)
        make_cells(self.passes, written)
        return losses

    def _code_people(self, hierarchies: Mapping[str, Hierarchy]) -> Coded:
        """Make scales that number the values of all columns, and ``coded``: one row per record.

        It has the places of values on the scales of their columns, and the codes of the secrets.
        ``recode`` makes it later, unless people have to be counted. ``hierarchies`` are those that
        Mondrian cuts along. Sets ``places`` (all scales), ``scales`` (of qids) and ``coded``.
        """
        self.meter.inside(0.0, "reading")
        by_place = replace(self.microdata, qids=(*self.microdata.qids, *self.strata))
        self.places = scales.make_scales(self.engine, by_place, hierarchies)
        self.scales = self.places[: len(self.microdata.qids)]
        secrets: tuple[Secret, ...] = ()  # not read if no limit and no bound on risk needs them
        if self.request.limits.of_secret or self.request.until:
            secrets = tuple(scales.make_secrets(self.engine, self.microdata))
        used = self.microdata.secrets[: len(secrets)]
        self.coded = replace(by_place, secrets=used, person=self.person)
        if self.request.method != "recode" or self.person is not None:
            scales.code_records(self.engine, self.coded, secrets)
        self.meter.inside(0.1, "reading")
        counted = exp.select("coalesce(sum(people), 0)::BIGINT").from_(own_table("scale_1"))
        ((records,),) = self.engine.rows(Plan((), counted), "counting records", self.name)
        owners = None
        if self.person is not None:
            owners = scales.count_owners(self.engine, self.name, secrets)
        return Coded(
            self.name,
            len(self.places),
            records,
            secrets,
            owners,
            stratum=bool(self.strata),
            trees=tuple(i for i, scale in enumerate(self.places, 1) if scale.tree is not None),
        )

    def _check_limits(self, coded: Coded) -> None:
        """Refuse limits that not even one class of all records keeps."""
        limits, records = self.request.limits, coded.records
        if not records:
            filtered = self.microdata.where is not None
            raise no_records(self.name, "nobody to anonymise", filtered=filtered)
        k = max(limits.k, *(c.k for c in self.combinations), 1)
        if k > coded.people:
            has = plural(records, "record")
            has += "" if coded.owners is None else f" of {plural(coded.people, 'person')}"
            raise InputError(f"k is {k:,}, and {self.name} has {has}; no class can have so many")
        for secret in coded.secrets:
            check_secret_limits(limits, secret)

    def _partition(self) -> None:
        """Create the tables ``done`` (people by class and place) and ``refused`` (bad classes)."""
        limits, passes = self.request.limits, self.passes
        within = self.request.within or mdav.WITHIN
        if self.request.method == "mondrian":
            mondrian.partition(passes, limits)
            passes.keep_empty("refused", ["part"])
            return
        was_cut_first = mdav.make_groups(passes, limits, within)
        if was_cut_first:
            self.notes.append(
                f"there are more than {within:,} different people, so the release was first cut at "
                "medians into parts of at most so many; more at once (--within) take longer"
            )
        passes.judge(limits, "sides_of_classes")  # makes ``refused``

    def _progress_reporter(self, records: int) -> Callable[[int], None]:
        """Return a function that shows progress, called in each pass with the records left."""
        # A guess at the number of passes: parts are halved down to k.
        usual_passes = math.log2(max(2, records / self.request.limits.k)) + 8
        passes = 0

        def show_pass(open_records: int) -> None:
            nonlocal passes
            passes += 1
            detail = f"pass {passes}: {open_records:,} records to part"
            self.meter.inside(0.1 + 0.7 * (1 - math.exp(-2 * passes / usual_passes)), detail)

        return show_pass
