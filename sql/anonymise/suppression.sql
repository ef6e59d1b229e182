-- Local suppression: which cells are suppressed, so that every group of equal cells has k records and as few
-- cells as possible are lost? A class whose records are too few is rare; others may lend it records.

-- One row per set of quasi-identifiers whose cells can be suppressed together: a number with a bit for each of
-- them, and how many they are.
CREATE OR REPLACE VIEW masks AS
SELECT
    mask,
    bit_count(mask)::BIGINT AS cells
FROM range(wanted_first, wanted_masks) AS numbers (mask)
WHERE (mask & fixed_bits) = 0;

-- One row per class: its steps, its records, and whether it is to be placed in a group of cells that it shares
-- with others; a class that is not may lend records.
CREATE OR REPLACE VIEW kinds AS
SELECT
    part,
    step,
    sum(people)::BIGINT AS people,
    sum(people) < wanted_least AS placed
FROM done
GROUP BY part, step;

-- One row per class and mask: the cells that its records show when those of the mask are suppressed (-1).
CREATE OR REPLACE VIEW guises AS
SELECT
    kinds.part,
    masks.mask,
    masks.cells,
    CASE WHEN (masks.mask >> (number - 1)) % 2 = 1 THEN -1 ELSE kinds.step END AS step,
    kinds.people,
    kinds.placed
FROM kinds
CROSS JOIN masks;

-- One row per group of equal cells that can have enough records: how many of its cells are suppressed, the
-- records of the classes to place that fit it, and how many records one of the other classes that fit could
-- lend; -1 if none fits.
CREATE OR REPLACE VIEW cell_groups AS
SELECT
    row_number() OVER (ORDER BY cells, mask, step) AS number_of_group,
    mask,
    cells,
    step,
    people,
    spare
FROM (
    SELECT
        mask,
        cells,
        step,
        coalesce(sum(people) FILTER (WHERE placed), 0)::BIGINT AS people,
        coalesce(max(people) FILTER (WHERE NOT placed) - wanted_k, -1)::BIGINT AS spare
    FROM guises
    GROUP BY mask, cells, step
) AS met
WHERE people > 0 AND (people >= wanted_k OR spare >= 0);

-- One row per class to place and group that it fits.
CREATE OR REPLACE VIEW choices AS
SELECT
    guises.part,
    cell_groups.number_of_group,
    guises.people
FROM guises
INNER JOIN cell_groups USING (mask, step)
WHERE guises.placed;

-- One row per group and class that can lend it records: of each group the three largest.
CREATE OR REPLACE VIEW lenders AS
SELECT
    number_of_group,
    part
FROM (
    SELECT
        cell_groups.number_of_group,
        guises.part,
        row_number() OVER (PARTITION BY cell_groups.number_of_group ORDER BY guises.people DESC, guises.part) AS place_in_line
    FROM guises
    INNER JOIN cell_groups USING (mask, step)
    WHERE NOT guises.placed
) AS lined_up
WHERE place_in_line <= 3;

-- One row per group of which a class could lend records: the class with the most to spare, and how many.
CREATE OR REPLACE VIEW best_lenders AS
SELECT
    number_of_group,
    arg_min(part, (-spare, part)) AS part,
    max(spare) AS spare
FROM (
    SELECT
        lenders.number_of_group,
        lenders.part,
        kinds.people - wanted_k - coalesce(lent.people, 0) AS spare
    FROM lenders
    INNER JOIN kinds ON lenders.part = kinds.part
    LEFT JOIN (SELECT part, sum(people)::BIGINT AS people FROM loans GROUP BY part) AS lent ON lenders.part = lent.part
) AS spared
GROUP BY number_of_group;

-- One row per group that classes without a place can still form or join: its records if all of them do, and the
-- cells that this costs for each of these records, in 2^-20.
CREATE OR REPLACE VIEW offers AS
SELECT
    sums.number_of_group,
    sums.people,
    filled.number_of_group IS NOT NULL AS filled,
    CASE
        WHEN filled.number_of_group IS NOT NULL THEN cell_groups.cells * 1048576
        ELSE cell_groups.cells * greatest(sums.people, wanted_k) * 1048576 // sums.people
    END AS charge
FROM (
    SELECT
        choices.number_of_group,
        sum(choices.people)::BIGINT AS people
    FROM choices SEMI JOIN unplaced ON choices.part = unplaced.part
    GROUP BY choices.number_of_group
) AS sums
INNER JOIN cell_groups ON sums.number_of_group = cell_groups.number_of_group
LEFT JOIN (SELECT DISTINCT number_of_group FROM placements) AS filled ON sums.number_of_group = filled.number_of_group
LEFT JOIN best_lenders ON sums.number_of_group = best_lenders.number_of_group
WHERE
    filled.number_of_group IS NOT NULL
    OR sums.people + coalesce(greatest(best_lenders.spare, 0), 0) >= wanted_k;

-- One row per class without a place: the group that costs the fewest cells for each record.
CREATE OR REPLACE VIEW picks AS
SELECT
    choices.part,
    arg_min(choices.number_of_group, (offers.charge, choices.number_of_group)) AS number_of_group,
    any_value(choices.people) AS people
FROM choices
SEMI JOIN unplaced ON choices.part = unplaced.part
INNER JOIN offers ON choices.number_of_group = offers.number_of_group
GROUP BY choices.part;

-- One row per group that its classes may form now, because all that could join do, or because these are enough:
-- how many records it needs beside theirs.
CREATE OR REPLACE VIEW needs AS
SELECT
    offers.number_of_group,
    offers.charge,
    CASE WHEN offers.filled THEN 0 ELSE greatest(wanted_k - sums.people, 0) END AS need
FROM (
    SELECT
        number_of_group,
        sum(people)::BIGINT AS people
    FROM picks
    GROUP BY number_of_group
) AS sums
INNER JOIN offers ON sums.number_of_group = offers.number_of_group
WHERE offers.filled OR sums.people >= wanted_k OR sums.people = offers.people;

-- One row per group of placed records that are too few, and have no loan: how many records it needs.
CREATE OR REPLACE VIEW needs_of_placements AS
SELECT
    sums.number_of_group,
    0 AS charge,
    wanted_k - sums.people AS need
FROM (
    SELECT
        number_of_group,
        sum(people)::BIGINT AS people
    FROM placements
    GROUP BY number_of_group
) AS sums
ANTI JOIN loans ON sums.number_of_group = loans.number_of_group
WHERE sums.people < wanted_k;

-- One row per group whose need is met: the class that lends, and how many records. A class lends to one group
-- after the other, as long as it has records to spare.
CREATE OR REPLACE VIEW grants AS
SELECT
    number_of_group,
    part,
    need AS people
FROM (
    SELECT
        needs.number_of_group,
        best_lenders.part,
        best_lenders.spare,
        needs.need,
        sum(needs.need) OVER (PARTITION BY best_lenders.part ORDER BY needs.charge, needs.number_of_group) AS upto
    FROM needs
    LEFT JOIN best_lenders ON needs.number_of_group = best_lenders.number_of_group
) AS lined_up
WHERE need = 0 OR upto <= spare;

-- One row per class that gets its place now.
CREATE OR REPLACE VIEW new_placements AS
SELECT
    picks.part,
    picks.number_of_group,
    picks.people
FROM picks SEMI JOIN grants ON picks.number_of_group = grants.number_of_group;

-- One row per loan that is made now.
CREATE OR REPLACE VIEW new_loans AS
SELECT
    part,
    number_of_group,
    people
FROM grants
WHERE people > 0;

-- One row per class that still has no place.
CREATE OR REPLACE VIEW still_unplaced AS
SELECT
    unplaced.part,
    unplaced.people
FROM unplaced ANTI JOIN placements ON unplaced.part = placements.part;

-- One row per class without a place: it shows nothing, in the group whose cells are all suppressed.
CREATE OR REPLACE VIEW hidden_placements AS
SELECT
    unplaced.part,
    hidden.number_of_group,
    unplaced.people
FROM unplaced
CROSS JOIN (SELECT max(number_of_group) AS number_of_group FROM cell_groups) AS hidden;

-- One row per class to place: its number and its records.
CREATE OR REPLACE VIEW all_unplaced AS
SELECT
    part,
    people
FROM kinds
WHERE placed;

-- One row per loan that is necessary after all classes have a place.
CREATE OR REPLACE VIEW necessary_loans AS
SELECT
    loans.part,
    loans.number_of_group,
    wanted_k - sums.people AS people
FROM loans
INNER JOIN (
    SELECT
        number_of_group,
        sum(people)::BIGINT AS people
    FROM placements
    GROUP BY number_of_group
) AS sums ON loans.number_of_group = sums.number_of_group
WHERE sums.people < wanted_k;

-- One row: a lower bound on the cells of any release, in 2^-20. A record of a rare class shares its cells with
-- others, and the lent ones among these are counted for the rare ones.
CREATE OR REPLACE VIEW least_cells AS
SELECT coalesce(sum(cells), 0)::HUGEINT AS cells
FROM (
    SELECT
        min(choices.people * cell_groups.cells * greatest(cell_groups.people, wanted_k) * 1048576 // cell_groups.people)::HUGEINT AS cells
    FROM choices
    INNER JOIN cell_groups ON choices.number_of_group = cell_groups.number_of_group
    GROUP BY choices.part
) AS least;

-- One row per class and cells that some of its records show: how many do.
CREATE OR REPLACE VIEW shares AS
SELECT
    shown.part,
    step,
    shown.people
FROM (
    SELECT
        moved.part,
        cell_groups.step,
        moved.people
    FROM (
        SELECT part, number_of_group, people FROM placements
        UNION ALL
        SELECT part, number_of_group, people FROM loans
    ) AS moved
    INNER JOIN cell_groups ON moved.number_of_group = cell_groups.number_of_group
    UNION ALL
    SELECT
        kinds.part,
        kinds.step,
        kinds.people - coalesce(lent.people, 0) AS people
    FROM kinds
    LEFT JOIN (SELECT part, sum(people)::BIGINT AS people FROM loans GROUP BY part) AS lent ON kinds.part = lent.part
    WHERE NOT kinds.placed
) AS shown;

-- One row per class and cells that some of its records show, after the records of one more group show nothing:
-- of that which costs the fewest cells, so that those who already show nothing are enough.
CREATE OR REPLACE VIEW shares_with_one_hidden AS
SELECT
    shares.part,
    CASE WHEN chosen.rank_of_group = 1 AND (fixed_bits >> (number - 1)) % 2 = 0 THEN -1 ELSE shares.step END AS step,
    sum(shares.people)::BIGINT AS people
FROM shares
INNER JOIN (
    SELECT
        step,
        row_number() OVER (ORDER BY cells = 0, people * cells, step) AS rank_of_group
    FROM (
        SELECT
            step,
            sum(people)::BIGINT AS people,
            added([CASE WHEN step >= 0 AND (fixed_bits >> (number - 1)) % 2 = 0 THEN 1 ELSE 0 END]) AS cells
        FROM shares
        GROUP BY step
    ) AS sized
) AS chosen USING (step)
GROUP BY ALL;

-- One row: the cells that are suppressed, the records of the smallest group of equal cells, and those that show
-- nothing.
CREATE OR REPLACE VIEW cost_of_shares AS
SELECT
    coalesce(sum(people * cells), 0)::BIGINT AS cells,
    min(people) AS smallest
FROM (
    SELECT
        step,
        sum(people)::BIGINT AS people,
        added([CASE WHEN step < 0 THEN 1 ELSE 0 END]) AS cells
    FROM shares
    GROUP BY step
) AS sized;

-- One row per class whose records do not all show the same cells: which cells those from one place in line to
-- another show.
CREATE OR REPLACE VIEW lines AS
SELECT
    part,
    step,
    upto - people AS first,
    upto AS last
FROM (
    SELECT
        part,
        step,
        people,
        sum(people) OVER (PARTITION BY part ORDER BY step ROWS UNBOUNDED PRECEDING) AS upto,
        count(*) OVER (PARTITION BY part) AS shares
    FROM shares
) AS added_up
WHERE shares > 1;

-- One row per record of such a class: the cells that it shows. Lots decide, which depend on what is in a record
-- and not on where it stands.
CREATE OR REPLACE VIEW drawn_records AS
SELECT
    queue.record,
    queue.place,
    lines.step
FROM (
    SELECT
        coded.record,
        coded.place,
        done.part,
        row_number() OVER (PARTITION BY done.part ORDER BY md5(told.record), coded.record) AS turn
    FROM coded
    INNER JOIN done USING (place)
    INNER JOIN told ON coded.record = told.position
    SEMI JOIN lines ON done.part = lines.part
) AS queue
INNER JOIN lines ON queue.part = lines.part AND queue.turn > lines.first AND queue.turn <= lines.last;

-- One row per tuple of places and cells that some of its records show: the class of these cells, and how many
-- records; whether these are not all of the tuple.
CREATE OR REPLACE VIEW done_of_shares AS
SELECT
    dense_rank() OVER (ORDER BY step) AS part,
    place,
    step,
    drawn,
    people
FROM (
    SELECT
        done.place,
        shares.step,
        FALSE AS drawn,
        done.people
    FROM done
    INNER JOIN shares ON done.part = shares.part
    ANTI JOIN lines ON done.part = lines.part
    UNION ALL
    SELECT
        place,
        step,
        TRUE AS drawn,
        count(*) AS people
    FROM drawn_records
    GROUP BY place, step
) AS shown;

-- One row per record: its position, and its class.
CREATE OR REPLACE VIEW membership_of_shares AS
SELECT
    record,
    part
FROM (
    SELECT
        coded.record,
        done.part
    FROM coded
    INNER JOIN done USING (place)
    WHERE NOT done.drawn
    UNION ALL
    SELECT
        drawn_records.record,
        done.part
    FROM drawn_records
    INNER JOIN done USING (place, step)
    WHERE done.drawn
) AS shown;

-- One row per group of records that show nothing of the quasi-identifiers that can be suppressed.
CREATE OR REPLACE VIEW shows_nothing AS
SELECT DISTINCT part
FROM done
WHERE each(step = -1 OR (fixed_bits >> (number - 1)) % 2 = 1);
