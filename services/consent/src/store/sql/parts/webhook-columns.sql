  coalesce(w.client_id, w.id) AS "clientId", w.url, w.events,
  CASE WHEN w.previous_secret_until > statement_timestamp() THEN w.previous_secret_until END
    AS "previousSecretExpiresAt",
  coalesce(w.disabled_reason, CASE WHEN w.paused_at IS NOT NULL THEN 'paused' END) AS "disabledReason",
  w.failing_since AS "failingSince", w.created_at AS "createdAt", w.updated_at AS "updatedAt"
