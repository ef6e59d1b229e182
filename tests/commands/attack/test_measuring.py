"""Entropies, guesses, capacity, risks, beliefs, and the laws that always hold, from files."""

import math
import re
from collections.abc import Sequence
from contextlib import nullcontext
from fractions import Fraction as F
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import Table
from test_gains import (
    DYADIC,
    EITHER,
    SMALL,
    Numbers,
    Release,
    abstaining,
    check,
    domain,
    light,
    long,
    matrices,
    numbers,
    releases,
    write,
)

import qifsql
from qifsql.errors import InputError
from qifsql.reference import channel as ch
from qifsql.reference import entropies as en
from qifsql.reference import success as oracle

RISKS = ("prosecutor_risk", "journalist_risk", "marketer_risk")


def measured(joint: ch.Joint, channel: ch.Joint) -> Numbers:
    """Every measure of one secret but the risks."""
    before, most = ch.secret_prior(joint), en.capacity(channel)
    return {
        "prior_entropy": en.entropy(before),
        "posterior_entropy": en.posterior_entropy(joint),
        "mutual_information": en.mutual_information(joint),
        "prior_guessing": en.guessing(before),
        "posterior_guessing": en.posterior_guessing(joint),
        "capacity": most,
        "capacity_bits": math.log2(most),
    }


def observed(joint: ch.Joint, channel: ch.Joint, *, counted: bool) -> Numbers:
    """Pointwise leakage over people, and the Bayes security: all that is about one observation.

    They have no value where people do not count one each.
    """
    names = [f"pointwise_{name}" for name in ("mean", "median", "q95", "worst")]
    if not counted:
        return dict.fromkeys([*names, "bayes_security"])
    leaks = sorted(en.pointwise_leakage(joint))

    def quantile(share: F) -> float:
        enough = (r for r, _ in leaks if sum(p for x, p in leaks if x <= r) >= share)
        return math.log2(min(enough))

    mean = sum(p * math.log2(r) for r, p in leaks)
    spread = (mean, quantile(F(1, 2)), quantile(F(19, 20)), math.log2(leaks[-1][0]))
    security = en.bayes_security(channel)
    return dict(zip(names, spread, strict=True)) | {"bayes_security": security}


def channel(drawn: Release, secret: str | None) -> ch.Joint:
    return ch.channel(drawn.table.rows, drawn.table.qids, secret, weights=drawn.masses)


@st.composite
def of_many_values(draw: st.DrawFn) -> Table:
    """10..36 rows; the secret ``s`` has at least 9 values, the secret ``few`` at most 8."""
    first = [(draw(st.integers(0, 2)), i, i % 2) for i in range(9)]
    cells = st.tuples(st.integers(0, 2), st.integers(0, 15) | st.none(), st.integers(0, 7))
    drawn = [*first, *draw(st.lists(cells, min_size=1, max_size=27))]
    names = ["q", "s", "few"]
    rows = [dict(zip(names, row, strict=True)) for row in drawn]
    return Table(names, dict.fromkeys(names, pa.int16()), rows, ["q"], ["s", "few"])


# Measures


@light
@given(st.one_of(releases(), releases(of_many_values())))
def test_every_measure_is_that_of_the_oracle(drawn: Release) -> None:
    with drawn.file() as path:
        rows = drawn.ask(path, "crs,cas", measures="all").rows()
    for row, secret in zip(rows, (None, *drawn.table.secrets), strict=True):
        check(row, measured(drawn.joint(secret), channel(drawn, secret)))
        counted = drawn.masses is None
        check(row, observed(drawn.joint(secret), channel(drawn, secret), counted=counted))
        if secret is not None:
            assert [row[name] for name in RISKS] == [None] * 3
        leaked, bits = row["degradation_probabilistic"], row["mutual_information"]
        assert leaked <= row["capacity"] * (1 + 1e-12)
        assert -1e-12 <= bits <= row["prior_entropy"] + 1e-12


@light
@given(releases(), st.data())
def test_risks_are_of_the_release_and_of_the_population(
    drawn: Release, data: st.DataObject
) -> None:
    table = drawn.table
    more = data.draw(st.lists(st.sampled_from(table.rows), max_size=8))
    people = [{**row, **data.draw(st.sampled_from(table.rows))} for row in more[:3]]
    people = data.draw(st.permutations([*table.rows, *more, *people]))
    others = Table(table.columns, table.types, people, table.qids, table.secrets)
    with drawn.file() as path, Release(others, None).file() as population:
        alone = drawn.ask(path, "crs,cas", measures="risks").rows()
        known = drawn.ask(path, "crs,cas", population=population).rows()
    masses = drawn.masses or [1] * len(table.rows)
    there = [row for row, mass in zip(table.rows, masses, strict=True) if mass]
    risks = oracle.risks(there, table.qids, people)
    highest = risks.prosecutor_highest
    check(alone[0], dict(zip(RISKS, (highest, None, risks.prosecutor_average), strict=True)))
    check(
        known[0], dict(zip(RISKS, (highest, risks.journalist_highest, risks.marketer), strict=True))
    )
    for row in (*alone[1:], *known[1:]):
        check(row, dict.fromkeys(RISKS))


# Beliefs


@st.composite
def beliefs(draw: st.DrawFn, values: Sequence[object]) -> dict[Any, F]:
    """Return what she believes of each value, as floats say it; nothing of some."""
    shares = draw(
        st.lists(st.integers(0, 4), min_size=len(values), max_size=len(values)).filter(any)
    )
    return {v: F(n / sum(shares)) for v, n in zip(values, shares, strict=True)}


@light
@given(releases() | releases(SMALL), EITHER, st.data())
def test_beliefs_take_the_place_of_frequencies(
    drawn: Release, ending: str, data: st.DataObject
) -> None:
    table, secret = drawn.table, drawn.table.secrets[0]
    assume(len({name.casefold() for name in table.secrets}) == len(table.secrets))
    known = domain(drawn.joint(secret))
    prior = data.draw(beliefs(known))
    joint = ch.joint(table.rows, table.qids, secret, weights=drawn.masses, prior=prior)
    gains = {
        "identity": ch.identity(known),
        f"tries:{len(known)}": ch.tries(known, len(known)),
        "penalty:0.5": ch.penalty(known, F(1, 2)),
    }
    if table.types[secret] == pa.int32():
        gains["tolerance:2"] = ch.tolerance(known, 2)
        gains["worth:3"] = ch.worth(known, dict.fromkeys(known, 3))
        near = {(w, v): -1 if None in (w, v) else 3 - abs(w - v) for w in known for v in known}
        text = "sql:coalesce(3 - abs(guess - secret), -1)"
        gains[text] = abstaining(*ch.gains_of_table(known, near))
    name = data.draw(st.sampled_from((secret, secret if table.secrets[1:] else "value")))
    columns = {
        name: pa.array(known, table.types[secret]),
        "probability": [*map(float, prior.values())],
    }
    with drawn.file() as path:
        file = write(path.with_name(f"prior.{ending}"), columns)
        rows = drawn.ask(path, "crs,cas", prior=file, gain=["identity"], measures="all").rows()
        more = drawn.ask(path, "cas", prior=file, gain=list(gains), secret=[secret]).rows()
    for row in more:
        check(row, numbers(joint, gains[row["gain"]]))
        sure = [p for b, p in ch.outers(joint).items() if 1 in ch.inners(joint)[b].values()]
        check(row, {"posterior_deterministic": sum(sure, F())})
        assert row["blocks"] == len(ch.outers(joint))
    possible = {k: c for k, c in channel(drawn, secret).items() if prior[k[1]]}
    check(rows[1], measured(joint, possible))
    for row in (rows[0], *rows[2:]):
        check(row, measured(drawn.joint(row["secret"]), channel(drawn, row["secret"])))


@light
@given(releases(SMALL), st.data())
def test_beliefs_about_one_person(drawn: Release, data: st.DataObject) -> None:
    table = drawn.table
    known = domain(drawn.joint("s"))
    (block,) = data.draw(st.sampled_from(sorted(ch.outers(drawn.joint("s")), key=repr)))
    prior = data.draw(beliefs(known))
    joint = ch.joint(table.rows, ["q"], "s", weights=drawn.masses, prior=prior)
    options: dict[str, Any] = {
        "qids": (),
        "target": {"q": block},
        "gain": ["penalty:2", "identity"],
    }
    with drawn.file() as path:
        columns = {"value": pa.array(known, pa.int32()), "belief": [*map(float, prior.values())]}
        options["prior"] = write(path.with_name("prior.csv"), columns)
        if (block,) not in ch.outers(joint):
            with pytest.raises(InputError, match="the prior rules out every value"):
                drawn.ask(path, "ias", **options).rows()
            return
        rows = drawn.ask(path, "ias", **options).rows()
    check(rows[0], numbers(joint, ch.penalty(known, 2), (block,)))
    check(rows[1], numbers(joint, ch.identity(known), (block,)))


def test_a_prior_that_rules_out_all_values_of_the_target_is_named(tmp_path: Path) -> None:
    release = write(tmp_path / "r.parquet", {"q": [0, 1], "s": [0, 1]})
    prior = write(tmp_path / "p.csv", {"s": [0, 1], "belief": [0.0, 1.0]})
    options: dict[str, Any] = {"secret": "s", "target": {"q": 0}, "prior": prior}
    with pytest.raises(InputError, match="the prior rules out every value"):
        qifsql.attack("ias", release, **options)


def test_a_prior_is_about_the_secret_of_that_very_name(tmp_path: Path) -> None:
    release = write(tmp_path / "r.parquet", {"q": [1, 1, 2], "ID": [1, 2, 2], "id": [1, 1, 2]})
    prior = write(tmp_path / "p.csv", {"id": [1, 2], "probability": [0.875, 0.125]})
    rows = qifsql.attack("cas", release, qids="q", secret=["ID", "id"], prior=prior).rows()
    assert [row["prior_probabilistic"] for row in rows] == [2 / 3, 0.875]


def test_who_is_ruled_out_is_in_no_group(tmp_path: Path) -> None:
    release = write(tmp_path / "r.parquet", {"q": [1, 1, 2, 3], "s": [1, 1, 2, 3], "g": [*"abab"]})
    prior = write(tmp_path / "p.csv", {"s": [1, 2, 3], "belief": [0.5, 0.5, 0.0]})
    options: dict[str, Any] = {"qids": "q", "secret": "s", "prior": prior, "by": "g"}
    found = qifsql.attack("cas", release, **options).details["groups"]
    names = ["group", "individuals", "posterior_deterministic", "posterior_probabilistic"]
    assert sorted(found.select(names).rows()) == [("a", 2, 1.0, 1.0), ("b", 1, 1.0, 1.0)]


# Gains in files


@light
@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 60)), min_size=1, max_size=4))
def test_bins_are_rounded_half_to_even_and_fractional_weights_may_fall_to_either_side_of_a_half(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[int, int]]
) -> None:
    """Two people in each block; of their weights as whole numbers and as tenths."""
    pairs = [*pairs, (7, 1)]  # 87.5 %; of 0.7 and 0.1 the exact bin is 87
    path = tmp_path_factory.mktemp("bins") / "release.parquet"
    whole = [w for pair in pairs for w in pair]
    columns = {"q": [i // 2 for i in range(len(whole))], "s": [*"ab"] * len(pairs), "whole": whole}
    pq.write_table(pa.table(columns | {"tenth": [w / 10 for w in whole]}), path)
    for weight, number in (("whole", F), ("tenth", lambda w: F(w / 10))):
        asked = {"qids": "q", "secret": "s", "weight": weight, "histogram": True}
        bins = qifsql.attack("cas", path, **asked).details["histogram"]
        people = {row["bin"]: row["individuals"] for row in bins.iter_rows(named=True)}
        least: dict[int, int] = {}
        open_ = 0
        for one, other in pairs:
            n = (one > 0) + (other > 0)
            percent = 100 * number(max(one, other)) / (number(one) + number(other))
            near = abs(percent - round(percent)) - F(1, 2)
            if weight == "tenth" and abs(near) < F(1, 10**13):
                open_ += n
            else:
                least[round(percent)] = least.get(round(percent), 0) + n
        assert sum(people.values()) == sum(least.values()) + open_
        assert all(people[bin_] >= n for bin_, n in least.items())
        if weight == "whole":
            assert {b: n for b, n in people.items() if n} == least


@light
@given(releases(), EITHER, st.data())
def test_a_matrix_has_a_line_for_each_pair(
    drawn: Release, ending: str, data: st.DataObject
) -> None:
    secret = drawn.table.secrets[0]
    joint = drawn.joint(secret)
    gains = data.draw(matrices(domain(joint)))
    gains = {pair: gains[pair] for pair in data.draw(st.permutations(list(gains)))}
    name = data.draw(st.sampled_from(("secret", "value", "VALUE", secret)))
    with drawn.file() as path:
        columns = long(gains, drawn.table.types[secret], name)
        file = write(path.with_name(f"m.{ending}"), columns)
        (row,) = drawn.rows(path, "cas", secret, gain=f"matrix:{file}")
    check(row, numbers(joint, ch.gains_of_table(domain(joint), gains)), exact=drawn.exact)


@light
@given(releases(), EITHER, st.sampled_from(("(missing)", "")), st.data())
def test_a_matrix_may_have_a_column_for_each_value(
    drawn: Release, ending: str, missing: str, data: st.DataObject
) -> None:
    secret = drawn.table.secrets[0]
    joint = drawn.joint(secret)
    known = domain(joint)
    assume("" not in known)
    gains = data.draw(matrices(known))
    names = {v: missing if v is None else str(v) for v in known}
    names |= {v: str(v).lower() for v in known if isinstance(v, bool)}
    guesses = list(dict.fromkeys(w for w, _ in gains))
    columns: dict[str, Any] = {"what she says": pa.array(guesses, pa.string())}
    columns |= {names[v]: [float(gains[w, v]) for w in guesses] for v in known}
    with drawn.file() as path:
        file = write(path.with_name(f"m.{'csv' if missing == '' else ending}"), columns)
        (row,) = drawn.rows(path, "cas", secret, gain=f"matrix:{file}")
    check(row, numbers(joint, ch.gains_of_table(known, gains)), exact=drawn.exact)


def test_a_blank_header_of_a_matrix_is_the_missing_value(tmp_path: Path) -> None:
    people = pa.table({"sex": ["m", "m", "f"], "ill": ["yes", None, None]})
    file = tmp_path / "m.csv"
    file.write_text("guess,yes,\nyes,1,0\nnone,0,1\n")
    (row,) = qifsql.attack("cas", people, qids="sex", secret="ill", gain=f"matrix:{file}").rows()
    assert (row["prior_probabilistic"], row["posterior_probabilistic"]) == (
        pytest.approx(2 / 3),
        pytest.approx(2 / 3),
    )


@light
@given(releases(), EITHER, st.data())
def test_a_file_says_what_each_value_is_worth(
    drawn: Release, ending: str, data: st.DataObject
) -> None:
    secret = drawn.table.secrets[0]
    joint = drawn.joint(secret)
    known = domain(joint)
    worths = {v: data.draw(st.sampled_from(DYADIC).map(F)) for v in known}
    columns = {
        "value": pa.array(known, drawn.table.types[secret]),
        data.draw(st.sampled_from(("worth", "gain"))): [float(w) for w in worths.values()],
    }
    with drawn.file() as path:
        file = write(path.with_name(f"w.{ending}"), columns)
        (row,) = drawn.rows(path, "cas", secret, gain=f"worth:{file}")
    check(row, numbers(joint, abstaining(*ch.worth(known, worths))), exact=drawn.exact)


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
@light
@given(releases(), EITHER, st.data())
def test_a_line_with_a_star_gives_the_worth_of_every_value_that_no_line_names(
    drawn: Release, ending: str, data: st.DataObject
) -> None:
    secret = drawn.table.secrets[0]
    joint = drawn.joint(secret)
    known = domain(joint)
    named = [v for v in known if v is None or data.draw(st.booleans())]
    rest = data.draw(st.sampled_from(DYADIC).map(F))
    worths = {v: data.draw(st.sampled_from(DYADIC).map(F)) if v in named else rest for v in known}
    values = pa.array(named, drawn.table.types[secret]).cast(pa.string()).to_pylist()
    columns = {
        "value": pa.array([*values, "*"], pa.string()),
        "worth": [*(float(worths[v]) for v in named), float(rest)],
    }
    with drawn.file() as path:
        file = write(path.with_name(f"w.{ending}"), columns)
        (row,) = drawn.rows(path, "cas", secret, gain=f"worth:{file}")
    check(row, numbers(joint, abstaining(*ch.worth(known, worths))), exact=drawn.exact)


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
def test_a_value_that_is_a_star_is_named_by_the_star_alone(tmp_path: Path) -> None:
    """Of a secret that has the value ``*`` nothing stands for the rest: all are to be named."""
    release = write(tmp_path / "r.csv", {"q": [1, 1, 2], "s": ["*", "a", "b"]})
    file = tmp_path / "w.csv"
    file.write_text("value,worth\n*,9\na,1\nb,1\n")
    asked = {"qids": "q", "secret": "s", "gain": f"worth:{file}"}
    (row,) = qifsql.attack("cas", release, **asked).rows()
    assert row["prior_probabilistic"] == 3
    file.write_text("value,worth\n*,9\na,1\n")
    with pytest.raises(InputError, match="missing for 1 of 3 values"):
        qifsql.attack("cas", release, **asked)
    release = write(tmp_path / "r.csv", {"q": [1, 1, 2], "s": ["c", "a", "b"]})
    file.write_text("value,worth\n*,9\na,1\n*,8\n")
    with pytest.raises(InputError, match="2 lines"):
        qifsql.attack("cas", release, **asked)


def test_a_value_that_does_not_fit_the_type_is_not_the_missing_one(tmp_path: Path) -> None:
    release = write(tmp_path / "r.parquet", {"q": [1, 1, 2], "s": [None, 7, 7]})
    (tmp_path / "w.csv").write_text("value,worth\nabc,9\n7,1\n,2\n")
    asked = {"qids": "q", "secret": "s", "gain": f"worth:{tmp_path / 'w.csv'}"}
    result = qifsql.attack("cas", release, **asked)
    assert any("has 1 line with values that nobody" in note for note in result.notes)
    (row,) = result.rows()
    assert row["prior_probabilistic"] == pytest.approx(2 / 3)


@pytest.mark.cases(1)
@pytest.mark.parametrize(("ending", "text"), [("parquet", math.nan), ("csv", "nan"), ("csv", "")])
def test_nan_in_a_file_is_the_missing_value(tmp_path: Path, ending: str, text: object) -> None:
    release = write(tmp_path / "r.parquet", {"q": [1, 1, 2], "s": [math.nan, 1.0, 1.0]})
    if ending == "csv":
        (tmp_path / "w.csv").write_text(f"value,worth\n{text},9\n1.0,4\n")
    else:
        write(tmp_path / "w.parquet", {"value": [text, 1.0], "worth": [9, 4]})
    gain = f"worth:{tmp_path / 'w'}.{ending}"
    (row,) = qifsql.attack("cas", release, qids="q", secret="s", gain=gain).rows()
    assert (row["prior_probabilistic"], row["posterior_probabilistic"]) == (3, (9 + 4) / 3)


@pytest.mark.slow(because="the same gains of fewer values are compared with the oracle")
def test_gains_of_a_secret_with_many_values(tmp_path: Path) -> None:
    """More values than are looked at to find what a guess usually gains."""
    rows = [{"q": i * i % 19, "s": i * 7 % 263 if i % 5 else 3} for i in range(500)]
    release = write(tmp_path / "r.parquet", {c: [row[c] for row in rows] for c in ("q", "s")})
    joint = ch.joint(rows, ["q"], "s")
    known = domain(joint)
    assert len(known) > 2 * 128

    def near(w: Any, v: Any) -> F:
        return F(5) if w == v else F(1) if abs(w - v) <= 3 else F(-1, 8)

    table = {(f"g{n}", v): F(v % n - 1) for n in range(1, 7) for v in known}
    table |= {("abstain", v): F() for v in known}
    matrix = write(tmp_path / "m.csv", long(table, pa.int64()))
    worths = {v: F(v % 11, 4) for v in known}
    columns = {"s": list(worths), "worth": [float(w) for w in worths.values()]}
    worth = write(tmp_path / "w.parquet", columns)
    asked = {
        "sql:CASE WHEN guess = secret THEN 5 WHEN abs(guess-secret) < 4 THEN 1 ELSE -1/8 END": (
            abstaining(known, near)
        ),
        f"matrix:{matrix}": ch.gains_of_table(known, table),
        f"worth:{worth}": ch.worth(known, worths),
        "tolerance:10.5": ch.tolerance(known, F(21, 2)),
        "penalty:0.0625": ch.penalty(known, F(1, 16)),
    }
    result = qifsql.attack("cas", release, qids="q", secret="s", gain=list(asked))
    for row, gains in zip(result.rows(), asked.values(), strict=True):
        check(row, numbers(joint, gains), exact=True)


# What is refused

CELL = "cellvalue"  # stands in cells and must never stand in a message
REFUSED = """
gain=matrix:bad.csv | guess,n,gain;a,1,1;a,2,1 | is missing for 1 of 3 pairs
gain=matrix:bad.csv | guess,n,gain;a,1,1;a,2,1;a,3,1;a,3,0 | names a pair more than once
gain=matrix:bad.csv | guess,n,gain;a,1,1;a,2,1;a,3,1;a,9,0 | has 1 line with values
gain=matrix:bad.csv | guess,n,gain;a,1,1;a,2,1;a,3,1;a,cellvalue,0 | has 1 line with values
gain=matrix:bad.csv | guess,n,gain;a,1,1;a,2,1;a,3,nan | is missing or no finite number in 1 pair
gain=matrix:bad.csv | guess,n,gain;a,1,1;a,2,1;a,3,cellvalue | is missing or no finite number in 1
gain=matrix:bad.csv | guess,n,gain;a,1,1;a,2,1;a,3,-1 | has losses, but no guess that never loses
gain=matrix:bad.csv | guess,1,2;a,1,1 | is missing for 1 of 3 pairs
gain=matrix:bad.csv | guess;a | is not a gain matrix
gain=matrix:bad.csv | guess,n,gain | guess
gain=worth:bad.csv | value,money;1,2;2,2;3,2 | is not a worth file
gain=worth:bad.csv | amount,worth;1,2;2,2;3,2 | is not a worth file
gain=worth:bad.csv | value,worth;1,2;2,2 | is missing for 1 of 3 values
gain=worth:bad.csv | value,worth | is missing for 3 of 3 values
gain=worth:bad.csv | value,worth;1,2;2,2;3,2;3,2 | more than once
gain=worth:bad.csv | value,worth;1,2;2,2;3, | is missing or no finite number in 1
gain=worth:none.csv | | does not exist
gain=worth:t@some.duckdb | | is a table of a database
gain=worth:-1 | | needs a number from 0
gain=tries:0 | | needs a whole number from 1
gain=tries:x | | needs a number, as in tries:3
gain=penalty:-1 | | needs a number from 0 with at most 9 decimals
gain=penalty:0.1234567891 | | at most 9 decimals
gain=luck | | there is no gain "luck"
gain=tolerance:1 secret=s | | needs a number, but secret "s" is VARCHAR
gain=worth:1 model=crs | | re-identification takes
gain=sql:age-guess | | column "age" is not in a gain
gain=sql:s-guess | | column "s" is not in a gain
gain=sql:guess::VARCHAR | | is of type VARCHAR, not a number
gain=sql:guess=secret | | is of type BOOLEAN, not a number
gain=sql:sum(guess) | | has an aggregate
gain=sql:guess-(SELECT(1)) | | has a subquery
gain=sql:guess+random() | | does not give one lasting value
gain=sql:1/(guess-secret) | | is missing or no finite number in 3 pairs
gain=sql:guess*9223372036854775807 | | does not fit an expression
gain=sql:(secret||'cellvalue')::INT | | does not fit an expression
prior=bad.csv | n,probability;1,0.5;2,0.25;3,0.125 | sums to 0.875, not to 1
prior=bad.csv | n,probability;1,1.5;2,-0.5;3,0 | has 1 line whose probability is missing, negative
prior=bad.csv | n,probability;1,1;2,cellvalue;3, | has 2 lines whose probability is missing
prior=bad.csv | n,probability;1,0.5;2,0.5 | has no probability for 1 value of the release
prior=bad.csv | n,probability;1,1;2,0;3,0;9,0 | names 1 value that nobody
prior=bad.csv | n,probability;1,1;2,0;3,0;cellvalue,0 | names 1 value that nobody
prior=bad.csv secret=m | m,probability;1,0.5;cellvalue,0.5 | names 1 value that nobody
prior=bad.csv | n,probability;1,1;2,0;3,0;3,0 | names a value more than once
prior=bad.csv | n,share;1,1;2,0;3,0 | is not a prior file
prior=bad.csv | year,probability;1,1;2,0;3,0 | is not a prior file
prior=bad.csv model=crs | n,probability;1,1;2,0;3,0 | a prior is about a secret
prior=none.csv | | does not exist
measures=luck | | there is no measure "luck"
thresholds=-0.1 | | threshold "-0.1" is not a number from 0
thresholds=x | | threshold "x" is not a number from 0
quantiles=0.1234567891 | | more than 9 decimals
quantiles=1.5 | | quantile "1.5" is not a number from 0 to 1
population=bad.csv model=crs | q;1;2;2 | fewer people than the release in 1 of 2 blocks
population=bad.csv model=crs | q;a;b | quasi-identifier "q" has another type in bad.csv
population=bad.csv model=crs | age;1 | column "q" is not in bad.csv
population=t@some.duckdb model=crs | | cannot be a table of a database
by=year | | column "year" is not in
by=* | | name one
"""


@pytest.mark.cases(2)
@pytest.mark.parametrize("case", REFUSED.strip().splitlines())
def test_what_does_not_fit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    monkeypatch.chdir(tmp_path)
    words, content, says = (part.strip() for part in case.split("| "))
    options: dict[str, Any] = dict(word.split("=", 1) for word in words.split())
    Path("bad.csv").write_text(content.replace(";", "\n") + "\n")
    duckdb.connect("some.duckdb").execute("CREATE TABLE t AS SELECT 1 AS n, 2 AS worth").close()
    columns = {
        "q": [1, 1, 2, 2],
        "n": [1, 2, 3, 3],
        "m": [1, 1, None, 1],
        "s": [CELL, "b", "c", None],
    }
    people = write(tmp_path / "people.parquet", columns)
    for name in options.keys() & {"thresholds", "quantiles"}:
        options[name] = [options[name]]
    model = options.pop("model", "cas")
    with pytest.raises(InputError, match=re.escape(says)) as refused:
        qifsql.attack(model, people, **{"qids": "q", "secret": "n"} | options)
    assert CELL not in str(refused.value).replace(words, "")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(("most", "refused"), [(10, False), (9, True)])
def test_gains_of_too_many_terms_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, *, refused: bool
) -> None:
    """Value a is in 2 blocks and one guess gains from it, b in 4 and both do; of others neither."""
    columns = {"q": [1, 1, 2, 2, 3, 4, 4, 4, 4], "s": list("ababbbcde")}
    people = write(tmp_path / "people.parquet", columns)
    table = {(guess, value): F() for guess in "xy" for value in "abcde"}
    table |= {("x", "a"): F(1), ("x", "b"): F(1, 2), ("y", "b"): F(1)}
    file = write(tmp_path / "m.csv", long(table, pa.string()))
    monkeypatch.setattr("qifsql.counting.secret_values.MOST_ADDITIONS", most)
    says = pytest.raises(InputError, match="10 sums would be added up")
    with says if refused else nullcontext():
        qifsql.attack("cas", people, qids="q", secret="s", gain=f"matrix:{file}")
