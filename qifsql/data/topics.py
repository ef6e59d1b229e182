"""Words in names of columns, in English and Portuguese, and the roles that they speak for.

Words are looked for in a name that is written ``_in_small_letters_`` without accents, with ``_``
between its words, before capitals and around digits. A word that begins or ends with ``_`` begins
or ends a word of the name: ``_nasc`` is in ``CO_MUNICIPIO_NASC`` and not in ``renasc``. ``?`` may
be one more letter: ``_age?_`` is in ``AGEP``.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial


@dataclass(frozen=True)
class Topic:
    """A subject of columns, its usual role, and words that are about it.

    ``words`` nearly always are; ``hints`` are abbreviations and words with other meanings, too.
    """

    role: str
    name: str
    words: str
    hints: str = field(default="")

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[str] | None, re.Pattern[str] | None]:
        return _pattern(self.words), _pattern(self.hints)

    def confidence(self, name: str) -> str | None:
        """Return how sure a name (``spelled``) is about this: high or medium; None if it is not."""
        words, hints = self._patterns
        if words is not None and words.search(name):
            return "high"
        return "medium" if hints is not None and hints.search(name) else None


def _pattern(words: str) -> re.Pattern[str] | None:
    parts = [re.escape(word).replace(r"\?", "[a-z]?") for word in words.split()]
    return re.compile("|".join(parts)) if parts else None


def spelled(name: str) -> str:
    """Return a name in small letters without accents, ``_`` around each of its words.

    >>> spelled("dateOfBirth"), spelled("RAC1P"), spelled("Raça/Cor")
    ('_date_of_birth_', '_rac_1_p_', '_raca_cor_')
    """
    plain = unicodedata.normalize("NFKD", name)
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", plain).lower()
    plain = re.sub(r"(?<=[a-z])(?=[0-9])|(?<=[0-9])(?=[a-z])", "_", plain)
    return f"_{re.sub(r'[^a-z0-9]+', '_', plain).strip('_')}_"


WEIGHT = Topic(
    "weight",
    "weight",
    "fnlwgt wgt samplingweight sampling_weight sample_weight survey_weight household_weight "
    "person_weight _weights_ peso_amostral peso_da_pessoa fator_expansao fator_de_expansao",
    "weight _wt_ _peso_ _peso",
)

NUMBER = Topic(
    "identifier",
    "identifying number",
    "_id_ _ids_ _hid_ _pid_ _uid_ _hhid_ _guid_ _uuid_ _idcode_ _id_code_ identifier identificador "
    "_id_number _nbr_ _cpf_ _cnpj_ _ssn_ _rg_ _nis_ _pis_ _cns_ passport passaporte matricula "
    "_inscricao_ titulo_eleitor numero_registro registration_number account_number conta_bancaria "
    "_iban_ licence_number license_number",
    "_key_ _chave_ _index_ _serial",
)
"""An identifying number; of the school or the city, it is theirs."""

PERSON = Topic(
    "identifier",
    "person",
    "patient paciente person pessoa people individu pupil aluno student estudante member membro "
    "client customer cliente user usuario subject sujeito respondent participant employee "
    "empregado worker beneficiar segurad insured",
)
CODE = Topic(
    "identifier", "number", "_no_ _nr_ _num_ _number_ _key_ _chave_ _code_ _cod_ _co_ _hash_"
)
OWNER = Topic(
    "identifier",
    "owner that is no person",
    "school escola entidade hospital ward clinic hous domicil dwelling famil _hh_ _hhid_ _hid_ "
    "_mn_ _rg_ munic city region distri compan empresa employer firm visit event admission "
    "internac episode encounter order transac account conta_ record registro row linha line "
    "unidade turma class course curso tract setor building plot cluster psu strat interview "
    "country state product item device file batch page url cookie vehicle",
)


def numbers_people(column: str) -> bool:
    """Return whether the name of a column says that it numbers people.

    >>> [numbers_people(name) for name in ("patient_id", "pid", "school_id", "hhid", "age")]
    [True, True, False, False, False]
    """
    name = spelled(column)
    is_code = bool(PERSON.confidence(name) and CODE.confidence(name))
    is_number = NUMBER.confidence(name) == "high" or is_code
    return is_number and not OWNER.confidence(name)


HOUSEHOLD = Topic(
    "household",
    "household",
    "_hhid_ _hid_ _hhno_ _hhnr_ _hhnum_ _idhh_ _idhog_ _identmen_ _ident_men_ _famid_ "
    "_householdid_ _familyid_ _haushaltsnr_ _haushaltsnummer_ _db_030_ _hb_030_ _px_030_ _rx_030_ "
    "__hh__ __household__ __family__ __dwelling__ __domicilio__ __familia__ __hogar__ __vivienda__ "
    "__foyer__ __menage__ __haushalt__ __famiglia__ __huishouden__ __hushall__ __gospodarstwo__",
)
"""A number of households, also in German, French, Spanish, Italian and others, and in EU-SILC."""
HOME = Topic(
    "household",
    "people who live together",
    "household _hh_ dwelling _famil domicil hogar vivienda foyer menage haushalt famigl huishoud "
    "hushall husholdning gospodarstw",
)
NUMBER_OF_ANY = Topic("identifier", "number", "_numero_ _nummer_ _numer_ _ident_ _controle_")
ABOUT_HOMES = Topic(
    "quasi-identifier",
    "property of a household",
    "_size_ tamanho _members_ membros _people_ pessoas income renda _type_ _tipo_ _head_ chefe "
    "weight _peso_ _count_ _qtd_ _of_ _de_ total",
)


def numbers_households(column: str) -> bool:
    """Return whether the name of a column says that it numbers households.

    >>> [numbers_households(name) for name in ("hhid", "hh_size", "id_domicilio", "patient_id")]
    [True, False, True, False]
    """
    name = f"_{spelled(column)}_"
    if HOUSEHOLD.confidence(name):
        return True
    is_number = any(topic.confidence(name) == "high" for topic in (NUMBER, CODE, NUMBER_OF_ANY))
    return bool(is_number and HOME.confidence(name) and not ABOUT_HOMES.confidence(name))


CONTACT = Topic(
    "identifier",
    "name or address",
    "first_name last_name full_name given_name family_name person_name patient_name sobrenome "
    "surname e_mail email phone telefone celular endereco logradouro street_address home_address "
    "_address_ _ip_address _nm_ _cookie _url_ username user_name",
    "_name_ _nome_ _street_ _rua_",
)

_secret, _quasi_identifier = partial(Topic, "secret"), partial(Topic, "quasi-identifier")
SECRETS = (  # the most sensitive first: special categories, offences, money, the rest
    _secret(
        "health",
        "health saude disease doenca illness diagnos disab deficien necessidade_espec special_need "
        "handicap impair _hiv_ _aids_ cancer tumor tumour pregnan gravid gestante medic "
        "_symptom sintoma surger cirurg injur lesao ferid _death obito _dead_ _died_ _morte "
        "_surviv blood sangue _bmi_ _imc_ glucose glicose glicem cholester colester smok fumante "
        "tabac alcohol drugs_ droga mental_ depress suicid vaccin vacin covid insulin readmit "
        "therap terapia treatment tratamento _genet _genom _dna_ biometr causa_bas",
        "_diag _inj _cid_ _icd _drug_ causabas _surg",
    ),
    _secret("sexual life", "sexual _lgbt homosex"),
    _secret(
        "belief",
        "relig _faith_ church igreja politic partido _union_ unionist sindical sindicato _crenca "
        "ideolog voted_for",
        "_party_ _vote _voto",
    ),
    _secret(
        "offences",
        "crime crimin offence offense ofensa convict condena _prison_ prisional _jail recid delito "
        "felony",
        "violen infrac",
    ),
    _secret(
        "money",
        "income salar wage _earning remunera renda_ rendiment revenue receita_ profit lucro debt "
        "divida _loan emprestimo credit _saving poupanca expend expens _spend despesa gasto "
        "capital_gain capital_loss wealth patrimonio bank_ poverty pobreza",
        "_remun _pov renda _tax_ _taxes_ imposto _fare_ price preco _cost custo amount _valor_ "
        "_vl_ balance saldo decile decil quintil quartil percentil asset",
    ),
    _secret(
        "benefits",
        "benefit beneficio welfare lunch merenda _bolsa auxilio subsid pension aposentad",
        "transport",
    ),
    _secret(
        "results and scores",
        "score _gpa_ desempenho proficien test_result exam_result",
        "_nota_ _notas_ rating _result resultado performance _risk_ _risco_ rank_",
    ),
    _secret(
        "outcome",
        "",
        "__class__ __classification__ __classe__ __classificacao__ __target__ __label__ "
        "__outcome__ __desfecho__",
    ),
    _secret("opinion", "opinion opinia attitude satisf prefer", "issue _trust agree"),
)

QUASI_IDENTIFIERS = (
    _quasi_identifier(
        "court record",
        "",
        "_charge_ _court _tribunal _priors_ _prior_ _juv_ arrest",
    ),
    _quasi_identifier(
        "place",
        "_zip postal _postcode _cep_ _city_ _cities_ _cidade _town_ village munic _county_ "
        "district distrito _uf_ unidade_federa region regiao _province provincia neighbo bairro "
        "census_tract _urban _rural metropol _smsa_ _msa_ _north_ _south_ _east_ _west_ _norte_ "
        "_sul_ _leste_ _oeste_ geograph geograf residen latitude longitude comarca codmun",
        "_state_ _estado_ _puma_ _urb _rur _area_ localiza location _mun_ densit densidade",
    ),
    _quasi_identifier(
        "age",
        "_age?_ _age_ _ages_ _agegroup _ageband _idade_ etari birth _born_ _nasc _dob_ _yob_ "
        "dtnasc",
        "_dia_ _mes_ _day_ _month_",
    ),
    _quasi_identifier("sex", "_sex?_ gender _genero_"),
    _quasi_identifier(
        "origin",
        "_race_ _races_ _racial _raca racacor ethnic etnia _hisp _latino _nationality nacionalidad "
        "naturalidad _country_ _pais_ citizen cidadania immigra imigra _foreign estrangeir "
        "ancestry indigen native language idioma _tribe _caste skin_colo",
        "_rac_ _cor_ nation _lingua country",
    ),
    _quasi_identifier(
        "family",
        "marital married marriage _civil_ conjugal spouse conjuge kinship parentesco relationship "
        "family familia household_size _children_ _filhos_ siblings widow viuv divorc "
        "household_type personal_status dependent_ dependents dependentes",
        "_relat civil _estciv _mar_ _child _filh _kids_ _parent _mother _mae_ _father _hh_ "
        "household domicilio morador",
    ),
    _quasi_identifier(
        "education",
        "educat school escol student estudante teacher _turma_ ensino graduat college "
        "universi faculdade _course_ _curso_ diploma entidade",
        "_educ _edu_ _esc_ _grade_ _grades_ grad_ _grau_ _serie_ etapa degree conclu class_type "
        "class_size pupil aluno _dependencia_",
    ),
    _quasi_identifier(
        "work",
        "occupat ocupac profess profiss _job_ _jobs_ _worker employ empreg industr _cnae_ _cbo_ "
        "workclass military militar veteran",
        "_occ_ _ocup _ind?_ _work_ trabalh sector _setor_ cargo _role_ role_ company empresa hours "
        "horas labour labor_",
    ),
    _quasi_identifier(
        "housing",
        "housing dwelling moradia _house_ _home_ _casa_ roof telhado _walls_ _wall_ parede _floor_ "
        "sewage esgoto sanita toilet banheiro tenure _own_rent_ _rooms_",
        "_water _agua_ electr eletric energia piso _own_ _rent_ alug",
    ),
    _quasi_identifier("possessions", "_car_ _cars_ vehicle veiculo _carro", "_veh _moto"),
    _quasi_identifier(
        "time",
        "_date_ _dates_ _dt_ admission admissao",
        "_year _ano_ _anos_ _days_ _dias_ _quarter _semestre _week _semana _time_ _data_ _hour_",
    ),
    _quasi_identifier("number of events", "", "_count_ _counts_ _number_of _num_ _qtd_"),
)
"""Subjects that others can see or look up; the first that fits gives the reason."""

COURT = "court record"
"""Published in many countries: this topic wins over offences."""
_OF_MEMBERS = ("sex", "age")


def telling_members_apart(columns: Sequence[str]) -> list[str]:
    """Return the columns in which people who live together differ: sexes and ages, else others.

    >>> [telling_members_apart(["hhid", *more]) for more in (["sex", "city"], ["occupation"])]
    [['sex'], ['occupation']]
    """
    names = [name for name in columns if not numbers_households(name)]
    of_members = [topic for topic in QUASI_IDENTIFIERS if topic.name in _OF_MEMBERS]
    for topics in (of_members, QUASI_IDENTIFIERS):
        telling = [n for n in names if any(t.confidence(spelled(n)) == "high" for t in topics)]
        if telling:
            return telling
    return []
