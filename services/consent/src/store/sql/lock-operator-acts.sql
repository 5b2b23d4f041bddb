-- Locks the chain of the record of operators until the end of the transaction.
--
-- Indexes: none. Reads no table.
SELECT pg_advisory_xact_lock(hashtextextended('operator acts', 0));
