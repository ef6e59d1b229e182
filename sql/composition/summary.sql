-- One row: the people who lie somewhere in every release, those of them whose releases contradict
-- one another, and sums and counts over the others.
CREATE OR REPLACE VIEW summary AS
SELECT
    coalesce(sum(people), 0)::BIGINT AS located,
    coalesce(sum(people) FILTER (WHERE posterior = 0), 0)::BIGINT AS contradictions,
    coalesce(sum(people * prior) FILTER (WHERE posterior > 0), 0)::BIGINT AS prior,
    coalesce(sum(people * posterior) FILTER (WHERE posterior > 0), 0)::BIGINT AS posterior,
    coalesce(sum(people) FILTER (WHERE posterior BETWEEN 1 AND prior - 1), 0)::BIGINT AS vulnerable,
    coalesce(sum(people) FILTER (WHERE posterior = 1), 0)::BIGINT AS breached,
    coalesce(sum(people) FILTER (WHERE posterior = 1 AND prior > 1), 0)::BIGINT AS breached_anew
FROM told;
