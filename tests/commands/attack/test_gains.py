"""Gains through the product equal the exact oracle for every gain function."""

import math
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction as F
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from effort import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from strategies import Table, tables, to_arrow, weights

import qifsql
from qifsql.data.types import Row
from qifsql.reference import channel as ch
from qifsql.reference import entropies as en
from qifsql.reference import microdata
from qifsql.results.assessment import GAIN, INDIVIDUAL, REPORTED, SCHEMA

Matrix = dict[tuple[Any, Any], F]
Numbers = Mapping[str, float | F | None]

light = settings(max_examples=examples(25))

MASS, PLACE = "mass", "place"  # columns with no name that is drawn
COSTS = ("0", "1", "0.5", "2.25", "0.1", "0.333333333", "1000000000")
DYADIC = ("-1000", "-2", "-1/2", "0", "0", "1/8", "1", "3/2", "3", "1000")
SAME = [name for name, kind in SCHEMA.items() if "determ" in name or kind == pl.Int64]
EITHER = st.sampled_from(("csv", "parquet"))


@dataclass(frozen=True)
class Release:
    """A table, maybe with weights."""

    table: Table
    masses: list[Any] | None

    @property
    def exact(self) -> bool:
        """Return whether weights are whole numbers or decimals."""
        return not (self.masses and isinstance(self.masses[0], float))

    @contextmanager
    def file(self) -> Iterator[Path]:
        """The table as Parquet, with the place of each row, in a folder of its own."""
        places = pa.array(range(len(self.table.rows)), pa.int64())
        table = to_arrow(self.table).append_column(PLACE, places)
        if self.masses is not None:
            table = table.append_column(MASS, pa.array(self.masses))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "release.parquet")
            pq.write_table(table, path)
            yield path

    def ask(self, path: Path, model: str, **options: Any) -> qifsql.Result:
        """An attack with the roles of the table."""
        options = {"qids": self.table.qids, "secret": self.table.secrets} | options
        return qifsql.attack(model, path, weight=MASS if self.masses else None, **options)

    def rows(
        self, path: Path, model: str, secret: str | None, **options: Any
    ) -> list[dict[str, Any]]:
        """The rows of an attack on one secret, one per gain function."""
        result = self.ask(path, model, secret=[secret] if secret else [], **options)
        individual = INDIVIDUAL if model.startswith("i") else {}
        reported = REPORTED if "reported" in result.frame.columns else {}
        assert dict(result.frame.schema) == SCHEMA | individual | GAIN | reported
        return result.rows()

    def joint(self, secret: str | None, kept: Collection[int] | None = None) -> ch.Joint:
        """The joint of the rows, or of those that are kept."""
        places = range(len(self.table.rows)) if kept is None else kept
        rows = [self.table.rows[i] for i in places]
        masses = None if self.masses is None else [self.masses[i] for i in places]
        return ch.joint(rows, self.table.qids, secret, weights=masses)


@st.composite
def releases(draw: st.DrawFn, drawn: st.SearchStrategy[Table] | None = None) -> Release:
    table = draw(tables() if drawn is None else drawn)
    return Release(table, draw(st.none() | weights(len(table.rows))))


@st.composite
def of_kind(draw: st.DrawFn, kind: pa.DataType, pool: Sequence[object]) -> Table:
    """1..12 rows of a small quasi-identifier and a secret with some values of the pool."""
    values = draw(st.lists(st.sampled_from(pool), min_size=1, max_size=6))
    cells = st.tuples(st.integers(0, 3), st.sampled_from(values))
    rows = [{"q": q, "s": s} for q, s in draw(st.lists(cells, min_size=1, max_size=12))]
    return Table(["q", "s"], {"q": pa.int64(), "s": kind}, rows, ["q"], ["s"])


SMALL = of_kind(pa.int32(), (None, 0, 1, 2, 3, 5, 9, -4))


def domain(joint: ch.Joint) -> list[Any]:
    """The values that somebody has."""
    return list(ch.secret_prior(joint))


def abstaining(guesses: Sequence[object], gain: ch.Gain) -> ch.Gains:
    """The same gains with one more guess, which gains nothing."""
    return [*guesses, ch.ABSTAIN], lambda w, v: F() if w is ch.ABSTAIN else gain(w, v)


def numbers(joint: ch.Joint, gains: ch.Gains, block: microdata.Key | None = None) -> Numbers:
    """Return what a row says: over everybody, or about one person in that block."""
    prior = ch.prior_gain(joint, *gains)
    if block is None:
        posterior, worst = (
            ch.posterior_gain(joint, *gains),
            ch.worst_case_gain(joint, *gains),
        )
    else:
        posterior = worst = ch.vulnerability(ch.inners(joint)[block], *gains)
    return {
        "prior_probabilistic": prior,
        "posterior_probabilistic": posterior,
        "leakage_additive": posterior - prior,
        "degradation_probabilistic": posterior / prior if prior else None,
        "worst_case": worst,
    }


def check(row: Row, wanted: Numbers, *, exact: bool = False, worst: bool = False) -> None:
    """The row says these numbers: exactly, or to 12 digits (``worst``: the worst case, too)."""
    for name, number in wanted.items():
        if number is None:
            assert row[name] is None, name
        elif exact and (worst or name != "worst_case"):
            assert row[name] == float(number), name
        else:
            assert math.isclose(row[name], number, rel_tol=1e-12, abs_tol=1e-12), name


def write(path: Path, columns: Mapping[str, Sequence[Any] | pa.Array]) -> Path:
    """A file of the user's: in CSV a missing value is an empty field, an empty text is quoted."""
    table = pa.table(columns)
    if path.suffix == ".csv":
        frame = pl.from_arrow(table)
        assert isinstance(frame, pl.DataFrame)
        frame.columns = list(columns)  # an empty name, too
        frame.write_csv(path)
    else:
        pq.write_table(table, path)
    return path


# Gains that need no file


@light
@given(releases(), st.data())
def test_tries_and_penalties_at_owners_and_secrets(drawn: Release, data: st.DataObject) -> None:
    secret = drawn.table.secrets[0]
    joints = {s: drawn.joint(s) for s in (None, secret)}
    k = data.draw(st.integers(1, 2 + max(len(domain(j)) for j in joints.values())))
    cost = data.draw(st.sampled_from(COSTS))
    texts = ["identity", f"tries:{k}", f"penalty:{cost}"]
    with drawn.file() as path:
        rows = drawn.rows(path, "crs,cas", secret, gain=texts, unit="BRL")
    for row, (asked, text) in zip(rows, product(joints, texts), strict=True):
        known = domain(joints[asked])
        gains = {
            "identity": ch.identity(known),
            f"tries:{k}": ch.tries(known, k),
            f"penalty:{cost}": ch.penalty(known, F(cost)),
        }
        check(row, numbers(joints[asked], gains[text]), exact=drawn.exact)
        assert (row["secret"], row["gain"], row["gain_unit"]) == (asked, text, "BRL")
        assert [row[c] for c in SAME] == [rows[3 * bool(asked)][c] for c in SAME]


@light
@given(releases(), st.data())
def test_tries_at_the_owner_of_the_record_alone(drawn: Release, data: st.DataObject) -> None:
    joint = drawn.joint(None)
    k = data.draw(st.integers(1, 2 + len(domain(joint))))
    with drawn.file() as path:
        (row,) = drawn.rows(path, "crs", None, gain=f"tries:{k}")
    check(row, {"posterior_probabilistic": ch.posterior_tries(joint, k)}, exact=drawn.exact)
    check(row, {"worst_case": ch.worst_case_tries(joint, k)})


def test_more_tries_than_values_of_one_secret_are_always_right_about_it_alone(
    tmp_path: Path,
) -> None:
    path = write(tmp_path / "r.csv", {"q": [1, 1, 2, 2], "a": [*"wxyz"], "b": [*"uvuv"]})
    for k in (3, 999_999_999):
        result = qifsql.attack("cas", path, qids="q", secret=["a", "b"], gain=f"tries:{k}")
        one, other = result.rows()
        assert one["prior_probabilistic"] == min(k, 4) / 4
        assert other["prior_probabilistic"] == other["posterior_probabilistic"] == 1
        assert any('secret "b" allows more guesses than the 2 values' in n for n in result.notes)


NUMBERS: dict[pa.DataType, tuple[Sequence[object], str]] = {
    pa.int64(): ((None, 0, 1, 2, 3, 5, 8, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)), "0 1 2 2.5"),
    pa.int8(): ((None, *range(-2, 9), -128, 127), "0 1 2 3.000000001 1000000000"),
    pa.uint64(): ((None, 0, 1, 2, 2**63, 2**63 + 1, 2**64 - 1), "0 1 1000000000"),
    pa.decimal128(10, 2): (
        (None, *(Decimal(n) / 100 for n in (-1, 0, 1, 2, 30, 31, 9999999999))),
        "0 0.01 0.015 0.3 1",
    ),
    pa.decimal128(38, 4): ((None, Decimal("0.0001"), Decimal("1"), Decimal("-5.5")), "0 1 6.5"),
    pa.float64(): (
        (None, math.nan, 0.0, -0.0, 0.25, 0.5, 0.75, 1.0, 3.0, 1e300, math.inf, -math.inf),
        "0 0.25 0.5 2 1000000000",
    ),
    pa.float32(): ((None, math.nan, 0.0, -0.0, 0.25, 0.5, 1.5, math.inf), "0 0.25 1"),
}


@pytest.mark.slow(because="0.5 s each; every recorded mutant dies without it")
@pytest.mark.parametrize("kind", list(NUMBERS), ids=str)
@settings(max_examples=examples(12))
@given(data=st.data())
def test_a_number_is_right_within_a_tolerance(kind: pa.DataType, data: st.DataObject) -> None:
    pool, widths = NUMBERS[kind]
    drawn = data.draw(releases(of_kind(kind, pool)))
    texts = data.draw(st.lists(st.sampled_from(widths.split()), min_size=1, unique=True))
    joint = drawn.joint("s")
    with drawn.file() as path:
        rows = drawn.rows(path, "cas", "s", gain=[f"tolerance:{width}" for width in texts])
    for row, width in zip(rows, texts, strict=True):
        gains = ch.tolerance(domain(joint), F(width))
        check(row, numbers(joint, gains), exact=drawn.exact)


@pytest.mark.parametrize(
    ("kind", "low"), [(pa.float64(), 2.0**53 + 2), (pa.float32(), 2.0**24 + 2)]
)
def test_a_tolerance_is_exact_where_the_next_number_is_2_away(
    tmp_path: Path, kind: pa.DataType, low: float
) -> None:
    path = write(tmp_path / "r.parquet", {"q": [0, 0], "s": pa.array([low, low + 2], kind)})
    result = qifsql.attack("cas", path, qids="q", secret="s", gain="tolerance:1")
    assert result.rows()[0]["posterior_probabilistic"] == 0.5


@light
@given(releases(), st.sampled_from(("0", "1", "4", "2.5", "0.1", "1000000000")))
def test_values_of_any_type_have_a_worth_and_are_compared(drawn: Release, number: str) -> None:
    secret = drawn.table.secrets[0]
    joint = drawn.joint(secret)
    known = domain(joint)
    text = "sql:CASE WHEN guess IS NOT DISTINCT FROM secret THEN 2 ELSE -(guess IS NULL)::INT END"
    worth = {(w, v): 2 if w == v else -(w is None) for w in known for v in known}
    gains = ch.gains_of_table(known, worth)
    with drawn.file() as path:
        rows = drawn.rows(path, "cas", secret, gain=[f"worth:{number}", text])
    worths = ch.worth(known, dict.fromkeys(known, F(number)))
    check(rows[0], numbers(joint, worths), exact=drawn.exact and number != "0.1")
    check(rows[1], numbers(joint, abstaining(*gains)), exact=drawn.exact)


# Who asks, and of whom


@st.composite
def matrices(draw: st.DrawFn, values: Sequence[object]) -> Matrix:
    """Gains of one to four guesses that are no values; one never loses."""
    guesses = draw(st.lists(st.sampled_from(("g", "G", " g", "1", None)), min_size=1, unique=True))
    pairs = [(w, v) for w in guesses for v in values]
    drawn = st.lists(st.sampled_from(DYADIC).map(F), min_size=len(pairs), max_size=len(pairs))
    gains = dict(zip(pairs, draw(drawn), strict=True))
    if all(min(gains[w, v] for v in values) < 0 for w in guesses):
        gains |= {("abstain", v): F() for v in values}
    return gains


def long(gains: Matrix, kind: pa.DataType, name: str = "secret") -> dict[str, Any]:
    """The columns of a matrix with one line for each pair."""
    return {
        "guess": pa.array([w for w, _ in gains], pa.string()),
        name: pa.array([v for _, v in gains], kind),
        "gain": [float(g) for g in gains.values()],
    }


@light
@given(releases(SMALL), st.data())
def test_gains_from_one_person_are_those_of_her_block(drawn: Release, data: st.DataObject) -> None:
    joints = {s: drawn.joint(s) for s in (None, "s")}
    block = data.draw(st.sampled_from(sorted(ch.outers(joints["s"]), key=repr)))
    k = data.draw(st.integers(1, len(domain(joints["s"]))))
    gains: dict[str, Callable[[list[Any]], ch.Gains]] = {
        f"tries:{k}": lambda known: ch.tries(known, k),
        "penalty:1.5": lambda known: ch.penalty(known, F(3, 2)),
        "tolerance:2": lambda known: ch.tolerance(known, 2),
        "worth:4": lambda known: ch.worth(known, dict.fromkeys(known, 4)),
    }
    with drawn.file() as path:
        of_all = {"qids": (), "target": {"q": block[0]}}
        rows = drawn.rows(path, "ias", "s", gain=list(gains), **of_all)
        rows += drawn.rows(path, "irs", None, gain=list(gains)[:2], **of_all)
    for row in rows:
        joint = joints[row["secret"]]
        made = gains[row["gain"]](domain(joint))
        check(row, numbers(joint, made, block), exact=drawn.exact)
        assert (row["best_guess"], row["blocks"]) == (None, 1)
    with drawn.file() as path:
        (row,) = drawn.ask(path, "ias", measures="all", **of_all).rows()
    known = {
        "prior": ch.secret_prior(joints["s"]),
        "posterior": ch.inners(joints["s"])[block],
    }
    for when, seen in known.items():
        check(
            row,
            {
                f"{when}_entropy": en.entropy(seen),
                f"{when}_guessing": en.guessing(seen),
            },
        )
    assert row["capacity"] is row["capacity_bits"] is None


@pytest.mark.slow(because="each gain alone is compared with the oracle")
@settings(max_examples=examples(8))
@given(releases(SMALL), st.booleans(), st.data())
def test_several_gains_say_what_each_says_alone(
    drawn: Release, one_person: bool, data: st.DataObject
) -> None:
    joint = drawn.joint("s")
    gains = data.draw(matrices(domain(joint)))
    (block,) = data.draw(st.sampled_from(sorted(ch.outers(joint), key=repr)))
    options: dict[str, Any] = {"target": {"q": block}} if one_person else {"qids": "q"}
    with drawn.file() as path:
        file = write(path.with_name("m.csv"), long(gains, pa.int32()))
        texts = ["identity", "tries:1", f"matrix:{file}", "tolerance:1", "sql:guess - secret > 1"]
        texts[-1] = "sql:coalesce(abs(guess - secret), 7) - 2"
        texts = data.draw(st.permutations([*texts, "penalty:0.1", "worth:2.5"]))

        def frame(gain: list[str]) -> pl.DataFrame:
            options["weight"] = drawn.masses and MASS
            model = "ias" if one_person else "cas"
            return qifsql.attack(model, path, secret="s", gain=gain, **options).frame.drop(
                "seconds"
            )

        together = frame(texts)
        alone = pl.concat([frame([text]) for text in texts], how="diagonal")
    assert_frame_equal(
        together.drop("gain", "gain_unit"), alone.drop("gain", "gain_unit"), check_exact=True
    )
    assert together["gain"].to_list() == texts


@light
@given(releases(), st.booleans())
def test_gains_are_of_the_records_that_stay(drawn: Release, dropped: bool) -> None:
    secret = drawn.table.secrets[0]
    rows = drawn.table.rows
    used = [*drawn.table.qids, secret]
    kept = [i for i in range(len(rows)) if i % 2 == 0 or i > 6]
    if dropped:
        kept = [i for i in kept if all(microdata.value(rows[i][c]) is not None for c in used)]
    assume(kept if drawn.masses is None else any(drawn.masses[i] for i in kept))
    joint = drawn.joint(secret, kept)
    known = domain(joint)
    with drawn.file() as path:
        found = drawn.rows(
            path,
            "cas",
            secret,
            gain=["worth:4", "penalty:0.5", f"tries:{len(known)}"],
            where=f"{PLACE} % 2 = 0 OR {PLACE} > 6",
            null="drop" if dropped else "distinct",
        )
    gains = (
        ch.worth(known, dict.fromkeys(known, 4)),
        ch.penalty(known, F(1, 2)),
        ch.tries(known, len(known)),
    )
    for row, made in zip(found, gains, strict=True):
        check(row, numbers(joint, made), exact=drawn.exact)


def test_the_example_of_the_paper(samples: Path) -> None:
    """PoPETs section 3, Table 2: who guesses the language right earns $4, so $2 becomes $3.

    Where a wrong guess costs three times as much, who knows nothing had better not guess.
    """
    gains = ["worth:4", "sql:CASE WHEN guess = secret THEN 1 ELSE -3 END"]
    options: dict[str, Any] = {"qids": ["gender", "age"], "secret": "language", "unit": "USD"}
    source = samples / "popets_table_2a.csv"
    result = qifsql.attack("cas", source, gain=gains, **options)
    dollars, careful = result.rows()
    assert [dollars["prior_probabilistic"], dollars["posterior_probabilistic"]] == [2.0, 3.0]
    assert (dollars["degradation_probabilistic"], dollars["leakage_additive"]) == (1.5, 1.0)
    assert (dollars["worst_case"], dollars["gain"], dollars["gain_unit"]) == (4.0, "worth:4", "USD")
    assert [careful["prior_probabilistic"], careful["posterior_probabilistic"]] == [0.0, 0.5]
    assert careful["degradation_probabilistic"] is careful["min_entropy_leakage"] is None
    losses, undefined = result.notes
    assert "has losses; the adversary may abstain and gain 0" in losses
    assert "is 0, so posterior over prior is undefined" in undefined


def test_sums_of_weights_beyond_64_bits_are_exact(tmp_path: Path) -> None:
    rows = [
        {"q": q, "s": i % 2 == 0, "w": (2**62 + i) // (q + 1)}
        for q in range(4)
        for i in range(q + 1)
    ]
    path = write(tmp_path / "r.parquet", {c: [row[c] for row in rows] for c in ("q", "s", "w")})
    found = qifsql.attack("crs,cas", path, qids="q", secret="s", weight="w", gain="tries:1").rows()
    for row, secret in zip(found, (None, "s"), strict=True):
        joint = ch.joint(rows, ["q"], secret, weights=[row["w"] for row in rows])
        check(row, numbers(joint, ch.identity(domain(joint))), exact=True, worst=False)
