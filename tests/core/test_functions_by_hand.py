"""Single functions on inputs made by hand: what whole commands show only in rare data."""

from fractions import Fraction
from itertools import combinations
from pathlib import Path

import polars as pl
import pytest
from sqlglot import exp

import qifsql
from qifsql.adversary import roles
from qifsql.adversary.spec import Attack, Attribute, ColumnRoles
from qifsql.counting.session import _check_range
from qifsql.engine.progress import Meter
from qifsql.errors import ColumnError, WeightError
from qifsql.measures.distribution import Distribution
from qifsql.measures.release_measures import LinkKind, linked
from qifsql.measures.uniqueness import _left_out, _rarities
from qifsql.query import columns, templates


def test_a_meter_has_one_stage_until_it_is_told_of_more() -> None:
    shown: list[float] = []
    meter = Meter("work", lambda _what, share, _detail: shown.append(share))
    meter.inside(0.5, "reading")
    meter.show()
    meter.begin(1, 4, "next")
    meter.inside(0.5, "next")
    meter.show()
    assert shown == [0.5, 0.375]


def test_values_are_written_as_text_where_their_type_is_not_native() -> None:
    value, attribute = exp.column("x"), Attribute("x", exp.column("x"), "INTEGER")
    assert columns.as_native(value, attribute, {"INTEGER"}).sql("duckdb") == "x"
    assert columns.as_native(value, attribute, {"DATE"}).sql("duckdb") == "CAST(x AS TEXT)"


def test_rows_of_one_block_agree_in_every_quasi_identifier() -> None:
    condition = columns.same_block("a", "b", 2).sql("duckdb")
    assert (
        condition == "a.qid_1 IS NOT DISTINCT FROM b.qid_1 AND a.qid_2 IS NOT DISTINCT FROM b.qid_2"
    )


def test_a_view_exists_where_a_file_has_it() -> None:
    assert templates.exists("attack/profile")
    assert not templates.exists("attack/nothing")


def test_the_first_file_of_a_collection_is_number_1() -> None:
    files = [[ColumnRoles("school")], [ColumnRoles("school"), ColumnRoles("sex")]]
    assert [c.name for c in roles.of_files(files)] == ["1:school", "2:school", "2:sex"]


def test_weights_are_refused_beyond_126_bits() -> None:
    """53 bits of the smallest, which is a power of two or just above it, and 71 up to the total."""
    _check_range(1.0, 2.0**71, 1, "w")
    _check_range(1.5, 2.0**71, 1, "w")
    with pytest.raises(WeightError):
        _check_range(1.0, 2.0**72, 1, "w")
    with pytest.raises(WeightError):
        _check_range(0.75, 2.0**71, 1, "w")


def test_the_chance_that_others_are_all_left_out() -> None:
    """3 of the 5 outside a sample, of 9 people: 5/9 x 4/8 x 3/7."""
    assert _left_out(3, 5, 9) == pytest.approx(float(Fraction(5 * 4 * 3, 9 * 8 * 7)))
    assert _left_out(100, 500, 900) == pytest.approx(
        float(_product(500, 100) / _product(900, 100)), rel=1e-9
    )


def _product(n: int, factors: int) -> Fraction:
    value = Fraction(1)
    for i in range(factors):
        value *= n - i
    return value


@pytest.mark.parametrize("alpha", [0.0, 0.25, 0.5])
def test_the_rarities_of_pitmans_model_are_a_sum(alpha: float) -> None:
    """Of 1/(theta + i alpha) for i from 1 to u - 1, with theta + alpha = 2."""
    terms = [1 / (2 - alpha + i * alpha) for i in range(1, 5)]
    assert _rarities(alpha, 2.0, 5) == pytest.approx(sum(terms))


def test_a_key_that_is_nested_is_refused(tmp_path: Path) -> None:
    paths = [tmp_path / f"{year}.parquet" for year in (2018, 2019)]
    for i, path in enumerate(paths):
        pl.DataFrame({"id": [[1], [2]], "a": [1, 2 + i]}).write_parquet(path)
    with pytest.raises(ColumnError, match="is nested; name another"):
        qifsql.attack("crl", paths, qids="1:a,2:a", key="id")
    with pytest.raises(ColumnError, match="is nested; name another"):
        qifsql.attack("crl", paths, qids="a", link="a:+1", presence=1, truth="id")


def test_the_fewest_facts_are_those_that_only_the_target_shares() -> None:
    """The second person shares a and c, the third none: b alone singles the target out."""
    people = pl.DataFrame({"a": ["x", "x", "y"], "b": ["p", "q", "q"], "c": ["u", "u", "v"]})
    found = qifsql.inspect(
        people, show="receipt", qids="a,b,c", target={"a": "x", "b": "p", "c": "u"}
    )
    assert found.frame["qids"].to_list() == [["b"]]


def test_all_rows_of_a_weighted_sweep_are_about_people_without_a_missing_value() -> None:
    people = pl.DataFrame({"a": [1, 1, 2, None], "b": [None, 1, 2, 2], "w": [1, 2, 3, 4]})
    swept = qifsql.sweep(people, qids="a,b", weight="w", null="drop")
    assert swept.frame["records"].to_list() == [2, 2, 2]
    note = "1 of 4 records with missing values are left out"
    assert qifsql.attack("crs", people, qids="a", null="drop").notes == (note,)
    assert note in qifsql.inspect(people, qids="a", null="drop").notes


def test_the_file_of_a_prior_is_one_that_the_attack_reads(tmp_path: Path) -> None:
    prior = tmp_path / "prior.csv"
    prior.write_text("s,probability\nx,1\n")
    attack = Attack.of(
        "cas", pl.DataFrame({"a": [1], "s": ["x"]}), qids="a", secret="s", prior=prior
    )
    assert [table.paths for table in attack.tables] == [(str(prior),)]


@pytest.mark.parametrize(("first", "second", "tied"), [(3, 4, 2), (4, 3, 3), (2, 2, 2)])
def test_nearest_records_that_are_drawn_among_ties_have_one_in_common(
    first: int, second: int, tied: int
) -> None:
    """Two of each half are drawn among its ties, of which some are tied in both: all draws."""
    kind = _kind(first_ties=first, second_ties=second, both_tied=tied)
    one = [f"both {i}" if i < tied else f"first {i}" for i in range(first)]
    other = [f"both {i}" if i < tied else f"second {i}" for i in range(second)]
    pairs = [(a, b) for a in combinations(one, 2) for b in combinations(other, 2)]
    common = sum(bool({*a} & {*b}) for a, b in pairs)
    assert linked(kind, 2) == Fraction(common, len(pairs))


def _kind(**numbers: int) -> LinkKind:
    return LinkKind(**(dict.fromkeys(LinkKind.__dataclass_fields__, 0) | numbers))


def test_amounts_that_come_twice_have_the_sum_of_their_weights() -> None:
    pairs = [(4, 5), (1, 2), (1, 3), (7, 0)]
    assert Distribution.of(pairs, Fraction(1)).weights == {1: 5, 4: 5}
