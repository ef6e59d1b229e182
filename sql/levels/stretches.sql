-- One row per block and stretch of places, in the order of the secret's values, along which no
-- more people of the block are met: from which place to which, and how many were met.
CREATE OR REPLACE VIEW stretches AS
SELECT
    sized.*,
    lead(place, 1, whole."values" + 1) OVER (PARTITION BY qid ORDER BY place) - 1 AS last_place,
    sum(sized.people) OVER (PARTITION BY qid ORDER BY place)::BIGINT AS met,
    whole.people AS whole_people,
    whole.one AS one,
    whole."values" AS whole_values
FROM sized
CROSS JOIN whole;
