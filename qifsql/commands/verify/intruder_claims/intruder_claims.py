"""Score the claims of a motivated intruder test: right of claimed, beside what was predicted."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from qifsql.engine.settings import Settings
from qifsql.errors import DatasetError, InputError
from qifsql.measures.intervals import clopper_pearson
from qifsql.results.intruder_test import (
    CLAIM_COLUMNS,
    KEY_COLUMNS,
    key_file,
    read_texts,
    spec_of_key,
)
from qifsql.results.result import Result
from qifsql.results.storage import Origin

KIND = "claims"
THRESHOLDS = (0.0, 0.5, 0.75, 0.9)
"""Claims count whose stated confidence is at least so much; 0: all, also without any."""
DECIMAL_COMMA = re.compile(r"^([+-]?\d+),(\d+)$", re.ASCII)
SCORES: dict[str, pl.DataType] = {
    "file": pl.Int64(),
    "secret": pl.String(),
    "stated_from": pl.Float64(),
    **dict.fromkeys(("sheets", "claims", "right"), pl.Int64()),
    **dict.fromkeys(("precision", "low", "high", "predicted", "stated", "coverage"), pl.Float64()),
}
"""One row per file of claims (numbered from 1; NULL: all together), question (``secret`` is NULL:
whose record it is) and least stated confidence (``stated_from``) at which something is claimed.

``sheets`` are those with an answer, ``precision`` is right / claims with its exact interval at
95 % (NULL for all files together, whose claims are about the same people), ``predicted`` the mean
success of the best guess on the claimed sheets, ``stated`` the mean stated confidence of claims
that have one, ``coverage`` claims / sheets. All are NULL if nothing is claimed."""


class _Claim(NamedTuple):
    """A claim about a sheet with an answer: what it is beside, and whether it is right."""

    question: str
    confidence: float | None
    is_right: bool
    chance: float


class _Key:
    """The key of a test: answers and predicted chances by sheet and question.

    ``answered`` has the number of sheets with an answer, by question.
    """

    def __init__(self, file: Path, questions: Iterable[str], settings: Settings | None) -> None:
        """Read a key; InputError if it was changed so that claims cannot be scored."""
        self.name = file.name
        self.entries: dict[tuple[str, str], tuple[str | None, float]] = {}
        rows = read_texts(file, KEY_COLUMNS, settings).rows()
        for number, (sheet, question, answer, chance) in enumerate(rows, 1):
            place = f"{file.name}, row {number} after the names"
            if (sheet, question) in self.entries:
                raise InputError(f"{place}: this sheet and question are there twice")
            likely = _number(chance)
            if answer is None and chance is None:  # nobody alike has a value that can be guessed
                likely = Decimal(0)
            if sheet is None or question not in questions or likely is None or likely > 1:
                raise InputError(f"{place} was changed: only answers may be")
            self.entries[sheet, question] = answer, float(likely)
        answers: dict[str, list[str]] = {question: [] for question in questions}
        for (_, question), (answer, _) in self.entries.items():
            if answer is not None:
                answers[question].append(answer)
        self.answered = {question: len(texts) for question, texts in answers.items()}
        self._same_form = {question: _form(texts) for question, texts in answers.items()}

    def claim(
        self, sheet: str, question: str, text: str, confidence: float | None
    ) -> _Claim | None:
        """Return a claim with its verdict; None if the sheet has no answer to the question."""
        answer, chance = self.entries[sheet, question]
        if answer is None:
            return None
        same = self._same_form[question]
        return _Claim(question, confidence, same(text) == same(answer), chance)


def score(
    test: Path | None, files: Sequence[str | Path], *, settings: Settings | None = None
) -> Result:
    """Score files of claims, one for each tester, by the key of a test (``key_file``).

    The result is met if something is claimed, and the claims of no file about a question are right
    more often than luck explains: the interval of their precision would be above the prediction.
    """
    origin = Origin.now(settings, KIND)
    key_path = key_file(test, Path(files[0]))
    spec = spec_of_key(key_path)
    questions: Mapping[str, str | None] = spec["questions"]
    key = _Key(key_path, questions, settings)
    claims = [_read_claims(Path(file), key, settings) for file in files]
    rows = [row for i, part in enumerate(claims, 1) for row in _scores(i, part, questions, key)]
    if len(claims) > 1:
        together = [claim for part in claims for claim in part]
        rows += _scores(None, together, questions, key, times=len(claims))
    frame = pl.DataFrame(rows, schema=SCORES)
    about = {
        "dataset": spec.get("dataset"),
        "qids": spec.get("qids"),
        "drawn_by": spec.get("by"),
        "claims": [Path(file).name for file in files],
    }
    origin = origin.about(about, (str(key_path), *map(str, files)))
    if not frame["claims"].sum():
        note = "nothing was claimed, so this says nothing about what intruders know"
        return Result(frame=frame, origin=origin, notes=(note,), met=False)
    refuted = any(is_refuted(row) for row in frame.iter_rows(named=True))
    return Result(frame=frame, origin=origin, met=not refuted)


def is_refuted(row: Mapping[str, Any]) -> bool:
    """Return whether all claims of a row of ``SCORES`` are right more often than luck explains."""
    return not row["stated_from"] and row["low"] is not None and row["low"] > row["predicted"]


def _read_claims(file: Path, key: _Key, settings: Settings | None) -> list[_Claim]:
    """Return the claims of a file that can be scored; InputError if it does not fit the key."""
    rows = read_texts(file, CLAIM_COLUMNS, settings).rows()
    if not rows:
        raise DatasetError(f"{file.name} has no rows; name the claims that a tester has filled in")
    in_percent = any((_number(confidence) or 0) > 1 for *_, confidence in rows)
    claims, seen = [], set()
    for number, (written, question, text, confidence) in enumerate(rows, 1):
        place = f"{file.name}, row {number} after the names"
        if written is question is text is None:  # spreadsheets write empty rows, too
            continue
        sheet = written and written.removesuffix(".0")  # of a floating number
        if (sheet, question) not in key.entries:
            raise InputError(f"{place}: {key.name} has no such sheet and question")
        if (sheet, question) in seen:
            raise InputError(f"{place}: a claim about this sheet and question is there already")
        seen.add((sheet, question))
        stated = None if confidence is None else _share(confidence, in_percent=in_percent)
        if stated is not None and not 0 <= stated <= 1:
            raise InputError(f"{place}: the confidence is not a number from 0 to 100 %")
        if text is not None and (claim := key.claim(sheet, question, text, stated)) is not None:
            claims.append(claim)
    return claims


def _scores(
    file: int | None,
    claims: Sequence[_Claim],
    questions: Mapping[str, str | None],
    key: _Key,
    times: int = 1,
) -> list[dict[str, Any]]:
    """Return rows (``SCORES``) of the claims of a file, or of so many files (``times``).

    A threshold at which nobody, or as many people as at the one before, are claimed has no row.
    """
    rows: list[dict[str, Any]] = []
    for question, secret in questions.items():
        sheets = times * key.answered[question]
        answers = [claim for claim in claims if claim.question == question]
        n_before = 0
        for threshold in THRESHOLDS:
            sure = [c for c in answers if not threshold or (c.confidence or 0) >= threshold]
            if threshold and len(sure) in (0, n_before):
                continue
            n_before = len(sure)
            row = {"file": file, "secret": secret, "stated_from": threshold, "sheets": sheets}
            rows.append(row | _score(sure, sheets, is_pooled=file is None))
    return rows


def _score(claims: Sequence[_Claim], sheets: int, *, is_pooled: bool) -> dict[str, Any]:
    """Return the numbers of a row of ``SCORES``; claims that are pooled get no interval."""
    n, right = len(claims), sum(claim.is_right for claim in claims)
    if not n:
        return {"claims": 0, "right": 0}
    low, high = (None, None) if is_pooled else clopper_pearson(right, n)
    return {
        **{"claims": n, "right": right, "precision": right / n, "low": low, "high": high},
        "predicted": _mean([claim.chance for claim in claims]),
        "stated": _mean([c.confidence for c in claims if c.confidence is not None]),
        "coverage": n / sheets,
    }


def _mean(numbers: Sequence[float]) -> float | None:
    return math.fsum(numbers) / len(numbers) if numbers else None


def _number(text: str | None) -> Decimal | None:
    """Return a number that is 0 or more, with a decimal point or comma; None for another text."""
    try:
        number = Decimal((text or "").replace(",", "."))
    except InvalidOperation:
        return None
    return number if number.is_finite() and number >= 0 else None


def _share(text: str, *, in_percent: bool) -> float:
    """Return a stated confidence as a share; NaN if it is none.

    ``90 %`` is 0.9; a bare number is in percent if one in the file is greater than 1.
    """
    number = _number(text.removesuffix("%").strip())
    if number is None:
        return math.nan
    return float(number) / (100 if in_percent or text.endswith("%") else 1)


def _form(answers: Iterable[str]) -> Callable[[str], str | Decimal]:
    """Return the function whose results are equal for texts that mean the same answer.

    Spreadsheets change letters, write 007 as 7 or 1.5 as 1,5 and put an apostrophe before a
    formula. That is overlooked, unless two answers differ in nothing else.
    """
    different = set(answers)
    are_told_apart = len({_loose(text) for text in different}) == len(different)
    return _loose if are_told_apart else str.strip


def _loose(text: str) -> str | Decimal:
    """Return a text as a number, or in small letters without apostrophe."""
    try:
        number = Decimal(DECIMAL_COMMA.sub(r"\1.\2", text))
    except InvalidOperation:
        return text.lstrip("'").casefold()
    return number if number.is_finite() else text.casefold()
