  p.id, p.client_id AS "clientId", p.app_epoch AS "appEpoch", p.redirect_host AS "redirectHost", p.scopes, p.purpose,
  p.client_authenticated AS "clientAuthenticated", p.created_at AS "createdAt", p.expires_at AS "expiresAt",
  p.claimed_by AS "claimedBy", p.extensions, p.status, p.decided_at AS "decidedAt", p.shown_app AS "shownApp",
  p.approved_scopes AS "approvedScopes", p.approved_days AS "approvedDays",
  to_char(p.approved_data_from, 'YYYY-MM-DD') AS "approvedDataFrom", p.grant_id AS "grantId",
  p.grant_expires_at AS "grantExpiresAt"
