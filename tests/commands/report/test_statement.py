"""Statements: complete, without a cell, about one recipient if asked, and checked against files."""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest
from terminal import run

import qifsql
from qifsql.commands.report.statement import FIGURES
from qifsql.errors import InputError, OutputError
from qifsql.presentation.language import said, speaking
from qifsql.study.recipients import sql_of

pytestmark = pytest.mark.xdist_group("statement")  # they share one check

MARK = "CANARY"  # is in every text of a cell
POLICY = """
[adversary]
qids = ["sex", "town", "capital=town='CANARYt0'"]
secret = ["illness"]
key = "number"

[[rule]]
model = "crs"
measure = "singled_out"
at_most = 1000

[[recipient]]
name = "university"
knows = { sex = 1, town = 0.5 }
preset = "contract"
attempt = 0.05
at_most = { maximum = 0.05, average = 0.05 }
until = 2999-12-31

[[recipient]]
name = "everybody else"
knows = { town = "table=towns.csv" }
holds = ["register.parquet"]
at_most = { maximum = 0.01 }

[[recipient]]
name = "the press"
preset = "public"
knows = { capital = 1, "a|*b<" = 0.5 }
holds = ["then.parquet", "register.parquet"]

[statement]
purpose = "Research on schools"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release and what a recipient holds, whose cells are canaries, and a stored check."""
    place = tmp_path_factory.mktemp("secretfolder")
    rows = [(f"{MARK}{i % 2}", f"{MARK}t{i * i % 5}", f"{MARK}ill{i % 3}") for i in range(90)]
    people = pl.DataFrame(rows, schema=["sex", "town", "illness"], orient="row")
    people = people.with_columns(pl.col("town").alias("a|*b<"))
    numbered = people.with_row_index("number")
    numbered.write_parquet(place / "people.parquet")
    numbered.select("number", "sex", "a|*b<").head(70).write_parquet(place / "then.parquet")
    people.select("sex", "town").head(40).write_parquet(place / "register.parquet")
    towns = [f"{MARK}t{i}" for i in (0, 1, 4)]
    known = pl.DataFrame({"value": towns, "known as": towns, "probability": [1.0] * 3})
    known.write_csv(place / "towns.csv")
    (place / "policy.toml").write_text(POLICY)
    checked = ("check", place / "people.parquet", "--policy", place / "policy.toml", "--quiet")
    assert run(*checked, "-o", place / "check.json").code == 4
    return place


def plain(text: str) -> str:
    """Return Markdown without the backslashes of its escapes."""
    return re.sub(r"\\(.)", r"\1", text)


@pytest.mark.parametrize("language", ["en", "pt-BR"])
def test_a_statement_has_all_its_parts_and_no_cell(
    folder: Path, tmp_path: Path, language: str
) -> None:
    for ending in ("md", "html"):
        out = tmp_path / f"statement.{ending}"
        asked = ("report", folder / "check.json", "--statement", "--lang", language, "-o", out)
        assert run(*asked).code == 0
    files = {path.name: path.read_text("utf-8") for path in tmp_path.iterdir()}
    assert {name for name, text in files.items() if MARK in text or "secretfolder" in text} == set()
    text = plain(files["statement.md"])
    with speaking(language):
        heads = [said("decision"), said("signature"), said("valid until"), said("date")]
        cells = [said(cell) for row in FIGURES for cell in row]
    digest = json.loads(files["statement.md.manifest.json"])["spec"]["statement"]["inputs"][0][1]
    told = ("Research on schools", "register.parquet", "towns.csv", "2999-12-31", digest)
    told += ("then.parquet", "De-identification Guidelines for Structured Data, June 2016")
    for part in (*told, qifsql.__version__, *heads, *cells):
        assert part in text
    assert files["statement.html"].count('<td class="blank">') == 5  # no decision in the policy


def test_a_statement_about_one_recipient_does_not_name_another(
    folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "statement.md"
    asked = ("report", folder / "check.json", "--statement", "--recipient", "university")
    assert run(*asked, "-o", out).code == 0
    text = out.read_text("utf-8")
    assert "For university the accepted risk is met." in text
    note = (tmp_path / "statement.md.manifest.json").read_text("utf-8")
    for name in ("everybody else", "the press", "register.parquet", "towns.csv", "then.parquet"):
        assert name not in plain(text + note)


def test_the_sql_of_a_statement_is_that_of_its_recipient(folder: Path, tmp_path: Path) -> None:
    """Statements that ran for others are left out; rules and columns are about everybody."""
    marked = json.loads((folder / "check.json.manifest.json").read_text("utf-8"))["sql"]
    assert sql_of(0, marked) in marked  # no recipient has the number 0: that of rules alone
    files = {
        1: set(),
        2: {"register.parquet", "towns.csv"},
        3: {"register.parquet", "then.parquet"},
    }
    for number, names in files.items():
        sql = sql_of(number, marked)
        assert {n for n in ("register.parquet", "towns.csv", "then.parquet") if n in sql} == names
        assert sql.startswith(sql_of(0, marked))
    out = tmp_path / "statement.md"
    asked = ("report", folder / "check.json", "--statement", "--recipient", "the press")
    assert run(*asked, "-o", out).code == 0
    assert "then.parquet" in out.read_text("utf-8")
    assert "towns.csv" not in out.read_text("utf-8")


def checked(folder: Path, statement: Path, data: Path | None = None) -> qifsql.Verdict:
    return qifsql.check(
        data or folder / "people.parquet", folder / "policy.toml", statement=statement
    )


def test_a_check_says_whether_a_statement_still_holds(folder: Path, tmp_path: Path) -> None:
    statement = tmp_path / "statement.md"
    asked = ("report", folder / "check.json", "--statement", "--recipient", "university")
    assert run(*asked, "-o", statement).code == 0
    verdict = checked(folder, statement)
    assert (verdict.changed, verdict.expired) == ((), ())
    shorter = tmp_path / "people.parquet"
    pl.read_parquet(folder / "people.parquet").head(80).write_parquet(shorter)
    lenient = qifsql.check(
        shorter,
        {"recipient": [{"name": "all", "knows": {"sex": 1}, "at_most": {"maximum": 1}}]},
        statement=statement,
    )
    assert lenient.frame["met"].all()
    assert not lenient
    assert "people.parquet" in lenient.changed
    assert "changed since the statement was written: people.parquet" in lenient.summary
    note = statement.with_name("statement.md.manifest.json")
    note.write_text(note.read_text().replace("2999-12-31", "2001-12-31"))
    assert checked(folder, statement).expired == ("university",)
    done = run("check", folder / "people.parquet", "--policy", folder / "policy.toml",
        "--statement", statement, "--format", "table")  # fmt: skip
    assert done.code == 4
    assert "The statement has expired for university" in " ".join(done.out.split())


@pytest.mark.parametrize("ending", ["md", "html"])
def test_an_edited_statement_is_noticed(folder: Path, tmp_path: Path, ending: str) -> None:
    """Lines to be filled in may be filled in; all other text is covered, and line ends are not."""
    statement = tmp_path / f"statement.{ending}"
    assert run("report", folder / "check.json", "--statement", "-o", statement).code == 0
    text = statement.read_text("utf-8")
    blank, filled = {
        "md": ("| decision |  |", "| decision | Release it \\| at once |"),
        "html": ('<td class="blank"></td>', '<td class="blank">A. Silva</td>'),
    }[ending]
    assert blank in text
    edits = {
        text.replace(blank, filled, 1): (),
        text.replace("\n", "\r\n"): (),
        text.replace("Research on schools", "Research on roads"): (statement.name,),
        text.replace("5.00 %", "0.50 %"): (statement.name,),
        text.replace(blank, f"{filled}<td>more</td>\nmore", 1): (statement.name,),
    }
    assert len(edits) == 5
    for edited, changed in edits.items():
        statement.write_bytes(edited.encode())
        assert checked(folder, statement).changed == changed
    statement.unlink()
    with pytest.raises(InputError, match="cannot be read"):
        checked(folder, statement)


def test_what_is_appended_to_a_printed_statement_is_a_signature(
    folder: Path, tmp_path: Path
) -> None:
    statement, note = tmp_path / "statement.pdf", tmp_path / "statement.pdf.manifest.json"
    content = b"%PDF-1.7 the statement"
    text = {"length": len(content), "blank": [], "sha256": hashlib.sha256(content).hexdigest()}
    about = {"inputs": [], "recipients": {}, "text": text}
    note.write_text(json.dumps({"spec": {"statement": about}}))
    for written, changed in ((content, ()), (content + b" signed", ()), (b"x", (statement.name,))):
        statement.write_bytes(written)
        assert checked(folder, statement).changed == changed


def test_an_assessment_that_ended_is_not_stated_as_met(folder: Path, tmp_path: Path) -> None:
    """The check was made before its last day, the statement after it."""
    stored = tmp_path / "check.json"
    stored.write_text((folder / "check.json").read_text().replace("2999-12-31", "2001-12-31"))
    note = folder / "check.json.manifest.json"
    stored.with_name("check.json.manifest.json").write_text(note.read_text())
    out = tmp_path / "statement.md"
    assert run("report", stored, "--statement", "-o", out).code == 0
    text = out.read_text("utf-8")
    assert "For university the assessment has expired." in text
    assert "For university the accepted risk is met." not in text


def test_a_statement_needs_one_check_of_recipients(folder: Path, tmp_path: Path) -> None:
    attack = tmp_path / "attack.json"
    result = qifsql.attack("crs", folder / "people.parquet", qids="sex")
    result.save(attack)
    one, out = folder / "check.json", tmp_path / "out.md"
    with pytest.raises(InputError, match="one check of a policy with recipients"):
        qifsql.report(attack, out, statement=True)
    with pytest.raises(InputError, match="name one of check, check-2"):
        qifsql.report([one, one], out, statement=True)
    with pytest.raises(InputError, match='no recipient "nobody"; it has "university"'):
        qifsql.report(one, out, statement=True, recipient="nobody")
    with pytest.raises(OutputError, match=r"must end in one of \.html, \.pdf, \.md"):
        qifsql.report(one, tmp_path / "out.csv", statement=True)
    document = qifsql.report([one, attack], out, statement=True)
    assert "Before and after the release" in out.read_text()
    assert document.title == "Statement on the release of people.parquet"


@pytest.mark.parametrize(
    "note", [None, "{}", "[]", "x", '{"spec": {"statement": {"inputs": [1], "recipients": {}}}}']
)
def test_what_is_no_statement_is_refused(folder: Path, tmp_path: Path, note: str | None) -> None:
    statement = tmp_path / "statement.html"
    statement.write_text("")
    if note is not None:
        statement.with_name("statement.html.manifest.json").write_text(note)
    with pytest.raises(InputError, match=r"no manifest|not the manifest of a statement"):
        checked(folder, statement)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"statement": "x"}, "is a table"),
        ({"statement": {"purpos": "x"}}, 'no "purpos"; did you mean "purpose"'),
        ({"statement": {"by": 3}}, "by is a text"),
        ({"statement": {"date": "2026-11-29"}}, "date is a day without quotes"),
    ],
)
def test_what_is_wrong_of_a_statement_is_said(
    folder: Path, table: Mapping[str, object], message: str
) -> None:
    recipient = {"name": "all", "knows": {"sex": 1}, "at_most": {"maximum": 1}}
    with pytest.raises(InputError, match=message):
        qifsql.check(folder / "people.parquet", {"recipient": [recipient], **table})


@pytest.mark.parametrize(("where", "people"), [("age < 50", 50), ("age < 3", 3)])
def test_a_statement_is_about_the_people_of_a_filter_unless_these_are_few(
    tmp_path: Path, where: str, people: int
) -> None:
    data = tmp_path / "people.parquet"
    ages = pl.DataFrame({"age": range(60), "sex": [i % 2 for i in range(60)], "job": ["x"] * 60})
    ages.write_parquet(data)
    recipient = {"name": "press", "knows": {"sex": 1}, "at_most": {"maximum": 1}}
    policy = {"adversary": {"where": where}, "recipient": [recipient]}
    verdict = qifsql.check(data, policy)
    out = tmp_path / "statement.md"
    if people < 10:
        with pytest.raises(InputError, match="has to tell of many people"):
            qifsql.report([verdict], out, statement=True)
        return
    qifsql.report([verdict], out, statement=True)
    text = plain(out.read_text())
    assert f"| people | {people} |" in text
    assert "It holds for the columns named; 2 columns were not considered" in text
    assert "- 2 columns of people.parquet are not considered" in text
