-- Links one to one: people compete for records.

-- One row per kind that hears messages and part: the sum of this part as a whole number, and the sum
-- of all other parts.
CREATE OR REPLACE VIEW heard AS
SELECT
    sums.receiver,
    sums.part,
    any_value(sums.total) AS total,
    coalesce(
        sum(others.total::DOUBLE * 2.0::DOUBLE ** (40 * others.part - 50) ORDER BY others.part)
        FILTER (WHERE others.part <> sums.part),
        0.0::DOUBLE
    ) AS elsewhere
FROM sums
JOIN sums AS others ON others.receiver = sums.receiver
GROUP BY sums.receiver, sums.part;

-- One row per kind of record and kind of candidates for it: how likely a pair of them is one person,
-- against the person having left and the record being of somebody new.
CREATE OR REPLACE VIEW odds AS
SELECT
    exact,
    kind,
    other,
    least(
        greatest(flows.odds * (likelihood / background), 2.0::DOUBLE ** -300), 2.0::DOUBLE ** 900
    ) AS odds
FROM linked
CROSS JOIN flows
WHERE likelihood > 0;

-- One row per kind of record with candidates: what must match exactly, how many records are of the
-- kind.
CREATE OR REPLACE VIEW claimants AS
SELECT
    mine.kind,
    mine.exact,
    mine.records
FROM mine
SEMI JOIN odds ON odds.kind = mine.kind;

-- One row per tuple of exactly matching columns with candidates: how many records have candidates
-- there, whether they are more than the candidates (crowded), whether there are fewer pairs than
-- records of both releases, as where pairs form no cycle (sparse).
CREATE OR REPLACE VIEW rivalry AS
SELECT
    claiming.exact,
    claiming.records,
    claiming.records > claimed.records AS crowded,
    paired.pairs < claiming.records + claimed.records AS sparse
FROM (SELECT exact, sum(records)::BIGINT AS records FROM claimants GROUP BY exact) AS claiming
JOIN (
    SELECT
        odds.exact,
        sum(claimants.records::HUGEINT * candidates.records) AS pairs
    FROM odds
    JOIN claimants ON claimants.kind = odds.kind
    JOIN candidates ON candidates.kind = odds.other
    GROUP BY odds.exact
) AS paired ON paired.exact = claiming.exact
JOIN (
    SELECT
        candidates.exact,
        sum(candidates.records)::BIGINT AS records
    FROM candidates
    SEMI JOIN odds ON odds.other = candidates.kind
    GROUP BY candidates.exact
) AS claimed ON claimed.exact = claiming.exact;

-- One row per kind of record and kind of candidates for it: the odds of one pair of them, and what a
-- candidate offers the record before anybody is heard: the odds, or next to nothing where more
-- records claim candidates than there are.
CREATE OR REPLACE VIEW offers AS
SELECT
    odds.exact,
    odds.kind,
    odds.other,
    odds.odds,
    0.0::DOUBLE AS former,
    0.0::DOUBLE AS chance,
    CASE WHEN rivalry.crowded THEN least(1.0::DOUBLE, odds.odds) ELSE odds.odds END AS message
FROM odds
JOIN rivalry ON rivalry.exact = odds.exact;

-- One row per kind of record and part: all that its candidates offer it, as a whole number.
CREATE OR REPLACE VIEW sought AS
SELECT
    offers.kind AS receiver,
    offers.part,
    sum(offers.whole * candidates.records) AS total
FROM offers
JOIN candidates ON candidates.kind = offers.other
GROUP BY offers.kind, offers.part;

-- One row per kind of record and kind of candidates for it: how strongly one of these records claims
-- one of the candidates, against all else that it may be, and the chance that it is, now and before.
CREATE OR REPLACE VIEW claims AS
SELECT
    offers.exact,
    offers.kind,
    offers.other,
    offers.odds,
    offers.former,
    offers.message AS offer,
    offers.chance AS before,
    offers.message
    / (1 + heard.elsewhere + heard.total::DOUBLE * 2.0::DOUBLE ** (40 * heard.part - 50)) AS chance,
    offers.odds
    / (
        1 + heard.elsewhere
        + (heard.total - offers.whole)::DOUBLE * 2.0::DOUBLE ** (40 * heard.part - 50)
    ) AS message
FROM offers
JOIN heard ON heard.receiver = offers.kind AND heard.part = offers.part;

-- One row per kind of candidates and part: all that is claimed of one of them, as a whole number.
CREATE OR REPLACE VIEW claimed AS
SELECT
    claims.other AS receiver,
    claims.part,
    sum(claims.whole * mine.records) AS total
FROM claims
JOIN mine ON mine.kind = claims.kind
GROUP BY claims.other, claims.part;

-- One row per message, with the message as a whole number: of 2^(40 part - 50), so that parts from
-- 2^(40 part) to 2^(40 part + 40) keep 50 bits of the least of them, and sums are of no order.
CREATE OR REPLACE VIEW wholes AS
SELECT
    *,
    (message * 2.0::DOUBLE ** (50 - 40 * part))::HUGEINT AS whole
FROM (
    SELECT
        *,
        greatest(-1, floor(log2(message) / 40))::INTEGER AS part
    FROM messages
) AS sorted;

-- One row per kind of record with candidates: the largest offer, and the weight of being in no later
-- release where the best candidate weighs 1; 0 where that is impossible.
CREATE OR REPLACE VIEW leavers AS
SELECT
    kind,
    max(message) AS best,
    CASE WHEN 1 / max(message) < any_value(flows.impossible) THEN 0.0::DOUBLE ELSE 1 / max(message) END
        AS nobody
FROM gathered
CROSS JOIN flows
GROUP BY kind;

-- One row per kind of record and kind of candidates for it that is possible: the weight of one pair
-- of them, as a whole number of 2^-80 where the best candidate weighs 1.
CREATE OR REPLACE VIEW final_offers AS
SELECT
    gathered.kind,
    gathered.other,
    greatest(
        1::HUGEINT, (gathered.message / leavers.best * 2.0::DOUBLE ** 80)::HUGEINT
    ) AS weight
FROM gathered
JOIN leavers ON leavers.kind = gathered.kind
CROSS JOIN flows
WHERE gathered.message / leavers.best >= flows.impossible;

-- One row per kind of record that has candidates, as in totals, with the chance that one of them is
-- the same person, once all that claim them are heard.
CREATE OR REPLACE VIEW found AS
SELECT
    totals.kind,
    totals.total,
    totals.heaviest,
    totals.spots,
    totals.total::DOUBLE
    / (totals.total::DOUBLE + leavers.nobody * 2.0::DOUBLE ** 80) AS presence,
    leavers.nobody * 2.0::DOUBLE ** 80
    / (totals.total::DOUBLE + leavers.nobody * 2.0::DOUBLE ** 80) AS absence
FROM totals
JOIN leavers ON leavers.kind = totals.kind;

-- One row per tuple of exactly matching columns whose records have not settled: in a round their
-- chances moved by more than a ten-thousandth per record or, where pairs may form no cycle and
-- messages come to an end, an offer moved by more than a trillionth of itself.
CREATE OR REPLACE VIEW restless AS
SELECT moving.exact
FROM (
    SELECT
        claims.exact,
        max(abs(claims.offer - claims.former) / claims.offer) AS stirred,
        sum(
            (abs(claims.chance - claims.before) * 1152921504606846976::DOUBLE)::HUGEINT
            * mine.records * candidates.records
        ) AS moved
    FROM claims
    JOIN mine ON mine.kind = claims.kind
    JOIN candidates ON candidates.kind = claims.other
    GROUP BY claims.exact
) AS moving
JOIN rivalry ON rivalry.exact = moving.exact
WHERE CASE
    WHEN rivalry.sparse THEN moving.stirred > 1e-12
    ELSE moving.moved * 10000 > rivalry.records * 1152921504606846976::HUGEINT
END;

-- One row per kind of record that has settled and kind of candidates for it: what one of them offers.
CREATE OR REPLACE VIEW settled_offers AS
SELECT
    kind,
    other,
    message
FROM offers
ANTI JOIN restless ON restless.exact = offers.exact;

-- One row per kind of record that is restless and kind of candidates for it: what the candidate
-- offers the record when all others who claim it are heard, and what it offered before.
CREATE OR REPLACE VIEW answers AS
SELECT
    claims.exact,
    claims.kind,
    claims.other,
    claims.odds,
    claims.offer AS former,
    claims.chance,
    claims.odds
    / (
        1 + heard.elsewhere
        + (heard.total - claims.whole)::DOUBLE * 2.0::DOUBLE ** (40 * heard.part - 50)
    ) AS message
FROM claims
JOIN restless ON restless.exact = claims.exact
JOIN heard ON heard.receiver = claims.other AND heard.part = claims.part;
