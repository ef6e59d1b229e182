-- One row, the answer: success before (prior) and after (posterior) the release.
-- `prior` is the profile of the same attack with no quasi-identifiers; `matches` are the people
-- attacked: everybody, or the look-alikes of one person.
CREATE OR REPLACE VIEW answer AS
SELECT
    before.people AS records,
    after.people AS matches,
    after.blocks,
    after.singled_out,
    before.deterministic AS prior_deterministic,
    after.deterministic AS posterior_deterministic,
    before.probabilistic AS prior_probabilistic,
    after.probabilistic AS posterior_probabilistic
FROM (
    SELECT
        sum(size * blocks)::BIGINT AS people,
        sum(blocks)::BIGINT AS blocks,
        coalesce(sum(blocks) FILTER (WHERE size = 1), 0)::BIGINT AS singled_out,
        coalesce(sum(size * blocks) FILTER (WHERE "values" = 1), 0) / sum(size * blocks)
            AS deterministic,
        sum(mode * blocks) / sum(size * blocks) / (SELECT scale FROM asked) AS probabilistic
    FROM profile
) AS after
CROSS JOIN (
    SELECT
        sum(size * blocks)::BIGINT AS people,
        coalesce(sum(size * blocks) FILTER (WHERE "values" = 1), 0) / sum(size * blocks)
            AS deterministic,
        sum(mode * blocks) / sum(size * blocks) / (SELECT scale FROM asked) AS probabilistic
    FROM prior
) AS before;
