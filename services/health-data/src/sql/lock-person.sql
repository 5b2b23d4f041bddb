-- Takes the exclusive lock on the writes of a person until the transaction ends.
--
-- Indexes: none.
-- Values:  $1 user.
SELECT pg_advisory_xact_lock(hashtextextended('health-data ' || $1, 0));
