-- One row per percent of success that occurs, rounded half to even: how many people have it.
CREATE OR REPLACE VIEW histogram AS
SELECT
    round_even(percent, 0)::INTEGER AS bin,
    sum(people)::BIGINT AS individuals
FROM chances
GROUP BY bin;
