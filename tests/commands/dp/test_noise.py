"""Noisy counts: the tables of the thesis, and a brute-force oracle on small data.

``oracle_noise`` goes through every noisy database; the tables are those of thesis chapter 6.
"""

import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import oracle_noise as oracle
import polars as pl
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import qifsql
from qifsql.commands.dp import epsilons, mechanisms, poisson_binomial
from qifsql.commands.dp.semantic import semantic
from qifsql.commands.dp.vulnerability import hull
from qifsql.errors import InputError

EXAMPLE = {  # thesis Table 6.1
    "income": ["low", "low", "medium", "medium", "medium", "medium", "high", "high"],
    "gender": ["F", "M"] * 4,
    "country": ["BRA", "BRA", "AUS", "AUS", "AUS", "AUS", "BRA", "BRA"],
}
ORDERS = {"income": ["low", "medium", "high"], "gender": ["F", "M"], "country": ["AUS", "BRA"]}
TABLE_6_4 = {  # scenario: useful, secret, value counted; loss and utility of each epsilon
    "A": (
        ("income", "income", "medium"),
        [(1.0000, 0.6000), (1.1250, 0.7500), (1.3636, 0.9091)],
        [(1.0000, 0.5124), (1.0000, 0.5492), (1.0308, 0.6561)],
    ),
    "B": (
        ("gender", "income", "F"),
        [(1.0000, 0.6000), (1.0000, 0.7500), (1.0000, 0.9091)],
        [(1.0000, 0.5280), (1.0000, 0.5812), (1.0000, 0.7221)],
    ),
    "C": (
        ("income", "country", "medium"),
        [(1.2000, 0.6000), (1.5000, 0.7500), (1.8182, 0.9091)],
        [(1.0249, 0.5124), (1.0984, 0.5492), (1.3122, 0.6561)],
    ),
    "D": (
        ("country", "income", "BRA"),
        [(1.0000, 0.6000), (1.1250, 0.7500), (1.3636, 0.9091)],
        [(1.0000, 0.5280), (1.0021, 0.5812), (1.0831, 0.7221)],
    ),
}
EPSILONS = "ln 3, ln 5, ln 10, ln 30, ln 60, ln 100, ln 200, ln 500, ln 10^3, ln 10^5"
TABLE_6_5_A = [  # oblivious loss and utility, local loss and utility
    (1.08012, 0.78293, 1.00000, 0.78293),
    (1.20013, 0.83333, 1.00000, 0.78293),
    (1.30923, 0.90909, 1.00000, 0.78293),
    (1.39370, 0.96774, 1.00000, 0.78293),
    (1.41655, 0.98361, 1.00000, 0.78293),
    (1.42590, 0.99010, 1.00002, 0.78293),
    (1.43299, 0.99502, 1.00092, 0.78295),
    (1.43728, 0.99800, 1.01287, 0.78463),
    (1.43872, 0.99900, 1.05148, 0.79899),
    (1.44014, 0.99999, 1.42916, 0.99395),
]
TABLE_6_5_B = [  # oblivious and local utility; every loss is printed 1.00000
    (0.75000, 0.70103),
    (0.83333, 0.70103),
    (0.90909, 0.70103),
    (0.96774, 0.70103),
    (0.98361, 0.70103),
    (0.99010, 0.70106),
    (0.99502, 0.70190),
    (0.99800, 0.71218),
    (0.99900, 0.73904),
    (0.99999, 0.99447),
]
ETHNICITY = [2306, 1132, 200, 1015, 21, 2]  # codes 0 to 5 (thesis 6.2.1)


def written(file: Path, columns: dict[str, Sequence[Any]]) -> Path:
    pl.DataFrame(columns).write_parquet(file)
    return file


def by_mechanism(result: qifsql.Result, name: str) -> list[dict[str, Any]]:
    return result.frame.filter(
        mechanism=name,
    ).to_dicts()


# The tables of the thesis.


@pytest.mark.parametrize("scenario", TABLE_6_4)
def test_table_6_4(scenario: str, tmp_path: Path) -> None:
    (useful, secret, value), *wanted = TABLE_6_4[scenario]
    result = qifsql.dp(
        written(tmp_path / "d.parquet", EXAMPLE),
        useful=useful,
        secret=secret,
        predicate=f"{useful} = '{value}'",
        epsilon="ln 1.5, ln 3, ln 10",
        order=ORDERS[useful],
    )
    assert result.frame["method"].to_list() == ["exact"] * 6
    assert result.frame["error"].to_list() == [0.0] * 6
    for name, expected in zip(("oblivious", "local"), wanted, strict=True):
        found = by_mechanism(result, name)
        assert [(round(r["privacy_loss"], 4), round(r["utility"], 4)) for r in found] == expected
    assert result.details["scenario"]["scenario"].item() == scenario


def test_table_6_5_a(tmp_path: Path) -> None:
    """With the attainable ends, which the thesis prints otherwise (facts: errors)."""
    codes = [code for code, n in enumerate(ETHNICITY) for _ in range(n)]
    result = qifsql.dp(
        written(tmp_path / "d.parquet", {"TP_COR_RACA": codes}),
        useful="TP_COR_RACA",
        secret="TP_COR_RACA",
        predicate="TP_COR_RACA = 3",
        epsilon=EPSILONS,
    )
    pairs = zip(by_mechanism(result, "oblivious"), by_mechanism(result, "local"), strict=True)
    found = [
        tuple(round(row[c], 5) for row in pair for c in ("privacy_loss", "utility"))
        for pair in pairs
    ]
    assert found == TABLE_6_5_A
    ends = result.frame.select("utility_min", "privacy_loss_max").unique()
    assert [round(x, 5) for x in ends.row(0)] == [0.78293, 1.44016]
    assert ends.height == 1
    assert result.details["scenario"]["scenario"].item() == "A"


@pytest.mark.parametrize("of_20", [50, 125, 200])
def test_table_6_5_b_with_fitted_ages(of_20: int, tmp_path: Path) -> None:
    """The ages around 18 are not in the thesis: 360 students of 19 and 50 to 200 of 20 are FITTED.

    Known are 801 of 17, 799 of 16, 641 of 18, 3,278 up to 18 and 1,398 above, all from 6 to 82.
    The other ages are put at 6 and 82; all whole numbers between are in the domain.
    """
    known = {17: 801, 16: 799, 18: 641, 19: 360, 20: of_20}
    known[6] = 3278 - 801 - 799 - 641
    known[82] = 1398 - 360 - of_20
    ages = [age for age, n in known.items() for _ in range(n)]
    secret = ["not declared"] * (len(ages) - 1) + ["declared"]
    result = qifsql.dp(
        written(tmp_path / "d.parquet", {"NU_IDADE": ages, "s": secret}),
        useful="NU_IDADE",
        secret="s",
        predicate="NU_IDADE > 18",
        epsilon=EPSILONS,
        domain="whole",
    )
    assert result.details["scenario"]["places"].item() == 77
    both = (by_mechanism(result, name) for name in ("oblivious", "local"))
    found = [(round(a["utility"], 5), round(b["utility"], 5)) for a, b in zip(*both, strict=True)]
    assert found == TABLE_6_5_B
    assert result.frame["privacy_loss"].round(5).to_list() == [1.0] * 20
    assert {round(x, 5) for x in result.frame["utility_min"]} == {0.70103}


def test_table_6_3() -> None:
    """Each line of the matrix, by the chance to come out at one place."""
    table = [
        "2/3 1/6 1/12 1/24 1/48 1/48",
        "1/3 1/3 1/6 1/12 1/24 1/24",
        "1/6 1/6 1/3 1/6 1/12 1/12",
        "1/12 1/12 1/6 1/3 1/6 1/6",
        "1/24 1/24 1/12 1/6 1/3 1/3",
        "1/48 1/48 1/24 1/12 1/6 2/3",
    ]
    for j in range(6):
        column = mechanisms.geometric(Fraction(1, 2), [place == j for place in range(6)])
        assert column == [Fraction(line.split()[j]) for line in table]


# The oracle.

People = list[tuple[str, str]]
people = st.lists(st.tuples(*map(st.sampled_from, ("abcd", "xyz"))), min_size=2, max_size=6)
alphas = st.sampled_from([Fraction(2, 3), Fraction(1, 3), Fraction(1, 10), Fraction(1, 1000)])


def asked(data: People, predicates: Sequence[str], alpha: Fraction, **more: Any) -> Any:
    """The result for these records, or None where the question is refused."""
    frame = pl.DataFrame(data, schema=["u", "s"], orient="row")
    if len({s for _, s in data}) < 2:
        return None
    if any(len({u in p for u, _ in data}) < 2 for p in predicates):
        return None
    file = Path(FOLDER, "d.parquet")
    frame.write_parquet(file)
    sql = [f"contains('{p}', u)" for p in predicates]
    text = f"ln {alpha.denominator}/{alpha.numerator}"
    return qifsql.dp(file, useful="u", secret="s", predicate=sql, epsilon=text, **more)


FOLDER = ""


@pytest.fixture(autouse=True, scope="module")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> None:
    global FOLDER  # noqa: PLW0603 - hypothesis draws many tables for one test
    FOLDER = str(tmp_path_factory.mktemp("noise"))


def same(found: float, expected: Fraction) -> bool:
    """To the last digit: both are the nearest floating number of a fraction."""
    return found == float(expected)


@settings(max_examples=examples(30), deadline=None)
@given(people, alphas, st.sampled_from(["a", "bd", "ac", "abc"]), st.permutations("abcd"))
def test_one_count_of_any_small_data(
    data: People, alpha: Fraction, predicate: str, order: list[str]
) -> None:
    """All mechanisms against every noisy database, or the recursion of Eq. 6.11."""
    result = asked(data, [predicate], alpha, order=order, mechanism=ALL)
    if result is None:
        return
    truth: Callable[[str], bool] = predicate.__contains__
    geometric = oracle.on_values(oracle.geometric(3, alpha), order)
    kernels = {"local": geometric, "randomised_response": oracle.response(order, alpha)}
    joints = {"oblivious": oracle.oblivious(data, [truth], alpha)}
    joints |= {name: oracle.recursive(data, truth, kernel) for name, kernel in kernels.items()}
    if len(data) < 4:
        for name, kernel in kernels.items():
            every = oracle.local(data, [truth], kernel)
            assert {k: p for k, p in every.items() if p} == {
                k: p for k, p in joints[name].items() if p
            }
    for row in result.frame.iter_rows(named=True):
        joint = joints[row["mechanism"]]
        assert row["method"] == "exact"
        assert same(row["privacy_loss"], oracle.loss(data, joint))
        assert same(row["utility"], oracle.vulnerability(joint, 1))
        assert same(row["posterior"], oracle.vulnerability(joint, 0))
        assert row["prior"] == max(Counter(s for _, s in data).values()) / len(data)


ALL = "oblivious,local,randomised_response"


@settings(max_examples=examples(25), deadline=None)
@given(people.filter(lambda d: len(d) < 5), st.sampled_from([1, 2]), st.sampled_from([1, 2]))
def test_several_counts_of_any_small_data(data: People, several: int, answers: int) -> None:
    """With a budget for each: all noisy counts of every outcome."""
    predicates, alpha = ["ab", "ac"][:several], Fraction(1, 3)
    more = {"mechanism": "oblivious", "counts": answers, "budget": "sum"}
    result = asked(data, predicates, alpha, **more)
    if result is None:
        return
    truths = [p.__contains__ for p in predicates]
    joint = oracle.oblivious(data, truths, alpha, answers)
    row = result.frame.row(-1, named=True)
    assert row["answers"] == several * answers
    assert same(row["privacy_loss"], oracle.loss(data, joint))
    assert same(row["utility"], oracle.vulnerability(joint, 1))
    assert row["epsilon_person"] == pytest.approx(math.log(3) * several * answers)


@settings(max_examples=examples(25), deadline=None)
@given(people.filter(lambda d: len(d) < 4), alphas)
def test_counts_of_one_noisy_database_stay_below_their_bound(data: People, alpha: Fraction) -> None:
    predicates, order = ["ab", "ac"], "abcd"
    result = asked(data, predicates, alpha, mechanism="local", order=list(order))
    if result is None:
        return
    kernel = oracle.on_values(oracle.geometric(3, alpha), order)
    together = oracle.local(data, [p.__contains__ for p in predicates], kernel)
    rows = result.frame.to_dicts()
    assert [row["predicate"] for row in rows] == [1, 2, None]
    assert rows[-1]["method"] == "bound"
    assert rows[-1]["utility"] is None
    assert rows[-1]["privacy_loss"] >= float(oracle.loss(data, together)) - 1e-12
    for row in rows[:2]:
        assert row["privacy_loss"] <= float(oracle.loss(data, together)) + 1e-12


def test_a_budget_that_is_split_gives_each_answer_its_part(tmp_path: Path) -> None:
    file = written(tmp_path / "d.parquet", EXAMPLE)
    question: dict[str, Any] = {
        "useful": "country", "secret": "income", "predicate": "country = 'BRA'",
        "mechanism": "oblivious",
    }  # fmt: skip
    split = qifsql.dp(file, epsilon="ln 9", counts=2, **question).frame.row(0, named=True)
    summed = qifsql.dp(file, epsilon="ln 3", counts=2, budget="sum", **question).frame
    for name in ("privacy_loss", "utility", "epsilon_answer", "epsilon_person"):
        assert split[name] == pytest.approx(summed[name].item(), rel=1e-15)
    assert split["epsilon_person"] == pytest.approx(split["epsilon"])
    assert split["method"] == "exact"


# Large counts.


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=5),
    st.data(),
)
def test_both_ways_to_a_distribution_agree(sizes: list[int], data: st.DataObject) -> None:
    """The errors of the floating one, all together, are within its bound."""
    chance = st.one_of(
        st.fractions(0, 1, max_denominator=50),
        st.sampled_from([Fraction(1, 2), Fraction(1, 10**9), 1 - Fraction(1, 10**7)]),
    )
    chances = [data.draw(chance) for _ in sizes]
    whole = poisson_binomial.exact_counts(sizes, chances)
    if whole is None:
        return
    window = poisson_binomial.distribution_window(
        sizes, [(float(t), float(1 - t)) for t in chances]
    )
    total = sum(whole)
    exact = [Fraction(n, total) for n in whole]
    error = Fraction(0)
    for k, p in enumerate(exact):
        inside = 0 <= k - window.first < len(window.chances)
        error += abs(p - Fraction(window.chances[k - window.first] if inside else 0))
    assert error <= Fraction(window.error)
    assert window.error < 1e-11


@pytest.mark.slow(because="small windows are compared with the oracle")
def test_a_window_of_very_many_people_is_narrow_and_adds_up() -> None:
    window = poisson_binomial.distribution_window([10**9, 7], [(0.25, 0.75), (1e-300, 1.0)])
    assert math.fsum(window.chances) == pytest.approx(1, abs=1e-12)
    mean = math.fsum((window.first + i) * p for i, p in enumerate(window.chances))
    assert mean == pytest.approx(0.25e9, rel=1e-13)
    centre = 250_000_000 - window.first
    sigma = math.sqrt(10**9 * 3 / 16)
    assert window.chances[centre] == pytest.approx(1 / (sigma * math.sqrt(2 * math.pi)), rel=1e-8)
    assert len(window.chances) < 20 * sigma
    assert window.error < 1e-9


@pytest.mark.slow(because="1.0 s; every recorded mutant dies without it")
def test_large_data_agree_with_the_recursion(tmp_path: Path) -> None:
    """Six hundred records: too many for whole numbers, few enough for Eq. 6.11 in decimals."""
    draw = random.Random(1)
    useful = [draw.choice([1, 2, 3, 4, 5]) for _ in range(600)]
    secret = [u if draw.random() < 0.7 else draw.choice([1, 2, 3]) for u in useful]
    result = qifsql.dp(
        written(tmp_path / "d.parquet", {"u": useful, "s": secret}),
        useful="u", secret="s", predicate="u in (2, 5)", epsilon="2, ln 40",
        mechanism="local,randomised_response",
    )  # fmt: skip
    for row in result.frame.iter_rows(named=True):
        assert row["method"] == "fourier"
        exact = decimals(useful, secret, row["mechanism"], row["epsilon_given"])
        for name, value in zip(("posterior", "utility"), exact, strict=True):
            assert abs(Decimal(row[name]) - value) <= Decimal(row["error"])
        assert row["error"] < 1e-11


def decimals(useful: list[int], secret: list[int], name: str, epsilon: str) -> list[Decimal]:
    """Posterior and utility by Eq. 6.11 in decimals of 28 digits."""
    alpha = (-Decimal(2)).exp() if epsilon == "2" else Decimal(1) / 40
    domain, truth = [1, 2, 3, 4, 5], (2, 5).__contains__
    one = Fraction(alpha)
    kernel = (
        oracle.on_values(oracle.geometric(4, one), domain)
        if name == "local"
        else oracle.response(domain, one)
    )
    exact = {v: sum(kernel[w, v] for w in domain if truth(w)) for v in domain}
    yes = {v: Decimal(t.numerator) / Decimal(t.denominator) for v, t in exact.items()}
    others = [Decimal(1)]
    for v in useful:
        pairs = zip([*others, Decimal(0)], [Decimal(0), *others], strict=True)
        others = [a * (1 - yes[v]) + b * yes[v] for a, b in pairs]
    found = []
    for guesses in (secret, [truth(v) for v in useful]):
        cells = Counter(zip(guesses, useful, strict=True))
        total = Decimal(0)
        for a, b in zip([*others, Decimal(0)], [Decimal(0), *others], strict=True):
            total += max(
                sum(
                    n * (a * (1 - yes[v]) + b * yes[v]) for (g, v), n in cells.items() if g == guess
                )
                for guess in set(guesses)
            )
        found.append(total / len(useful))
    return found


# What always holds.


@settings(max_examples=examples(30), deadline=None)
@given(people, st.sampled_from(["a", "bd", "ac"]))
def test_a_larger_epsilon_on_the_count_never_loses_or_helps_less(data: People, p: str) -> None:
    result = asked(data, [p], Fraction(1, 3), mechanism="oblivious")
    if result is None:
        return
    file = Path(FOLDER, "d.parquet")
    rows = qifsql.dp(
        file, useful="u", secret="s", predicate=f"contains('{p}', u)", mechanism="oblivious",
        epsilon="0.001, 0.1, ln 2, 1, 3, 40",
    ).frame  # fmt: skip
    for name in ("privacy_loss", "utility"):
        values = rows[name].to_list()
        assert values == sorted(values)
        assert all(rows[f"{name}_min"] <= rows[name])
        assert all(rows[name] <= rows[f"{name}_max"])
        assert values[0] == pytest.approx(rows[f"{name}_min"][0], abs=2e-3)
        assert values[-1] == pytest.approx(rows[f"{name}_max"][0], abs=1e-12)
    assert all(rows["privacy_loss"] <= rows["privacy_loss_promised"] * (1 + 1e-15))


@given(st.lists(st.tuples(*[st.integers(0, 9)] * 2), min_size=1, max_size=12))
def test_the_upper_lines_are_enough_for_every_best_guess(lines: list[tuple[int, int]]) -> None:
    best = hull(lines)
    assert set(best) <= set(lines)
    for x, y in product(range(6), repeat=2):
        if x or y:
            assert max(a * x + b * y for a, b in best) == max(a * x + b * y for a, b in lines)


# Epsilons.


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1.0), ("2.5", 2.5), ("1e-3", 0.001), ("1/2", 0.5), ("2^3", 8.0),
        ("ln 3", math.log(3)), ("ln(3)", math.log(3)), ("ln3", math.log(3)),
        ("LN 10^5", math.log(10**5)),
        ("ln 3/2", math.log(1.5)), ("ln 1.5", math.log(1.5)), ("ln ( 10 ^ 2 )", math.log(100)),
    ],
)  # fmt: skip
def test_an_epsilon_is_read(text: str, value: float) -> None:
    (epsilon,) = epsilons.parse(text)
    assert float(epsilon.value) == value
    assert float(epsilon.alpha) == pytest.approx(math.exp(-value), rel=1e-15)
    assert (epsilon.ratio is not None) == text.casefold().startswith("ln")


def test_epsilons_are_a_list_each_once() -> None:
    assert [e.text for e in epsilons.parse("ln 3,1 ,2.5, 1.0")] == ["ln 3", "1", "2.5"]
    assert [float(e.value) for e in epsilons.parse([1, 2.5, "ln 1e2"])] == [
        1,
        2.5,
        math.log(100),
    ]
    assert epsilons.parse("ln 3")[0].alpha == Fraction(1, 3)


@pytest.mark.parametrize(
    "text",
    [
        *("0", "-1", "ln 1", "ln 0.5", "-ln 3", "0.0", "ln 0"),
        *("", "x", "ln", "ln -3", "1 2", "1,,2", "nan", "inf", "1e999", "ln ln 3", "log 3"),
        *("__import__('os')", "2**3", "1/0", "9^999^999", "ln 9e999^999", "1001", "1e-10", "١"),
        *(float("nan"), float("inf"), 0, -1.0, True),
    ],
)  # fmt: skip
def test_what_is_no_epsilon_is_refused(text: str | float) -> None:
    with pytest.raises(InputError):
        epsilons.parse(text)


# Semantic privacy.


def test_beliefs_move_as_far_as_the_bound_and_no_farther() -> None:
    """Proposition 14, by the worst adversary: two databases, beliefs p, and a two-valued answer."""
    epsilon = 0.7
    bound = semantic(epsilon).distance
    far = 0.0
    for i in range(1, 1000):
        p = i / 1000
        # the factor of the likelihoods is e^ε for the first database and e^-ε for the second
        first = p * math.exp(epsilon) / (p * math.exp(epsilon) + (1 - p) * math.exp(-epsilon))
        far = max(far, abs(first - p))
    assert far <= bound
    assert far == pytest.approx(bound, abs=1e-5)
    assert bound <= math.expm1(epsilon)  # the bound that is known from elsewhere


def test_with_a_delta_of_a_mechanism_that_fails_openly() -> None:
    """With probability δ the whole database is published, else nothing: Def. 13 holds."""
    epsilon, delta, n = 0.5, 1e-6, 3
    promised = semantic(epsilon, delta, n)
    assert promised.distance < 1
    assert promised.failure >= delta  # for then beliefs move all the way
    assert semantic(epsilon, delta, 10**9).failure == 1
    assert semantic(10**4, 1e-9, 5).failure == 1


@pytest.mark.parametrize("wrong", [(0, 0, 1), (-1, 0, 1), (1, -0.1, 1), (1, 1, 1), (1, 0, 0)])
def test_semantic_privacy_of_nothing_is_refused(wrong: tuple[float, float, int]) -> None:
    with pytest.raises(InputError):
        semantic(*wrong)
