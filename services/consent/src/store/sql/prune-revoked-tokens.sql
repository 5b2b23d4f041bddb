-- Deletes revocations of tokens by a function of the schema's owner, which limits what the service can delete.
--
-- Indexes: none.
-- Values:  $1 for how many days they are kept beyond their expiry, $2 how many at most.
SELECT prune_revoked_token($1, $2) AS total;
