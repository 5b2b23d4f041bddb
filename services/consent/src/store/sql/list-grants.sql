-- A page of the grants of a person, newest first.
--
-- Indexes: consent_grant_user_id_granted_at_id_idx, app_pkey, app_epoch_pkey, consent_event_grant_id_at_idx.
-- Values:  $1 person, $2 status or null, $3 size of the page, $4 offset.
-- include: parts/grant-view.sql
WHERE g.user_id = $1 AND ($2::text IS NULL OR g.status = $2)
ORDER BY g.granted_at DESC, g.id DESC LIMIT $3 OFFSET $4;
