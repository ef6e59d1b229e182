-- One row per value and value that may follow it in the next release.
CREATE OR REPLACE VIEW known_transitions AS
SELECT
    before,
    after,
    probability
FROM transitions
WHERE probability > 0;
