-- A grant as its person sees it: of anybody, or only if it is of this person.
--
-- Indexes: consent_grant_pkey, app_pkey, app_epoch_pkey, consent_event_grant_id_at_idx.
-- Values:  $1 grant, $2 person or null.
-- include: parts/grant-view.sql
WHERE g.id = $1 AND ($2::text IS NULL OR g.user_id = $2);
