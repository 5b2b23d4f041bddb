  g.id, g.user_id AS "userId", g.client_id AS "clientId", g.scopes, g.granted_at AS "grantedAt",
  g.expires_at AS "expiresAt", to_char(g.data_from, 'YYYY-MM-DD') AS "dataFrom", g.status, g.revoked_at AS "revokedAt",
  g.revoked_by AS "revokedBy", g.epoch_ended_at AS "epochEndedAt", g.deletion_requested_at AS "deletionRequestedAt",
  sub_hash(g.user_ref, g.client_id) AS "subHash"
