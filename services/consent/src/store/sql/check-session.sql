-- Whether a session was ended, by its token, its sid or its subject. Asked at every request of a person.
--
-- The times of sessions have whole seconds, so a session of the second of an end counts as ended. A session issued before
-- an unconfirmed restore counts as ended, because the database may lack its end.
--
-- Indexes: session_end_pkey.
-- Values:  $1 hash of the token, $2 of the sid or null, $3 of the subject, $4 when the session was issued, $5 and $6 the
--          expected position of the database (RestoreGuard).
WITH restores AS MATERIALIZED (
  SELECT s.until, coalesce(
    NOT s.identified OR ($5::uuid IS NOT NULL AND NOT EXISTS (
      SELECT FROM consent_audit.instance WHERE id = $5::uuid AND position >= $6::bigint
    )),
    true
  ) AS unverified
  FROM (VALUES (1)) AS one LEFT JOIN consent_audit.suspension AS s ON true
)
SELECT restores.unverified,
  coalesce($4::timestamptz <= restores.until, false)
  OR EXISTS (SELECT FROM session_end WHERE kind = 'token' AND value_hash = $1::bytea)
  OR EXISTS (SELECT FROM session_end WHERE kind = 'sid' AND value_hash = $2::bytea
    AND ended_at >= date_trunc('second', $4::timestamptz))
  OR EXISTS (SELECT FROM session_end WHERE kind = 'subject' AND value_hash = $3::bytea
    AND ended_at >= date_trunc('second', $4::timestamptz))
  OR ($2::bytea IS NULL AND EXISTS (SELECT FROM session_end WHERE kind = 'subject_without_sid' AND value_hash = $3::bytea
    AND ended_at >= date_trunc('second', $4::timestamptz))) AS ended
FROM restores;
