-- What each app has been called, and its links: a version counts until the next one begins.
CREATE TABLE "app_profile" (
    "client_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "name" TEXT NOT NULL,
    "homepage_url" TEXT NOT NULL,
    "privacy_policy_url" TEXT NOT NULL,
    "logo_url" TEXT NOT NULL,

    CONSTRAINT "app_profile_pkey" PRIMARY KEY ("client_id","version")
);

-- Decisions made so far did not keep what they showed. This is what they are told to have shown, marked as not recorded then.
INSERT INTO "app_profile" ("client_id", "version", "since", "name", "homepage_url", "privacy_policy_url", "logo_url")
SELECT "client_id", 1, statement_timestamp(), "name", "homepage_url", "privacy_policy_url", "logo_url" FROM "app";

ALTER TABLE "pending_approval" ADD COLUMN "shown_app" JSONB;
ALTER TABLE "consent_event" ADD COLUMN "shown_app" JSONB;
