-- Not expressible in schema.prisma. The acts of one request, without reading all acts.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "operator_act_request_id_idx" ON "consent_audit"."operator_act"("request_id") WHERE "ends" = 0;
