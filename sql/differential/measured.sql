-- One row per question and quasi-identifier not tried yet that is worth cutting: how wide it is
-- without the target, on the scale of its tree.
CREATE OR REPLACE VIEW measured AS
SELECT
    asked.node,
    asked.target,
    asked.attribute,
    asked.own,
    coalesce(upper_end.spot, asked.last) - coalesce(lower_end.spot, asked.first) AS width,
    asked.size,
    asked.cuts,
    asked.belows
FROM (
    SELECT
        items.node,
        items.target,
        items.root,
        marks.attribute,
        list_extract(targets.spots, marks.attribute) AS own,
        CASE
            WHEN list_extract(targets.spots, marks.attribute) = marks.least AND marks.least_people = 1
            THEN coalesce(marks.second_least, marks.least)
            ELSE marks.least
        END AS first,
        CASE
            WHEN list_extract(targets.spots, marks.attribute) = marks.greatest AND marks.greatest_people = 1
            THEN coalesce(marks.second_greatest, marks.greatest)
            ELSE marks.greatest
        END AS last,
        marks.size - (items.target > 0)::BIGINT AS size,
        marks.cuts,
        marks.belows
    FROM items
    JOIN marks ON items.node = marks.node AND (items.tried >> (marks.attribute - 1)) & 1 = 0
    LEFT JOIN targets ON items.target = targets.target
) AS asked
LEFT JOIN own_scale AS lower_end
    ON asked.root = lower_end.root AND asked.attribute = lower_end.attribute
    AND asked.first = lower_end.spot_of_all
LEFT JOIN own_scale AS upper_end
    ON asked.root = upper_end.root AND asked.attribute = upper_end.attribute
    AND asked.last = upper_end.spot_of_all
WHERE asked.last > asked.first;
