-- One row: how many whole numbers there are from the least value of the useful attribute to the
-- greatest.
CREATE OR REPLACE VIEW span AS
SELECT (max(useful)::HUGEINT - min(useful)::HUGEINT + 1)::HUGEINT AS numbers
FROM joint;
