-- Takes the exclusive lock on a person until the transaction ends. It waits for share-person.sql, and keeps it waiting.
--
-- Indexes: none.
-- Values:  $1 person.
SELECT pg_advisory_xact_lock(hashtextextended('person ' || $1, 0));
