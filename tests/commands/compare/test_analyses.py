"""Pairs of columns and models of a release: against definitions, and statsmodels on records."""

import math
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from qifsql.commands.compare.analyses import before_and_after, fitted_models, pairs, regression
from qifsql.commands.compare.analyses.before_and_after import Request
from qifsql.commands.compare.analyses.model_formulas import parse
from qifsql.commands.compare.analyses.regression import LINEAR, Design, Factor, Group, fit
from qifsql.counting import losses
from qifsql.counting.bind_compared import bind
from qifsql.counting.composition import Composition
from qifsql.engine.engines import open_engine
from qifsql.engine.tables import Tables
from qifsql.errors import InputError, QifError
from qifsql.measures import intervals
from qifsql.reference import pairs_of_columns as reference
from qifsql.reference.pairs_of_columns import Cell

Row = tuple[Any, ...]
WIDE = ((0, 1, "ab"), ("wide",) * 3)  # cells of every column are texts that people read
ROWS = st.tuples(*[st.sampled_from([None, 0, 1, 3])] * 2, st.sampled_from([None, "ab", "ac", "b"]))
FORMS = st.tuples(*[st.sampled_from(["value", "wide", "set", "everything", "empty"])] * 3)


def written(value: Any, form: str) -> str | None:
    """Return a cell in a form that contains a value, as it is written."""
    if value is None or form == "value":
        return None if value is None else str(value)
    wide = "a*" if value in ("ab", "ac") else "b" if value == "b" else "0-1" if value < 2 else "2-9"
    joined = f"{{{value},b}}" if isinstance(value, str) else f"{{{value},3}}"
    return {"wide": wide, "set": joined, "everything": "*", "empty": None}[form]


def read(text: str | None, values: Sequence[Any], lost: bool) -> Cell:
    """Return a cell as the definitions have it; an empty one is ``lost`` if too many are."""
    if text == "*" or (text is None and lost):
        return Cell(text, None)
    contains: dict[str, Callable[[Any], bool]] = {
        "a*": lambda v: v in ("ab", "ac"),
        "0-1": lambda v: v in (0, 1),
        "2-9": lambda v: v == 3,
    }
    members = text.strip("{}").split(",") if text is not None else [None]
    fits = contains.get(text or "", lambda v: (None if v is None else str(v)) in members)
    inside = frozenset(v for v in values if fits(v))
    numbers = [v for v in inside if isinstance(v, int)]
    return Cell(text, inside, Fraction(min(numbers) + max(numbers), 2) if numbers else None)


@settings(max_examples=examples(20))
@given(st.lists(st.tuples(ROWS, FORMS), min_size=1, max_size=8))
def test_pairs_are_those_of_the_definitions(records: list[tuple[Row, Row]]) -> None:
    records = [*records, WIDE]
    original = [row for row, _ in records]
    release = [tuple(map(written, row, forms)) for row, forms in records]
    schema = {"a": pl.Int64, "b": pl.Int64, "c": pl.String}
    rows = analysed(
        pl.DataFrame(original, schema=schema, orient="row"),
        pl.DataFrame(release, schema=list(schema), orient="row"),
        "a,b,c",
    )
    cells: list[list[Cell]] = []
    for column, texts in zip(zip(*original, strict=True), zip(*release, strict=True), strict=True):
        lost = texts.count(None) > column.count(None)
        cells.append([read(text, column, lost) for text in texts])
    for row, (i, j) in zip(rows, [(0, 1), (0, 2), (1, 2)], strict=True):
        values = [(r[i], r[j]) for r in original]
        pairs = list(zip(cells[i], cells[j], strict=True))
        definite = [p for p in pairs if p[0].values is not None and p[1].values is not None]
        assert row["total_variation"] == float(reference.total_variation(values, pairs))
        counts = {pair: Fraction(n) for pair, n in Counter(values).items()}
        agree(row["cramers_v_before"], reference.cramers_v_squared(counts))
        spread = reference.spread(values, definite)
        agree(row["cramers_v_after"], reference.cramers_v_squared(spread))
        assert row["cramers_v_records"] == len(definite)
        numbers = {
            "before": [(Fraction(a), Fraction(b)) for a, b in values if None not in (a, b)]
            if j == 1
            else [],
            "after": [
                (a.number, b.number)
                for a, b in definite
                if a.number is not None and b.number is not None
            ],
        }
        for when, both in numbers.items():
            sign, square = reference.correlation_squared(both) or (1, None)
            agree(row[f"correlation_{when}"], square, sign)
        assert row["correlation_records"] == (len(numbers["after"]) if j == 1 else None)
        is_complete = None not in (row["cramers_v_before"], row["cramers_v_after"])
        if not is_complete:
            assert "has one value" in row["reason"] or "has no value" in row["reason"]


def analysed(
    original: pl.DataFrame, release: pl.DataFrame, qids: str, *formulas: str, secret: str = ""
) -> list[dict[str, Any]]:
    """Return the rows of models, or of pairs without formulas, of a release in CSV."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder, name)) for name in ("original.parquet", "release.csv")]
        original.write_parquet(paths[0])
        release.write_csv(paths[1])
        request = Request.of(has_pairs=not formulas, formulas=formulas)
        spec = Composition.of(
            paths, paths[0], qids=tuple(qids.split(",")), secrets=(secret,) if secret else ()
        )
        with open_engine(None, sources=spec.releases, command="compare", ordered=True) as engine:
            raws, (first, second) = bind(engine, spec)
            tables = Tables(engine, "testing", first.title)
            scales = losses.read_original(tables, raws, first.attack.microdata)
            analyses = before_and_after.prepare(tables, raws, first, request)
            assert analyses is not None
            losses.loss_rows(tables, second, scales)
            analyses.add(tables, second)
        (rows,) = analyses.details.values()
        return rows.to_dicts()


def agree(number: float | None, square: Fraction | None, sign: int = 1) -> None:
    """Check a number against its exact square and its sign."""
    assert (number is None) == (square is None)
    if number is not None and square is not None:
        assert number == pytest.approx(sign * math.sqrt(square), abs=1e-12)


def test_what_is_not_defined_has_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "MOST", 2)
    original = pl.DataFrame({"a": [1, 2, 3], "b": [5, 5, 5], "c": ["x", "y", "y"]})
    rows = analysed(original, original.drop("c"), "a,b,c")
    assert [row["reason"] for row in rows] == [
        'the cells of "a" and "b" contain more than 2 pairs of values together; "b" has one value '
        "in the original; a column has fewer than two numbers in the release, where both are known",
        *['the release has no "c"'] * 2,
    ]
    numbers = {name for name, type_ in pairs.COLUMNS.items() if type_ == pl.Float64}
    assert {row[name] for row in rows for name in numbers} == {None}


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("y ~ a*b + c - 1", [("a",), ("b",), ("a", "b"), ("c",)]),
        ("y ~ b:a + a:b + a", [("b", "a"), ("a",)]),
        ("y ~ `h p w` + Q('x ~ +')", [("h p w",), ("x ~ +",)]),
        ("y ~ -1 + a", [("a",)]),
    ],
)
def test_a_formula_is_its_terms(text: str, terms: list[tuple[str, ...]]) -> None:
    formula = parse(text)
    assert [*formula.terms] == terms
    assert formula.has_intercept == ("1" not in text)


@pytest.mark.parametrize(
    "text",
    [
        "y ~ __import__('os').system('true')",
        *("y ~ exp(a)", "y ~ a ** 2", "y ~ a - b", "y ~ (a + b)", "y ~ a.b()", "y ~ Q(a)"),
        *("", "y", "y ~", "~ a", "y ~ 1", "y ~ a +", "y ~ a b", "y ~ a ~ b", "y ~ y", "y ~ -1"),
        "y ~ a*b*c*d*e",
    ],
)
def test_what_is_no_formula_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse(text)


def test_the_overlap_of_intervals_is_the_mean_share_in_common() -> None:
    assert intervals.overlap((0, 2), (1, 3)) == 0.5  # half of each
    assert (
        intervals.overlap((0, 4), (1, 2)) == (1 / 4 + 1) / 2
    )  # a quarter of one, all of the other
    assert intervals.overlap((0, 1), (2, 3)) == 0
    ends = [(Fraction(-1), Fraction(3, 2)), (Fraction(1, 4), Fraction(5))]
    exact = float(reference.interval_overlap(*ends))
    assert intervals.overlap((-1, 1.5), (0.25, 5)) == pytest.approx(exact)
    assert intervals.overlap((1, 1), (0, 2)) is None


PEOPLE = pl.DataFrame(
    {
        "age": [20, 20, 25, 31, 31, 38, 44, 44, 49, 52, 58, 58, 20, None],
        "home town": ["x'y", "b", "b", "c", "x'y", "b", "c", "b", "x'y", "c", "b", "c", "b", "b"],
        "wage": [1.5, 2.25, 3.0, 3.5, 2.0, 4.75, 5.0, 4.0, 6.5, 6.0, 5.5, 7.25, 2.0, 3.0],
        "ill": [bit == "1" for bit in "01001101011001"],
    }
)
BANDS = pl.concat_str(pl.col("age") // 10 * 10, pl.lit("-"), pl.col("age") // 10 * 10 + 9)
RELEASED = PEOPLE.with_columns(
    pl.when(pl.int_range(pl.len()) == 2).then(pl.lit("*")).otherwise(BANDS).alias("age")
)
MIDDLES = {2: 22.5, 3: 34.5, 4: 46.5, 5: 55.0}  # of the ages that occur in each band


def test_models_are_those_of_statsmodels_on_records() -> None:
    linear, logistic = "wage ~ age*`home town`", "ill ~ age - 1"
    rows = analysed(PEOPLE, RELEASED, "age", linear, logistic)
    names = ["Intercept", "home town[c]", "home town[x'y]", "age", "age:home town[c]"]
    assert [row["coefficient"] for row in rows] == [*names, "age:home town[x'y]", "age"]
    kept = PEOPLE.with_columns(ill=pl.col("ill").cast(pl.Int64)).drop_nulls()
    middles = (pl.col("age") // 10).replace_strict(MIDDLES)
    after = kept.filter(pl.int_range(pl.len()) != 2).with_columns(age=middles)
    files = {"before": kept, "after": after}
    for formula in (linear, logistic):
        own = [row for row in rows if row["formula"] == formula]
        for when, frame in files.items():
            agree_with_statsmodels(own, when, of_records(formula, frame))
            assert {row[f"records_{when}"] for row in own} == {frame.height}
    for row in rows:
        ends = [(row[f"low_{when}"], row[f"high_{when}"]) for when in fitted_models.WHEN]
        assert row["overlap"] == intervals.overlap(*ends)
        step = row["estimate_after"] - row["estimate_before"]
        assert row["standardised_difference"] == step / row["standard_error_before"]


def agree_with_statsmodels(rows: list[dict[str, Any]], when: str, expected: Any) -> None:
    """Check estimates, standard errors and intervals against a fit of statsmodels."""
    ends = [[row[f"low_{when}"], row[f"high_{when}"]] for row in rows]
    assert [row[f"estimate_{when}"] for row in rows] == pytest.approx([*expected.params])
    assert [row[f"standard_error_{when}"] for row in rows] == pytest.approx([*expected.bse])
    for end, interval in zip(ends, expected.conf_int().to_numpy().tolist(), strict=True):
        assert end == pytest.approx(interval)


def of_records(formula: str, frame: pl.DataFrame) -> Any:
    """Return the fit of a model by statsmodels to the records one by one."""
    from statsmodels.formula import api

    text = formula.replace("`home town`", 'Q("home town")')
    if formula.startswith("wage"):
        return api.ols(text, frame.to_pandas()).fit()
    return api.logit(text, frame.to_pandas()).fit(disp=False)


REASONS = {
    "wage ~ sex + street": '"street" has more than 3 values',
    "wage ~ age + same": '"same" has one value',
    "wage ~ age + twice": "linearly dependent (singular)",
    "wage ~ far": "(singular), or nearly, in the original",
    "far ~ wage": "differ too little for their size",
    "wage ~ vast": "are too large, in the original",
    "vast ~ wage": "the numbers of the outcome are too large",
    "twice ~ age": "the predictors give the outcome exactly",
    "wage ~ town*wide": "9 records for 9 coefficients",
    "old ~ age": "predictors separate the outcomes",
    "wage ~ sex": 'the first category of "sex", which others are compared with',
    "wage ~ lost": 'the release has no "lost"',
}


def test_a_model_without_estimates_has_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitted_models, "MOST_CATEGORIES", 3)
    ages = pl.Series([20, 25, 31, 38, 44, 49, 52, 58, 20])
    original = pl.DataFrame({"age": ages, "twice": ages * 2, "old": ages > 40, "lost": ages % 3})
    original = original.with_columns(
        wage=pl.Series([1, 3, 2, 5, 4, 7, 6, 9, 8]),
        far=ages + 10**14,
        vast=ages * 1e300,
        sex=pl.Series([*"fmfmfmfmf"]),
        town=pl.Series([*"abcabcabc"]),
        wide=pl.Series([*"xyzzyxyxz"]),
        street=pl.Series([*"abcdefghi"]),
        same=pl.lit("a"),
    )
    texts = pl.Series(["{f,m}", "m"] * 4 + ["{f,m}"])
    release = original.drop("lost").with_columns(sex=texts)
    rows = {row["formula"]: row for row in analysed(original, release, "sex", *REASONS)}
    for formula, reason in REASONS.items():
        assert reason in rows[formula]["reason"]
        assert rows[formula]["overlap"] is None


def test_each_category_has_its_own_estimate_and_a_label_that_names_one_coefficient() -> None:
    ages = pl.Series([20, 25, 31, 38, 44, 49, 52, 58, 20])
    people = pl.DataFrame({"age": ages, "Intercept": ages % 3, "a:b": ages % 5, "a": ages % 7})
    people = people.with_columns(
        wage=pl.Series([1, 3, 2, 5, 4, 7, 6, 9, 8]), b=pl.Series([*"fmfmfmfmm"]), same=pl.lit("x")
    )
    release = people.with_columns(b=pl.Series(["{f,m}", "m"] * 4 + ["m"]))
    wide = "wage ~ Intercept + `a:b` + a:age"
    by_category, of_same = "wage ~ age:b - 1", "wage ~ age:same - 1"
    rows = analysed(people, release, "b", by_category, of_same, wide)
    reasons = {row["coefficient"]: row["reason"] for row in rows}
    assert reasons["age:b[m]"] is reasons["age:same[x]"] is None
    assert "original has no such category" in reasons["age:b[{f,m}]"]
    assert "release has no such category" in reasons["age:b[f]"]
    assert list(reasons)[-4:] == ["Intercept", "`Intercept`", "`a:b`", "a:age"]


def test_the_size_of_a_predictor_changes_its_unit_alone() -> None:
    design = Design(((1,),), has_intercept=True, categorical=frozenset())
    points = [(1.0, 2.5), (2.0, 3.0), (4.0, 3.5), (7.0, 8.0)]
    small, large = (
        fit(LINEAR, design, [Group((x * unit,), 3, y, 0.5) for x, y in points]).estimates
        for unit in (1.0, 2.0**60)
    )
    slope = (Factor(1, None),)
    assert large[()] == small[()]
    assert large[slope].value * 2.0**60 == small[slope].value
    assert large[slope].error * 2.0**60 == small[slope].error


def test_what_has_no_model_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    people = PEOPLE.rename({"home town": "town"})
    for formula, message in (("town ~ age", "no numbers"), ("wage ~ agee", 'mean "age"')):
        with pytest.raises(QifError, match=message):
            analysed(people, people, "age", formula)
    monkeypatch.setitem(sys.modules, "statsmodels", None)
    with pytest.raises(InputError, match="needs statsmodels"):
        regression.check_installed()
