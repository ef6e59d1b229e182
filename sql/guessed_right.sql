-- One row per group of people: the share of them whose own value of the secret is the best guess
-- in their block.
CREATE OR REPLACE VIEW guessed_right AS
SELECT
    members.member_of::VARCHAR AS member_of,
    coalesce(
        sum(members.weight) FILTER (WHERE members.secret IS NOT DISTINCT FROM guesses.best_guess), 0
    ) / sum(members.weight) AS guessed_right
FROM members
JOIN guesses ON guesses.qid IS NOT DISTINCT FROM members.qid
GROUP BY members.member_of;
