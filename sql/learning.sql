-- An adversary who learns from one file and guesses a secret of the people of others: a table of the
-- most frequent values, or a classifier.

-- One row per tuple of quasi-identifiers and value of a secret in the file that is learned from: its
-- records, and the lot that decides which rows are drawn if there are too many.
CREATE OR REPLACE VIEW lessons AS
SELECT
    word,
    cells.secret AS secret,
    cells.synthetic AS records,
    md5(concat(seed, '|', [word]::VARCHAR, '|', cells.secret)) AS lot
FROM cells
WHERE cells.synthetic > 0;

-- One row per tuple of quasi-identifiers and value of a secret that people have.
CREATE OR REPLACE VIEW questions AS
SELECT
    word,
    cells.secret AS secret
FROM cells
WHERE cells.original + cells.control > 0;

-- One row per value of a secret: the people of the original and of the control who have it, and the
-- records of the file that is learned from; and all of them.
CREATE OR REPLACE VIEW bases AS
SELECT
    secret,
    original,
    control,
    records,
    sum(original) OVER ()::BIGINT AS all_original,
    sum(control) OVER ()::BIGINT AS all_control,
    sum(records) OVER ()::BIGINT AS all_records
FROM (
    SELECT
        cells.secret AS secret,
        sum(cells.original)::BIGINT AS original,
        sum(cells.control)::BIGINT AS control,
        sum(cells.synthetic)::BIGINT AS records
    FROM cells
    GROUP BY cells.secret
) AS totals;

-- One row: the people with the most frequent value of a secret among them, how many values they have,
-- and the records of the file that is learned from.
CREATE OR REPLACE VIEW prior AS
SELECT
    max(original)::BIGINT AS prior,
    count(*) FILTER (WHERE original > 0)::BIGINT AS people_values,
    sum(records)::BIGINT AS records
FROM bases;

-- One row per tuple of quasi-identifiers and value of a secret that people have: the people, and the
-- records that look like them; whether the value is a best guess of the table, and one of how many
-- (ties; 0: no record looks like them, and all usual values are guessed); the confidence in it is part
-- of whole.
CREATE OR REPLACE VIEW table_answers AS
SELECT
    word,
    verdicts.secret AS secret,
    verdicts.people AS original,
    verdicts.others AS control,
    verdicts.records AS records,
    verdicts.ties AS ties,
    verdicts.best AS best,
    CASE WHEN verdicts.records > 0 THEN verdicts.alike ELSE bases.records END AS part,
    CASE WHEN verdicts.records > 0 THEN verdicts.records ELSE bases.all_records END AS whole,
    bases.original AS base_original,
    bases.all_original AS all_original,
    bases.control AS base_control,
    bases.all_control AS all_control
FROM verdicts
INNER JOIN bases ON verdicts.secret = bases.secret
WHERE verdicts.people + verdicts.others > 0;

-- The same of a classifier, whose confidence is in 2^40 parts.
CREATE OR REPLACE VIEW classifier_answers AS
SELECT
    word,
    verdicts.secret AS secret,
    verdicts.people AS original,
    verdicts.others AS control,
    verdicts.records AS records,
    predictions.ties AS ties,
    predictions.best AS best,
    predictions.part AS part,
    1099511627776 AS whole,
    bases.original AS base_original,
    bases.all_original AS all_original,
    bases.control AS base_control,
    bases.all_control AS all_control
FROM verdicts
INNER JOIN predictions USING (word, secret)
INNER JOIN bases ON verdicts.secret = bases.secret;

-- One row per number of best guesses: the people, those who look like a record (present), about whom
-- a best guess is right (correct), about whom the adversary is certain, and right; those whose value
-- she is confident of, beyond its share among the people, by more than level in scale parts of
-- what is possible (RAPID); and the same of the control.
CREATE OR REPLACE VIEW scores AS
SELECT
    ties,
    sum(original)::BIGINT AS people,
    sum(control)::BIGINT AS control,
    coalesce(sum(original) FILTER (WHERE records > 0), 0)::BIGINT AS present,
    coalesce(sum(original) FILTER (WHERE best), 0)::BIGINT AS correct,
    coalesce(sum(original) FILTER (WHERE best AND records > 0), 0)::BIGINT AS present_correct,
    coalesce(sum(original) FILTER (WHERE part = whole), 0)::BIGINT AS certain_correct,
    coalesce(sum(original) FILTER (
        WHERE (part::HUGEINT * all_original - whole::HUGEINT * base_original) * scale
            > whole::HUGEINT * (all_original - base_original) * level
    ), 0)::BIGINT AS confident,
    coalesce(sum(control) FILTER (WHERE best), 0)::BIGINT AS control_correct,
    coalesce(sum(control) FILTER (
        WHERE (part::HUGEINT * all_control - whole::HUGEINT * base_control) * scale
            > whole::HUGEINT * (all_control - base_control) * level
    ), 0)::BIGINT AS control_confident
FROM answers
GROUP BY ties;

-- One row: the blocks of people, those of one person, and the largest share of right guesses in one.
CREATE OR REPLACE VIEW extent AS
SELECT
    count(*)::BIGINT AS blocks,
    count(*) FILTER (WHERE people = 1)::BIGINT AS singled_out,
    max(correct / (people * CASE WHEN ties = 0 THEN modal ELSE ties END)) AS worst_case
FROM (
    SELECT
        word,
        ties,
        sum(original)::BIGINT AS people,
        coalesce(sum(original) FILTER (WHERE best), 0)::BIGINT AS correct
    FROM answers
    WHERE original > 0
    GROUP BY word, ties
) AS blocks_of_people;
