"""Single views of ``sql/`` on tables made by hand: what whole commands show only in rare data."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import duckdb
import polars as pl
from effort import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st

from qifsql.query.splice import splice
from qifsql.query.templates import script

Rows = Sequence[Mapping[str, Any]] | pl.DataFrame
ENGINE = duckdb.connect()  # opening one takes longer than most statements here


def answer(
    view: str,
    *,
    variables: Mapping[str, int] | None = None,
    macros: Sequence[str] = (),
    given: Mapping[str, Rows],
    **filled: Any,
) -> list[dict[str, Any]]:
    """Return the rows of a view over the given tables, in the order of their values."""
    with ENGINE.cursor() as con:  # with tables, variables and macros of its own
        for name, rows in given.items():
            con.register(name, pl.DataFrame(rows, infer_schema_length=None))
        for name, value in (variables or {}).items():
            con.execute(f"SET VARIABLE {name} = {value}")
        for macro in macros:
            con.execute(macro)
        frame = con.sql(splice(view, **filled).sql("duckdb")).pl()
    rows: list[dict[str, Any]] = frame.sort(frame.columns, nulls_last=True).to_dicts()
    return rows


def test_values_of_sets_are_counted_for_each_record() -> None:
    classes = [
        {"part": part, "size": size, "suppressed": part == 3}
        for part, size in ((1, 5), (2, 7), (3, 100))
    ]
    sets = [{"part": 1, "values": 3}, {"part": 2, "values": 1}, {"part": 3, "values": 9}]
    found = answer("anonymise/counted", given={"classes": classes, "sets": sets})
    assert found == [{"generalised": 5, "spanned": 15, "written": 22}]


@settings(max_examples=examples(100))
@given(
    st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=2, max_size=30),
    st.fractions(0, 1, max_denominator=12),
)
def test_the_ordered_distance_of_a_side_from_the_whole(
    people: list[tuple[int, bool]], most: Fraction
) -> None:
    values = sorted({value for value, _ in people})
    code = {value: i for i, value in enumerate(values)}
    whole, below = [], 0
    for i in range(len(values)):
        upto = sum(code[value] <= i for value, _ in people)
        whole.append({"code": i, "upto": upto, "before": below})
        below += upto
    sided, expected = [], []
    for side in (False, True):
        mine = [code[value] for value, on in people if on == side]
        sided += [
            {"part": 7, "side": side, "value": i, "people": mine.count(i)} for i in sorted({*mine})
        ]
        distance = sum(
            abs(Fraction(sum(m <= i for m in mine), len(mine)) - Fraction(row["upto"], len(people)))
            for i, row in enumerate(whole)
            if mine
        )
        if distance > most * (len(values) - 1):
            expected.append({"part": 7})
    numbers = {
        "wanted_values": len(values),
        "wanted_records": len(people),
        "wanted_before": below,
        "wanted_numerator": most.numerator,
        "wanted_denominator": most.denominator,
    }
    given = {"sided": sided, "whole": whole}
    assert answer("anonymise/t_ordered", given=given, numbers=numbers) == expected


def test_a_group_of_mdav_is_carried_on_where_enough_is_left() -> None:
    groups = [
        {"part": part, "fresh": fresh, "size": size, "last_of_group": last}
        | {"remaining": size - 3, "opposite": [part], "pole": [0]}
        for part, fresh, size, last in (
            (1, True, 9, 5), (2, True, 8, 5), (3, False, 9, 5), (4, True, 9, None)
        )
    ]  # fmt: skip
    found = answer("anonymise/carried", given={"groups": groups}, numbers={"wanted_k": 3})
    assert found == [{"part": 1, "size": 6, "pole": [1]}]


def test_gains_that_are_no_numbers_are_counted() -> None:
    pairs = [{"gain": gain} for gain in (0.5, None, math.inf, math.nan, -1.0)]
    (found,) = answer("gains_check", given={"pairs": pairs})
    assert (found["unusable"], found["lowest"]) == (3, -1.0)


def test_places_are_in_the_order_of_the_hierarchy_first() -> None:
    raw = [
        {"value": value, "people": 1, "leaf": leaf}
        for value, leaf in (("a", 2), ("b", 1), ("d", None), ("c", None), (None, None))
    ]
    found = {
        row["value"]: row["place"] for row in answer("cells/places", given={"raw_values": raw})
    }
    assert found == {"b": 1, "a": 2, "c": 3, "d": 4, None: 0}


def test_the_most_frequent_secret_is_that_of_all_patterns_together() -> None:
    rows = [{"secret": s, "people": n} for s, n in (("x", 3), ("y", 4), ("x", 2), (None, 1))]
    found = answer("match_any/secrets", given={"pattern_secrets": rows})
    assert found == [{"most_frequent": 5, "secrets": 3}]


def test_the_worst_score_is_the_highest() -> None:
    found = answer("levels/worst", given={"scored": [{"score": 0.25}, {"score": 0.75}]})
    assert found == [{"score": 0.75}]


def test_exact_weights_of_what_is_heard() -> None:
    """Of the people without a value, each other value is heard as often."""
    rows = [{"code": 0, "frequency": 4}, {"code": 1, "frequency": 10}]
    numbers = {"whole_weight": 30, "everybody": 10, "wrong_weight": 12}
    found = answer("noisy/exact_confusions", given={"dictionary": rows}, numbers=numbers)
    assert found == [
        {"code": 0, "same": 18, "other": 2, "frequency": 4},
        {"code": 1, "same": 30, "other": 0, "frequency": 10},
    ]


def test_the_block_of_all_people_of_a_chunk_adds_up_their_words() -> None:
    coded = [{"entry": i, "word_1": 10 * i, "word_2": 1} for i in range(1, 5)]
    variables = {"state": 7, "least": 2, "greatest": 3}
    found = answer("sweep/whole_block", given={"coded": coded}, variables=variables, words=2)
    assert found == [{"state": 7, "word_1": 50, "word_2": 2, "blocks": 1}]


def test_the_spread_of_an_attribute() -> None:
    for last in (2, None):
        rows = [{"value": 1, "people": 3}, {"value": last, "people": 5}]
        found = answer("sweep/spread", given={"dictionary": rows})
        sums = {"values": 2, "people": 8, "most_frequent": 5, "together": 34}
        assert found == [sums | {"missing": last is None}]


def test_drawn_people_have_the_words_of_their_numbers() -> None:
    lots = [{"person": person} for person in (0, 2, 3, 5)]
    numbered = [{"word_1": 10, "upto": 3}, {"word_1": 20, "upto": 4}, {"word_1": 30, "upto": 6}]
    given = {"people_lots": lots, "numbered": numbered}
    found = answer("synthetic/drawn_people", given=given, words=1)
    assert [row["word_1"] for row in found] == [10, 10, 20, 30]


@settings(max_examples=examples(100))
@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(1, 3)), min_size=1, max_size=8),
    st.integers(1, 4),
)
def test_the_nearest_halves_are_those_within_the_radius(
    halves: list[tuple[int, int]], neighbours: int
) -> None:
    """The radius is the least distance within which so many records are."""
    alike = [{"target": 1, "key": 9, "records": 50, "tied": True}]
    pairs = [
        {"target": 0, "key": key, "records": records, "distance": distance}
        for key, (distance, records) in enumerate(halves)
    ]
    reach = sorted(distance for distance, _ in halves)[neighbours - 1 : neighbours]
    within = [p for p in pairs if not reach or p["distance"] <= reach[0]]
    radii = [
        p["distance"]
        for p in within
        if sum(q["records"] for q in within if q["distance"] <= p["distance"]) >= neighbours
    ]
    expected = [
        {"target": 0, "key": p["key"], "records": p["records"], "tied": p["distance"] == min(radii)}
        for p in within
        if radii and p["distance"] <= min(radii)
    ]
    given: dict[str, Rows] = {
        "alike": alike,
        "half_pairs": pairs,
        "reaches": [{"target": 0, "reach": reach[0] if reach else None}],
    }
    found = answer("synthetic/nearest_halves", given=given, numbers={"neighbours": neighbours})
    assert found == [*expected, *alike]


def test_settled_observations_of_several_secrets() -> None:
    crowd = [
        {"first_sight": 1, "records": records, "secret": secret}
        for secret, records in ((0, 2), (1, 5), (2, 1))
    ]
    given = {"secret_crowd": crowd, "settled": [{"first_sight": 1, "observations": 4}]}
    (found,) = answer("keyless/settled_secrets", given=given)
    assert found == {"first_sight": 1, "records": 8, "most": 5, "possible": 3, "observations": 4}


def test_people_weigh_one_each() -> None:
    people = [{"qid_1": qid, "secret": secret} for qid, secret in ((1, "a"), (1, "a"), (2, "b"))]
    found = answer("cells", given={"microdata": people}, width=1)
    assert [(row["people"], row["weight"], row["heaviest"]) for row in found] == [
        (2, 2, 1),
        (1, 1, 1),
    ]


def test_inners_are_numbered_by_their_first_block() -> None:
    rows = [
        {"block": block, "parts": [part], "weight": 10 * block}
        for block, part in ((1, 0), (2, 1), (5, 0))
    ]
    assert answer("hyper", given={"inners": rows}) == [
        {"inner_number": 1, "parts": [0], "weight": 60, "blocks": 2, "block": 1},
        {"inner_number": 2, "parts": [1], "weight": 20, "blocks": 1, "block": 2},
    ]


def test_kinds_whose_later_observations_can_be_counted() -> None:
    """All candidates possible: one sight each, and one more for those who are absent."""
    totals = [
        {"kind": kind, "spots": spots, "presence": 1, "absence": absence}
        for kind, spots, absence in ((1, 3, 1), (2, 3, 1), (3, 5, 0), (4, 5, 1), (5, 9, 1))
    ]
    spots = [
        {"exact": exact, "sight": sight}
        for exact, sights in (("a", (1, 2, 2)), ("b", (0, 2, 3)), ("c", (1, 2)))
        for sight in sights
    ]
    kinds = [
        {"kind": kind, "exact": exact}
        for kind, exact in ((0, "a"), (1, "a"), (2, "b"), (3, "c"), (4, "c"), (5, "b"))
    ]
    given: dict[str, Rows] = {
        **{"kinds": kinds, "totals": totals, "spots": spots},
        "asked": [{"presence": 1}],
    }
    found = answer("keyless/countable", given=given)
    assert {row["kind"]: row["observations"] for row in found} == {
        0: 1,
        1: 2 + 1,
        2: 3,  # absence looks like the sight 0
        3: 5,
        4: 5 + 1,
    }


def test_questions_are_those_that_people_answer() -> None:
    cells = [
        {"word_1": i, "secret": 0, "original": original, "control": control, "synthetic": 5}
        for i, (original, control) in enumerate(((1, 0), (0, 1), (0, 0)))
    ]
    found = answer("learning/questions", given={"cells": cells}, words=1)
    assert [row["word_1"] for row in found] == [0, 1]


def test_people_are_worked_in_batches_of_so_many() -> None:
    targets = [{"target": t, "spots": [0], "secret": 0, "people": 1} for t in (2, 4, 6, 8)]
    whose = [{"target": t, "record": 10 * t + turn} for t in (2, 4, 6, 8) for turn in (1, 0)]
    given = {"targets": targets, "whose": whose}
    found = answer("dit/people_aimed", given=given, numbers={"wanted_many": 2})
    assert [(row["target"], row["record"], row["batch"]) for row in found] == [
        *((2, 20, 0), (4, 40, 0), (6, 60, 1), (8, 80, 1))
    ]


def test_no_block_violates_a_rule_that_holds() -> None:
    found = answer("violations", given={"blocks": [{"values": 1, "size": 3}]})
    assert found == [{"blocks": 1, "violating_blocks": 0, "violating_people": 0, "people": 3}]


def test_finer_cells_that_are_settled_add_nothing() -> None:
    edges = [{"parent": 1, "node": 0, "child": child} for child in (2, 3)]
    edges.append({"parent": 4, "node": 0, "child": 9})
    active = [{"cell": cell, "lower": cell, "upper": 2 * cell} for cell in (2, 3)]
    found = answer("tables/finer_sums", given={"edges": edges, "active": active})
    assert found == [
        {"parent": 1, "node": 0, "lowers": 5, "uppers": 10},
        {"parent": 4, "node": 0, "lowers": 0, "uppers": 0},
    ]


def test_totals_of_weights() -> None:
    given = {"microdata": [{"weight": 2}, {"weight": 7}], "asked": [{"unit": 3}]}
    found = answer("estimate/totals", given=given)
    assert found == [{"records": 2, "weight": 9, "least": 2, "most": 7, "unit": 3}]


def test_the_load_of_a_node_is_its_points_and_its_boxes() -> None:
    given = {
        "points": [{"node": node} for node in (1, 1, 2, 3)],
        "boxes": [{"node": node} for node in (1, 2, 2, 2, 4)],
    }
    assert answer("cells/loads", given=given) == [
        {"node": 1, "points": 2, "boxes": 1},
        {"node": 2, "points": 1, "boxes": 3},
    ]


def test_rows_whose_turn_has_come_and_rows_that_go_on() -> None:
    live = [{"turn": turn} for turn in (2, 2, 4, 8, 16)]
    found = answer("suda/turns", given={"live": live}, variables={"bit": 2, "ending": 16})
    assert found == [{"here": 2, "going_on": 4}]


def test_labels_share_the_whole_weight() -> None:
    """Each has at least 1, and the likeliest what the others leave."""
    dictionary = [{"code": code, "value": value} for code, value in ((0, "a"), (1, "b"))]
    listed = [
        {"value": "a", "label": label, "probability": probability}
        for label, probability in (("x", 0.7), ("y", 0.25), ("z", 0.05), ("never", 0.0))
    ]
    found = answer(
        "noisy/labelled",
        given={"dictionary": dictionary, "listed": listed},
        numbers={"whole_weight": 10},
    )
    weights = {(row["code"], row["label"]): row["weight"] for row in found}
    assert weights == {(0, "x"): 10 - 3 - 1, (0, "y"): 3, (0, "z"): 1, (1, "b"): 10}


def test_the_rank_of_equal_gains_is_that_of_the_guess() -> None:
    usual = [{"guess": guess, "usual": gain} for guess, gain in ((3, 5), (1, 5), (2, 9))]
    found = answer("matrix_stakes", given={"usual_gains": usual})
    assert {row["guess"]: row["rank"] for row in found} == {2: 1, 1: 2, 3: 3}


def test_a_frequent_value_is_a_chunk_of_its_own() -> None:
    coded = [
        {"entry": entry} for entry, n in ((0, 2), (1, 2), (2, 9), (3, 2), (4, 2)) for _ in range(n)
    ]
    found = answer("sweep/chunks", given={"coded": coded}, variables={"chunk": 3, "giant": 5})
    assert found == [
        {"least": 0, "greatest": 1, "people": 4, "giant": False},
        {"least": 2, "greatest": 2, "people": 9, "giant": True},
        {"least": 3, "greatest": 3, "people": 2, "giant": False},
        {"least": 4, "greatest": 4, "people": 2, "giant": False},
    ]


def test_percents_are_rounded_once() -> None:
    chances = [{"percent": percent, "people": 1} for percent in (1.46, 2.5, 3.5, 0.04)]
    found = answer("histogram", given={"chances": chances})
    assert found == [
        {"bin": bin_, "individuals": n} for bin_, n in ((0, 1), (1, 1), (2, 1), (4, 1))
    ]


def test_people_with_enough_points_have_places_in_their_order() -> None:
    people = [{"person": person, "points": points} for person, points in ((3, 4), (1, 9), (2, 1))]
    found = answer("unicity/eligible", given={"people": people, "asked": [{"points": 4}]})
    assert found == [{"person": 1, "place": 0}, {"person": 3, "place": 1}]


def test_nobody_is_a_suspect_where_no_point_is_shared() -> None:
    rarest = pl.DataFrame(schema={"owners": pl.Int64})
    assert answer("unicity/suspects", given={"rarest": rarest}) == [{"suspects": 0}]


def test_losses_by_cells_of_several_values() -> None:
    names = ("records", "width", "everything", "lower", "upper")
    cells = [
        dict(zip(names, values, strict=True))
        for values in (
            (2, 4, False, 10.0, 13.0),
            (5, 3, False, -1e308, 1e308),  # farther apart than a number tells
            (7, 0, False, None, None),
            (11, 9, True, 0.0, 9.0),
            (13, 1, False, 5.0, 5.0),
        )
    ]  # fmt: skip
    (found,) = answer(
        "compare/lost", given={"contained": cells, "units": [{"unit": 10, "whole": 90}]}
    )
    assert found == {
        **{"records": 38, "generalised": 18, "outside": 7, "suppressed": 11},
        **{"listed": 2 * 4 + 5 * 3, "spanned": 2 * 3 * 10 + 5 * 90},
    }


def test_pairs_of_kinds_that_match_exactly() -> None:
    kinds = [{"exact": exact, "kind": kind} for kind, exact in enumerate("aab")]
    spots = [{"exact": exact} for exact in "aaabbc"]
    found = answer("keyless/explosion", given={"kinds": kinds, "spots": spots})
    assert found == [{"pairs": 2 * 3 + 1 * 2}]


def test_pairs_of_what_may_be_known_of_a_value() -> None:
    law = [{"code": code} for code in (0, 0, 0, 1)]
    found = answer("noisy/law_pairs", given={"state": [{"own": 0}, {"own": 0}], "law": law})
    assert found == [{"pairs": 6}]


def test_nobody_is_alone_where_there_are_no_blocks() -> None:
    blocks = pl.DataFrame(schema={"size": pl.Int64})
    assert answer("uniques", given={"blocks": blocks}) == [{"people": 0, "singled_out": 0}]


def test_people_stand_together_where_a_release_has_them() -> None:
    given = {
        "at_before": [{"alike": 1, "point": point, "people": 2} for point in (1, 2, 3)],
        "whereabouts": [{"point": 1, "spot": 7}, {"point": 2, "spot": 7}, {"point": 3, "spot": 8}],
        "spot_sizes": [{"spot": 7}],
    }
    assert answer("compose/standing", given=given) == [
        {"alike": 1, "earlier": 1, "spot": 7, "people": 4}
    ]


def test_moments_of_distances_some_of_which_are_infinite() -> None:
    unit = 2**80
    rows = [
        {"run": 1, "distance": "emd", "people": people, "different": different}
        | {"value": value, "finite": None if math.isinf(value) else value}
        for people, different, value in ((2, True, 1.0), (1, False, 4.0), (4, True, math.inf))
    ]
    (found,) = answer("dit/moments", given={"each_one": rows})
    assert found == {
        **{"run": 1, "distance": "emd", "records": 7, "different": 6, "infinite": 4},
        **{"total": 6 * unit, "squares": (2 * 1 + 4) * unit, "greatest": math.inf},
    }


def test_mondrian_begins_with_everybody_in_part_1() -> None:
    coded = [{"place_1": 0, "secrets": 5}] * 2 + [{"place_1": 1, "secrets": 5}]
    numbers = {"own_stratum": 1}
    found = answer("anonymise/people", given={"coded": coded}, places=[1], numbers=numbers)
    assert [(row["part"], row["tried"], row["people"]) for row in found] == [(1, 0, 2), (1, 0, 1)]


def test_places_on_the_scale_of_a_column_of_numbers() -> None:
    """Exact where each unit has so many parts, else rounded; values without a scale are apart."""
    values = [{"code": code, "value": value} for code, value in enumerate((2.0, 4.0, 10.0, None))]
    ends = answer("synthetic/ends_of_numbers", given={"values_of_numbers": values})
    assert ends == [{"least": 2.0, "span": 8.0, "factor": 1}]
    for part, unit in ((4, 32), (0, 32), (0, 2**34)):
        given = {"values_of_numbers": values, "ends_of_numbers": ends}
        numbers = {"scale_unit": unit, "part_length": part}
        found = answer("synthetic/scaled", given=given, numbers=numbers)
        assert [row["place"] for row in found] == [0, unit // 4, unit, -256 * unit]
    alike = {"values_of_numbers": [{"code": 3, "value": 7.0}]}
    alike["ends_of_numbers"] = answer("synthetic/ends_of_numbers", given=alike)
    found = answer("synthetic/scaled", given=alike, numbers={"scale_unit": 8, "part_length": 0})
    assert found == [{"code": 3, "place": 48}]
    for value, factor in ((0.25, 100), (0.1234567, None), (2e9, 1), (2.5e9 + 0.5, None)):
        given = {"values_of_numbers": [{"code": 1, "value": value}]}
        (row,) = answer("synthetic/ends_of_numbers", given=given)
        assert row["factor"] == factor


def test_patterns_of_values_that_are_present() -> None:
    cells = [
        {"place_1": 0, "mask": mask, "secret": secret, "people": people}
        for mask, secret, people in ((1, 4, 2), (1, 7, 5), (0, 7, 1))
    ]
    found = answer("match_any/patterns", given={"pattern_cells": cells}, places=[1])
    rows = [(row["mask"], row["size"], row["mode"], row["values"]) for row in found]
    assert rows == [(0, 1, 1, 1), (1, 7, 5, 2)]
    assert [row["first_secret"] for row in found] == [7, 4]


def test_sums_over_all_blocks_of_a_subset() -> None:
    found = [
        {"state": 1, "question": 0, "people": people, "mode": mode, "certain": certain}
        for people, mode, certain in ((3, 2, 1), (5, 4, 3))
    ]
    assert answer("sweep/sums", given={"found": found}) == [
        {"state": 1, "question": 0, "people": 8, "mode": 6, "certain": 4}
    ]


def test_blocks_that_are_clearly_below_the_wanted_entropy() -> None:
    blocks = [
        {"score": score, "blocks": blocks, "members": members}
        for score, blocks, members in ((0.9, 2, 5), (0.5, 3, 7), (0.1, 4, 9))
    ]
    found = answer("levels/clearly", given={"of_l_entropy": blocks, "bounds": [{"high": 0.5}]})
    assert found == [{"blocks": 2, "people": 10}]


def test_the_only_secret_of_the_complete_patterns_of_a_key() -> None:
    """Key 1: one value each, the same; key 2: different ones; key 3: two values in one pattern."""
    patterns = [
        {"pattern": pattern, "size": size, "mode": size, "values": values, "first_secret": secret}
        for pattern, size, values, secret in (
            (1, 1, 1, 4),
            (2, 3, 1, 4),
            (3, 1, 1, 5),
            (4, 5, 2, 4),
        )
    ]
    fits = [
        {"key": key, "pattern": pattern}
        for key, pattern in ((1, 1), (1, 2), (2, 1), (2, 3), (3, 1), (3, 4))
    ]
    assert answer("match_any/fitting", given={"patterns": patterns, "fits": fits}) == [
        {"key": 1, "blocks": 2, "uniques": 1, "modes": 4, "only_secret": 4},
        {"key": 2, "blocks": 2, "uniques": 2, "modes": 2, "only_secret": None},
        {"key": 3, "blocks": 2, "uniques": 1, "modes": 6, "only_secret": None},
    ]


@settings(max_examples=examples(100))
@given(st.lists(st.tuples(st.integers(1, 6), st.booleans()), min_size=2, max_size=25))
@example([*[(1, False)] * 8, (2, False), (3, True), *[(4, True)] * 3])  # a rare value comes first
def test_how_far_probability_moves_along_the_values_of_a_block(
    people: list[tuple[int, bool]],
) -> None:
    """The sum over all values of |N n(x) - n N(x)|, of those with x or a smaller value."""
    values = sorted({value for value, _ in people})
    n_of = {place: sum(v == value for v, _ in people) for place, value in enumerate(values, 1)}
    up_to = {place: sum(n for p, n in n_of.items() if p <= place) for place in n_of}
    places = [
        {"place": p, "up_to": n, "summed": sum(up_to[q] for q in up_to if q <= p)}
        for p, n in up_to.items()
    ]
    stretches, expected = [], {}
    for qid in (False, True):
        mine = [values.index(value) + 1 for value, on in people if on == qid]
        of_block = sorted(set(mine))
        for place, after in pairwise([*of_block, len(values) + 1]):
            met = sum(m <= place for m in mine)
            row = {"qid_1": qid, "blocks": 1, "size": len(mine), "stand": len(mine), "one": 1}
            row |= {"place": place, "last_place": after - 1, "met": met}
            row |= {"people": mine.count(place), "whole_people": len(people)}
            stretches.append(row | {"whole_values": len(values)})
        if mine:
            expected[qid] = sum(
                abs(len(people) * sum(m <= p for m in mine) - len(mine) * n)
                for p, n in up_to.items()
            )
    given: dict[str, Rows] = {"stretches": stretches, "places": places}
    found = answer("levels/ordered", given=given, width=1)
    assert {row["qid_1"]: row["moved"] for row in found} == expected


def test_people_in_the_gaps_of_a_cell_are_in_no_class() -> None:
    """Class 1 has a cell with gaps (1 and 3 without 2), class 2 one without."""
    given = {
        "found": [{"point": point, "class": class_} for class_ in (1, 2) for point in (1, 2, 3)],
        "classes": [{"class": 1, "id_1": 10}, {"class": 2, "id_1": 20}],
        "spans": [{"id": 10, "enumerated": True}, {"id": 20, "enumerated": False}],
        "points": [{"point": point, "place_1": point} for point in (1, 2, 3)],
        "members": [{"id": 10, "place": 1}, {"id": 10, "place": 3}, {"id": 30, "place": 2}],
    }
    columns = {"own_id": "id_1", "own_place": "place_1"}
    found = answer("cells/without_gaps", given=given, columns=columns)
    assert [(row["point"], row["class"]) for row in found] == [
        *((1, 1), (1, 2), (2, 2), (3, 1), (3, 2))
    ]


def test_secrets_are_numbered_as_where_limits_are_judged() -> None:
    """Node 1 is cut behind place 1, the target with secret 2 is above; secret 1 is lacking."""
    decided = [
        {"part": 5, "node": 1, "attribute": 1, "cut": 1, "side": 1, "secret": 2, "reference": -1}
    ]
    people = [
        {"node": 1, "place_1": place, "secrets_1": secret, "people": n}
        for place, secret, n in ((0, 0, 3), (0, 2, 4), (9, 2, 6), (9, 3, 1))
    ]
    found = answer(
        "dit/sides",
        given={"decided": decided, "people": people},
        places=[1],
        secrets=1,
        numbers={"wanted_reference": -1, "wanted_gone": 1, "by_tree": [0]},
    )
    assert {(row["side"], row["secrets_1"]): row["people"] for row in found} == {
        **{(0, 0): 3, (0, 1): 4},
        **{(1, 1): 6 - 1, (1, 2): 1},
    }


def test_subsets_whose_least_attribute_is_complete() -> None:
    """Attributes 1 and 2 of three are complete; a state has the known ones in its upper bits."""
    waiting = [
        {"state": known << 3, "question": 0, "part": 0, "bin": 0, "blocks": known}
        for known in (0b001, 0b010, 0b100, 0b101, 0b110)
    ]
    found = answer(
        "sweep/subsets",
        given={"waiting": waiting},
        variables={"n": 3, "every": 0b111, "complete": 0b011},
        macros=[*script("sweep/macros"), "CREATE TEMP MACRO as_named(known) AS known"],
    )
    assert [row["subset"] for row in found] == [0b001, 0b010, 0b101, 0b110]


def test_transitions_add_up_over_all_ways_between_two_values() -> None:
    """From a to b over x with 1/2 x 1/4 and over y with 1/2 x 3/4."""
    earlier = [{"before": "a", "after": m, "probability": 0.5} for m in "xy"]
    later = [{"before": m, "after": "b", "probability": p} for m, p in (("x", 0.25), ("y", 0.75))]
    found = answer("keyless/transitions", given={"earlier": earlier, "later": later})
    assert found == [{"before": "a", "after": "b", "probability": 0.5}]


def test_what_is_seen_and_reached_in_several_ways_adds_up() -> None:
    way = {"source": 1, "seen": 1, "sight": 2, "kind": 7}
    chances = [way | {"mass": 3}, way | {"mass": 4}, way | {"kind": 8, "mass": 5}]
    found = answer("keyless/stages", given={"chances": chances})
    assert [(row["kind"], row["mass"]) for row in found] == [(7, 7), (8, 5)]
    assert len({row["seen"] for row in found}) == 1


def test_the_chance_of_what_is_seen_adds_up_over_the_last_records() -> None:
    seen = {"source": 1, "seen": 1, "sight": 2}
    chances = [seen | {"kind": kind, "mass": mass} for kind, mass in ((7, 3), (8, 5))]
    found = answer("keyless/endings", given={"chances": chances})
    assert found == [seen | {"mass": 8}]


def test_the_median_of_a_class_weighs_each_value_by_its_people() -> None:
    """Places 0 to 2 have 2, 1 + 2 and 1 people; place 1 has two rows, and the third of six."""
    done = [{"part": 1, "own_place": p, "people": n} for p, n in ((0, 2), (1, 1), (1, 2), (2, 3))]
    scale = [{"place": p, "code": p, "value": v} for p, v in enumerate((1.0, 5.0, 9.0))]
    found = answer("anonymise/medians", given={"done": done, "scale": scale})
    assert found == [{"part": 1, "values": 3, "cell": 5.0}]
    few = [row for row in done if row["own_place"]]
    found = answer("anonymise/medians", given={"done": few, "scale": scale})
    assert found == [{"part": 1, "values": 2, "cell": 5.0}]


def test_mondrian_cuts_by_the_widest_attribute_that_it_has_not_tried() -> None:
    """Attribute 1 is wider; where bit 0 says that it was tried, 2 is chosen, and 0 after both."""
    sizes = {"size": 8, "rows_of_part": 2}
    ends = {"low_1": 0, "high_1": 9, "low_2": 0, "high_2": 5}
    found = answer(
        "anonymise/chosen",
        given={"extents": [{"part": t + 1, "tried": t, **sizes, **ends} for t in range(4)]},
        places=[1, 2],
        shape={"trees": False},
        numbers={"wanted_k": 2, "wanted_rows": 1, "by_tree": [0, 0]},
    )
    assert [row["attribute"] for row in found] == [1, 2, 1, 0]


def test_the_mean_of_a_class_weighs_each_value_by_its_people() -> None:
    """Place 1 has people in two rows: (2 x 1 + 3 x 5 + 1 x 9) / 6."""
    done = [{"part": 1, "own_place": p, "people": n} for p, n in ((0, 2), (1, 1), (1, 2), (2, 1))]
    scale = [{"place": p, "code": p, "value": v} for p, v in enumerate((1.0, 5.0, 9.0))]
    found = answer("anonymise/means", given={"done": done, "scale": scale})
    assert found == [{"part": 1, "values": 3, "cell": 26 / 6}]


def test_a_pair_of_which_something_is_taken_is_two_people_alone() -> None:
    """Attribute 1 of one is open: dropped, the pair stays; taken, each person is a block."""
    row = {"part": 0, "state": 1, "question": 2, "bin": 50, "blocks": 1, "people": 2, "mode": 1}
    row |= {"certain": 0, "k": 2, "l": 2, "worst_case": 0.5, "pass": 1}
    found = answer(
        "sweep/pairs",
        given={"found": [row]},
        variables={"n": 1, "every": 1, "pass": 1, "with_bins": 1, "bits": "[1]"},  # type: ignore[dict-item]
        macros=script("sweep/macros"),
    )
    assert [{n: r[n] for n in r if n in row} for r in found] == [
        {n: v for n, v in row.items() if n != "pass"} | {"state": 0},
        {n: v for n, v in row.items() if n != "pass"}
        | {"state": 2, "bin": 100, "blocks": 2, "mode": 2, "certain": 2, "k": 1, "l": 1}
        | {"worst_case": 1.0},
    ]


def test_people_without_a_place_of_the_useful_attribute_are_at_0() -> None:
    joint = [{"pattern": 1, "secret": "s", "people": n} for n in (3, 4)]
    found = answer("dp/unplaced", given={"joint": joint})
    assert found == [{"place": 0, "pattern": 1, "secret": "s", "people": 7}]


STATES = {"n": 2, "every": 3, "whole_state": 15, "this": 1, "bit": 1, "two": 2 << 28}
"""Variables of a walk over two attributes: a state has bits of the undecided, then of the known."""


def test_a_walk_enters_the_people_of_its_chunk() -> None:
    coded = [{"entry": entry, "rest": 10 * entry, "word": 1} for entry in range(1, 6)]
    found = answer(
        "sweep/entered",
        given={"coded": coded},
        variables={"least": 2, "greatest": 4, "this": 8, "state": 3},
        macros=["CREATE TEMP MACRO keyed(number, state) AS number * 16 + state"],
    )
    assert [row["rest"] for row in found] == [20, 30, 40]


def test_a_roll_up_begins_with_the_people_of_its_chunk() -> None:
    coded = [{"entry": entry, "rest": 10 * entry, "word": 1} for entry in range(1, 6)]
    found = answer(
        "sweep/chosen_rows",
        given={"coded": coded},
        variables={"least": 2, "greatest": 4},
        macros=["CREATE TEMP MACRO packed(entry, rest) AS rest"],
    )
    assert [row["packed_key"] for row in found] == [20, 30, 40]


def test_two_people_who_take_an_attribute_are_settled_in_their_state() -> None:
    """In state 2 the second attribute is open; a larger block drops it, a block of two does not."""
    taken = [{"size": size, "state": 2, "word": size} for size in (1, 2, 3)]
    found = answer(
        "sweep/settled_taken",
        given={"taken": taken},
        variables=STATES,
        macros=script("sweep/macros"),
    )
    assert [(row["word"], row["state"]) for row in found] == [(1, 0), (3, 0), (2, 2)]


def test_blocks_go_on_until_their_turn() -> None:
    """Of two attributes that vary, the first decides the turn: only blocks without it go on."""
    two = STATES["two"]
    live = [{"block": 16 * i, "rest": i, "word": 1, "turn": turn}
            for i, turn in enumerate((two + 1, two + 2, two + 4, 2), 1)]  # fmt: skip
    stripped = pl.DataFrame(schema=dict.fromkeys(("block", "rest", "word", "turn"), pl.Int64))
    found = answer(
        "sweep/onward",
        given={"live": live, "stripped": stripped},
        variables=STATES | {"later": 6, "spare": 0},
        macros=script("sweep/macros"),
    )
    assert [row["rest"] for row in found] == [2, 3]


def test_values_are_counted_in_blocks_whose_turn_has_come() -> None:
    """Two people of block 0 with one value, and a third in a block whose turn comes later."""
    live = [{"block": block, "rest": 1, "word": 1, "turn": turn}
            for block, turn in ((0, 9), (0, 9), (16, 8))]  # fmt: skip
    found = answer(
        "sweep_valued/settled_parts",
        given={"live": live},
        variables=STATES
        | {"this_and_another": 9, "chosen": 0, "seen": 4, "secret": 3, "secret_bits": 2},
        macros=script("sweep/macros"),
    )
    assert [(row["size"], row["mode"], row["values"], row["blocks"]) for row in found] == [
        (2, 2, 1, 1)
    ]


def test_a_secret_is_taken_away_once() -> None:
    whole = [{"code": code, "people": people} for code, people in ((1, 4), (2, 1), (3, 5))]
    found = answer("dit/secrets_left", given={"whole": whole}, numbers={"wanted_code": 1})
    assert found == [
        {"code": 0, "people": 3}, {"code": 1, "people": 1}, {"code": 2, "people": 5}
    ]  # fmt: skip
    found = answer("dit/secrets_left", given={"whole": whole}, numbers={"wanted_code": 2})
    assert found == [{"code": 0, "people": 4}, {"code": 1, "people": 5}]


def test_where_a_cut_is_refused_its_attribute_has_been_tried() -> None:
    people = [{"part": part, "place_1": 0, "place_2": 7, "secrets_1": 1, "people": 3}
              for part in (1, 2, 3)]  # fmt: skip
    cuts = [{"part": part, "tried": 0, "attribute": attribute, "cut": 5}
            for part, attribute in ((1, 2), (2, 2), (3, 1))]  # fmt: skip
    halves = [{"part": part, "side": side, "child": 10 * part + side, "allowed": part != 2}
              for part in (1, 2, 3) for side in (0, 1)]  # fmt: skip
    refused = [{"part": 3}]
    found = answer(
        "anonymise/people_next",
        given={"people": people, "cuts": cuts, "halves": halves, "refused": refused},
        places=[1, 2],
        secrets=1,
        numbers={"by_tree": [0, 0]},
    )
    assert [(row["part"], row["tried"]) for row in found] == [(2, 2), (3, 1), (11, 0)]


def test_a_guess_hits_a_number_at_exactly_its_tolerance() -> None:
    numbers = [{"code": c, "value": n, "number": n} for c, n in enumerate((1.0, 3.0, 5.5))]
    found = answer("attack/nearest", given={"numbers": numbers, "asked": [{"tolerance": 2.0}]})
    assert [(row["code"], row["furthest"]) for row in found] == [(0, 1), (1, 1), (2, 2)]


def test_people_of_a_group_in_a_block_weigh_together() -> None:
    microdata = [{"qid_1": 1, "member_of": "a", "weight": weight} for weight in (2, 3)]
    found = answer("weighted/owner_members", given={"microdata": microdata}, width=1)
    assert [(row["people"], row["weight"]) for row in found] == [(2, 5)]
