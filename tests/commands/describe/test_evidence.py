"""The role of a column from its values."""

import tomllib
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import qifsql
from qifsql.commands.describe import evidence
from qifsql.commands.describe.evidence import ICD, is_document
from qifsql.commands.describe.guesses import (
    BODY_WEIGHT,
    COPY,
    DOCUMENT,
    EVENT,
    MEASURED,
    NAMES,
    PRODUCT,
)
from qifsql.commands.describe.view import DOUBTFUL_SECRETS, MOST_QIDS, MOST_SECRETS, proposal
from qifsql.data import codebooks
from qifsql.data.topics import TOPICS

RECORDS = 120
FIRST = ("Ana", "Bruno", "Carla", "Dora", "Emil", "Franz", "Greta", "Hugo", "Ines", "João")
LAST = ("Souza", "Lima", "Meyer", "Dubois", "García", "Smith", "Nowak", "Rossi", "Weiß", "O'Neil")
VOTES = ["Lula", "Serra", "Marina", "Branco/Nulo"]


def described(columns: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The rows of ``describe`` by column."""
    return {row["column"]: row for row in qifsql.describe(pl.DataFrame(columns)).rows()}


def role(values: list[Any], name: str = "v1") -> tuple[str, str]:
    """The role of a column with these values over and over, and the reason for it."""
    row = described({name: [values[i % len(values)] for i in range(RECORDS)]})[name]
    return row["suggested_role"], row["why"]


@pytest.mark.parametrize(
    ("subject", "values"),
    [
        ("sex", ["male", "female"]),
        ("sex", ["Masculino", "Feminino"]),
        ("sex", ["m", "w"]),
        ("sex", ["Homme", "Femme", "Inconnu"]),
        ("family", ["Married", "Never married", "Divorced"]),
        ("family", ["ledig", "verheiratet", "geschieden"]),
        ("family", ["Solteiro(a)", "Casado(a)", "Viúvo(a)"]),
        ("place", ["California", "Texas", "Ohio"]),
        ("place", ["SP", "RJ", "MG"]),
        ("place", ["Jalisco", "Puebla", "Oaxaca"]),
        ("place", ["Bayern", "Hessen", "Sachsen"]),
        ("place", ["AT11", "AT12", "AT31"]),
        ("place", ["SW1A 1AA", "M1 1AE", "B33 8TH", "CR2 6XH", "DN55 1PT"]),
        ("origin", ["White", "Black", "Hispanic", "Other"]),
        ("origin", ["Branca", "Preta", "Parda"]),
        ("origin", ["Germany", "France", "Poland"]),
        ("education", ["Some college", "High school graduate", "Bachelor's degree"]),
        ("work", ["Employed, full-time", "Retired", "Unemployed"]),
        ("age", ["18-29", "30-44", "45-60", "> 60"]),
        ("body", ["5'4\"", "5'8\"", "6'1\""]),
    ],
)  # fmt: skip
def test_labels_that_others_know_are_quasi_identifiers(subject: str, values: list[str]) -> None:
    assert role(values) == ("quasi-identifier", f"values: {subject}")


@pytest.mark.parametrize(
    ("subject", "values"),
    [
        ("health", ["J440", "I219", "A41.9", "C50"]),
        ("sexual life", ["Straight", "Gay", "Bisexual"]),
        ("belief", ["catholique", "musulman", "sans religion"]),
        ("belief", VOTES),
        ("money", ["$0 - $24,999", "$25,000 - $49,999", "$50,000+"]),
        ("benefits", ["Não participa", "Bolsa Família", "Auxílio gás"]),
    ],
)
def test_labels_that_are_private_are_secrets(subject: str, values: list[str]) -> None:
    assert role(values) == ("secret", f"values: {subject}")


def test_codes_and_numbers_alone_say_nothing() -> None:
    for values in ([1, 2], ["1", "2", "3"], ["a", "b", "c"], [10, 20, 30, 40]):
        assert not role(values)[1].startswith("values:")


def test_texts_that_look_like_names_identify_people_and_stand_first(tmp_path: Path) -> None:
    people = [f"{first} {last}" for first in FIRST for last in LAST]
    frame = pl.DataFrame({"v1": people, "sex": ["f", "m"] * 50})
    rows = described({"v1": people, "sex": ["f", "m"] * 50})
    assert (rows["v1"]["suggested_role"], rows["v1"]["why"]) == ("identifier", NAMES)
    frame.write_csv(tmp_path / "people.csv")
    begun = qifsql.start(tmp_path / "people.csv", yes=True, folder=tmp_path / "begun")
    before, _, _ = str(begun).partition("Re-identification")
    assert "v1 tells 100 of 100 people apart and looks like names: remove it" in before
    assert not any(person in str(begun) for person in people)


def test_departments_are_no_names_of_people() -> None:
    towns = [f"{last} {first} Police Department" for first in FIRST for last in LAST]
    assert described({"v1": towns})["v1"]["why"] != NAMES


def test_documents_and_addresses_identify_people_by_their_form() -> None:
    cpf = ["529.982.247-25", "111.444.777-35", "123.456.789-09", "987.654.321-00", "390.533.447-05"]
    assert all(map(is_document, cpf))
    assert not any(is_document(text[:-1] + str((int(text[-1]) + 1) % 10)) for text in cpf)
    assert role(cpf) == ("identifier", DOCUMENT)
    assert role([f"p{i}@example.org" for i in range(9)]) == ("identifier", DOCUMENT)


@pytest.mark.parametrize(
    ("name", "least", "why"), [("weight", 50, BODY_WEIGHT), ("poids", 1000, "name: weight")]
)
def test_kilogrammes_are_no_weights_of_records(name: str, least: int, why: str) -> None:
    row = described({name: [least + i % 40 for i in range(RECORDS)]})[name]
    assert (row["suggested_role"], row["why"]) == ("secret" if least == 50 else "weight", why)


def test_dates_of_events_are_known_and_those_of_the_interview_are_not_taken() -> None:
    days = [f"{1 + i % 28:02}012016" for i in range(RECORDS)]
    clock = [f"5/{1 + i % 28}/18 6:{i % 60:02}" for i in range(RECORDS)]
    rows = described({"died": days, "StartDate": clock, "DTCADASTRO": days[1:] + days[:1]})
    assert (rows["died"]["suggested_role"], rows["died"]["why"]) == ("quasi-identifier", EVENT)
    assert [rows[n]["suggested_role"] for n in ("StartDate", "DTCADASTRO")] == ["time", "time"]
    qids, secrets = proposal(list(rows.values()))
    assert {"StartDate", "DTCADASTRO"}.isdisjoint({*qids, *secrets})


def test_nearly_empty_columns_number_nobody_and_follow_their_siblings() -> None:
    one = [None] * (RECORDS - 1) + ["Outros"]
    benefits = ["Bolsa Família", "Auxílio gás"] * (RECORDS // 2)
    rows = described({"P20A01": benefits, "P20A02": benefits[::-1], "P20A05": one})
    assert rows["P20A05"]["suggested_role"] == "secret"
    assert "P20A05" not in proposal(list(rows.values()))[1]


@pytest.mark.parametrize(
    ("records", "values", "secrets"), [(60, 1, []), (60, 5, ["P1"]), (4, 2, ["P1"])]
)
def test_doubtful_secrets_that_a_few_records_have_are_not_taken(
    records: int, values: int, secrets: list[str]
) -> None:
    answers = [7] * values + [None] * (records - values)
    rows = described({"sex": ["F", "M"] * (records // 2), "P1": answers})
    assert rows["P1"]["confidence"] == "low"
    assert proposal(list(rows.values()))[1] == secrets


def test_copies_and_products_of_columns_are_not_attacked_beside_them() -> None:
    hiv = [int(i % 7 == 0) for i in range(RECORDS)]
    male = [i % 2 for i in range(RECORDS)]
    both = [a * b for a, b in zip(hiv, male, strict=True)]
    rows = described({"male": male, "hiv2004": hiv, "male_hiv": both, "hiv_again": hiv})
    assert [rows[n]["why"] for n in ("male_hiv", "hiv_again")] == [PRODUCT, COPY]
    assert rows["male_hiv"]["suggested_role"] == "secret"
    assert proposal(list(rows.values())) == (["male"], ["hiv2004"])


def test_a_column_that_differs_after_the_first_records_is_no_copy() -> None:
    first = [1, 2, 3, 4] * (evidence.RECORDS // 4)
    rows = described({"sex": [*first, 1, 1], "lab_q": [*first, 1, 9], "sex_again": [*first, 1, 1]})
    assert [rows[n]["why"] == COPY for n in ("lab_q", "sex_again")] == [False, True]


def test_a_column_whose_name_has_a_subject_is_not_made_of_others_by_name_alone() -> None:
    ages = [20 + i % 50 for i in range(RECORDS)]
    rows = described(
        {
            "mother": ages[::-1],
            "age": ages,
            "mother_age": [a + 20 + i * 7 % 13 for i, a in enumerate(ages)],
        }
    )
    assert rows["mother_age"]["suggested_role"] == "quasi-identifier"
    assert "mother_age" in proposal(list(rows.values()))[0]


def test_all_clear_secrets_are_taken_the_most_sensitive_first() -> None:
    values: dict[str, Any] = {
        "income": list(range(RECORDS)),
        "religion": VOTES * 30,
        "hiv": [0, 1] * 60,
    }
    values["debt"] = [i % 50 for i in range(RECORDS)]
    rows = described({**values, "xyz": [1, 0] * 60, "sex": [1, 2] * 60})
    secrets = proposal(list(rows.values()))[1]
    assert secrets[:2] == ["hiv", "religion"]
    assert sorted(secrets) == ["debt", "hiv", "income", "religion"]


def test_every_subject_has_a_secret_where_one_has_more_than_are_taken() -> None:
    diseases = {f"diabetes_{i}": [r % (i + 4) for r in range(RECORDS)] for i in range(MOST_SECRETS)}
    rows = described({**diseases, "income": list(range(RECORDS)), "same_sex": [0, 0, 1] * 40})
    secrets = proposal(list(rows.values()))[1]
    assert len(secrets) == MOST_SECRETS
    assert {"income", "same_sex"} < {*secrets}


def test_the_weight_of_a_child_beside_its_body_mass_index_is_no_weight_of_a_record() -> None:
    weights = [3.2 + r for r in range(RECORDS)]
    bmi = [14 + r / 10 for r in range(RECORDS)]
    assert described({"Weight": weights, "BMI": bmi})["Weight"]["suggested_role"] == "secret"
    assert described({"Weight": weights})["Weight"]["suggested_role"] == "weight"


def test_doubtful_secrets_are_taken_up_to_a_number_and_everyday_life_is_not() -> None:
    question = "Is it rude to move to an unsold seat"
    answers = {f"lng{chr(97 + i)}": i for i in range(20)} | {question: 20, "internet": 21}
    values = {name: [int(r % (i + 3) == 0) for r in range(RECORDS)] for name, i in answers.items()}
    rows = described({"hiv": [r % 2 for r in range(RECORDS)], **values})
    secrets = proposal(list(rows.values()))[1]
    assert secrets[0] == "hiv"
    assert len(secrets) == DOUBTFUL_SECRETS
    assert {question, "internet"}.isdisjoint(secrets)
    assert rows["internet"]["suggested_role"] == "other"


def test_words_of_crimes_and_of_victims_tell_the_crime_from_the_victim() -> None:
    crimes = ["Theft", "Robbery", "Homicide", "Rape"] * (RECORDS // 4)
    rows = described({"kind": crimes, "victim_age": [20 + i % 50 for i in range(RECORDS)]})
    roles = [rows[n]["suggested_role"] for n in ("kind", "victim_age")]
    assert roles == ["secret", "quasi-identifier"]


def test_codes_of_letters_and_digits_number_people_and_are_no_diseases() -> None:
    rows = described({"stay": [f"S{700000 + i}" for i in range(RECORDS)]})
    assert rows["stay"]["suggested_role"] == "key"
    rows = described({"ref": [f"M{100 + i // 2:06}" for i in range(RECORDS)]})
    assert (rows["ref"]["suggested_role"], rows["ref"]["why"]) == ("identifier", DOCUMENT)


def test_documents_of_few_places_and_groups_of_digits_identify_nobody() -> None:
    hospitals = ["11.222.333/0001-81", "11.444.777/0001-61", "19.131.243/0001-97"]
    hospitals += ["33.000.167/0001-01", "60.746.948/0001-12"]
    assert role(hospitals, "cnpj_estabelecimento")[0] == "quasi-identifier"
    metres = [f"{400 + i % 60}.{100 + 7 * i % 900}.{120 + i}" for i in range(RECORDS)]
    assert described({"coordenada": [f"4.{m}" for m in metres]})["coordenada"]["why"] != DOCUMENT


def test_the_weight_of_a_body_is_told_by_its_neighbours() -> None:
    kilos = [round(45 + i * 61 % 800 / 10, 1) for i in range(RECORDS)]
    heights = [1.5 + i % 40 / 100 for i in range(RECORDS)]
    assert described({"weight": kilos})["weight"]["suggested_role"] == "weight"
    assert described({"weight": kilos, "height": heights})["weight"]["why"] == BODY_WEIGHT
    pounds = [round(1 + i * 37 % 1000 / 100, 2) for i in range(RECORDS)]
    assert described({"weight": pounds})["weight"]["suggested_role"] == "weight"
    born = described({"weight": pounds, "premie": [i % 2 for i in range(RECORDS)]})
    assert born["weight"]["why"] == BODY_WEIGHT


def test_amounts_and_events_of_few_people_are_measured() -> None:
    values = {
        "xqa": [i * 977 % 5000 for i in range(RECORDS)],
        "xqb": [max(0, i % 7 - 3) for i in range(RECORDS)],
        "xqc": [i % 7 for i in range(RECORDS)],
        "xqd": [f"{i * 977 % 5000:04}" for i in range(RECORDS)],
    }
    rows = described({name: column * 2 for name, column in values.items()})
    assert [rows[n]["why"] == MEASURED for n in values] == [True, True, False, False]


def test_a_short_name_of_categories_says_nothing_of_measurements() -> None:
    rows = described({"pcs": [20 + i * 0.37 for i in range(RECORDS)]})  # professions in French
    assert rows["pcs"]["why"] == MEASURED


@pytest.mark.parametrize(
    ("text", "is_code"),
    [("A00", True), ("*I10*J18.9; K20/", True), ("A0", False), ("A00" * 20 + "!", False)],
)
def test_codes_of_diseases_are_told_at_once(text: str, *, is_code: bool) -> None:
    assert bool(ICD.fullmatch(text)) == is_code


def test_long_names_are_read_at_once() -> None:
    joined = ["_".join(["part"] * n) for n in (1, 2, 3, 40)]
    frame = pl.DataFrame({name: [1, 2, 2] for name in [*joined, "a" + "1" * 40 + "!"]})
    roles = dict(qifsql.describe(frame).frame.select("column", "why").iter_rows())
    assert roles[joined[2]] == PRODUCT != roles[joined[3]]


def test_no_value_of_a_cell_is_shown() -> None:
    values = ["Zanzibar Married", "Quixote Divorced"] * 60
    result = qifsql.describe(pl.DataFrame({"v1": values}))
    assert result.rows()[0]["why"] == "values: family"
    assert "Zanzibar" not in str(result) + repr(result.rows())


def test_a_column_that_tells_the_same_is_a_copy_under_other_values() -> None:
    """A code and its label, a number and its standardised copy; both say something of both."""
    ages = [20 + 7 * i % 61 for i in range(3 * RECORDS)]
    codes = [1 + i % 2 for i in range(3 * RECORDS)]
    columns = {
        "q7": codes,
        "txt": [("", "male", "female")[c] for c in codes],
        "age": ages,
        "reversed_z": [round((50 - a) / 20, 3) for a in ages],
        "other": [a // 2 for a in ages],
    }
    rows = described(columns)
    assert {name for name, row in rows.items() if row["why"] == COPY} == {"q7", "reversed_z"}
    assert rows["q7"]["suggested_role"] == rows["txt"]["suggested_role"] == "quasi-identifier"
    assert rows["txt"]["why"] == "values: sex"
    assert "txt" in proposal(list(rows.values()))[0]  # words rather than codes
    assert rows["reversed_z"]["suggested_role"] == rows["age"]["suggested_role"]


def test_labels_of_variables_say_what_names_do_not() -> None:
    """From the metadata of Arrow and Parquet; yes and no are no countries."""
    values = {"v133": [i % 40 for i in range(RECORDS)], "d1": ["si", "no"] * (RECORDS // 2)}
    labels = {"v133": "Blood pressure", "d1": "¿Tiene diabetes?"}
    table = pa.table(values)
    fields = [f.with_metadata({"label": labels[f.name]}) for f in table.schema]
    rows = qifsql.describe(table.cast(pa.schema(fields))).frame.to_dicts()
    assert {row["suggested_role"] for row in rows} == {"secret"}
    assert {row["why"] for row in rows} == {"name: health"}
    unlabelled = qifsql.describe(pa.table({"d1": values["d1"]})).frame.row(0, named=True)
    assert unlabelled["suggested_role"] == "secret"


def labelled(labels: dict[str, str], values: list[Any]) -> dict[str, tuple[str, str, str]]:
    """Role, reason and confidence of columns with these values over and over, by their labels."""
    column = [values[i % len(values)] for i in range(RECORDS)]
    table = pa.table(dict.fromkeys(labels, column))
    fields = [f.with_metadata({"label": labels[f.name]}) for f in table.schema]
    rows = qifsql.describe(table.cast(pa.schema(fields))).frame.to_dicts()
    parts = ("suggested_role", "why", "confidence")
    return {row["column"]: tuple(row[part] for part in parts) for row in rows}


@pytest.mark.parametrize(
    ("label", "role_", "subject"),
    [
        ("Income (of the members of the household, without students)", "secret", "money"),
        ("Truancy - late for school on most days", "secret", "results and scores"),
        ("Condição de ocupação na semana para pessoas de 14 anos", "quasi-identifier", "work"),
        ("Qual era a ocupação que ___ tinha nesse trabalho?", "quasi-identifier", "work"),
        ("Did you see a doctor who diagnosed diabetes at your school?", "secret", "health"),
    ],
)
def test_the_subject_of_a_label_comes_before_what_limits_it(
    label: str, role_: str, subject: str
) -> None:
    suggested, why, confidence = labelled({"e17": label}, [1, 2, 3])["e17"]
    assert (suggested, why) == (role_, f"name: {subject}")
    assert confidence != "low"


def test_a_general_question_with_a_word_about_people_is_not_sure() -> None:
    label = "Is it rude to bring a child on a plane?"
    assert labelled({"e17": label}, [1, 2, 3])["e17"][2] == "low"


def test_numbers_before_labels_of_values_say_nothing() -> None:
    expected = ("quasi-identifier", "values: family")
    assert role(["1. Married", "2. Divorced", "3. Widowed"]) == expected
    assert role(["1_married", "2_divorced", "3_widowed"]) == expected


@pytest.mark.parametrize(
    ("name", "is_weight"), [("ww", True), ("wp00bgp", True), ("wr_hnd", False), ("water", False)]
)
def test_short_names_that_begin_with_w_are_weights(name: str, *, is_weight: bool) -> None:
    row = described({name: [0.31 + 1.7 * r for r in range(RECORDS)]})[name]
    assert (row["suggested_role"] == "weight") == is_weight


def test_no_weight_is_0_or_1_and_none_is_taken_for_a_copy() -> None:
    assert role([0, 1], "bweight")[0] != "weight"
    amounts = [100.5 + 13 * (r % 10) for r in range(RECORDS)]
    weights = [2 * amount for amount in amounts]
    rows = described({"salary": amounts, "weight": weights})
    assert rows["weight"]["suggested_role"] == "weight"


def test_names_of_employees_are_names_and_no_occupations() -> None:
    names = [f"{FIRST[i % 10]} {LAST[i // 10]}" for i in range(100)]
    assert described({"employee_name": names})["employee_name"]["suggested_role"] == "identifier"


def test_some_unsure_quasi_identifiers_are_taken_beside_many_sure_ones() -> None:
    sure = {f"age_{i}": [r % (i + 5) for r in range(RECORDS)] for i in range(MOST_QIDS + 3)}
    rows = described({**sure, "estado": [r % 4 for r in range(RECORDS)]})
    assert rows["estado"]["confidence"] == "medium"
    assert {*sure, "estado"} == {*proposal(list(rows.values()))[0]}


def test_codes_that_range_like_ages_are_ages_and_the_even_ones_beside_are_sexes() -> None:
    """Numbered questions without labels: 1 and 2 of most people, or far from an age, stay so."""
    ages = [r % 90 for r in range(RECORDS)]
    codes = {"e25": [1] * 100 + [2] * 20, "e26": [1, 2] * 60, "e27": ages, "e28": [1, 2, 3] * 40}
    codes |= {"f1": [1, 2, 3, 4] * 30, "f2": [1, 1, 2, 2] * 30}
    rows = described(codes)
    assert rows["e27"]["why"] == "values: age"
    assert [name for name, row in rows.items() if row["why"] == "values: sex"] == ["e26"]


def test_years_of_education_are_no_measurement() -> None:
    years = [r % 60 / 4 for r in range(RECORDS)]
    index = [7 * r % 60 / 60 for r in range(RECORDS)]
    rows = described({"education": years, "education_index": index})
    roles = [row["suggested_role"] for row in rows.values()]
    assert roles == ["quasi-identifier", "secret"]


def test_each_codebook_is_known_by_columns_of_its_own_and_has_known_topics() -> None:
    for path in Path(codebooks.__file__).with_name("codebooks").glob("*.toml"):
        for name, topics in tomllib.loads(path.read_text("utf-8")).items():
            assert len(topics["signature"].split()) >= codebooks.LEAST, name
            assert {*topics} <= {*TOPICS, "signature"}, name


@pytest.mark.parametrize(
    ("columns", "roles"),
    [
        ("caseid v005 v012 v024 v190", "key weight quasi-identifier quasi-identifier secret"),
        ("v113 v741", "secret secret"),  # of another file
    ],
)
def test_codes_are_read_as_those_of_a_survey_in_that_survey(columns: str, roles: str) -> None:
    rows = described({name: [r % 7 for r in range(RECORDS)] for name in columns.split()})
    assert [row["suggested_role"] for row in rows.values()] == roles.split()


def test_amounts_are_no_keys_though_all_differ() -> None:
    numbers = [r * 7919 % RECORDS for r in range(RECORDS)]
    assert role(numbers)[0] == "key"
    assert role([100 + n**3 for n in numbers]) == ("secret", MEASURED)


@pytest.mark.parametrize(
    ("name", "values", "guess"),
    [
        ("health_region", [1, 2, 3, 4], ("quasi-identifier", "name: place")),
        ("marital status at diagnosis", [1, 2, 3], ("quasi-identifier", "name: family")),
        ("hours of sleep", [6, 7, 8, 9], ("secret", "name: health")),
        ("v2", [350000000000017 + 31 * r for r in range(60)], ("identifier", DOCUMENT)),
        ("charge_degree", ["F", "M"], ("quasi-identifier", "name: court record")),
        ("stop_time", ["10:15", "23:59", "00:30", "7:05", "12:00"], ("quasi-identifier", EVENT)),
        ("hhpond", [0.3 + 0.17 * r for r in range(RECORDS)], ("weight", "name: weight")),
        ("first", [f"name{r}" for r in range(RECORDS)], ("identifier", "name: name or address")),
    ],
)
def test_the_head_of_a_name_says_more_than_its_other_words(
    name: str, values: list[Any], guess: tuple[str, str]
) -> None:
    assert role(values, name) == guess


def test_unknown_answers_among_those_about_health_are_about_it_too() -> None:
    """Symptoms in a register: 1, 2, 9 in each; the same values far away say nothing."""
    codes = ["1", "2", "9"]
    names = ["tosse", "febre", "xqa", *(f"pq{c}" for c in "abcdefgh"), "xqb"]
    values = {n: [codes[(r // (i + 1)) % 3] for r in range(RECORDS)] for i, n in enumerate(names)}
    values |= {n: [r % 5 for r in range(RECORDS)] for n in names if n.startswith("pq")}
    rows = described(values)
    assert [rows[n]["why"] == "name: health" for n in ("xqa", "xqb")] == [True, False]


def test_numbers_that_number_the_records_are_no_categories() -> None:
    rows = described({"kid": list(range(RECORDS)), "kids": [i % 4 for i in range(RECORDS)]})
    roles = [rows[n]["suggested_role"] for n in ("kid", "kids")]
    assert roles == ["key", "quasi-identifier"]


def test_dates_of_which_no_word_says_what_happened_are_less_sure() -> None:
    days = [f"2020-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(RECORDS)]
    rows = described({"date_x": days, "admission_date": days[::-1]})
    assert [rows[n]["confidence"] for n in ("date_x", "admission_date")] == ["medium", "high"]


def test_sentences_are_no_labels() -> None:
    sentences = ["It is important for a person to be " + "very " * 12 + "positive"] * RECORDS
    assert not role([*sentences, "no"])[1].startswith("values:")
