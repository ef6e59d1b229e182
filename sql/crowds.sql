-- One row per block when no secret is asked about: how many people stand in it, and the chance
-- to tell whose record is whose.
CREATE OR REPLACE VIEW crowds AS
SELECT
    qid,
    size,
    heaviest / weight AS owner_success
FROM blocks;
