-- Corrects what the migration 20261122015500 says of ensure_access_partitions: 250 ms is the longest wait for the lock of the default
-- partition, not the longest time that it is held.
COMMENT ON FUNCTION "ensure_access_partitions"(integer) IS
  'Makes one of the partitions that are missing; answers 1, or 0 when none is missing. It waits for the lock of the default partition '
  '250 ms at most and holds it to the commit: while the records of the month leave the default partition, and while ATTACH reads what '
  'is left there. Readers wait for that long, and whoever records into the default partition, which is everybody while the present '
  'month has no partition. The caller''s statement_timeout is the only limit.';
