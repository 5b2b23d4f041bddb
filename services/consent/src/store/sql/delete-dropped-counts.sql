-- Deletes some of the counts of dropped months, and answers the day to begin with next time; null at the end.
--
-- Indexes: none. A function of the schema's owner does it.
-- Values:  $1 day to begin with.
SELECT delete_dropped_counts($1::date)::text AS next;
