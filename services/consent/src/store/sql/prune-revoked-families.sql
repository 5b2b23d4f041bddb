-- Deletes revocations of token families by a function of the schema's owner, which limits what the service can delete.
--
-- Indexes: none.
-- Values:  $1 for how many days they are kept beyond their expiry, $2 how many at most.
SELECT prune_revoked_family($1, $2) AS total;
