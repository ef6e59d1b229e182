"""Every error in a study is reported at once, with its line; nothing runs or is left behind."""

from pathlib import Path

import pytest
from studies import ATTACK, CHECK, DATASETS, SWEEP, data, written
from terminal import run

import qifsql
from qifsql.errors import InputError
from qifsql.study import forms

HEAD = len(DATASETS.splitlines())
ALL = DATASETS + ATTACK + SWEEP + CHECK


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two releases, in which commands are run."""
    monkeypatch.chdir(tmp_path)
    data(tmp_path)
    return tmp_path


def refused(here: Path, text: str, *says: tuple[int, str]) -> None:
    """Each mistake is one line that names the file and the line; nothing is run or left behind."""
    written(here, text)
    before = sorted(here.rglob("*"))
    done = run("run", "study.toml")
    assert (done.code, done.out) == (2, "")
    errors = done.err.splitlines()
    assert len(errors) == len(says), done.err
    for error, (line, said) in zip(errors, says, strict=True):
        assert error.startswith(f"error: study.toml, line {line}: ")
        assert said in error
    assert "Traceback" not in done.err
    assert sorted(here.rglob("*")) == before


def attack(*lines: str) -> str:
    """A study with one attack that has these lines, from line 18 on."""
    return DATASETS + ATTACK + "".join(f"{line}\n" for line in lines)


# What is no study


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("[datasets\n", 1, "this is no TOML"),
        ("a = 1\n[[attack]\n", 2, "this is no TOML"),
        ("a = 1\na = 2\n", 2, "this is no TOML"),
        (DATASETS + "[datasets.people]\n", HEAD + 1, "this is no TOML"),
        ("", 1, "there is nothing to run; write [[attack]], [[sweep]], [[tables]], [[synth"),
        (DATASETS, 1, "there is nothing to run"),
        ("attack = []", 1, "there is nothing to run"),
        ("sed = 1\n" + ALL, 1, 'there is no "sed" here; did you mean "seed"?'),
        ("seed = 1.5\n" + ALL, 1, "seed is a whole number"),
        ("seed = true\n" + ALL, 1, "seed is a whole number"),
        ("[attacks]\n" + ALL, 1, 'there is no "attacks" here; did you mean "attack"?'),
        ("output = 3\n" + ALL, 1, "output is a table, not a value"),
        ('[output]\nformats = "pdf"\n' + ALL, 2, 'formats is a list of "parquet", "csv"'),
        ("[output]\nformats = []\n" + ALL, 2, "formats is a list of"),
        ("[output]\nfolder = 3\n" + ALL, 2, "folder is a text in quotes"),
        ('[output]\nfolder = "later.csv"\n' + ALL, 2, "later.csv is not a folder; name another"),
        ('[output]\nfodler = "x"\n' + ALL, 2, 'there is no "fodler" here; did you mean "folder"?'),
    ],
)
def test_the_file_as_a_whole(here: Path, text: str, line: int, said: str):
    refused(here, text, (line, said))


def test_a_study_that_is_not_there(here: Path):
    done = run("run", "nothing.toml")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "cannot be read" in done.err
    with pytest.raises(InputError, match="is a folder; name a file"):
        qifsql.Study.load(here)


# Datasets, collections, gains


@pytest.mark.cases(14)
@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("datasets = 3\n", 1, "datasets is a table; write [datasets.NAME]"),
        ("[datasets]\nx = 3\n", 2, "datasets.x is a table, not a value"),
        ('[datasets]\nx = "peple.parquet"\n', 2, 'did you mean "people.parquet"?'),
        ("[datasets.x]\n", 1, "datasets.x has no path; write path = ..."),
        ("[datasets.x]\npath = 3\n", 2, "path is a text in quotes"),
        ('[datasets.x]\npath = ["later.csv"]\n', 2, "path is a text in quotes"),
        ('[datasets.x]\n\npath = "no/later.csv"\n', 3, "there is no folder no"),
        ('[datasets.x]\npath = "https://x.org/y.csv"\n', 2, "is not a local file"),
        ('[datasets.x]\npath = "sample:nothing.csv"\n', 2, "nothing.csv does not exist"),
        ('[datasets.x]\npath = "t@no.duckdb"\n', 2, "no.duckdb does not exist"),
        ('[datasets.x]\npath = "*.zip"\n', 2, "matches no file"),
        ('[datasets.x]\npath = "a\\u0000b"\n', 2, "path is a text in quotes"),
        ('[datasets.x]\npath = "people.parquet"\ndelimiter = ";"\n', 2, "is not CSV"),
        ('[datasets.x]\npath = "later.csv"\ndelimiter = ";;"\n', 2, "cannot be used"),
        ('[datasets.x]\npath = "later.csv"\nall_varchar = "yes"\n', 3, "is true or false"),
        ('[datasets.x]\npath = "later.csv"\nsecrets = "a"\n', 3, 'did you mean "secret"?'),
        ('[datasets.x]\npath = "later.csv"\nnull = "dorp"\n', 3,
         'null is "distinct" or "drop", not "dorp"'),
        ('[datasets.x]\npath = "later.csv"\nqids = [1]\n', 3, "qids is a text in quotes or a list"),
        ("[collections.x]\n", 1, "collections.x has no datasets"),
        ('[collections.x]\ndatasets = ["people", "latre"]\n', 2,
         'there is no dataset "latre"; did you mean "later"?'),
        ("[collections.x]\ndatasets = []\n", 2, "the list of datasets is empty"),
        ('[collections.people]\ndatasets = ["later"]\n', 1, 'there is a dataset "people" already'),
        ('[collections.x]\ndatasets = ["x"]\n', 2, '"x" is a collection itself'),
        ('[collections.x]\ndatasets = ["later"]\nabsent = "nul"\n', 3, 'absent is "null" or'),
        ("[gains]\nx = 3\n", 2, "x is a text in quotes"),
        ('[gains]\nx = "tres:3"\n', 2, 'there is no gain "tres:3"; use identity, tries:K'),
        ('[gains]\ntries = "tries:3"\n', 2, '"tries" is a gain; use another name'),
        ('[gains]\nx = "worth:none.csv"\n', 2, "none.csv does not exist"),
        ('[gains]\nx = "tries:many"\n', 2, "needs a number"),
    ],
)  # fmt: skip
def test_what_is_named(here: Path, text: str, line: int, said: str):
    if "[datasets]" in text:
        refused(here, text + ATTACK.replace('dataset = "people"\n', ""), (line, said))
    elif text.startswith("datasets"):
        attack_ = ATTACK.replace('dataset = "people"\n', "")
        refused(here, text + attack_, (1, said), (3, "attack 1 has no dataset"))
    else:
        refused(here, text + DATASETS + ATTACK, (line, said))


def test_a_dataset_without_a_name(here: Path):
    text = '[datasets."" ]\npath = "later.csv"\n'
    refused(here, text + DATASETS + ATTACK, (1, "a name of datasets is empty; name it"))


def test_a_dataset_that_is_wrong_is_told_once(here: Path):
    text = ALL.replace("people.parquet", "peple.parquet") + SWEEP.replace("subsets", "more")
    refused(here, text, (2, 'did you mean "people.parquet"?'))


# Entries


@pytest.mark.cases(13)
@pytest.mark.parametrize(
    ("lines", "line", "said"),
    [
        (['model = "crs"'], 0, "this is no TOML"),
        (["gian = 'identity'"], 0, 'there is no "gian" here; did you mean "gain"?'),
        (["sizes = '1-2'"], 0, 'there is no "sizes" here'),
        (["qids = 3"], 0, "qids is a text in quotes or a list of them"),
        (["qids = ['age', 3]"], 0, "qids is a text in quotes or a list of them"),
        (["qids = []"], -4, "there are no quasi-identifiers; write qids = [...]"),
        (["secret = ''"], -4, "cas infers a secret; write secret = [...]"),
        (["histogram = 'yes'"], 0, 'histogram is true or false, not "yes"'),
        (["thresholds = 'half'"], 0, "thresholds is a number or a list of numbers"),
        (["thresholds = [nan]"], 0, "thresholds is a number or a list of numbers"),
        (["thresholds = [0.5, true]"], 0, "thresholds is a number or a list of numbers"),
        (["target = 'age=3'"], 0, "target is a table such as"),
        (["target = {}"], 0, "target is a table such as"),
        (["target = { age = [1] }"], 0, "target is a table such as"),
        (["target = { age = { missing = false } }"], 0, "target is a table such as"),
        (["prior = 'nothing.csv'"], 0, "nothing.csv does not exist"),
        (["population = 'nobody'"], 0, "nobody does not exist"),
        (["gain = ['identity', 'worth:none.csv']"], 0, "none.csv does not exist"),
        (["gain = [", "'identity',", "'tires:3']"], 2, 'there is no gain "tires:3"'),
        (["null = 'any'"], 0, 'null is "distinct", "drop" or "match-any", not "any"'),
        (["null = 'match-any'"], 0, "null match-any bounds the success against everybody"),
        (["name2 = 1"], 0, 'there is no "name2" here; did you mean "name"?'),
    ],
)
def test_keys_of_an_attack(here: Path, lines: list[str], line: int, said: str):
    refused(here, attack(*lines), (HEAD + 6 + line, said))


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ('name = "birth"\n', "", 2, "attack 1 has no name; write name = ..."),
        ("birth", "", 3, 'the name "" cannot be that of a file'),
        ("birth", "../birth", 3, "cannot be that of a file; use letters, digits, - and _"),
        ("birth", "a b", 3, "cannot be that of a file"),
        ("birth", "a.b", 3, "cannot be that of a file"),
        ("birth", "-b", 3, "cannot be that of a file"),
        ("birth", "a\\nb", 3, 'the name "a\\nb" cannot be that of a file'),
        ("birth", "x" * 81, 3, "cannot be that of a file"),
        ("birth", "Study", 3, '"Study" is the name of the table of all; use another'),
        ('model = ["crs", "cas"]\n', "", 2, "attack 1 has no model; write model = ..."),
        ('["crs", "cas"]', "[]", 4, "there is no model; write model ="),
        ('["crs", "cas"]', '"crx"', 4, 'there is no model "crx"; use one of crs, cas'),
        ('["crs", "cas"]', "1", 4, "model is a text in quotes or a list of them"),
        ('"people"', '"poeple"', 5, 'there is no dataset "poeple"; did you mean "people"?'),
        ('"people"', '["people", "latr"]', 5, 'did you mean "later"?'),
        ('"people"', "3", 5, "dataset is a text in quotes or a list of them"),
        ('"people"', '["people", "both"]', 5, '"both" is a collection; name datasets'),
        ('dataset = "people"\n', "", 2, "attack 1 has no dataset; name one"),
    ],
)
def test_name_model_and_dataset_of_an_attack(here: Path, old: str, new: str, line: int, said: str):
    both = '[collections.both]\ndatasets = ["people", "later"]\n'
    refused(here, both + DATASETS + ATTACK.replace(old, new), (HEAD + 2 + line, said))


@pytest.mark.parametrize("other", ["birth", "BIRTH"])
def test_two_entries_of_one_name(here: Path, other: str):
    text = DATASETS + ATTACK + SWEEP.replace("subsets", other)
    refused(here, text, (HEAD + 8, f'"{other}" is the name of the entry in line {HEAD + 3}'))


def test_names_that_look_the_same_are_the_same(here: Path):
    text = DATASETS + ATTACK.replace("birth", "é") + SWEEP.replace("subsets", "e\u0301")
    written(here, text)
    done = run("run", "study.toml")
    assert (done.code, done.err.count("\n")) == (2, 1)


@pytest.mark.cases(8)
@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (SWEEP + "key = 'id'\n", 5, "a sweep of one dataset does not take key"),
        (SWEEP + "model = 'crs'\n", 5, 'there is no "model" here'),
        (SWEEP + "sizes = [1]\n", 5, 'sizes is a number or a text such as "1-4"'),
        (SWEEP + "threshold = 2\n", 5, "threshold is a number from 0 to 1"),
        (SWEEP + "search = true\n", 5, "a search needs a threshold; write threshold = 0.5"),
        (SWEEP + "sample = 0\n", 5, "a sample is a share of the blocks"),
        (SWEEP + "time_budget = '10m'\n", 5, "time_budget is a number of seconds above 0"),
        (SWEEP + "sizes = '4-2'\n", 5, "sizes are written 2 or 1-4"),
        (SWEEP + "sizes = 9\n", 2, "no subset has 9"),
        (SWEEP + "subsets = ['age+gendr']\n", 5, 'did you mean "gender"?'),
        (SWEEP + "releases = true\nsizes = 1\n", 6, "releases are sets of datasets; leave sizes"),
        (CHECK.replace("[[check.rule]]", "[[chekc.rule]]"), 0, 'there is no "chekc" here'),
        ("[[check]]\nname = 'x'\ndataset = 'people'\n", 1, "check 1 has no policy; write policy ="),
        (CHECK.replace("[[check.rule]]", "policy = 'p.toml'\n[[check.rule]]"), 2,
         "check 1 has both a policy and rules"),
        (CHECK.replace("singled_out", "singld_out"), 7,
         'there is no measure "singld_out"; did you mean "singled_out"?'),
        (CHECK.replace("at_most = 5", "at_most = 'few'"), 8, "at_most is not a number"),
        (CHECK.replace("at_most", "rise_at_most"), 2, "a rule needs a baseline; write baseline"),
        (CHECK.replace("[[check.rule]]", "baseline = 'no.json'\n[[check.rule]]"), 5,
         "no.json does not exist"),
        ("[[check]]\nname = 'x'\ndataset = 'people'\npolicy = 'no.toml'\n", 4, "cannot be read"),
        ("[[check]]\nname = 'x'\ndataset = 'people'\nrule = [3]\n", 4, "rule is a list of rules"),
    ],
)  # fmt: skip
def test_sweeps_and_checks(here: Path, text: str, line: int, said: str):
    if "chekc" in text:
        first = (HEAD + 2, "check 1 has no policy")
        refused(here, DATASETS + text, first, (HEAD + 5, said))
    else:
        refused(here, DATASETS + text, (HEAD + line, said))


def test_a_policy_that_is_wrong_names_both_lines(here: Path):
    written(here, '[[rule]]\nmodel = "crs"\nmeasure = "blocs"\nat_most = 3\n', name="policy.toml")
    check = "[[check]]\nname = 'x'\ndataset = 'people'\npolicy = 'policy.toml'\n"
    refused(here, DATASETS + check, (HEAD + 4, 'policy.toml, line 3: there is no measure "blocs"'))


def test_kinds_that_are_no_lists(here: Path):
    text = DATASETS + ATTACK.replace("[[attack]]", "[attack]")
    refused(here, text, (HEAD + 2, "there may be several of attack; write [[attack]]"))


def test_all_mistakes_are_told_in_the_order_of_the_file(here: Path):
    text = ALL.replace('"later.csv"', '"ltr.csv"').replace('"crs", "cas"', '"crz"')
    text = text.replace("at_most = 5", "at_least = 'x'").replace('name = "subsets"\n', "")
    refused(
        here, text,
        (8, "ltr.csv does not exist"), (HEAD + 4, 'no model "crz"'),
        (HEAD + 7, "sweep 1 has no name"), (HEAD + 16, "at_least is not a number"),
    )  # fmt: skip


# Names that are not in the data


@pytest.mark.cases(4)
@pytest.mark.parametrize(
    ("lines", "line", "said"),
    [
        (["qids = ['age', 'gendr']"], 0, 'column "gendr" is not in people.parquet; did you mean'),
        (["qids = [", "'age',", "'gendr']"], 2, 'column "gendr" is not in people.parquet'),
        (["qids = ['x=age+']"], 0, 'quasi-identifier "x" is not a SQL expression'),
        (["secret = 'ilness'"], 0, 'column "ilness" is not in'),
        (["key = 'idd'"], 0, 'column "idd" is not in'),
        (["weight = 'gender'"], 0, 'weight "gender" is of type VARCHAR, not a number'),
        (["where = 'agee > 3'"], 0, 'column "agee" is not in'),
        (["by = 'sex'"], 0, 'column "sex" is not in'),
        (["measures = ['shanon']"], 0, 'there is no measure "shanon"'),
        (["secret = 'age'"], 0, 'secret "age" is among the quasi-identifiers'),
        (["gain = 'sql:guess +'"], 0, "sql"),
        (["wave = 'yaer'"], 0, 'column "yaer" is not in'),
        (["prior = 'later.csv'"], 0, "later.csv is not a prior file"),
        (["progressive = true", "population = 'later'"], 1, "takes no store and no population"),
    ],
)
def test_columns_of_an_attack(here: Path, lines: list[str], line: int, said: str):
    refused(here, attack(*lines), (HEAD + 6 + line, said))


def test_roles_are_told_where_they_are_written(here: Path):
    text = DATASETS.replace('"gender"', '"gendr"').replace('"illness"', '"ilness"')
    refused(
        here, text + ATTACK + SWEEP.replace("subsets", "x") + 'qids = "age"\n',
        (3, 'attack "birth": column "gendr" is not in people.parquet'),
        (4, 'sweep "x": column "ilness" is not in people.parquet'),
    )  # fmt: skip


def test_hints_speak_of_keys_not_of_options(here: Path):
    both = attack().replace('"people"', '["people", "later"]').replace('key = "id"', "", 1)
    written(here, both)
    err = run("run", "study.toml").err
    assert "--" not in err
    assert "key" in err


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["by = 'gender'"], "by is about everybody; leave it out, or use a collective model"),
        (["histogram = true"], "histogram is about everybody"),
        (["quantiles = 0.5"], "quantiles is about everybody"),
    ],
)
def test_what_is_about_everybody_is_not_asked_of_one(here: Path, lines: list[str], said: str):
    text = attack(*lines, "target = { age = 49 }").replace('"crs", "cas"', '"irs"')
    refused(here, text, (HEAD + 6, said))


def test_targets_and_models_that_do_not_go_together(here: Path):
    refused(here, attack("target = { age = 49 }"), (HEAD + 6, "takes no target"))
    text = attack("target = { agee = 49 }").replace('"crs", "cas"', '"irs"')
    refused(here, text, (HEAD + 6, 'column "agee" is not in'))
    text = attack("target = { age = 'old' }").replace('"crs", "cas"', '"irs"')
    refused(here, text, (HEAD + 6, 'the target\'s value for "age" does not fit its type'))
    refused(here, attack().replace('"cas"', '"irs"'), (HEAD + 4, "cannot be combined"))
    refused(here, attack().replace('"people"', '["people", "later"]'),
            (HEAD + 4, "for the collection use crl"))  # fmt: skip
    twice = attack().replace('"people"', '["people", "people"]').replace("rs", "rl")
    refused(here, twice.replace("cas", "cal"), (HEAD + 5, "is given twice"))


def test_rules_are_looked_up_in_the_data_before_anything_runs(here: Path):
    refused(here, ALL.replace("at_most = 5", 'at_most = 5\nby = "sex"'),
            (HEAD + 18, 'check "levels": column "sex" is not in people.parquet'))  # fmt: skip


def test_no_value_of_a_cell_is_told(here: Path):
    (here / "people.csv").write_text("age,name\n25,CELLVALUE\nx,CELLVALUE2\n")
    text = '[datasets.people]\npath = "people.csv"\n' + ATTACK
    written(here, text + "qids = ['age']\nsecret = 'name::int'\nweight = 'name'\n")
    done = run("run", "study.toml")
    assert done.code == 2
    assert "CELLVALUE" not in done.err


# What would be overwritten


def test_results_do_not_replace_inputs(here: Path):
    text = '[output]\nfolder = "."\n' + DATASETS
    says = 'results named "people" would replace the input people.parquet'
    refused(here, text + ATTACK.replace("birth", "people"), (HEAD + 5, says))
    refused(here, text + ATTACK.replace("birth", "LATER"), (HEAD + 5, "would replace the input"))
    (here / "study.csv").write_text("age\n1\n")
    text = '[output]\nfolder = "."\n[datasets.people]\npath = "study.csv"\nqids = "age"\n'
    one = ATTACK.replace('["crs", "cas"]', '"crs"')
    refused(here, text + one, (1, 'results named "study" would replace the input study.csv'))


@pytest.mark.parametrize("path", ["*.parquet", "./*.par*", "**/*.parquet", "."])
def test_results_do_not_lie_among_the_data(here: Path, path: str):
    text = '[output]\nfolder = "."\n' + DATASETS.replace("people.parquet", path) + ATTACK
    refused(here, text, (4, "would be among the files of"))


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
def test_results_beside_a_glob_are_fine(here: Path):
    text = '[output]\nfolder = "out"\n' + DATASETS.replace("people.parquet", "*.parquet") + ATTACK
    written(here, text)
    assert run("run", "study.toml").code == 0
    assert run("run", "study.toml").code == 0


def test_hostile_names_stay_on_one_line(here: Path):
    names = '"a\\nb" = { path = "x\\ny.csv" }\n"\\u001b[31m" = {}\n"[x]" = { "k\\n" = 1 }\n'
    written(here, "[datasets]\n" + names + ATTACK)
    done = run("run", "study.toml")
    assert done.code == 2
    assert all(line.startswith("error: study.toml, line ") for line in done.err.splitlines())
    assert "\x1b" not in done.err


# Every option there is


def test_every_option_of_the_functions_has_a_key():
    import inspect

    from qifsql.adversary.options import Options
    from qifsql.commands.attack.spec import AttackOptions
    from qifsql.commands.check.spec import CheckOptions
    from qifsql.commands.sweep.spec import SweepOptions

    managed = {"settings", "source", "model", "options", "workspace", "keep", "restart", "explain"}
    managed |= {"told", "policy", "records", "walk", "questions"}
    managed |= {"statement"}  # it depends on the day; results of a study are kept
    for name, function, options in [("attack", qifsql.attack, AttackOptions),
                                    ("sweep", qifsql.sweep, SweepOptions),
                                    ("check", qifsql.check, CheckOptions)]:  # fmt: skip
        parameters = {*inspect.signature(function).parameters, *options.__annotations__}
        assert parameters - managed <= forms.of_entry(name).keys()
    assert set(Options.__annotations__) <= forms.of_entry("attack").keys()
    from qifsql.commands.sweep.sweep import REFUSED

    assert set(Options.__annotations__) - set(REFUSED) <= forms.of_entry("sweep").keys()
    assert not set(REFUSED) & forms.of_entry("sweep").keys()


def test_the_first_errors_of_many_are_told(tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text("".join(f"unknown{i} = 1\n" for i in range(50)))
    with pytest.raises(InputError) as caught:
        qifsql.Study.load(study)
    lines = str(caught.value).splitlines()
    assert len(lines) == 21
    assert "unknown0" in lines[0]
    assert lines[-1] == "and 31 more errors"  # one: there are no entries
