-- Locks a person together with an app until the transaction ends. While there is no grant yet, a row lock could not
-- prevent a second one.
--
-- Indexes: none.
-- Values:  $1 person and app, as a JSON array.
SELECT pg_advisory_xact_lock(hashtextextended($1, 0));
