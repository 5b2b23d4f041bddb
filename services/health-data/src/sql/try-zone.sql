-- Fails for a time zone that Postgres does not know.
--
-- Indexes: none.
-- Values:  $1 name of the zone.
SELECT timezone($1::text, now());
