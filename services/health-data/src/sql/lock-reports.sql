-- Whether this transaction is the only one that claims changes; if so, until it ends.
--
-- Indexes: none.
SELECT pg_try_advisory_xact_lock(hashtextextended('health-data change reports', 0)) AS alone;
