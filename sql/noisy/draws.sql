-- Noisy knowledge: people who are drawn, and what happens to be known of them.

-- One row per drawn person: a combination, drawn by its weight, whatever the order of the records.
CREATE OR REPLACE VIEW drawn AS
SELECT
    lots.draw,
    ranked.exact,
    ranked.place
FROM (
    SELECT
        draw,
        (md5_number(concat(seed, '|person|', draw)) % everybody::UHUGEINT)::HUGEINT AS lot
    FROM (SELECT unnest(range(1, draws + 1)) AS draw) AS numbers
) AS lots
ASOF JOIN (
    SELECT
        exact,
        place,
        sum(weight) OVER (ORDER BY exact, place) - weight AS below
    FROM coded
) AS ranked ON lots.lot >= ranked.below;

-- One row per drawn person: what happens to be known of one quasi-identifier.
CREATE OR REPLACE VIEW drawn_known AS
SELECT
    lots.draw,
    steps.known
FROM (
    SELECT
        draw,
        own,
        (md5_number(concat(seed, '|', number_of_qid, '|', draw)) % whole_weight::UHUGEINT)::HUGEINT
            AS lot
    FROM drawn
) AS lots
ASOF JOIN (
    SELECT
        code,
        known,
        sum(weight) OVER (PARTITION BY code ORDER BY known) - weight AS below
    FROM law
) AS steps ON lots.own = steps.code AND lots.lot >= steps.below;

-- One row per drawn person: what happens to be known of one quasi-identifier, whose value may be
-- mistaken for any other.
CREATE OR REPLACE VIEW drawn_mistaken AS
SELECT
    lots.draw,
    CASE WHEN lots.spot IS NULL THEN lots.own ELSE ranked.code END AS known
FROM (
    SELECT
        draw,
        own,
        CASE
            WHEN lot < same THEN NULL
            WHEN (lot - same) // other < below THEN (lot - same) // other
            ELSE (lot - same) // other + frequency
        END AS spot
    FROM (
        SELECT
            drawn.draw,
            drawn.own,
            ranked.same,
            ranked.other,
            ranked.frequency,
            ranked.below,
            (
                md5_number(concat(seed, '|', number_of_qid, '|', drawn.draw))
                % whole_weight::UHUGEINT
            )::HUGEINT AS lot
        FROM drawn
        JOIN (
            SELECT
                code,
                same,
                other,
                frequency,
                sum(frequency) OVER (ORDER BY code) - frequency AS below
            FROM law
        ) AS ranked ON ranked.code = drawn.own
    ) AS drawn_lots
) AS lots
ASOF JOIN (
    SELECT
        code,
        sum(frequency) OVER (ORDER BY code) - frequency AS below
    FROM law
) AS ranked ON coalesce(lots.spot, 0::HUGEINT) >= ranked.below;

-- One row per drawn person: the chance of the best guess, and whether it is certain.
CREATE OR REPLACE VIEW chances AS
SELECT
    draw,
    best::DOUBLE / total::DOUBLE AS chance,
    (possible = 1)::BIGINT AS certain
FROM weighed;

-- One row: how many people were drawn, the sum of the chances of the best guesses and that of their
-- squares (in parts of 2 to the power of -60), and how many of them are certain.
CREATE OR REPLACE VIEW estimate AS
SELECT
    count(*) AS draws,
    sum((chance * pow(2, 60))::HUGEINT) AS chances,
    sum((chance * chance * pow(2, 60))::HUGEINT) AS squares,
    sum(certain)::BIGINT AS certain
FROM chances;
