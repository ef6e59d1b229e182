"""Entropies, guesses, capacity, risks, beliefs, and the laws that always hold, from files."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction as F
from itertools import pairwise
from pathlib import Path
from typing import Any

import oracle_measures as om
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import Table
from test_gains import (
    EITHER,
    MASS,
    SMALL,
    Release,
    Row,
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

RISKS = ("prosecutor_risk", "journalist_risk", "marketer_risk")


def measured(joint: om.Joint, channel: om.Joint) -> dict[str, float | F]:
    """Every measure of one secret but the risks."""
    before, most = om.secret_prior(joint), om.capacity(channel)
    return {
        "prior_entropy": om.entropy(before),
        "posterior_entropy": om.posterior_entropy(joint),
        "mutual_information": om.mutual_information(joint),
        "prior_guessing": om.guessing(before),
        "posterior_guessing": om.posterior_guessing(joint),
        "capacity": most,
        "capacity_bits": math.log2(most),
    }


def close(row: Row, wanted: Mapping[str, float | F | None]) -> None:
    """The row says these numbers to 1e-12, and nothing where there is none."""
    for name, number in wanted.items():
        if number is None:
            assert row[name] is None, name
        else:
            assert math.isclose(row[name], number, rel_tol=1e-12, abs_tol=1e-12), name


def channel(drawn: Release, secret: str | None) -> om.Joint:
    return om.channel(drawn.table.rows, drawn.table.qids, secret, weights=drawn.masses)


def ask(drawn: Release, path: Path, model: str, **options: Any) -> list[Row]:
    """The rows of an attack at all secrets of the table."""
    options = {"qids": drawn.table.qids, "secret": drawn.table.secrets} | options
    return qifsql.attack(model, path, weight=drawn.masses and MASS, **options).rows()


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
        rows = ask(drawn, path, "crs,cas", measures="all")
    for row, secret in zip(rows, (None, *drawn.table.secrets), strict=True):
        close(row, measured(drawn.joint(secret), channel(drawn, secret)))
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
        alone = ask(drawn, path, "crs,cas", measures="risks")
        known = ask(drawn, path, "crs,cas", population=population)
    masses = drawn.masses or [1] * len(table.rows)
    there = [row for row, mass in zip(table.rows, masses, strict=True) if mass]
    risks = om.risks(there, table.qids, people)
    highest = risks.prosecutor_highest
    close(alone[0], dict(zip(RISKS, (highest, None, risks.prosecutor_average), strict=True)))
    close(
        known[0], dict(zip(RISKS, (highest, risks.journalist_highest, risks.marketer), strict=True))
    )
    for row in (*alone[1:], *known[1:]):
        close(row, dict.fromkeys(RISKS))


@light
@given(releases(SMALL), st.data())
def test_measures_of_one_person_are_those_of_her_block(drawn: Release, data: st.DataObject) -> None:
    joint = drawn.joint("s")
    (block,) = data.draw(st.sampled_from(sorted(om.outers(joint), key=repr)))
    with drawn.file() as path:
        (row,) = ask(drawn, path, "ias", qids=(), target={"q": block}, measures="all")
    inner = om.inners(joint)[block,]
    close(
        row,
        {
            "prior_entropy": om.entropy(om.secret_prior(joint)),
            "posterior_entropy": om.entropy(inner),
            "prior_guessing": om.guessing(om.secret_prior(joint)),
            "posterior_guessing": om.guessing(inner),
            "capacity": None,
            "capacity_bits": None,
        },
    )


# Beliefs


@st.composite
def beliefs(draw: st.DrawFn, values: Sequence[object]) -> dict[Any, F]:
    """What she believes of each value, as floats say it; nothing of some."""
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
    joint = om.joint(table.rows, table.qids, secret, weights=drawn.masses, prior=prior)
    gains = {
        "identity": om.identity(known),
        f"tries:{len(known)}": om.tries(known, len(known)),
        "penalty:0.5": om.penalty(known, F(1, 2)),
    }
    if table.types[secret] == pa.int32():
        gains["tolerance:2"] = om.tolerance(known, 2)
        gains["worth:3"] = om.worth(known, dict.fromkeys(known, 3))
    name = data.draw(st.sampled_from((secret, secret if table.secrets[1:] else "value")))
    columns = {
        name: pa.array(known, table.types[secret]),
        "probability": [*map(float, prior.values())],
    }
    with drawn.file() as path:
        file = write(path.with_name(f"prior.{ending}"), columns)
        rows = ask(drawn, path, "crs,cas", prior=file, gain=["identity"], measures="all")
        more = ask(drawn, path, "cas", prior=file, gain=list(gains), secret=secret)
    for row in more:
        close(row, numbers(joint, gains[row["gain"]]))
        sure = [p for b, p in om.outers(joint).items() if 1 in om.inners(joint)[b].values()]
        close(row, {"posterior_deterministic": sum(sure, F())})
        assert row["blocks"] == len(om.outers(joint))
    possible = {k: c for k, c in channel(drawn, secret).items() if prior[k[1]]}
    close(rows[1], measured(joint, possible))
    for row in (rows[0], *rows[2:]):
        close(row, measured(drawn.joint(row["secret"]), channel(drawn, row["secret"])))


@light
@given(releases(SMALL), st.data())
def test_beliefs_about_one_person(drawn: Release, data: st.DataObject) -> None:
    table = drawn.table
    known = domain(drawn.joint("s"))
    (block,) = data.draw(st.sampled_from(sorted(om.outers(drawn.joint("s")), key=repr)))
    prior = data.draw(beliefs(known))
    joint = om.joint(table.rows, ["q"], "s", weights=drawn.masses, prior=prior)
    options = {"qids": (), "target": {"q": block}, "gain": ["penalty:2", "identity"]}
    with drawn.file() as path:
        columns = {"value": pa.array(known, pa.int32()), "belief": [*map(float, prior.values())]}
        options["prior"] = write(path.with_name("prior.csv"), columns)
        if (block,) not in om.outers(joint):
            with pytest.raises(InputError, match="the prior rules out every value"):
                ask(drawn, path, "ias", **options)
            return
        rows = ask(drawn, path, "ias", **options)
    close(rows[0], numbers(joint, om.penalty(known, 2), (block,)))
    close(rows[1], numbers(joint, om.identity(known), (block,)))


def test_a_prior_is_about_the_secret_of_that_very_name(tmp_path: Path) -> None:
    release = write(tmp_path / "r.parquet", {"q": [1, 1, 2], "ID": [1, 2, 2], "id": [1, 1, 2]})
    prior = write(tmp_path / "p.csv", {"id": [1, 2], "probability": [0.875, 0.125]})
    rows = qifsql.attack("cas", release, qids="q", secret=["ID", "id"], prior=prior).rows()
    assert [row["prior_probabilistic"] for row in rows] == [2 / 3, 0.875]


# Laws: specification, section 4


@light
@given(releases(), st.data())
def test_who_knows_more_never_gains_less(drawn: Release, data: st.DataObject) -> None:
    secret = drawn.table.secrets[0]
    joint = drawn.joint(secret)
    gains = data.draw(matrices(domain(joint)))
    gains = {pair: abs(gain) for pair, gain in gains.items()}
    qids = [*drawn.table.qids, "place=place // 2"]
    asked = ["identity", f"tries:{data.draw(st.integers(1, len(domain(joint))))}", "worth:2.5"]
    with drawn.file() as path:
        file = write(path.with_name("m.parquet"), long(gains, drawn.table.types[secret]))
        options: dict[str, Any] = {"secret": secret, "gain": [*asked, f"matrix:{file}"]}
        chain = [
            ask(drawn, path, "cas", qids=qids[:n], measures="all", **options)
            for n in range(1, len(qids) + 1)
        ]
    for row in (row for rows in chain for row in rows):
        assert (
            row["prior_probabilistic"]
            <= row["posterior_probabilistic"]
            <= row["worst_case"] * (1 + 1e-12)
        )
        leaked = row["degradation_probabilistic"]
        assert leaked is None or leaked <= row["capacity"] * (1 + 1e-12)
    for coarse, fine in pairwise(chain):
        for a, b in zip(coarse, fine, strict=True):
            assert a["prior_probabilistic"] == b["prior_probabilistic"]
            for name in ("posterior_probabilistic", "worst_case", "capacity", "mutual_information"):
                assert a[name] <= b[name] + 1e-12 * abs(b[name]) + 1e-12, name
            for name in ("posterior_entropy", "posterior_guessing"):
                assert b[name] <= a[name] * (1 + 1e-12) + 1e-12, name
