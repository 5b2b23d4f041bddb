-- CreateEnum
CREATE TYPE "app_status" AS ENUM ('active', 'suspended', 'revoked');

-- CreateTable
CREATE TABLE "app" (
    "client_id" TEXT NOT NULL,
    "owner_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "homepage_url" TEXT NOT NULL DEFAULT '',
    "privacy_policy_url" TEXT NOT NULL DEFAULT '',
    "logo_url" TEXT NOT NULL DEFAULT '',
    "redirect_uris" TEXT[],
    "scopes" TEXT[],
    "require_pkce" BOOLEAN NOT NULL DEFAULT false,
    "status" "app_status" NOT NULL,
    "epoch" INTEGER NOT NULL,
    "ledger_revision" INTEGER NOT NULL,
    "status_changed_at" TIMESTAMPTZ(3) NOT NULL,
    "secret_hash" BYTEA,
    "secret_last4" TEXT NOT NULL,
    "secret_rotated_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "app_pkey" PRIMARY KEY ("client_id")
);

-- CreateTable
CREATE TABLE "authorization_request" (
    "pending_id" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "app_epoch" INTEGER NOT NULL,
    "redirect_uri" TEXT NOT NULL,
    "state" TEXT,
    "code_challenge" TEXT,
    "scopes" TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "authorization_request_pkey" PRIMARY KEY ("pending_id")
);

-- CreateTable
CREATE TABLE "authorization_code" (
    "hash" BYTEA NOT NULL,
    "pending_id" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "grant_id" TEXT NOT NULL,
    "scopes" TEXT[],
    "redirect_uri" TEXT NOT NULL,
    "code_challenge" TEXT,
    "app_epoch" INTEGER NOT NULL,
    "issued_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "consumed_at" TIMESTAMPTZ(3),
    "family_id" TEXT,
    "failed_attempts" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "authorization_code_pkey" PRIMARY KEY ("hash")
);

-- CreateTable
CREATE TABLE "token_family" (
    "id" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "grant_id" TEXT NOT NULL,
    "app_epoch" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "token_family_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "refresh_token" (
    "hash" BYTEA NOT NULL,
    "family_id" TEXT NOT NULL,
    "scopes" TEXT[],
    "issued_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "rotated_at" TIMESTAMPTZ(3),
    "rotated_scope" TEXT,
    "successor_hash" BYTEA,

    CONSTRAINT "refresh_token_pkey" PRIMARY KEY ("hash")
);

-- CreateTable
CREATE TABLE "access_token" (
    "hash" BYTEA NOT NULL,
    "family_id" TEXT,
    "client_id" TEXT NOT NULL,
    "user_id" TEXT,
    "grant_id" TEXT,
    "scopes" TEXT[],
    "app_epoch" INTEGER NOT NULL,
    "issued_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "access_token_pkey" PRIMARY KEY ("hash")
);

-- CreateIndex
CREATE INDEX "app_owner_id_created_at_client_id_idx" ON "app"("owner_id", "created_at" DESC, "client_id");

-- CreateIndex
CREATE INDEX "authorization_request_client_id_idx" ON "authorization_request"("client_id");

-- CreateIndex
CREATE INDEX "authorization_request_created_at_idx" ON "authorization_request"("created_at");

-- CreateIndex
CREATE UNIQUE INDEX "authorization_code_pending_id_key" ON "authorization_code"("pending_id");

-- CreateIndex
CREATE INDEX "authorization_code_client_id_idx" ON "authorization_code"("client_id");

-- CreateIndex
CREATE INDEX "authorization_code_expires_at_idx" ON "authorization_code"("expires_at");

-- CreateIndex
CREATE INDEX "token_family_client_id_idx" ON "token_family"("client_id");

-- CreateIndex
CREATE INDEX "token_family_expires_at_idx" ON "token_family"("expires_at");

-- CreateIndex
CREATE INDEX "refresh_token_family_id_idx" ON "refresh_token"("family_id");

-- CreateIndex
CREATE INDEX "access_token_client_id_idx" ON "access_token"("client_id");

-- CreateIndex
CREATE INDEX "access_token_family_id_idx" ON "access_token"("family_id");

-- CreateIndex
CREATE INDEX "access_token_expires_at_idx" ON "access_token"("expires_at");

-- AddForeignKey
ALTER TABLE "authorization_request" ADD CONSTRAINT "authorization_request_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "app"("client_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "authorization_code" ADD CONSTRAINT "authorization_code_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "app"("client_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "token_family" ADD CONSTRAINT "token_family_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "app"("client_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "refresh_token" ADD CONSTRAINT "refresh_token_family_id_fkey" FOREIGN KEY ("family_id") REFERENCES "token_family"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "access_token" ADD CONSTRAINT "access_token_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "app"("client_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "access_token" ADD CONSTRAINT "access_token_family_id_fkey" FOREIGN KEY ("family_id") REFERENCES "token_family"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What is kept of a secret is a SHA-256 and nothing else; the database refuses anything of another length.
ALTER TABLE "app" ADD CONSTRAINT "app_secret_hash_is_sha256" CHECK (octet_length("secret_hash") = 32);
ALTER TABLE "authorization_code" ADD CONSTRAINT "authorization_code_hash_is_sha256" CHECK (octet_length("hash") = 32);
ALTER TABLE "refresh_token" ADD CONSTRAINT "refresh_token_hash_is_sha256" CHECK (octet_length("hash") = 32);
ALTER TABLE "access_token" ADD CONSTRAINT "access_token_hash_is_sha256" CHECK (octet_length("hash") = 32);

-- A consumed code names the family that its exchange made.
ALTER TABLE "authorization_code" ADD CONSTRAINT "authorization_code_consumed_with_family"
  CHECK (("consumed_at" IS NULL) = ("family_id" IS NULL));

-- A token is bound to a user, a grant and a family, or to none of them.
ALTER TABLE "access_token" ADD CONSTRAINT "access_token_bound_whole"
  CHECK (num_nulls("user_id", "grant_id", "family_id") IN (0, 3));
