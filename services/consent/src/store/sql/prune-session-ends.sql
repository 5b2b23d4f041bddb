-- Deletes ends of sessions by a function of the schema's owner, which limits what the service can delete.
--
-- Indexes: none.
-- Values:  $1 how many at most.
SELECT prune_session_end($1) AS total;
