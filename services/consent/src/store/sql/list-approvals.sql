-- A page of the pending approvals of a person, newest first.
--
-- Indexes: app_pkey, app_epoch_pkey, consent_grant_open_key.
-- Values:  $1 person, $2 seconds (approval-view.sql), $3 status or null, $4 size of the page, $5 offset.
-- include: parts/approval-view.sql
-- include: parts/own-approvals.sql
  AND ($3::text IS NULL OR p.status = $3)
ORDER BY p.created_at DESC, p.id DESC LIMIT $4 OFFSET $5;
