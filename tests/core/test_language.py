"""The languages of reports: numbers as CLDR has them, nothing in English.

That the catalogues are complete is a rule of the lint.
"""

import gettext
import re
from collections.abc import Callable, Collection, Iterator
from functools import cache
from hashlib import md5
from importlib.util import find_spec
from pathlib import Path
from string import Formatter
from typing import Any, TypeAlias

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from policies import policy, rule
from studies import ATTACK, CHECK, DATASETS, SWEEP, data
from terminal import run

import qifsql
from qifsql.commands.check import view as verdicts
from qifsql.commands.report.report import report
from qifsql.commands.run import view
from qifsql.errors import InputError
from qifsql.presentation import words
from qifsql.presentation.language import (
    LANGUAGES,
    LOCALE,
    Language,
    counted,
    number,
    said,
    speaking,
    spoken,
)
from qifsql.presentation.parts import (
    Cards,
    Document,
    Figure,
    Fold,
    Heading,
    Light,
    Paragraph,
    Section,
    Table,
)
from qifsql.results.stored import read

babel = pytest.importorskip("babel")
pytest.importorskip("jinja2")

from babel.numbers import format_decimal, get_decimal_symbol, get_group_symbol, parse_decimal  # noqa: E402
from lint.catalogues import catalogue, translations  # noqa: E402 - it needs both

pytestmark = pytest.mark.xdist_group("language")  # their fixtures take long

OTHERS = [code for code in LANGUAGES if code != "en"]
AS_STORED = ("formula", "source", "role?", "why")  # columns that are not translated
STORED = {"distinct"}  # how missing values are counted, as it was asked for
IN_CHARTS = (
    *("title", "subtitle", "text", "description", "labelExpr", "question", "panel", "known"),
    *("noise", "kind", "name"),
)
ENGLISH = re.compile(
    r"(?<![\w/-])(the|of|and|or|with|from|who|whom|which|what|are|is|be|people|persons?|records?|"
    r"blocks?|releases?|guess(es)?|right|share|known|knowing|adversary|values?|links?|count|noise|"
    r"loss|utility|change|sets|intervals|exact|sampled|nobody|none|both|success)(?![\w/-])",
    re.IGNORECASE,
)
POINT = re.compile(r"\d\.(?!\d{3}(?!\d))\d|\d,\d{3},")  # in numbers as English writes them
LETTERS = 15  # an English text of so many letters is recognised within another text


@pytest.mark.parametrize("code", OTHERS)
def test_plural_forms(code: str):
    one, many = "{n} byte", "{n} bytes"
    shown = {0: "0 byte", 1: "1 byte", 2: "2 bytes", 1_000_000: "1.000.000 bytes"}
    with speaking(code):
        assert {n: counted(one, many, n) for n in shown} == shown
    with speaking("en"):
        assert counted(one, many, 0) == "0 bytes"


# --- numbers ---


@pytest.mark.parametrize("language", LANGUAGES.values(), ids=LANGUAGES)
def test_signs_in_numbers_are_those_of_cldr(language: Language):
    locale = babel.Locale.parse(language.code, sep="-")
    assert language.decimal == get_decimal_symbol(locale)
    assert language.group == get_group_symbol(locale)
    assert language.name == locale.get_language_name()


SHARES = st.one_of(
    st.just(0),
    st.floats(1e-12, 1),
    st.integers(1, 10**12).map(lambda n: 1 / n),
    st.integers(1, 10**12).map(lambda n: 1 - 1 / n),
)
WRITTEN: dict[str, tuple[Callable[[Any], str], st.SearchStrategy[Any]]] = {
    "count": (words.count, st.integers(0, 10**15)),
    "number": (lambda x: number(f"{x:,.2f}"), st.floats(0, 1e12)),
    "digits": (words.digits, st.floats(0, 1e12)),
    "fixed": (lambda x: words.fixed(x, 4), st.floats(0, 1e12)),
    "factor": (words.factor, st.floats(0, 1e12)),
    "percent": (words.percent, SHARES),
    "chance": (words.chance, SHARES),
    "frequency": (words.frequency, SHARES),
}


@pytest.mark.parametrize("name", WRITTEN)
@given(data=st.data())
def test_numbers_are_as_cldr_writes_them_and_the_same_in_all_languages(
    name: str, data: st.DataObject
):
    written, values = WRITTEN[name]
    x = data.draw(values)
    read = {}
    for code in LANGUAGES:
        with speaking(code):
            read[code] = parsed(written(x), code)
    if name not in ("chance", "frequency") or 0 < x < 1:
        assert all(numbers and numbers == read["en"] for numbers in read.values())


def parsed(text: str, code: str) -> list[object]:
    """The numbers in a text, which are written as CLDR says, with as many decimals."""
    locale = code.replace("-", "_")
    found = []
    for written in re.findall(r"\d(?:[\d.,]*\d)?", text):
        value = parse_decimal(written, locale=locale, strict=True)
        decimals = len(written.partition(get_decimal_symbol(locale))[2])
        pattern = "#,##0" + ("." if decimals else "") + "0" * decimals
        assert format_decimal(value, pattern, locale=locale) == written, text
        found.append(value)
    return found


def test_a_number_that_is_rounded_up_to_a_thousand_has_its_separator():
    assert words.digits(999.97) == "1,000"


def test_numbers_in_words():
    shares = (0, 0.000_002, 0.04, 0.1234, 0.5, 0.995, 0.999_999, 1)
    with speaking("pt-BR"):
        assert [words.chance(p) for p in shares] == [
            *("nunca", "1 em 500.000", "1 em 25", "1 em 8,1", "50 em 100", "99,5 em 100"),
            *("mais de 99,99 em 100", "sempre"),
        ]
        assert [words.frequency(p) for p in shares] == [
            *("0 de cada 100", "menos de 1 de cada 10.000"),
            *("40 de cada 1.000", "12 de cada 100"),
            *("50 de cada 100", "mais de 99 de cada 100", "mais de 99 de cada 100"),
            "100 de cada 100",
        ]
        assert [words.percent(p) for p in shares] == [
            *("0,00 %", "< 0,01 %", "4,00 %", "12,34 %", "50,00 %", "99,50 %", "> 99,99 %"),
            "100,00 %",
        ]


def test_how_many_there_are():
    counts = (words.persons, words.records, words.blocks, words.releases)
    assert [[f(n) for n in (0, 1, 2000)] for f in counts] == [
        ["0 people", "1 person", "2,000 people"],
        ["0 records", "1 record", "2,000 records"],
        ["0 blocks", "1 block", "2,000 blocks"],
        ["0 releases", "1 release", "2,000 releases"],
    ]
    with speaking("pt-BR"):
        assert [f(1) for f in counts] == ["1 pessoa", "1 registro", "1 bloco", "1 publicação"]
        assert [f(2000) for f in counts] == [
            *("2.000 pessoas", "2.000 registros", "2.000 blocos", "2.000 publicações"),
        ]
    with speaking("pt-BR", "alunos"):
        assert [words.persons(n) for n in (1, 30)] == ["1 pessoa", "30 alunos"]


# --- speaking ---


@pytest.mark.parametrize("code", ["", "pt", "xx", "../en", "en-GB"])
def test_an_unknown_language_is_an_error_that_lists_those_there_are(code: str):
    with pytest.raises(InputError) as caught, speaking(code):
        pass
    assert all(known in str(caught.value) for known in LANGUAGES)
    assert spoken() == LANGUAGES["en"]


@pytest.mark.parametrize("code", ["pt-BR", "pt_BR", "PT-br"])
def test_a_language_is_known_however_it_is_written(code: str):
    with speaking(code) as language:
        assert language == LANGUAGES["pt-BR"]


def test_speaking_nests_and_ends():
    assert (said("before"), words.people(), words.count(1000)) == ("before", "people", "1,000")
    with speaking("pt-BR", "alunos"):
        assert (said("before"), words.people(), words.count(1000)) == ("antes", "alunos", "1.000")
        with speaking("en"):
            assert (said("before"), words.people()) == ("before", "people")
            with speaking("pt-BR"):
                assert (said("before"), words.people()) == ("antes", "pessoas")
            assert said("before") == "before"
        assert (said("before"), words.people()) == ("antes", "alunos")
    assert (said("before"), words.people()) == ("before", "people")


def test_speaking_ends_after_an_exception():
    with pytest.raises(RuntimeError), speaking("pt-BR", "alunos"):
        raise RuntimeError
    assert spoken() == LANGUAGES["en"]


def test_a_value_is_never_read_as_part_of_a_message():
    for code in LANGUAGES:
        with speaking(code):
            assert "{qids} {0}" in said("Someone who knows {qids}", qids="{qids} {0}")


# --- documents ---


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of all kinds about data in which no name and no value is English."""
    source, stored = tmp_path_factory.mktemp("dados"), tmp_path_factory.mktemp("resultados")
    lines = ["pessoa,idade,sexo,bairro,doença,renda,código"]
    ages, areas, ills = (25, 25, 30, 41), ("Centro", "Norte", ""), ("gripe", "asma")
    codes = [md5(f"a{i}".encode()).hexdigest() for i in range(48)]
    for i in range(48):
        row = (i, ages[i % 4], "FM"[i % 7 % 2], areas[i % 3], ills[i % 5 % 2], i % 9, codes[i])
        lines.append(",".join(map(str, row)))
    first, second = source / "censo.csv", source / "outro.csv"
    first.write_text("\n".join(lines) + "\n", "utf-8")
    second.write_text("\n".join(lines[:30]) + "\n", "utf-8")
    levels = policy(
        source,
        rule(model="cas", measure="posterior_probabilistic", at_most=0.5),
        rule(model="crs", measure="singled_out", at_most=100),
    )
    asked = ["-q", "idade,sexo,bairro", "-s", "doença"]
    details = ["--measures", "all", "--by", "bairro", "--histogram", "--threshold", "0.5"]
    gain = ["--gain", "penalty:0.5", "--unit", "reais"]
    one = ["--target", "idade=25", "--target", "sexo=F"]
    work = ["--workspace", stored / "work.sweep"]
    commands: dict[str, list[object]] = {
        "ataque": ["attack", "crs,cas", first, *asked, *details, "--quantile", "0.9"],
        "ganho": ["attack", "cas", first, *asked, *gain],
        "alvo": ["attack", "irs,ias", first, "-q", "idade,sexo", "-s", "doença", *one],
        "dois": ["attack", "cal", first, second, "--key", "pessoa", *asked, "--progressive"],
        "todos": ["sweep", first, *asked, "--threshold", "0.4", "--histogram", *work],
        "limites": ["check", first, "--policy", levels, *asked],
        "colunas": ["describe", first],
    }
    for name, command in commands.items():
        made(*command, "-o", stored / f"{name}.parquet")
    knows = ["--knows", "vizinho: idade=0.5,sexo=1", "--any", 2, "--attempt", 0.05]
    swept, limit = stored / "todos.parquet", ["--threshold", 0.3]
    made("adversaries", swept, *knows, *limit, "-o", stored / "vizinhos.parquet")
    made("adversaries", swept, "-o", stored / "quaisquer.parquet")
    further(first, second, stored)
    return stored


def made(*command: object) -> None:
    done = run(*command, "--quiet")
    assert done.code in (0, 4), done.err  # 4: a level is not met


def further(first: Path, second: Path, stored: Path) -> None:
    """Results of the commands about releases, links and noise."""
    asked = ["-q", "idade,sexo,bairro", "-s", "doença"]
    fine, coarse = first.with_name("fino.parquet"), first.with_name("grosso.parquet")
    tree, log = first.with_name("árvore.csv"), first.with_name("viagens.csv")
    tree.write_text("gripe;vias;*\nasma;vias;*\n", "utf-8")
    trips = [f"{i % 8},{i % 5},{i % 3}" for i in range(60)]
    log.write_text("\n".join(["pessoa,dia,linha", *trips]) + "\n", "utf-8")
    for out, k in ((fine, 3), (coarse, 5)):
        how = ["--method", "mondrian", "--k", k, "--summary", stored / f"classes{k}.parquet"]
        made("anonymise", first, "-o", out, *how, *asked)
    treated = ["-o", first.with_name("um.parquet"), "--summary", stored / "tratado.parquet"]
    made("anonymise", first, *treated, "--one-per", "pessoa", "-q", "idade")
    drawn = ["-o", first.with_name("sorteado.parquet"), "--summary", stored / "sorteio.parquet"]
    made("anonymise", first, *drawn, "--method", "pram", "-q", "sexo", "--seed", 1)
    wanted = ["--k", 3, "--l", 2, "--t", 0.3, "--c", 2, "--hierarchy", tree, "--population", first]
    mechanisms = ["--mechanism", "all", "--epsilon", "ln 3,1.5"]
    links = ["--link", "idade", "--link", "bairro:stay=0.9", "--presence", 0.5, "--truth", "pessoa"]
    links.append("--one-to-one")
    likely = ["--predicate", "renda > 4", "--predicate", "renda = 2", "--secret", "doença"]
    hashed = ["--column", "código", "--hash", "md5", "--pattern", "a[0-9]", "--pattern", "b[0-9]"]
    fine_copy, control = first.with_name("cópia.csv"), first.with_name("controle.csv")
    for path, seed in ((fine_copy, 1), (control, 2)):
        pl.read_csv(first).sample(fraction=0.9, seed=seed).write_csv(path)
    synthesised = [*asked, "--by", "sexo", "--sweep", "--questions", "--distances", "9"]
    commands: dict[str, list[object]] = {
        "níveis": ["levels", first, *asked, *wanted, "--show-blocks"],
        "perdas": ["compare", first, fine, coarse, *asked],
        "mudanças": ["compare", first, *asked, "--change", "idade:12", "--change", "drop=sexo"],
        "menor": ["compare", first, *asked, "--until", "k >= 2"],
        "nenhuma": ["compare", first, *asked, "--until", "k >= 70"],
        "juntas": ["compose", fine, coarse, "--people", first, *asked, "--truth", "doença"],
        "cadastro": ["link", first, second, "-q", "idade,sexo", "--truth", "pessoa"],
        "nomes": ["link", first, second, "-q", "idade,sexo,bairro"],
        "hashes": ["unhash", first, *hashed],
        "rastros": ["unicity", log, "--person", "pessoa", "-q", "dia,linha", "--points", "1,2,20"],
        "palpites": ["dit", first, *asked, "--k", "2,4"],
        "ruído": ["dp", first, "--useful", "renda", *likely, *mechanisms],
        "perguntas": [
            "check",
            "--preset",
            "wp216",
            "--questions",
            first,
            *asked,
            "--register",
            second,
            "--truth",
            "pessoa",
        ],
        "alcance": [
            "check",
            "--preset",
            "wp216",
            "--questions",
            first,
            *asked,
            "--threshold",
            "0.4",
        ],
        "repetidos": [
            "check",
            "--preset",
            "wp216",
            "--questions",
            log,
            "-q",
            "dia,linha",
            "--key",
            "pessoa",
            "--points",
            "1,2",
        ],
        "população": ["estimate", first, "-q", "idade,sexo,bairro,renda", "--fraction", "0.05"],
        "todas": ["estimate", first, "-q", "idade,renda", "--fraction", "1"],
        "sintéticos": ["synthetic", first, fine_copy, second, *synthesised, "--control", control],
        "sintético": ["synthetic", first, second, *asked],
        "especiais": ["suda", first, "-q", "idade,sexo,bairro", "--by", "sexo", "--values"],
        "pequenos": ["suda", first, "-q", "idade,sexo,bairro", "--max-size", "2"],
        "ligadas": ["attack", "crl,cal", first, second, *asked, *links],
        "aprende": ["attack", "cas", first, "--learn", second, *asked],
    }
    if find_spec("sklearn") is not None:
        learner = ["--learner", "decision-tree"]
        commands["classificador"] = [
            *("synthetic", first, fine_copy, "--control", control, *asked, *learner)
        ]
    for name, command in commands.items():
        made(*command, "-o", stored / f"{name}.parquet")


Reports: TypeAlias = Callable[[str, bool], Document]


@pytest.fixture(scope="module")
def reports(results: Path, tmp_path_factory: pytest.TempPathFactory) -> Reports:
    """The report in a language: that for others is about pupils."""
    out = tmp_path_factory.mktemp("relatórios") / "relatório.md"

    @cache
    def written(code: str, private: bool) -> Document:
        people = "" if private else "alunos"
        return report(results, out, lang=code, people=people, private=private)

    return written


@pytest.mark.slow(because="39 s; lint finds messages that are not translated")
@pytest.mark.reports
@pytest.mark.parametrize("private", [False, True], ids=["shared", "private"])
@pytest.mark.parametrize("code", OTHERS)
def test_no_message_stays_english(reports: Reports, results: Path, code: str, private: bool):
    document = reports(code, private)
    assert spoken() == LANGUAGES["en"]
    shown = shown_in(document, results, code)
    assert len(shown) > 400
    assert any("alunos" in text for text in shown) != private
    assert not english(code, shown)


@pytest.mark.slow(because="52 s; lint finds messages that are not translated")
@pytest.mark.reports
@pytest.mark.parametrize("private", [False, True], ids=["shared", "private"])
@pytest.mark.parametrize("code", OTHERS)
def test_no_english_is_left(reports: Reports, results: Path, code: str, private: bool):
    """Not even what is no message: no English words, and no numbers as English writes them."""
    document = reports(code, private)
    raw = {f"{result.kind}: {result.name}" for result in read([results])}
    assert not raw & {section.title for section in document.sections}  # all have their own view
    shown = shown_in(document, results, code)
    assert not {t for t in shown if ENGLISH.search(t) and "datum.value" not in t}  # no formulas
    sections = tuple(s for s in document.sections if s.name != "method")  # it has versions
    numbers = shown_in(Document("", sections), results, code)
    assert not {t for t in numbers if POINT.search(t) and "penalty:0.5" not in t}  # as it was asked


def test_bounds_of_levels_are_said():
    bounds = ["<= 0.25", ">= 2", "<= 0.5 and >= 0.25", "rise <= 0.01 and fall <= 10"]
    assert [verdicts.bounds_text(bound) for bound in bounds] == bounds
    with speaking("pt-BR"):
        assert [verdicts.bounds_text(bound) for bound in bounds] == [
            *("<= 0,25", ">= 2", "<= 0,5 e >= 0,25", "aumento <= 0,01 e queda <= 10"),
        ]


@pytest.mark.slow(because="3.3 s; every recorded mutant dies without it")
@pytest.mark.parametrize("code", OTHERS)
def test_studies_have_no_english(tmp_path: Path, code: str):
    data(tmp_path)
    study = tmp_path / "study.toml"
    study.write_text(f"{DATASETS}{ATTACK}{SWEEP}threshold = 0.6\n{CHECK}", "utf-8")
    result = qifsql.run(study)
    assert {"sweeps", "borders", "checks", "entries"} <= result.details.keys()
    with speaking(code):
        parts = view.parts(result.frame, result.details, result.spec)
        empty = {"entries": result.details["entries"].clear()}
        parts += view.parts(result.frame.clear(), empty, result.spec)
    shown = set(said_in(Document("", (Section("", "", parts),)), ()))
    assert not english(code, shown)


def shown_in(document: Document, results: Path, code: str) -> set[str]:
    """Return what is said in a document, but what stands there as it was stored, in English."""
    with speaking(code):
        as_stored = {said(head) for head in AS_STORED}
    notes = {str(note) for r in read([results]) for note in r.manifest.get("notes", ())}
    return set(said_in(document, as_stored)) - STORED - notes


@pytest.mark.slow(because="30 s; the tests that recognise them are slow")
@pytest.mark.reports
def test_english_messages_are_recognised(tmp_path: Path, results: Path):
    some = [results / f"{name}.parquet" for name in ("ataque", "todos")]
    shown = shown_in(report(some, tmp_path / "report.md"), results, "en")
    leaks = english("pt-BR", shown)
    assert {"What is assumed", "before", "Summary"} < leaks
    assert any(text.startswith("Re-identification (CRS), knowing") for text in leaks)
    assert len(leaks) > 100


@pytest.mark.parametrize("code", [code for code in LANGUAGES if code != "en"])
def test_gettext_reads_the_catalogue_that_is_built_from_the_source(code: str) -> None:
    built = gettext.translation("qifsql", LOCALE, [code.replace("-", "_")])
    for message, forms in translations(catalogue(code)).items():
        if len(message) == 1:
            assert (built.gettext(*message),) == forms
        else:
            assert tuple(built.ngettext(*message, n) for n in (1, 2)) == forms


def english(code: str, shown: Collection[str]) -> set[str]:
    """Return the texts that are, or have within them, the English of a message.

    A pattern is tried on texts that have its longest fixed part alone.
    """
    together = "\0".join(shown)
    found = set()
    for message, translation in translations(catalogue(code)).items():
        for text in message:
            pieces = [(part, name) for part, name, *_ in Formatter().parse(text)]
            fixed = max((part for part, _ in pieces), key=len)
            if text in translation or fixed not in together:
                continue
            pattern = "".join(re.escape(part) + (".+" if name else "") for part, name in pieces)
            compiled = re.compile(pattern, re.DOTALL)
            long = sum(c.isalpha() for part, _ in pieces for c in part) >= LETTERS
            matches = compiled.search if long else compiled.fullmatch
            found |= {other for other in shown if fixed in other and matches(other)}
    return found


def said_in(document: Document, as_stored: Collection[str]) -> Iterator[str]:
    """Everything that a document says, but SQL, what was asked, and columns ``as_stored``."""
    yield from (document.title, document.imprint)
    for section in document.sections:
        yield section.title
        for part in section.parts:
            match part:
                case Heading(text=text) | Paragraph(text=text) | Light(text=text):
                    yield text
                case Fold(title=title):
                    yield title
                case Table(heads=heads, title=title, rows=rows):
                    yield from (title, *heads)
                    columns = [i for i, head in enumerate(heads) if head not in as_stored]
                    yield from (row[i] for row in rows for i in columns)
                case Cards(cards=cards):
                    for card in cards:
                        yield from (card.what, card.amount, card.meaning, card.remark)
                        yield from (card.before[0], card.after[0])
                case Figure(chart=chart):
                    yield from drawn(chart.to_dict())


def drawn(chart: Any, key: str = "") -> Iterator[str]:
    """The texts that are shown in a chart."""
    if isinstance(chart, str):
        yield from [chart] if key in IN_CHARTS else []
    elif isinstance(chart, list):
        for part in chart:
            yield from drawn(part, key)
    elif isinstance(chart, dict):
        for name, part in chart.items():
            yield from drawn(part, name)
