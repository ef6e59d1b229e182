"""The roles that describe suggests, against roles that were written down before the guesser was.

For public files: the roles that their README names, and our own judgement of the columns that it
does not name. ``either`` are columns of which sources disagree, or both roles can be defended: they
count for nothing. For the names of other data sets (hospital, credit, death and labour registers,
in English and Portuguese) only name, type and numbers of values are known.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import qifsql
from qifsql.commands.describe import guesses as guessing
from qifsql.commands.describe import view
from qifsql.commands.describe.column_counts import Counted
from qifsql.commands.describe.evidence import Evidence
from qifsql.commands.describe.guesses import guesses
from qifsql.data.topics import (
    ADMINISTRATION,
    CONTACT,
    EVERYDAY,
    HOUSEHOLD,
    NUMBER,
    PROCESSING,
    QUASI_IDENTIFIERS,
    SECRETS,
    WEIGHT,
)

Roles = dict[str, str]

ACS = {
    "quasi-identifier": "PUMA AGEP SEX MSP HISP RAC1P NOC NPF HOUSING_TYPE OWN_RENT DENSITY INDP "
    "INDP_CAT EDU",
    "secret": "PINCP PINCP_DECILE POVPIP DVET DREM DPHY DEYE DEAR",
    "weight": "PWGTP WGTP",
}
STAR = {
    "quasi-identifier": "school class_type teacher school_type sex ethnicity birth_year "
    "birth_quarter",
    "secret": "free_lunch read_score math_score",
    "key": "pupil_id",
}
EXPECTED: dict[str, Roles] = {
    "adult": {
        "quasi-identifier": "age workclass education marital-status occupation race sex "
        "native-country",
        "secret": "capital-gain capital-loss classification",
        "weight": "fnlwgt",
        "either": "relationship education-num hours-per-week",
    },
    "arx_adult": {
        "quasi-identifier": "sex age race marital-status education native-country workclass "
        "occupation",
        "secret": "salary-class",
    },
    "pycanon_adult_k3": {
        "quasi-identifier": "age education occupation relationship sex native-country",
        "secret": "salary-class",
    },
    "pycanon_adult_k10": {
        "quasi-identifier": "age education occupation relationship sex",
        "constant": "native-country",
        "secret": "salary-class",
    },
    "pycanon_adult_k20": {
        "quasi-identifier": "age education occupation relationship sex",
        "constant": "native-country",
        "secret": "salary-class",
    },
    "pycanon_hospital": {
        "quasi-identifier": "gender city",
        "constant": "name age religion",
        "secret": "disease",
    },
    "compas_two_years": {
        "quasi-identifier": "sex age age_cat race c_charge_degree c_charge_desc juv_fel_count "
        "juv_misd_count juv_other_count priors_count",
        "secret": "decile_score score_text v_decile_score v_score_text is_recid "
        "is_violent_recid two_year_recid",
        "either": "c_days_from_compas days_b_screening_arrest r_charge_degree vr_charge_degree",
    },
    "internet_usage": {
        "quasi-identifier": "Actual_Time Age Gender Country Race Education_Attainment "
        "Marital_Status Major_Occupation Primary_Language Major_Geographical_Location",
        "secret": "Sexual_Preference Household_Income Disability_Cognitive Disability_Hearing "
        "Disability_Motor Disability_Not_Impaired Disability_Not_Say Disability_Vision "
        "Community_Membership_Political Community_Membership_Religious "
        "Community_Membership_Family Community_Membership_Hobbies Community_Membership_None "
        "Community_Membership_Other Community_Membership_Professional "
        "Community_Membership_Support Community_Building Falsification_of_Information "
        "How_You_Heard_About_Survey_Banner How_You_Heard_About_Survey_Friend "
        "How_You_Heard_About_Survey_Mailing_List How_You_Heard_About_Survey_Others "
        "How_You_Heard_About_Survey_Printed_Media How_You_Heard_About_Survey_Remebered "
        "How_You_Heard_About_Survey_Search_Engine How_You_Heard_About_Survey_Usenet_News "
        "How_You_Heard_About_Survey_WWW_Page Most_Import_Issue_Facing_the_Internet "
        "Opinions_on_Censorship Not_Purchasing_Bad_experience Not_Purchasing_Bad_press "
        "Not_Purchasing_Cant_find Not_Purchasing_Company_policy Not_Purchasing_Easier_locally "
        "Not_Purchasing_Enough_info Not_Purchasing_Judge_quality Not_Purchasing_Never_tried "
        "Not_Purchasing_No_credit Not_Purchasing_Not_applicable Not_Purchasing_Not_option "
        "Not_Purchasing_Other Not_Purchasing_Prefer_people Not_Purchasing_Privacy "
        "Not_Purchasing_Receipt Not_Purchasing_Security Not_Purchasing_Too_complicated "
        "Not_Purchasing_Uncomfortable Not_Purchasing_Unfamiliar_vendor Web_Ordering "
        "Web_Page_Creation Who_Pays_for_Access_Dont_Know Who_Pays_for_Access_Other "
        "Who_Pays_for_Access_Parents Who_Pays_for_Access_School Who_Pays_for_Access_Self "
        "Who_Pays_for_Access_Work Primary_Computing_Platform Primary_Place_of_WWW_Access",
        "either": "Registered_to_Vote",
    },
    **{f"acs_{place}{year}": ACS for place in ("ma", "tx", "us") for year in (2018, 2019)},
    "enem2019_ac_rr": {
        "quasi-identifier": "TP_FAIXA_ETARIA TP_SEXO TP_ESTADO_CIVIL TP_COR_RACA "
        "TP_NACIONALIDADE TP_ST_CONCLUSAO TP_ANO_CONCLUIU TP_ESCOLA TP_ENSINO "
        "TP_DEPENDENCIA_ADM_ESC TP_LOCALIZACAO_ESC CO_MUNICIPIO_PROVA SG_UF_PROVA",
        "secret": "Q006",
        "constant": "NU_ANO",
        # the education and work of the parents, the household, a computer: others may know them
        "either": "IN_TREINEIRO TP_PRESENCA_CH TP_PRESENCA_MT TP_LINGUA Q001 Q002 Q003 Q004 Q005 "
        "Q024 Q025",
    },
    "nass_cds": {
        "quasi-identifier": "age sex yearacc yearveh occrole dvcat",
        "secret": "dead injseverity",
        "weight": "weight",
        "either": "airbag seatbelt frontal abcat deploy",
    },
    "nlswork": {
        "quasi-identifier": "birth_year age race grade msp c_city south not_smsa occ_code "
        "ind_code collgrad",
        "secret": "union nev_mar ln_wage wks_ue",
        "identifier": "idcode",
        "either": "year hours",
    },
    "sdc_testdata": {
        "quasi-identifier": "urbrur roof walls water electcon relat sex age",
        "secret": "hhcivil expend income savings",
        "household": "ori_hid",
        "constant": "sampling_weight",
        "weight": "household_weights",
    },
    **{f"star_grade_{grade}": STAR for grade in "k123"},
    "inep_like_200k": {
        "quasi-identifier": "NU_DIA NU_MES NU_ANO TP_SEXO TP_COR_RACA TP_NACIONALIDADE "
        "CO_PAIS_ORIGEM CO_MUNICIPIO_NASC CO_MUNICIPIO_END CO_ENTIDADE TP_DEPENDENCIA",
        "secret": "IN_NECESSIDADE_ESPECIAL IN_TRANSPORTE_PUBLICO",
    },
}  # fmt: skip
KINDS = ("adult", "arx_adult", "pycanon_adult_k3", "pycanon_hospital", "compas_two_years",
         "internet_usage", "acs_us2019", "enem2019_ac_rr", "nass_cds", "nlswork", "sdc_testdata",
         "star_grade_2", "inep_like_200k")  # fmt: skip
"""One file of each kind: the six of the ACS would count six times."""

OTHERS = """
encounter_id BIGINT 10000 key
patient_nbr BIGINT 7000 identifier
gender VARCHAR 3 quasi-identifier
admission_date DATE 900 quasi-identifier
medical_specialty VARCHAR 70 secret
diag_1 VARCHAR 700 secret
insulin VARCHAR 4 secret
readmitted VARCHAR 3 secret
zip_code VARCHAR 800 quasi-identifier
dateOfBirth DATE 8000 quasi-identifier
postcode VARCHAR 2000 quasi-identifier
credit_amount INTEGER 900 secret
savings_status VARCHAR 5 secret
employment VARCHAR 5 quasi-identifier
personal_status VARCHAR 4 quasi-identifier
housing VARCHAR 3 quasi-identifier
job VARCHAR 4 quasi-identifier
num_dependents INTEGER 2 quasi-identifier
foreign_worker VARCHAR 2 quasi-identifier
class VARCHAR 2 secret
email VARCHAR 9990 identifier
full_name VARCHAR 9800 identifier
phone VARCHAR 9900 identifier
ssn VARCHAR 10000 identifier
customer_id VARCHAR 10000 key
salary DOUBLE 4000 secret
religion VARCHAR 8 secret
political_party VARCHAR 6 secret
hiv_status BOOLEAN 2 secret
vaccinated BOOLEAN 2 secret
number_of_children INTEGER 7 quasi-identifier
household_size INTEGER 9 quasi-identifier
latitude DOUBLE 9000 quasi-identifier
bmi DOUBLE 600 secret
survey_weight DOUBLE 500 weight
GPA DOUBLE 300 secret
language VARCHAR 20 quasi-identifier
car_brand VARCHAR 40 quasi-identifier
loan_status VARCHAR 5 secret
years_of_schooling INTEGER 20 quasi-identifier
DTNASC DATE 9000 quasi-identifier
SEXO VARCHAR 2 quasi-identifier
RACACOR VARCHAR 5 quasi-identifier
ESTCIV VARCHAR 5 quasi-identifier
OCUP VARCHAR 500 quasi-identifier
CODMUNRES VARCHAR 600 quasi-identifier
CAUSABAS VARCHAR 900 secret
NU_CPF VARCHAR 10000 identifier
NM_PACIENTE VARCHAR 9900 identifier
DS_ENDERECO VARCHAR 9900 identifier
bairro VARCHAR 300 quasi-identifier
renda_familiar DOUBLE 2000 secret
escolaridade VARCHAR 8 quasi-identifier
profissao VARCHAR 300 quasi-identifier
naturalidade VARCHAR 400 quasi-identifier
idade INTEGER 95 quasi-identifier
diagnostico VARCHAR 300 secret
bolsa_familia BOOLEAN 2 secret
numero_filhos INTEGER 9 quasi-identifier
cidade VARCHAR 900 quasi-identifier
VL_REMUN_MEDIA DOUBLE 7000 secret
CBO_2002 VARCHAR 700 quasi-identifier
matricula BIGINT 10000 key
peso_amostral DOUBLE 800 weight
gestante VARCHAR 3 secret
nota_matematica DOUBLE 500 secret
situacao_conjugal VARCHAR 5 quasi-identifier
ofensa_criminal VARCHAR 9 secret
orientacao_sexual VARCHAR 5 secret
unidade_federacao VARCHAR 27 quasi-identifier
rownames INTEGER 10000 key
LastName VARCHAR 6000 identifier
fage INTEGER 50 quasi-identifier
kids INTEGER 8 quasi-identifier
exper INTEGER 50 quasi-identifier
delinquencies INTEGER 9 secret
nivel_ed INTEGER 7 quasi-identifier
departamento VARCHAR 22 quasi-identifier
lesividad VARCHAR 9 secret
PONDERA INTEGER 700 weight
travail VARCHAR 3 quasi-identifier
fratrie INTEGER 20 quasi-identifier
gastarb INTEGER 2 quasi-identifier
sparkonto INTEGER 5 secret
famstand INTEGER 6 quasi-identifier
hemorragia INTEGER 2 secret
intvdate DATE 200 time
cohab TINYINT 2 quasi-identifier
web_developer TINYINT 2 quasi-identifier
docvis INTEGER 60 secret
"""


def counted(role: str, roles: Iterable[tuple[str, str]]) -> tuple[float, float]:
    """Recall and precision of a role over pairs of the expected and the suggested one."""
    pairs = Counter((e == role, s == role) for e, s in roles if e != "either")
    right = pairs[True, True]
    return right / (right + pairs[True, False]), right / (right + pairs[False, True])


def suggested(shared: Path, file: str) -> Iterator[tuple[str, str]]:
    """The expected and the suggested role of each column of a file."""
    frame = qifsql.describe(shared / "data" / f"{file}.parquet").frame
    roles = {name: role for role, names in EXPECTED[file].items() for name in names.split()}
    assert set(roles) == set(frame["column"])
    for name, role in zip(frame["column"], frame["suggested_role"], strict=True):
        yield roles[name], role


def other_columns() -> list[tuple[Counted, str]]:
    """Columns of other data sets, of which 10,000 records are assumed, and their roles."""
    columns = []
    for line in OTHERS.strip().split("\n"):
        name, type_, distinct, role = line.split()
        alone = max(0, 2 * int(distinct) - 10_000)
        numbers = {"records": 10_000, "missing": 0, "distinct": int(distinct), "alone": alone}
        columns.append((Counted(name=name, type=type_, **numbers, entropy=1.0), role))
    return columns


@pytest.mark.slow(because="2.2 s; every recorded mutant dies without it")
@pytest.mark.parametrize("role", ["quasi-identifier", "secret"])
def test_roles_in_public_files_are_found(shared: Path, role: str) -> None:
    pairs = [pair for file in KINDS for pair in suggested(shared, file)]
    recall, precision = counted(role, pairs)
    assert (recall >= 0.9, precision >= 0.8) == (True, True), (recall, precision)


@pytest.mark.cases(2)
@pytest.mark.parametrize("file", EXPECTED)
def test_each_public_file_has_most_of_its_quasi_identifiers(shared: Path, file: str) -> None:
    recall, precision = counted("quasi-identifier", suggested(shared, file))
    assert recall >= 0.9
    assert precision >= 0.6  # least where a questionnaire names its questions by their subjects


@pytest.mark.cases(2)
@pytest.mark.parametrize("file", EXPECTED)
def test_keys_weights_and_constants_of_public_files_are_found(shared: Path, file: str) -> None:
    plain = {"key", "identifier", "weight", "constant"}
    wrong = [pair for pair in suggested(shared, file) if plain & {*pair} and pair[0] != pair[1]]
    assert wrong == []


def test_names_of_other_data_have_their_roles() -> None:
    columns = other_columns()
    roles = [guess.role for guess in guesses([column for column, _ in columns])]
    pairs = list(zip([role for _, role in columns], roles, strict=True))
    recall, precision = counted("quasi-identifier", pairs)
    wrong = [(c.name, e, s) for (c, e), (_, s) in zip(columns, pairs, strict=True) if e != s]
    assert (recall >= 0.9, precision >= 0.8, len(wrong) <= 7) == (True, True, True), wrong


@pytest.mark.parametrize(
    "name", ["netto_eink", "rauchen", "Attrition", "VD4020", "default", "y", "wahlabsicht"]
)
def test_short_and_coded_names_are_secrets(name: str) -> None:
    """Income and smoking in German, outcomes that models learn, income in a survey of Brazil."""
    numbers = {"records": 600, "missing": 0, "distinct": 30, "alone": 0}
    (guess,) = guesses([Counted(name=name, type="BIGINT", **numbers, entropy=4.0)])
    assert guess.role == "secret"
    assert guess.confidence != "low"


def test_answers_to_one_question_are_no_quasi_identifiers() -> None:
    """Columns of yes and no that begin alike: only the question says what others may know."""
    names = [f"Who_Pays_{who}" for who in ("Parents", "School", "Work", "Self")]
    names += [f"race_{which}" for which in ("black", "white", "asian", "other")]
    columns = [
        Counted(name=n, type="TINYINT", records=99, missing=0, distinct=2, alone=0, entropy=1.0)
        for n in names
    ]
    assert [g.role for g in guesses(columns)] == ["secret"] * 4 + ["quasi-identifier"] * 4
    assert guesses(columns[:2])[1].role == "quasi-identifier"  # two are no question yet


def test_secrets_rank_by_sensitivity_and_quasi_identifiers_by_risk() -> None:
    names = {"score": 3.0, "income": 5.0, "diagnosis": 1.0, "sex": 1.0, "age": 6.0, "xyz": 9.0}
    columns = [
        Counted(name=n, type="INTEGER", records=999, missing=0, distinct=60, alone=0, entropy=bits)
        for n, bits in names.items()
    ]
    ranks = {n: (g.role, g.rank) for n, g in zip(names, guesses(columns), strict=True)}
    secrets = ["diagnosis", "income", "score"]
    assert [ranks[n] for n in secrets] == [("secret", i) for i in (1, 2, 3)]
    known = ["age", "xyz", "sex"]  # nine bits that may be known are less than six that surely are
    assert [ranks[n] for n in known] == [("quasi-identifier", i) for i in (1, 2, 3)]


def test_every_reason_has_words() -> None:
    subjects = (*SECRETS, *QUASI_IDENTIFIERS)
    topics = (WEIGHT, HOUSEHOLD, NUMBER, CONTACT, *subjects, PROCESSING, ADMINISTRATION, EVERYDAY)
    by_name = [guessing.reason(topic) for topic in topics]
    shapes = set(guessing.SHAPES.values())
    seen = [topic for topic in subjects if topic.labels or topic.inside or topic.name in shapes]
    by_values = [guessing.of_values(topic) for topic in seen]
    names = "NESTED CONSTANT EMPTY UNIQUE DATED MEASURED BINARY ITEM CODED UNKNOWN NAMES DOCUMENT "
    others = [
        getattr(guessing, name) for name in (names + "BODY_WEIGHT PRODUCT EVENT COPY").split()
    ]
    assert list(view.REASONS) == by_name + by_values + others


RANGES = {"viq": (64, 132), "anasc": (1921, 2001), "CO_ESCOLA": (110001, 530009)}


def test_flags_codes_with_gaps_years_and_points_are_told_apart() -> None:
    """Whole numbers without a name that says anything, and columns that tell of others."""
    numbers = {"records": 900, "missing": 9, "alone": 0, "entropy": 5.0}
    seen = {name: Evidence(numbers=ends, integers=True) for name, ends in RANGES.items()}
    columns = [
        Counted(name=name, type="DOUBLE", distinct=80, seen=seen[name], **numbers)
        for name in RANGES
    ]
    flags = [
        Counted(name=f"{name}_F", type="BIGINT", distinct=3, **numbers)
        for name in ("viq", "anasc", "CO_ESCOLA")
    ]
    roles = [guess.role for guess in guesses([*columns, *flags])]
    assert roles == ["secret", "quasi-identifier", "quasi-identifier"] + ["other"] * 3
    assert [guess.role for guess in guesses(flags[:2])] != ["other"] * 2
