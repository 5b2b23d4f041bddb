-- Prevents the erasure of a person until the transaction ends: a shared lock, taken before any row lock.
--
-- Indexes: none.
-- Values:  $1 person.
SELECT pg_advisory_xact_lock_shared(hashtextextended('person ' || $1, 0));
