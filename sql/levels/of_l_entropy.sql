-- One row per block: the entropy of its values in bits, with its sign changed.
CREATE OR REPLACE VIEW of_l_entropy AS
SELECT
    qid,
    blocks,
    members,
    size,
    logs / size - log2(size) AS score
FROM grades;
