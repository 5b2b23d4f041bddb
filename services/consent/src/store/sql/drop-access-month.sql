-- Drops the partitions of the oldest month, if it ended before the days to keep, and answers its name.
--
-- Indexes: none. A function of the schema's owner does it.
-- Values:  $1 days to keep.
SELECT dropped.name
FROM drop_access_partitions($1::int) AS dropped(name);
