-- Token families by their ids: the lookup behind every refresh, and introspection of a refresh token. Whether a restore that nobody has
-- confirmed suspends a family, and whether nobody has compared this database with what was acknowledged yet, are judged in the same snapshot.
--
-- Indexes: token_family_pkey, instance_pkey, restore_pkey, restore_confirmation_pkey.
-- Values:  $1 ids of the families, $2 and $3 the expected position of the database (RestoreGuard).
WITH
-- include: parts/verification.sql
SELECT family.id, family.client_id AS "clientId", family.user_id AS "userId", family.grant_id AS "grantId",
  family.app_epoch AS "appEpoch", family.scopes, family.created_at AS "createdAt", family.expires_at AS "expiresAt",
  family.revoked_at AS "revokedAt", family.is_bound AS "isBound", family.jkt, family.asked_words AS "askedWords", family.grows,
  family.refresh_hash AS "refreshHash", family.previous_hash AS "previousHash", family.generation, family.rotated_at AS "rotatedAt",
  extract(epoch FROM clock_timestamp() - family.rotated_at)::float8 * 1000 AS "rotatedForMs", family.rotated_scope AS "rotatedScope",
  family.restore_number < verification.below AS suspended, verification.unverified
FROM verification, unnest($1::text[]) AS asked(id)
JOIN token_family AS family ON family.id = asked.id;
