-- The walk's words. A block's key is its number, then its state. A state has two bits for each of
-- the n quasi-identifiers: whether people may still choose to know it (undecided), and whether its
-- value is one for the whole block (known). So it is one of four:
--   open     undecided, not known: it varies in the block
--   free     undecided and known: taking it or dropping it gives the same block
--   taken    decided and known
--   dropped  decided and not known
-- Where the values of a secret are counted one by one, rest ends with the person's: others of her
-- block share it, or it is all ones, and how many people have a value of their own is counted.
CREATE OR REPLACE TEMP MACRO undecided(state) AS (state & getvariable('every'));
CREATE OR REPLACE TEMP MACRO known(state) AS ((state >> getvariable('n')) & getvariable('every'));
CREATE OR REPLACE TEMP MACRO open(state) AS (undecided(state) & ~(state >> getvariable('n')));
CREATE OR REPLACE TEMP MACRO taken_of(state) AS (known(state) & ~state);
CREATE OR REPLACE TEMP MACRO joined(known, undecided) AS ((known << getvariable('n')) | undecided);
CREATE OR REPLACE TEMP MACRO keyed(block, state) AS (block * getvariable('states') + state);
CREATE OR REPLACE TEMP MACRO state_of(block) AS (block & getvariable('whole_state'))::BIGINT;
CREATE OR REPLACE TEMP MACRO people(word) AS (word & getvariable('of_people'))::BIGINT;
CREATE OR REPLACE TEMP MACRO drop_open(state) AS xor(state, open(state));
CREATE OR REPLACE TEMP MACRO take(state, chosen) AS
    (drop_open(state) | ((open(state) & chosen) << getvariable('n')));
CREATE OR REPLACE TEMP MACRO took(state, varying) AS joined(
    known(state) | getvariable('bit') | (undecided(state) & ~getvariable('bit') & ~varying),
    undecided(state) & ~getvariable('bit')
);
CREATE OR REPLACE TEMP MACRO within_sizes(state) AS
    CASE WHEN bit_count(taken_of(state)) < getvariable('most') THEN state ELSE drop_open(state) END;
CREATE OR REPLACE TEMP MACRO turn(state) AS (
    (open(state) & -open(state))::INTEGER | (least(bit_count(open(state)), 3)::INTEGER << 28)
);
CREATE OR REPLACE TEMP MACRO shared(rest) AS
    ((rest & getvariable('secret')) <> getvariable('secret'));
CREATE OR REPLACE TEMP MACRO mode_of(rest, people) AS CASE WHEN shared(rest) THEN people ELSE 1 END;
CREATE OR REPLACE TEMP MACRO values_of(rest, people) AS CASE WHEN shared(rest) THEN 1 ELSE people END;
CREATE OR REPLACE TEMP MACRO dropped(state) AS (getvariable('every') & ~(known(state) | state));
CREATE OR REPLACE TEMP MACRO may_drop(state) AS
    (getvariable('spare') >= getvariable('n') - 1 OR bit_count(dropped(state)) < getvariable('spare'));
