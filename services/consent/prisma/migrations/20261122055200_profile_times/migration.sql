-- When the developer last changed the profile that is known here, as authorization says; null until it has said so.
ALTER TABLE "app" ADD COLUMN "profile_updated_at" TIMESTAMPTZ(3);

-- During a rolling upgrade, instances of the release before 20261122042500 open and decide requests without "shown_app". Triggers add it.

-- The present profile of an app, as it is kept with a request.
CREATE FUNCTION "present_app"("of_client" TEXT, "host" TEXT) RETURNS JSONB
  LANGUAGE sql STABLE SET search_path = consent, pg_temp AS $$
  SELECT jsonb_build_object(
    'version', coalesce((SELECT max(p.version) FROM app_profile p WHERE p.client_id = a.client_id), 1),
    'name', a.name, 'homepageUrl', a.homepage_url, 'privacyPolicyUrl', a.privacy_policy_url, 'logoUrl', a.logo_url,
    'redirectHost', host)
  FROM app a WHERE a.client_id = of_client
$$;

CREATE FUNCTION "keep_app_of_request"() RETURNS trigger
  LANGUAGE plpgsql SET search_path = consent, pg_temp AS $$
BEGIN
  NEW.shown_app := present_app(NEW.client_id, NEW.redirect_host);
  RETURN NEW;
END
$$;

CREATE TRIGGER "pending_approval_shown_app" BEFORE INSERT ON "pending_approval"
  FOR EACH ROW WHEN (NEW."shown_app" IS NULL) EXECUTE FUNCTION "keep_app_of_request"();

CREATE FUNCTION "keep_app_of_decision"() RETURNS trigger
  LANGUAGE plpgsql SET search_path = consent, pg_temp AS $$
BEGIN
  NEW.shown_app := (SELECT p.shown_app FROM pending_approval p WHERE p.id = NEW.pending_id);
  RETURN NEW;
END
$$;

CREATE TRIGGER "consent_event_shown_app" BEFORE INSERT ON "consent_event"
  FOR EACH ROW WHEN (NEW."shown_app" IS NULL AND NEW."pending_id" IS NOT NULL) EXECUTE FUNCTION "keep_app_of_decision"();

-- Requests that are open during the upgrade: their screens show the present profile.
UPDATE "pending_approval" SET "shown_app" = present_app("client_id", "redirect_host")
WHERE "shown_app" IS NULL AND "decision" IS NULL AND "expires_at" > statement_timestamp();
