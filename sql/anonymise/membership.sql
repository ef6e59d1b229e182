-- One row per record: its position, and its class.
CREATE OR REPLACE VIEW membership AS
SELECT
    record,
    part
FROM coded JOIN done USING (place);
