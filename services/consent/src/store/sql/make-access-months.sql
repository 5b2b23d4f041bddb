-- Makes one of the partitions of access records that are missing. Answers 1, or 0 when none is missing.
--
-- Indexes: none. A function of the schema's owner does it.
-- Values:  $1 months ahead.
SELECT ensure_access_partitions($1::int) AS made;
