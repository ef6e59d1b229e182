-- One row per record: the different person that it is of.
CREATE OR REPLACE VIEW whose AS
SELECT
    coded.record,
    different.person AS target
FROM coded JOIN different USING (place, secrets);
