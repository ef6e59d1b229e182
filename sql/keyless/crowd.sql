-- One row per observation of the focal release and kind of record: how many records.
CREATE OR REPLACE VIEW crowd AS
SELECT
    sight AS first_sight,
    kind,
    count(*) AS records
FROM placed
GROUP BY sight, kind;
