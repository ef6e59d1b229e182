"""The oracle against worked examples of the sources, and against laws that always hold."""

import math
from decimal import Decimal
from fractions import Fraction as F
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import NAMES, VALUES, Table, tables, to_arrow, weights

from qifsql.reference import success
from qifsql.reference.microdata import order_key, partition, value
from qifsql.reference.success import attack, profile, records


def table(names: str, text: str) -> list[dict[str, Any]]:
    """Rows from text, "-" for missing."""
    return [
        {n: None if v == "-" else v for n, v in zip(names.split(), line.split(), strict=True)}
        for line in text.strip().splitlines()
    ]


def histogram(rows: list[dict[str, Any]], qids: list[str], secret: str | None = None) -> list[int]:
    """Return the records in each bin of success in percent."""
    return success.histogram([record["success"] for record in records(rows, qids, secret)])


def numbers(result: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
    """Prior, posterior and degradation of both kinds."""
    parts = ("prior", "posterior", "degradation")
    kinds = ("deterministic", "probabilistic")
    return {kind: tuple(result[f"{part}_{kind}"] for part in parts) for kind in kinds}


# Thesis Table 3.2 (Example 12).
THESIS = table(
    "id age gender occupation illness",
    """
    1 25 F 1 no
    2 25 F 1 yes
    3 25 F 3 yes
    4 25 M 2 yes
    5 25 M 2 no
    6 49 F 3 yes
    7 49 F 3 yes
    8 49 F 5 no
    9 49 M 4 no
    10 60 M 4 no
    """,
)

# PoPETs Table 3c, its quasi-identifiers and disability.
POPETS = table(
    "gender_1 grade_1 grade_2 disability",
    """
    F A B no
    F A A yes
    F C C yes
    M B B yes
    M B B no
    F C D yes
    F C C yes
    F E E no
    M D D no
    M D - no
    """,
)
POPETS_QIDS = ["gender_1", "grade_1", "grade_2"]


def test_thesis_example_15_partition() -> None:
    blocks = partition(THESIS, ["gender", "illness"])
    assert {key: [i + 1 for i in block] for key, block in blocks.items()} == {
        ("F", "yes"): [2, 3, 6, 7],
        ("F", "no"): [1, 8],
        ("M", "yes"): [4],
        ("M", "no"): [5, 9, 10],
    }


def test_thesis_example_47_individual_re_identification() -> None:
    alex = attack(THESIS, ["gender", "age"], target={"gender": "M", "age": "60"})
    bia = attack(THESIS, ["gender", "occupation"], target={"gender": "F", "occupation": "1"})
    assert numbers(alex) == {"deterministic": (0, 1, 1), "probabilistic": (F(1, 10), 1, 10)}
    assert numbers(bia) == {"deterministic": (0, 0, 0), "probabilistic": (F(1, 10), F(1, 2), 5)}
    assert (alex["matches"], alex["singled_out"], alex["individuals_certain"]) == (1, 1, 1)
    assert (bia["matches"], bia["singled_out"], bia["individuals_certain"]) == (2, 0, 0)
    assert bia["best_guess"] is None


def test_thesis_example_48_collective_re_identification() -> None:
    result = attack(THESIS, ["age"])
    assert numbers(result) == {
        "deterministic": (0, F(1, 10), F(1, 10)),
        "probabilistic": (F(1, 10), F(3, 10), 3),
    }
    assert (result["records"], result["blocks"], result["singled_out"]) == (10, 3, 1)
    assert (result["worst_case"], result["individuals_certain"]) == (1, 1)
    assert result["leakage_additive"] == F(1, 5)
    assert result["min_entropy_leakage"] == math.log2(3)
    assert [r["success"] for r in records(THESIS, ["age"])] == [F(1, 5)] * 5 + [F(1, 4)] * 4 + [1]
    assert {b: n for b, n in enumerate(histogram(THESIS, ["age"])) if n} == {20: 5, 25: 4, 100: 1}


def test_thesis_example_49_individual_attribute_inference() -> None:
    caio = {"gender": "M", "occupation": "4"}
    dora = {"gender": "F", "age": "49"}
    found = attack(THESIS, list(caio), "illness", target=caio)
    assert numbers(found) == {"deterministic": (0, 1, 1), "probabilistic": (F(1, 2), 1, 2)}
    assert (found["matches"], found["individuals_certain"], found["best_guess"]) == (2, 2, "no")
    found = attack(THESIS, list(dora), "illness", target=dora)
    assert numbers(found) == {
        "deterministic": (0, 0, 0),
        "probabilistic": (F(1, 2), F(2, 3), F(4, 3)),
    }
    assert (found["matches"], found["worst_case"], found["best_guess"]) == (3, F(2, 3), "yes")


def test_thesis_example_50_collective_attribute_inference() -> None:
    result = attack(THESIS, ["age"], "illness")
    assert numbers(result) == {
        "deterministic": (0, F(1, 10), F(1, 10)),
        "probabilistic": (F(1, 2), F(3, 5), F(6, 5)),
    }
    assert profile(THESIS, ["age"], "illness") == {(5, 3, 2): 1, (4, 2, 2): 1, (1, 1, 1): 1}
    ages = {"25": "yes", "49": "no", "60": "no"}  # 49 is a tie: the smaller
    assert [r["best_guess"] for r in records(THESIS, ["age"], "illness")] == [
        ages[row["age"]] for row in THESIS
    ]


def test_popets_tables_4_and_10_with_a_missing_value() -> None:
    assert numbers(attack(POPETS, POPETS_QIDS, "disability")) == {
        "deterministic": (0, F(4, 5), F(4, 5)),
        "probabilistic": (F(1, 2), F(9, 10), F(9, 5)),
    }
    assert numbers(attack(POPETS, POPETS_QIDS)) == {
        "deterministic": (0, F(3, 5), F(3, 5)),
        "probabilistic": (F(1, 10), F(4, 5), 8),
    }


def test_weights_by_hand() -> None:
    rows = table("q s", "a x\na y\na y\nb x\nb y\nc x")
    given = [3, 1, 1, 2, 0, 0]  # a: x 3, y 2; b: x alone has weight; c: nobody has; W = 7
    inference, identity = attack(rows, ["q"], "s", given), attack(rows, ["q"], None, given)
    assert numbers(inference) == {
        "deterministic": (0, F(2, 7), F(2, 7)),
        "probabilistic": (F(5, 7), F(5, 7), 1),
    }
    assert numbers(identity) == {
        "deterministic": (0, F(2, 7), F(2, 7)),
        "probabilistic": (F(3, 7), F(5, 7), F(5, 3)),
    }
    assert (identity["records"], identity["blocks"], identity["singled_out"]) == (4, 2, 1)
    seen = records(rows, ["q"], "s", given)
    assert [r["block_size"] for r in seen] == [3, 3, 3, 1, 1, 0]
    assert [r["success"] for r in seen] == [F(3, 5)] * 3 + [1, 1, None]
    assert [r["singled_out"] for r in seen] == [False, False, False, True, False, False]
    with pytest.raises(LookupError):
        attack(rows, ["q"], "s", given, {"q": "c"})


def test_one_record_has_nothing_left_to_lose() -> None:
    only = {"deterministic": (1, 1, 0), "probabilistic": (1, 1, 1)}
    assert numbers(attack([{"q": 1, "s": 2}], ["q"])) == only
    assert numbers(attack([{"q": 1, "s": 2}], ["q"], "s")) == only


def test_missing_values_are_one_value_and_sort_last() -> None:
    rows: list[dict[str, object]] = [
        {"q": None, "s": None},
        {"q": float("nan"), "s": 1.0},
        {"q": float("nan"), "s": 0.0},
    ]
    assert list(partition(rows, ["q"]).values()) == [[0, 1, 2]]
    assert attack(rows, ["q"], "s", target={"q": float("nan")})["best_guess"] == 0.0
    assert str(value(-0.0)) == "0.0"
    assert sorted(["b", None, "\uffee", "\U0001f642", "B", ""], key=order_key) == [
        *("", "B", "b", "\uffee", "\U0001f642", None),
    ]


def test_histogram_rounds_half_to_even() -> None:
    assert histogram([{"q": 0}] * 8, ["q"])[12] == 8
    assert histogram([{"q": 0}] * 40, ["q"])[2] == 40
    assert histogram([{"q": 0}] * 200, ["q"])[0] == 200
    assert histogram([{"q": 0, "s": i % 3} for i in range(8)], ["q"], "s")[38] == 8  # 3/8


@pytest.mark.parametrize(
    "given_weights",
    [[], [1, 2], [0], [-1], [None], [math.nan], [math.inf], [Decimal("nan")], [Decimal("inf")]],
)
def test_weights_that_are_no_prior_are_refused(given_weights: list[Any]) -> None:
    with pytest.raises(ValueError, match="weight"):
        attack([{"q": 1}], ["q"], weights=given_weights)


def test_attacks_without_meaning_are_refused() -> None:
    with pytest.raises(ValueError, match="weight"):
        attack([], ["q"])
    with pytest.raises(ValueError, match="secret"):
        attack([{"q": 1}], ["q"], "q")
    with pytest.raises(ValueError, match="target"):
        attack([{"q": 1}], ["q"], target={})
    with pytest.raises(LookupError):
        attack([{"q": 1}], ["q"], target={"q": 2})


@st.composite
def attacks(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[str], str | None, Any]:
    """The arguments of an attack: rows, quasi-identifiers, secret, weights."""
    drawn = draw(tables())
    secret = draw(st.sampled_from([None, *drawn.secrets]))
    return drawn.rows, drawn.qids, secret, draw(st.none() | weights(len(drawn.rows)))


Attack = tuple[list[dict[str, Any]], list[str], str | None, Any]


@given(attacks())
def test_prior_posterior_worst_case_and_one_are_in_order(drawn: Attack) -> None:
    r = attack(*drawn)
    assert 0 <= r["prior_deterministic"] <= r["posterior_deterministic"] <= 1
    assert 0 < r["prior_probabilistic"] <= r["posterior_probabilistic"] <= r["worst_case"] <= 1
    assert r["posterior_deterministic"] <= r["posterior_probabilistic"]


@given(attacks())
def test_more_quasi_identifiers_never_lower_success(drawn: Attack) -> None:
    rows, qids, secret, given_weights = drawn
    chain = [attack(rows, qids[:n], secret, given_weights) for n in range(len(qids) + 1)]
    for coarse, fine in pairwise(chain):
        for number in (
            "posterior_deterministic",
            "posterior_probabilistic",
            "worst_case",
            "blocks",
        ):
            assert coarse[number] <= fine[number]
    assert chain[0]["posterior_probabilistic"] == chain[0]["prior_probabilistic"]
    assert chain[0]["posterior_deterministic"] == chain[0]["prior_deterministic"]


@given(tables())
def test_unweighted_success_follows_from_counting_blocks(drawn: Table) -> None:
    rows, qids, n = drawn.rows, drawn.qids, len(drawn.rows)
    identity = attack(rows, qids)
    assert identity["degradation_probabilistic"] == identity["blocks"] == len(partition(rows, qids))
    assert identity["posterior_deterministic"] == F(identity["singled_out"], n)
    for secret in drawn.secrets:
        found, cells = attack(rows, qids, secret), profile(rows, qids, secret).items()
        assert found["posterior_probabilistic"] == F(sum(m * b for (_, m, _), b in cells), n)
        certain = sum(size * b for (size, _, values), b in cells if values == 1)
        assert found["individuals_certain"] == certain
        assert found["posterior_deterministic"] == F(certain, n)


@given(tables())
def test_every_individual_is_counted_once(drawn: Table) -> None:
    rows, qids, n = drawn.rows, drawn.qids, len(drawn.rows)
    assert sum(histogram(rows, qids)) == n
    assert sum(F(1, r["block_size"]) for r in records(rows, qids)) == len(partition(rows, qids))
    for secret in drawn.secrets:
        assert sum(histogram(rows, qids, secret)) == n
        assert sum(size * b for (size, _, _), b in profile(rows, qids, secret).items()) == n


@given(tables())
def test_blocks_are_the_records_alike_in_each_quasi_identifier(drawn: Table) -> None:
    blocks = {i: block for block in partition(drawn.rows, drawn.qids).values() for i in block}
    for i, x in enumerate(drawn.rows):
        alike = [
            j
            for j, y in enumerate(drawn.rows)
            if all((_missing(x[q]) and _missing(y[q])) or x[q] == y[q] for q in drawn.qids)
        ]
        assert blocks[i] == alike


def _missing(v: object) -> bool:
    """Return whether a cell is NULL or NaN."""
    return v is None or (isinstance(v, float) and math.isnan(v))


@given(attacks(), st.randoms())
def test_the_order_of_the_rows_is_irrelevant(drawn: Attack, random: Any) -> None:
    rows, qids, secret, given_weights = drawn
    order = random.sample(range(len(rows)), len(rows))
    mixed = given_weights and [given_weights[i] for i in order]
    shuffled = [rows[i] for i in order]
    assert attack(shuffled, qids, secret, mixed) == attack(*drawn)
    in_order = records(*drawn)
    assert records(shuffled, qids, secret, mixed) == [in_order[i] for i in order]


@given(tables(), st.sampled_from([1, 3, 0.1, Decimal("0.25"), F(1, 3)]))
def test_equal_weights_are_no_weights(drawn: Table, weight: Any) -> None:
    for secret in (None, *drawn.secrets):
        given_weights = [weight] * len(drawn.rows)
        assert attack(drawn.rows, drawn.qids, secret, given_weights) == attack(
            drawn.rows, drawn.qids, secret
        )


@given(attacks())
def test_records_of_weight_zero_might_as_well_be_absent(drawn: Attack) -> None:
    rows, qids, secret, given_weights = drawn
    present = [i for i, w in enumerate(given_weights or [1] * len(rows)) if w]
    fewer = attack(
        [rows[i] for i in present],
        qids,
        secret,
        given_weights and [given_weights[i] for i in present],
    )
    assert fewer == attack(*drawn)


@given(tables(), st.data())
def test_whole_weights_repeat_the_records_of_attribute_inference(
    drawn: Table, data: st.DataObject
) -> None:
    counts = data.draw(st.lists(st.integers(1, 3), min_size=12, max_size=12))[: len(drawn.rows)]
    repeated = [row for row, n in zip(drawn.rows, counts, strict=True) for _ in range(n)]
    for secret in drawn.secrets:
        assert numbers(attack(drawn.rows, drawn.qids, secret, counts)) == numbers(
            attack(repeated, drawn.qids, secret)
        )


@given(attacks())
def test_collective_success_is_the_average_of_the_individual_attacks(drawn: Attack) -> None:
    rows, qids, secret, given_weights = drawn
    collective, seen = attack(*drawn), records(*drawn)
    masses = [F(w) for w in given_weights or [1] * len(rows)]
    for kind in ("deterministic", "probabilistic"):
        success = F()
        for row, mass, record in zip(rows, masses, seen, strict=True):
            if mass:
                alone = attack(rows, qids, secret, given_weights, {q: row[q] for q in qids})
                assert alone["worst_case"] == record["success"]
                assert alone["best_guess"] == record["best_guess"]
                success += mass * alone[f"posterior_{kind}"]
        assert collective[f"posterior_{kind}"] == success / sum(masses)


@given(tables(), st.data())
def test_the_drawn_tables_are_what_they_promise(drawn: Table, data: st.DataObject) -> None:
    assert 1 <= len(drawn.rows) <= 12
    assert 2 <= len(set(drawn.columns)) == len(drawn.columns) <= 5
    assert set(drawn.columns) <= set(NAMES)
    assert drawn.qids
    assert 1 <= len(drawn.secrets) <= 2
    assert len({*drawn.qids, *drawn.secrets}) == len(drawn.qids) + len(drawn.secrets)
    arrow = to_arrow(drawn)
    assert arrow.column_names == drawn.columns
    assert dict(zip(arrow.column_names, arrow.schema.types, strict=True)) == drawn.types
    assert repr(arrow.to_pylist()) == repr(drawn.rows)  # as written: -0.0, NaN, NULL
    drawn_weights = data.draw(weights(len(drawn.rows)))
    assert len(drawn_weights) == len(drawn.rows)
    assert any(drawn_weights)


def test_the_pools_hold_distinct_names_and_values() -> None:
    assert len(set(NAMES)) == len(NAMES)
    for pool in VALUES.values():
        assert len(set(map(repr, pool))) == len(pool)
