-- How many pending approvals a person has.
--
-- Indexes: app_pkey.
-- Values:  $1 person, $2 status or null.
SELECT count(*)::int AS total
FROM approval_with_status p
-- include: parts/own-approvals.sql
  AND ($2::text IS NULL OR p.status = $2);
