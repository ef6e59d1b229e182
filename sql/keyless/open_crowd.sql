-- One row per observation of the focal release that is not settled and kind of record.
CREATE OR REPLACE VIEW open_crowd AS
SELECT *
FROM crowd
ANTI JOIN settled ON settled.first_sight = crowd.first_sight;
