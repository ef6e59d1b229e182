"""Policies: what a file says, what wins over it, and every mistake told by file and line."""

import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qifsql.adversary.models import model
from qifsql.errors import InputError
from qifsql.results.assessment import DETAILS, INDIVIDUAL, MEASURES, SCHEMA
from qifsql.study import policy as policies
from qifsql.study.policy import Policy, read
from qifsql.study.rules import BOUNDS, Rule, measures

ADVERSARY = '[adversary]\nqids = ["age"]\nsecret = ["disease"]\n'  # 3 lines; the rule is on line 4
RULE = '[[rule]]\nmodel = "cas"\nmeasure = "worst_case"\nat_most = 0.5\n'


def written(folder: Path, text: str, **options: object) -> Policy:
    file = folder / "p.toml"
    file.write_text(text)
    return read(file, **options)


def test_the_example_of_the_documentation_is_a_policy(tmp_path: Path):
    example = "\n".join(
        line for line in (policies.__doc__ or "").splitlines() if line.startswith("    ")
    )
    found = written(tmp_path, textwrap.dedent(example))
    assert found.adversary == {"qids": ("age", "sex"), "secret": ("disease",)}
    assert found.rules == (
        Rule(1, (model("crs"),), "posterior_deterministic", {"at_most": 0.05}),
        Rule(
            2, (model("cas"),), "posterior_probabilistic", {"at_most": 0.9}, ("disease",), "region"
        ),
        Rule(3, (model("cas"),), "degradation_probabilistic", {"rise_at_most": 0.1}),
    )
    assert found.baseline == tmp_path / "last_release.json"


def test_several_models_secrets_and_bounds_are_one_rule(tmp_path: Path):
    text = (
        '[adversary]\nqids = "age"\nsecret = ["disease", "decade=year//10", "CO_*"]\n'
        '[[rule]]\nmodel = ["cas", "CAL,cas"]\nsecret = ["Disease", "decade", "CO_END"]\n'
        'measure = "worst_case"\nat_least = 0\nat_most = 0.25\nfall_at_most = -0.5\n'
    )
    (rule,) = written(tmp_path, text).rules
    assert rule.models == (model("cas"), model("cal"))
    assert rule.secrets == ("Disease", "decade", "CO_END")
    assert rule.limits == "<= 0.25 and >= 0 and fall <= -0.5"
    assert rule.drifts


def test_options_that_are_given_win_and_others_do_not(tmp_path: Path):
    text = '[adversary]\nqids = "age"\nby = "region"\nnull = "drop"\nwhere = "age > 1"\n'
    text += RULE + RULE.replace("0.5", '0.4\nby = "sex"')
    plain = written(tmp_path, text)
    assert plain.adversary["by"] == "region"
    assert [rule.by for rule in plain.rules] == ["region", "sex"]
    found = written(tmp_path, text, qids=("zip",), by="town", where=None, secret=(), target={})
    assert found.adversary == {
        "qids": ("zip",), "by": "town", "null": "drop", "where": "age > 1",
    }  # fmt: skip
    assert [rule.by for rule in found.rules] == ["town", "sex"]


def test_files_are_looked_for_beside_the_policy(tmp_path: Path):
    text = '[adversary]\nqids = "a"\nprior = "prior.csv"\npopulation = "people@all.duckdb"\n'
    text += RULE + f'[baseline]\nfile = "{tmp_path / "last.csv"}"\n'
    folder = tmp_path / "inner"
    folder.mkdir()
    found = written(folder, text)
    assert found.adversary["prior"] == str(folder / "prior.csv")
    assert found.adversary["population"] == f"people@{folder / 'all.duckdb'}"
    assert found.baseline == tmp_path / "last.csv"


def test_every_number_of_a_result_can_be_bounded():
    columns = SCHEMA | INDIVIDUAL
    for more in MEASURES.values():
        columns |= more
    texts = {"model", "qids", "secret", "target", "best_guess"}
    assert set(measures()) == columns.keys() - texts
    assert set(measures(grouped=True)) == DETAILS["groups"].keys() - {"attack_id", "by", "group"}


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("[[rule]\n", 1, "no TOML"),
        ('qids = ["a"]\n' + RULE, 1, 'there is no "qids" here; use one of adversary, rule'),
        ("[adversay]\n" + RULE, 1, 'did you mean "adversary"'),
        (ADVERSARY + "[[rules]]\nmodel = 1\n", 4, 'did you mean "rule"'),
        (ADVERSARY + RULE + '[baseline]\nfil = "x"\n', 8, "write file ="),
        (ADVERSARY + RULE + '[baseline]\nfile = "x"\nform = 1\n', 10, 'there is no "form" here'),
        (ADVERSARY + RULE + "[baseline]\nfile = 3\n", 9, "file is not a text"),
        ("baseline = 3\n" + RULE, 1, "a baseline is a table"),
        ('[adversary]\nqid = ["a"]\n' + RULE, 2, 'did you mean "qids"'),
        ("adversary = 1\n" + RULE, 1, "write [adversary]"),
        ("[adversary]\nqids = [1]\n" + RULE, 2, "qids is not a text"),
        ("[adversary]\nqids = []\n" + RULE, 2, "qids is empty"),
        ("[adversary]\nweight = [1]\n" + RULE, 2, "weight is not a text"),
        ('[adversary]\nwhere = " "\n' + RULE, 2, "where is empty"),
        (ADVERSARY, 1, "there is no rule"),
        ("rule = []\n", 1, "there is no rule"),
        ("", 1, "there is no rule"),
        (ADVERSARY + RULE.replace("[[rule]]", "[rule]"), 4, "write [[rule]]"),
        (ADVERSARY + RULE.replace("cas", "cax"), 5, 'there is no model "cax"; use one of crs'),
        (ADVERSARY + RULE.replace('"cas"', '["cas", 3]'), 5, "model is not a text"),
        (ADVERSARY + RULE.replace("cas", "tables"), 6, 'there is no measure "worst_tablese"'),
        (ADVERSARY + RULE.replace("model", "modle"), 5, 'did you mean "model"'),
        (ADVERSARY + RULE.replace('model = "cas"', ""), 4, "rule 1 has no model"),
        (ADVERSARY + RULE.replace('measure = "worst_case"', ""), 4, "rule 1 has no measure"),
        (ADVERSARY + RULE.replace("worst_case", "worstcase"), 6, 'did you mean "worst_case"'),
        (ADVERSARY + RULE.replace("worst_case", "qwrtz"), 6, "use one of datasets, n_qids"),
        (ADVERSARY + RULE.replace("worst_case", "secret"), 6, "there is no measure"),
        (
            ADVERSARY + RULE.replace("worst_case", "capacity") + 'by = "sex"\n',
            6,
            'there is no measure "capacity" within groups (by "sex"); use one of individuals',
        ),
        (ADVERSARY + RULE.replace("worst_case", "marketer_risk"), 6, "re-identification alone"),
        (ADVERSARY + RULE.replace("worst_case", "matches"), 6, "is of one person"),
        (
            RULE.replace("worst_case", "journalist_risk").replace("cas", "crs"),
            3,
            "needs the population",
        ),
        (
            RULE.replace("worst_case", "guessed_right").replace("cas", "crs") + 'by = "sex"',
            3,
            "is of a secret",
        ),
        (ADVERSARY + RULE.replace("at_most = 0.5", ""), 4, "rule 1 has no bound; write one of"),
        (ADVERSARY + RULE.replace("0.5", '"0.5"'), 7, "at_most is not a number"),
        (ADVERSARY + RULE.replace("0.5", "true"), 7, "at_most is not a number"),
        (ADVERSARY + RULE.replace("0.5", "nan"), 7, "at_most is not a number"),
        (ADVERSARY + RULE.replace("0.5", "-inf"), 7, "at_most is not a number"),
        (ADVERSARY + RULE.replace("0.5", "5"), 7, "between 0 and 1, such as 0.05 for 5 %"),
        (ADVERSARY + RULE.replace("0.5", "-0.1"), 7, "between 0 and 1"),
        (ADVERSARY + RULE.replace("at_most = 0.5", "rise_at_most = 5"), 7, "between -1 and 1"),
        (ADVERSARY + RULE + 'secret = "ilness"\n', 8, '"ilness" is not asked for; it has "disea'),
        (ADVERSARY + RULE + 'secret = "diseas"\n', 8, 'did you mean "disease"'),
        (RULE + 'secret = "disease"\n', 5, "not asked for; name it in [adversary]"),
        (
            ADVERSARY + RULE.replace('"cas"', '"crs"') + 'secret = "disease"\n',
            8,
            "crs is of re-identification, which has no secret",
        ),
        (ADVERSARY + RULE + RULE + RULE.replace("0.5", "x"), 15, "no TOML"),
        (ADVERSARY + RULE + RULE + RULE.replace("most", "moost"), 15, 'did you mean "at_most"'),
    ],
)
def test_a_mistake_is_one_line_with_file_and_line(tmp_path: Path, text: str, line: int, says: str):
    with pytest.raises(InputError) as caught:
        written(tmp_path, text)
    said = str(caught.value)
    assert said.startswith(f"{tmp_path / 'p.toml'}, line {line}: ")
    assert says in said
    assert "\n" not in said


def rule(**bounds: float) -> Rule:
    return Rule(1, (model("crs"),), "posterior_probabilistic", bounds)


@pytest.mark.parametrize(
    ("bound", "value", "last", "met"),
    [
        ({"at_most": 0.3}, 0.3, None, True),
        ({"at_most": 0.3}, 0.300000001, None, False),
        ({"at_least": 0.3}, 0.3, None, True),
        ({"at_least": 0.3}, 0.299999999, None, False),
        ({"at_most": 0}, 0.0, None, True),
        ({"at_most": 0}, 1e-9, None, False),
        ({"at_most": 5}, 5.0, None, True),
        ({"at_least": 0.2, "at_most": 0.3}, 0.25, None, True),
        ({"at_least": 0.2, "at_most": 0.3}, 0.1, None, False),
        ({"at_least": 0.2, "at_most": 0.3}, 0.4, None, False),
        ({"rise_at_most": 0.1}, 0.4, 0.3, True),  # 0.4 - 0.3 > 0.1 in floating numbers
        ({"rise_at_most": 0.1}, 0.400000001, 0.3, False),
        ({"rise_at_most": 0.1}, 0.0, 0.9, True),
        ({"rise_at_most": 0}, 0.3, 0.3, True),
        ({"rise_at_most": -0.1}, 0.2, 0.3, True),
        ({"rise_at_most": -0.1}, 0.200000001, 0.3, False),
        ({"fall_at_most": 0.1}, 0.3, 0.4, True),
        ({"fall_at_most": 0.1}, 0.299999999, 0.4, False),
        ({"fall_at_most": 0.1}, 0.9, 0.4, True),
        ({"at_most": 0.5, "rise_at_most": 0.1}, 0.45, 0.3, False),
        ({"at_most": 0.5, "rise_at_most": 0.1}, 0.55, 0.5, False),
        ({"at_most": 0.5, "rise_at_most": 0.1}, 0.5, 0.45, True),
    ],
)
def test_a_level_is_met_at_its_bound_and_not_beyond(
    bound: dict[str, float], value: float, last: float | None, met: bool
):
    assert rule(**bound).met(value, last) is met


@given(st.integers(1, 10**9), st.integers(0, 10**9), st.sampled_from(["at_most", "at_least"]))
def test_shares_of_a_billion_people_are_told_apart(people: int, some: int, bound: str):
    some %= people
    more, less = (some + 1) / people, some / people
    at_most = bound == "at_most"
    assert rule(**{bound: less}).met(more, None) is not at_most
    assert rule(**{bound: more}).met(less, None) is at_most
    assert rule(**{bound: less}).met(less, None)


def test_a_sum_that_is_rounded_is_at_its_bound():
    sums = sum([0.1] * 10)
    assert sums != 1
    assert rule(at_least=1).met(sums, None)
    assert rule(at_most=0.3).met(0.1 + 0.2, None)


def test_all_bounds_are_told():
    bounds = dict.fromkeys(BOUNDS, 0.5)
    assert rule(**bounds).limits == "<= 0.5 and >= 0.5 and rise <= 0.5 and fall <= 0.5"
