-- One row, if there is such an observation: its number.
CREATE OR REPLACE VIEW sighted AS
SELECT sights.number
FROM sights
JOIN wanted ON wanted.observed IS NOT DISTINCT FROM sights.observed;
