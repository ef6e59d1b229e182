"""Records taken for people: a column that numbers people and repeats is told everywhere."""

import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from terminal import run

import qifsql
from qifsql.data.topics import numbers_people

NOTE = "records are counted, not people"
VISITS = pl.DataFrame(
    {
        "patient_id": [f"p{i % 8}" for i in range(32)],
        "age": [20 + i % 8 for i in range(32)],
        "ward": ["north" if i % 8 < 4 else "south" for i in range(32)],
        "diagnosis": ["flu" if i % 3 else "cold" for i in range(32)],
    }
)


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    VISITS.write_parquet(tmp_path / "visits.parquet")
    return tmp_path / "visits.parquet"


@pytest.mark.parametrize("command", ["attack", "sweep", "levels", "suda", "inspect"])
def test_every_command_tells_it(command: str, visits: Path) -> None:
    done = run(command, visits, "-q", "age,ward")
    assert done.code == 0
    assert f'{NOTE}: "patient_id" has 8 values in 32 records' in done.err


def test_the_json_of_an_attack_has_it(visits: Path) -> None:
    told = json.loads(run("attack", visits, "-q", "age,ward", "-f", "json").out)
    assert told["spec"]["repeated"] == {"patient_id": {"values": 8, "records": 32}}
    counted = run("attack", visits, "-q", "age,ward", "-f", "json", "--person", "patient_id")
    assert "repeated" not in json.loads(counted.out)["spec"]
    assert NOTE not in counted.err


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the visits, a release of them, and stored sweeps of records and of people."""
    folder = tmp_path_factory.mktemp("apart")
    paths = {n: folder / f"{n}.parquet" for n in ("visits", "release", "records", "people")}
    VISITS.write_parquet(paths["visits"])
    VISITS.reverse().write_parquet(paths["release"])
    for name, person in (("records", None), ("people", "patient_id")):
        swept = qifsql.sweep(paths["visits"], qids="age,ward", secret="diagnosis", person=person)
        swept.save(paths[name])
    return paths


FROM_VISITS = {
    "attack": ("attack", "visits", "-q", "age,ward"),
    "sweep": ("sweep", "visits", "-q", "age,ward"),
    "levels": ("levels", "visits", "-q", "age,ward", "-s", "diagnosis"),
    "check": ("check", "visits", "-q", "age", "--preset", "k3"),
    "suda": ("suda", "visits", "-q", "age,ward"),
    "inspect": ("inspect", "visits", "-q", "age,ward", "-s", "diagnosis"),
    "estimate": ("estimate", "visits", "-q", "age,ward", "--fraction", "0.5"),
    "compare": ("compare", "visits", "release", "-q", "age,ward", "-s", "diagnosis"),
    "changes": ("compare", "visits", "-q", "age,ward", "-s", "diagnosis", "--change", "age:5"),
    "synthetic": ("synthetic", "visits", "release", "-q", "age,ward", "-s", "diagnosis"),
    "adversaries": ("adversaries", "records", "--knows", "age=1"),
}
"""A line of each command that counts records or people; a sweep stands in place of its --person."""


@pytest.mark.cases(4)
@pytest.mark.parametrize("case", FROM_VISITS)
def test_records_are_told_beside_each_result_and_no_people_of_it(
    case: str, apart: dict[str, Path]
) -> None:
    """In the notes, in the JSON and in its words; not once --person is named."""
    words = [str(apart.get(word, word)) for word in FROM_VISITS[case]]
    done = run(*words, "-f", "json")
    assert json.loads(done.out)["spec"]["repeated"] == {"patient_id": {"values": 8, "records": 32}}
    assert f'{NOTE}: "patient_id" has 8 values in 32 records' in done.err
    table = run(*words, "-f", "table")
    allowed = (NOTE, "count people with", "numbers people", "found by", "of the population")
    allowed += ("not drawn", "who match it", "unique people")  # of a population that is estimated
    lines = [line for line in table.out.splitlines() if "people" in line]
    assert not [line for line in lines if not any(text in line for text in allowed)]
    people = [*words, "--person", "patient_id"]
    if case == "adversaries":
        people[1] = str(apart["people"])
        people = people[:-2]
    counted = run(*people, "-f", "json")
    assert "repeated" not in json.loads(counted.out)["spec"]
    assert {row["unit"] for row in json.loads(counted.out)["results"]} == {"people"}
    assert NOTE not in counted.err


def test_a_filter_may_leave_one_record_per_person(visits: Path) -> None:
    done = run("attack", visits, "-q", "age,ward", "--where", "age < 24")
    assert NOTE in done.err
    VISITS.with_row_index("visit").write_parquet(visits)
    assert NOTE not in run("attack", visits, "-q", "age,ward", "--where", "visit < 8").err


def test_a_key_of_any_name_is_one_of_people(visits: Path) -> None:
    VISITS.rename({"patient_id": "x"}).write_parquet(visits)
    assert NOTE not in run("attack", visits, "-q", "age,ward").err
    assert f'{NOTE}: "x"' in run("attack", visits, "-q", "age,ward", "--key", "x").err


def test_a_key_with_few_values_is_one_of_people_all_the_same(visits: Path) -> None:
    """The user says so; a column that is only named like one may number something else."""
    pl.DataFrame({"patient_id": [1, 2] * 20, "sex": ["f"] * 40}).write_parquet(visits)
    assert NOTE not in run("attack", visits, "-q", "sex").err
    done = run("attack", visits, "-q", "sex", "--key", "patient_id")
    assert f'{NOTE}: "patient_id" has 2 values in 40 records' in done.err


@given(st.lists(st.integers(0, 40), min_size=1, max_size=60))
def test_it_is_told_if_and_only_if_somebody_has_several_records(ids: list[int]) -> None:
    """Not if the values are fewer than the root of the records: they number something else."""
    frame = pl.DataFrame({"patient_id": ids, "sex": ["f"] * len(ids)})
    notes = qifsql.attack("crs", frame, qids="sex").notes
    repeats = len(set(ids)) < len(ids) <= len(set(ids)) ** 2
    assert any(note.startswith(NOTE) for note in notes) == repeats


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("apart", [True, False])
def test_a_large_file_is_not_counted(times: int, apart: bool, tmp_path: Path) -> None:
    """People repeat at once, or where the second half of the file is a later wave of the first."""
    ids = pl.Series("patient_id", range(250_000))
    frame = pl.DataFrame({"patient_id": pl.concat([ids] * times), "sex": "f"})
    frame = frame if apart else frame.sort("patient_id")
    frame.write_parquet(tmp_path / "large.parquet")
    result = qifsql.attack("crs", tmp_path / "large.parquet", qids="sex")
    notes = [note for note in result.notes if note.startswith(NOTE)]
    assert len(notes) == (times > 1)
    assert all("has the same value in several records" in note for note in notes)


@pytest.mark.parametrize("size", [1, 2])
def test_a_check_is_not_met_by_records(size: int, visits: Path, tmp_path: Path) -> None:
    """Exit code 4, until people are counted or the policy says that records are."""
    policy = tmp_path / "policy.toml"
    rule = f'[[rule]]\nmodel = "crs"\nmeasure = "k"\nat_least = {size}\n'
    policy.write_text(rule)
    words = ("check", visits, "-q", "age,ward", "--policy", policy)
    done = run(*words)
    assert (done.code, "Not met: records are counted, not people (patient_id)" in done.out) == (
        4,
        True,
    )
    assert json.loads(run(*words, "-f", "json").out)["met"] is False
    policy.write_text(f'unit = "records"\n{rule}')
    assert run(*words).code == 0
    policy.write_text(f'[adversary]\nperson = "patient_id"\n{rule}')
    assert run(*words).code == (0 if size == 1 else 4)
    policy.write_text(f'unit = "people"\n{rule}')
    assert (done := run(*words)).code == 2
    assert 'unit is "records"' in done.err


@pytest.mark.parametrize("accepted", [True, False])
def test_reports_and_tests_of_a_check_are_not_met_by_records(
    accepted: bool, visits: Path, tmp_path: Path
) -> None:
    """Though every level is met: the light of a report, of a study, and JUnit say so."""
    rule = '[[rule]]\nmodel = "crs"\nmeasure = "k"\nat_least = 2\n'
    policy, out = tmp_path / "policy.toml", tmp_path / "verdict.parquet"
    policy.write_text('unit = "records"\n' * accepted + rule)
    words = ("check", visits, "-q", "age,ward", "--policy", policy, "--junit", tmp_path / "j.xml")
    assert run(*words, "-o", out).code == (0 if accepted else 4)
    page = tmp_path / "page.md"
    assert run("report", out, "-o", page).code == 0
    text = page.read_text()
    assert ("**Your policy is met" in text) == accepted
    verdict = "Your policy is not met: records are counted, not people (patient\\_id)."
    assert (verdict in text) != accepted
    assert "Each record is taken to be another person" in text
    assert "One record is one person" not in text
    junit = (tmp_path / "j.xml").read_text()
    assert ('failures="1"' in junit, 'failures="0"' in junit) == (not accepted, accepted)


def test_a_preset_is_not_met_by_records(visits: Path) -> None:
    """Four records in each of eight blocks are not four people."""
    words = ("check", visits, "-q", "age,ward", "--preset", "k3")
    assert run(*words).code == 4
    done = run(*words, "--person", "patient_id")
    assert done.code == 4
    assert "Not met: 1 of 1 level" in done.out


def test_names_say_whose_number_it_is() -> None:
    people = ("patient_id", "ID_ALUNO", "pid", "customerId", "cpf", "subject_key", "id", "user_no")
    others = (
        "school_id",
        "hhid",
        "ID_MN_RESI",
        "age",
        "student",
        "record_id",
        "ward_id",
        "event_id",
    )
    assert [name for name in (*people, *others) if numbers_people(name)] == [*people]


def test_a_beginner_attacks_people(visits: Path, tmp_path: Path) -> None:
    """The study of ``start``, what it says to do next, and the command of ``describe``."""
    done = run("start", visits, "--yes", "--folder", tmp_path / "begun")
    assert done.code == 0
    study = (tmp_path / "begun" / "study.toml").read_text()
    assert 'person = "patient_id"' in study
    assert "8 of 8 people are singled out" in done.out
    assert "--preset k5 --qids age,ward --secret" in done.out
    assert done.out.count("--person patient_id") == 3  # check, compare and anonymise
    assert NOTE not in done.err
    assert "--person patient_id" in run("describe", visits, "--format", "table").out


def test_a_study_counts_no_records_of_people_as_people(visits: Path, tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    dataset = f'[datasets.visits]\npath = "{visits}"\nqids = ["age"]\nperson = "patient_id"\n'
    study.write_text(f'{dataset}[[tables]]\nname = "x"\ntables = ["age,ward"]\n')
    done = run("run", study)
    assert done.code == 2
    assert "every record once, and the dataset has person" in done.err


def test_a_study_counts_people_in_suda_and_in_synthetic_releases(
    visits: Path, tmp_path: Path
) -> None:
    study, release = tmp_path / "study.toml", tmp_path / "release.parquet"
    VISITS.reverse().write_parquet(release)
    dataset = '[datasets.{}]\npath = "{}"\nqids = ["age", "ward"]\nperson = "{}"\n'
    entries = '[[suda]]\nname = "x"\ndataset = "visits"\n'
    entries += '[[synthetic]]\nname = "y"\ndataset = "visits"\nreleases = ["release"]\n'
    both = dataset.format("visits", visits, "patient_id") + "{}" + entries
    study.write_text(both.format(dataset.format("release", release, "patient_id")))
    results = qifsql.run(study).results
    for name in ("x", "y"):
        assert results[name].spec["person"] == "patient_id"
        assert not any(note.startswith(NOTE) for note in results[name].notes)
    assert results["x"].frame.filter(measure="people")["value"].item() == 8
    assert results["y"].frame["known_records"].unique().sort().to_list() == ["all", "one"]
    study.write_text(both.format(dataset.format("release", release, "ward")))
    done = run("run", study)
    assert done.code == 2
    assert "one column says whose record it is (person)" in done.err


def test_the_note_names_the_way_out_of_the_command(visits: Path, tmp_path: Path) -> None:
    """Of a command that cannot count people it names those that can, and one record per person."""
    changes = ("compare", "--change", "age:5")
    for words in (("suda",), ("inspect",), ("estimate", "--fraction", "0.5"), ("attack",), changes):
        done = run(words[0], visits, "-q", "age,ward", *words[1:])
        assert "records; count people with --person patient_id\n" in done.err
        people = run(words[0], visits, "-q", "age,ward", *words[1:], "--person", "patient_id")
        assert (people.code, NOTE in people.err) == (0, False)
    done = run("compare", visits, "-q", "age,ward", "--refines", "ward")
    assert "anonymise --one-per patient_id writes one record per person" in done.err


@pytest.mark.parametrize("ids", ["aabbc", "abcde"])
def test_a_note_on_reported_secrets_says_whether_records_are_counted(
    tmp_path: Path, ids: str
) -> None:
    people = {"id": [*ids], "age": [1, 1, 2, 2, 2], "w": ["x", "y", None, "y", "z"]}
    policy = tmp_path / "policy.toml"
    rule = '[[rule]]\nmodel = "cas"\nmeasure = "posterior_probabilistic"\nat_most = 0.1\n'
    policy.write_text(f'unit = "records"\n{rule}')
    notes = qifsql.check(pl.DataFrame(people), policy, qids="age", secret="w").notes
    counted = "records" if ids == "aabbc" else "people"
    assert any(f"the {counted} with a reported" in note for note in notes)
