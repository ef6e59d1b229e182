"""What a sweep answers: tables computed from its result."""

import polars as pl

from qifsql.sweep import answers


def details(
    frame: pl.DataFrame, qids: list[str], threshold: float | None
) -> dict[str, pl.DataFrame]:
    """The answers, by name; those about all subsets only where all are there."""
    found = {"best": answers.best(frame, qids)}
    if answers.whole(frame, qids):
        found["shapley"] = answers.shapley(frame, qids)
        found["interactions"] = answers.interactions(frame, qids)
        found["drop_first"] = answers.drop_first(frame, qids)
        if threshold is not None:
            found["borders"] = pl.concat(
                [answers.borders(frame, qids, threshold, measure) for measure in answers.MEASURES]
            )
    return found
