"""Success of adversaries who know some attributes, against a slow program over records."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import oracle_adversaries as oracle
import polars as pl
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import qifsql
from qifsql import adversaries
from qifsql.adversary.knowledge import any_of, independent
from qifsql.errors import InputError
from qifsql.measures.distribution import Distribution
from qifsql.reference.quasi_identifier_sets import subsets
from qifsql.results.result import Result

QIDS = ("age", "sex", "city")
NUMBERS = ("expected", "median", "q95", "least", "greatest", "chance")
SHARES = ("0", "0.1", "1/3", "0.5", "0.95", "1")

PEOPLE = [
    (20, "f", "a", "yes"),
    (20, "f", "a", "yes"),
    (20, "m", "a", "no"),
    (30, "m", "b", "no"),
    (30, "f", "b", "yes"),
    (40, None, "b", "no"),
]
"""Six people whose numbers are computed by hand below."""


def swept(people: Sequence[Sequence[Any]], **options: Any) -> Result:
    """A sweep of people with the quasi-identifiers ``QIDS`` and the secret ``ill``."""
    schema = dict(zip((*QIDS, "ill"), (pl.Int64, pl.String, pl.String, pl.String), strict=True))
    frame = pl.DataFrame(list(people), schema=schema, orient="row")
    return qifsql.sweep(frame, qids=list(QIDS), secret="ill", **options)


@pytest.fixture(scope="module")
def six() -> Result:
    return swept(PEOPLE, histogram=True)


def row(result: Result, **of: Any) -> dict[str, Any]:
    """The one row of a result with these values."""
    frame = result.frame
    for name, value in of.items():
        frame = frame.filter(pl.col(name).eq_missing(pl.lit(value)))
    assert frame.height == 1
    return frame.row(0, named=True)


def as_floats(numbers: dict[str, Fraction | None]) -> dict[str, float | None]:
    return {name: None if x is None else float(x) for name, x in numbers.items()}


people = st.lists(
    st.tuples(
        st.sampled_from([20, 30, 40]),
        st.sampled_from(["f", "m", None]),
        st.sampled_from("ab"),
        st.sampled_from(["yes", "no"]),
    ),
    min_size=1,
    max_size=12,
)
shares = st.sampled_from(SHARES)


@pytest.mark.slow(because="1.1 s; every recorded mutant dies without it")
@given(people, st.tuples(shares, shares, shares), st.tuples(shares, shares), st.integers(0, 3))
@settings(max_examples=examples(8), deadline=None)
def test_every_number_is_that_of_the_slow_program(
    records: Any, known: tuple[str, ...], options: tuple[str, str], size: int
) -> None:
    """Independent knowledge, any r of n, and the mixture of both, with attempts and a threshold."""
    sweep = swept(records, histogram=True)
    attempt, threshold = options
    knows = {"a": dict(zip(QIDS, known, strict=True)), "b": dict.fromkeys(QIDS, "0.5")}
    by_name = {
        "a": oracle.independent([Fraction(p) for p in known]),
        "b": oracle.independent([Fraction(1, 2)] * 3),
        f"any {size} of 3": oracle.any_of(3, size),
    }
    result = adversaries(sweep, knows=knows, any=size, attempt=attempt, threshold=threshold)
    assert result.frame.height == len(by_name) * 4
    for secret in (None, "ill"):
        place = None if secret is None else 3
        each = {s: oracle.success(records, s, place) for s in subsets(range(3))}
        for measure in ("deterministic", "probabilistic"):
            values = {s: numbers[measure] for s, numbers in each.items()}
            for name, weights in by_name.items():
                line = row(result, adversary=name, secret=secret, measure=measure)
                expected = oracle.summary(
                    values, weights, attempt=Fraction(attempt), threshold=Fraction(threshold)
                )
                assert {n: line[n] for n in NUMBERS} == as_floats(expected)
                assert line["prior"] == float(Fraction(attempt) * values[frozenset()])
                assert line["subsets"] == sum(w > 0 for w in weights.values())
        for name, weights in by_name.items():
            table = result.details["histogram"]
            secrets = pl.col("secret").eq_missing(pl.lit(secret, pl.String))
            bins = table.filter(secrets, adversary=name).select("bin", "individuals").rows()
            slow = oracle.people_by_percent(records, weights, place)
            assert dict(bins) == {b: float(n) for b, n in slow.items() if n}


def test_numbers_that_were_computed_by_hand(six: Result) -> None:
    """Age is known with 1/2: V is 1/6 or 3/6 for records, 3/6 or 5/6 for the illness.

    Ages are 20 (three people), 30 (two) and 40 (one): three blocks of six records. Of the three of
    20 two are ill, of the two of 30 one, the one of 40 is not: 2 + 1 + 1 = 4 right. Without the age
    3 of 6 are ill.
    """
    result = adversaries(six, knows="age=0.5", threshold="1/2")
    records = row(result, secret=None, measure="probabilistic")
    illness = row(result, secret="ill", measure="probabilistic")
    assert (records["least"], records["greatest"]) == (1 / 6, 1 / 2)
    assert records["expected"] == float(Fraction(1, 2) * (Fraction(1, 6) + Fraction(1, 2)))
    assert records["median"] == 1 / 6  # P(V <= 1/6) = 1/2 reaches 1/2
    assert records["q95"] == 1 / 2
    assert records["chance"] == 0.5
    assert (illness["least"], illness["greatest"]) == (3 / 6, 4 / 6)
    assert illness["expected"] == float(Fraction(7, 12))
    assert illness["chance"] == 1
    sure = row(result, secret=None, measure="deterministic")
    assert (sure["least"], sure["greatest"]) == (0, 1 / 6)  # the one of 40


def test_who_knows_all_for_sure_is_the_adversary_of_the_sweep(six: Result) -> None:
    every = adversaries(six, knows=["all: *=1"], any=3)
    full = six.frame.filter(n_qids=3)
    for line in every.frame.iter_rows(named=True):
        of = full.filter(pl.col("secret").eq_missing(pl.lit(line["secret"], pl.String)))
        posterior = of[f"posterior_{line['measure']}"].item()
        assert all(line[n] == posterior for n in NUMBERS[:-1])


def test_who_knows_nothing_has_the_prior(six: Result) -> None:
    result = adversaries(six, knows={"nobody": {"*": 0}}, any=0)
    assert result.frame["expected"].to_list() == result.frame["prior"].to_list()
    assert result.frame["greatest"].to_list() == result.frame["prior"].to_list()


def test_without_a_request_everybody_who_knows_any_number(six: Result) -> None:
    result = adversaries(six)
    assert result.frame["adversary"].unique(maintain_order=True).to_list() == [
        f"any {r} of 3" for r in range(4)
    ]
    sizes = result.details["by_size"]
    means = sizes.rename({"mean": "expected"}).sort("n_qids", maintain_order=True)
    for name in ("expected", "median", "least", "greatest"):
        assert means[name].to_list() == result.frame[name].to_list()


@given(st.lists(st.sampled_from(SHARES), min_size=1, max_size=6), st.integers(0, 6))
@settings(max_examples=examples(60), deadline=None)
def test_weights_are_those_of_the_definition(known: list[str], size: int) -> None:
    fractions = tuple(map(Fraction, known))
    n, r = len(known), min(size, len(known))
    for adversary, slow in (
        (independent("she", fractions), oracle.independent(fractions)),
        (any_of(n, r, r)[0], oracle.any_of(n, r)),
    ):
        whole = adversary.weights()
        total = sum(whole.values())
        quick = {frozenset(i for i in range(8) if s >> i & 1): Fraction(w, total)
                 for s, w in whole.items()}  # fmt: skip
        assert quick == {s: w for s, w in slow.items() if w}
        assert adversary.support == len(quick)


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5)), min_size=1, max_size=9),
    st.fractions(Fraction(1, 100), 1, max_denominator=100),
    st.fractions(0, 1, max_denominator=12),
)
@settings(max_examples=examples(80), deadline=None)
def test_a_quantile_is_the_smallest_value_that_is_enough(
    pairs: list[tuple[int, int]], share: Fraction, threshold: Fraction
) -> None:
    total = sum(w for _, w in pairs)
    if not total:
        return
    success = Distribution.of(pairs, Fraction(9))
    below = {v: Fraction(sum(w for u, w in pairs if u <= v), total) for v, _ in pairs}
    assert success.quantile(share) == min(Fraction(v, 9) for v, p in below.items() if p >= share)
    reached = sum(w for v, w in pairs if Fraction(v, 9) >= threshold)
    assert success.chance(threshold) == Fraction(reached, total)
    assert success.times(Fraction(1, 3)).expected == success.expected / 3
    assert success.times(Fraction(0)).greatest == 0


def test_a_mixture_and_a_list_of_sets(six: Result, tmp_path: Path) -> None:
    """A TOML file of two adversaries and their mixture, and a CSV file with the same weights."""
    file = tmp_path / "who.toml"
    file.write_text(
        '[neighbour]\nage = 0.5\nsex = 1\n[insurer]\ncity = "1/3"\n'
        "[mixture]\nneighbour = 3\ninsurer = 1\n"
    )
    listed = tmp_path / "sets.csv"
    listed.write_text("qids,weight\nsex,3/8\nage+sex,0.375\ncity,1/12\n,1/6\n")
    result = adversaries(six, knows=[file, listed], threshold=0.5)
    frames = [result.frame.filter(adversary=name).drop("adversary") for name in ("mixture", "sets")]
    assert frames[0].equals(frames[1])
    assert not any("add up" in note for note in result.notes)


def test_a_stored_result_and_a_report_name_files_without_their_folders(
    six: Result, tmp_path: Path
) -> None:
    (tmp_path / "who.toml").write_text('["<script>"]\nage = 0.5\n')
    result = adversaries(six, knows=tmp_path / "who.toml")
    assert result.spec["knows"] == "who.toml"
    page = tmp_path / "page.md"
    qifsql.report(result, page)
    assert str(tmp_path) not in page.read_text()
    assert r"\<script\>:" in page.read_text()


def test_weights_in_proportion_are_said(six: Result, tmp_path: Path) -> None:
    (tmp_path / "sets.csv").write_text("qids,weight\nsex,1\nage,2\n")
    result = adversaries(six, knows=str(tmp_path / "sets.csv"))
    assert any("add up to 3, not to 1" in note for note in result.notes)
    line = row(result, secret=None, measure="probabilistic")
    assert line["expected"] == float((3 + 2 * Fraction(3)) / 3 / 6)


def test_attributes_that_are_not_named_are_not_known_and_that_is_said(six: Result) -> None:
    result = adversaries(six, knows="age=1")
    assert result.notes[0] == (
        'age=1 does not know "sex", "city": they are not named (*=0.1 gives all others a chance)'
    )
    assert not adversaries(six, knows="age=1,*=0").notes


def test_the_attempt_is_said(six: Result) -> None:
    result = adversaries(six, any=1, attempt=0.05)
    assert "multiplied by 0.05" in result.notes[-1]
    shown = " ".join(str(result).split())
    assert "numbers by attributes known, are about someone who does try" in shown
    assert "any 1 of 3, if anybody tries: right for 44 of 100 people" in shown  # (3 + 3 + 2) / 18


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
def test_names_with_signs_stand_in_double_quotes() -> None:
    names = ["a=b", "c:d", "e;f", "g,h", 'i"j']
    frame = pl.DataFrame({name: [0, 1, 1] for name in names})
    quoted = [name.replace('"', '""') for name in names]
    sweep = qifsql.sweep(frame, qids=names)
    knows = "who: " + ",".join(f'"{name}"=0.5' for name in quoted)
    assert adversaries(sweep, knows=knows).frame["subsets"].to_list() == [32, 32]


def test_a_stored_sweep_gives_the_same(six: Result, tmp_path: Path) -> None:
    expected = adversaries(six, knows="age=0.3,sex=0.9,city=0.5", threshold=0.2)
    for ending in ("parquet", "json"):
        place = six.save(tmp_path / f"six.{ending}")
        stored = adversaries(place, knows="age=0.3,sex=0.9,city=0.5", threshold=0.2)
        assert stored.frame.equals(expected.frame)
        for name, table in expected.details.items():
            assert stored.details[name].equals(table)
        assert Path(stored.origin.paths[0]).name == f"six.{ending}"


def test_weighted_people_give_the_numbers_that_the_sweep_stored() -> None:
    frame = pl.DataFrame(PEOPLE, schema=[*QIDS, "ill"], orient="row")
    frame = frame.with_columns(w=pl.Series([0.5, 1.25, 3.0, 0.1, 2.0, 0.3]))
    sweep = qifsql.sweep(frame, qids=list(QIDS), weight="w")
    result = adversaries(sweep, knows="age=1,sex=0.5")
    posteriors = sweep.frame.filter(pl.col("subset").is_in([1, 3]))["posterior_probabilistic"]
    line = row(result, measure="probabilistic")
    assert line["expected"] == float(sum(map(Fraction, posteriors)) / 2)


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no probability": ({"knows": "age"}, "is not ATTRIBUTE=PROBABILITY"),
    "unknown": ({"knows": "agee=1"}, 'did you mean "age"'),
    "above one": ({"knows": "age=1.5"}, "not a number from 0 to 1"),
    "negative": ({"knows": "age=-0.5"}, "not a number from 0 to 1"),
    "no number": ({"knows": {"age": True}}, "not a number from 0 to 1"),
    "infinite": ({"knows": {"age": float("inf")}}, "not a number from 0 to 1"),
    "many digits": ({"knows": "age=1e-40"}, "more than 18 digits"),
    "twice": ({"knows": "age=1,age=0"}, "named twice"),
    "a comma at the end": ({"knows": "age=1,"}, "ends in a comma"),
    "nothing": ({"knows": [""]}, "is not ATTRIBUTE=PROBABILITY"),
    "no name": ({"knows": ":age=1"}, "is empty"),
    "two of a name": ({"knows": ["x: age=1", "x: sex=1"]}, "two adversaries"),
    "injection": ({"knows": 'a"b;--=1'}, "is not ATTRIBUTE=PROBABILITY"),
    "too many": ({"any": 4}, "3 quasi-identifiers"),
    "sizes": ({"any": "two"}, "written 3 or 1-4"),
    "turned": ({"any": "3-1"}, "the smaller number first"),
    "attempt": ({"attempt": 1.5}, "from 0 to 1"),
    "threshold": ({"threshold": "x"}, "from 0 to 1"),
    "missing file": ({"knows": "none.toml"}, "cannot be read"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_in_one_line(six: Result, name: str) -> None:
    options, message = WRONG[name]
    with pytest.raises(InputError) as error:
        adversaries(six, **options)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


FILES = {
    "who.toml": [
        ("age = 1\n", "in no table"),
        ("[a]\nagee = 1\n", "line 1"),
        ("[a]\nage = 2\n", "from 0 to 1"),
        ("[mixture]\na = 1\n", "no adversaries"),
        ("[a]\nage = 1\n[mixture]\nb = 1\n", 'no adversary "b"'),
        ("[a]\nage = 1\n[mixture]\na = 0\n", "no share above 0"),
        ("[a\n", "no TOML"),
        ("", "no adversaries"),
    ],
    "sets.csv": [
        ("qids,share\nage,1\n", "other columns"),
        ("qids,weight\nage,-1\n", "line 2"),
        ("qids,weight\nage,1\nage,1\n", "line 3"),
        ("qids,weight\nagee,1\n", "did you mean"),
        ("qids,weight\nage,0\n", "no set with a weight above 0"),
        ("qids,weight\nage\n", "two fields"),
        ("", "other columns"),
    ],
}


@pytest.mark.parametrize(
    ("file", "text", "message"), [(f, *case) for f, cases in FILES.items() for case in cases]
)
def test_what_is_wrong_in_a_file_is_said(
    six: Result, tmp_path: Path, file: str, text: str, message: str
) -> None:
    (tmp_path / file).write_text(text)
    with pytest.raises(InputError) as error:
        adversaries(six, knows=str(tmp_path / file))
    assert message in str(error.value)


def test_knowledge_is_no_frame(six: Result) -> None:
    with pytest.raises(TypeError, match="DataFrame"):
        adversaries(six, knows=pl.DataFrame({"age": [0.5]}))  # type: ignore[typeddict-item]


def test_a_file_that_is_not_utf_8_is_refused(six: Result, tmp_path: Path) -> None:
    (tmp_path / "sets.csv").write_bytes(b"qids,weight\n\xff,1\n")
    with pytest.raises(InputError, match="not UTF-8"):
        adversaries(six, knows=str(tmp_path / "sets.csv"))


@pytest.mark.slow(because="1.2 s; every recorded mutant dies without it")
def test_sets_that_the_sweep_lacks_are_refused_and_those_it_has_are_used() -> None:
    """Nothing is filled in: an adversary who may know a missing set has no numbers."""
    part = swept(PEOPLE, sizes="1-2")
    result = adversaries(part, any=2)
    whole = adversaries(swept(PEOPLE), any=2)
    assert result.frame.equals(whole.frame)
    assert "6 of 7 sets" in result.notes[-1]
    assert result.details["by_size"]["n_qids"].max() == 2
    assert adversaries(part).frame["adversary"].unique().sort().to_list() == [
        f"any {r} of 3" for r in range(3)
    ]
    with pytest.raises(InputError, match=r"lacks 1 that .* may know \(with a chance of 0\.125\)"):
        adversaries(part, knows="age=0.5,sex=0.5,city=0.5,*=0")
    listed = swept(PEOPLE, subsets=["age+sex"])
    assert adversaries(listed, knows="age=1,sex=1").frame["expected"].to_list() == (
        adversaries(part, knows="age=1,sex=1").frame["expected"].to_list()
    )
    with pytest.raises(InputError, match="the sweep has 1 of 7 sets, and lacks 6 that"):
        adversaries(listed, knows="*=0.5")
    with pytest.raises(InputError, match="lacks 3 that"):
        adversaries(listed, any=1)


def test_a_wide_sweep_of_few_sizes_is_refused_before_its_sets_are_listed(six: Result) -> None:
    """2^24 sets are not listed to learn that three are stored."""
    spec = dict(six.spec) | {"qids": [f"a{i}" for i in range(24)]}
    alone = replace(
        six, origin=replace(six.origin, spec=spec), frame=six.frame.filter(n_qids=1), details={}
    )
    with pytest.raises(InputError, match="may know 16,777,216 sets"):
        adversaries(alone, knows="*=0.5")
    assert adversaries(alone, knows="a0=0.5").frame["subsets"].unique().to_list() == [2]


@pytest.mark.slow(because="0.7 s; every recorded mutant dies without it")
def test_estimates_and_other_results_are_refused(six: Result, tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": list(range(400)), "b": [i % 7 for i in range(400)]})
    with pytest.raises(InputError, match="sample"):
        adversaries(qifsql.sweep(frame, qids=["a", "b"], sample=0.5))
    attack = qifsql.attack("crs", frame, qids=["a"])
    with pytest.raises(InputError, match="not of a sweep"):
        adversaries(attack)
    six.save(tmp_path / "x.parquet")
    six.save(tmp_path / "y.parquet")
    with pytest.raises(InputError, match="several sweeps"):
        adversaries(tmp_path)


def damage(change: Callable[[pl.DataFrame], pl.DataFrame]) -> Callable[[Result], Result]:
    return lambda sweep: replace(sweep, frame=change(sweep.frame))


@pytest.mark.parametrize(
    "change",
    [
        lambda f: pl.concat([f, f.head(1)]),
        lambda f: f.with_columns(subset=pl.col("subset") + 1),
        lambda f: f.with_columns(posterior_probabilistic=pl.lit(2.0)),
        lambda f: f.slice(1),
    ],
    ids=["twice", "another subset", "above one", "a row less"],
)
def test_a_sweep_that_does_not_fit_is_damaged(
    six: Result, change: Callable[[pl.DataFrame], pl.DataFrame]
) -> None:
    with pytest.raises(InputError, match="damaged"):
        adversaries(damage(change)(six), any=1)


def test_a_collection_has_tagged_attributes(tmp_path: Path) -> None:
    first = pl.DataFrame({"id": range(6), "age": [1, 1, 2, 2, 3, 3], "ill": list("aabbab")})
    second = pl.DataFrame({"id": range(6), "age": [1, 2, 2, 3, 3, 4]})
    files = [tmp_path / "first.parquet", tmp_path / "second.parquet"]
    first.write_parquet(files[0])
    second.write_parquet(files[1])
    sweep = qifsql.sweep(files, qids=["1:age", "2:age"], secret="ill", key="id")
    result = adversaries(sweep, knows='"1:age"=1,"2:age"=0.5')
    assert result.frame["model"].unique().sort().to_list() == ["CAL", "CRL"]
    with pytest.raises(InputError, match="double quotes"):
        adversaries(sweep, knows="1:age=1")
