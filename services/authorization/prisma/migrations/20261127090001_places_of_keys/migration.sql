-- Not expressible in schema.prisma. Every second each replica looks for keys that are to be fetched.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "app_jwks_asked_at_idx" ON "app"("jwks_asked_at") WHERE "jwks_uri" <> '';
