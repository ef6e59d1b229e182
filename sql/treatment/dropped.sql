-- One row per record that is not kept: where it stands.
CREATE OR REPLACE VIEW dropped AS
SELECT lots.position
FROM lots ANTI JOIN winners ON lots.position = winners.position;
