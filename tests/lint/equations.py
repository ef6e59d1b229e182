"""The equations of ``docs/mathematics/``, their sources, and the tests that pages name."""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import formulas

from lint.project import Finding, Module, Project, Rule

NUMBER = re.compile(r"\bM\d{1,3}\b")
TABLE = "docs/formulas.toml"
PROMISES = "SECURITY.md"
KEYS = {"published", "deviation", "tests", "defined", "computed"}
REFERENCE = "reference"  # the room of the definitions
SOURCES = "docs/sources"
VERDICTS = ("reproduced", "in shape", "not reproducible", "no number")
LINE = re.compile(r"^\| ([^|]+) \| [^|]+ \| ([^|]+) \| (.+) \|$", re.M)
PROOF = re.compile(r"`((?:tests|core|commands|oracles|benchmarks)/[\w/]+\.py(?:::\w+)?)`")
IN_BRACKETS = re.compile(r"\(([^()]*)\)")


@cache
def equations(project: Project) -> dict[str, formulas.Equation]:
    """Return the equations by number."""
    return {equation.number: equation for equation in formulas.equations(_page(project))}


def _page(project: Project) -> formulas.Reader:
    return lambda name: project.texts[f"docs/mathematics/{name}.md"]


@cache
def evidence(project: Project) -> dict[str, dict[str, Any]]:
    """Return the published numbers, deviations and tests of each equation."""
    return formulas.evidence(project.texts[TABLE])


def _at(project: Project, number: str, message: str) -> Finding:
    return Finding(TABLE, project.line(TABLE, f"[{number}]"), f"{number}: {message}")


def an_equation_has_a_line(project: Project) -> Iterator[Finding]:
    """Find equations without a line of evidence, and lines without an equation."""
    for number in equations(project).keys() ^ evidence(project).keys():
        there = number in equations(project)
        yield _at(project, number, "it has no line here" if there else "there is no such equation")


def an_equation_has_one_number(project: Project) -> Iterator[Finding]:
    """Find numbers of two equations, and headings on pages that the index does not list."""
    headings = Counter[str]()
    for file in project.files("docs/mathematics", "md"):
        for number, title in formulas.HEADING.findall(project.texts[file]):
            headings[number] += 1
            if headings[number] > 1 or number not in equations(project):
                line = project.line(file, f"## {number}. {title}")
                why = "has this number, too" if headings[number] > 1 else "is on no listed page"
                yield Finding(file, line, f"{number}: an equation {why}")


def an_equation_that_is_named_exists(project: Project) -> Iterator[Finding]:
    """Find numbers of no equation in code, SQL, texts of measures, pages and tests."""
    for file, text in project.texts.items():
        if file.endswith((".py", ".toml", ".sql", ".md")) and file != TABLE:
            for number in sorted(set(NUMBER.findall(text)) - equations(project).keys()):
                yield Finding(file, project.line(file, number), f"there is no equation {number}")


def an_equation_names_its_tests(project: Project) -> Iterator[Finding]:
    """Find equations without tests, and tests that are not there."""
    for number, proof in evidence(project).items():
        named = proof.get("tests", ())
        if not named or len(set(named)) < len(named):
            yield _at(project, number, "it names no test, or one twice")
        for test in named:
            if not _exists(project, f"tests/{test}"):
                yield _at(project, number, f"there is no test {test}")


def _exists(project: Project, test: str) -> bool:
    """Return whether a test ``file::name`` is there."""
    file, _, name = test.partition("::")
    return file in project.texts and name in _tests(project.texts[file])


@cache
def _tests(text: str) -> set[str]:
    return set(re.findall(r"^def (test_\w+)\(", text, re.M))


def a_line_says_what_is_known(project: Project) -> Iterator[Finding]:
    """Find unknown keys and empty texts, and published numbers of what is our own."""
    for number, proof in evidence(project).items():
        for key in sorted(set(proof) - KEYS):
            yield _at(project, number, f"{key} is no key of an equation")
        for key in KEYS - {"tests"}:
            text = proof.get(key, "some text")
            if not text.strip(" .") or "\n" in text:
                yield _at(project, number, f"{key} is not one line of text")
        own = number in equations(project) and equations(project)[number].source == formulas.OWN
        if own and "published" in proof:
            yield _at(project, number, "it has a published number and no source")


def a_promise_names_a_test(project: Project) -> Iterator[Finding]:
    """Find promises of the threat model without a test that is there."""
    text = project.texts[PROMISES].partition("## What it promises")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.+) \| (.+) \|$", text, re.M)[1:]  # below the names of columns
    if not rows:
        yield Finding(PROMISES, 1, "it promises nothing")
    for promise, proof in rows:
        named = re.findall(r"`(tests/[\w/.]+\.py::\w+)`", proof)
        if not named:
            yield Finding(PROMISES, project.line(PROMISES, promise), f"no test holds: {promise}")
        for test in named:
            if not _exists(project, test):
                yield Finding(PROMISES, project.line(PROMISES, test), f"there is no test {test}")


def a_source_has_a_verdict_for_each_table(project: Project) -> Iterator[Finding]:
    """Find tables of the sources that are reproduced by no test, and wrong sums of verdicts."""
    for file in project.files(SOURCES, "md"):
        text, index = project.texts[file], f"{SOURCES}/index.md"
        sums = Counter[str]()
        for item, verdict, words in [] if file == index else LINE.findall(text)[1:]:
            sums[verdict] += 1
            line, proofs = project.line(file, f"| {item} |"), PROOF.findall(words)
            if verdict not in VERDICTS:
                yield Finding(file, line, f"{item}: {verdict} is no verdict")
            if verdict == VERDICTS[0] and not proofs:
                yield Finding(file, line, f"{item}: no test or benchmark reproduces it")
            for proof in proofs:
                if not (proof in project.texts or _exists(project, f"tests/{proof}")):
                    yield Finding(file, line, f"{item}: there is no {proof}")
        row = "".join(f" {sums[verdict]} |" for verdict in VERDICTS)
        name = file.removeprefix(f"{SOURCES}/")
        if file != index and f"]({name}) |{row}" not in project.texts.get(index, ""):
            yield Finding(index, project.line(index, f"]({name})"), f"{name} has{row}")


def a_formula_has_two_places(project: Project) -> Iterator[Finding]:
    """Find definitions without a line that says where their numbers are made, and wrong places."""
    defined = _defined(project)
    for number, proof in evidence(project).items():
        places = {f"qifsql/{REFERENCE}/{proof.get('defined')}", proof.get("computed")}
        if number not in defined:
            if {"defined", "computed"} & proof.keys():
                yield _at(project, number, "no function of the reference names it in brackets")
        elif f"qifsql/{REFERENCE}/{proof.get('defined')}" not in defined[number]:
            yield _at(project, number, f"defined is one of {', '.join(sorted(defined[number]))}")
        elif missing := [place for place in places if not _there(project, place)]:
            yield _at(project, number, f"there is no {missing[0] or 'place that computes it'}")


def a_formula_has_no_third_place(project: Project) -> Iterator[Finding]:
    """Find equations that two modules of the reference define, or that other functions compute."""
    for number, places in _defined(project).items():
        files = sorted({place.partition("::")[0] for place in places})
        for file in files if len(files) > 1 else ():
            yield Finding(file, 1, f"{number} is defined twice: {', '.join(sorted(places))}")
    for module in project.modules.values():
        if not module.name.startswith(f"{REFERENCE}."):
            for name, number, line in _named(module):
                proof = evidence(project).get(number, {})
                place = proof.get("computed", "").partition("::")[0]
                if "defined" in proof and place != module.file:
                    message = f"{number} has two places, and {name} is a third: see {TABLE}"
                    yield Finding(module.file, line, message)


@cache
def _defined(project: Project) -> dict[str, set[str]]:
    """Return the functions of the reference that name each equation in brackets."""
    places: dict[str, set[str]] = {}
    for module in project.modules.values():
        if module.name.startswith(f"{REFERENCE}."):
            for name, number, _ in _named(module):
                places.setdefault(number, set()).add(f"{module.file}::{name}")
    return places


def _named(module: Module) -> Iterator[tuple[str, str, int]]:
    """Yield the functions whose text names equations in brackets, such as (M45), and these."""
    for node in module.nodes(ast.FunctionDef):
        for text in IN_BRACKETS.findall(ast.get_docstring(node) or ""):
            for number in NUMBER.findall(text):
                yield node.name, number, node.lineno


def _there(project: Project, place: str | None) -> bool:
    """Return whether there is a function ``FILE::NAME``, or a view."""
    file, _, name = (place or "").partition("::")
    text = project.texts.get(file, "")
    return bool(re.search(rf"\bdef {re.escape(name)}\(|VIEW {re.escape(name)} AS", text))


RULES: Iterable[Rule] = (
    an_equation_has_a_line,
    an_equation_has_one_number,
    an_equation_that_is_named_exists,
    an_equation_names_its_tests,
    a_line_says_what_is_known,
    a_promise_names_a_test,
    a_source_has_a_verdict_for_each_table,
    a_formula_has_two_places,
    a_formula_has_no_third_place,
)
