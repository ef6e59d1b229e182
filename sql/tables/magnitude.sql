-- Tables of sums: cells in which a contributor could estimate what another one contributes.

-- One row: the records, those that have the number, those whose number is below 0, the largest one,
-- and the power of two that makes every floating number whole: the smallest keeps its 53 bits.
CREATE OR REPLACE VIEW amounts AS
SELECT
    count(*) AS records,
    count(secret) AS contributors,
    count(*) FILTER (WHERE secret < 0) AS negative,
    max(secret) AS most,
    pow(2.0, greatest(53 - floor(log2(min(secret) FILTER (WHERE secret > 0))), 0)) AS scale
FROM microdata;

-- One row per cell with contributors, of whole numbers: how many there are, what they contribute
-- together, and the largest contributions in their order.
CREATE OR REPLACE VIEW sums AS
SELECT
    qid,
    count(*) AS contributors,
    sum(secret)::HUGEINT AS total,
    max(secret, asked.listed) AS largest
FROM microdata, asked
WHERE secret IS NOT NULL
GROUP BY qid;

-- One row per cell of a table of sums: its contributors, and which rules it fails. Few are fewer than
-- `small`. A cell is dominated if its `n` largest contributions are together more than the share
-- `k / k_whole` of the total. The largest one is estimable if all but the two largest are together
-- less than the share `p / p_whole` of it. A share is that of the quotient and that of the remainder,
-- so that no product needs more than 128 bits.
CREATE OR REPLACE VIEW sum_checks AS
SELECT
    qid,
    contributors,
    total,
    largest,
    contributors < asked.small AS few,
    list_sum(list_slice(largest, 1, asked.n))
        > asked.k * (total // asked.k_whole) + (asked.k * (total % asked.k_whole)) // asked.k_whole
    AS dominated,
    total - list_sum(list_slice(largest, 1, 2))
        < asked.p * (largest[1] // asked.p_whole)
        + (asked.p * (largest[1] % asked.p_whole) + asked.p_whole - 1) // asked.p_whole
    AS estimable
FROM sums, asked;

-- One row: the cells of a table of sums, its contributors, cells with one or two of them, cells with
-- few, cells that fail either rule, both rules together, or any of the three.
CREATE OR REPLACE VIEW sum_failures AS
SELECT
    count(*) AS cells,
    coalesce(sum(contributors), 0)::BIGINT AS contributors,
    count(*) FILTER (WHERE contributors <= 2) AS one_or_two,
    count(*) FILTER (WHERE few) AS small,
    count(*) FILTER (WHERE dominated) AS dominated,
    count(*) FILTER (WHERE estimable) AS p_percent,
    count(*) FILTER (WHERE dominated OR estimable) AS either,
    count(*) FILTER (WHERE few OR dominated OR estimable) AS failing
FROM sum_checks;

-- One row per cell that fails a rule, and so is hidden: its contributors, their sum, and the largest
-- contributions in their order.
CREATE OR REPLACE VIEW hidden_sums AS
SELECT
    qid,
    contributors,
    total,
    largest
FROM sum_checks
WHERE few OR dominated OR estimable;
