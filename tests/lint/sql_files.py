"""The files of ``sql/``: what each is about, its views in reading order, and what they read."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter

import sql_index
from sqlglot.errors import SqlglotError

from lint.project import Finding, Project, Rule
from qifsql import commands
from qifsql.errors import InternalError
from qifsql.query import shapes, steps, templates

INDEX = "sql/README.md"
SCRIPTS = ("sql/sweep/macros.sql", "sql/sweep/workspace.sql")  # statements that are no views
MOST_FILES = 46  # beside one of each command
HEADER = re.compile(r"(-- .*\n?)+")
# What no file makes: a person defines it, the compiler generates it.
GIVEN = (
    *("agreement", "asked", "beliefs", "hidden", "listed", "microdata", "numbers", "pairs"),
    *("population", "positions"),
)
OF_PEOPLE = {"secret_numbers", "secret_sets"}  # made with the sets of people, for each secret
FILLED = {"qid", "secret", "secret_values", "tally", "tally_counts", *OF_PEOPLE}
"""The names by which attacks write what the compiler fills in."""
ALIKE = (  # views that stand for one another give the same columns
    ("blocks", "owners", "weighted/blocks"),
    ("blocks", "tries", "owner_tries", "penalty", "tolerance", "staked"),
    ("cells", "weighted/cells", "believed"),
    ("stakes", "matrix_stakes", "worth_stakes"),
    ("doubts", "owner_doubts"),
    ("members", "weighted/members", "believed_members"),
    ("owner_members", "weighted/owner_members"),
    ("guesses", "owner_guesses", "weighted/owner_guesses"),
    ("answer", "weighted/answer"),
    ("chances", "weighted/chances"),
    ("capacity", "tally_capacity", "weighted/capacity"),
    ("group_capacity", "owner_group_capacity", "weighted/group_capacity"),
    ("pointwise", "tally_pointwise"),
    ("value_overlaps", "tally_value_overlaps"),
    ("profile", "tally_profile", "tally_owners"),
    ("spectra", "tally_spectra"),
    ("counts", "weighted/counts"),
    ("uncertainty", "weighted/uncertainty"),
)


@dataclass(frozen=True)
class View:
    """One view: its file, its name by which qifsql loads it, its text."""

    file: str
    name: str
    text: str
    line: int

    @property
    def short(self) -> str:
        """Return its name in SQL."""
        return self.name.rpartition("/")[2]

    def template(self) -> templates.Template:
        """Return what qifsql reads; of a template, in its first shape."""
        return self.templates()[0]

    def templates(self) -> list[templates.Template]:
        """Return what qifsql reads, in all shapes: that of the folder ``sql/`` is read once."""
        forms = shapes.examples(self.text)
        if templates.exists(self.name) and templates.text(self.name) == self.text:
            return [templates.load(self.name, **shape) for shape in forms]
        return [templates.read(self.name, shapes.in_shape(self.text, shape)) for shape in forms]

    def reads(self) -> set[str]:
        """Return the tables that it reads; none where it is no SELECT."""
        try:
            return {table for template in self.templates() for table in template.tables}
        except (InternalError, SqlglotError):
            return set()

    def wrong(self, message: str) -> Finding:
        """Return a finding at the beginning of the view."""
        return Finding(self.file, self.line, f"{self.short}: {message}")


@cache
def views(project: Project) -> Mapping[str, View]:
    """Return all views by name."""
    found = {}
    for file in project.files("sql", "sql"):
        for view in _views(file, project.texts[file]) if file not in SCRIPTS else ():
            found[view.name] = view
    return found


def _views(file: str, text: str) -> Iterator[View]:
    home = file.split("/")[1].removesuffix(".sql")
    line = 1
    for part in text.split("\n\n"):
        if match := templates.VIEW.search(part):
            name = match[1] if home in templates.OF_ATTACKS else f"{home}/{match[1]}"
            yield View(file, name, part.strip(), line)
        line += part.count("\n") + 2


def of_attacks(project: Project) -> dict[str, View]:
    """Return the views of attacks, and those with weights."""
    every = views(project).items()
    return {n: v for n, v in every if "/" not in n or n.startswith("weighted/")}


def a_file_says_what_it_is_about(project: Project) -> Iterator[Finding]:
    """Find files that do not begin with a comment, and parts that are no view."""
    for file in set(project.files("sql", "sql")) - set(SCRIPTS):
        first, *parts = project.texts[file].split("\n\n")
        if not HEADER.fullmatch(first):
            yield Finding(file, 1, "the file does not begin with a comment on what it is about")
        for part in parts:
            if not templates.VIEW.search(part):
                line = project.line(file, part)
                yield Finding(file, line, "this is no view: blank lines separate views")


def there_are_few_files(project: Project) -> Iterator[Finding]:
    """Find that there are too many files: each tells one question from top to bottom."""
    files, most = list(project.files("sql", "sql")), MOST_FILES + len(commands.NAMES)
    if len(files) > most:
        message = f"{len(files)} files are more than {most}; add the view to a file that is there"
        yield Finding("sql", 1, message)


def a_view_has_a_name_of_its_own(project: Project) -> Iterator[Finding]:
    """Find names that two views of one home have."""
    for file in set(project.files("sql", "sql")) - set(SCRIPTS):
        for view in _views(file, project.texts[file]):
            if views(project)[view.name] != view:
                other = views(project)[view.name]
                yield view.wrong(f"{other.file}:{other.line} has a view {view.name}, too")


def a_view_is_one_documented_select(project: Project) -> Iterator[Finding]:
    """Find views that are not one SELECT under one comment that ends with a full stop."""
    for view in views(project).values():
        lines = shapes.EXAMPLES.sub("", view.text).splitlines()
        header = [line for line in lines if line.startswith("--")]
        rest = lines[len(header) :]
        if not header or lines[: len(header)] != header or not header[-1].endswith("."):
            yield view.wrong("it does not begin with a comment that ends with a full stop")
        if any(mark in line for line in rest for mark in ("--", "/*", "{#")):
            yield view.wrong("a comment hides in the text: say it above the view")
        try:
            template = view.templates()[-1]
        except (InternalError, SqlglotError) as e:
            yield view.wrong(str(e).partition("; install")[0].partition("\n")[0])
        else:
            if template.doc != " ".join(line.removeprefix("--").strip() for line in header):
                yield view.wrong("its documentation is not the comment above it")


def a_template_has_examples(project: Project) -> Iterator[Finding]:
    """Find templates without examples of their shapes, and examples of another name."""
    for view in views(project).values():
        example = shapes.EXAMPLES.search(view.text)
        if shapes.is_template(view.text) and not example:
            yield view.wrong("it varies, and has no example {# name(...) #} below its comment")
        if example and {*re.findall(r"(\w+)\(", example[1])} - {"range"} != {view.short}:
            yield view.wrong("its examples have another name")


def views_stand_in_reading_order(project: Project) -> Iterator[Finding]:
    """Find views that stand above one that they read, unless these read one another."""
    for file in project.files("sql", "sql"):
        own = {v.short: v for v in views(project).values() if v.file == file}
        reads = {name: view.reads() & set(own) for name, view in own.items()}
        order = list(own)
        for name, view in own.items():
            for read in reads[name] - {name}:
                if order.index(read) > order.index(name) and not _reaches(reads, read, name):
                    yield view.wrong(f"it reads {read}, which stands below it")


def _reaches(reads: Mapping[str, set[str]], start: str, end: str) -> bool:
    """Return whether a view reads another, by way of others."""
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name == end:
            return True
        if name not in seen:
            seen.add(name)
            waiting += reads.get(name, ())
    return False


def an_attack_reads_what_there_is(project: Project) -> Iterator[Finding]:
    """Find views of attacks that read what no file makes and no person defines, and circles."""
    every = of_attacks(project)
    known = {*GIVEN, *OF_PEOPLE, *(view.short for view in every.values())}
    for view in every.values():
        for read in view.reads():
            name = read.removeprefix("prior_")
            if name not in known and read != "prior":
                yield view.wrong(f"nothing makes {read}")
    for weighted in (False, True):
        chosen = {v.short: v for n, v in every.items() if "/" not in n}
        if weighted:
            chosen |= {v.short: v for n, v in every.items() if "/" in n}
        try:
            TopologicalSorter({name: view.reads() for name, view in chosen.items()}).prepare()
        except CycleError as e:
            view = next(chosen[name] for name in e.args[1] if name in chosen)
            yield view.wrong(f"it reads itself: {' <- '.join(e.args[1])}")


def an_attack_names_what_the_compiler_fills_in(project: Project) -> Iterator[Finding]:
    """Find names in views of attacks that look like a placeholder and are none."""
    for view in of_attacks(project).values():
        code = view.text.partition(" AS\n")[2]
        for word in sorted({*re.findall(r"\b(?:qid|secret|tally)\w*\b", code)} - FILLED):
            yield view.wrong(f"{word} is no name that the compiler fills in")


def the_compiler_knows_the_views(project: Project) -> Iterator[Finding]:
    """Find lists of the compiler that differ from the views that there are."""
    every = of_attacks(project)
    plain = {name for name in every if "/" not in name}
    heavy = {view.short for name, view in every.items() if "/" in name}
    file = "qifsql/query/steps.py"
    wrong = {
        "WEIGHTED": set(steps.WEIGHTED) ^ heavy,
        "PER_GAIN": set(steps.PER_GAIN) - {*plain, *GIVEN, "gained"},
        "OF_THE_QUESTION": set(steps.OF_THE_QUESTION) - {*plain, *GIVEN},
    }
    for name, views_ in wrong.items():
        for view in sorted(views_):
            yield Finding(file, project.line(file, f"{name} = "), f"{name}: {view} is no view")
    for view in sorted(heavy - plain - {"people"}):  # without weights owners need no cells
        yield every[f"weighted/{view}"].wrong("there is no view without weights")


def views_that_stand_for_one_another_are_alike(project: Project) -> Iterator[Finding]:
    """Find such views with other columns."""
    every = views(project)
    for first, *others in ALIKE:
        for other in others:
            if first in every and other in every:
                one, two = (every[n].template().query.named_selects for n in (first, other))
                if one != two:
                    yield every[other].wrong(f"its columns are not those of {first}: {one}, {two}")


def the_index_is_up_to_date(project: Project) -> Iterator[Finding]:
    """Find that the index of the views is old."""
    if sql_index.index() != project.texts[INDEX]:
        yield Finding(INDEX, 1, "run python docs/sql_index.py")


RULES: Iterable[Rule] = (
    a_file_says_what_it_is_about,
    there_are_few_files,
    a_view_has_a_name_of_its_own,
    a_view_is_one_documented_select,
    a_template_has_examples,
    views_stand_in_reading_order,
    an_attack_reads_what_there_is,
    an_attack_names_what_the_compiler_fills_in,
    the_compiler_knows_the_views,
    views_that_stand_for_one_another_are_alike,
    the_index_is_up_to_date,
)
