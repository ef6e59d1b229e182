-- One row: how many observations there are, the chance of all of them, of the best guesses, and of
-- those that leave no doubt, how many these are, the largest chance of a best guess, and how many
-- records (or secrets) each may be, over all of them.
CREATE OR REPLACE VIEW success AS
SELECT
    count(*) AS observations,
    sum(total) AS total,
    sum(most) AS most,
    coalesce(sum(total) FILTER (WHERE possible = 1), 0) AS certain,
    count(*) FILTER (WHERE possible = 1) AS revealing,
    max(most::DOUBLE / total::DOUBLE) AS worst_case,
    coalesce(sum(possible), 0)::BIGINT AS possible
FROM observations;
