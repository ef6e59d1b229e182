"""Make a small, wholly synthetic school census in the layout of Brazil's INEP tables.

    python make_school_census.py [OUTDIR] [--seed 2019] [--pupils 20000]

Writes ``school_census_2016.parquet`` .. ``school_census_2019.parquet`` (one record per pupil and
year; ``ID_ALUNO`` follows a pupil over the years) and ``school_census_2019_enrolments.parquet``
(the pupils of 2019 again, some with further enrolments, a few without a person key).  The tables
``pupils_2018.parquet`` and ``pupils_2019.parquet`` are those of the census, with English names of
columns and words in place of codes.  No record describes a real person: cities and schools carry
codes of a state (99) that does not exist.

Every draw is made by hand from ``random.Random(seed).random()``, whose sequence is the same in
all Python versions, with exact arithmetic only, so a seed gives the same tables on any machine.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

T = TypeVar("T")
Row = dict[str, int | None]

YEARS = (2016, 2017, 2018, 2019)
CITY_SHARES = (38, 19, 13, 10, 8, 6, 4, 2)  # per cent of the pupils who live in each city
# Level 0..16 is one school year each, ages 1 to 17; levels 17..19 are adult education.
STAGES = (1, 1, 1, 2, 2, 14, 15, 16, 17, 18, 19, 20, 21, 41, 25, 26, 27, 69, 70, 71)
LAST_YEAR, ADULT = 16, 17
# What a school teaches, and by whom it is run: (levels, TP_DEPENDENCIA); repeated in each city.
KINDS = (
    ((*range(5, 14), 17, 18), 3),
    (range(10, 20), 2),
    (range(0, 10), 3),
    (range(0, 17), 4),
    (range(5, 17), 2),
    (range(0, 5), 3),
)
MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
RACES = ((1, 43), (3, 50), (2, 5), (4, 1), (5, 1))  # (TP_COR_RACA, weight)
COUNTRIES = (862, 68, 332, 600, 32, 620, 392, 840)  # ISO 3166-1 numeric, of the foreign pupils
TYPES = {
    "ID_MATRICULA": pa.int64(),
    "ID_ALUNO": pa.int64(),
    "NU_ANO": pa.int16(),
    "CO_PAIS_ORIGEM": pa.int16(),
    "CO_MUNICIPIO_NASC": pa.int32(),
    "CO_MUNICIPIO_END": pa.int32(),
    "CO_ENTIDADE": pa.int32(),
}  # every other column is int8

YES_NO = {0: "no", 1: "yes"}
WORDS: dict[str, tuple[str, dict[int, str]]] = {
    "ID_ALUNO": ("pupil_id", {}),
    "NU_DIA": ("birth_day", {}),
    "NU_MES": ("birth_month", {}),
    "NU_ANO": ("birth_year", {}),
    "TP_SEXO": ("sex", {1: "male", 2: "female"}),
    "TP_COR_RACA": (
        "ethnicity",
        {0: "not declared", 1: "white", 2: "black", 3: "brown", 4: "yellow", 5: "indigenous"},
    ),
    "TP_NACIONALIDADE": (
        "nationality",
        {1: "Brazilian", 2: "Brazilian born abroad or naturalised", 3: "foreign"},
    ),
    "CO_PAIS_ORIGEM": ("country", {}),
    "CO_MUNICIPIO_NASC": ("birth_city", {}),
    "CO_MUNICIPIO_END": ("home_city", {}),
    "CO_ENTIDADE": ("school", {}),
    "TP_DEPENDENCIA": ("run_by", {1: "federal", 2: "state", 3: "municipal", 4: "private"}),
    "TP_ETAPA_ENSINO": ("stage", {}),
    "IN_NECESSIDADE_ESPECIAL": ("special_needs", YES_NO),
    "IN_TRANSPORTE_PUBLICO": ("school_transport", YES_NO),
}  # of each column, its English name and the words for its codes; without words, codes stay
IN_WORDS = (2018, 2019)  # years that are written with English names, too


@dataclass(frozen=True)
class School:
    """A school; what it reports of its pupils differs from school to school."""

    code: int
    run_by: int  # TP_DEPENDENCIA
    undeclared: float  # share of its pupils without a declared TP_COR_RACA


@dataclass
class Pupil:
    """A pupil as of the year at hand."""

    key: int
    born: tuple[int, int, int]  # year, month, day
    sex: int
    race: int
    nationality: int
    country: int
    birth_city: int | None
    special_needs: int
    home: int  # number of the city of residence
    level: int
    # Reported by the school, set at each enrolment:
    school: School
    race_declared: bool = True
    home_reported: bool = True
    transport: int | None = None


class Census:
    """A little world of cities, schools and pupils that is moved on year by year."""

    def __init__(self, seed: int, pupils: int) -> None:
        self.random = Random(seed).random
        self.size = pupils
        self.used: set[int] = set()
        self.pupils: list[Pupil] = []
        self.away: list[Pupil] = []  # left in an earlier year, may come back
        self.schools: dict[tuple[int, int], list[tuple[School, int]]] = {}  # by city, level
        self.cities = [9_900_000 + self.fresh(1, 99_999) for _ in range(len(CITY_SHARES) + 60)]
        for city, share in enumerate(CITY_SHARES):
            for rank in range(max(3, pupils * share // 24_000)):
                levels, run_by = KINDS[rank % len(KINDS)]
                if (city, rank) == (0, 7):
                    run_by = 1  # the only federal school
                code = 99_000_000 + self.fresh(100_000, 999_999)
                school = School(code, run_by, self.random() * self.random())
                weight = 100_000 // (rank + 2) ** 2  # a few large schools, many small ones
                for level in levels:
                    self.schools.setdefault((city, level), []).append((school, weight))

    def chance(self, share: float) -> bool:
        """Say yes with probability ``share``."""
        return self.random() < share

    def below(self, n: int) -> int:
        """Draw a number from 0 to ``n - 1``."""
        return int(self.random() * n)

    def fresh(self, low: int, high: int) -> int:
        """Draw a code between ``low`` and ``high`` that was not given out before."""
        while (code := low + self.below(high - low + 1)) in self.used:
            pass
        self.used.add(code)
        return code

    def pick(self, options: Sequence[tuple[T, int]]) -> T:
        """Draw an option; its chance is in proportion to its weight."""
        rest = self.random() * sum(weight for _, weight in options)
        for option, weight in options:
            rest -= weight
            if rest < 0:
                return option
        return options[-1][0]

    def city(self) -> int:
        """Draw a city, the larger the likelier."""
        return self.pick(tuple(enumerate(CITY_SHARES)))

    def school_for(self, home: int, level: int) -> School:
        """Draw a school that teaches the level, mostly in the city of residence."""
        city = home if self.chance(0.95) else self.city()
        return self.pick(self.schools[city, level])

    def enrol(self, pupil: Pupil) -> None:
        """Give the pupil a school for their level, and what that school reports of them."""
        pupil.school = self.school_for(pupil.home, pupil.level)
        pupil.race_declared = not self.chance(pupil.school.undeclared)
        pupil.home_reported = not self.chance(0.08)
        uses = self.chance(0.03 if pupil.school.run_by == 4 else 0.18 + 0.02 * pupil.home)
        pupil.transport = None if self.chance(0.02) else int(uses)

    def newcomers(self, year: int) -> list[Pupil]:
        """Make a pupil new to the census, now and then with a twin."""
        low = 6 if self.chance(0.55) and year > YEARS[0] else LAST_YEAR + 1
        level, age = self.below(low), 0
        if self.chance(0.05):
            level, age = ADULT + self.below(3), 16 + int(self.random() * self.random() * 45)
        while level > 5 and self.chance(0.15):
            age += 1  # repeated a year before
        age += (level + 1 if level < ADULT else 0) + self.chance(0.35)
        month = self.below(12)
        home = self.city()
        nationality = 3 if self.chance(0.004) else 2 if self.chance(0.001) else 1
        origin = len(CITY_SHARES) + self.below(60) if self.chance(0.1) else self.city()
        pupil = Pupil(
            key=self.fresh(100_000_000_000, 999_999_999_999),
            born=(year - age, month + 1, 1 + self.below(MONTH_DAYS[month])),
            sex=1 + self.below(2),
            race=self.pick(RACES),
            nationality=nationality,
            country=COUNTRIES[self.below(len(COUNTRIES))] if nationality == 3 else 76,
            birth_city=self.cities[home if self.chance(0.7) else origin],
            special_needs=int(self.chance(0.024)),
            home=home,
            level=level,
            school=self.schools[home, level][0][0],
        )
        if nationality != 1:
            pupil.birth_city = None
        self.enrol(pupil)
        if not self.chance(0.012):
            return [pupil]
        sex = pupil.sex if self.chance(0.65) else 3 - pupil.sex
        return [pupil, replace(pupil, key=self.fresh(100_000_000_000, 999_999_999_999), sex=sex)]

    def next_year(self, year: int) -> None:
        """Let pupils leave, come back, advance, repeat and move, then fill up with new ones."""
        back = [pupil for pupil in self.away if self.chance(0.1)]
        stay = [pupil for pupil in self.pupils if not self.chance(0.07)]
        kept = {pupil.key for pupil in (*back, *stay)}
        self.away = [pupil for pupil in (*self.away, *self.pupils) if pupil.key not in kept]
        self.pupils = []
        for pupil in (*stay, *back):
            repeats = pupil.level > 5 and self.chance(0.08 if pupil.level < ADULT else 0.5)
            if not repeats and pupil.level in (LAST_YEAR, len(STAGES) - 1):
                continue  # finished school
            pupil.level += not repeats
            if moves := self.chance(0.02):
                pupil.home = self.city()
            taught = {school for school, _ in self.schools[pupil.home, pupil.level]}
            if moves or pupil.school not in taught or self.chance(0.05):
                self.enrol(pupil)
            self.pupils.append(pupil)
        target = self.size + self.below(self.size // 50) - self.size // 100
        while len(self.pupils) < target:
            self.pupils += self.newcomers(year)

    def row(self, pupil: Pupil) -> Row:
        """Return the record of the pupil."""
        return {
            "ID_ALUNO": pupil.key,
            "NU_DIA": pupil.born[2],
            "NU_MES": pupil.born[1],
            "NU_ANO": pupil.born[0],
            "TP_SEXO": pupil.sex,
            "TP_COR_RACA": pupil.race if pupil.race_declared else 0,
            "TP_NACIONALIDADE": pupil.nationality,
            "CO_PAIS_ORIGEM": pupil.country,
            "CO_MUNICIPIO_NASC": pupil.birth_city,
            "CO_MUNICIPIO_END": self.cities[pupil.home] if pupil.home_reported else None,
            "CO_ENTIDADE": pupil.school.code,
            "TP_DEPENDENCIA": pupil.school.run_by,
            "TP_ETAPA_ENSINO": STAGES[pupil.level],
            "IN_NECESSIDADE_ESPECIAL": pupil.special_needs,
            "IN_TRANSPORTE_PUBLICO": pupil.transport,
        }

    def enrolments(self) -> list[Row]:
        """Make a record per enrolment: about 7 % of the pupils have a second or a third one."""
        rows: list[Row] = []
        for pupil in self.pupils:
            schools = self.schools[pupil.home, pupil.level]
            others = [option for option in schools if option[0] != pupil.school]
            more = (1 + self.chance(0.1)) if self.chance(0.07) else 0
            for number in range(1 + more):
                place = pupil
                if number and others and self.chance(0.62):
                    place = replace(pupil, school=self.pick(others))
                row: Row = {"ID_MATRICULA": self.fresh(1_000_000_000, 9_999_999_999)}
                row |= self.row(place)
                if number and pupil.level in range(14, ADULT) and self.chance(0.5):
                    row["TP_ETAPA_ENSINO"] = 39  # a technical course beside upper secondary
                if self.chance(0.002):
                    row["ID_ALUNO"] = None
                rows.append(row)
        return rows

    def write(self, path: Path, rows: list[Row], note: str) -> None:
        """Shuffle the records and write them."""
        for last in range(len(rows) - 1, 0, -1):
            other = self.below(last + 1)
            rows[last], rows[other] = rows[other], rows[last]
        names = list(rows[0])
        schema = pa.schema([(name, TYPES.get(name, pa.int8())) for name in names], {"note": note})
        table = pa.Table.from_pylist(rows, schema)
        coded = [name for name in names if not name.startswith("ID_")]
        pq.write_table(table, path, compression="zstd", compression_level=9, use_dictionary=coded)
        print(f"{path.name}: {table.num_rows} records, {path.stat().st_size} bytes")


def write_in_words(coded: Path, path: Path) -> None:
    """Write a table of the census again, with English names, and words in place of codes."""
    table = pq.read_table(coded)
    columns = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        words = WORDS[name][1]
        columns.append([words.get(code) for code in column.to_pylist()] if words else column)
    names = [WORDS[name][0] for name in table.column_names]
    written = pa.table(dict(zip(names, columns, strict=True)))
    written = written.replace_schema_metadata(table.schema.metadata)
    encoded = [name for name in names if name != "pupil_id"]
    pq.write_table(written, path, compression="zstd", compression_level=9, use_dictionary=encoded)
    print(f"{path.name}: {written.num_rows} records, {path.stat().st_size} bytes")


def main() -> None:
    """Read the command line and make the tables."""
    parser = argparse.ArgumentParser(description="Make the synthetic school census.")
    parser.add_argument("outdir", nargs="?", type=Path, default=Path(__file__).parent)
    parser.add_argument("--seed", type=int, default=2019)
    parser.add_argument("--pupils", type=int, default=20_000, help="per year, at least 1000")
    args = parser.parse_args()
    if args.pupils < 1000:
        parser.error("--pupils must be at least 1000")
    note = "synthetic: no real person is in this table; made by data-samples/make_school_census.py"
    note += f" --seed {args.seed}" + (f" --pupils {args.pupils}" if args.pupils != 20_000 else "")
    args.outdir.mkdir(parents=True, exist_ok=True)
    census = Census(args.seed, args.pupils)
    for year in YEARS:
        census.next_year(year)
        rows = [census.row(pupil) for pupil in census.pupils]
        coded = args.outdir / f"school_census_{year}.parquet"
        census.write(coded, rows, note)
        if year in IN_WORDS:
            write_in_words(coded, args.outdir / f"pupils_{year}.parquet")
    last = args.outdir / f"school_census_{YEARS[-1]}_enrolments.parquet"
    census.write(last, census.enrolments(), note)


if __name__ == "__main__":
    main()
