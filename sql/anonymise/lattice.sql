-- Full-domain generalisation: every quasi-identifier at one of its steps, and the classes of that.

-- One row per different person: how many have these places and secrets.
CREATE OR REPLACE VIEW combinations AS
SELECT
    place,
    secrets,
    count(*) AS people
FROM coded
GROUP BY place, secrets;

-- One row: what one step of one quasi-identifier loses. Over its groups of several values, each as
-- often as it has records: the records, the values, the lengths on the scale; and the entropy of the
-- groups, n ln n over their records less that over the records of their values, in 2^-40.
CREATE OR REPLACE VIEW lost_by_step AS
SELECT
    coalesce(sum(people) FILTER (WHERE "values" > 1), 0)::BIGINT AS generalised,
    coalesce(sum(people::HUGEINT * "values") FILTER (WHERE "values" > 1), 0)::HUGEINT AS listed,
    coalesce(sum(people::HUGEINT * (highest - lowest)), 0)::HUGEINT AS spanned,
    coalesce(sum(floor(people * ln(people) * 1099511627776)::HUGEINT - terms), 0)::HUGEINT AS lost
FROM (
    SELECT
        sum(people)::BIGINT AS people,
        count(*) AS "values",
        min(place) AS lowest,
        max(place) AS highest,
        sum(floor(people * ln(people) * 1099511627776)::HUGEINT)::HUGEINT AS terms
    FROM steps_of
    GROUP BY own_step
) AS merged;

-- One row per group of one step of one quasi-identifier: what suppression takes from each of its
-- records that the step has left: values, lengths on the scale, and entropy in 2^-40.
CREATE OR REPLACE VIEW left_by_step AS
SELECT
    qid_number AS number,
    step_number AS height,
    own_step AS cell,
    all_values - CASE WHEN count(*) > 1 THEN count(*) ELSE 0 END AS listed,
    all_lengths::HUGEINT - (max(place) - min(place)) AS spanned,
    floor(ln(all_records / sum(people)) * 1099511627776)::HUGEINT AS entropy
FROM steps_of
GROUP BY own_step;

-- One row per group of texts that begin alike: its cell. Stars stand for what is behind so many
-- characters: one for each where all longer texts have one length, else one for any rest; as many
-- more as it takes for no text of the group to have that length, where only some do. A text that is
-- shorter is itself.
CREATE OR REPLACE VIEW prefixed AS
SELECT
    begun.part,
    CASE
        WHEN length(begun.beginning) >= kept_characters THEN begun.beginning || repeat(
            '*',
            CASE
                WHEN len(begun.rests) = 1 OR NOT list_contains(begun.rests, usual.stars)
                THEN usual.stars
                ELSE list_max(begun.rests) + 1
            END
        )
        WHEN regexp_full_match(begun.beginning, '[\p{L}\p{N}]+') THEN begun.beginning
        ELSE '{"' || replace(begun.beginning, '"', '""') || '"}'
    END AS cell
FROM (
    SELECT
        own_step AS part,
        own_form AS beginning,
        list(DISTINCT length(value::VARCHAR) - kept_characters) AS rests
    FROM steps_of
    GROUP BY own_step, own_form
) AS begun
CROSS JOIN (
    SELECT CASE WHEN min(rest) = max(rest) THEN max(rest) ELSE 1 END AS stars
    FROM (SELECT length(value::VARCHAR) - kept_characters AS rest FROM steps_of) AS lengths
    WHERE rest > 0
) AS usual;

-- One row per class of a node: its steps, and how many records it has, each of a person.
CREATE OR REPLACE VIEW sizes_of_node AS
SELECT
    FALSE AS refused,
    step AS step,
    sum(people)::BIGINT AS size,
    sum(people)::BIGINT AS people
FROM tuples_of_node
GROUP BY step;

-- One row per class of a node and combination of secrets: how many people have it, all of them on
-- one side.
CREATE OR REPLACE VIEW sides_of_node AS
SELECT
    dense_rank() OVER (ORDER BY step) AS part,
    FALSE AS side,
    secrets,
    sum(people)::BIGINT AS people
FROM tuples_of_node
GROUP BY step, secrets;

-- One row per class of a node: how many records it has, of how many people, and whether it breaks a
-- limit on a secret or, where people have several records, on different people.
{# judged_sizes(people=False), judged_sizes(people=True) #}
CREATE OR REPLACE VIEW judged_sizes AS
SELECT
    sized.size,
    sized.people,
    refused.part IS NOT NULL AS refused
FROM (
    SELECT
        part,
        sum(people)::BIGINT AS size,
        {{ "count(DISTINCT person)" if people else "sum(people)" }}::BIGINT AS people
    FROM sides
    GROUP BY part
) AS sized
LEFT JOIN refused ON sized.part = refused.part;

-- One row: the classes of a node, those that are kept, the records of the others, the people of the
-- smallest class that is kept, and the squared sizes of classes: of those that are kept, and of all;
-- of how many records the person is guessed right, each class by itself, in 2^-80.
CREATE OR REPLACE VIEW measured_node AS
SELECT
    count(*) AS blocks,
    count(*) FILTER (WHERE size >= wanted_k AND NOT refused) AS classes,
    coalesce(sum(size) FILTER (WHERE size < wanted_k OR refused), 0)::BIGINT AS suppressed,
    min(people) FILTER (WHERE size >= wanted_k AND NOT refused) AS smallest,
    coalesce(sum(size::HUGEINT * size) FILTER (WHERE size >= wanted_k AND NOT refused), 0)::HUGEINT
        AS squares,
    sum(size::HUGEINT * size)::HUGEINT AS all_squares,
    coalesce(
        sum(size * 1208925819614629174706176::HUGEINT // people)
            FILTER (WHERE size >= wanted_k AND NOT refused),
        0
    )::HUGEINT AS guessed
FROM sizes_of_node;

-- One row per class of a node: its steps, how many records it has, and whether it breaks a limit on a
-- secret.
CREATE OR REPLACE VIEW judged_classes AS
SELECT
    refused.part IS NOT NULL AS refused,
    step AS step,
    size
FROM (
    SELECT
        dense_rank() OVER (ORDER BY step) AS part,
        step AS step,
        sum(people)::BIGINT AS size
    FROM tuples_of_node
    GROUP BY step
) AS classes
LEFT JOIN refused ON classes.part = refused.part;

-- One row per quasi-identifier: what the suppressed records of a node lose beyond its steps: values,
-- lengths on the scale, and entropy in 2^-40.
CREATE OR REPLACE VIEW lost_by_suppression AS
SELECT
    left_by_steps.number,
    sum(cells.size * left_by_steps.listed::HUGEINT) AS listed,
    sum(cells.size * left_by_steps.spanned) AS spanned,
    sum(cells.size * left_by_steps.entropy) AS entropy
FROM (
    SELECT
        unnest(range(1, width + 1)) AS number,
        unnest([step]) AS cell,
        size
    FROM sizes_of_node
    WHERE size < wanted_k OR refused
) AS cells
INNER JOIN heights ON cells.number = heights.number
INNER JOIN left_by_steps
    ON cells.number = left_by_steps.number
    AND heights.height = left_by_steps.height
    AND cells.cell = left_by_steps.cell
GROUP BY left_by_steps.number
ORDER BY left_by_steps.number;

-- One row: what one quasi-identifier loses in the records of a recoded release that show a cell of it:
-- how many they are; of those whose cell stands for several values: the records, the values, the
-- lengths on the scale.
CREATE OR REPLACE VIEW lost_by_cells AS
SELECT
    coalesce(sum(cells.people), 0)::BIGINT AS shown,
    coalesce(sum(cells.people) FILTER (WHERE "values" > 1), 0)::BIGINT AS generalised,
    coalesce(sum(cells.people::HUGEINT * "values") FILTER (WHERE "values" > 1), 0)::HUGEINT
        AS listed,
    coalesce(sum(cells.people::HUGEINT * (highest - lowest)), 0)::HUGEINT AS spanned
FROM (
    SELECT
        own_cell AS cell,
        sum(people)::BIGINT AS people
    FROM done ANTI JOIN refused ON done.part = refused.part
    WHERE own_cell >= 0
    GROUP BY own_cell
) AS cells
INNER JOIN (
    SELECT
        own_step AS cell,
        count(*) AS "values",
        min(place) AS lowest,
        max(place) AS highest
    FROM steps_of
    GROUP BY own_step
) AS merged ON cells.cell = merged.cell;

-- One row per class of a node as it is released and combination of secrets: how many people have it.
-- All suppressed records look alike: they are one class, number 0.
CREATE OR REPLACE VIEW released_sides AS
SELECT
    CASE WHEN sized.size < wanted_k OR refused.part IS NOT NULL THEN 0 ELSE sides.part END AS part,
    secrets,
    sum(sides.people)::BIGINT AS people
FROM sides
INNER JOIN (
    SELECT
        part,
        sum(people)::BIGINT AS size
    FROM sides
    GROUP BY part
) AS sized ON sides.part = sized.part
LEFT JOIN refused ON sides.part = refused.part
GROUP BY ALL;

-- One row per class as it is released: its size, how many people have the most frequent value of a
-- secret, and how many values of it occur.
CREATE OR REPLACE VIEW released_blocks AS
SELECT
    part,
    sum(people)::BIGINT AS size,
    max(people)::BIGINT AS mode,
    count(*) AS "values"
FROM (
    SELECT
        part,
        secret,
        sum(people)::BIGINT AS people
    FROM released
    GROUP BY part, secret
) AS counted
GROUP BY part;

-- One row per different tuple of places: its class, and its steps in the node that is released.
CREATE OR REPLACE VIEW done_of_node AS
SELECT
    dense_rank() OVER (ORDER BY step) AS part,
    place,
    step AS step,
    sum(people)::BIGINT AS people
FROM tuples_of_node
GROUP BY place, step;

-- One row per class that has too few records, and breaks no limit on a secret.
CREATE OR REPLACE VIEW too_small AS
SELECT done.part
FROM done ANTI JOIN refused ON done.part = refused.part
GROUP BY done.part
HAVING sum(people) < wanted_k;
