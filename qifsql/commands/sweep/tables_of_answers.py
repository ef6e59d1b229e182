"""What a sweep answers: tables computed from its result."""

import polars as pl

from qifsql.commands.sweep import answers


def details(
    frame: pl.DataFrame, qids: list[str], threshold: float | None
) -> dict[str, pl.DataFrame]:
    """The answers, by name; those about all subsets only where all are there."""
    tables = {"best": answers.best(frame, qids)}
    if answers.whole(frame, qids):
        tables["shapley"] = answers.shapley(frame, qids)
        tables["interactions"] = answers.interactions(frame, qids)
        tables["drop_first"] = answers.drop_first(frame, qids)
        if threshold is not None:
            tables["borders"] = pl.concat(
                [answers.borders(frame, qids, threshold, measure) for measure in answers.MEASURES]
            )
    return tables
