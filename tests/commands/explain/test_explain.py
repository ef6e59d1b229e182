"""Explanations: complete, findable by every name there is, and their examples are what attacks say.

The examples are held against an attack on the table they are made from, and on random tables
against the oracle, so that no number in them can be one that was written down.
"""

import csv
import io
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import oracle_households
import oracle_learning
import oracle_noise
import oracle_synthetic
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import SAMPLES
from terminal import run

import qifsql
from qifsql.adversary.gains import KINDS
from qifsql.adversary.models import MODELS
from qifsql.commands.attack.keyless.calibrate import CALIBRATION, LINKS
from qifsql.commands.attack.keyless.keyless import KEYLESS
from qifsql.commands.compose import compose
from qifsql.commands.dp.scenario import SCENARIO
from qifsql.commands.dp.tradeoff import TRADEOFF
from qifsql.commands.estimate import estimate
from qifsql.commands.explain.examples.attacks import BELIEF, PENALTY, SKEW, WEIGHT
from qifsql.commands.explain.examples.sample import Sample
from qifsql.commands.explain.examples.subsets import STUDENT, THRESHOLD, UNSEEN
from qifsql.commands.explain.examples.tables import DOMINANCE, HIDDEN, P_PERCENT, SMALL
from qifsql.commands.explain.explain import example, explain
from qifsql.commands.explain.result import SCHEMA as FIELDS
from qifsql.commands.explain.result import Explanation, frame
from qifsql.commands.link.link import CONFIDENCE, LINKED
from qifsql.commands.sweep import result
from qifsql.commands.sweep import samples as sampling
from qifsql.commands.sweep.answers import COARSEN_FIRST
from qifsql.commands.sweep.plan import PLAN
from qifsql.commands.sweep.result import HISTOGRAMS, SWEPT, Sweep
from qifsql.commands.tables import breakdown, magnitude
from qifsql.commands.tables.tables import SCHEMA as OF_TABLES
from qifsql.commands.unhash.unhash import PATTERNS, RECOVERED
from qifsql.commands.unicity.unicity import UNICITY
from qifsql.counting import losses
from qifsql.errors import InputError
from qifsql.reference import channel as ch
from qifsql.reference import entropies as en
from qifsql.reference import microdata, naive_bayes, people_with_records, sure_claims
from qifsql.reference import published_arrays as op
from qifsql.reference import published_tables as pt
from qifsql.reference import quasi_identifier_sets as su
from qifsql.reference import sample_estimates as se
from qifsql.reference import sample_uniques as oracle_suda
from qifsql.reference import success as oracle
from qifsql.reference import syntactic_levels as ol
from qifsql.reference import synthetic_releases as sr
from qifsql.results.assessment import ALL_MEASURES, DETAILS, GAIN, INDIVIDUAL, MEASURES, SCHEMA
from qifsql.results.result import Result

PEOPLE = SAMPLES / "thesis_table_3_2.csv"
COLUMNS = [
    *SCHEMA,
    *INDIVIDUAL,
    *GAIN,
    *(c for t in (MEASURES, DETAILS) for n in t.values() for c in n),
]
OF_A_SWEEP = (
    *(SWEPT, HISTOGRAMS, result.BEST, result.SHAPLEY, result.INTERACTIONS, result.BORDERS),
    *(TRADEOFF, SCENARIO),
    *(result.DROP_FIRST, COARSEN_FIRST, sampling.ERRORS, PLAN),
)
OF_RELEASES = (compose.SCHEMA, compose.RELEASES, compose.CURVE, compose.TRUTH, losses.COLUMNS)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
PLAIN = {  # measure -> its column in the row of the secret
    "attack": "records",
    "blocks": "blocks",
    "deterministic": "posterior_deterministic",
    "probabilistic": "posterior_probabilistic",
    "additive": "leakage_additive",
    "multiplicative": "degradation_probabilistic",
    "min_entropy_leakage": "min_entropy_leakage",
    "worst_case": "worst_case",
    "singled_out": "singled_out",
    "certain": "individuals_certain",
    "shannon": "mutual_information",
    "guessing": "posterior_guessing",
    "capacity": "capacity",
    "pointwise_leakage": "pointwise_mean",
    "bayes_security": "bayes_security",
}
DETAIL = {"histogram": "individuals", "thresholds": "share", "quantiles": "success"}


def last(lines: tuple[str, ...]) -> float:
    """The last number of the last line."""
    return float(NUMBER.findall(lines[-1])[-1])


def near(expected: Any) -> Any:
    """Equal to the six digits that are shown."""
    return pytest.approx(float(expected), rel=1e-5, abs=1e-9)


@pytest.fixture(scope="module")
def every() -> dict[str, Explanation]:
    return {e.name: e for e in explain()}


@pytest.fixture(scope="module")
def attacked() -> Result:
    return qifsql.attack(
        "crs,cas",
        PEOPLE,
        qids=["age"],
        secret="illness",
        measures="all",
        histogram=True,
        by="gender",
        thresholds=[1],
        quantiles=[0.5],
    )


@pytest.fixture(scope="module")
def swept() -> Sweep:
    return qifsql.sweep(
        PEOPLE, qids=["age", "gender"], secret="illness", threshold=float(THRESHOLD)
    )


@pytest.mark.parametrize(("name", "column"), PLAIN.items())
def test_the_last_number_of_an_example_is_what_an_attack_gives(
    every: dict[str, Explanation], attacked: Result, name: str, column: str
) -> None:
    assert last(every[name].example) == near(attacked.rows()[1][column])


@pytest.mark.parametrize(("name", "column"), DETAIL.items())
def test_the_last_number_of_a_distribution_is_the_last_row_of_its_table(
    every: dict[str, Explanation], attacked: Result, name: str, column: str
) -> None:
    mine = attacked.rows()[1]["attack_id"]
    rows = attacked.details[name].filter(pl.col("attack_id") == mine).to_dicts()
    assert last(every[name].example) == near(rows[-1][column])


def test_the_gap_of_the_groups_is_the_largest_of_their_table(
    every: dict[str, Explanation], attacked: Result
) -> None:
    groups = attacked.details["groups"].filter(attack_id=attacked.rows()[1]["attack_id"])
    assert last(every["groups"].example) == near(groups["gap"].max())


def test_the_example_of_re_identification_is_the_row_without_a_secret(
    every: dict[str, Explanation], attacked: Result
) -> None:
    row = attacked.rows()[0]
    for name in ("deterministic", "probabilistic", "additive", "multiplicative", "guessing"):
        said = [line for line in every[name].example if line.startswith("whose record")]
        assert last(tuple(said)) == near(row[PLAIN[name]])
    assert last(every["prosecutor"].example) == near(row["prosecutor_risk"])
    assert last(every["marketer"].example[:-1]) == near(row["marketer_risk"])
    assert last(every["capacity"].example[:-2]) == near(row["capacity"])


def test_the_risks_of_a_part_of_the_population_are_those_of_an_attack_on_it(
    every: dict[str, Explanation],
) -> None:
    group = every["journalist"].example[4].split()[2]
    row = qifsql.attack(
        "crs", PEOPLE, qids=["age"], where=f"gender = '{group}'", population=PEOPLE
    ).rows()[0]
    for name in ("journalist", "marketer"):
        assert last(every[name].example) == near(row[f"{name}_risk"])
    said = every["risks"].example[-3:]
    assert [last((line,)) for line in said] == [
        near(row[f"{name}_risk"]) for name in ("prosecutor", "journalist", "marketer")
    ]


def test_the_examples_of_gain_functions_are_those_of_attacks(
    every: dict[str, Explanation],
) -> None:
    said = every["gain"].example[4:]
    gains = [line.split(",")[0].split(":")[0] + ":" + NUMBER.findall(line)[0] for line in said]
    result = qifsql.attack(
        "cas", PEOPLE, qids=["age"], secret="illness", gain=list(dict.fromkeys(gains))
    )
    after = {row["gain"]: row["posterior_probabilistic"] for row in result.rows()}
    assert len(after) == 3
    for gain, line in dict(zip(gains, said, strict=True)).items():  # the last line of each
        assert last((line,)) == near(after[gain])


def test_the_examples_of_weights_and_of_a_prior_file_are_those_of_attacks(
    every: dict[str, Explanation], tmp_path: Path
) -> None:
    said = every["prior"].example
    file = tmp_path / "prior.csv"
    told = next(line for line in said if line.startswith("a prior file with"))
    pairs = re.findall(r"(\w+) (\d+/\d+)", told)
    file.write_text(
        "illness,probability\n" + "".join(f"{v},{float(Fraction(p))}\n" for v, p in pairs)
    )
    options: dict[str, Any] = {"qids": ["age"], "secret": "illness"}
    row = qifsql.attack("cas", PEOPLE, prior=file, **options).rows()[0]
    assert last((told,)) == near(row["prior_probabilistic"])
    assert last(said) == near(row["posterior_probabilistic"])
    group = next(line for line in said if line.startswith("weight ")).split()[4].rstrip(",")
    weight = f"heavy=case when gender = '{group}' then {WEIGHT} else 1 end"
    row = qifsql.attack("cas", PEOPLE, weight=weight, **options).rows()[0]
    heavy = next(line for line in said if line.startswith("weights, after"))
    assert last((heavy,)) == near(row["posterior_probabilistic"])


def test_the_examples_of_samples_and_links_are_those_of_their_commands(
    every: dict[str, Explanation],
) -> None:
    done = qifsql.estimate(PEOPLE, qids="age", fraction="0.5")
    found = {row["method"]: row["population_uniques"] for row in done.frame.iter_rows(named=True)}
    assert last(every["population_uniques"].example) == near(found["zayatz"])
    wanted = done.details["individual"]["expected_reidentified"][0]
    assert last(every["individual_risk"].example) == near(wanted)
    linked = qifsql.attack("crl", [PEOPLE, PEOPLE], link="age", presence="0.9", qids=["age"])
    (row,) = [row for row in linked.rows() if row["knowledge"] == "linked"]
    assert last(every["link_vulnerability"].example) == near(row["link_vulnerability"])
    noisy = qifsql.attack("crs", PEOPLE, qids="age", knows="age:missing=0.3").rows()[1]
    assert last(every["noisy_knowledge"].example) == near(noisy["posterior_probabilistic"])


@pytest.mark.slow(because="3.4 s; every recorded mutant dies without it")
def test_the_examples_of_published_tables_are_those_of_their_command(
    every: dict[str, Explanation],
) -> None:
    """Three pairs of tables of the people; the sums are of ages, by gender."""
    pair, options = ["age,gender", "age,illness"], {"secret": "illness", "small": SMALL}
    said = {name: last(e.example) for name, e in every.items()}
    result = qifsql.tables(PEOPLE, table=pair, **options)
    (row,) = result.rows()
    for name in ("reconstructed", "reconstructed_ones", "cells_proved", "certain_inference"):
        assert said[name] == row[name]
    assert said["components_proved"] == near(row["components_proved"])
    assert last(every["bracket"].example[:-1]) == near(row["lowest"])
    assert said["bracket"] == near(row["highest"])
    assert said["small_cells"] == result.details["checks"]["small"][1]
    disclosed = result.details["disclosure"].row(-1, named=True)
    assert (disclosed["table"], disclosed["dimension"]) == (pair[1], "illness")
    assert said["group_disclosure"] == disclosed["people"]
    (overlap,) = result.details["overlaps"].to_dicts()
    assert last(every["differencing"].example[:-1]) == overlap["cells"]
    assert said["differencing"] == overlap["people"]
    both = ["age,illness", "gender,illness"]
    (row,) = qifsql.tables(PEOPLE, table=both, known=["age", "gender"], secret="illness").rows()
    assert (said["believed"], said["actual"]) == near_all(row["believed"], row["actual"])
    hidden = qifsql.tables(PEOPLE, table=["age", f"age,illness:suppress<{HIDDEN}"], **options)
    assert said["undone"] == hidden.details["checks"]["undone"][1]
    sizes = pl.read_csv(PEOPLE).group_by("age", "gender").len("people")
    sums = qifsql.tables(
        sizes, table="gender", magnitude="people:gender", dominance=DOMINANCE, p_percent=P_PERCENT
    )
    (row,) = sums.details["magnitudes"].to_dicts()
    assert (said["dominance"], said["p_percent"]) == (row["dominated"], row["p_percent"])


@pytest.mark.slow(because="2.0 s; every recorded mutant dies without it")
def test_the_examples_of_synthetic_releases_are_those_of_their_command(
    every: dict[str, Explanation],
) -> None:
    """The people of the first gender are the release, those of the last the control."""
    people = pl.read_csv(PEOPLE)
    genders = people["gender"].unique(maintain_order=True)
    first, last_ = people.filter(gender=genders[0]), people.filter(gender=genders[-1])
    result = qifsql.synthetic(people, first, control=last_, qids="age", secret="illness")
    measured = dict(result.frame.select("measure", "value").iter_rows())
    for name in ("repU", "DiSCO", "success_original", "individual_leak", "population_knowledge"):
        assert last(every[name.casefold()].example) == near(measured[name])
    options = {"qids": "age", "secret": "illness", "questions": True}
    others = qifsql.synthetic(people, last_, control=first, **options)
    measured = dict(others.frame.select("measure", "value").iter_rows())
    assert last(every["singling_out_all"].example) == near(measured["singling_out_all"])
    drawn = qifsql.synthetic(people, last_, control=first, **options, attempts=500)
    measured = dict(drawn.frame.select("measure", "value").iter_rows())
    assert last(every["singling_out_some"].example) == near(measured["singling_out_some"])
    options |= {"qids": "age,gender", "split": "age"}
    copied = qifsql.synthetic(people, people.reverse(), control=last_, **options, links=100)
    measured = dict(copied.frame.select("measure", "value").iter_rows())
    assert last(every["linkability_nearest"].example) == near(measured["linkability_nearest"])
    assert last(every["linkability_risk"].example) == near(measured["linkability_risk"])
    words = people.with_columns(pl.col("age").cast(pl.String))
    files = [words, *(words.filter(gender=genders[i]) for i in (0, -1))]
    options = {"qids": "age", "secret": "illness", "questions": True, "distances": 100}
    third = qifsql.synthetic(*files[:2], control=files[2], **options)
    measured = dict(third.frame.select("measure", "value").iter_rows())
    for name in ("inference_risk", "nearer_original"):
        assert last(every[name].example) == near(measured[name])


def test_the_examples_of_learners_are_those_of_their_commands(
    every: dict[str, Explanation],
) -> None:
    """The people of the first gender are the file that is learned from."""
    people = pl.read_csv(PEOPLE)
    genders = people["gender"].unique(maintain_order=True)
    first, last_ = people.filter(gender=genders[0]), people.filter(gender=genders[-1])
    row = qifsql.attack("cas", people, learn=first, qids="age", secret="illness").frame
    for name in ("rapid", "success_present"):
        assert last(every[name].example) == near(row[name].item())
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    options = {"qids": "age", "secret": "illness", "learner": "decision-tree"}
    result = qifsql.synthetic(people, first, control=last_, **options)
    leak = result.frame.filter(measure="classifier_leak")["value"].item()
    assert last(every["classifier_leak"].example) == near(leak)


def test_the_example_of_the_hyper_is_that_of_its_table(every: dict[str, Explanation]) -> None:
    rows = qifsql.inspect(PEOPLE, show="hyper", qids=["age"], secret="illness").frame
    best = rows.group_by("inner").agg(pl.col("outer").first() * pl.col("probability").max())
    assert last(every["hyper"].example) == near(best["outer"].sum())


def test_the_example_of_refinement_is_an_attack_by_who_knows_more(
    every: dict[str, Explanation],
) -> None:
    both = ["age", "gender"]
    row = qifsql.attack("cas", PEOPLE, qids=both, secret="illness").rows()[0]
    assert last(every["refinement"].example) == near(row["posterior_probabilistic"])
    assert qifsql.compare(PEOPLE, qids=both, refines=["age"]).met


def of_the_secret(swept: Sweep, table: str) -> list[dict[str, Any]]:
    """The rows of an answer about the secret and probabilistic success."""
    rows = swept.details[table].filter(secret="illness")
    return (rows.filter(measure="probabilistic") if "measure" in rows.columns else rows).to_dicts()


def test_the_examples_of_subsets_are_rows_of_a_sweep(
    every: dict[str, Explanation], swept: Sweep
) -> None:
    rows = {row["subset"]: row for row in swept.rows() if row["secret"]}
    assert [last(every[name].example) for name in "kl"] == [rows[1]["k"], rows[1]["l"]]
    for name, row in zip(("age", "gender", "age and gender"), rows.values(), strict=True):
        said = [line for line in every["subset"].example if line.startswith(f"{name}: ")]
        assert last(tuple(said)) == row["subset"]
        (said_too,) = [x for x in every["shapley"].example if x.startswith(f"knowing {name}: ")]
        assert last((said_too,)) == near(row["posterior_probabilistic"])


def test_the_examples_of_what_quasi_identifiers_add_are_those_of_a_sweep(
    every: dict[str, Explanation], swept: Sweep
) -> None:
    rows = of_the_secret(swept, "shapley")
    for row, line in zip(rows, every["shapley"].example[-2:], strict=True):
        assert line.startswith(row["qid"])
        alone, final, *_, added = map(float, NUMBER.findall(line))
        assert (alone, final, added) == near_all(row["alone"], row["last"], row["shapley"])
    (row,) = of_the_secret(swept, "interactions")
    assert last(every["interaction"].example) == near(row["interaction"])


def test_the_examples_of_borders_and_of_what_is_saved_are_those_of_a_sweep(
    every: dict[str, Explanation], swept: Sweep
) -> None:
    said = every["borders"].example[-2:]
    for row, line in zip(of_the_secret(swept, "borders"), said, strict=True):
        assert line.startswith(f"{row['border']}: {' and '.join(row['qids'])}, ")
        assert last((line,)) == near(row["posterior"])
    lines = [line for line in every["saved"].example if line.endswith(" saved")]
    for row in of_the_secret(swept, "drop_first"):
        (line,) = [x for x in lines if x.startswith(f"{row['qid']} dropped")]
        assert last((line,)) == near(row["saved"])
    rows = of_the_secret(swept, "coarsen_first")
    assert last(every["saved"].example) == near(rows[0]["saved"])
    for row in rows:
        (line,) = [x for x in lines if x.startswith(f"{row['qid']} as ")]
        assert last((line,)) == near(row["saved"])
        assert line.count(" or ") + line.count(" | ") + 1 == row["values"]
        assert line.count(" | ") + 1 == row["values_coarser"]


def test_the_example_of_the_plan_is_that_of_a_sweep(
    every: dict[str, Explanation], swept: Sweep
) -> None:
    for row, line in zip(swept.details["plan"].to_dicts(), every["plan"].example[-2:], strict=True):
        assert line.startswith(row["first"])
        assert list(map(int, NUMBER.findall(line))) == [row["subsets"], row["rows"]]


def test_the_example_of_an_error_is_what_is_estimated_from_the_same_blocks(
    every: dict[str, Explanation],
) -> None:
    assert (float(STUDENT), UNSEEN) == (sampling.STUDENT_T, sampling.UNSEEN)
    said = every["sampled"].example
    sizes = list(map(int, re.findall(r"(\d+) pe", said[-6])))
    right = list(map(int, re.findall(r"\((\d+) - ", said[-3])))
    largest, blocks, drawn, people = map(int, re.findall(r"\d+", said[-2])[1:5])
    parts = pl.DataFrame({"part": range(1, len(sizes) + 1), "people": sizes, "mode": right})
    one = pl.lit(1, pl.Int64)
    others = dict.fromkeys(("subset", "question", "blocks", "certain", "k", "l"), one)
    rows = parts.with_columns(**others, worst_case=pl.lit(1.0))
    facts = {"of_blocks": blocks, "of_people": people, "largest": largest, "drawn": drawn}
    strata = parts.select(
        "part", pl.lit(1).alias("stratum"), **{n: pl.lit(x) for n, x in facts.items()}
    )
    _, errors = sampling.estimate(rows, strata, people)
    assert last(said) == near(errors["error_probabilistic"].item())
    assert last((said[-5],)) == near(errors["sampled"].item())


def near_all(*expected: Any) -> Any:
    """Each equal to the six digits that are shown."""
    return tuple(near(number) for number in expected)


Record = tuple[str, str, str]  # block, group, value


def counted(people: list[Record]) -> Sample:
    """The counts of people in the order of blocks and groups."""
    cells: dict[tuple[str, str], Counter[str]] = {}
    for block, group, value in sorted(people):
        cells.setdefault((block, group), Counter())[value] += 1
    return Sample("known", "by", "secret", cells)


def promises(rows: list[dict[str, str]]) -> dict[str, Callable[[], Any]]:
    """Return what the oracle of levels says of their examples."""
    order = sorted({row["s"] for row in rows})
    lines = {v: (f"pair {i // 2}",) for i, v in enumerate(order)}
    levels = ol.levels(rows, ["k"], "s", required={}, lines=lines)
    counts = list(microdata.counts(rows, ["k"], "s").values())
    everybody = Counter(row["k"] for row in rows)
    part = Counter(row["k"] for row in rows if row["g"] == rows[0]["g"])
    names = ("l_entropy", "t_equal", "t_ordered", "alpha", "basic_beta", "enhanced_beta")
    return {
        **{name: lambda n=name: levels[n]["value"] for name in names},  # type: ignore[misc]
        "delta_disclosure": lambda: levels["delta_disclosure"]["value"],
        "t_hierarchical": lambda: levels["t_hierarchical"]["value"],
        "l_recursive_c": lambda: max(ol.l_recursive_c(c, 2) or 0 for c in counts),
        "average_class_size": lambda: Fraction(len(rows), len(counts)),
        "k_map": lambda: min(everybody[b] for b in part),
        "delta_presence": lambda: max(Fraction(part[b], n) for b, n in everybody.items()),
        "bites": lambda: ol.bites(counts, Counter(r["s"] for r in rows), SKEW)["skewness"],
    }


def samples(sizes: Mapping[str, int]) -> dict[str, Callable[[], Any]]:
    """The people as half of a population, and as two releases that are linked by the block."""
    blocks, half, n = Counter(sizes.values()), Fraction(1, 2), sum(sizes.values())
    chance = se.zayatz(blocks, 2 * n)
    return {
        "population_uniques": lambda: blocks[1] / half * chance,
        "individual_risk": lambda: sum(
            k * size * se.risk(size, half) for size, k in blocks.items()
        ),
        "link_vulnerability": lambda: Fraction(9 * len(sizes), 10 * n),
        "noisy_knowledge": lambda: Fraction(7 * len(sizes) + 3, 10 * n),
    }


def releases(rows: list[dict[str, str]]) -> dict[str, Callable[[], Any]]:
    """Values left where releases by k and by g meet; what one cell for two values of k moves."""
    n = len(rows)

    def left() -> Fraction:
        seen = {
            (name, row[name]): {r["s"] for r in rows if r[name] == row[name]}
            for row in rows
            for name in "kg"
        }
        return Fraction(sum(len(seen["k", r["k"]] & seen["g", r["g"]]) for r in rows), n)

    def moved() -> Fraction:
        sizes = list(Counter(row["k"] for row in rows).values())[:2]
        return Fraction(max(sizes) - min(sizes), 2 * n)

    return {"composition": left, "generalisation": moved}


def published(rows: list[dict[str, str]]) -> dict[str, Callable[[], Any]]:
    """Return what tables of k and g, and of k and s, prove; what those of k, s and g, s tell."""
    people = [(row["k"], row["g"], row["s"]) for row in rows]
    n = len(people)
    closed, naive = (op.closed_form(people, [(0, x), (y, 2)]) for x, y in ((1, 0), (2, 1)))
    assert closed is not None
    assert naive is not None
    ranges = list(closed.bounds.values())
    settled = [low for low, high in ranges if low == high]
    few = [low for low, high in ranges if low > 0 and high < SMALL]
    blocks = {k: [p[1:] for p in people if p[0] == k] for k, _, _ in people}
    counts = {k: Counter(s for _, s in some) for k, some in blocks.items()}
    single = sum(len(some) for k, some in blocks.items() if len(counts[k]) == 1)
    sums = [
        sorted(Counter(k for k, g, _ in people if g == group).values(), reverse=True)
        for group in dict.fromkeys(g for _, g, _ in people)
    ]

    def proved() -> Fraction:
        whole = [all(a == b for c, (a, b) in closed.bounds.items() if c[0] == k) for k in blocks]
        return Fraction(sum(whole), len(whole))

    def greatest() -> Fraction:
        """All arrays of a block with the people of its groups and values, one by one."""
        total = 0
        for some in blocks.values():
            tables = [op.Table((i,)) for i in (0, 1)]
            told = tuple((table, dict(pt.count(some, table.dims))) for table in tables)
            problem = op.Problem(pt.domains(some), len(some), told)
            total += max(
                op.vulnerability(op.margin(problem, x, (0, 1)), 1, secret=True)
                for x in op.consistent(problem)
            )
        return Fraction(total, n)

    def undone() -> int:
        """Hidden counts of each block that are the same in all that add up to its people."""
        found = 0
        for values in counts.values():
            hidden = [n for n in values.values() if n < HIDDEN]
            each = product(range(1, HIDDEN), repeat=len(hidden))
            agree = [x for x in each if sum(x) == sum(hidden)]
            found += sum(len(set(column)) == 1 for column in zip(*agree, strict=True))
        return found

    def rest(parts: list[int]) -> int:
        return sum(parts[2:])

    most, percent = DOMINANCE
    return {
        "reconstructed": lambda: sum(settled),
        "reconstructed_ones": lambda: settled.count(1),
        "cells_proved": lambda: len(settled),
        "components_proved": proved,
        "certain_inference": lambda: single,
        "bracket": greatest,
        "believed": lambda: op.vulnerability(naive.means, n, secret=True),
        "actual": lambda: pt.success(pt.guesses(naive.means), Counter(people)) / n,
        "small_cells": lambda: sum(k < SMALL for c in counts.values() for k in c.values()),
        "group_disclosure": lambda: single,
        "undone": undone,
        "differencing": lambda: sum(few),
        "dominance": lambda: sum(100 * sum(x[:most]) > percent * sum(x) for x in sums),
        "p_percent": lambda: sum(100 * rest(x) < P_PERCENT * x[0] for x in sums),
    }


def synthetic(rows: list[dict[str, str]]) -> dict[str, Callable[[], Any]]:
    """Return what the oracle says: the first group is the release, the last the control."""
    files = [
        [((row["k"],), row["s"]) for row in rows if group is None or row["g"] == group]
        for group in (None, rows[0]["g"], _last_group(rows))
    ]
    found = oracle_synthetic.measures(*files)
    names = ("repU", "DiSCO", "success_original", "individual_leak", "population_knowledge")
    measured = {name.casefold(): lambda n=name: found[n] for name in names}
    return (
        measured
        | {  # type: ignore[return-value]
            "singling_out_all": lambda: _singled_out(files[0], files[2]),
            "singling_out_some": lambda: _singled_out_by_ranges(rows),
            "linkability_nearest": lambda: _nearest_links(rows),
            "linkability_risk": lambda: _links(rows),
            "inference_risk": lambda: _beyond(*(sr.success(files[1], f) for f in files[::2])),
            "nearer_original": lambda: oracle_synthetic.distances(*files)["nearer_original"],
            "classifier_leak": lambda: found["individual_leak"],
            "rapid": lambda: oracle_learning.scores(*files[:2], Fraction(3, 10))["rapid"],
            "success_present": lambda: oracle_learning.scores(*files[:2], Fraction())[
                "success_present"
            ],
        }
    )


def _singled_out(original: sr.File, release: sr.File) -> Fraction:
    conditions = oracle_synthetic.predicates(release, [0])
    right = oracle_synthetic.singled_out(conditions, original, len(original))
    return right / len(conditions) if conditions else Fraction(0)


def _singled_out_by_ranges(rows: list[dict[str, str]]) -> Fraction:
    """Return the share of conditions on the order of k; the release is the last group."""
    places = {k: i for i, k in enumerate(dict.fromkeys(row["k"] for row in rows))}
    everybody = [(places[row["k"]],) for row in rows]
    release = [(places[row["k"]],) for row in rows if row["g"] == _last_group(rows)]
    conditions = oracle_synthetic.some_predicates(release, 1, [0])
    right = sum(sum(bool(c(row)) for row in everybody) == 1 for c in conditions)
    return Fraction(right, len(conditions)) if conditions else Fraction(0)


def _nearest_links(rows: list[dict[str, str]]) -> Fraction:
    """Return the success of linking the column k with g in a copy."""
    everybody = [(row["k"], row["g"]) for row in rows]
    right = oracle_synthetic.nearest_linked(everybody, everybody, [0], 1, everybody)
    return right / len(everybody)


def _links(rows: list[dict[str, str]]) -> Fraction:
    """Return the risk of linking the column k with g in a copy; the last group is the control."""
    everybody = [((row["k"], row["g"]), None) for row in rows]
    control = [person for person in everybody if person[0][1] == _last_group(rows)]
    rights = [sr.linked(everybody, f, [0]) / len(f) for f in (everybody, control)]
    return _beyond(*rights)


def _beyond(success: Fraction, control: Fraction) -> Fraction:
    return (success - control) / (1 - control) if control < 1 else Fraction(0)


def _last_group(rows: list[dict[str, str]]) -> str:
    return list(dict.fromkeys(row["g"] for row in rows))[-1]


def owed(rows: list[dict[str, Any]]) -> Fraction:
    """Return what the guess about one of the first block owes to them; cells are single values."""
    block = rows[0]["k"]
    first = Counter(row["s"] for row in rows if row["k"] == block)
    own = min(first, key=lambda v: (-first[v], v))
    gone = next(i for i, row in enumerate(rows) if (row["k"], row["s"]) == (block, own))
    others = rows[:gone] + rows[gone + 1 :]
    if not others:
        return Fraction(0)
    domain = sorted({row["s"] for row in rows})
    p, q = (
        naive_bayes.bayes(
            [([lambda v, k=row["k"]: v == k], row["s"]) for row in some], [block], domain
        )
        for some in (rows, others)
    )
    return naive_bayes.l1(p, q) / 2


def special(rows: list[dict[str, str]]) -> dict[str, Callable[[], Any]]:
    """Return what the oracle says if all three columns are known."""
    qids = ["k", "g", "s"]
    msus = oracle_suda.minimal_uniques(rows, qids, 3)
    scores = [oracle_suda.score(mine, 3, 3) for mine in msus]
    return {
        "msu": lambda: sum(map(len, msus)),
        "suda_score": lambda: sum(scores),
        "dis_suda": lambda: max(oracle_suda.dis_suda(scores, rows, qids, Fraction(1, 2))),
    }


def suspected(rows: list[dict[str, str]], value: str) -> int:
    """People of blocks in which the value is twice as likely as before or more, not certain."""
    having = Counter(row["k"] for row in rows if row["s"] == value)
    sizes = Counter(row["k"] for row in rows)
    share = {k: Fraction(having[k], size) for k, size in sizes.items()}
    twice = Fraction(2 * having.total(), len(rows))
    return sum(size for k, size in sizes.items() if twice <= share[k] < 1)


def expected(people: list[Record]) -> Mapping[str, Callable[[], Any]]:
    """Return what the oracle says of each example's last number."""
    rows = [dict(zip(("k", "g", "s"), record, strict=True)) for record in sorted(people)]
    seen, n = ch.joint(rows, ["k"], "s"), len(rows)
    values = list(ch.secret_prior(seen))
    successes = oracle.of_individuals(oracle.individual_success(rows, ["k"], "s"))
    plain = oracle.attack(rows, ["k"], "s")
    part = [row for row in rows if row["g"] == rows[0]["g"]]
    risks = oracle.risks(part, ["k"], rows)

    def knowing(*names: str, coarser: str = "") -> Fraction:
        """Success by these columns, one of them with its values merged in pairs."""
        place = {v: i // 2 for i, v in enumerate(sorted({row[coarser] for row in rows if coarser}))}
        seen = [row | {coarser: place[row[coarser]]} if coarser else row for row in rows]
        return Fraction(oracle.attack(seen, [*names], "s")["posterior_probabilistic"])

    success = {
        frozenset(names): knowing(*names) if names else plain["prior_probabilistic"]
        for names in ((), ("k",), ("g",), ("k", "g"))
    }
    nothing, one, other, both = success.values()

    def unicity() -> Fraction:
        trails = {row["k"]: {(r["g"], r["s"]) for r in rows if r["k"] == row["k"]} for row in rows}
        owners = Counter(value for points in trails.values() for value in points)
        alone = [Fraction(sum(owners[v] == 1 for v in t), len(t)) for t in trails.values()]
        return sum(alone, Fraction()) / len(alone)

    def border() -> Fraction:
        safe = su.maximal(s for s, v in success.items() if v < THRESHOLD)
        risky = su.minimal(s for s, v in success.items() if v >= THRESHOLD)
        found = sorted(safe or risky, key=lambda s: (len(s), "k" not in s))
        return success[found[-1]]

    def error() -> float:
        sizes = Counter(row["k"] for row in rows)
        parts = [(n, max(of_block(block).values())) for block, n in sizes.items()][1:]
        if len(parts) < 2:
            return 0
        size, ratio = sum(n for n, _ in parts), sum(y for _, y in parts) / sum(n for n, _ in parts)
        squares = sum((y - ratio * n) ** 2 for n, y in parts) / (1 - 1 / len(parts))
        drawn = len(parts) / len(sizes)
        unseen = 3 * max(sizes.values()) / drawn / len(rows)
        return sampling.STUDENT_T * ((1 - drawn) * squares) ** 0.5 / size + unseen

    def of_block(block: str) -> Counter[str]:
        return Counter(row["s"] for row in rows if row["k"] == block)

    def last_stage() -> int:
        squares = {x: sum(n * n for n in Counter(row[x] for row in rows).values()) for x in "kg"}
        return len({row[max("gk", key=squares.__getitem__)] for row in rows})

    def gap() -> Fraction:
        means = [g.probabilistic for g in oracle.groups(rows, ["k"], "s", by="g").values()]
        return max(means) - min(means)

    def completed() -> Fraction:
        """Every one of the first block has a value of her own."""
        own = [(k if (k := row["k"]) != rows[0]["k"] else i) for i, row in enumerate(rows)]
        return Fraction(len(set(own)), n)

    def believed() -> Fraction:
        first = Counter(row["s"] for row in rows if row["k"] == rows[0]["k"])
        chosen = min(first, key=lambda v: (-first[v], v))
        others = len(values) - 1
        belief = {v: (1 - BELIEF) / others for v in values if v != chosen}
        prior = belief | {chosen: BELIEF if others else Fraction(1)}
        return ch.posterior_gain(ch.joint(rows, ["k"], "s", prior=prior), *ch.identity(values))

    noised = [(row["g"], row["s"]) for row in rows]

    def noisy() -> oracle_noise.Joint:
        """Noise of epsilon ln 3 on the count of the first group."""
        return oracle_noise.oblivious(noised, [lambda g: g == rows[0]["g"]], Fraction(1, 3))

    def uncertainty() -> float:
        return en.entropy(ch.secret_prior(seen))

    return {
        **{name: lambda c=column: plain[c] for name, column in PLAIN.items() if column in plain},
        "shannon": lambda: en.mutual_information(seen),
        "guessing": lambda: en.posterior_guessing(seen),
        "capacity": lambda: en.capacity(ch.channel(rows, ["k"], "s")),
        "pointwise_leakage": lambda: sum(p * math.log2(r) for r, p in en.pointwise_leakage(seen)),
        "bayes_security": lambda: en.bayes_security(ch.channel(rows, ["k"], "s")),
        "partial_knowledge": lambda: (3 * nothing + 3 * one + other + both) / 8,
        "gain": lambda: ch.posterior_gain(seen, *ch.penalty(values, PENALTY)),
        "prosecutor": lambda: oracle.risks(rows, ["k"]).prosecutor_highest,
        "journalist": lambda: risks.journalist_highest,
        "marketer": lambda: risks.marketer,
        "risks": lambda: risks.marketer,
        "histogram": lambda: [k for k in oracle.histogram(successes) if k][-1],
        "thresholds": lambda: Fraction(oracle.at_or_above(successes, max(successes)), n),
        "sure": lambda: sure_claims.claims(rows, ["k"], "s", max(successes)).loss,
        "quantiles": lambda: oracle.quantile(successes, Fraction(1, 2)),
        "value_chances": lambda: suspected(rows, list(counted(people).values)[-1]),
        "groups": gap,
        "households": lambda: oracle_households.risks(rows, "g", ["k"], None)["risk"],
        "person": lambda: people_with_records.attack(rows, "g", ["k"])["posterior_probabilistic"],
        "bounds": completed,
        "k": lambda: min(Counter(row["k"] for row in rows).values()),
        "l": lambda: min(len(of_block(row["k"])) for row in rows),
        "subset": lambda: 3,
        "shapley": lambda: (other - nothing + both - one) / 2,
        "interaction": lambda: both - one - other + nothing,
        "borders": border,
        "saved": lambda: both - min(knowing("k", "g", coarser=x) for x in "kg"),
        "sampled": error,
        "plan": last_stage,
        "recovered": lambda: Fraction(sum(row["k"] in {r["k"] for r in part} for row in rows), n),
        "linked": lambda: risks.marketer * len(part),
        "unicity": unicity,
        **samples(Counter(row["k"] for row in rows)),
        **special(rows),
        **releases(rows),
        **published(rows),
        **synthetic(rows),
        "wp29": lambda: plain["posterior_deterministic"],
        "prior": believed,
        "privacy_loss": lambda: oracle_noise.loss(noised, noisy()),
        "utility": lambda: oracle_noise.vulnerability(noisy(), 1),
        "scenario": lambda: en.mutual_information(seen) / bits if (bits := uncertainty()) else 1,
        "semantic": lambda: Fraction(1, 2),
        "differentiability": lambda: owed(rows),
        **promises(rows),
        "hyper": lambda: sum(outer * max(p for _, p in i) for i, outer in ch.hyper(seen).items()),
        "refinement": lambda: ch.posterior_gain(
            ch.joint(rows, ["k", "g"], "s"), *ch.identity(values)
        ),
    }


@given(st.lists(st.tuples(*map(st.sampled_from, ("abcd", "xy", "pqr"))), min_size=1, max_size=14))
def test_examples_of_any_table_end_with_what_the_oracle_says(
    every: dict[str, Explanation], people: list[Record]
) -> None:
    sample, wanted = counted(people), expected(people)
    assert set(wanted) == set(every)
    for name, value in wanted.items():
        assert last(example(name, sample)) == near(value()), name


def test_every_column_and_every_name_of_a_measure_is_explained(
    every: dict[str, Explanation],
) -> None:
    columns = {column for e in every.values() for column in e.columns}
    assert {c for schema in OF_RELEASES for c in schema} <= columns
    assert {*RECOVERED, *PATTERNS, *LINKED, *CONFIDENCE, *UNICITY} <= columns
    assert {*estimate.ESTIMATES, *estimate.INDIVIDUAL, *estimate.HISTOGRAM} <= columns
    assert {*KEYLESS, *LINKS, *CALIBRATION} <= columns
    assert set(COLUMNS) <= columns
    assert {column for schema in OF_A_SWEEP for column in schema} <= columns
    assert {*OF_TABLES, *breakdown.CHECKS, *breakdown.DISCLOSURE} - {"table"} <= columns
    assert {*magnitude.MAGNITUDES} - {"table", "number", "dimensions"} <= columns
    names = {*every, *(alias for e in every.values() for alias in e.aliases)} | columns
    assert {*ALL_MEASURES, *DETAILS, *MEASURES, *MODELS} <= names
    assert {"g_vulnerability", "channel", "joint", "journalist"} <= names


@pytest.mark.cases(3)
@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("posterior_probabilistic", "probabilistic"),
        ("Bayes", "probabilistic"),
        ("prior_guessing", "guessing"),
        ("Mutual Information", "shannon"),
        (" min-entropy  leakage ", "min_entropy_leakage"),
        ("by", "groups"),
        ("prosecutor_risk", "prosecutor"),
        ("individuals", "histogram"),
        ("IRS", "attack"),
        ("k-anonymity", "k"),
        ("L", "l"),
        ("drop first", "saved"),
        ("posterior_coarser", "saved"),
        ("share", "thresholds"),
        ("minimal risky", "borders"),
        ("highest", "bracket"),
        ("dominated", "dominance"),
        ("hidden", "undone"),
    ],
)
def test_a_measure_is_found_by_any_of_its_names(asked: str, name: str) -> None:
    assert explain(asked).name == name


def test_other_names_are_names_of_one_measure_only(every: dict[str, Explanation]) -> None:
    names = [name for e in every.values() for name in (e.name, *e.aliases)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ("shanon", 'there is no measure "shanon"; did you mean "shannon"?'),
        ("posterior_probabilistc", 'did you mean "posterior_probabilistic"?'),
        ("qqqq", "there are attack, blocks, deterministic"),
        ("", 'there is no measure ""; there are'),
        ("symbols", "there is no measure"),
    ],
)
def test_an_unknown_name_is_an_error_that_says_what_there_is(asked: str, hint: str) -> None:
    with pytest.raises(InputError, match=re.escape(hint)):
        explain(asked)


def test_every_explanation_is_complete(every: dict[str, Explanation]) -> None:
    assert list(every) == [e.name for e in explain()]
    for e in every.values():
        texts = (e.title, e.meaning, e.formula, e.direction, e.range, e.source)
        assert all(texts), e.name
        assert e.works, f"{e.name} cites nothing"
        assert e.meaning.endswith(".")
        assert all(note.endswith(".") for note in e.notes)
        assert re.search(r"better|worse|Neither", e.direction), e.name


def test_what_stands_in_a_formula_is_said(every: dict[str, Explanation]) -> None:
    for e in every.values():
        used = set(re.findall(r"[A-Za-z]\([bv](?:(?:, | \| )[bv])?\)|Σ_[bv]|max_[bv]", e.formula))
        assert used - {"q(v)"} <= {symbol.split(": ")[0] for symbol in e.symbols}, e.name


def test_all_gain_functions_are_listed(every: dict[str, Explanation]) -> None:
    assert {note.split(":")[0] for note in every["gain"].notes} == set(KINDS)


def test_the_origin_has_the_table_and_the_sql_of_the_counts(every: dict[str, Explanation]) -> None:
    origin = every["probabilistic"].origin
    assert [Path(p).name for p in origin.paths] == [PEOPLE.name]
    assert "GROUP BY" in origin.sql


def test_the_table_has_a_row_for_each_measure_and_says_all_of_it(
    every: dict[str, Explanation],
) -> None:
    table = frame(list(every.values()))
    assert dict(table.schema) == FIELDS
    assert table["measure"].to_list() == list(every)
    assert table.null_count().sum_horizontal().item() == 0
    assert not any("\n" in text for text in table["example"])


def test_the_command_shows_what_python_gives() -> None:
    one = explain("bayes")
    shown = run("explain", "bayes", "--format", "table")
    assert shown.code == 0
    assert shown.err == ""
    for text in (one.title, one.direction, *one.example, *one.symbols):
        assert text in shown.out
    document = json.loads(run("explain", "bayes", "-f", "json").out)
    assert document["spec"] == {"measure": "probabilistic"}
    assert document["results"] == frame([one]).to_dicts()


def test_without_a_name_the_command_lists_all(every: dict[str, Explanation]) -> None:
    table = run("explain", "-f", "table").out
    assert run("explain").out == table  # its answer is prose, on a pipe too
    rows = list(csv.DictReader(io.StringIO(run("explain", "-f", "csv").out)))
    assert [row["measure"] for row in rows] == list(every)
    assert all(e.title in table for e in every.values())
    assert len(run("explain", "-f", "markdown").out.splitlines()) == len(every) + 2


def test_the_command_writes_files_with_their_origin(tmp_path: Path) -> None:
    out = tmp_path / "measures.html"
    assert run("explain", "-o", out).code == 0
    assert "Refinement" in out.read_text("utf-8")
    manifest = json.loads((tmp_path / "measures.html.manifest.json").read_text("utf-8"))
    assert "GROUP BY" in manifest["sql"]


def test_an_unknown_measure_is_the_users_error() -> None:
    done = run("explain", "entropi")
    assert done.code == 2
    assert done.out == ""
    assert 'did you mean "entropy"?' in done.err
