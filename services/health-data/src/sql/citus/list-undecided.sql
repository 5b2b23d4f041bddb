-- The commits that have begun and whose end a server does not know. A server that is away has no rows that could be
-- deleted now.
--
-- Indexes: none.
SELECT string_to_array(result, ' ') AS ids
FROM run_command_on_workers(
  $$SELECT string_agg(gid, ' ') FROM pg_prepared_xacts WHERE database = current_database()$$
)
WHERE success AND result <> '';
