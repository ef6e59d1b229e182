"""The oracle of measures against worked examples, libqif, brute force, and laws of the theory."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction as F
from itertools import permutations, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import tables, weights

from qifsql.reference import channel as ch
from qifsql.reference import entropies as en
from qifsql.reference import quasi_identifier_sets as su
from qifsql.reference import success as oracle
from qifsql.reference.microdata import order_key
from qifsql.reference.success import attack, records

Rows = list[dict[str, Any]]

# PoPETs Table 2a.
LANGUAGE = ["English", "Port.", "German", "German"]
POPETS: Rows = [
    {"language": v, "gender": g, "age": a}
    for v, g, a in zip(LANGUAGE, "MMFM", [">30", "<=30", "<=30", "<=30"], strict=True)
]

# Thesis Def. 3: the uniform prior, and each row of the channel as weights.
MATRIX = {"x1": "1 0 0 0", "x2": "0 1/2 1/4 1/4", "x3": "1/2 1/3 1/6 0"}
CHANNEL = {x: [F(p) for p in row.split()] for x, row in MATRIX.items()}
THESIS: Rows = [{"x": x, "y": y} for x in CHANNEL for y in range(1, 5)]
THESIS_WEIGHTS = [p for row in CHANNEL.values() for p in row]

# Schools of 3, 2 and 1 pupils; the girls have y, the boys n.
PUPILS: Rows = [
    {"school": school, "sex": sex, "s": s}
    for school, sex, s in zip([1, 1, 1, 2, 2, 3], "FFMMMF", "yynnny", strict=True)
]


@dataclass(frozen=True)
class Case:
    """The arguments of an attack; ``gains`` has a gain for each guess 0..2 and each value."""

    rows: Rows
    qids: list[str]
    secret: str | None
    weights: Any
    gains: ch.Gains

    def joint(self, prior: dict[object, F] | None = None) -> ch.Joint:
        """The joint, with the adversary's own prior or the frequencies in the release."""
        return ch.joint(self.rows, self.qids, self.secret, weights=self.weights, prior=prior)


def matrices(domain: Sequence[object], lowest: int) -> st.SearchStrategy[ch.Gains]:
    """Gains of three guesses, any fractions from ``lowest`` to 3."""
    pairs = [(w, v) for w in range(3) for v in domain]
    number = st.fractions(lowest, 3, max_denominator=6)
    return st.lists(number, min_size=len(pairs), max_size=len(pairs)).map(
        lambda drawn: ch.gains_of_table(domain, dict(zip(pairs, drawn, strict=True)))
    )


@st.composite
def cases(draw: st.DrawFn, lowest: int = -3) -> Case:
    """An attack on a hostile table, with a gain matrix."""
    drawn = draw(tables())
    secret = draw(st.sampled_from([None, *drawn.secrets]))
    given_weights = draw(st.none() | weights(len(drawn.rows)))
    domain = list(ch.secret_prior(ch.joint(drawn.rows, [], secret, weights=given_weights)))
    return Case(drawn.rows, drawn.qids, secret, given_weights, draw(matrices(domain, lowest)))


@st.composite
def priors(draw: st.DrawFn, domain: Sequence[object]) -> dict[object, F]:
    """A prior over the domain, zero for some values."""
    n = len(domain)
    drawn = draw(st.lists(st.integers(0, 4), min_size=n, max_size=n).filter(any))
    return {v: F(p, sum(drawn)) for v, p in zip(domain, drawn, strict=True)}


@st.composite
def channels(draw: st.DrawFn) -> Rows:
    """3..12 rows with up to 5 values of the secret s and up to 5 of the output x."""
    cell = st.tuples(st.sampled_from([None, *"abcd"]), st.integers(0, 4))
    return [{"s": s, "x": x} for s, x in draw(st.lists(cell, min_size=3, max_size=12))]


def close(x: float | F, y: float) -> bool:
    """Equal to 1e-12."""
    return math.isclose(x, y, rel_tol=1e-12, abs_tol=1e-12)


def test_popets_table_2_language_given_gender_and_age() -> None:
    seen = ch.joint(POPETS, ["gender", "age"], "language")
    assert ch.secret_prior(seen) == {"English": F(1, 4), "Port.": F(1, 4), "German": F(1, 2)}
    assert ch.hyper(seen) == {
        frozenset({("Port.", F(1, 2)), ("German", F(1, 2))}): F(1, 2),
        frozenset({("English", F(1))}): F(1, 4),
        frozenset({("German", F(1))}): F(1, 4),
    }
    assert ("F", ">30") not in ch.outers(seen)
    dollars = ch.worth(LANGUAGE, dict.fromkeys(LANGUAGE, 4))
    assert [ch.prior_gain(seen, *dollars), ch.posterior_gain(seen, *dollars)] == [2, 3]
    assert ch.worst_case_gain(seen, *dollars) == 4


def test_thesis_definitions_3_to_7() -> None:
    seen = ch.joint(THESIS, ["y"], "x", weights=THESIS_WEIGHTS)
    assert ch.outers(seen) == {(1,): F(1, 2), (2,): F(5, 18), (3,): F(5, 36), (4,): F(1, 12)}
    one, two = {"x1": F(2, 3), "x3": F(1, 3)}, {"x2": F(3, 5), "x3": F(2, 5)}
    assert [ch.inners(seen)[y,] for y in range(1, 5)] == [one, two, two, {"x2": 1}]
    assert sorted(ch.hyper(seen).values()) == [F(1, 12), F(15, 36), F(1, 2)]
    assert ch.channel(THESIS, ["y"], "x", weights=THESIS_WEIGHTS) == {
        ((y,), x): p for x, row in CHANNEL.items() for y, p in enumerate(row, 1) if p
    }
    one_try = ch.identity([*CHANNEL])
    before, after = ch.prior_gain(seen, *one_try), ch.posterior_gain(seen, *one_try)
    assert [before, after, after / before, after - before] == [F(1, 3), F(2, 3), 2, F(1, 3)]
    assert en.capacity(ch.channel(THESIS, ["y"], "x", weights=THESIS_WEIGHTS)) == 2


def test_another_prior_by_hand() -> None:
    belief: dict[str, Any] = {"x1": 0, "x2": 0.25, "x3": F(3, 4)}
    seen = ch.joint(THESIS, ["y"], "x", weights=THESIS_WEIGHTS, prior=belief)
    assert ch.secret_prior(seen) == {"x2": F(1, 4), "x3": F(3, 4)}
    assert ch.outers(seen) == {(1,): F(3, 8), (2,): F(3, 8), (3,): F(3, 16), (4,): F(1, 16)}
    found = oracle.individual_success(THESIS, ["y"], "x", weights=THESIS_WEIGHTS, prior={"x2": 1})
    assert found[:4] == [None, 1, 1, 1]  # whoever is sure of x2 never expects y1


@pytest.mark.parametrize("belief", [{}, {"x1": 2}, {"x1": 2, "x2": -1}, {"x4": 1}])
def test_what_is_no_prior_is_refused(belief: dict[object, Any]) -> None:
    with pytest.raises(ValueError, match="prior"):
        ch.joint(THESIS, ["y"], "x", prior=belief)


def test_gains_by_hand() -> None:
    ages: dict[object, F] = {20: F(1, 2), 25: F(1, 4), None: F(1, 4)}
    bet = {("under", 20): 1, ("under", 25): -1, ("under", None): 0, ("none", 20): 0}
    with pytest.raises(ValueError, match="guess"):
        ch.gains_of_table([*ages], bet)
    with pytest.raises(ValueError, match="worth"):
        ch.worth([*ages], {20: 1, 25: 1})
    for gains, expected in [
        (ch.penalty([*ages], F(1, 2)), F(1, 4)),  # 1/2 - 1/2 1/2
        (ch.penalty([*ages], 2), 0),  # better to abstain
        (ch.tolerance([*ages], 4), F(1, 2)),
        (ch.tolerance([*ages], 5), F(3, 4)),
        (ch.worth([*ages], {20: 1, 25: 3, math.nan: 2}), F(3, 4)),
        (ch.gains_of_table([*ages], bet | {("none", 25): 0, ("none", None): 8}), 2),
    ]:
        assert ch.vulnerability(ages, *gains) == expected
    assert [ch.tries_vulnerability(ages, k) for k in (1, 2, 3, 4)] == [F(1, 2), F(3, 4), 1, 1]


def test_tolerance_is_exact_and_infinity_is_near_itself_alone() -> None:
    guesses, gain = ch.tolerance([math.nan, math.inf, -math.inf, 0.1, 0.3, 0.4], F(1, 5))
    near = [(w, v) for w in guesses for v in guesses if w != v and gain(w, v)]
    assert guesses == [None, math.inf, -math.inf, 0.1, 0.3, 0.4]
    assert near == [(0.1, 0.3), (0.3, 0.1), (0.3, 0.4), (0.4, 0.3)]  # 0.3 - 0.1 < 1/5, exactly
    assert all(gain(w, w) == 1 for w in guesses)
    with pytest.raises(TypeError):
        gain("1", 0.1)


def test_missing_values_are_one_value_everywhere() -> None:
    rows: Rows = [{"q": math.nan, "s": None}, {"q": None, "s": math.nan}]
    assert oracle.individual_success(rows, ["q"], "s") == [1, 1]
    assert ch.joint(rows, ["q"], "s", prior={math.nan: 1}) == {((None,), None): 1}
    assert list(oracle.groups(rows, [], "s", by="q")) == [None]
    assert su.minimal_revealing(rows, ["q"], "s", rows[0]) == {frozenset()}


def test_groups_by_hand() -> None:
    with pytest.raises(ValueError, match="secret"):
        oracle.groups(PUPILS, ["s"], "s", by="sex")
    assert oracle.groups(PUPILS, ["school"], "s", by="sex") == {
        "F": oracle.Group(3, F(3), 1, 1, F(1, 3), F(7, 9), F(1), F(1), F(1, 2)),
        "M": oracle.Group(3, F(3), 0, 2, F(2, 3), F(8, 9), F(1), F(2, 3), F(1, 2)),
    }
    tie = [{"q": 0, "s": s} for s in (None, "b", "a")]
    right = {s: g.guessed_right for s, g in oracle.groups(tie, ["q"], "s", by="s").items()}
    assert right == {None: 0, "b": 0, "a": 1}  # the smallest is guessed
    assert oracle.groups(PUPILS, ["school"], None, by="sex", weights=[1, 2, 3, 1, 0, 1]) == {
        "F": oracle.Group(3, F(4), 1, 1, F(1, 4), F(5, 8), F(1), None, F(3, 8)),
        "M": oracle.Group(2, F(4), 1, 1, F(1, 4), F(5, 8), F(1), None, F(3, 8)),
    }


def test_histogram_thresholds_and_quantiles_by_hand() -> None:
    successes = [F(1, 8), F(1, 3), F(1, 3), F(1), F(1)]
    assert {b: n for b, n in enumerate(oracle.histogram(successes)) if n} == {12: 1, 33: 2, 100: 2}
    assert [oracle.at_or_above(successes, t) for t in (0, F(1, 3), F(34, 100), 1)] == [5, 4, 2, 2]
    tenths = [oracle.quantile(successes, F(q, 10)) for q in (0, 2, 3, 6, 7, 10)]
    assert tenths == [F(1, 8), F(1, 8), F(1, 3), F(1, 3), F(1), F(1)]
    assert oracle.of_individuals([F(1), None, F(1, 2), F(1, 3)], [1, 1, 0, 0.5]) == [1, F(1, 3)]


def test_risks_by_hand() -> None:
    release = [{"q": q} for q in "aab-"]
    population = [{"q": q} for q in "aaaaabb---c"]
    assert oracle.risks(release, ["q"]) == oracle.Risks(F(1), F(3, 4), None, None, F(3, 4))
    share = (F(2, 5) + F(1, 2) + F(1, 3)) / 4
    assert oracle.risks(release, ["q"], population) == oracle.Risks(
        F(1), F(3, 4), F(1, 2), share, share
    )
    for rows, everyone in (([], None), (release, release[:3]), (release, population[4:])):
        with pytest.raises(ValueError, match="release"):
            oracle.risks(rows, ["q"], everyone)


def test_minimal_sets_by_hand() -> None:
    columns = ["school", "sex"]
    assert su.minimal_sample_uniques(PUPILS, columns, PUPILS[2]) == {frozenset(columns)}
    assert su.minimal_sample_uniques(PUPILS, columns, PUPILS[5]) == {frozenset({"school"})}
    assert su.minimal_sample_uniques(PUPILS, columns, PUPILS[3]) == set()
    each = {frozenset({c}) for c in columns}
    assert su.minimal_revealing(PUPILS, columns, "s", PUPILS[3]) == each
    assert su.minimal_revealing(PUPILS[:2], columns, "s", PUPILS[2]) == {frozenset()}
    nobody = {"school": 9, "sex": "-"}
    assert su.minimal_sample_uniques(PUPILS, columns, nobody) == set()
    assert su.minimal_revealing(PUPILS, columns, "s", nobody) == set()
    family = [frozenset(s) for s in ("a", "ab", "bc", "abc")]
    assert (su.minimal(family), su.maximal(family)) == ({family[0], family[2]}, {family[3]})
    assert len(su.subsets("abc")) == 8


@pytest.fixture(scope="session")
def qif() -> Any:
    """Bindings of libqif, an independent implementation in floats."""
    return pytest.importorskip("qif")


@given(channels(), st.data())
def test_libqif_gives_the_same_numbers(qif: Any, rows: Rows, data: st.DataObject) -> None:
    numpy, m = pytest.importorskip("numpy"), qif.measure
    drawn = data.draw(st.none() | weights(len(rows)))
    counted = ch.channel(rows, ["x"], "s", weights=drawn)
    domain, outputs = sorted({v for _, v in counted}, key=order_key), {b for b, _ in counted}
    belief = data.draw(st.none() | priors(domain))
    seen = ch.joint(rows, ["x"], "s", weights=drawn, prior=belief)
    c = numpy.array([[float(counted.get((b, v), 0)) for b in outputs] for v in domain])
    distribution, one_try = ch.secret_prior(seen), ch.identity(domain)
    pi = numpy.array([float(distribution.get(v, 0)) for v in domain])
    guesses, gain = data.draw(matrices(domain, -3))
    g = numpy.array([[float(gain(w, v)) for v in domain] for w in guesses])
    assert close(en.entropy(distribution), m.shannon.prior(pi))
    assert close(en.posterior_entropy(seen), m.shannon.posterior(pi, c))
    assert close(en.mutual_information(seen), m.shannon.add_leakage(pi, c))
    assert close(en.guessing(distribution), m.guessing.prior(pi))
    assert close(en.posterior_guessing(seen), m.guessing.posterior(pi, c))
    assert close(ch.prior_gain(seen, *one_try), m.bayes_vuln.prior(pi))
    assert close(ch.posterior_gain(seen, *one_try), m.bayes_vuln.posterior(pi, c))
    assert close(en.capacity(counted), m.bayes_vuln.mult_capacity(c))
    assert close(ch.prior_gain(seen, guesses, gain), m.g_vuln.prior(g, pi))
    assert close(ch.posterior_gain(seen, guesses, gain), m.g_vuln.posterior(g, pi, c))
    outers = sorted(map(float, ch.hyper(seen).values()))
    assert outers == pytest.approx(sorted(qif.channel.hyper(c, pi)[0]), abs=1e-12)


@given(channels(), st.data())
def test_posterior_gain_is_the_best_of_all_strategies(rows: Rows, data: st.DataObject) -> None:
    seen = ch.joint(rows, ["x"], "s")
    guesses, gain = data.draw(matrices(list(ch.secret_prior(seen)), -3))
    blocks = ch.outers(seen)
    plans = (dict(zip(blocks, p, strict=True)) for p in product(guesses, repeat=len(blocks)))
    best = max(sum(p * gain(plan[b], v) for (b, v), p in seen.items()) for plan in plans)
    assert ch.posterior_gain(seen, guesses, gain) == best


@given(channels(), st.integers(1, 6))
def test_k_tries_are_one_guess_of_k_values(rows: Rows, k: int) -> None:
    seen = ch.joint(rows, ["x"], "s")
    sets = ch.tries(list(ch.secret_prior(seen)), k)
    assert ch.prior_gain(seen, *sets) == ch.tries_vulnerability(ch.secret_prior(seen), k)
    assert ch.posterior_gain(seen, *sets) == ch.posterior_tries(seen, k)
    assert ch.worst_case_gain(seen, *sets) == ch.worst_case_tries(seen, k)


@given(channels())
def test_guessing_entropy_is_the_least_over_all_orders_of_guesses(rows: Rows) -> None:
    distribution = ch.secret_prior(ch.joint(rows, [], "s"))
    orders = map(enumerate, permutations(distribution.values()))
    assert en.guessing(distribution) == min(sum((i + 1) * p for i, p in order) for order in orders)


@given(cases())
def test_success_of_individuals_is_that_of_the_attack_oracle(case: Case) -> None:
    rows, qids, secret = case.rows, case.qids, case.secret
    found = oracle.individual_success(rows, qids, secret, weights=case.weights)
    assert found == [r["success"] for r in records(rows, qids, secret, case.weights)]
    plain = oracle.of_individuals(oracle.individual_success(rows, qids, secret))
    assert plain == [record["success"] for record in records(rows, qids, secret)]
    people = oracle.of_individuals(found, case.weights)
    for q in (F(0), F(1, 3), F(1)):
        p = oracle.quantile(people, q)
        assert sum(other < p for other in people) < max(q * len(people), F(1))
        assert sum(other <= p for other in people) >= q * len(people)
        assert oracle.at_or_above(people, p) == sum(other >= p for other in people) > 0


@given(cases(), st.data())
def test_groups_add_up_to_the_attack(case: Case, data: st.DataObject) -> None:
    rows, qids, secret = case.rows, case.qids, case.secret
    by = data.draw(st.sampled_from(list(rows[0])))
    whole = attack(rows, qids, secret, case.weights)
    parts = oracle.groups(rows, qids, secret, by=by, weights=case.weights).values()
    total = sum(g.weight for g in parts)
    for kind in ("deterministic", "probabilistic"):
        share = sum(g.weight * getattr(g, kind) for g in parts) / total
        assert share == whole[f"posterior_{kind}"]
    if secret is not None:  # her guesses are right as often as she expects
        right = sum(g.weight * (g.guessed_right or 0) for g in parts) / total
        assert right == whole["posterior_probabilistic"]
    assert {g.prior_probabilistic for g in parts} == {whole["prior_probabilistic"]}
    assert max(g.worst_case for g in parts) == whole["worst_case"]
    assert sum(g.individuals for g in parts) == whole["records"]
    assert sum(g.singled_out for g in parts) == whole["singled_out"]
    assert sum(g.certain for g in parts) == whole["individuals_certain"]


@given(channels(), st.sampled_from([F(0), F(1, 3), F(2)]))
def test_whoever_may_abstain_guesses_where_it_pays(rows: Rows, cost: F) -> None:
    seen = ch.joint(rows, ["x"], "s")
    pays = {b: (1 + cost) * max(p.values()) - cost for b, p in ch.inners(seen).items()}
    expected = sum(p * max(pays[b], F()) for b, p in ch.outers(seen).items())
    assert ch.posterior_gain(seen, *ch.penalty(list(ch.secret_prior(seen)), cost)) == expected


@pytest.mark.slow(because="1.2 s; every recorded mutant dies without it")
@given(cases(), st.data())
def test_a_finer_partition_never_leaks_less(case: Case, data: st.DataObject) -> None:
    columns = [c for c in case.rows[0] if c != case.secret]
    choice = st.lists(st.sampled_from(columns), unique=True)
    some, others = data.draw(choice), data.draw(choice)
    assert su.refines(case.rows, [*some, *others], others)
    if not su.refines(case.rows, some, others):
        some = [*some, *others]
    fine, coarse = replace(case, qids=some).joint(), replace(case, qids=others).joint()
    for number in (ch.posterior_gain, ch.worst_case_gain):
        assert number(fine, *case.gains) >= number(coarse, *case.gains)
    assert ch.posterior_tries(fine, 2) >= ch.posterior_tries(coarse, 2)
    assert en.posterior_guessing(fine) <= en.posterior_guessing(coarse)
    assert en.posterior_entropy(fine) <= en.posterior_entropy(coarse) + 1e-12


@given(cases())
def test_a_hyper_averages_to_the_prior_and_forgets_only_labels(case: Case) -> None:
    seen, merged = case.joint(), ch.hyper(case.joint())
    assert seen == case.joint(ch.secret_prior(seen))
    assert sum(merged.values()) == sum(seen.values()) == 1
    for v, p in ch.secret_prior(seen).items():
        assert sum(outer * dict(inner).get(v, F()) for inner, outer in merged.items()) == p
    best = sum(p * ch.vulnerability(dict(inner), *case.gains) for inner, p in merged.items())
    assert ch.prior_gain(seen, *case.gains) <= best == ch.posterior_gain(seen, *case.gains)
    assert best <= ch.worst_case_gain(seen, *case.gains)


@given(cases(lowest=0), st.data())
def test_no_prior_and_no_gain_leak_more_than_the_capacity(case: Case, data: st.DataObject) -> None:
    counted = ch.channel(case.rows, case.qids, case.secret, weights=case.weights)
    domain = list(ch.secret_prior(counted))
    assert {*ch.secret_prior(counted).values()} == {1}
    seen = case.joint(data.draw(priors(domain)))
    before, after = ch.prior_gain(seen, *case.gains), ch.posterior_gain(seen, *case.gains)
    assert before <= after <= en.capacity(counted) * before
    seen = case.joint(dict.fromkeys(domain, F(1, len(domain))))
    assert ch.posterior_gain(seen, *ch.identity(domain)) * len(domain) == en.capacity(counted)
    assert case.secret is not None or en.capacity(counted) == len({b for b, _ in counted})


@given(cases())
def test_shannon_entropy_obeys_thesis_appendix_b(case: Case) -> None:
    seen, h = case.joint(), en.entropy(ch.secret_prior(case.joint()))
    rest, leaked = en.posterior_entropy(seen), en.mutual_information(seen)
    h_x = en.entropy(ch.outers(seen))
    assert min(h, rest, h_x) >= 0
    assert close(leaked, h - rest)
    assert close(en.entropy(seen), h_x + rest)  # chain rule
    assert -1e-12 <= leaked <= min(h, h_x) + 1e-12
    assert -math.log2(ch.posterior_tries(seen, 1)) <= rest + 1e-12  # min-entropy is never more
    assert case.secret is not None or close(leaked, h_x)  # a record decides its block


@given(cases(), st.data())
def test_all_larger_sets_single_out_and_reveal_too(case: Case, data: st.DataObject) -> None:
    target = data.draw(st.sampled_from(case.rows))
    if case.secret is None:
        smallest = su.minimal_sample_uniques(case.rows, case.qids, target)
    else:
        smallest = su.minimal_revealing(case.rows, case.qids, case.secret, target)
    for s in su.subsets(case.qids):
        found = attack(case.rows, sorted(s), case.secret, target={c: target[c] for c in s})
        assert any(few <= s for few in smallest) == found["posterior_deterministic"]


@given(cases())
def test_a_journalist_who_knows_only_the_release_is_a_prosecutor(case: Case) -> None:
    found = oracle.risks(case.rows, case.qids, case.rows)
    whole = attack(case.rows, case.qids)
    worst, mean = whole["worst_case"], whole["posterior_probabilistic"]
    assert found == oracle.Risks(worst, mean, worst, mean, mean)
