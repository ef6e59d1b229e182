"""Mutants are drawn from trees, differ from what they change, and are killed by its tests."""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from places import PACKAGE, ROOT
from sqlglot import exp

from mutation import (
    checking,
    copies,
    judging,
    mutants,
    python_trees,
    report,
    sources,
    sql_trees,
    touched,
)
from mutation.judging import NotJudged, judge
from mutation.mutants import Mutant
from qifsql.query import templates

BAYES = ROOT / "qifsql/measures/bayes.py"
REFINES = ROOT / "sql/attack/refinement.sql"
MEASURED = "tests/core/test_measures.py"
ADDITIVE = [name for name in touched.tests("measures:bayes.additive") if MEASURED in name]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copies.copied(tmp_path_factory.mktemp("mutants") / "copy")


def planted(path: Path, before: str, after: str) -> Mutant:
    (mutant,) = (m for m in mutants.of_file(path) if (m.before, m.after) == (before, after))
    return mutant


@pytest.mark.slow(because="5.5 s; every recorded mutant dies without it")
def test_a_planted_mutant_of_a_measure_is_killed(copy: Path) -> None:
    mutant = planted(BAYES, "posterior - prior", "posterior + prior")
    assert mutant.target == "measures:bayes.additive"
    verdict = judge(mutant, copy, ADDITIVE)
    assert verdict.outcome == "killed"
    assert verdict.by in ADDITIVE
    assert (copy / mutant.file).read_text() == BAYES.read_text()


@pytest.mark.slow(because="6.4 s; every recorded mutant dies without it")
def test_a_planted_mutant_of_sql_is_killed(copy: Path) -> None:
    mutant = next(m for m in mutants.of_file(REFINES) if m.kind == "comparison")
    assert judge(mutant, copy, touched.tests(mutant.target)[:3]).outcome == "killed"


@pytest.mark.slow(because="2.8 s; every recorded mutant dies without it")
def test_a_file_that_is_written_from_its_trees_survives(copy: Path) -> None:
    """The tests that judge mutants do not look at the text of what they are about."""
    text = ast.unparse(ast.parse(BAYES.read_text()))
    same = Mutant("qifsql/measures/bayes.py", "measures:bayes.additive", 1, "", "", "", text)
    assert judge(same, copy, ADDITIVE).outcome == "survived"


@pytest.mark.slow(because="2.6 s; every recorded mutant dies without it")
def test_tests_that_cannot_be_run_kill_nothing(copy: Path) -> None:
    mutant = planted(BAYES, "posterior - prior", "posterior + prior")
    with pytest.raises(Exception, match="no_such"):
        judge(mutant, copy, [f"{MEASURED}::test_no_such"])


@pytest.mark.slow(because="5.1 s; every recorded mutant dies without it")
def test_a_test_that_fails_without_the_mutant_kills_nothing(copy: Path) -> None:
    mutant = planted(BAYES, "posterior - prior", "posterior + prior")
    broken = copy / "tests" / "core" / "test_broken.py"
    broken.write_text("def test_broken() -> None:\n    assert not 1\n")
    with pytest.raises(NotJudged, match="fails without it, too"):
        judge(mutant, copy, ["tests/core/test_broken.py::test_broken"])


def test_no_two_mutants_of_a_module_have_the_same_tree() -> None:
    drawn = list(mutants.of_file(BAYES))
    trees = {ast.dump(ast.parse(text)) for text in (BAYES.read_text(), *(m.text for m in drawn))}
    assert len(trees) == len(drawn) + 1 > 20


def test_a_mutant_of_sql_changes_one_view_to_another_tree() -> None:
    def views(text: str) -> dict[str, exp.Expression]:
        parts = [part for part in text.split("\n\n") if templates.VIEW.search(part)]
        return {templates.VIEW.search(p)[1]: sql_trees.parsed(p) for p in parts}  # type: ignore[index]

    before = views(REFINES.read_text())
    drawn = list(mutants.of_file(REFINES))
    changes = []
    for mutant in drawn:
        after = views(mutant.text)
        changed = [name for name in before if after[name] != before[name]]
        assert [sql_trees.target(REFINES, name) for name in changed] == [mutant.target]
        changes.append((mutant.target, after[changed[0]]))
    assert len(set(changes)) == len(drawn) > 10


def test_a_seed_draws_the_same_mutants_and_half_of_them_are_of_sql() -> None:
    def paths() -> tuple[list[Path], list[Path]]:
        return [REFINES], [BAYES]

    one, two = (mutants.drawn(20, 3, paths()) for _ in range(2))
    assert one == two
    assert len({m.key for m in one}) == 20
    assert sum(m.file.endswith(".sql") for m in one) == 10
    assert mutants.drawn(20, 4, paths()) != one


@pytest.mark.slow(because="18.9 s; every recorded mutant dies without it")
def test_every_view_and_function_has_tests_that_exist() -> None:
    sql, measures = mutants.files()
    views = [
        sql_trees.target(path, found[1])
        for path in sql
        for part in path.read_text().split("\n\n")
        if (found := templates.VIEW.search(part))
    ]
    functions = [
        name
        for path in measures
        for name, _ in python_trees.functions(ast.parse(path.read_text()), path)
    ]
    without = [target for target in (*views, *functions) if not touched.of_room(target)]
    assert without == []
    rooms = [name for target in (*views, *functions) for name in touched.of_room(target)]
    assert [name for name in set(rooms) if not (ROOT / name).is_file()] == []
    traced = sum(bool(touched.tests(target)) for target in (*views, *functions))
    assert traced > (len(views) + len(functions)) / 2


@pytest.mark.slow
def test_every_reason_is_about_a_mutant_that_is_there() -> None:
    files = {target.partition(":")[2].partition(".")[0] for target, _, _ in report.reasons()}
    rooms = sorted({target.partition(":")[0] for target, _, _ in report.reasons()})
    every = {
        (m.target, m.before, m.after)
        for paths in mutants.files(rooms)
        for path in paths
        if any(
            path.stem in name or path.parent.name in name or f"VIEW {name} AS" in path.read_text()
            for name in files
        )
        for m in mutants.of_file(path)
    }
    assert set(report.reasons()) - every == set()
    assert all(len(reason) > 20 for reason in report.reasons().values())


def test_each_room_has_an_equal_share_of_a_draw_and_its_name_in_its_targets() -> None:
    gains, coverage = (PACKAGE / f for f in ("adversary/gains.py", "commands/check/coverage.py"))
    drawn = mutants.drawn(8, 1, [[REFINES], [gains], [coverage]])
    rooms = [m.target.partition(":")[0] for m in drawn]
    assert rooms == ["sql", "adversary", "commands/check"] * 2 + ["sql", "adversary"]


def test_a_function_of_a_room_is_judged_by_tests_of_the_room_first() -> None:
    targets = ("counting:coded._packed", "adversary:gains.parse", "commands/check:view.value_text")
    files = [touched.of_room(target) for target in (*targets, "query:splice._repeated_items")]
    assert [names[0] for names in files] == [
        "tests/core/test_counting.py",
        "tests/core/test_questions.py",
        "tests/commands/check/test_parts_of_verdicts.py",
        "tests/core/test_questions.py",
    ]
    assert all((ROOT / name).is_file() for names in files for name in names)


def test_a_judge_is_a_test_that_make_test_runs() -> None:
    assert "not slow" in copies.fast()
    assert "not reference" in copies.fast()


@pytest.fixture
def tested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], str]]:
    """Return a function that writes a file of tests and a module, and returns the digest."""
    home = tmp_path / "tests"
    home.mkdir()
    monkeypatch.setattr(sources, "TESTS", home)
    monkeypatch.setattr(sources, "CONFTEST", home / "conftest.py")
    cached = (sources._tree, sources._definitions, sources._imports, sources._modules)

    def clear() -> None:
        for function in (*cached, sources._part):
            function.cache_clear()

    def digest(test: str, module: str) -> str:
        (home / "test_it.py").write_text(f"import other\nfrom helper import LIMIT\n\n{test}")
        (home / "helper.py").write_text(module)
        clear()
        return sources.digest("tests/test_it.py::test_it")

    yield digest
    clear()


def test_a_digest_changes_with_what_a_test_uses(tested: Callable[[str, str], str]) -> None:
    test, module = "def test_it():\n    assert 1 < LIMIT\n", "FEW = 1\nLIMIT = FEW + 2\n"
    first = tested(test, module)
    assert len(first) == 16
    assert tested(test, module + "MORE = 2\n") == first
    assert tested(f"# why\n{test}\n\ndef test_other():\n    assert LIMIT\n", module) == first
    others = [tested(test.replace("1", "0"), module), tested(test, module.replace("1", "0"))]
    others.append(tested("@mark\n" + test, module))
    assert len({first, *others}) == 4
    assert tested(test.replace("test_it", "test_that"), module) == ""


def test_a_kill_holds_while_its_test_is_run_and_says_the_same() -> None:
    test = ADDITIVE[0]
    row = {"by": test, "source": sources.digest(test)}
    states = [
        checking._state(row, {test}),
        checking._state(row | {"source": "0"}, {test}),
        checking._state(row, set()),
        checking._state(row | {"by": ""}, {test}),
    ]
    assert states == [checking.SAME, checking.CHANGED, checking.GONE, checking.UNNAMED]


def test_a_mutant_is_found_by_its_change_where_its_file_is_another() -> None:
    mutant = planted(BAYES, "posterior - prior", "posterior + prior")
    there = {"key": "0", "mutant": str(mutant).replace(f":{mutant.line} ", ":1 ")}
    gone = {"key": "1", "mutant": "qifsql/measures/bayes.py:1 arithmetic: a  ->  b"}
    assert checking.found([there, gone]) == {"0": mutant}


def test_a_report_has_a_section_for_each_draw(tmp_path: Path) -> None:
    file = tmp_path / "report.md"
    for text in ("1: b\n\nold\n", "0: a\n\none\n", "1: b\n\nnew\n"):
        report.write(file, text)
    assert file.read_text() == f"{report.HEAD}{report.DRAW}0: a\n\none\n{report.DRAW}1: b\n\nnew\n"


@pytest.mark.slow(because="3.7 s; every recorded mutant dies without it")
def test_a_test_that_does_not_end_is_named(copy: Path) -> None:
    file = copy / "tests" / "core" / "test_endless.py"
    file.write_text(
        "def test_ends():\n    pass\n\n\ndef test_endless():\n    while True:\n        pass\n"
    )
    name = "tests/core/test_endless.py"
    outcome = judging._run(copy, [name], 4.0, "none", "quick")
    assert outcome == ("timeout", f"{name}::test_endless")
