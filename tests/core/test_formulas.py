"""The page of sources: a line for each equation, and tests that exist."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import formulas
from places import PACKAGE, ROOT, TESTS

NUMBER = re.compile(r"\bM\d{1,3}\b")
EQUATIONS = {equation.number: equation for equation in formulas.equations()}


def texts() -> Iterator[Path]:
    """Yield the files that may name an equation: code, SQL, texts of measures, pages, tests."""
    for folder, endings in (
        (PACKAGE, ("py", "toml")),
        (ROOT / "sql", ("sql",)),
        (ROOT / "docs", ("md",)),
        (TESTS, ("py",)),
    ):
        for ending in endings:
            yield from folder.rglob(f"*.{ending}")


@cache
def functions(file: str) -> set[str]:
    """Return the names of the tests in a file."""
    tree = ast.parse((TESTS / file).read_text("utf-8"))
    return {n.name for n in tree.body if isinstance(n, ast.FunctionDef) and "test_" in n.name[:5]}


def test_every_equation_has_a_line_and_every_line_an_equation() -> None:
    assert len(EQUATIONS) > 150
    assert set(formulas.evidence()) == set(EQUATIONS)


def test_every_equation_has_one_number() -> None:
    pages = (ROOT / "docs" / "mathematics").glob("*.md")
    numbers = [n for page in pages for n, _ in formulas.HEADING.findall(page.read_text("utf-8"))]
    assert sorted(numbers) == sorted(EQUATIONS)


def test_every_equation_that_is_named_exists() -> None:
    wrong = {
        (file.relative_to(ROOT).as_posix(), number)
        for file in texts()
        for number in NUMBER.findall(file.read_text("utf-8"))
        if number not in EQUATIONS
    }
    assert not wrong


def test_every_test_that_is_named_exists() -> None:
    wrong = []
    for number, proof in formulas.evidence().items():
        named = proof["tests"]
        if not named or len(set(named)) < len(named):
            wrong.append((number, named))
        for test in named:
            file, _, name = test.partition("::")
            if not (TESTS / file).is_file() or name not in functions(file):
                wrong.append((number, test))
    assert not wrong


def test_lines_say_only_what_is_known() -> None:
    for number, proof in formulas.evidence().items():
        assert set(proof) <= {"published", "deviation", "tests"}, number
        for name in ("published", "deviation"):
            text = proof.get(name, "some text")
            assert text.strip(" ."), number
            assert "\n" not in text, number


def test_an_equation_says_where_it_comes_from() -> None:
    """Without a source it is said to be our own, and then no number is published for it."""
    own = {n for n, e in EQUATIONS.items() if e.source == formulas.OWN}
    assert 10 < len(own) < 40
    assert not [n for n in own if "published" in formulas.evidence()[n]]
