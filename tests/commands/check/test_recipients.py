"""Recipients of a policy: their risks by the definition, and what is said of them."""

import datetime
import json
import tempfile
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from terminal import run

import qifsql
from qifsql.errors import InputError
from qifsql.reference.quasi_identifier_sets import subsets

QIDS = ("a", "b", "c")
Row = tuple[Any, ...]
RECORDS = st.lists(
    st.tuples(*(st.integers(0, 1) for _ in QIDS), st.integers(0, 2)), min_size=1, max_size=9
)
CHANCES = st.fixed_dictionaries(
    {}, optional={name: st.sampled_from(["0.1", "0.5", "0.9", "1"]) for name in QIDS}
).filter(bool)


def chances_by_person(
    records: Sequence[Row], known: Sequence[int], *, secret: bool
) -> list[Fraction]:
    """Return the chance of the best guess about each person, by the definition."""
    found = []
    for record in records:
        block = [r for r in records if all(r[i] == record[i] for i in known)]
        values = [r[-1] for r in block]
        hits = max(map(values.count, values)) if secret else 1
        found.append(Fraction(hits, len(block)))
    return found


def risks(
    records: Sequence[Row], chances: Mapping[str, str], attempt: Fraction, *, secret: bool
) -> tuple[Fraction, Fraction]:
    """Return the maximum and the average risk by M218."""
    maximum = average = Fraction(0)
    for known in subsets(range(len(QIDS))):
        weight = Fraction(1)
        for i, name in enumerate(QIDS):
            p = Fraction(chances.get(name, "0"))
            weight *= p if i in known else 1 - p
        people = chances_by_person(records, tuple(known), secret=secret)
        maximum += weight * max(people)
        average += weight * sum(people) / len(people)
    return attempt * maximum, attempt * average


@settings(max_examples=examples(40))
@given(RECORDS, CHANCES, st.sampled_from(["0.05", "1"]))
def test_every_risk_is_that_of_the_definition(
    records: list[Row], chances: dict[str, str], attempt: str
) -> None:
    frame = pl.DataFrame(records, schema=[*QIDS, "s"], orient="row")
    recipient = {
        "name": "university",
        "knows": {name: float(p) for name, p in chances.items()},
        "attempt": float(attempt),
        "at_most": {"maximum": 0.3, "average": 0.2},
    }
    policy = {"adversary": {"secret": ["s"]}, "recipient": [recipient]}
    verdict = qifsql.check(frame, policy)
    levels = {(row["model"], row["measure"]): row for row in verdict.rows()}
    greatest = [Fraction(0), Fraction(0)]
    before = []  # averages of who knows nothing, each with that of the recipient
    for model, secret in (("CRS", False), ("CAS", True)):
        right = risks(records, chances, Fraction(attempt), secret=secret)
        for i, (measure, limit) in enumerate((("maximum", 0.3), ("average", 0.2))):
            level = levels[model, measure]
            assert level["value"] == pytest.approx(float(right[i]), abs=1e-12)
            assert level["met"] == (right[i] <= Fraction(str(limit)))
            greatest[i] = max(greatest[i], right[i])
        nothing = risks(records, {}, Fraction(attempt), secret=secret)[1]
        before.append((right[1], float(nothing)))
    (summary,) = verdict.details["recipients"].to_dicts()
    assert summary["maximum"] == pytest.approx(float(greatest[0]), abs=1e-12)
    assert summary["average"] == pytest.approx(float(greatest[1]), abs=1e-12)
    alike = [pytest.approx(nothing) for average, nothing in before if average == greatest[1]]
    assert summary["before"] in alike
    assert summary["met"] == bool(verdict) == all(row["met"] for row in verdict.rows())


@pytest.fixture
def people(tmp_path: Path) -> Path:
    rows = [(g, i % 5, f"s{i % 3}") for g, n in (("x", 4), ("y", 20)) for i in range(n)]
    path = tmp_path / "people.parquet"
    frame = pl.DataFrame(rows, schema=["g", "h", "s"], orient="row")
    frame.with_row_index("id").write_parquet(path)
    known = [("x", "x", 0.8), ("x", "y", 0.2), ("y", "y", 1.0)]
    schema = ["value", "known as", "probability"]
    pl.DataFrame(known, schema=schema, orient="row").write_csv(tmp_path / "g.csv")
    frame.select("g", "h").head(10).write_parquet(tmp_path / "register.parquet")
    return path


UNIVERSITY = """
[adversary]
secret = ["s"]

[[recipient]]
name = "university"
knows = { g = 0.9, h = 1 }
attempt = 0.05
at_most = { maximum = 0.06, average = 0.05 }
until = UNTIL

[[recipient]]
name = "public"
knows = { g = "table=g.csv", h = 0.5 }
holds = ["register.parquet"]
at_most = { maximum = 1 }
"""


def test_a_verdict_has_every_recipient(people: Path) -> None:
    policy = people.with_name("policy.toml")
    policy.write_text(UNIVERSITY.replace("UNTIL", "2999-12-31"))
    out = people.with_name("verdict.json")
    assert run("check", people, "--policy", policy, "-o", out).code == 0
    stored = json.loads(out.read_text())
    assert [row["name"] for row in stored["recipients"]] == ["university", "public"]
    assert all(row["met"] for row in stored["recipients"])
    assert {row["model"] for row in stored["results"]} == {"CRS", "CAS", "link"}
    laws = [row for row in stored["results"] if row["recipient"] == "public"]
    knows = f"g:table={people.with_name('g.csv')}; h:missing=0.5"
    right = qifsql.attack("crs,cas", people, qids="g,h", secret="s", knows=knows)
    exact = right.frame.filter(knows="exact")["worst_case"].to_list()
    assert [row["value"] for row in laws[:2]] == exact  # an upper bound
    link = qifsql.link(people, people.with_name("register.parquet"), qids="g,h").frame
    assert laws[2]["value"] == link["journalist_risk"].item()
    assert any("upper bound" in note for note in stored["notes"])
    page = people.with_name("report.md")
    assert run("report", out, "-o", page).code == 0
    assert "For university, with a chance of 5.00 %" in page.read_text()


def test_an_assessment_that_has_expired_is_not_met(people: Path) -> None:
    policy = people.with_name("policy.toml")
    yesterday = datetime.date.today() - datetime.timedelta(days=1)
    for until, code in ((datetime.date.today(), 0), (yesterday, 4)):
        policy.write_text(UNIVERSITY.replace("UNTIL", until.isoformat()))
        junit, out = people.with_name("verdict.xml"), people.with_name("verdict.parquet")
        done = run("check", people, "--policy", policy, "-o", out, "--junit", junit)
        assert done.code == code
        page = people.with_name("report.md")
        assert run("report", out, "-o", page).code == 0
        assert ("has expired" in page.read_text()) == bool(code)
        assert ("<failure" in junit.read_text()) == bool(code)


def test_the_worse_of_both_readings_of_people_counts(tmp_path: Path) -> None:
    path = tmp_path / "visits.parquet"
    visits = [(1, "x"), (1, "y"), (2, "x"), (3, "x"), (3, "y"), (4, "x")]
    pl.DataFrame(visits, schema=["person", "ward"], orient="row").write_parquet(path)
    recipient = {"name": "public", "knows": {"ward": 1}, "at_most": {"average": 1}}
    policy = {"adversary": {"person": "person"}, "recipient": [recipient]}
    verdict = qifsql.check(path, policy)
    attacked = qifsql.attack("crs", path, qids="ward", person="person").frame
    worse = attacked.sort("posterior_probabilistic").select(
        pl.last("known_records", "posterior_probabilistic")
    )
    assert verdict.frame.select("known_records", "value").row(0) == worse.row(0)
    assert (
        verdict.details["recipients"]["average"].item() == worse["posterior_probabilistic"].item()
    )


def test_a_missing_secret_does_not_protect(tmp_path: Path) -> None:
    frame = tmp_path / "ill.parquet"
    secrets = ["a", None, "b", None]
    pl.DataFrame({"ward": ["x", "x", "y", "y"], "ill": secrets}).write_parquet(frame)
    bound = {"name": "public", "at_most": {"average": 0.6}}
    for chance, average in ((1, 1.0), (0.5, 0.75)):  # of the two who report it
        policy = {
            "adversary": {"secret": ["ill"]},
            "recipient": [bound | {"knows": {"ward": chance}}],
        }
        verdict = qifsql.check(frame, policy)
        inferred = verdict.frame.filter(model="CAS")
        assert inferred["value"].to_list() == [average]
        assert any("reported" in note for note in verdict.notes)
        assert qifsql.verify(verdict).met


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"name": ""}, "has no name"),
        ({"knows": {}}, "knows and holds nothing"),
        ({"knows": {"g": 1.5}}, "probability from 0 to 1"),
        ({"knows": {"g": "often"}}, "is not known"),
        ({"knows": {"town": 1}}, "town"),
        ({"knows": {"g*": 0.5}}, r'"g\*" is not a quasi-identifier'),
        ({"knows": {"G": 0.5}}, 'did you mean "g"'),
        ({"attempt": 0}, "above 0"),
        ({"at_most": {"highest": 0.1}}, "at_most"),
        ({"at_most": None}, "accepted risk"),
        ({"until": "2028"}, "without quotes"),
        ({"holds": ["nowhere.parquet"]}, "nowhere.parquet"),
        ({"stake": "high"}, '"stake"'),
    ],
)
def test_what_is_wrong_of_a_recipient_is_said(
    changed: dict[str, Any], words: str, people: Path
) -> None:
    recipient = {"name": "public", "knows": {"g": 1}, "at_most": {"maximum": 1}} | changed
    recipient = {name: value for name, value in recipient.items() if value is not None}
    with pytest.raises(InputError, match=words):
        qifsql.check(people, {"recipient": [recipient]})


def test_a_register_is_linked_by_expressions_and_in_any_case(tmp_path: Path) -> None:
    """All that it has is used, notes of the link are kept, and columns are measured.

    Of the women in their thirties the register has two.
    """
    release, register = tmp_path / "release.csv", tmp_path / "register.csv"
    release.write_text("sex,age\nf,31\nf,32\nf,33\nm,41\nm,42\n")
    register.write_text("Sex,AGE\nF,34\nf,35\nf,36\n")
    bound = {"name": "public", "holds": [str(register)], "at_most": {"maximum": 0.1}}
    adversary = {"qids": ["sex", "decade=age//10"]}
    verdict = qifsql.check(release, {"adversary": adversary, "recipient": [bound]})
    assert verdict.frame.select("model", "value").rows() == [("link", 0.5)]
    assert verdict.frame["qids"].to_list() == [["sex", "decade"]]
    assert verdict.spec["dataset"] == "release.csv"
    assert verdict.uncovered["reason"].drop_nulls().is_empty()
    assert any("fewer people than the release" in note for note in verdict.notes)
    assert set(qifsql.verify(verdict).frame["verdict"]) == {"not checked"}


def test_a_search_does_not_pass_over_recipients(people: Path) -> None:
    recipient = {"name": "public", "knows": {"g": 1}, "at_most": {"maximum": 1}}
    with pytest.raises(InputError, match="check the release after it"):
        qifsql.compare(people, qids="g,h", policy={"recipient": [recipient]})


def test_releases_are_compared_for_each_recipient(people: Path) -> None:
    release, policy = people.with_name("release.parquet"), people.with_name("policy.toml")
    pl.read_parquet(people).select("h", "s").write_parquet(release)
    policy.write_text(UNIVERSITY.replace("UNTIL", "2999-12-31"))
    result = qifsql.compare(people, release, qids="g,h", secret="s", policy=policy)
    table = result.details["recipients"]
    assert table.select("file", "name").rows() == [
        (1, "university"), (1, "public"), (2, "university"), (2, "public"),
    ]  # fmt: skip
    attacked = qifsql.attack("crs,cas", release, qids="h", secret="s").frame
    university = table.row(2, named=True)  # of the release, which has no g
    assert university["maximum"] == pytest.approx(0.05 * max(attacked["worst_case"]))
    assert university["average"] == pytest.approx(0.05 * max(attacked["posterior_probabilistic"]))
    qifsql.report([result], people.with_name("report.md"))
    assert "Recipients of the policy" in people.with_name("report.md").read_text()
    policy.write_text('[[rule]]\nmodel = "crs"\nmeasure = "k"\nat_least = 3\n')
    with pytest.raises(InputError, match="takes the recipients"):
        qifsql.compare(people, release, qids="g,h", policy=policy)


def test_two_recipients_of_one_name_are_refused(people: Path) -> None:
    recipient = {"name": "public", "knows": {"g": 1}, "at_most": {"maximum": 1}}
    with pytest.raises(InputError, match="two recipients"):
        qifsql.check(people, {"recipient": [recipient, recipient]})


@pytest.mark.parametrize(
    "more",
    [
        '[[rule]]\nmodel = "crs"\nmeasure = "worst_case"\nat_most = 1\n',
        '[[recipient]]\nname = "press"\nknows = { id = 1 }\nat_most = { maximum = 1 }\n',
    ],
)
def test_a_stored_verdict_of_recipients_is_counted_again(more: str, people: Path) -> None:
    """A recipient is counted again by what they know, whatever a rule or another one knows."""
    policy = people.with_name("policy.toml")
    text = UNIVERSITY.replace("UNTIL", "2999-12-31").partition('[[recipient]]\nname = "public"')[0]
    policy.write_text(text + more)
    out = people.with_name("verdict.parquet")
    assert run("check", people, "--policy", policy, "-o", out).code == 0
    checked = qifsql.verify(out)
    assert checked.met
    confirmed = checked.frame.filter(verdict="agrees", column="value")["row"].unique()
    assert confirmed.len() == pl.read_parquet(out).height


EARLIER = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=9, max_size=9)
KNOWN = st.fixed_dictionaries(
    {}, optional={name: st.sampled_from(["0.1", "0.5", "1"]) for name in ("a", "b", "d")}
).filter(bool)


@settings(max_examples=examples(40))
@given(RECORDS, EARLIER, st.sets(st.integers(0, 8), min_size=1, max_size=9), KNOWN)
def test_an_earlier_release_is_joined_by_the_key(
    records: list[Row], before: list[Row], present: set[int], chances: dict[str, str]
) -> None:
    """By the definition: blocks of people alike in all columns of both files that are known.

    ``a`` is in both files, ``b`` in the release alone, ``d`` in the earlier one alone. Who is not
    in the earlier one has missing values there.
    """
    present |= {0}  # who is in both files
    with tempfile.TemporaryDirectory() as folder:
        release = pl.DataFrame(records, schema=[*QIDS, "s"], orient="row").with_row_index("id")
        held = Path(folder) / "earlier.parquet"
        rows = [(i, *before[i]) for i in sorted(present)]
        earlier = pl.DataFrame(rows, schema=["id", "a", "d"], orient="row")
        earlier.with_columns(pl.col("id").cast(pl.UInt32)).write_parquet(held)
        recipient = {
            "name": "university",
            "knows": {name: float(p) for name, p in chances.items()},
            "holds": [str(held)],
            "attempt": 0.5,
            "at_most": {"maximum": 1, "average": 1},
        }
        adversary = {"secret": ["s"], "key": "id"}
        verdict = qifsql.check(release, {"adversary": adversary, "recipient": [recipient]})
    columns = [  # of each person: what both files say
        {"a": (r[0], before[i][0] if i in present else None), "b": (r[1],),
         "d": (before[i][1] if i in present else None,), "s": r[-1]}
        for i, r in enumerate(records)
    ]  # fmt: skip
    for model, secret in (("CRL", False), ("CAL", True)):
        right = [Fraction(0), Fraction(0)]  # the maximum and the average
        for known in subsets(range(3)):
            weight = Fraction(1)
            for i, name in enumerate("abd"):
                p = Fraction(chances.get(name, "0"))
                weight *= p if i in known else 1 - p
            lines = [(*(c["abd"[i]] for i in sorted(known)), c["s"]) for c in columns]
            found = chances_by_person(lines, range(len(known)), secret=secret)
            right[0] += weight * max(found) / 2
            right[1] += weight * sum(found) / len(found) / 2
        levels = verdict.frame.filter(model=model)
        assert levels["measure"].to_list() == ["maximum", "average"]
        assert levels["value"].to_list() == [
            pytest.approx(float(risk), abs=1e-12) for risk in right
        ]
    assert any("is joined with the release" in note for note in verdict.notes)
    assert verdict.spec["dataset"] != "earlier.parquet"


@pytest.fixture
def two_years(tmp_path: Path) -> Path:
    """A release with its policy's earlier one, in which two people have moved."""
    now = [(i, "x" if i < 6 else "y", f"s{i % 2}") for i in range(12)]
    then = [(i, "y" if i in (0, 7) else w, s) for i, w, s in now]
    for name, rows in (("now", now), ("then", then)):
        frame = pl.DataFrame(rows, schema=["id", "ward", "ill"], orient="row")
        frame.write_parquet(tmp_path / f"{name}.parquet")
    return tmp_path / "now.parquet"


def of_press(path: Path, *, holds: str = "then.parquet", **adversary: object) -> dict[str, Any]:
    press = {"name": "press", "knows": {"ward": 1}, "at_most": {"maximum": 0.2}}
    held = {"holds": [str(path.with_name(holds))]}
    return {"adversary": {"secret": "ill", **adversary}, "recipient": [press | held]}


def test_an_earlier_release_without_a_key_is_said_not_to_be_measured(two_years: Path) -> None:
    verdict = qifsql.check(two_years, of_press(two_years))
    assert set(verdict.frame["model"]) == {"CRS", "CAS", "link"}
    assert any("qifsql compose measures it" in note for note in verdict.notes)
    assert any("has id as the release has" in note for note in verdict.notes)
    joined = qifsql.check(two_years, of_press(two_years, key="id"))
    right = qifsql.attack(
        "crl,cal", [two_years, two_years.with_name("then.parquet")], qids="ward", secret="ill",
        key="id",
    )  # fmt: skip
    assert joined.frame["value"].to_list() == right.frame["worst_case"].to_list()
    by_person = qifsql.check(two_years, of_press(two_years, person="id"))
    assert by_person.frame["value"].to_list() == joined.frame["value"].to_list()
    assert not any("not in these numbers" in note for note in joined.notes)
    assert joined.origin.paths[1].endswith("then.parquet")
    assert {row["verdict"] for row in qifsql.verify(joined).rows()} == {"not checked"}


@pytest.mark.parametrize(
    ("adversary", "knows", "words"),
    [
        ({"key": "id"}, {"ward": "right=0.8"}, "a law.* and an earlier release"),
        ({"key": "id"}, {}, "knows nothing of a person"),
        ({"key": "id", "person": "ward"}, {"ill": 1}, "name two columns"),
        ({"person": "ward", "secret": []}, {"ill": 1}, "with several"),
        ({"key": "id", "household": "ward"}, {"ill": 1}, "does not take household"),
    ],
)
def test_what_is_not_measured_with_an_earlier_release_is_refused(
    adversary: dict[str, Any], knows: dict[str, Any], words: str, two_years: Path
) -> None:
    policy = of_press(two_years, **{"secret": [], **adversary})
    policy["recipient"][0]["knows"] = knows
    policy["adversary"] = {n: v for n, v in policy["adversary"].items() if v}
    with pytest.raises(InputError, match=words):
        qifsql.check(two_years, policy)


@pytest.mark.parametrize(
    ("preset", "own", "attempt", "limits"),
    [
        ("public", {}, 1, {"maximum": 0.05}),
        ("internal", {}, 0.6, {"maximum": 0.2, "average": 0.05}),
        ("contract", {}, 0.4, {"maximum": 0.4 / 3, "average": 0.05}),
        ("safe room", {}, 0.2, {"maximum": 0.2 / 3, "average": 0.05}),
        ("safe room", {"attempt": 0.1}, 0.1, {"maximum": 0.1 / 3, "average": 0.05}),
        ("contract", {"at_most": {"average": 0.1}}, 0.4, {"maximum": 0.4 / 3, "average": 0.1}),
    ],
)
def test_a_preset_has_the_values_of_its_text(
    preset: str, own: dict[str, Any], attempt: float, limits: dict[str, float]
) -> None:
    """By the guidelines of the IPC of Ontario (2016), steps 3 to 5; own keys replace the values.

    Classes of three have a success of one in three, which is accepted for each chance.
    """
    frame = pl.DataFrame({"ward": ["x"] * 3 + ["y"] * 60})
    recipient = {"name": "press", "preset": preset, "knows": {"ward": 1}, **own}
    verdict = qifsql.check(frame, {"recipient": [recipient]})
    (described,) = verdict.spec["recipients"]
    assert described["attempt"] == attempt
    assert described["at_most"] == pytest.approx(limits)
    assert bool(verdict) == (preset != "public")
    taken = {"attempt", *limits} - {*own, *own.get("at_most", ())}
    assert described["preset"]["places"].keys() == taken
    told = " ".join(str(verdict).split())
    for place in described["preset"]["places"].values():
        assert place in told
    assert "De-identification Guidelines for Structured Data, June 2016" in told
    assert ("a deliberate attempt" in told) == ("attempt" in taken and preset != "public")
    assert "The text says neither what is known and held, nor until when." in told


@pytest.mark.parametrize(
    ("preset", "words"),
    [("contracts", 'did you mean "contract"'), (3, '"public", "internal", "contract"')],
)
def test_an_unknown_preset_is_refused(preset: object, words: str) -> None:
    recipient = {"name": "press", "preset": preset, "knows": {"ward": 1}}
    with pytest.raises(InputError, match=words):
        qifsql.check(pl.DataFrame({"ward": ["x"]}), {"recipient": [recipient]})
