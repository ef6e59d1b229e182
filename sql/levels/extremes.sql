-- One row: the fewest values in a block.
CREATE OR REPLACE VIEW extremes AS
SELECT min("values") AS fewest
FROM grades;
