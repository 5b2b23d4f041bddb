-- The app as the latest approval of a grant up to a time showed it, as JSON. Before the first approval, which only a clock that differs can
-- say, as the first one showed it. For a grant whose approvals did not keep it, the oldest version of the app. NULL when there is none.
-- The access history, the list of consents and the export of records name apps by it.
CREATE FUNCTION "shown_app_of"("of_grant" TEXT, "of_client" TEXT, "until" TIMESTAMPTZ) RETURNS JSONB LANGUAGE sql STABLE
  RETURN coalesce(
    (
      SELECT "shown_app"
      FROM "consent_event"
      WHERE "grant_id" = "of_grant" AND "at" <= "until" AND "shown_app" IS NOT NULL
      ORDER BY "at" DESC
      LIMIT 1
    ),
    (
      SELECT "shown_app"
      FROM "consent_event"
      WHERE "grant_id" = "of_grant" AND "kind" = 'granted'
      ORDER BY "at"
      LIMIT 1
    ),
    (
      SELECT jsonb_build_object('version', "version", 'name', "name", 'homepageUrl', "homepage_url",
        'privacyPolicyUrl', "privacy_policy_url", 'logoUrl', "logo_url")
      FROM "app_profile"
      WHERE "client_id" = "of_client" AND "version" = 1
    )
  );
