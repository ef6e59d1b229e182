-- One row: how many people would be looked at who have the rarest known point of a draw.
CREATE OR REPLACE VIEW suspects AS
SELECT coalesce(sum(owners), 0)::BIGINT AS suspects
FROM rarest;
