-- One row per state, question and percent, in which this attribute is taken or dropped: what is
-- free counts for both.
CREATE OR REPLACE VIEW decided AS
SELECT
    part,
    state,
    question,
    bin,
    sum(blocks)::BIGINT AS blocks,
    sum(people)::BIGINT AS people,
    sum(mode)::BIGINT AS mode,
    sum(certain)::BIGINT AS certain,
    min(k) AS k,
    min(l) AS l,
    max(worst_case) AS worst_case
FROM (
    SELECT
        * EXCLUDE (state),
        unnest(
            CASE
                WHEN (undecided(state) & getvariable('bit')) = 0 THEN [state]
                ELSE [state - getvariable('bit'), state - getvariable('bit') * getvariable('known_too')]
            END
        ) AS state
    FROM waiting
) AS parted
WHERE
    bit_count(taken_of(state)) <= getvariable('most')
    AND bit_count(dropped(state)) <= getvariable('spare')
GROUP BY part, state, question, bin;
