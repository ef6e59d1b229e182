-- What one release alone tells of a person.

-- One row, if there is such an observation: its number.
CREATE OR REPLACE VIEW sighted AS
SELECT sights.number
FROM sights
JOIN wanted ON wanted.observed IS NOT DISTINCT FROM sights.observed;

-- One row: how many records the focal release has, of the most frequent secret, and how many
-- secrets there are.
CREATE OR REPLACE VIEW secret_counts AS
SELECT
    coalesce(sum(records), 0)::BIGINT AS records,
    max(records) AS most,
    count(*) AS secrets
FROM (SELECT secret, count(*) AS records FROM placed GROUP BY secret) AS counted;
