-- Which rows an unconfirmed restore suspends, those with a restore_number below `below`; and whether nobody has compared this database
-- with what was acknowledged yet. Values: $2 and $3 the expected position of the database (RestoreGuard).
verification AS MATERIALIZED (
  SELECT coalesce(suspension.below, 0) AS below, coalesce(
    NOT suspension.identified OR ($2::uuid IS NOT NULL AND NOT EXISTS (
      SELECT FROM instance WHERE id = $2::uuid AND position >= $3::bigint
    )),
    false
  ) AS unverified
  FROM (VALUES (1)) AS one LEFT JOIN suspension ON true
)
