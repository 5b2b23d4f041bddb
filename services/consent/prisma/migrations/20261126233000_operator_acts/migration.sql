-- The record of what operators did (docs/decisions/0046): an act before it begins, or the outcome of one. Each entry has the hash of the
-- entry before it and itself (packages/record-chain). The service can only add to it.
CREATE TABLE "consent_audit"."operator_act" (
    "number" BIGINT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "operator" TEXT NOT NULL,
    "rpc" TEXT NOT NULL,
    "user_ref" UUID,
    "client_id" TEXT NOT NULL,
    "grant_id" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "request_id" TEXT NOT NULL,
    "ends" BIGINT NOT NULL,
    "outcome" TEXT NOT NULL,
    "hash" BYTEA NOT NULL,

    CONSTRAINT "operator_act_pkey" PRIMARY KEY ("number")
);
CREATE INDEX "operator_act_user_ref_idx" ON "consent_audit"."operator_act"("user_ref", "number") WHERE "user_ref" IS NOT NULL;
SELECT "make_append_only"('consent_audit.operator_act', 'SELECT, INSERT');
