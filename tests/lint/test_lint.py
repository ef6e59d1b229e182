"""Each rule of the lint finds a planted fault, and nothing where there is none."""

from types import SimpleNamespace
from typing import NamedTuple

import pytest
from babel.messages.catalog import Catalog

from lint import catalogues, equations, glued, imports, pages, run, sql_files, words
from lint.project import Finding, Project, Rule
from qifsql.query import steps

ROOM_FILES = {f"qifsql/{name}.py": '"""A room."""\n' for name in imports.ROOMS}
NEXT = "M" + "2"  # numbers of equations in texts are looked up
PAGE = f"# Page\n\n## M1. First\n\n- **Source**: a paper.\n\n## {NEXT}. Second\n\nIt is our own.\n"
TABLE = (
    '[M1]\ndefined = "area.py::size"\ncomputed = "sql/attack/blocks.sql::blocks"\n'
    'published = "1/2"\ntests = ["core/test_a.py::test_a"]\n\n'
    f'[{NEXT}]\ntests = ["core/test_a.py::test_a"]\n'
)
PROMISE = "| It opens no network. | `tests/core/test_a.py::test_a` |\n"
TABLE_1 = "| Table 1 | a number | reproduced | `core/test_a.py::test_a` |\n"
HEADER = "-- A question."
FIRST = "-- One row per person.\nCREATE OR REPLACE VIEW people AS\nSELECT qid FROM microdata;"
SECOND = "-- One row per block.\nCREATE OR REPLACE VIEW blocks AS\nSELECT qid FROM people;"
FUNCTION = '"""A module."""\n'
SIZE = 'def size():\n    """Return the size (M1)."""\n'
TEXTS = ROOM_FILES | {
    "qifsql/reference/area.py": FUNCTION + SIZE,
    "qifsql/app.py": '"""A room."""\nfrom qifsql.errors import f\n',
    "README.md": "# qifsql\n",
    "SECURITY.md": f"## What it promises\n\n| promise | test |\n|---|---|\n{PROMISE}\n## Then\n",
    "docs/formulas.toml": TABLE,
    "docs/mathematics/index.md": "### [Page](page.md)\n",
    "docs/mathematics/page.md": PAGE,
    "docs/sources/index.md": "# Sources\n\n| [Paper](paper.md) | 1 | 0 | 0 | 0 |\n",
    "docs/sources/paper.md": f"| item | what | verdict | by |\n|---|---|---|---|\n{TABLE_1}",
    "tests/core/test_a.py": '"""Tests."""\ndef test_a(): pass\n',
    "sql/attack/blocks.sql": "\n\n".join([HEADER, FIRST, SECOND]),
    "sql/README.md": "# Index\n",
}


class Planted(NamedTuple):
    """A rule, a file with a fault, its text, and words of what is found in it."""

    rule: Rule
    file: str
    text: str
    said: str


def module(rule: Rule, name: str, code: str, said: str) -> Planted:
    """Return a planted fault in a module below qifsql."""
    return Planted(rule, f"qifsql/{name}.py", FUNCTION + code, said)


def changed(rule: Rule, file: str, before: str, after: str, said: str) -> Planted:
    """Return a planted fault in a text that is there."""
    assert TEXTS[file].count(before) >= 1
    return Planted(rule, file, TEXTS[file].replace(before, after, 1), said)


BLOCKS, FORMULAS = "sql/attack/blocks.sql", "docs/formulas.toml"
VERDICTS = equations.a_source_has_a_verdict_for_each_table
PLANTED = [
    # who imports whom
    module(imports.a_module_is_in_a_room, "attic/box", "", "attic is no room"),
    *(
        module(imports.a_room_imports_what_is_below_it, "query/x", code, "qifsql.app")
        for code in (
            "import qifsql.app\n",
            "from qifsql import app\n",
            "from qifsql.app import main\n",
            "from .. import app\n",
            "def f():\n    from ..app import main\n",
        )
    ),
    module(
        imports.a_command_is_used_by_its_front_doors,
        "commands/attack/x",
        "from qifsql.commands.sweep.walk import f\n",
        "qifsql.commands.sweep.walk",
    ),
    module(imports.no_module_imports_itself, "data/x", "from qifsql.data import x\n", "data.x"),
    module(imports.no_room_imports_itself, "errors", "from qifsql.app import f\n", "errors"),
    module(
        imports.of_the_package_only_rooms_are_imported,
        "data/x",
        "from qifsql import attack\n",
        "import attack from the room",
    ),
    module(imports.no_import_is_hidden, "data/x", "if TYPE_CHECKING:\n    import y\n", "hides"),
    module(imports.no_import_is_hidden, "data/x", "if t.TYPE_CHECKING:\n    import y\n", "hides"),
    module(imports.no_import_is_hidden, "data/x", 'import_module("qifsql.app")\n', "app"),
    module(imports.a_room_imports_what_is_below_it, "data/x", 'import_module("qifsql.app")\n', "a"),
    module(imports.no_module_imports_itself, "data/x", 'import_module("qifsql.data.x")\n', "its"),
    module(imports.a_library_is_imported_in_its_rooms, "data/x", 'import_module("rich")\n', "pr"),
    module(
        imports.no_import_is_hidden, "data/x", 'i.import_module(f"qifsql.commands.{x}")\n', "comm"
    ),
    module(imports.a_library_is_imported_in_its_rooms, "data/x", "import duckdb\n", "only engine"),
    module(
        imports.the_reference_stands_alone,
        "reference/x",
        "from qifsql.measures import f\n",
        "definitions use nothing",
    ),
    module(imports.the_reference_stands_alone, "reference/x", "import polars\n", "definitions use"),
    module(
        imports.a_library_is_imported_in_its_rooms,
        "commands/x/x",
        "from typer.main import get_command\n",
        "commands.*.cli",
    ),
    module(
        imports.a_library_is_imported_in_its_rooms,
        "results/x",
        "from qifsql.engine.duckdb import f\n",
        "only engine",
    ),
    # names and docstrings
    module(words.a_module_has_a_name_that_says_something, "data/helpers", "", "helpers says"),
    module(words.a_stem_is_used_once, "data/app", "", "another module is called app"),
    module(words.a_command_is_a_room_of_its_name, "commands/odd/odd", "", "this folder is no"),
    Planted(words.public_things_are_documented, "qifsql/data/x.py", "x = 1\n", "the module"),
    module(words.public_things_are_documented, "data/x", "def f(): ...\n", "f has no"),
    module(
        words.public_things_are_documented,
        "data/x",
        'class A:\n    """One."""\n    def f(self): ...\n',
        "A.f has no",
    ),
    *(
        module(words.no_docstring_opens_with_a_noun_clause, "data/x", code, "Wh")
        for code in (
            'def f():\n    """Whether it is."""\n',
            'def f():\n    r"""What it is."""\n',
            "class A:\n    'Whatever it is.'\n",
            'x = 1\n"""Where it is."""\n',
        )
    ),
    Planted(
        words.no_docstring_opens_with_a_noun_clause,
        "tests/core/test_b.py",
        '"""How it is."""\n',
        "How it is.",
    ),
    *(
        module(words.a_name_is_a_noun, "data/x", code, "is no noun")
        for code in (
            "told = 1\n",
            "def f(found): ...\n",
            "def _made(): ...\n",
            "x.kept = 1\n",
            "import x as own\n",
            "for said in x: ...\n",
        )
    ),
    *(
        module(words.a_name_is_a_noun, place, "each = 1\n", "is no noun")
        for place in ("data/x", "commands/new/new", "app")
    ),
    Planted(words.the_readme_is_a_door, "README.md", "line\n" * 201, "201 lines"),
    # texts of SQL
    *(
        module(glued.no_text_of_sql_is_joined, "data/x", code, "SQL is joined")
        for code in (
            'f"SELECT {name}"\n',
            '"SELECT " + name\n',
            '"DROP %s" % name\n',
            '"FROM {}".format(x)\n',
        )
    ),
    *(
        module(glued.no_joined_text_is_parsed, "data/x", f"{code}\n", "parsed as SQL")
        for code in (
            'q.where(f"{a}.x = 1")',
            'q.join(t, on=f"{a}.x = b.x")',
            'q.join(f"t_{i} AS u", on=tree)',
            'exp.select("x", *(f"x_{i} AS y" for i in xs))',
            'exp.select(["x_" + i for i in xs])',
            'q.from_("t_%s" % i)',
            'exp.alias_(f"{a} + 1", "x")',
            'exp.maybe_parse("{} + 1".format(a), dialect="duckdb")',
            'exp.and_("x", *[f"{a} = 1" for a in xs])',
            'def f(a):\n    on = f"{a}.x = b.x"\n    return q.join(t, on=on)',
            'def f(a):\n    columns = [f"x_{i}" for i in a]\n    return q.group_by(*columns)',
        )
    ),
    # the files of sql/
    changed(sql_files.a_file_says_what_it_is_about, BLOCKS, "-- A question.", "", "begin with"),
    changed(
        sql_files.a_file_says_what_it_is_about, BLOCKS, "SELECT qid FROM people", "\n", "no view"
    ),
    changed(sql_files.a_view_has_a_name_of_its_own, BLOCKS, "VIEW people", "VIEW blocks", "too"),
    *(
        changed(sql_files.a_view_is_one_documented_select, BLOCKS, before, after, said)
        for before, after, said in (
            ("-- One row per person.\n", "", "begin with a comment"),
            ("per person.", "per person", "full stop"),
            ("FROM people;", "FROM people; -- all", "hides in the text"),
            ("FROM people;", "/* all */ FROM people;", "hides in the text"),
            ("FROM people;", "FROM people; SELECT 1;", "not one SELECT"),
            ("SELECT qid FROM people", "SELECT 1 UNION SELECT 2", "not one SELECT"),
            ("SELECT qid FROM people", "SELECT FROM WHERE", ""),
        )
    ),
    changed(
        sql_files.a_view_is_one_documented_select, BLOCKS, "qid FROM people", "{{ x }}", "undefined"
    ),
    changed(
        sql_files.a_template_has_examples, BLOCKS, "qid FROM people", "{{ 1 }}", "has no example"
    ),
    changed(
        sql_files.a_template_has_examples,
        BLOCKS,
        "CREATE OR REPLACE VIEW people",
        "{# persons(n=1) #}\nCREATE OR REPLACE VIEW people",
        "another name",
    ),
    Planted(
        sql_files.views_stand_in_reading_order,
        BLOCKS,
        "\n\n".join([HEADER, SECOND, FIRST]),
        "it reads people, which stands below",
    ),
    changed(sql_files.an_attack_reads_what_there_is, BLOCKS, "microdata", "persons", "persons"),
    changed(sql_files.an_attack_reads_what_there_is, BLOCKS, "microdata", "blocks", "itself"),
    changed(
        sql_files.an_attack_names_what_the_compiler_fills_in, BLOCKS, "qid", "qids", "qids is no"
    ),
    changed(
        sql_files.views_that_stand_for_one_another_are_alike,
        BLOCKS,
        "VIEW people AS\nSELECT qid",
        "VIEW owners AS\nSELECT key",
        "not those of blocks",
    ),
    module(
        pages.an_option_is_described_once,
        "commands/suda/suda",
        'def suda():\n    """Find.\n\n    Args:\n        qids: Columns.\n\n    """\n',
        "suda describes qids",
    ),
    # equations, and tests that pages name
    changed(equations.an_equation_has_a_line, FORMULAS, "[M1]", "[M3" + "01]", "has no"),
    changed(equations.an_equation_has_one_number, "docs/mathematics/page.md", NEXT, "M1", "M1: an"),
    Planted(
        equations.an_equation_has_one_number,
        "docs/mathematics/other.md",
        "## M3" + "01. Third\n",
        "no listed page",
    ),
    module(
        equations.an_equation_that_is_named_exists,
        "data/x",
        "# see M3" + "01\n",
        "there is no equation",
    ),
    changed(equations.an_equation_names_its_tests, FORMULAS, "::test_a", "::test_b", "test_b"),
    changed(
        equations.an_equation_names_its_tests, FORMULAS, '"core/test_a.py::test_a"', "", "no test"
    ),
    changed(equations.a_formula_has_two_places, FORMULAS, "sql::blocks", "sql::b", "sql::b"),
    changed(equations.a_formula_has_two_places, FORMULAS, "computed", "# ", "no place that"),
    changed(equations.a_formula_has_two_places, FORMULAS, "::size", "::area", "defined is one of"),
    changed(
        equations.a_formula_has_two_places,
        FORMULAS,
        f"[{NEXT}]\n",
        f'[{NEXT}]\ndefined = "area.py::size"\n',
        "no function of the reference",
    ),
    module(equations.a_formula_has_no_third_place, "measures/x", SIZE, "size is a third"),
    module(equations.a_formula_has_no_third_place, "reference/x", SIZE, "defined twice"),
    changed(equations.a_line_says_what_is_known, FORMULAS, "published", "printed", "printed is"),
    changed(equations.a_line_says_what_is_known, FORMULAS, '"1/2"', '"."', "not one line"),
    changed(
        equations.a_line_says_what_is_known,
        FORMULAS,
        f"[{NEXT}]",
        f'[{NEXT}]\npublished = "1/3"',
        "no source",
    ),
    changed(equations.a_promise_names_a_test, "SECURITY.md", "test_a` ", "test_b` ", "test_b"),
    changed(VERDICTS, "docs/sources/paper.md", "test_a`", "test_b`", "no core/test_a.py::test_b"),
    changed(VERDICTS, "docs/sources/paper.md", "`core/test_a.py::test_a`", "a test", "no test or"),
    changed(VERDICTS, "docs/sources/paper.md", "reproduced", "done", "done is no verdict"),
    changed(VERDICTS, "docs/sources/index.md", "| 1 |", "| 2 |", "paper.md has 1 | 0 | 0 | 0 |"),
    changed(equations.a_promise_names_a_test, "SECURITY.md", PROMISE, "| It is fast. | . |\n", "f"),
    # messages
    *(
        module(catalogues.a_message_is_said_by_its_name, "data/x", code, said)
        for code, said in (
            ("from qifsql.presentation.language import said as f\n", "said keeps"),
            ("import qifsql.presentation.language\n", "import the functions"),
            ("from qifsql.presentation import language\n", "import the functions"),
        )
    ),
]


FINE = [
    module(imports.a_room_imports_what_is_below_it, "query/x", "from qifsql.data import f\n", ""),
    module(
        imports.a_command_is_used_by_its_front_doors,
        "commands/attack/x",
        "from qifsql.commands.sweep.sweep import sweep\nfrom qifsql.commands.sweep.view import f\n",
        "",
    ),
    module(
        imports.of_the_package_only_rooms_are_imported,
        "data/x",
        "from qifsql import __version__, errors\n",
        "",
    ),
    module(imports.no_import_is_hidden, "data/x", 'import_module("qifsql.errors")\n', ""),
    module(imports.a_library_is_imported_in_its_rooms, "engine/x/y", "import duckdb\n", ""),
    module(imports.a_library_is_imported_in_its_rooms, "commands/x/cli", "import typer\n", ""),
    module(words.a_stem_is_used_once, "data/x/view", "", ""),
    module(words.public_things_are_documented, "data/x", "def _f(): ...\n", ""),
    module(
        words.no_docstring_opens_with_a_noun_clause,
        "data/x",
        'f(\n    """What it is."""\n)\n"""Whole, whatever it is."""\n',
        "",
    ),
    module(words.a_name_is_a_noun, "data/x", "x = told.found\n", ""),
    *(
        module(glued.no_text_of_sql_is_joined, "data/x", f"{code}\n", "")
        for code in ('f"{n} SELECT"', '"Selected " + n', '"SELECT 1"', 'f"copy {n}"')
    ),
    *(
        module(glued.no_joined_text_is_parsed, "data/x", f"{code}\n", "")
        for code in (
            'q.where("x = 1")',
            '", ".join(f"x_{i}" for i in xs)',
            'exp.select(exp.column(f"x_{i}"), "count(*) AS n").from_(exp.table_(f"t_{i}"))',
            'exp.alias_(tree, f"x_{i}")',
            'q.join(exp.table_("t", alias=f"t_{i}"), on=same(exp.column("x", f"t_{i}"), y))',
            'catalog.condition(tree, f"the filter of {name}")',
            'def f(a):\n    x = f"x_{a}"\n    return x\ndef g(x):\n    return q.select(x)',
        )
    ),
    changed(  # they read one another
        sql_files.views_stand_in_reading_order, BLOCKS, "microdata", "blocks", ""
    ),
]
APART = {  # rules with a test of their own, below
    sql_files.the_compiler_knows_the_views,
    sql_files.there_are_few_files,
    sql_files.the_index_is_up_to_date,
    pages.the_reference_says_what_the_code_says,
    pages.a_function_of_a_command_says_all,
    catalogues.a_catalogue_is_complete,
}
BASE = Project(TEXTS)


def new(planted: Planted) -> set[Finding]:
    """Return what a rule finds more than without the planted text."""
    project = Project(TEXTS | {planted.file: planted.text})
    return {*planted.rule(project)} - {*planted.rule(BASE)}


def test_every_rule_is_shown_a_fault() -> None:
    assert {planted.rule for planted in PLANTED} | APART == set(run.RULES)
    assert not APART & {planted.rule for planted in PLANTED}


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.rule.__name__)
def test_a_planted_fault_is_found_where_it_is(planted: Planted) -> None:
    found = new(planted)
    assert [f for f in found if planted.file.startswith(f.file) and planted.said in f.message]
    lines = planted.text.count("\n") + 1
    assert all(1 <= f.line <= lines for f in found if f.file == planted.file)


@pytest.mark.parametrize("planted", FINE, ids=lambda planted: planted.rule.__name__)
def test_nothing_is_found_where_nothing_is_wrong(planted: Planted) -> None:
    assert not new(planted)


def test_a_command_without_its_files_is_found() -> None:
    said = {finding.message for finding in words.a_command_is_a_room_of_its_name(BASE)}
    assert {
        "attack has no module commands.attack.attack",
        "attack has no module commands.attack.cli",
        "attack has no tests in tests/commands/attack",
    } <= said


def test_a_name_that_the_compiler_has_and_no_file_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heavy = FIRST.replace("people", "odd")
    project = Project(TEXTS | {"sql/weighted.sql": f"{HEADER}\n\n{heavy}"})
    monkeypatch.setattr(steps, "WEIGHTED", ("even",))
    monkeypatch.setattr(steps, "PER_GAIN", ("blocks", "gone"))
    monkeypatch.setattr(steps, "OF_THE_QUESTION", ("microdata", "lost"))
    said = {f.message for f in sql_files.the_compiler_knows_the_views(project)}
    assert said == {
        "WEIGHTED: even is no view",
        "WEIGHTED: odd is no view",
        "PER_GAIN: gone is no view",
        "OF_THE_QUESTION: lost is no view",
        "odd: there is no view without weights",
    }


def test_too_many_files_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not list(sql_files.there_are_few_files(BASE))
    monkeypatch.setattr(sql_files, "MOST_FILES", -len(sql_files.commands.NAMES))
    assert len(list(sql_files.there_are_few_files(BASE))) == 1


def test_an_old_index_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    for text, number in (("# Index\n", 0), ("# Another\n", 1)):
        monkeypatch.setattr(sql_files.sql_index, "index", lambda text=text: text)
        assert len(list(sql_files.the_index_is_up_to_date(BASE))) == number


def test_an_old_page_and_one_of_nothing_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    made = {"a.md": "new", "b.md": "b"}
    monkeypatch.setattr(pages, "reference", SimpleNamespace(pages=lambda: made, overview=str))
    monkeypatch.setattr(pages, "result_schema", SimpleNamespace(text=str))
    there = {"a.md": "old", "b.md": "b", "c.md": "c"}
    texts = {f"docs/reference/{name}": text for name, text in there.items()}
    project = Project(texts | {pages.OVERVIEW: "", pages.SCHEMA: ""})
    found = {f.file for f in pages.the_reference_says_what_the_code_says(project)}
    assert found == {"docs/reference/a.md", "docs/reference/c.md"}
    old = Project(project.texts | {pages.OVERVIEW: "old"})
    assert pages.OVERVIEW in {f.file for f in pages.the_reference_says_what_the_code_says(old)}


def test_a_function_that_says_too_little_or_too_much_is_found() -> None:
    def function(x: int, y: int) -> int:
        """Add.

        Args:
            x: a number
            z: another

        Returns:
            Their sum.
        """
        return x + y

    assert list(pages.undocumented(function)) == [
        *(f"{part} is missing" for part in ("Raises:", "Example:", ">>> ", "Source:")),
        "the argument y is not documented",
        "there is no argument z",
    ]


def translated(**strings: str) -> Catalog:
    """Return a catalogue of two messages, with other translations than it should have."""
    catalog = Catalog(locale="pt_BR")
    known = {"before": "antes", "{n} people": "{n} pessoas", "local": "local"} | strings
    for message, string in known.items():
        catalog.add(message, string)
    return catalog


SAID = {"before", "{n} people", "local"}


def test_a_complete_catalogue_has_no_fault() -> None:
    catalog = translated()
    assert not list(catalogues.faults(catalog, SAID, {"local"}))


@pytest.mark.parametrize(
    ("catalog", "said"),
    [
        (translated(before=""), "not translated, or from another wording: before"),
        (translated(before="before"), "the same in both languages"),
        (translated(local="lugar"), "the same in both languages"),
        (translated(**{"{n} people": "{m} pessoas"}), "other placeholders"),
        (translated(**{"{n} people": "pessoas"}), "other placeholders"),
        (translated(after="depois"), "nobody says after"),
    ],
)
def test_a_fault_of_a_catalogue_is_found(catalog: Catalog, said: str) -> None:
    found = list(catalogues.faults(catalog, SAID, {"local"}))
    assert [message for message in found if said in message]


def test_other_faults_of_a_catalogue_are_found() -> None:
    catalog, alike = translated(), {"local"}
    (message,) = catalogues.faults(catalog, {*SAID, "unheard"}, alike)
    assert message == "run python tests/messages.py: unheard is new"
    catalog["before"].flags.add("fuzzy")
    assert "from another wording: before" in "".join(catalogues.faults(catalog, SAID, alike))
    catalog = translated()
    catalog.add(("{n} byte", "{n} bytes"), ("{n} byte",))
    said = {*SAID, ("{n} byte", "{n} bytes")}
    found = list(catalogues.faults(catalog, said, alike))
    assert "there is not one translation for each plural form" in "".join(found)


def test_all_catalogues_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogues, "_messages", dict)
    found = {finding.file for finding in catalogues.a_catalogue_is_complete(BASE)}
    assert len(found) == len(catalogues.OTHERS) > 0


@pytest.mark.parametrize(("code", "told"), [("told = 1\n", 1), ("", 0)])
def test_a_finding_is_a_line_and_an_exit_code(
    code: str, told: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project = Project(TEXTS | {"qifsql/data/x.py": f"{FUNCTION}{code}"})
    monkeypatch.setattr(run, "RULES", (words.a_name_is_a_noun, words.the_readme_is_a_door))
    monkeypatch.setattr(run.Project, "read", lambda _: project)
    assert run.main() == told
    first = capsys.readouterr().out.splitlines()[0]
    assert first == ("qifsql/data/x.py:2: told is no noun" if told else "All rules hold.")
