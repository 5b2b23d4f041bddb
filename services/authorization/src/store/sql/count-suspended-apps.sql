-- How many apps a restore suspends.
--
-- Indexes: none. Operators ask, after a restore.
-- Values:  $1 app or null, $2 person or null.
SELECT count(*)::int AS total
-- include: parts/suspended-apps.sql
