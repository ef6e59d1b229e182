-- One row with nothing known, before the first release.
CREATE OR REPLACE VIEW told_first AS
SELECT
    0::BIGINT AS alike,
    []::BIGINT[] AS sizes,
    []::BIGINT[] AS effectives,
    []::BIGINT[] AS bests,
    0::BIGINT AS prior,
    0::BIGINT AS prior_best,
    1::BIGINT AS prior_size;
