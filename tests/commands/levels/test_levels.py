"""Levels: worked examples of the sources, reference results, the oracle on random tables."""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from effort import examples
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from places import SAMPLES
from strategies import tables, to_arrow
from terminal import run

import qifsql
from qifsql.commands.levels.grading import SCHEMA
from qifsql.commands.levels.levels import levels
from qifsql.commands.levels.spec import MEASURES
from qifsql.data.dataset import Dataset
from qifsql.data.hierarchy import Hierarchy
from qifsql.errors import InputError
from qifsql.reference import microdata, people_with_records
from qifsql.reference import syntactic_levels as ol
from qifsql.reference.microdata import value


def of(result: qifsql.Result) -> dict[str, dict[str, Any]]:
    """The rows by their measure, of one secret."""
    return {row["measure"]: row for row in result.frame.to_dicts()}


def write(folder: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    path = folder / "release.parquet"
    pq.write_table(pa.Table.from_pylist(list(rows)), path)
    return path


def people(*groups: tuple[str, str, int]) -> list[dict[str, str]]:
    """So many people of a block with a value."""
    return [{"b": b, "s": s} for b, s, n in groups for _ in range(n)]


# Lecture, slide 22: N1C*, G0A*, N1C*, N2J*
def test_the_release_of_slide_22_is_1_anonymous(tmp_path: Path) -> None:
    rows = [
        {"zip": "N1C*", "dob": "[1960-69]", "party": "Green"},
        {"zip": "G0A*", "dob": "[1970-79]", "party": "Liberal"},
        {"zip": "N1C*", "dob": "[1960-69]", "party": "Green"},
        {"zip": "N2J*", "dob": "[1990-99]", "party": "Conservative"},
    ]
    found = levels(write(tmp_path, rows), qids=["zip", "dob"], secret="party")
    assert of(found)["k"]["value"] == 1
    assert of(found)["k"]["people_at_worst"] == 2
    assert of(found)["average_class_size"]["value"] == 4 / 3
    bites = {row["attack"]: row["people"] for row in found.details["attacks"].to_dicts()}
    assert bites["homogeneity"] == 4  # Alice's party is known by her ZIP (slide 36, attack 1)


# Lecture, slides 50 and 51
def test_the_viruses_of_slide_50_are_0_075_close(tmp_path: Path) -> None:
    rows = people(("N3P", "Pos", 15), ("N3P", "Neg", 25), ("H1A", "Pos", 15), ("H1A", "Neg", 45))
    found = of(levels(write(tmp_path, rows), qids="b", secret="s", t=0.05))
    assert found["t_equal"]["value"] == 0.075
    assert found["k"]["value"] == 40
    assert found["l_distinct"]["value"] == 2
    # the other block is 0.05 away, so t = 0.05 is broken by the first alone
    assert found["t_equal"]["people_in_violation"] == 40
    assert found["t_equal"]["met"] is False


# Lecture, slide 52
def test_the_viruses_of_slide_52_are_an_eighteenth_close(tmp_path: Path) -> None:
    rows = people(
        *(("N3P", "Pos", 5), ("N3P", "Neg", 22), ("N3P", "Inc", 3)),
        *(("H1A", "Pos", 12), ("H1A", "Neg", 47), ("H1A", "Inc", 1)),
    )
    path = write(tmp_path, rows)
    found = of(levels(path, qids="b", secret="s", t=Fraction(1, 36)))
    assert found["t_equal"]["value"] == 1 / 18
    assert found["t_equal"]["people_in_violation"] == 30  # 1/36 of the other is no violation
    assert (found["k"]["value"], found["l_distinct"]["value"]) == (30, 3)


def salaries(*blocks: Sequence[tuple[int, str]]) -> list[dict[str, Any]]:
    return [
        {"b": i, "salary": salary, "disease": disease}
        for i, block in enumerate(blocks)
        for salary, disease in block
    ]


# Li et al. 2007, Table 3 (3-diverse): salaries 3K..11K
SIMILAR = salaries(
    [(3, "gastric ulcer"), (4, "gastritis"), (5, "stomach cancer")],
    [(6, "gastritis"), (11, "flu"), (8, "bronchitis")],
    [(7, "bronchitis"), (9, "pneumonia"), (10, "stomach cancer")],
)
# the same people in blocks that are 0.167-close by salary (Li et al. 2007, Table 5)
CLOSE = salaries(
    [(3, "gastric ulcer"), (5, "stomach cancer"), (9, "pneumonia")],
    [(6, "gastritis"), (11, "flu"), (8, "bronchitis")],
    [(4, "gastritis"), (7, "bronchitis"), (10, "stomach cancer")],
)
# Li et al. 2007, Figure 1
DISEASES = """flu;respiratory infection;respiratory;*
pneumonia;respiratory infection;respiratory;*
bronchitis;respiratory infection;respiratory;*
pulmonary edema;vascular lung;respiratory;*
pulmonary embolism;vascular lung;respiratory;*
gastric ulcer;stomach;digestive;*
stomach cancer;stomach;digestive;*
gastritis;stomach;digestive;*
colitis;colon;digestive;*
colon cancer;colon;digestive;*
"""


def test_ordered_distances_of_li_et_al(tmp_path: Path) -> None:
    found = of(levels(write(tmp_path, SIMILAR), qids="b", secret="salary", show_blocks=True))
    assert found["t_ordered"]["value"] == 0.375  # {3K, 4K, 5K}
    assert found["t_ordered"]["worst_counts"] == [
        {"value": v, "records": 1} for v in ("3", "4", "5")
    ]
    found = of(levels(write(tmp_path, CLOSE), qids="b", secret="salary"))
    assert round(found["t_ordered"]["value"], 3) == 0.167
    totals = dict.fromkeys(map(str, range(3, 12)), 1)
    order = {v: totals[v] for v in totals}
    assert ol.t_ordered({"6": 1, "8": 1, "11": 1}, order) == Fraction(1, 6)


def test_hierarchical_distance_of_li_et_al(tmp_path: Path) -> None:
    file = tmp_path / "diseases.csv"
    file.write_text(DISEASES)
    path = write(tmp_path, CLOSE)
    found = of(levels(path, qids="b", secret="disease", hierarchy={"disease": file}))
    # by hand, block of gastritis, flu and bronchitis: 4/9 of it differ in the disease, 2/9 in the
    # node above, 2/9 in the node above that
    assert found["t_hierarchical"]["value"] == 8 / 27
    tree = Hierarchy.read(file)
    lines = {line[0]: line[1:3] for line in tree.lines}
    for other, distance in (("bronchitis", 1), ("pulmonary embolism", 2), ("stomach cancer", 3)):
        # how far flu is from another disease: the ground distances of the paper, times the height
        far = ol.t_hierarchical({"flu": 1}, {"flu": 0, other: 1}, lines)
        assert far * tree.height == distance
    assert tree.height == 3


def test_levels_of_one_block_by_hand() -> None:
    """Of 8 people 5 have a cold, of the 4 in a block only 1."""
    totals = {"cold": 5, "flu": 2, "cough": 1}
    block = {"cold": 1, "flu": 2, "cough": 1}
    assert ol.alpha(block) == Fraction(2, 4)
    assert [ol.l_recursive_c(block, n) for n in (2, 3, 4)] == [2 / (1 + 1), 2 / 1, None]
    assert ol.ratios(block, totals) == {"cold": Fraction(2, 5), "flu": 2, "cough": 2}
    assert ol.basic_beta(block, totals) == 1
    assert ol.enhanced_beta(Fraction(1), totals) == 1
    assert ol.enhanced_beta(Fraction(7), totals) == pytest.approx(math.log(8))
    assert ol.farthest(block, totals) == Fraction(5, 2)
    assert ol.t_equal(block, totals) == Fraction(3, 8)


def test_the_four_attacks_are_named(tmp_path: Path) -> None:
    file = tmp_path / "diseases.csv"
    file.write_text(DISEASES)
    path = write(tmp_path, SIMILAR)
    found = levels(path, qids="b", secret="disease", hierarchy={"disease": file}, skew=3)
    rows = {(r["attack"], r["level"]): r for r in found.details["attacks"].to_dicts()}
    assert [(r["attack"], r["people"], r["blocks"]) for r in rows.values()] == [
        ("homogeneity", 0, 0),
        ("background", 0, 0),
        ("similarity", 3, 1),  # all of the first block have a stomach disease (slide 44)
        ("similarity", 3, 1),  # and so a digestive one
        ("skewness", 9, 3),  # gastric ulcer, flu, pneumonia: once in nine, once in a block of three
    ]
    assert rows["similarity", 1]["success_before"] == 5 / 9


@pytest.mark.cases(1)
@pytest.mark.parametrize("case", range(9))
def test_the_reference_results_of_pycanon(shared: Path, case: int) -> None:
    told = json.loads((shared / "data/reference/pycanon.json").read_text())["cases"][case]
    path = shared / "data" / f"{told['dataset']}.parquet"
    found = levels(path, qids=told["quasi_identifiers"], secret=told["sensitive"])
    rows = {(r["measure"], r["secret"]): r for r in found.frame.to_dicts()}
    assert rows["k", None]["blocks"] == told["blocks"]
    for secret, own in told["independent"].items():
        expected = {
            "l_distinct": own["l"],
            "l_entropy": own["entropy_l"],
            "l_recursive_c": own["recursive_ratio_r1_over_tail"],
            "t_equal": own["t_equal_distance"],
            "t_ordered": own["t_ordered_distance"],
            "alpha": own["alpha"],
            "basic_beta": own["basic_beta"],
            "enhanced_beta": own["enhanced_beta_pycanon_formula"],
            "delta_disclosure": own["delta"],
        }
        assert rows["k", None]["value"] == own["k"]
        for name, level in expected.items():
            near = None if level is None else pytest.approx(level, rel=1e-12)
            assert rows[name, secret]["value"] == near, (name, secret)
        t = "t_ordered" if own["numeric"] else "t_equal"
        assert rows[t, secret]["value"] == pytest.approx(told["per_attribute"][secret]["t"])
        assert (
            math.floor(rows["l_entropy", secret]["value"] + 1e-9)
            == (told["per_attribute"][secret]["entropy_l"])
        )


DRAWN = (Phase.explicit, Phase.generate)  # a failing example is small, and shrinking slow

WANTED = st.fixed_dictionaries(
    {},
    optional={
        "k": st.integers(1, 4).map(Fraction),
        "l": st.integers(1, 3).map(Fraction),
        "l_entropy": st.sampled_from((Fraction(1), Fraction(3, 2), Fraction(2), Fraction(3))),
        "c": st.sampled_from((Fraction(1, 2), Fraction(1), Fraction(2), Fraction(3))),
        "t": st.fractions(0, 1, max_denominator=6),
        "alpha": st.fractions(Fraction(1, 6), 1, max_denominator=6),
        "beta": st.fractions(0, 3, max_denominator=3),
        "enhanced_beta": st.fractions(0, 3, max_denominator=3),
        "delta": st.sampled_from((Fraction(1, 10), Fraction(1, 2), Fraction(1))),
    },
)


def same(mine: Mapping[str, Any], expected: Mapping[str, Any], name: str) -> None:
    """One row is what the oracle says."""
    for column, wanted in expected.items():
        if column.endswith("_in_violation") and name.startswith("t_") and mine["wanted"] is None:
            assert (mine[column], mine["met"]) == (None, None), name  # it is not judged
        elif column == "value":
            told = wanted
            if isinstance(wanted, Fraction):
                told = float(wanted)
            elif wanted is not None:
                told = pytest.approx(wanted, rel=1e-12)
            assert mine["value"] == told, name
        else:
            assert mine[column] == wanted, (name, column)


@pytest.mark.slow(because="2.1 s; every recorded mutant dies without it")
@given(tables(), WANTED)
@settings(max_examples=examples(20), deadline=None, phases=DRAWN)
def test_levels_of_any_table_are_those_of_the_oracle(
    tmp_path_factory: pytest.TempPathFactory, table: Any, wanted: Any
) -> None:
    path = tmp_path_factory.mktemp("levels") / "release.parquet"
    pq.write_table(to_arrow(table), path)
    secret = table.secrets[0]
    fewest = min(len({value(row[s]) for row in table.rows}) for s in table.secrets)
    wanted = {
        name: level
        for name, level in wanted.items()
        if not (name in ("l", "l_entropy") and level > fewest)
        and not (name == "k" and level > len(table.rows))
    }
    found = levels(path, qids=table.qids, secret=table.secrets, show_blocks=True, **wanted)
    expected = ol.levels(table.rows, table.qids, secret, required=wanted)
    rows = {r["measure"]: r for r in found.frame.to_dicts() if r["secret"] in (None, secret)}
    assert set(expected) <= set(rows)
    for name, level in expected.items():
        same(rows[name], level, name)
    counts = list(microdata.counts(table.rows, table.qids, secret).values())
    bites = {r["attack"]: r for r in found.details["attacks"].to_dicts() if r["secret"] == secret}
    totals = Counter(value(r[secret]) for r in table.rows)
    readings = [(counts, totals)]
    if len(totals) > 1 and None in totals:
        present = [{v: n for v, n in c.items() if v is not None} for c in counts]
        known = Counter({v: n for v, n in totals.items() if v is not None})
        readings.append(([c for c in present if c], known))
    succumbing = [ol.bites(c, everybody, 2) for c, everybody in readings]
    for attack in succumbing[0]:
        assert bites[attack]["people"] == max(bitten[attack] for bitten in succumbing)
    for attack, n in (("homogeneity", 1), ("background", 2)):
        chosen = max(range(len(readings)), key=lambda i: (succumbing[i][attack], -i))
        if attack == "homogeneity":
            alike = [c for c in readings[0][0] if len(c.keys() - {None}) <= 1]
            assert bites[attack]["blocks"] == len(alike)
        else:
            assert bites[attack]["blocks"] == sum(len(c) == n for c in readings[chosen][0])
    chosen = max(range(len(readings)), key=lambda i: (succumbing[i]["skewness"], -i))
    blocks, everybody = readings[chosen]
    skewed = sum(max(ol.ratios(c, everybody).values()) >= 2 for c in blocks)
    assert bites["skewness"]["blocks"] == skewed
    counts = [c for blocks, _ in readings for c in blocks]
    for name, row in rows.items():
        if name in expected and name not in ("k",):
            listed = row["worst_counts"]
            sizes = sorted((sum(c.values()), sorted(c.values(), reverse=True)) for c in counts)
            own = (row["worst_size"], [line["records"] for line in listed])
            assert own in sizes
            assert row["worst_values"] == len(listed)


@given(
    st.lists(st.tuples(st.sampled_from("xyz"), st.integers(0, 11)), min_size=1, max_size=40),
    st.lists(st.integers(0, 3), min_size=12, max_size=12),
    st.lists(st.integers(0, 1), min_size=4, max_size=4),
    st.fractions(0, 1, max_denominator=4),
)
@settings(max_examples=examples(10), deadline=None, phases=DRAWN)
def test_hierarchies_and_many_values_are_those_of_the_oracle(
    tmp_path_factory: pytest.TempPathFactory,
    drawn: list[tuple[str, int]],
    low: list[int],
    high: list[int],
    t: Fraction,
) -> None:
    """Secrets of more values than are tallied, and a hierarchy of three levels and a root."""
    folder = tmp_path_factory.mktemp("levels")
    rows = [{"b": b, "s": s} for b, s in drawn] + [{"b": "all", "s": s} for s in range(12)]
    path = write(folder, rows)
    lines = {v: (f"low {low[v]}", f"high {high[low[v]]}") for v in range(12)}
    file = folder / "tree.csv"
    file.write_text("".join(f"{v};{a};{b};*\n" for v, (a, b) in lines.items()))
    wanted = {"t": t, "l_recursive": Fraction(3), "c": Fraction(2)}
    found = levels(path, qids="b", secret="s", hierarchy={"s": file}, **wanted)
    expected = ol.levels(rows, ["b"], "s", required=wanted, lines=lines)
    for name, level in expected.items():
        same(of(found)[name], level, name)
    for line in found.details["attacks"].filter(attack="similarity").to_dicts():
        own = [
            sum(c.values())
            for c in microdata.counts(rows, ["b"], "s").values()
            if len(c) > 1 and len({lines[v][line["level"] - 1] for v in c}) == 1  # type: ignore[index]
        ]
        assert (line["people"], line["blocks"]) == (sum(own), len(own))


@pytest.mark.slow(because="1.9 s; every recorded mutant dies without it")
def test_measures_are_those_of_the_schema_and_are_explained() -> None:
    for measure in MEASURES.values():
        assert qifsql.explain(measure.name).name
    columns = {c for e in qifsql.explain() for c in e.columns}
    assert set(SCHEMA) - {"secret", "people"} <= columns | {"l"}
    assert microdata.value(float("nan")) is None


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
@given(
    st.lists(st.integers(0, 5), min_size=5, max_size=30),
    st.sets(st.integers(1, 5), min_size=1, max_size=4),
    st.booleans(),
)
@settings(max_examples=examples(15), deadline=None, phases=DRAWN)
def test_several_k_are_judged_as_each_alone(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[int], every: set[int], with_secret: bool
) -> None:
    folder = tmp_path_factory.mktemp("levels")
    path = write(folder, [{"b": b, "s": i % 2} for i, b in enumerate(drawn)])
    options: dict[str, Any] = {"qids": "b"} | ({"secret": "s"} if with_secret else {})
    together = levels(path, **options, k=sorted(every, reverse=True))
    rows = together.frame.filter(measure="k").to_dicts()
    sizes = Counter(drawn).values()
    assert [(r["wanted"], r["people_in_violation"], r["blocks_in_violation"]) for r in rows] == [
        (k, sum(n for n in sizes if n < k), sum(1 for n in sizes if n < k)) for k in sorted(every)
    ]
    for row in rows:
        alone = levels(path, **options, k=int(row["wanted"])).frame
        assert row == alone.row(0, named=True)
        assert together.frame.filter(pl.col("measure") != "k").equals(alone[1:])
    assert bool(together) == (min(sizes) >= max(every))


@pytest.mark.slow(because="2.1 s; every recorded mutant dies without it")
def test_recursive_diversity_in_one_option_or_in_two() -> None:
    path = SAMPLES / "thesis_table_3_2.csv"
    options: dict[str, Any] = {"qids": "gender", "secret": "illness"}
    pair = levels(path, **options, c=3, l_recursive=2)
    for both in ("3,2", (3, 2), ["3", "2"]):
        assert levels(path, **options, l_recursive=both).frame.equals(pair.frame)


def test_values_of_few_people_are_in_no_result_unless_they_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "release.csv"
    rows = [f"1,canary{i}" for i in range(3)] + ["2,flu"] * 6
    path.write_text("\n".join(["a,b", *rows]))
    for ending in ("json", "csv"):
        out = tmp_path / f"levels.{ending}"
        assert run("levels", path, "-q", "a", "-s", "b", "-o", out).code == 0
        assert "canary" not in out.read_text()
    shown = tmp_path / "shown.json"
    assert run("levels", path, "-q", "a", "-s", "b", "-o", shown, "--show-blocks").code == 0
    assert "canary" in shown.read_text()
    assert shown.stat().st_mode & 0o777 == 0o600


def test_several_k_are_answered_also_above_the_records(tmp_path: Path) -> None:
    path = tmp_path / "release.csv"
    path.write_text("a,b\n1,x\n1,y\n2,x\n2,y\n")
    frame = levels(path, qids="a", secret="b", k="2,3,5").frame
    rows = frame.filter(pl.col("measure") == "k").rows(named=True)
    assert [(r["wanted"], r["met"], r["people_in_violation"]) for r in rows] == [
        (2.0, True, 0), (3.0, False, 4), (5.0, False, 4),
    ]  # fmt: skip
    with pytest.raises(InputError, match="above the number of records"):
        levels(path, qids="a", k="5,6")
    with pytest.raises(InputError, match="names the file of each secret"):
        levels(path, qids="a", secret="b", hierarchy="f.csv")


# Missing secrets

HIV = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from([None, None, "x", "y"])),
    min_size=1,
    max_size=10,
)


@given(HIV)
def test_a_missing_secret_protects_nobody(rows: list[tuple[str, str | None]]) -> None:
    """Each level is the smaller of two: with missing as a value, and among reported values."""
    records = [{"ward": ward, "hiv": hiv} for ward, hiv in rows]
    frame = pl.DataFrame(records, schema={"ward": pl.String, "hiv": pl.String})
    found = {row["measure"]: row for row in levels(frame, qids="ward", secret="hiv").rows()}
    for name, level in ol.levels(records, ["ward"], "hiv", required={}).items():
        same(found[name], level, name)
    wards = {ward for ward, _ in rows}
    reported = [{hiv for w, hiv in rows if w == ward and hiv} for ward in wards]
    told = [len({hiv for w, hiv in rows if w == ward}) for ward in wards]
    least = min([*(len(values) for values in reported if values), *told])
    assert found["l_distinct"]["value"] == least


def test_the_shared_cases_of_missing_secrets(shared: Path) -> None:
    file = shared / "cases" / "c05c_one_value_and_missing.csv"
    for source in (file, Dataset.open(file, na="NA")):
        result = levels(source, qids="ward", secret="hiv", l=2)
        rows = {row["measure"]: row for row in result.rows()}
        assert (rows["l_distinct"]["value"], rows["l_distinct"]["met"]) == (1, False)
        attacks = {row["attack"]: row["people"] for row in result.details["attacks"].to_dicts()}
        assert attacks["homogeneity"] > 0
    result = levels(shared / "cases" / "null_secret.csv", qids="q", secret="s", l=2)
    attacks = {row["attack"]: row["people"] for row in result.details["attacks"].to_dicts()}
    assert attacks["homogeneity"] == 4  # two report one value, two report none


# People with several records

VISITS = st.lists(
    st.tuples(
        st.integers(0, 4),
        st.sampled_from("ab"),
        st.sampled_from([1, 2, None]),
        st.sampled_from(["x", "y", None]),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=examples(30))
@given(VISITS)
def test_levels_of_people_of_whom_all_records_are_known_or_one(rows: list[tuple[Any, ...]]) -> None:
    """k counts people; a secret that some miss is read both ways."""
    names = ("person", "q", "r", "s")
    schema = {"person": pl.Int64, "q": pl.String, "r": pl.Int64, "s": pl.String}
    records = [dict(zip(names, row, strict=True)) for row in rows]
    frame = pl.DataFrame(records, schema=schema)
    found = levels(frame, qids="q,r", secret="s", person="person")
    for row in found.rows():
        assert row["people"] == len({r["person"] for r in records})
        assert row["records"] == len(records)
        if row["measure"] not in ol.MEASURES or row["measure"] == "t_ordered":
            continue  # the order of multisets is another
        measure = ol.MEASURES[row["measure"]]
        about: tuple[Any, ...] = (records, "person", ["q", "r"], "s")
        known = row["known_records"]
        if row["measure"] == "k":
            blocks, totals = people_with_records.blocks_of_people(*about, known)
            expected = ol.assess(measure, blocks, totals, None)
        else:
            expected = people_with_records.levels(*about, measure=measure, known_records=known)
        assert row["value"] == pytest.approx(float(expected["value"]), rel=1e-9)


@pytest.mark.parametrize(
    "option",
    [
        *({"show_blocks": True}, {"null": "match-any"}, {"suppressed": "out"}),
        {"hierarchy": {"q": "tree.csv"}},
    ],
)
def test_options_about_records_do_not_go_with_a_person(option: dict[str, Any]) -> None:
    frame = pl.DataFrame({"person": [1, 1], "q": ["a", "b"]})
    with pytest.raises(InputError, match="is about single records"):
        levels(frame, qids="q", person="person", **option)
