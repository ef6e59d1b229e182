-- One row per question: the sums over all blocks of a subset.
CREATE OR REPLACE VIEW sums AS
SELECT
    state,
    question,
    sum(people)::BIGINT AS people,
    sum(mode)::BIGINT AS mode,
    sum(certain)::BIGINT AS certain
FROM found
GROUP BY state, question;
