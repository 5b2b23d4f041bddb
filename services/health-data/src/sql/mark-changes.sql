-- Marks changes as reported, or as claimed for some time.
--
-- Indexes: reading_change_pkey.
-- Values:  $1 and $2 changes: user, number, $3 whether they are now reported, $4 how long they are claimed, or null.
UPDATE reading_change AS change
SET reported = reported OR $3, claimed_until = statement_timestamp() + $4::interval
FROM unnest($1::text[], $2::bigint[]) AS taken(user_id, number)
WHERE change.user_id = taken.user_id AND change.number = taken.number;
