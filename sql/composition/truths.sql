-- One row: of people who lie somewhere in every release, without contradiction, how many have their
-- true value among those that are left, of how many that is the only one left, and how many the
-- best guess gets right.
CREATE OR REPLACE VIEW truths AS
SELECT
    coalesce(sum(crowd.people) FILTER (WHERE shared.alike IS NOT NULL), 0)::BIGINT AS kept,
    coalesce(sum(crowd.people) FILTER (WHERE shared.alike IS NOT NULL AND told.posterior = 1), 0)::BIGINT AS breached,
    coalesce(sum(crowd.people) FILTER (WHERE crowd.truth = guesses.guess), 0)::BIGINT AS guessed
FROM crowd
INNER JOIN at_now ON crowd.point = at_now.point
INNER JOIN told ON at_now.alike = told.alike AND told.posterior > 0
INNER JOIN guesses ON at_now.alike = guesses.alike
LEFT JOIN shared ON at_now.alike = shared.alike AND crowd.truth = shared.secret;
