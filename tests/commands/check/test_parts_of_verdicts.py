"""Verdicts, rules and columns taken apart: each function by itself, with values in place."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from policies import policy, rule

from qifsql.adversary.models import model
from qifsql.adversary.spec import Attribute, ColumnRoles
from qifsql.commands.check import check, coverage, rule_levels, view
from qifsql.commands.check.result import READING, SCHEMA, Verdict, refused
from qifsql.commands.check.rule_levels import Comparison
from qifsql.commands.check.spec import _rules
from qifsql.data.dataset import Dataset
from qifsql.errors import InputError
from qifsql.presentation.parts import Bad
from qifsql.results import uncovered as results_uncovered
from qifsql.results.result import Result
from qifsql.results.storage import Origin
from qifsql.study.baseline import Baseline, Place
from qifsql.study.policy import Policy, read
from qifsql.study.rules import Rule
from qifsql.study.shared_attacks import attack_options, shared_attacks

CRS, CAS, IRS, CMS, CRL = map(model, ("crs", "cas", "irs", "cms", "crl"))
COLUMNS = (
    ColumnRoles("age", ("quasi-identifier",)),
    ColumnRoles("day", (), ("quasi-identifier (only as year)",)),
    ColumnRoles("town"),
)
SPEC = {"dataset": "folder/data.csv", "policy": "folder/levels.toml", "baseline": None}
UNCOVERED = {"column": None, "people": 10, "singled_out": 4, "share": 0.4, "added": 3}

Row = dict[str, Any]


def level(**values: object) -> Row:
    """A level of the verdict: the release of one rule, met, unless other values are given."""
    usual = {"rule": 1, "model": "CRS", "qids": ["age"], "measure": "worst_case"}
    usual |= {"value": 0.25, "wanted": "<= 0.5", "met": True, "success": 0.25, "attempt": 1.0}
    return dict.fromkeys(SCHEMA) | usual | values


def verdict(*levels: Row, unnamed: str = "warn", uncovered: Sequence[Row] = ()) -> Verdict:
    origin = Origin("now", 0.0, spec=SPEC | {"unnamed": unnamed}, columns=COLUMNS)
    rest = pl.DataFrame(list(uncovered), schema=results_uncovered.SCHEMA)
    frame = pl.DataFrame(list(levels), schema=SCHEMA)
    return Verdict.of(frame, origin, ("a note",), {"uncovered": rest})


@pytest.mark.parametrize(
    ("found", "met", "broken", "summary"),
    [
        (verdict(level()), True, 0, "met: all of 1 level"),
        (verdict(level(), level(met=False)), False, 1, "not met: 1 of 2 levels"),
        (
            verdict(level(), uncovered=[UNCOVERED]),
            True,
            0,
            "met for the columns named: all of 1 level",
        ),
        (verdict(level(), unnamed="ignore"), True, 0, "met: all of 1 level"),
        (verdict(level(), unnamed="refuse"), False, 0, "not met: 2 columns in no rule"),
        (verdict(level(met=False), unnamed="refuse"), False, 1, "not met: 1 of 1 level"),
    ],
)
def test_a_verdict_is_met_where_all_levels_are_and_no_column_is_refused(
    found: Verdict, met: bool, broken: int, summary: str
) -> None:
    assert (found.met, bool(found), found.broken, found.summary) == (met, met, broken, summary)


def test_only_a_policy_that_refuses_them_refuses_columns() -> None:
    assert refused("refuse", COLUMNS) == ("day", "town")
    assert refused("warn", COLUMNS) == refused("ignore", COLUMNS) == ()
    assert verdict(level(), unnamed="refuse").refused == ("day", "town")
    assert verdict(level()).refused == ()


def test_columns_that_are_covered_in_no_form_are_not_considered() -> None:
    found = verdict(level(), uncovered=[UNCOVERED])
    assert found.not_considered == ("town",)
    assert found.columns == COLUMNS
    assert found.uncovered.to_dicts() == [dict.fromkeys(results_uncovered.SCHEMA) | UNCOVERED]


def test_the_first_letter_of_a_summary_is_large() -> None:
    parts = view.verdict_parts(verdict(level()))
    assert [part.text for part in parts if hasattr(part, "text")][:2] == [
        "folder/data.csv against levels.toml",
        "Met: all of 1 level.",
    ]


def table(*levels: Row) -> tuple[tuple[str, ...], list[int], list[tuple[str, ...]]]:
    shown = view.levels_table(pl.DataFrame(list(levels), schema=SCHEMA))
    return shown.heads, sorted(shown.right), shown.rows


def test_a_table_of_levels_has_the_columns_that_say_something() -> None:
    usual = ("rule", "of", "measure", "value", "required", "met")
    assert table(level(), level(rule=2, value=0.75, met=False)) == (
        usual,
        [0, 3],
        [
            ("1", "CRS", "worst_case", "0.25", "<= 0.5", "yes"),
            ("2", "CRS", "worst_case", "0.75", "<= 0.5", "NO"),
        ],
    )
    assert table(level(attempt=0.5, success=0.5), level(attempt=None, success=None)) == (
        (*usual[:3], "success", "attempt", *usual[3:]),
        [0, 3, 4, 5],
        [
            ("1", "CRS", "worst_case", "0.5", "0.5", "0.25", "<= 0.5", "yes"),
            ("1", "CRS", "worst_case", "", "", "0.25", "<= 0.5", "yes"),
        ],
    )
    assert table(level(low=0.125, high=0.5, baseline=0.75), level()) == (
        (*usual[:4], "between", "baseline", *usual[4:]),
        [0, 3, 5],
        [
            ("1", "CRS", "worst_case", "0.2500", "0.1250 and 0.5000", "0.75", "<= 0.5", "yes"),
            ("1", "CRS", "worst_case", "0.25", "", "", "<= 0.5", "yes"),
        ],
    )
    assert table(level(baseline=0.75, attempt=0.5, wanted="rise <= 0.1"))[:2] == (
        (*usual[:3], "success", "attempt", "value", "baseline", *usual[4:]),
        [0, 3, 4, 5, 6],
    )


def test_a_level_that_is_not_met_is_emphasised() -> None:
    shown = view.levels_table(pl.DataFrame([level(), level(met=False)], schema=SCHEMA))
    assert [isinstance(row[-1], Bad) for row in shown.rows] == [False, True]


@pytest.mark.parametrize(
    ("values", "about"),
    [
        ({}, "CRS"),
        ({"secret": "illness"}, "CRS of illness"),
        ({"by": "region", "group": "North"}, "CRS, region = North"),
        ({"by": "region", "group": None}, "CRS, region = (missing)"),
        ({"model": "synthetic"}, "the release"),
        ({"model": "synthetic", "secret": "illness"}, "illness"),
        ({"secret": "illness", "by": "sex", "group": ""}, "CRS of illness, sex = "),
    ],
)
def test_a_level_is_about_a_model_a_secret_and_a_group(values: Row, about: str) -> None:
    assert view.level_subject(level(**values)) == about


@pytest.mark.parametrize(
    ("values", "shown", "ends"),
    [
        ({}, "0.25", ""),
        ({"value": None}, "nobody", ""),
        ({"value": 2}, "2", ""),
        ({"value": 0.123456789}, "0.123457", ""),
        ({"value": 0.123456789, "low": 0.0, "high": 1}, "0.1235", "0.0000 and 1.0000"),
    ],
)
def test_a_value_is_shown_with_its_interval(values: Row, shown: str, ends: str) -> None:
    row = level(**values)
    assert (view.value_text(row), view.interval_text(row)) == (shown, ends)


def test_bounds_are_listed() -> None:
    assert view.bounds_text("<= 0.2") == "<= 0.2"
    assert view.bounds_text(">= 0.2 and rise <= 0.1") == ">= 0.2 and rise <= 0.1"
    assert (
        view.bounds_text("<= 1 and rise <= 0.1 and fall <= 0") == "<= 1, rise <= 0.1 and fall <= 0"
    )


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({}, "worst_case is 0.25, required <= 0.5"),
        ({"attempt": None}, "worst_case is 0.25, required <= 0.5"),
        (
            {"attempt": 0.5, "success": 0.5, "baseline": 0.0},
            "worst_case is 0.25 (attempt 0.5 times success 0.5) (baseline 0.0), required <= 0.5",
        ),
        (
            {"low": 0.0, "high": 0.5},
            "worst_case is 0.25 (between 0.0 and 0.5), required <= 0.5",
        ),
    ],
)
def test_a_finding_says_what_the_value_is_and_should_be(values: Row, text: str) -> None:
    assert view.finding_text(level(**values)) == text


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ({}, "data.csv against p.toml"),
        ({"where": "age > 1"}, "data.csv (only records that pass the filter) against p.toml"),
        ({"null": "distinct"}, "data.csv against p.toml"),
        (
            {"where": "age > 1", "null": "drop"},
            "data.csv (only records that pass the filter, without records that miss a value) "
            "against p.toml",
        ),
    ],
)
def test_a_heading_says_what_was_checked(spec: Row, text: str) -> None:
    assert view.subject({"dataset": "data.csv", "policy": "folder/p.toml"} | spec) == text


def test_a_comparison_is_explained_where_there_is_one() -> None:
    spec = {"models": ["crs"], "dataset": "r.csv", "original": "o.csv", "control": None}
    spec |= {"qids": ["age"], "secrets": ["illness"]}
    assert view.comparison_text(spec) == []
    assert view.comparison_text(spec | {"models": None}) == []
    without = view.comparison_text(spec | {"models": ["crs", "synthetic"]})
    assert "r.csv is compared with o.csv, without a control" in without[0]
    given = view.comparison_text(spec | {"models": ["synthetic"], "control": "c.csv"})
    assert "r.csv is compared with o.csv, and with c.csv as the control" in given[0]
    assert len(without) == len(given) == 2


def levels_of(folder: Path, *rules: str, **adversary: object) -> Policy:
    return read(policy(folder, *rules, **adversary))


def calls(found: Policy) -> list[tuple[str | None, list[tuple[int, str]]]]:
    return [(by, [(r.number, m.acronym) for r, m in rules]) for by, rules in shared_attacks(found)]


MIXED = (
    rule(model="crs,cas", measure="worst_case"),
    rule(model="cas", measure="worst_case", by="sex"),
    rule(model="irs,cms", measure="worst_case"),
    rule(model="crl", measure="worst_case"),
    rule(model="crs", measure="worst_case", by="age"),
)


def test_models_that_run_together_share_an_attack(tmp_path: Path) -> None:
    known = {"qids": "age", "secret": "illness", "member": "there"}
    assert calls(levels_of(tmp_path, *MIXED, **known)) == [
        ("sex", [(1, "crs"), (1, "cas"), (2, "cas")]),
        ("age", [(5, "crs")]),
        (None, [(3, "irs")]),
        (None, [(3, "cms")]),
        (None, [(4, "crl")]),
    ]


@pytest.mark.parametrize("more", [{"null": "drop"}, {"prior": "prior.csv"}])
def test_models_of_other_goals_run_apart_where_they_use_other_records(
    tmp_path: Path, more: Row
) -> None:
    known = {"qids": "age", "secret": "illness", "member": "there", **more}
    assert calls(levels_of(tmp_path, *MIXED[:2], **known)) == [
        (None, [(1, "crs")]),
        ("sex", [(1, "cas"), (2, "cas")]),
    ]


def test_an_attack_takes_the_options_of_its_models(tmp_path: Path) -> None:
    shared = {"qids": ("age",), "where": "age > 1", "by": "age"}
    secret = {"secret": ("illness",), "prior": "p.csv"}
    known = shared | secret | {"member": "there", "target": {"age": 1}, "by": "sex"}
    known |= {"control": "c.csv", "original": "o.csv", "split": ("age",)}
    levels = levels_of(tmp_path, rule(model="crs", measure="worst_case"))
    found = replace(levels, adversary=known)
    options = {
        models: attack_options(found, models, "age")
        for models in ((CRS,), (CAS,), (CRS, CAS), (CMS,), (IRS,))
    }
    assert options == {
        (CRS,): shared,
        (CAS,): shared | secret,
        (CRS, CAS): shared | secret,
        (CMS,): shared | {"member": "there"},
        (IRS,): shared | {"target": {"age": 1}},
    }
    assert attack_options(found, (IRS,), None)["by"] is None


def judged(found: Policy, rows: list[Row], last: Baseline | None = None) -> list[Row]:
    columns = ("rule", "model", "secret", "value", "success", "attempt", "low", "high")
    levels = rule_levels.levels_of_rows(found, found.rules[0], "crs", rows, last)
    assert all(list(row) == [*SCHEMA, *READING, "of_reported"] for row in levels)
    return [{name: row[name] for name in (*columns, "baseline", "met")} for row in levels]


def test_a_level_has_the_product_of_success_and_attempt(tmp_path: Path) -> None:
    row = {"model": "CRS", "qids": ["age"], "secret": None, "interval": None, "worst_case": 0.5}
    usual = {"rule": 1, "model": "CRS", "secret": None, "low": None, "high": None}
    found = levels_of(tmp_path, rule(model="crs", measure="worst_case", at_most=0.25, attempt=0.5))
    expected = {"value": 0.25, "success": 0.5, "attempt": 0.5, "baseline": None, "met": True}
    assert judged(found, [row]) == [usual | expected]
    found = levels_of(tmp_path, rule(model="crs", measure="k", at_least=3))
    expected |= {"value": 2, "success": None, "attempt": None, "met": False}
    assert judged(found, [row | {"k": 2}]) == [usual | expected]
    expected |= {"value": 4, "low": 3, "high": 5, "met": True}
    assert judged(found, [row | {"k": 4, "interval": (3, 5)}]) == [usual | expected]
    assert not judged(found, [row | {"k": 4, "interval": (2, 5)}])[0]["met"]


def test_a_level_is_compared_with_the_same_place_of_the_last_release(tmp_path: Path) -> None:
    row = {"model": "CRS", "qids": ["b", "a"], "secret": None, "interval": None, "worst_case": 0.5}
    place = Place("CRS", ("a", "b"), None)
    last = Baseline("last.json", (), {place: {"worst_case": 0.375}})
    for bound, met in ((0.125, True), (0.0625, False)):
        found = levels_of(tmp_path, rule(model="crs", measure="worst_case", rise_at_most=bound))
        (shown,) = judged(found, [row], last)
        assert (shown["baseline"], shown["met"]) == (0.375, met)
    half = rule(model="crs", measure="worst_case", rise_at_most=0.0625, attempt=0.5)
    (shown,) = judged(levels_of(tmp_path, half), [row], last)
    assert (shown["value"], shown["baseline"], shown["met"]) == (0.25, 0.1875, True)
    empty = Baseline("last.json", (), {})
    with pytest.raises(InputError, match=r"baseline last.json has no worst_case.* for 1 row of"):
        judged(found, [row], empty)
    plain = levels_of(tmp_path, rule(model="crs", measure="worst_case", at_most=0.5))
    assert judged(plain, [row], empty)[0]["met"]


def test_a_rule_without_secrets_is_about_all_rows(tmp_path: Path) -> None:
    known = {"qids": "age", "secret": ["illness", "work"]}
    rows = [{"secret": name} for name in ("illness", "work")]
    every = levels_of(tmp_path, rule(model="cas", measure="worst_case"), **known)
    assert rule_levels.rows_of_secrets(every, every.rules[0], rows) == rows
    one = rule(model="cas", measure="worst_case", secret="WORK")
    found = levels_of(tmp_path, one, **known)
    assert rule_levels.rows_of_secrets(found, found.rules[0], rows) == rows[1:]
    with pytest.raises(InputError, match='secret "WORK" is not asked for'):
        rule_levels.rows_of_secrets(found, found.rules[0], rows[:1])


def result(frame: list[Row], **more: Any) -> Result:
    groups = more.pop("groups", [])
    spec = {"qids": ["age"], "by": "sex", "dataset": "o.csv", "releases": ["r.csv"], **more}
    origin = Origin("now", 0.0, spec=spec, columns=more.get("columns", ()))
    details = {"groups": pl.DataFrame(groups)}
    return Result(frame=pl.DataFrame(frame), origin=origin, details=details)


def test_values_are_those_of_all_people_or_of_the_groups_of_the_attack() -> None:
    groups = [
        {"attack_id": name, "by": "sex", "group": group, "individuals": n, "gap": gap}
        for name, group, n, gap in (("a", "f", 2, 0.5), ("b", "f", 3, 0.25), ("a", None, 1, 0.0))
    ]
    row = {"attack_id": "a", "model": "CRS", "qids": ["age"], "secret": None, "gap": 1.0}
    found = result([row], groups=groups)
    everybody = Rule(1, (CRS,), "gap", {"at_most": 1})
    no_group = {"by": None, "group": None, "individuals": None}
    assert list(rule_levels._rows_of_groups(everybody, row, found)) == [row | no_group]
    grouped = Rule(1, (CRS,), "gap", {"at_most": 1}, by="sex")
    about = {"model": "CRS", "qids": ["age"], "secret": None}
    assert list(rule_levels._rows_of_groups(grouped, row, found)) == [
        about | groups[0],
        about | groups[2],
    ]


def test_a_measure_without_a_value_cannot_be_judged(tmp_path: Path) -> None:
    levels = levels_of(tmp_path, rule(model="crs", measure="worst_case"))
    row = {"attack_id": "a", "model": "CRS", "qids": ["age"], "secret": None}
    found = result([row | {"worst_case": 0.5}, row | {"model": "CAS", "worst_case": None}])
    (level_found,) = rule_levels.levels_of_rule(levels, levels.rules[0], CRS, found, None)
    assert (level_found["value"], level_found["met"]) == (0.5, True)
    with pytest.raises(InputError, match="worst_case has no value in model cas"):
        rule_levels.levels_of_rule(levels, levels.rules[0], CAS, found, None)


def measured(measure: str, value: float | None, **more: object) -> Row:
    usual = {"file": 1, "secret": None, "measure": measure, "value": value, "people": 5}
    return usual | {"low": None, "high": None} | more


def values(
    measure: str, *rows: Row, by: str | None = None, groups: Sequence[Row] = ()
) -> list[Row]:
    about = Rule(1, (), measure, {"at_most": 1}, by=by)
    found = Comparison(by, (about,), result(list(rows), groups=list(groups)))
    return list(found.rows(about))


def test_the_measures_of_a_release_are_rows_of_the_first_file() -> None:
    usual = {"model": "synthetic", "qids": ["age"], "by": None, "group": None}
    usual |= {"individuals": None, "secret": None, "interval": None, "nobody": False}
    ends = {"low": 0.125, "high": 0.5}
    rows = [
        measured("TCAP", 0.25, **ends),
        measured("TCAP", 0.75, file=2),
        measured("repU", 0.0, people=0),
        measured("repU", 0.5, low=0.25),
        measured("DiSCO", 0.5, high=0.25, secret="t"),
    ]
    assert values("TCAP", *rows) == [usual | ends | {"interval": (0.125, 0.5), "TCAP": 0.25}]
    half = {"low": 0.25, "high": None, "repU": 0.5}
    assert values("repU", *rows) == [
        usual | {"low": None, "high": None, "repU": 0.0, "nobody": True},
        usual | half,
    ]
    assert values("DiSCO", *rows) == [
        usual | {"low": None, "high": 0.25, "DiSCO": 0.5, "secret": "t"}
    ]


def test_a_risk_is_of_nobody_where_nobody_was_tried() -> None:
    tried, risk = measured("linkability", 0.0, people=0), measured("linkability_risk", 0.5)
    assert [row["nobody"] for row in values("linkability_risk", tried, risk)] == [True]
    assert [row["nobody"] for row in values("linkability_risk", risk)] == [False]
    tried["people"] = 1
    assert [row["nobody"] for row in values("linkability_risk", tried, risk)] == [False]


def test_the_measures_of_groups_are_rows_of_their_table() -> None:
    def group(secret: str | None, name: str | None, **more: object) -> Row:
        usual = {"file": 1, "secret": secret, "group": name, "people": 3, "repU": 0.5}
        return usual | {"TCAP": 0.25, "TCAP_low": 0.0, "TCAP_high": 1.0} | more

    groups = [
        group("s", "f"),
        group("t", "f", TCAP=0.75),
        group("s", None),
        group("s", "m", file=2),
    ]
    about = {"model": "synthetic", "qids": ["age"], "by": "sex", "individuals": 3}
    ends = {"low": 0.0, "high": 1.0, "interval": (0.0, 1.0), "nobody": True}
    assert values("TCAP", by="sex", groups=groups) == [
        about | ends | {"secret": secret, "group": name, "TCAP": value}
        for secret, name, value in (("s", "f", 0.25), ("s", None, 0.25), ("t", "f", 0.75))
    ]
    ends = {"low": None, "high": None, "interval": None, "nobody": False}
    assert values("repU", by="sex", groups=groups) == [
        about | ends | {"secret": None, "group": name, "repU": 0.5} for name in ("f", None)
    ]
    nothing = [row | {"secret": None} for row in groups[:1]]
    assert [row["secret"] for row in values("TCAP", by="sex", groups=nothing)] == [None]


def test_a_comparison_has_the_columns_of_the_release_and_its_spec() -> None:
    columns = (
        ColumnRoles("1:age", ("quasi-identifier",)),
        ColumnRoles("2:age"),
        ColumnRoles("2:x"),
    )
    found = Comparison(None, (), result([], columns=columns))
    assert [column.name for column in found.columns] == ["age", "x"]
    assert found.columns[0].roles == ()
    spec = found.origin_spec
    assert (spec["dataset"], spec["original"], spec["models"]) == ("r.csv", "o.csv", ["synthetic"])
    assert "releases" not in spec


@pytest.mark.parametrize(
    ("value", "nobody", "bounds", "by", "says"),
    [
        (0.5, True, {"at_most": 1}, None, None),
        (None, True, {"at_most": 1}, "sex", True),
        (None, True, {"at_least": 0}, None, "only at_most can be judged"),
        (None, True, {"at_most": 1, "at_least": 0}, None, "only at_most can be judged"),
        (None, False, {"at_most": 1}, None, "the control leaves nothing to find out"),
        (None, False, {"at_most": 1}, "sex", "has no value for a group"),
    ],
)
def test_a_share_of_nobody_is_at_most_anything(
    value: float | None, nobody: bool, bounds: Row, by: str | None, says: str | bool | None
) -> None:
    about = Rule(1, (), "TCAP", bounds, by=by)
    row = {"TCAP": value, "nobody": nobody}
    if isinstance(says, str):
        with pytest.raises(InputError, match=says):
            rule_levels.judge_missing_value(about, row)
    else:
        assert rule_levels.judge_missing_value(about, row) is says


def test_rules_about_a_release_share_a_comparison_of_each_column_of_groups(tmp_path: Path) -> None:
    known = {"qids": ["age", "sex"], "secret": "illness", "original": "o.csv"}
    rules = [
        rule(model="crs", measure="worst_case"),
        rule(model="synthetic", measure="repU"),
        rule(model="synthetic", measure="repU", by="sex"),
        rule(model="synthetic", measure="DiSCO", by="age"),
        rule(model="synthetic", measure="linkability"),
    ]
    shared = {"qids": ("age", "sex"), "secret": ("illness",)}

    def found(*numbers: int) -> list[tuple[str | None, list[int], Row]]:
        split = {"split": "age"} if 4 in numbers else {}
        levels = levels_of(tmp_path, *(rules[n] for n in numbers), **known, **split)
        return [
            (by, [r.number for r in rs], opts)
            for by, rs, opts in rule_levels._shared_comparisons(levels)
        ]

    asked = shared | {"split": ("age",), "questions": True}
    plain = shared | {"questions": False}
    assert found(0, 1) == [(None, [2], plain | {"by": None})]
    assert found(1, 4) == [(None, [1, 2], asked | {"by": None})]
    assert found(1, 2, 3, 4) == [
        ("sex", [1, 2, 4], asked | {"by": "sex"}),
        ("age", [3], plain | {"by": "age"}),
    ]


@pytest.mark.parametrize(
    ("type_", "one_file", "reason"),
    [
        ("INTEGER", True, ""),
        ("VARCHAR", False, ""),
        ("INTEGER[]", True, ""),  # what a value may be
        ("INTEGER[]", False, "nested (LIST)"),
        ("MAP(VARCHAR, INTEGER)", True, "nested (MAP)"),
        (None, True, results_uncovered.NAMELESS),
    ],
)
def test_a_column_that_cannot_be_measured_has_a_reason(
    type_: str | None, one_file: bool, reason: str
) -> None:
    attribute = Attribute("x", None, type_) if type_ else None  # type: ignore[arg-type]
    found = coverage._reason_unmeasured(ColumnRoles("x", attribute=attribute), of_one_file=one_file)
    assert found == reason


def test_a_row_of_an_uncovered_column_has_its_numbers_or_its_reason() -> None:
    nothing = dict.fromkeys(results_uncovered.SCHEMA)
    town = {"column": "town", "role": COLUMNS[2].role}
    numbers = {"people": 8, "singled_out": 6, "share": 0.75, "added": 4}
    assert coverage._uncovered_row(None, 8, 6, 2) == nothing | numbers
    assert coverage._uncovered_row(COLUMNS[2], 8, 6, 2) == nothing | town | numbers
    assert coverage._uncovered_row(COLUMNS[2], reason="why") == nothing | town | {"reason": "why"}


def test_rules_of_a_study_are_tables() -> None:
    assert _rules([{"model": "crs"}, {}]) == ({"model": "crs"}, {})
    assert [_rules(content) for content in ([], {}, "rule", [{}, "rule"], None)] == [None] * 5


def test_a_check_has_a_policy_or_a_preset() -> None:
    assert check.policy_file("p.toml", None) == Path("p.toml")
    assert check.policy_file(None, "k5").name == "k5.toml"
    with pytest.raises(InputError, match="both a policy and a preset"):
        check.policy_file("p.toml", "k5")
    with pytest.raises(InputError, match="no policy and no preset"):
        check.policy_file(None, None)


def test_one_release_is_compared(tmp_path: Path) -> None:
    known = {"qids": "age", "original": "o.csv"}
    levels = levels_of(tmp_path, rule(model="synthetic", measure="repU"), **known)
    one, two = (Dataset(name, "parquet", (name,)) for name in ("a", "b"))
    assert rule_levels.release_of(levels, one) is one
    with pytest.raises(InputError, match="rule 1 is about one synthetic release"):
        rule_levels.release_of(levels, [one, two])
