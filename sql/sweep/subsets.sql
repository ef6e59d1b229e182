-- One row per subset, question and part of a sample (0: everybody): the sums over its blocks.
CREATE OR REPLACE VIEW subsets AS
SELECT
    as_named(known(state)) AS subset,
    question,
    part,
    sum(blocks)::BIGINT AS blocks,
    sum(people)::BIGINT AS people,
    sum(mode)::BIGINT AS mode,
    sum(certain)::BIGINT AS certain,
    min(k) AS k,
    min(l) AS l,
    max(worst_case) AS worst_case
FROM waiting
WHERE (known(state) & -known(state) & getvariable('complete')) <> 0
GROUP BY ALL
ORDER BY subset, question, part;
