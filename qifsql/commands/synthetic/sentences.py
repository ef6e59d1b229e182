"""Sentences on synthetic releases: what they say about individuals, and what nobody can tell."""

from collections.abc import Sequence

import polars as pl

from qifsql.data.types import Row
from qifsql.presentation import escaping, words
from qifsql.presentation.language import said
from qifsql.presentation.parts import Spec


def sentences(frame: pl.DataFrame, spec: Spec) -> list[str]:
    """Return sentences on the worst release for each secret, and on replicated uniques.

    If people have several records, for all records of a person known, and then for one.
    """
    if len(parts := split_by_known_records(frame)) > 1:
        return [
            f"{known_records_sentence(part)} {text}"
            for part in parts
            for text in sentences(part, spec)
        ]
    texts = []
    for secret in spec["secrets"]:
        of_secret = frame.filter(secret=secret)
        if worst := _worst_row(of_secret, "individual_leak"):
            texts.append(_leak_sentence(worst, of_secret, spec))
        elif worst := _worst_row(of_secret, "success_original"):  # without a control
            texts.append(_success_sentence(worst, of_secret, spec))
        worst = _worst_row(of_secret, "classifier_leak", "low")
        if worst and worst["low"] > 0:
            texts.append(_classifier_sentence(worst, of_secret, spec))
    if worst := _worst_row(frame, "repU"):
        texts.append(_replicated_sentence(worst, spec))
    return texts


def _worst_row(frame: pl.DataFrame, measure: str, column: str = "value") -> Row | None:
    """Return the row of a measure with the largest value; None if no release has the measure."""
    rows = frame.filter(measure=measure).to_dicts()
    return max(rows, key=lambda row: row[column], default=None)


def split_by_known_records(frame: pl.DataFrame) -> list[pl.DataFrame]:
    """Return the rows as one frame, or those if all records of a person are known and if one is."""
    if "known_records" not in frame.columns:
        return [frame]
    return frame.partition_by("known_records", maintain_order=True)


def known_records_sentence(frame: pl.DataFrame) -> str:
    """Return a sentence on the records that are known of a person: all or one."""
    if frame["known_records"][0] == "all":
        return said("All records of a person are known.")
    return said(
        "One record of a person is known, and she counts once for each different one that she has."
    )


def _leak_sentence(row: Row, frame: pl.DataFrame, spec: Spec) -> str:
    """Return sentences on ``row``, the individual leak of a release for one secret."""
    values = by_measure(frame, row["file"])
    original, control = values["success_original"]["value"], values["success_control"]["value"]
    scale = words.scale(original, control)
    texts = {
        "people": words.people(),
        "qids": words.listed(spec["qids"]),
        "secret": row["secret"],
        "release": release_name(row["file"], row["release"]),
        "original": words.share(original, scale),
        "control": words.share(control, scale),
        "low": points(row["low"]),
        "high": points(row["high"]),
    }
    first = (
        "Someone who knows {qids} and learns from {release} guesses {secret} right in {original} "
        "{people} of the original, and in {control} of the control."
    )
    if row["low"] > 0:  # the whole interval of the leak is above 0
        second = (
            "The difference ({low} to {high} percentage points) is about individuals: the release "
            "gives away people it was made from."
        )
    elif row["high"] < 0:
        second = (
            "The difference ({low} to {high} percentage points) is negative: the control may not "
            "be of the same population, and then it does not show what is about individuals."
        )
    else:
        second = (
            "The difference ({low} to {high} percentage points) may be chance: this attack shows "
            "nothing about individuals, and others may."
        )
    return " ".join(said(text, **texts) for text in (first, second))


def _classifier_sentence(row: Row, frame: pl.DataFrame, spec: Spec) -> str:
    """Return a sentence on what a classifier learns about individuals; ``row``: its leak."""
    values = by_measure(frame, row["file"])
    original, control = (values[f"classifier_{name}"]["value"] for name in ("original", "control"))
    scale = words.scale(original, control)
    return said(
        "A classifier ({learner}) that learns from {release} guesses {secret} right in {original} "
        "{people} of the original, and in {control} of the control. The difference ({low} to "
        "{high} percentage points) is about individuals.",
        people=words.people(),
        learner=spec["learner"],
        secret=row["secret"],
        release=release_name(row["file"], row["release"]),
        original=words.share(original, scale),
        control=words.share(control, scale),
        low=points(row["low"]),
        high=points(row["high"]),
    )


def _success_sentence(row: Row, frame: pl.DataFrame, spec: Spec) -> str:
    """Return a sentence on success without a control; ``row`` is ``success_original``."""
    prior = by_measure(frame, row["file"])["prior_original"]["value"]
    scale = words.scale(row["value"], prior)
    return said(
        "Someone who knows {qids} and learns from {release} guesses {secret} right in {success} "
        "{people}; without the release in {prior}. Without a control nobody can tell how much of "
        "this is about individuals.",
        qids=words.listed(spec["qids"]),
        release=release_name(row["file"], row["release"]),
        secret=row["secret"],
        people=words.people(),
        success=words.share(row["value"], scale),
        prior=words.share(prior, scale),
    )


def _replicated_sentence(row: Row, spec: Spec) -> str:
    """Return a sentence on the people alone in the original and in a release; ``row``: ``repU``."""
    if not row["count"]:
        message = "Nobody is alone with the same {qids} in the original and in a release."
        return said(message, qids=words.listed(spec["qids"]))
    people = words.persons(row["people"])
    if row.get("known_records") == "one":
        people = said("{n} different records of people", n=words.count(row["people"]))
    return said(
        "{n} of {people} are alone with their {qids} in the original, and in {release} exactly one "
        "record has the same (replicated uniques).",
        n=words.count(row["count"]),
        people=people,
        qids=words.listed(spec["qids"]),
        release=release_name(row["file"], row["release"]),
    )


def limits(spec: Spec) -> str:
    """Return a sentence on what these measures do not show."""
    texts = [
        said(
            "These are lower bounds on the risk: they are about people found by {qids}, and a "
            "generator that keeps individuals in another way is not noticed. Low numbers do not "
            "prove that a release is safe.",
            qids=words.listed(spec["qids"]),
        )
    ]
    if spec["control"]:
        texts.append(
            said(
                "The control must be people of the same population who were held out before the "
                "release was made."
            )
        )
    return " ".join(texts)


def points(share: float) -> str:
    """Return a signed share in percentage points: ``+0.31``, ``-2.40``."""
    number = words.percent(abs(share)).removesuffix(" %")
    return number if share == 0 else f"{'-' if share < 0 else '+'}{number}"


def between(row: Row) -> str:
    """Return the ends of an interval in percent."""
    return said("{low} and {high}", low=words.percent(row["low"]), high=words.percent(row["high"]))


def percent(share: float | None) -> str:
    """Return a share in percent; None is a share of nobody."""
    return said("nobody") if share is None else words.percent(share)


def releases(frame: pl.DataFrame) -> list[tuple[int, str]]:
    """Return the number and the name of each release, in their order."""
    pairs = frame.select("file", "release").unique(maintain_order=True)
    return [(file, release_name(file, name)) for file, name in pairs.iter_rows()]


def release_name(file: int, name: str) -> str:
    """Return the name of a release for people."""
    return said("all releases together") if file == 0 else escaping.cell(name)


def by_measure(frame: pl.DataFrame, file: int) -> dict[str, Row]:
    """Return the rows of a release, by measure."""
    rows: Sequence[Row] = frame.filter(file=file).to_dicts()
    return {row["measure"]: row for row in rows}
