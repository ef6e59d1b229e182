"""Mutants are drawn from trees, differ from what they change, and are killed by its tests."""

import ast
from pathlib import Path

import pytest
from places import ROOT
from sqlglot import exp

from mutation import copies, mutants, python_trees, report, sql_trees, touched
from mutation.judging import NotJudged, judge
from mutation.mutants import Mutant
from qifsql.query import templates

BAYES = ROOT / "qifsql/measures/bayes.py"
REFINES = ROOT / "sql/refines.sql"
MEASURED = "tests/core/test_measures.py"
ADDITIVE = [name for name in touched.tests("measures:bayes.additive") if MEASURED in name]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copies.copied(tmp_path_factory.mktemp("mutants") / "copy")


def planted(path: Path, before: str, after: str) -> Mutant:
    (mutant,) = (m for m in mutants.of_file(path) if (m.before, m.after) == (before, after))
    return mutant


def test_a_planted_mutant_of_a_measure_is_killed(copy: Path) -> None:
    mutant = planted(BAYES, "posterior - prior", "posterior + prior")
    assert mutant.target == "measures:bayes.additive"
    verdict = judge(mutant, copy, ADDITIVE)
    assert verdict.outcome == "killed"
    assert verdict.by in ADDITIVE
    assert (copy / mutant.file).read_text() == BAYES.read_text()


def test_a_planted_mutant_of_sql_is_killed(copy: Path) -> None:
    mutant = next(m for m in mutants.of_file(REFINES) if m.kind == "comparison")
    assert judge(mutant, copy, touched.tests(mutant.target)[:3]).outcome == "killed"


def test_a_file_that_is_written_from_its_trees_survives(copy: Path) -> None:
    """The tests that judge mutants do not look at the text of what they are about."""
    text = ast.unparse(ast.parse(BAYES.read_text()))
    same = Mutant("qifsql/measures/bayes.py", "measures:bayes.additive", 1, "", "", "", text)
    assert judge(same, copy, ADDITIVE).outcome == "survived"


def test_tests_that_cannot_be_run_kill_nothing(copy: Path) -> None:
    mutant = planted(BAYES, "posterior - prior", "posterior + prior")
    with pytest.raises(Exception, match="no_such"):
        judge(mutant, copy, [f"{MEASURED}::test_no_such"])


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
        for name, _ in python_trees.functions(ast.parse(path.read_text()), path.stem)
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
    every = {
        (m.target, m.before, m.after)
        for paths in mutants.files()
        for path in paths
        if any(
            path.stem in name or path.parent.name in name or f"VIEW {name} AS" in path.read_text()
            for name in files
        )
        for m in mutants.of_file(path)
    }
    assert set(report.reasons()) - every == set()
    assert all(len(reason) > 20 for reason in report.reasons().values())
