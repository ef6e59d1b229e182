-- One row per subset, question and percent of success that occurs: how many people have it.
CREATE OR REPLACE VIEW histograms AS
SELECT
    as_named(known(state)) AS subset,
    question,
    bin,
    sum(people)::BIGINT AS individuals
FROM waiting
WHERE (known(state) & -known(state) & getvariable('complete')) <> 0
GROUP BY ALL
ORDER BY subset, question, bin;
