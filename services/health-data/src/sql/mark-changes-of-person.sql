-- As mark-changes.sql, of one person.
--
-- Indexes: reading_change_pkey.
-- Values:  $1 user, $2 numbers, $3 whether they are now reported, $4 how long they are claimed, or null.
UPDATE reading_change
SET reported = reported OR $3, claimed_until = statement_timestamp() + $4::interval
WHERE user_id = $1 AND number = ANY($2::bigint[]);
